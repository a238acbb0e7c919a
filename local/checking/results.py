"""What a handler returns, as far as it stands in the source: its type, a literal snapshot, values
that JSON does not have."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from webbee_kernel.channels.skeleton import MAX_FIELDS

from .rules import Finding, Module, dotted, text

SUCCESS = "ActionResult.success"
"""The call whose first argument is JSON."""
BARE = ("int", "float", "str", "bool", "bytes", "list", "tuple", "set", "None")
"""Types that are no result of a handler."""


def findings(module: Module) -> Iterator[Finding]:
    """Every rule of this page."""
    for call, name in module.calls():
        if name.endswith(SUCCESS) and call.args:
            if isinstance(call.args[0], ast.Constant | ast.JoinedStr):
                message = "data is no dict: the next turn cannot find a field in it"
                yield module.finding(call, "data", message)
            yield from _no_json(module, call.args[0])
    for function, declared in module.handlers("function", "skeleton"):
        if (hint := function.returns) is not None and dotted(hint) in BARE:
            message = f"{dotted(hint)} is no result: return ActionResult.success(…) or a dict"
            yield module.finding(hint, "return", message)
        for node in ast.walk(function):
            if isinstance(node, ast.Return) and node.value:
                yield from _no_json(module, node.value)
                if dotted(declared.func).endswith(".skeleton"):
                    yield from _snapshot(module, node.value)


def _snapshot(module: Module, value: ast.expr, is_whole: bool = True) -> Iterator[Finding]:
    """A literal snapshot: a dict under `response`, and what renders are its first six fields
    without an underscore."""
    if isinstance(value, ast.List | ast.Tuple | ast.JoinedStr | ast.ListComp):
        message = "a snapshot is a dict of fields: nothing else can be stored or shown"
        yield module.finding(value, "snapshot", message)
    if not isinstance(value, ast.Dict):
        return
    fields = {text(k): v for k, v in zip(value.keys, value.values, strict=True)}
    if "response" in fields:
        return (yield from _snapshot(module, fields["response"], is_whole=False))
    names = [name for name in fields if name and not name.startswith("_")]
    if is_whole and names and "" not in fields:
        message = f"all of it is taken for the section: return {{'response': {{{names[0]!r}: …}}}}"
        yield module.finding(value, "response", message)
    for name in names[MAX_FIELDS:]:
        message = f"field {name!r} never renders: the first {MAX_FIELDS} do"
        yield module.finding(value, "seventh-field", message)


def _no_json(module: Module, value: ast.expr) -> Iterator[Finding]:
    """A set: its call would fail when it has done its work."""
    for found in _sets(module, value):
        message = "JSON has no set: return sorted(…) of it, or a dict, {name: value}"
        yield module.finding(found, "json", message)


def _sets(module: Module, node: ast.expr, at: ast.expr | None = None) -> Iterator[ast.expr]:
    """Where sets stand in a literal; those of one that was given a name once, where the name
    stands."""
    called = dotted(node.func) if isinstance(node, ast.Call) else ""
    if isinstance(node, ast.Set | ast.SetComp) or called in ("set", "frozenset"):
        yield at or node
    elif isinstance(node, ast.Dict | ast.List | ast.Tuple):
        for part in node.values if isinstance(node, ast.Dict) else node.elts:
            yield from _sets(module, part, at)
    elif isinstance(node, ast.Name) and at is None:
        around = ast.walk(module.function_of(node) or node)
        assigned = (n for n in around if isinstance(n, ast.Assign))
        given = [n.value for n in assigned if node.id in map(dotted, n.targets)]
        if len(given) == 1:
            yield from _sets(module, given[0], node)
