"""Do the tests notice? Small changes to the kernel's most exact modules, each against their tests.

`python -m checks.mutants` (`make mutants`) makes every change of a few kinds, one at a time, in a
copy of the layer, and runs the tests of that module. A change that no test notices survives and is
named. `--sample 40` takes that many a group, drawn with a fixed seed; exit 1 where fewer than nine
in ten are noticed.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import parso
from cosmic_ray.operators.provider import OperatorProvider

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "webbee_kernel"
LAYER = ROOT / "layers/webbee_kernel"
NOTICED = 0.9
"""Share of the changes that the tests of a group have to notice."""

SEED = 20261122
KINDS = (
    *(f"ReplaceComparisonOperator_{k}" for k in ("Eq_NotEq", "NotEq_Eq", "Lt_LtE", "LtE_Lt")),
    *(f"ReplaceComparisonOperator_{k}" for k in ("Gt_GtE", "GtE_Gt", "Lt_Gt", "Is_IsNot")),
    *(f"ReplaceBinaryOperator_{k}" for k in ("Add_Sub", "Sub_Add", "Mul_Add", "FloorDiv_Mul")),
    *("ReplaceAndWithOr", "ReplaceOrWithAnd", "AddNot", "ReplaceUnaryOperator_Delete_Not"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceBreakWithContinue"),
    *("ReplaceContinueWithBreak", "NumberReplacer", "ZeroIterationForLoop"),
)
"""Kinds of change: those a hand slips into. Types and texts are left alone."""

GROUPS = {
    "channels": (
        ("channels",),
        (
            *("unit/test_skeleton.py", "unit/test_fact_ledger.py", "unit/test_cache_client.py"),
            *("unit/test_prompt.py", "invariants"),
        ),
    ),
    "session memory": (
        ("turn/memory.py", "turn/preview.py"),
        ("unit/test_session_memory.py", "unit/test_prompt.py", "invariants"),
    ),
    "guards": (
        ("turn/guards.py", "arguments"),
        ("unit/test_guards.py", "invariants/test_calls.py", "kernel/test_plans.py"),
    ),
    "planner": (("turn/planner.py",), ("unit/test_planner.py", "kernel/test_plans.py")),
    "confirmation": (
        ("turn/confirmation.py",),
        ("unit/test_confirmation.py", "kernel", "invariants/test_calls.py"),
    ),
}
"""What is changed, and the tests that should notice."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change: where, by which kind, and the module as it then reads."""

    path: str
    line: int
    kind: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change of a module. Annotations are no behaviour: positions on them are passed over."""
    provider, source = OperatorProvider(), path.read_text("utf-8")
    name = path.relative_to(LAYER / PACKAGE).as_posix()
    for kind in KINDS:
        operator = provider[kind]()
        positions = [
            (node, index)
            for node in _nodes(parso.parse(source))
            for index, _ in enumerate(operator.mutation_positions(node))
        ]
        for number, (found, _) in enumerate(positions):
            tree = parso.parse(source)
            node, index = [
                (n, i) for n in _nodes(tree) for i, _ in enumerate(operator.mutation_positions(n))
            ][number]
            line = found.start_pos[0]
            if _is_annotation(node):
                continue
            changed = operator.mutate(node, index)
            if changed is not None and changed is not node:
                _replace(node, changed)
            text = tree.get_code()
            if text != source:
                yield Mutant(name, line, kind, text)


def _nodes(tree: parso.tree.NodeOrLeaf) -> Iterator[parso.tree.NodeOrLeaf]:
    yield tree
    for child in getattr(tree, "children", ()):
        yield from _nodes(child)


def _is_annotation(node: parso.tree.NodeOrLeaf | None) -> bool:
    while node is not None:
        parent = node.parent
        if parent is not None and parent.type in ("annassign", "tfpdef", "param"):
            return node is not parent.children[-1] or parent.type == "tfpdef"
        node = parent
    return False


def _replace(node: parso.tree.NodeOrLeaf, changed: parso.tree.NodeOrLeaf) -> None:
    siblings = node.parent.children
    siblings[siblings.index(node)] = changed


def survives(mutant: Mutant, tests: Sequence[str], room: Path) -> bool:
    """Whether the tests pass all the same, in a copy of the layer of its own."""
    target = room / PACKAGE / mutant.path
    before = target.read_bytes()
    target.write_text(mutant.text, "utf-8")
    try:
        paths = [f"tests/{t}" for t in tests]
        options = ("-x", "-q", "-n", "0", "-p", "no:randomly", "-p", "no:cacheprovider")
        command = [sys.executable, "-m", "pytest", *options, "-o", f"pythonpath={room} .", *paths]
        env = {**os.environ, "PYTHONPATH": f"{room}:{ROOT}", "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, check=False)  # noqa: S603
        return done.returncode == 0
    finally:
        target.write_bytes(before)


def group(name: str, sample: int, jobs: int) -> tuple[int, list[Mutant]]:
    """How many changes of a group were tried, and those that survived."""
    places, tests = GROUPS[name]
    paths = [p for place in places for p in _modules(LAYER / PACKAGE / place)]
    tried = [m for path in paths for m in mutants(path)]
    if sample and len(tried) > sample:
        tried = random.Random(SEED).sample(tried, sample)  # noqa: S311 - the same draw every time
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as threads:
        rooms = [Path(folder, str(n)) for n in range(jobs)]
        for room in rooms:
            shutil.copytree(LAYER, room, ignore=shutil.ignore_patterns("__pycache__"))
        shares = [tried[n::jobs] for n in range(jobs)]
        work = zip(shares, rooms, strict=True)
        done = threads.map(lambda w: [m for m in w[0] if survives(m, tests, w[1])], work)
        return len(tried), [m for share in done for m in share]


def _modules(place: Path) -> list[Path]:
    return sorted(p for p in place.rglob("*.py") if p.name != "__init__.py") or [place]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line a group and every survivor."""
    parser = argparse.ArgumentParser(prog="make mutants", description="Do the tests notice?")
    parser.add_argument("--sample", type=int, default=0, help="changes a group; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), help="all by default")
    options = parser.parse_args(arguments)
    missed = 0
    for name in options.groups:
        tried, survived = group(name, options.sample, options.jobs)
        share = 1 - len(survived) / max(1, tried)
        missed += share < NOTICED
        print(f"{name}: {tried - len(survived)}/{tried} noticed = {share:.0%}", flush=True)
        for mutant in survived:
            print(f"  survived {mutant}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
