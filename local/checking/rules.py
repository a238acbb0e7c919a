"""The table of rules, a finding of one, and what they need to read a syntax tree or to run another
program."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

Function = ast.FunctionDef | ast.AsyncFunctionDef
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
Node = TypeVar("Node", bound=ast.AST)
ERROR, WARNING = "error", "warning"
HANDLERS = frozenset(
    "function skeleton panel schedule signal webhook tool expose on_event on_install on_uninstall"
    " on_enable on_disable on_upgrade health_check".split()
)


@dataclass(frozen=True, slots=True)
class Rule:
    """What is found under a name. `ours`: extensions that are written for another SDK, which has
    rules of its own, need not follow it."""

    name: str
    finds: str
    level: str = ERROR
    ours: bool = False


RULES: dict[str, Rule] = {
    rule.name: rule
    for rule in (
        # it does not load, or not as it is meant
        Rule("layout", "an extension is a folder with a main.py"),
        Rule("syntax", "a file that Python cannot read"),
        Rule("name", "a file named like a module of Python's own"),
        Rule("load", "it does not load, with the lines that were running"),
        Rule("imports", "a module of the kernel other than its SDK"),
        Rule("signature", "a handler that cannot take what it is given, or not async", ours=True),
        Rule("cron", "a schedule that is no cron of five fields"),
        Rule("empty", "nothing is registered", WARNING),
        # it runs otherwise than it reads
        Rule("await", "a coroutine that nobody awaits, a plain value that is awaited", ours=True),
        Rule("return", "a type that is no result of a handler", ours=True),
        Rule("json", "a set in a result, which JSON does not have", ours=True),
        Rule("endless", "a loop that nothing in it can end"),
        Rule("blocking", "a call that blocks every other call of the process"),
        Rule("blocking-import", "a library that does so", WARNING),
        Rule("shared-state", "state of the module that a call changes, for all tenants"),
        Rule("swallowed", "an `except` that also swallows the call's end", WARNING),
        Rule("task", "a task that nobody waits for", WARNING, ours=True),
        Rule("clock", "another clock than `ctx.time`", WARNING, ours=True),
        # limits and invariants
        Rule("I-SKELETON-LLM-ONLY", "a snapshot that is read outside of a section"),
        Rule("I-CACHE-KEY-SAFETY", "a key that the cache refuses"),
        Rule("I-CACHE-TTL-CAP-300S", "a time to live that the cache refuses"),
        Rule("snapshot", "a snapshot that is no dict"),
        Rule("response", "a snapshot without its `response`", WARNING, ours=True),
        Rule("seventh-field", "a field of a snapshot that never renders", WARNING),
        Rule("system-prompt", "a system prompt that is cut", WARNING),
        # names and forms that must agree
        Rule("secret", "a secret that is not declared, or not for this use"),
        Rule("written", "a key or password that stands in the source", WARNING),
        Rule("oauth", "a sign-in without its client's secrets"),
        Rule("cache-model", "a class that is no model of the cache", ours=True),
        Rule("panel", "a panel that is not there", WARNING, ours=True),
        Rule("section", "a section that is not there", ours=True),
        Rule("config", "a key that `config_defaults` has by nearly the name", WARNING, ours=True),
        Rule("collection", "a collection or index of nearly the same name", WARNING, ours=True),
        Rule("event", "an event that nobody emits", WARNING, ours=True),
        Rule("alert", "an alert without its section or tool, or a field it has not", ours=True),
        Rule("refresh", "a `refresh` of a panel that is none"),
        Rule("ui", "a node, a button or a form that fits no function", ours=True),
        Rule("webhook", "a webhook that reads or answers what it is not given", ours=True),
        Rule("system", "what only schedules, signals, webhooks and hooks may do", ours=True),
        Rule("nobody", "a notification where there is no user", ours=True),
        Rule("final", "a name that sounds final without `action_type='destructive'`", WARNING),
        # what a model reads and keeps
        Rule("description", "a description by which nobody finds it", WARNING, ours=True),
        Rule("examples", "a function without examples", WARNING, ours=True),
        Rule("slot", "a slot of an example that is no parameter of its function", ours=True),
        Rule("optional", "a parameter that may be None and has no default", WARNING),
        Rule("data", "a result without fields", WARNING),
        Rule("pii", "a person's name that nothing declares", WARNING, ours=True),
        Rule("no-effect", "an argument that has no effect here", WARNING, ours=True),
        Rule("print", "`print` in the place of `ctx.log`", WARNING),
        Rule("environment", "the environment in the place of `ctx.config`", WARNING),
        # the files beside
        Rule("icon", "an icon that is not there", WARNING),
        Rule("types", "the type checker did not end", WARNING),
    )
}
"""Every rule of our own, by the name under which a line leaves it alone; those of the type checker
bear its names."""


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

    @staticmethod
    def of(file: str, line: int, rule: str, message: str, frames: tuple[str, ...] = ()) -> Finding:
        """A breach of one of the table's rules."""
        return Finding(file, line, RULES[rule].level, rule, message, frames)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """An extension's id, empty where it does not load; its findings in order; and how the calls of
    each of its functions are classed (docs/consent.md)."""

    app_id: str
    findings: list[Finding]
    consent: Mapping[str, str] = field(default_factory=dict)

    @property
    def errors(self) -> list[Finding]:
        """Those that are no warnings."""
        return [f for f in self.findings if f.level == "error"]


@dataclass(slots=True)
class Module:
    """One parsed file of an extension."""

    name: str
    tree: ast.Module
    parents: dict[int, ast.AST] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    nodes: list[ast.AST] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.nodes = list(ast.walk(self.tree))
        for node in self.nodes:
            self.parents |= {id(child): node for child in ast.iter_child_nodes(node)}
            if isinstance(node, ast.Import):
                self.aliases |= {a.asname or a.name: a.name for a in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                self.aliases |= {a.asname or a.name: f"{node.module}.{a.name}" for a in node.names}

    def finding(self, node: ast.AST, rule: str, message: str) -> Finding:
        """A breach of a rule at a node's line."""
        return Finding.of(self.name, getattr(node, "lineno", 1), rule, message)

    def each(self, kind: type[Node]) -> Iterator[Node]:
        """Every node of a kind."""
        return (node for node in self.nodes if isinstance(node, kind))

    def handlers(self, *kinds: str) -> Iterator[tuple[Function, ast.Call]]:
        """Every function with a decorator of one of these kinds, and its call."""
        for node in self.nodes:
            if isinstance(node, FUNCTIONS) and (call := decorator(node, *kinds)):
                yield node, call

    def calls(self) -> Iterator[tuple[ast.Call, str]]:
        """Every call with the dotted name it calls, imports resolved."""
        return ((node, self.callee(node)) for node in self.each(ast.Call))

    def callee(self, node: ast.Call) -> str:
        """`time.sleep` of `sleep(1)` after `from time import sleep`."""
        name = dotted(node.func)
        first, _, rest = name.partition(".")
        return ".".join(filter(None, (self.aliases.get(first, first), rest)))

    def around(self, node: ast.AST) -> Iterator[ast.AST]:
        """What a node stands in, the innermost first."""
        while (parent := self.parents.get(id(node))) is not None:
            yield parent
            node = parent

    def function_of(self, node: ast.AST) -> Function | None:
        """The function that a node stands in; None in a lambda or at the top."""
        for outer in self.around(node):
            if isinstance(outer, FUNCTIONS):
                return outer
            if isinstance(outer, ast.Lambda):
                return None
        return None

    def is_in(self, node: ast.AST, *kinds: str) -> bool:
        """Whether a node stands in a handler of one of these kinds, or in a function inside."""
        return any(decorator(outer, *kinds) for outer in self.around(node))

    def imports(self, package: str) -> bool:
        """Whether any of its statements imports the package or a part of it."""
        return any(name.partition(".")[0] == package for name in self.aliases.values())


EXCLUDED_FOLDERS = frozenset({"tests", "node_modules", "venv", "site-packages"})
"""Folders whose files are no modules of the extension, as those with a dot before their name."""


def sources(folder: Path) -> Iterator[tuple[Path, str]]:
    """The extension's own modules, those of its packages too, each with its name in the folder."""
    for path in sorted(folder.rglob("*.py")):
        inside = path.relative_to(folder)
        if not any(part in EXCLUDED_FOLDERS or part.startswith(".") for part in inside.parts):
            yield path, inside.as_posix()


def source_lines(source: str) -> list[str]:
    """The lines as Python counts them: `str.splitlines` ends one at a form feed, too."""
    return source.replace("\r\n", "\n").split("\n")


def parse(folder: Path) -> tuple[list[Module], list[Finding]]:
    """The extension's own modules, and what could not be read, or is read in the place of a module
    of Python's own."""
    modules, findings = [], []
    for path, name in sources(folder):
        # a package is a folder with this file
        entry = path.parent if path.stem == "__init__" else path
        if entry.stem in sys.stdlib_module_names and entry.parent == folder:
            what = f"file of its name: rename {name}"
            if entry != path:
                what = f"folder of its name: rename {entry.name}/"
            message = f"Python's own {entry.stem} cannot be imported beside a {what}"
            findings.append(Finding.of(name, 1, "name", message))
        try:
            modules.append(Module(name, ast.parse(path.read_text("utf-8"), name)))
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", 1) or 1
            message = str(error).partition(" (")[0]
            findings.append(Finding.of(name, line, "syntax", message))
    return modules, findings


def decorator(node: ast.AST, *names: str) -> ast.Call | None:
    """The decorator call `@something.<name>(…)` of a function, one of `names`."""
    calls = (d for d in getattr(node, "decorator_list", ()) if isinstance(d, ast.Call))
    return next((call for call in calls if _has_name(call.func, *names)), None)


def is_handler(node: ast.AST) -> bool:
    """Whether the kernel calls it: it bears one of the SDK's decorators."""
    decorators = getattr(node, "decorator_list", ())
    return any(_has_name(d.func if isinstance(d, ast.Call) else d, *HANDLERS) for d in decorators)


def _has_name(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in names


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


def ended(
    command: Sequence[str], seconds: float, **options: Any
) -> subprocess.CompletedProcess[str] | None:
    """What a program of ours said; None where it did not end within these seconds."""
    given: Any = {"capture_output": True, "text": True, "check": False, **options}
    with suppress(subprocess.TimeoutExpired):
        return subprocess.run(command, timeout=seconds, **given)  # noqa: S603
    return None
