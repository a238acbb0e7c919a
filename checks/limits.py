"""The limits `make check` holds the layer to: each a figure and its reason, in one place.

`python -m checks.limits` prints every figure beside its limit and exits 1 when one is missed.
"""

from __future__ import annotations

import ast
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LAYER = ROOT / "layers/webbee_kernel/webbee_kernel"
COMPLEX = 10
"""Independent paths through a function above which a reader has to keep a list (McCabe, 1976)."""

COLUMNS = 100
LINES = 450
_PRAGMA = re.compile(r"  # (?:noqa|type: ignore)\b.*$")
READERS = ("functions", "local", "extensions", "benchmarks", "checks")
"""What stands on the layer."""

WORDLESS = "language"
"""The one room that knows words of natural languages."""


@dataclass(frozen=True, slots=True)
class Limit:
    """One figure: at most `most`, why, and where it stands today (`found`, worst first)."""

    name: str
    most: float
    why: str
    value: float
    found: Sequence[str] = ()

    @property
    def holds(self) -> bool:
        """Whether the figure is within its limit."""
        return self.value <= self.most


@dataclass(frozen=True, slots=True)
class Module:
    """One source file of the layer."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def name(self) -> str:
        """Its path inside the layer."""
        return self.path.relative_to(LAYER).as_posix()

    @property
    def room(self) -> str:
        """The folder it lies in, empty at the root."""
        return self.name.partition("/")[0] if "/" in self.name else ""


def modules() -> tuple[Module, ...]:
    """Every module of the layer, in order."""
    paths = sorted(p for p in LAYER.rglob("*.py") if "__pycache__" not in p.parts)
    texts = [p.read_text("utf-8") for p in paths]
    return tuple(Module(p, t, ast.parse(t)) for p, t in zip(paths, texts, strict=True))


def complexity(function: ast.AST) -> int:
    """Cyclomatic complexity, boolean operators, conditions and comprehensions included."""
    return 1 + sum(_paths(node) for node in ast.walk(function) if node is not function)


def _paths(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    branches = (
        *(ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While),
        *(ast.ExceptHandler, ast.Assert, ast.Lambda, ast.match_case),
    )
    return int(isinstance(node, branches))


def limits(layer: Sequence[Module]) -> Iterator[Limit]:
    """Every figure with its limit."""
    lines = sum(m.text.count("\n") for m in layer)
    root = [m.name for m in layer if not m.room]
    yield Limit(
        "modules at the root", 11, "a newcomer reads the root at one glance", len(root), root
    )
    wide = [f"{m.name}:{n}" for m in layer for n in _wide(m.text)]
    yield Limit(f"lines over {COLUMNS} columns", 0, "two files fit side by side", len(wide), wide)
    long = [f"{m.name} {m.text.count(chr(10))}" for m in layer if _is_long(m)]
    yield Limit(f"modules over {LINES} lines", 0, "a module is one noun", len(long), long)
    functions = [(complexity(f), f"{m.name} {f.name}") for m in layer for f in _functions(m.tree)]
    hard = sorted((c for c in functions if c[0] > COMPLEX), reverse=True)
    yield Limit(
        f"functions of complexity over {COMPLEX}, per 1,000",
        18,
        "httpx has 18, starlette 41, measured with this script in November 2026",
        round(1000 * len(hard) / max(1, len(functions)), 1),
        [f"{name} {c}" for c, name in hard],
    )
    loose = {m.name: len(re.findall(r"\bAny\b", _code(m.text))) for m in layer}
    yield Limit(
        "Any per 1,000 lines",
        20,
        "where JSON is meant, JSON says so",
        round(1000 * sum(loose.values()) / max(1, lines), 1),
        [f"{name} {n}" for name, n in sorted(loose.items(), key=lambda i: -i[1]) if n],
    )
    unread = list(_unread(layer))
    yield Limit(
        "names of modules that nothing reads", 0, "what nobody needs goes", len(unread), unread
    )
    spoken = [m.name for m in layer if m.room != WORDLESS and _foreign(m.text)]
    yield Limit(
        f"files outside {WORDLESS}/ with words that are not ASCII",
        0,
        "a further language is one file",
        len(spoken),
        spoken,
    )


def _is_long(module: Module) -> bool:
    return module.text.count("\n") > LINES


def _wide(text: str) -> Iterator[int]:
    bare = (_PRAGMA.sub("", line) for line in text.splitlines())
    return (n for n, line in enumerate(bare, 1) if len(line) > COLUMNS)


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def _unread(layer: Sequence[Module]) -> Iterator[str]:
    """Functions, classes and constants that no code names: nothing in the layer, nothing that
    stands on it. Tests alone are no reason to keep something, an export (`__all__`) is; `sdk` is
    read by authors."""
    trees = [m.tree for m in layer]
    trees += [ast.parse(p.read_text("utf-8")) for f in READERS for p in (ROOT / f).rglob("*.py")]
    read = {name for tree in trees for node in ast.walk(tree) for name in _reads(node)}
    for module in layer:
        for name in (name for node in module.tree.body for name in _names(node)):
            if module.room != "sdk" and name not in read and not name.startswith("__"):
                yield f"{module.name} {name}"


def _reads(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
            yield name
        case ast.Constant(value=str(text)):
            yield text


def _names(node: ast.stmt) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Assign(targets=targets):
            yield from (t.id for t in targets if isinstance(t, ast.Name))
        case ast.AnnAssign(target=ast.Name(id=name)):
            yield name


def _code(text: str) -> str:
    """Without the imports: a name is counted where it is used."""
    return re.sub(r"^from typing import .*$", "", text, flags=re.MULTILINE)


def _foreign(text: str) -> bool:
    """Whether a letter beyond ASCII stands in it; typography is no letter."""
    return any(ord(c) > 127 and unicodedata.category(c).startswith("L") for c in text)


def main() -> int:
    """Print the table; 1 when a limit is missed."""
    missed = 0
    for limit in limits(modules()):
        missed += not limit.holds
        print(
            f"{'ok  ' if limit.holds else 'MISS'} {limit.name}: {limit.value:g} (≤ {limit.most:g})"
        )
        if not limit.holds:
            print(f"     {limit.why}; " + ", ".join(limit.found[:12]))
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
