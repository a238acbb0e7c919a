"""Limits and invariants that a source breaks where it stands. Nothing of the extension runs
here."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from webbee_kernel.catalogue import MAX_RULES
from webbee_kernel.channels import skeleton
from webbee_kernel.guards.field_names import DESTROYS
from webbee_kernel.invariants import INVARIANTS, limit
from webbee_kernel.text import one_line

from .finding import Finding, Function, Module, argument, literal, text

CACHE_KEY = re.compile(rf"[A-Za-z0-9_\-:]{{1,{limit('I-CACHE-KEY-SAFETY')}}}")
AWAITED = ("function", "skeleton", "panel", "schedule", "signal", "webhook", "tool")
ACTION_TYPES = ("read", "write", "destructive")
FINAL = re.compile("|".join(DESTROYS))

FOR_USERS = ("function", "panel", "skeleton", "on_event")
NOBODY = ("schedule", "webhook", "signal")
CALLS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        "I-SKELETON-LLM-ONLY",
        ("skeleton.get",),
        ("function", "panel", "schedule", "signal", "webhook", "expose", "on_event"),
        INVARIANTS["I-SKELETON-LLM-ONLY"].sentence,
    ),
    (
        "system",
        (
            *("ctx.as_user", "ctx.store.list_users", "ctx.store.query_all", "ctx.store.for_user"),
            *("ctx.secrets.for_user", "ctx.notify.for_user"),
        ),
        FOR_USERS,
        "{name} raises SystemContextRequired here: it works in schedules, signals, webhooks, hooks",
    ),
    (
        "nobody",
        ("ctx.notify", "ctx.notify.send"),
        NOBODY,
        "there is no user here to tell: await ctx.notify.for_user(user_id).send(…)",
    ),
    (
        "environment",
        ("os.getenv", "os.environ.get"),
        (),
        "use ctx.config or ctx.secrets: the environment is the deployment's, not the user's",
    ),
    ("print", ("print",), (), "use ctx.log: it names the app and the request"),
)
"""Calls that break a rule wherever they stand, or in handlers of these kinds; what is said."""

WITHOUT_EFFECT = {
    "function": "chain_callable background long_running inputs outputs ui_builder effects",
    "panel": "center_overlay stale_while_revalidate cache_ttl",
    "Extension": "capabilities migrations_dir actions_explicit system",
    "ChatExtension": "tool_name model max_rounds",
    "secret": "rotation_hint_days",
    "emits": "schema_ref",
    "background_task": "long_running",
    "complete": "model",
}
"""Arguments that the platform's SDK knows and this kernel only accepts, by what takes them."""


def findings(module: Module) -> Iterator[Finding]:
    """Every rule of this page."""
    for function, call in module.handlers("function"):
        yield from _function(module, function, call)
    for function, call in module.handlers("skeleton"):
        yield from _section(module, function, call)
    for function, _ in module.handlers(*AWAITED):
        if isinstance(function, ast.FunctionDef):
            told = f"{function.name} must be async def: the kernel awaits it"
            yield module.found(function, "async", told)
    for call, name in module.calls():
        yield from _call(module, call, name)
    for node in module.nodes:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _import(module, node)
        elif isinstance(node, ast.Attribute) and node.attr == "fact_ledger":
            told = "the fact ledger has no extension API: return structured data in"
            yield module.found(node, "fact-ledger", f"{told} ActionResult.data")


def _function(module: Module, node: Function, call: ast.Call) -> Iterator[Finding]:
    kind = literal(argument(call, "action_type", 3))
    if kind is not None and kind not in ACTION_TYPES:
        told = f"action_type is {kind!r}: give one of {', '.join(ACTION_TYPES)}"
        yield module.found(call, "action-type", told)
    if FINAL.match(node.name) and kind in (None, "read", "write"):
        told = f"{node.name} sounds final: action_type='destructive' asks the user first"
        yield module.found(call, "final", told)
    described = argument(call, "description", 1)
    if described is None or (isinstance(described, ast.Constant) and not described.value):
        told = f"{node.name} has no description: models choose by it, and know only its name"
        yield module.found(call, "description", told)
    if argument(call, "examples") is None:
        told = f"{node.name} has no examples: the embedded model matches messages with them"
        yield module.found(call, "examples", told)
    second = node.args.args[1] if len(node.args.args) > 1 else None
    if node.args.kwarg is None and second is not None and second.annotation is None:
        told = "has no annotation: a Pydantic model is checked before it runs"
        yield module.found(node, "params", f"{node.name}'s second parameter {told}")


def _section(module: Module, node: Function, call: ast.Call) -> Iterator[Finding]:
    name, ttl = literal(call.args[0]) if call.args else None, literal(argument(call, "ttl"))
    if isinstance(name, str) and (not name or re.search(r"[*?\[\]:/]", name)):
        told = f"section name {name!r}: at least one character and none of * ? [ ] : /"
        yield module.found(call, "section-name", told)
    if isinstance(ttl, int | float) and ttl < 1:
        yield module.found(call, "ttl", f"ttl is {ttl}: give at least 1 second")
    for inner in ast.walk(node):
        if isinstance(inner, ast.Return):
            yield from _snapshot(module, inner.value)


def _snapshot(module: Module, value: ast.expr | None) -> Iterator[Finding]:
    """A literal snapshot: a dict, and what renders are its first six fields without an
    underscore."""
    if isinstance(value, ast.Dict):
        for key, item in zip(value.keys, value.values, strict=True):
            if literal(key) == "response":
                return (yield from _snapshot(module, item))
    if isinstance(value, ast.List | ast.Tuple | ast.JoinedStr | ast.ListComp):
        told = "a snapshot is a dict of fields: nothing else can be stored or shown"
        yield module.found(value, "snapshot", told)
    if not isinstance(value, ast.Dict):
        return
    names = [k for k in map(text, (k for k in value.keys if k)) if k and not k.startswith("_")]
    for name in names[skeleton.MAX_FIELDS :]:
        told = f"field {name!r} never renders: the first {skeleton.MAX_FIELDS} do"
        yield module.found(value, "seventh-field", told)


def _call(module: Module, node: ast.Call, name: str) -> Iterator[Finding]:
    for rule, names, kinds, told in CALLS:
        if f".{name}".endswith(tuple(f".{n}" for n in names)):
            if not kinds or module.is_in(node, *kinds):
                yield module.found(node, rule, told.format(name=name))
    if name.endswith((".cache.set", ".cache.get_or_fetch", ".cache.get", ".cache.delete")):
        yield from _cache(module, node)
    if name.endswith("ActionResult.success") and node.args:
        if isinstance(node.args[0], ast.Constant | ast.JoinedStr):
            told = "data is no dict: the next turn cannot find a field in it"
            yield module.found(node, "data", told)
    if name.endswith("ChatExtension"):
        yield from _chat(module, node)
    last = name.rpartition(".")[2]
    for keyword in node.keywords:
        if keyword.arg and keyword.arg in WITHOUT_EFFECT.get(last, "").split():
            told = f"{keyword.arg} has no effect here: {last} accepts it for the platform's SDK"
            yield module.found(keyword.value, "no-effect", told)


def _chat(module: Module, node: ast.Call) -> Iterator[Finding]:
    prompt = one_line(text(argument(node, "system_prompt")))
    if len(prompt) > MAX_RULES:
        told = (
            f"system_prompt has {len(prompt):,} characters, the classifier reads {MAX_RULES:,}: put"
            " what concerns one function into its description"
        )
        yield module.found(node, "system-prompt", told)


def _cache(module: Module, node: ast.Call) -> Iterator[Finding]:
    key = _written(node.args[0]) if node.args else None
    if isinstance(key, str) and not CACHE_KEY.fullmatch(key):
        told = f"{INVARIANTS['I-CACHE-KEY-SAFETY'].sentence} This one is {key!r}."
        yield module.found(node, "I-CACHE-KEY-SAFETY", told)
    ttl = literal(argument(node, "ttl_seconds"))
    most = limit("I-CACHE-TTL-CAP-300S")
    if ttl is not None and not (isinstance(ttl, int) and 5 <= ttl <= most):
        told = f"{INVARIANTS['I-CACHE-TTL-CAP-300S'].sentence} This one is {ttl}."
        yield module.found(node, "I-CACHE-TTL-CAP-300S", told)


def _written(node: ast.expr) -> object:
    """A constant, or an f-string with a letter for what is filled in: what stands around it is
    known."""
    if not isinstance(node, ast.JoinedStr):
        return literal(node)
    constant = (part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
    return "".join(map(str, constant))


def _import(module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[Finding]:
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    for name in names:
        if name in ("requests", "boto3", "urllib.request"):
            instead = "the clients of ctx" if name == "boto3" else "ctx.http"
            yield module.found(node, "blocking-import", f"{name} blocks the process: use {instead}")
        if name.startswith("webbee_kernel") and not name.startswith("webbee_kernel.sdk"):
            told = f"{name} is the kernel's own: an extension imports webbee_kernel.sdk"
            yield module.found(node, "imports", told)
