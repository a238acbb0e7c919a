"""Do the tests notice? Small changes to the kernel's most exact modules, each against their tests.

`python -m checks.mutants` (`make mutants`) makes every change of a few kinds, one at a time, in a
copy of the layer, and runs the tests that pass through the changed line. A change that no test
notices survives and is named. One that keeps its tests busy for several times the processor's time
that they take without it is noticed: that is the same on a machine with other work. One that only
waits until a test's time is up is named, and counts as not noticed. `--sample 40` takes that many a
group, drawn with `--seed`; exit 1 where fewer than nine in ten are noticed.
"""

from __future__ import annotations

import argparse
import ast
import compileall
import json
import math
import multiprocessing
import os
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import coverage
import hypothesis
import parso
import pytest
from cosmic_ray.operators.provider import OperatorProvider

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "webbee_kernel"
LAYER = ROOT / "layers/webbee_kernel"
NOTICED = 0.9
"""Share of the changes that the tests of a group have to notice."""

SPENT, AT_LEAST_S = 3.0, 10.0
"""How many times the processor's seconds that tests take without a change, measured with their
coverage, they may take with one, and how many are always theirs: to import and to fail."""

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
            *("unit/test_skeleton.py", "unit/test_truncate.py", "unit/test_fact_ledger.py"),
            *("unit/test_context_clients.py", "unit/test_prompt.py"),
            "invariants",
        ),
    ),
    "session memory": (
        ("turn/session_memory.py",),
        ("unit/test_session_memory.py", "unit/test_prompt.py", "invariants"),
    ),
    "guards": (
        ("turn/dispatch.py", "guards/ids.py", "guards/field_names.py"),
        (
            *("unit/test_guards.py", "invariants/test_calls.py", "invariants/test_consent.py"),
            *("kernel/test_loop.py", "kernel/test_confirmation.py", "functions/test_dispatch.py"),
        ),
    ),
    "planner": (("turn/plan.py",), ("unit/test_planner.py", "kernel/test_loop.py")),
    "confirmation": (
        (
            "turn/confirmation.py",
            "turn/cards.py",
        ),
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
    before: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line} {self.kind}"


def mutants(path: Path) -> Iterator[Mutant]:
    """Every change of a module but those of annotations, decorators and `strict=`, which are no
    behaviour: what a frozen class is for, mypy holds, and a strict zip is a claim of ours."""
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
            if _is_declaration(node):
                continue
            changed = operator.mutate(node, index)
            if changed is not None and changed is not node:
                _replace(node, changed)
            text = tree.get_code()
            if text != source:
                yield Mutant(name, line, kind, text, source)


def _nodes(tree: parso.tree.NodeOrLeaf) -> Iterator[parso.tree.NodeOrLeaf]:
    yield tree
    for child in getattr(tree, "children", ()):
        yield from _nodes(child)


def _is_declaration(node: parso.tree.NodeOrLeaf | None) -> bool:
    while node is not None:
        parent = node.parent
        if node.type == "decorator" or node.get_code().lstrip().startswith("strict="):
            return True
        if parent is not None and parent.type in ("annassign", "tfpdef", "param"):
            return node is not parent.children[-1] or parent.type == "tfpdef"
        node = parent
    return False


def _replace(node: parso.tree.NodeOrLeaf, changed: parso.tree.NodeOrLeaf) -> None:
    siblings = node.parent.children
    siblings[siblings.index(node)] = changed


@dataclass(frozen=True, slots=True)
class Reach:
    """What a group's tests are without any change: by module and line, those that pass through it
    (`""` where importing alone does); the processor's seconds of each."""

    lines: Mapping[str, Mapping[int, Sequence[str]]]
    seconds: Mapping[str, float]

    def allowed(self, tests: Sequence[str]) -> int:
        """The processor's seconds that a changed module's tests get."""
        took = sum(s for node, s in self.seconds.items() if node.startswith(tuple(tests)))
        return math.ceil(AT_LEAST_S + SPENT * took)


def reach(tests: Sequence[str], room: Path) -> Reach:
    """Run a group's tests once and look at what each passes through."""
    options = (f"--cov={room / PACKAGE}", "--cov-context=test", "--cov-report=", "--cov-config=")
    if _run(room, [*options, *tests]) != PASSED:
        raise SystemExit(f"the tests fail without any change: {' '.join(tests)}")
    found = coverage.CoverageData(str(room / "coverage"))
    found.read()
    lines = {
        Path(file).relative_to(room / PACKAGE).as_posix(): {
            line: list(dict.fromkeys(name.rpartition("|")[0] for name in names))
            for line, names in found.contexts_by_lineno(file).items()
        }
        for file in found.measured_files()
    }
    return Reach(lines, json.loads((room / SECONDS).read_text("utf-8")))


def noticing(mutant: Mutant, reached: Reach, tests: Sequence[str]) -> list[str]:
    """The tests that can notice a change: those through its statement, all where it runs on
    import."""
    lines = reached.lines.get(mutant.path, {})
    found = {test for line in _statement(mutant) for test in lines.get(line, ())}
    return list(tests) if "" in found else sorted(found, key=_order(tests))


def _order(tests: Sequence[str]) -> Callable[[str], tuple[int, str]]:
    """As the group names them: the nearest tests first."""
    return lambda node: next(((n, node) for n, t in enumerate(tests) if node.startswith(t)))


def _statement(mutant: Mutant) -> range:
    """The lines of the statement that a change stands in; of a compound one, its head."""
    spans = []
    for node in ast.walk(ast.parse(mutant.before)):
        if isinstance(node, ast.stmt):
            body = getattr(node, "body", None)
            end = max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno
            if node.lineno <= mutant.line <= end:
                spans.append(range(node.lineno, end + 1))
    return min(spans, key=len, default=range(mutant.line, mutant.line + 1))


def survives(mutant: Mutant, tests: Sequence[str], room: Path, seconds: int) -> bool:
    """Whether the tests pass all the same, in a copy of the layer of its own; says so."""
    target = room / PACKAGE / mutant.path
    target.write_text(mutant.text, "utf-8")
    try:
        ended = _run(room, tests, seconds) if tests else PASSED
    finally:
        target.write_text(mutant.before, "utf-8")
    if ended in (PASSED, LATE):
        print(f"  {'survived' if ended == PASSED else 'timed out'} {mutant}", flush=True)
    return ended in (PASSED, LATE)


PASSED, LATE = 0, 99
"""How a run ends: with all tests passed, with one that took longer than a test may."""

SECONDS = "seconds.json"


def _run(room: Path, arguments: Sequence[str], seconds: int = 0) -> int | None:
    """How these tests end on a room's copy of the layer, in a process that begins where the
    libraries have been imported, and is killed after so many of the processor's seconds."""
    process = _PROCESSES.Process(target=_test, args=(room, arguments, seconds))
    process.start()
    process.join()
    return process.exitcode


class _Watch:
    """What each test takes of the processor, and whether one failed by taking too long."""

    def __init__(self) -> None:
        self.late = False
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Round each test, what it is given included."""
        began = time.process_time()
        ended = yield
        self.seconds[item.nodeid] = time.process_time() - began
        return ended

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Looks at each test as it ends."""
        self.late |= report.failed and "Failed: Timeout" in str(report.longrepr)


_PROCESSES = multiprocessing.get_context("forkserver")
_IMPORTED = ("pytest", "hypothesis", "schemathesis", "boto3", "moto", "pydantic", "httpx2")


def _test(room: Path, arguments: Sequence[str], seconds: int) -> None:
    os.chdir(ROOT)
    if seconds:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    os.environ["COVERAGE_FILE"] = str(room / "coverage")  # the server of forks knows another's
    silence = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silence, 1)
    os.dup2(silence, 2)
    sys.dont_write_bytecode = True
    sys.path[:0] = [str(room), str(ROOT)]
    hypothesis.settings.register_profile(
        "mutants", max_examples=30, derandomize=True, deadline=None
    )
    options = (
        "-x",
        "-q",
        "-n0",
        "-pno:cacheprovider",
        "-pno:randomly",  # the nearest tests first
        "--assert=plain",
        "--hypothesis-profile=mutants",
    )
    watch = _Watch()
    ended = pytest.main([*options, f"-opythonpath={room} .", *arguments], plugins=[watch])
    (room / SECONDS).write_text(json.dumps(watch.seconds), "utf-8")
    sys.exit(LATE if watch.late else ended)


def group(name: str, sample: int, jobs: int, seed: int) -> tuple[int, int]:
    """How many changes of a group were tried, and how many of them survived."""
    places, names = GROUPS[name]
    tests = [f"tests/{n}" for n in names]
    paths = [p for place in places for p in _modules(LAYER / PACKAGE / place)]
    tried = [m for path in paths for m in mutants(path)]
    if sample and len(tried) > sample:
        tried = random.Random(seed).sample(tried, sample)  # noqa: S311 - the same draw every time
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(jobs) as threads:
        rooms = [Path(folder, str(n)) for n in range(jobs)]
        for room in rooms:
            shutil.copytree(LAYER, room, ignore=shutil.ignore_patterns("__pycache__"))
            compileall.compile_dir(room, quiet=2)  # once: a change makes its own module's void
        reached = reach(tests, rooms[0])
        shares = [tried[n::jobs] for n in range(jobs)]

        def work(share: Sequence[Mutant], room: Path) -> int:
            found = ((m, noticing(m, reached, tests)) for m in share)
            return sum(survives(m, named, room, reached.allowed(named)) for m, named in found)

        return len(tried), sum(threads.map(work, shares, rooms))


def _modules(place: Path) -> list[Path]:
    return sorted(p for p in place.rglob("*.py") if p.name != "__init__.py") or [place]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a line a group and every survivor."""
    parser = argparse.ArgumentParser(prog="make mutants", description="Do the tests notice?")
    parser.add_argument("--sample", type=int, default=0, help="changes a group; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("groups", nargs="*", default=list(GROUPS), help="all by default")
    parser.add_argument("--seed", type=int, default=SEED, help="which sample is drawn")
    options = parser.parse_args(arguments)
    _PROCESSES.set_forkserver_preload(list(_IMPORTED))
    missed = 0
    for name in options.groups:
        tried, survived = group(name, options.sample, options.jobs, options.seed)
        share = 1 - survived / max(1, tried)
        missed += share < NOTICED
        print(f"{name}: {tried - survived}/{tried} noticed = {share:.0%}", flush=True)
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
