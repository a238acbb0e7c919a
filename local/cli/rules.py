"""Static rules of an extension, each finding with its file and line. Nothing of the extension runs
here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from webbee_kernel.base.text import one_line
from webbee_kernel.catalogue import MAX_RULES
from webbee_kernel.channels import skeleton
from webbee_kernel.invariants import INVARIANTS, limit

CACHE_KEY = re.compile(rf"[A-Za-z0-9_\-:]{{1,{limit('I-CACHE-KEY-SAFETY')}}}")
HANDLERS = ("function", "skeleton", "panel", "schedule", "signal", "webhook", "tool")
NO_SNAPSHOTS = ("function", "panel", "schedule", "signal", "webhook", "expose", "on_event")
ACTION_TYPES = ("read", "write", "destructive")
NOT_OF_THE_SDK = ("async", "examples")
"""Rules that `imperal-sdk` extensions need not follow: plain handlers run on a thread, its
decorator takes no examples."""

BLOCKING = {
    "time.sleep": "await asyncio.sleep",
    "requests": "ctx.http",
    "urllib.request": "ctx.http",
    "boto3": "the clients of ctx",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach. `level` is error (it will fail or be refused) or warning (it will work less well
    than it could)."""

    file: str
    line: int
    level: str
    rule: str
    message: str


def findings(folder: Path) -> list[Finding]:
    """Every finding in the extension's own modules, tests aside, in order."""
    found: list[Finding] = []
    if not (folder / "main.py").exists():
        return [Finding("main.py", 1, "error", "layout", "an extension is a folder with a main.py")]
    theirs = False
    for path in sorted(folder.glob("*.py")):
        try:
            tree = ast.parse(path.read_text("utf-8"), path.name)
        except (SyntaxError, ValueError) as error:
            found.append(
                Finding(
                    path.name,
                    getattr(error, "lineno", 1) or 1,
                    "error",
                    "syntax",
                    str(error).partition(" (")[0],
                )
            )
            continue
        module = _Module(path.name, tree)
        theirs = theirs or module.imports("imperal_sdk")
        found += module.findings()
    found = [f for f in found if not (theirs and f.rule in NOT_OF_THE_SDK)]
    return sorted(found, key=lambda f: (f.file, f.line))


class _Module:
    """One parsed file."""

    def __init__(self, name: str, tree: ast.Module) -> None:
        self._name = name
        self._tree = tree

    def findings(self) -> Iterator[Finding]:
        """All rules over all nodes; the code of handlers that may not read snapshots is told
        apart."""
        forbidden = {
            id(n) for f in ast.walk(self._tree) if _decorator(f, *NO_SNAPSHOTS) for n in ast.walk(f)
        }
        threaded = {
            id(n)
            for f in ast.walk(self._tree)
            if isinstance(f, ast.FunctionDef) and _decorator(f, *HANDLERS)
            for n in ast.walk(f)
        }
        for node in ast.walk(self._tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from self._handler(node)
            elif isinstance(node, ast.Call):
                yield from self._call(node, id(node) in forbidden, id(node) in threaded)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._import(node)
            elif isinstance(node, ast.Attribute) and node.attr == "fact_ledger":
                yield self._error(
                    node,
                    "fact-ledger",
                    "the fact ledger has no extension API: return structured data in"
                    " ActionResult.data",
                )

    def _handler(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Finding]:
        if (call := _decorator(node, "function")) is not None:
            yield from self._function(node, call)
        if (call := _decorator(node, "skeleton")) is not None:
            yield from self._section(node, call)
        if isinstance(node, ast.FunctionDef) and _decorator(node, *HANDLERS):
            yield self._error(node, "async", f"{node.name} must be async def: the kernel awaits it")

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call
    ) -> Iterator[Finding]:
        given = {k.arg: k.value for k in call.keywords}
        kind = _literal(given.get("action_type"))
        if kind is not None and kind not in ACTION_TYPES:
            yield self._error(
                call,
                "action-type",
                f"action_type is {kind!r}: give one of {', '.join(ACTION_TYPES)}",
            )
        if re.match(r"(delete|remove|erase|purge|drop|wipe)", node.name) and kind in (
            None,
            "read",
            "write",
        ):
            yield self._warning(
                call,
                "action-type",
                f"{node.name} sounds final: action_type='destructive' asks the user first",
            )
        if len(call.args) < 2 and "description" not in given:
            yield self._warning(
                call,
                "description",
                f"{node.name} has no description: a model chooses functions by it",
            )
        if "examples" not in given:
            yield self._warning(
                call,
                "examples",
                f"{node.name} has no examples: the offline model matches messages with them",
            )
        if (
            node.args.kwarg is None
            and len(node.args.args) > 1
            and node.args.args[1].annotation is None
        ):
            yield self._warning(
                node,
                "params",
                f"{node.name}'s second parameter has no annotation: a Pydantic model is checked"
                " before it runs",
            )

    def _section(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call
    ) -> Iterator[Finding]:
        name = _literal(call.args[0]) if call.args else None
        if isinstance(name, str) and (not name or re.search(r"[*?\[\]:/]", name)):
            yield self._error(
                call,
                "section-name",
                f"section name {name!r}: at least one character and none of * ? [ ] : /",
            )
        ttl = _literal(next((k.value for k in call.keywords if k.arg == "ttl"), None))
        if isinstance(ttl, int | float) and ttl < 1:
            yield self._error(call, "ttl", f"ttl is {ttl}: give at least 1 second")
        for inner in ast.walk(node):
            if isinstance(inner, ast.Return) and isinstance(inner.value, ast.Dict):
                yield from self._snapshot(inner.value)

    def _snapshot(self, value: ast.Dict) -> Iterator[Finding]:
        """A literal snapshot: what renders are its first six fields without an underscore."""
        for key, item in zip(value.keys, value.values, strict=True):
            if _literal(key) == "response" and isinstance(item, ast.Dict):
                value = item
        names = [
            k
            for k in map(_literal, (k for k in value.keys if k))
            if isinstance(k, str) and not k.startswith("_")
        ]
        for name in names[skeleton.MAX_FIELDS :]:
            yield self._warning(
                value,
                "seventh-field",
                f"field {name!r} never renders: the first {skeleton.MAX_FIELDS} do",
            )

    def _call(self, node: ast.Call, forbidden: bool, threaded: bool) -> Iterator[Finding]:
        name = _dotted(node.func)
        if name.endswith("skeleton.get") and forbidden:
            yield self._error(
                node, "I-SKELETON-LLM-ONLY", INVARIANTS["I-SKELETON-LLM-ONLY"].sentence
            )
        if name.endswith((".cache.set", ".cache.get_or_fetch", ".cache.get", ".cache.delete")):
            yield from self._cache(node)
        if (
            name.endswith("ActionResult.success")
            and node.args
            and isinstance(node.args[0], ast.Constant | ast.JoinedStr)
        ):
            yield self._warning(
                node, "data", "data is no dict: the next turn cannot find a field in it"
            )
        if name in BLOCKING and not threaded:
            yield self._error(
                node,
                "blocking",
                f"{name} blocks every other call of this process: use {BLOCKING[name]}",
            )
        if name in ("os.getenv", "os.environ.get"):
            yield self._warning(
                node,
                "environment",
                "use ctx.config or ctx.secrets: the environment is the deployment's, not the"
                " user's",
            )
        if name == "print":
            yield self._warning(node, "print", "use ctx.log: it names the app and the request")
        if name.endswith("ChatExtension"):
            yield from self._chat(node)

    def _chat(self, node: ast.Call) -> Iterator[Finding]:
        prompt = _literal(next((k.value for k in node.keywords if k.arg == "system_prompt"), None))
        if isinstance(prompt, str) and len(one_line(prompt)) > MAX_RULES:
            yield self._warning(
                node,
                "system-prompt",
                f"system_prompt has {len(one_line(prompt)):,} characters, the classifier reads"
                f" {MAX_RULES:,}: put what concerns one function into its description",
            )

    def _cache(self, node: ast.Call) -> Iterator[Finding]:
        key = _literal(node.args[0]) if node.args else None
        if isinstance(key, str) and not CACHE_KEY.fullmatch(key):
            yield self._error(
                node,
                "I-CACHE-KEY-SAFETY",
                f"{INVARIANTS['I-CACHE-KEY-SAFETY'].sentence} This one is {key!r}.",
            )
        ttl = _literal(next((k.value for k in node.keywords if k.arg == "ttl_seconds"), None))
        if ttl is not None and not (
            isinstance(ttl, int) and 5 <= ttl <= limit("I-CACHE-TTL-CAP-300S")
        ):
            yield self._error(
                node,
                "I-CACHE-TTL-CAP-300S",
                f"{INVARIANTS['I-CACHE-TTL-CAP-300S'].sentence} This one is {ttl}.",
            )

    def _import(self, node: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
        names = (
            [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        )
        for name in names:
            if name in BLOCKING and name != "time.sleep":
                yield self._warning(
                    node, "blocking", f"{name} blocks the process: use {BLOCKING[name]}"
                )
            if name.startswith("webbee_kernel") and not name.startswith("webbee_kernel.sdk"):
                yield self._error(
                    node,
                    "imports",
                    f"{name} is the kernel's own: an extension imports webbee_kernel.sdk",
                )

    def imports(self, package: str) -> bool:
        """Whether any of its statements imports the package or a part of it."""
        names = [a.name for n in ast.walk(self._tree) if isinstance(n, ast.Import) for a in n.names]
        names += [
            n.module or ""
            for n in ast.walk(self._tree)
            if isinstance(n, ast.ImportFrom) and not n.level
        ]
        return any(name.partition(".")[0] == package for name in names)

    def _error(self, node: Any, rule: str, message: str) -> Finding:
        return Finding(self._name, node.lineno, "error", rule, message)

    def _warning(self, node: Any, rule: str, message: str) -> Finding:
        return Finding(self._name, node.lineno, "warning", rule, message)


def _decorator(node: ast.AST, *names: str) -> ast.Call | None:
    """The decorator call `@something.<name>(…)` of a function, one of `names`."""
    for decorator in getattr(node, "decorator_list", ()):
        if (
            isinstance(decorator, ast.Call)
            and isinstance(decorator.func, ast.Attribute)
            and decorator.func.attr in names
        ):
            return decorator
    return None


def _dotted(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value)}.{node.attr}"
    return node.id if isinstance(node, ast.Name) else ""


def _literal(node: ast.AST | None) -> Any:
    return node.value if isinstance(node, ast.Constant) else None
