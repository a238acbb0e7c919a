"""Names that must agree: what the code asks for by name against what the extension registers."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches

from webbee_kernel.sdk import ui

from .finding import Finding, Module, argument, decorator, dotted, text

SYSTEM_ONLY = (
    "ctx.as_user",
    "ctx.store.list_users",
    "ctx.store.query_all",
    "ctx.store.for_user",
    "ctx.secrets.for_user",
    "ctx.notify.for_user",
)
FOR_USERS = ("function", "panel", "skeleton", "on_event")
NODES = frozenset(n for n in ui.__all__ if n[0].isupper()) - {"UINode", "UIAction", "Node"}


@dataclass(frozen=True, slots=True)
class Declared:
    """What the loaded extension registers, by name."""

    secrets: dict[str, str]
    """Name to `write_mode`."""
    cache_models: tuple[str, ...] = ()
    panels: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    oauth: tuple[str, ...] = ()
    fields: dict[str, dict[str, bool]] = field(default_factory=dict)
    """Function to its parameters, and whether each is required; without those that take any."""
    sections: tuple[str, ...] = ()
    defaults: tuple[str, ...] = ()
    """Top-level keys of `config_defaults`."""
    consent: dict[str, str] = field(default_factory=dict)
    """Function to how its calls are classed, and why (docs/consent.md)."""


def repeated(modules: Sequence[Module]) -> Iterator[Finding]:
    """Two handlers under one name: where an SDK lets it pass, one is silently replaced."""
    seen: dict[tuple[str, ...], str] = {}
    for module in modules:
        for node in ast.walk(module.tree):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            for kind in ("skeleton", "panel", "schedule", "webhook", "tool", "expose", "signal"):
                call = decorator(node, kind)
                name = text(argument(call, "name", 0)) if call else ""
                if not call or not name:
                    continue
                method = text(argument(call, "method", 1)).upper() if kind == "webhook" else ""
                if first := seen.get((kind, name, method)):
                    yield module.found(
                        call,
                        "repeated",
                        f"{kind} {name!r} is {first} already: one replaces the other",
                    )
                seen[kind, name, method] = node.name


def findings(module: Module, declared: Declared) -> Iterator[Finding]:
    """Every name of one module that nothing bears."""
    for call, name in module.calls():
        yield from _secret(module, call, name, declared)
        yield from _model(module, call, name, declared)
        yield from _panels(module, call, declared)
        yield from _ui(module, call, name, declared)
        yield from _section(module, call, name, declared)
        if name in SYSTEM_ONLY and _for_a_user(module, call):
            yield module.found(
                call,
                "system",
                f"{name} works in schedules, signals, webhooks and hooks only: here it raises"
                " SystemContextRequired",
            )


def oauth(module: Module, declared: Declared) -> Iterator[Finding]:
    """A sign-in without the app-wide secrets it reads."""
    for call, name in module.calls():
        if name.endswith(".oauth") and (provider := text(argument(call, "provider", 0))):
            wanted = [f"{provider}_client_id", f"{provider}_client_secret"]
            if missing := [w for w in wanted if w not in declared.secrets]:
                yield module.found(
                    call,
                    "oauth",
                    f'declare ext.secret("{missing[0]}", …, scope="app"): the sign-in reads it',
                )


def _secret(module: Module, call: ast.Call, name: str, declared: Declared) -> Iterator[Finding]:
    head, _, method = name.rpartition(".")
    wanted = text(argument(call, "name", 0))
    if not head.endswith("ctx.secrets") or not wanted:
        return
    if wanted not in declared.secrets:
        meant = near(wanted, declared.secrets)
        yield module.found(
            call,
            "secret",
            f'secret {wanted!r} is not declared: ext.secret("{wanted}", "what it is"){meant}',
        )
    elif method in ("set", "delete") and declared.secrets[wanted] == "user":
        yield module.found(
            call,
            "secret",
            f'secret {wanted!r} is its user\'s: declare it with write_mode="both" for the'
            f" extension to {method} it",
        )


def _model(module: Module, call: ast.Call, name: str, declared: Declared) -> Iterator[Finding]:
    head, _, method = name.rpartition(".")
    if not head.endswith("ctx.cache") or method not in ("get", "set", "get_or_fetch"):
        return
    given = argument(call, "value" if method == "set" else "model", 1)
    model = given.func if method == "set" and isinstance(given, ast.Call) else given
    wanted = dotted(model).rpartition(".")[2] if model is not None else ""
    classes = {c.name for c in ast.walk(module.tree) if isinstance(c, ast.ClassDef)}
    is_class = wanted in classes or (wanted in module.aliases and wanted[:1].isupper())
    if is_class and wanted not in declared.cache_models:
        yield module.found(
            call,
            "cache-model",
            f"{wanted} is no model of the cache: decorate it with @ext.cache_model(…)",
        )


def _panels(module: Module, call: ast.Call, declared: Declared) -> Iterator[Finding]:
    named = next((k.value for k in call.keywords if k.arg == "refresh_panels"), None)
    if not isinstance(named, ast.List):
        return
    for item in named.elts:
        if (wanted := text(item)) and wanted not in declared.panels:
            meant = near(wanted, declared.panels)
            yield module.found(item, "panel", f"there is no panel {wanted!r}{meant}")


def _section(module: Module, call: ast.Call, name: str, declared: Declared) -> Iterator[Finding]:
    """A snapshot that is nobody's, and a key that is nearly one of the configuration's."""
    if name == "ctx.skeleton.get" and (wanted := text(argument(call, "section", 0))):
        if wanted not in declared.sections:
            told = f"the app has no section {wanted!r}{near(wanted, declared.sections)}"
            yield module.found(call, "section", told)
    if name in ("ctx.config.get", "ctx.config.get_section"):
        key = text(argument(call, "key", 0)).partition(".")[0]
        if key not in declared.defaults and (meant := near(key, declared.defaults)):
            yield module.found(call, "config", f"config_defaults has no {key!r}{meant}")


def _ui(module: Module, call: ast.Call, name: str, declared: Declared) -> Iterator[Finding]:
    last = name.rpartition("ui.")[2]
    function = text(argument(call, "function", 0)) if last == "Call" else ""
    if last == "Form":
        function = text(argument(call, "action", 1))
    panel = function.startswith("__panel__")
    known = declared.panels if panel else declared.functions
    if function and function.removeprefix("__panel__") not in known:
        yield module.found(
            call, "ui", f"the app has no function {function!r} to call{near(function, known)}"
        )
    if last == "Node" and (kind := text(argument(call, "type", 0))) and kind not in NODES:
        yield module.found(call, "ui", f"the page draws no node {kind!r}{near(kind, NODES)}")


def _for_a_user(module: Module, call: ast.Call) -> bool:
    function = module.function_of(call)
    return function is not None and decorator(function, *FOR_USERS) is not None


def near(wanted: str, known: Iterable[str]) -> str:
    """` – did you mean …?`, where one of the known is nearly it; else empty."""
    found = get_close_matches(wanted, list(known), 1)
    return f" – did you mean {found[0]!r}?" if found else ""
