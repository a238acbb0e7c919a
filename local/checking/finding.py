"""A finding, and what the rules need to read a syntax tree."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
HANDLERS = frozenset(
    "function skeleton panel schedule signal webhook tool expose on_event on_install on_uninstall"
    " on_enable on_disable on_upgrade health_check".split()
)


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach. `level` is error (it will fail, be refused or harm) or warning (it will work less
    well than it could). `frames` are the extension's own lines that were running, if any."""

    file: str
    line: int
    level: str
    rule: str
    message: str
    frames: tuple[str, ...] = ()


@dataclass(slots=True)
class Module:
    """One parsed file of an extension."""

    name: str
    tree: ast.Module
    parents: dict[int, ast.AST] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for node in ast.walk(self.tree):
            self.parents |= {id(child): node for child in ast.iter_child_nodes(node)}
            if isinstance(node, ast.Import):
                self.aliases |= {a.asname or a.name: a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self.aliases |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}

    def error(self, node: ast.AST, rule: str, message: str) -> Finding:
        """It will fail, be refused or harm."""
        return Finding(self.name, getattr(node, "lineno", 1), "error", rule, message)

    def warning(self, node: ast.AST, rule: str, message: str) -> Finding:
        """It will work less well than it could."""
        return Finding(self.name, getattr(node, "lineno", 1), "warning", rule, message)

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """Every call with the dotted name it calls, imports resolved."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call):
                yield node, self.called(node)

    def called(self, node: ast.Call) -> str:
        """`time.sleep` of `sleep(1)` after `from time import sleep`."""
        name = dotted(node.func)
        first, _, rest = name.partition(".")
        return ".".join(filter(None, (self.aliases.get(first, first), rest)))

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, the innermost first."""
        while (parent := self.parents.get(id(node))) is not None:
            yield parent
            node = parent

    def function_of(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """The function that a node stands in; None in a lambda or at the top."""
        for outer in self.around(node):
            if isinstance(outer, FUNCTIONS):
                return outer
            if isinstance(outer, ast.Lambda):
                return None
        return None

    def imports(self, package: str) -> bool:
        """Whether any of its statements imports the package or a part of it."""
        return any(name.partition(".")[0] == package for name in self.aliases.values())


def parse(folder: Path) -> tuple[list[Module], list[Finding]]:
    """The extension's own modules, tests aside, and what could not be read, or is read in the place
    of a module of Python's own."""
    modules, broken = [], []
    for path in sorted(folder.glob("[!.]*.py")):
        if path.stem in sys.stdlib_module_names:
            told = f"Python's own {path.stem} cannot be imported beside a file of its name: rename"
            broken.append(Finding(path.name, 1, "error", "name", f"{told} {path.name}"))
        try:
            modules.append(Module(path.name, ast.parse(path.read_text("utf-8"), path.name)))
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", 1) or 1
            said = str(error).partition(" (")[0]
            broken.append(Finding(path.name, line, "error", "syntax", said))
    return modules, broken


def decorator(node: ast.AST, *names: str) -> ast.Call | None:
    """The decorator call `@something.<name>(…)` of a function, one of `names`."""
    for given in getattr(node, "decorator_list", ()):
        if (
            isinstance(given, ast.Call)
            and isinstance(given.func, ast.Attribute)
            and given.func.attr in names
        ):
            return given
    return None


def is_handler(node: ast.AST) -> bool:
    """Whether the kernel calls it: it bears one of the SDK's decorators."""
    return any(
        isinstance(target := d.func if isinstance(d, ast.Call) else d, ast.Attribute)
        and target.attr in HANDLERS
        for d in getattr(node, "decorator_list", ())
    )


def argument(call: ast.Call, name: str, place: int | None = None) -> ast.expr | None:
    """An argument by keyword, or by its place."""
    for keyword in call.keywords:
        if keyword.arg == name:
            return keyword.value
    return call.args[place] if place is not None and place < len(call.args) else None


def dotted(node: ast.AST) -> str:
    """`ctx.store.get` of the expression; empty where it is no chain of names."""
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def literal(node: ast.AST | None) -> object:
    """The value of a constant, else None."""
    return node.value if isinstance(node, ast.Constant) else None


def text(node: ast.AST | None) -> str:
    """The value of a string constant, else empty."""
    value = literal(node)
    return value if isinstance(value, str) else ""
