"""What only the loaded extension shows: whether handlers take what they are given, cron, arguments
without effect, alerts without tools."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cronsim import CronSim, CronSimError
from pydantic import BaseModel

from webbee_kernel.extensions.registry import LoadedExtension
from webbee_kernel.sdk import FunctionDef
from webbee_kernel.sdk.chat import params_model
from webbee_kernel.sdk.definitions import ON_EVENT
from webbee_kernel.sdk.extension import ALERT_PREFIX

from .finding import Finding
from .names import Declared

Handler = Callable[..., Any]

TAKES: dict[str, tuple[str, tuple[object, ...], dict[str, object]]] = {
    "section": ("(ctx)", (None,), {}),
    "alert": ("(ctx, old, new)", (None,), {"old": {}, "new": {}}),
    "panel": ("(ctx, **params)", (None,), {}),
    "schedule": ("(ctx)", (None,), {}),
    "webhook": ("(ctx, headers, body, query_params)", (None, {}, "", {}), {}),
    "event listener": ("(ctx, data)", (None, {}), {}),
    "hook": ("(ctx)", (None,), {}),
    "health check": ("(ctx)", (None,), {}),
}
"""What each kind of handler is called with."""


def declared(loaded: LoadedExtension) -> Declared:
    """The names it registers."""
    ext = loaded.ext
    return Declared(
        {n: s.write_mode for n, s in ext.secrets.items()},
        tuple(m.__name__ for m in ext.cache_models.values()),
        tuple(ext.panels),
        tuple(loaded.functions),
        tuple(ext.oauth_providers),
        {n: _fields(f.params_model) for n, f in loaded.functions.items() if _is_closed(f)},
        tuple(ext.skeletons),
        tuple(map(str, ext.config_defaults or {})),
    )


def _is_closed(function: FunctionDef) -> bool:
    """Whether all that it takes is known: the fields of a model that drops what it has not."""
    model = function.params_model
    return model is not None and model.model_config.get("extra") != "allow"


def _fields(model: type[BaseModel] | None) -> dict[str, bool]:
    found = model.model_fields if model else {}
    return {f.alias or n: f.is_required() for n, f in found.items()}


def findings(loaded: LoadedExtension, folder: Path) -> Iterator[Finding]:
    """Every rule of this page."""
    for kind, name, handler in _handlers(loaded):
        if problem := _mismatch(kind, handler):
            yield _at(handler, folder, "signature", f"{kind} {name!r} {problem}")
    for function in loaded.functions.values():
        if problem := _chat_mismatch(function.func) or _untold(function):
            yield _at(function.func, folder, "signature", f"{function.name} {problem}")
        yield from _required_nulls(function, folder)
    yield from _alerts(loaded, folder)
    for panel in loaded.ext.panels.values():
        if panel.refresh not in ("", "manual") and not panel.refresh.startswith(ON_EVENT):
            text = f"refresh is {panel.refresh!r}: give manual, or {ON_EVENT}<type>,… of events"
            yield _at(panel.func, folder, "refresh", text)
    for job in loaded.ext.schedules.values():
        if problem := _cron_problem(job.cron):
            text = f"{job.cron!r} is no cron of five fields ({problem})"
            yield _at(job.func, folder, "cron", text)


def _required_nulls(function: FunctionDef, folder: Path) -> Iterator[Finding]:
    """Parameters that may be null and have to be given all the same: `days: Optional[int]`."""
    model = function.params_model
    for name, field in model.model_fields.items() if model else ():
        if not (field.is_required() and type(None) in typing.get_args(field.annotation)):
            continue
        told = f"{name} may be None and must be given all the same: end it with = None, or"
        text = f"{told} Field(None, …)"
        yield replace(_at(function.func, folder, "optional", text), **_field_place(model, name))


def _field_place(model: type[BaseModel] | None, name: str) -> dict[str, Any]:
    """File and line of a model's field; empty where its source is not there."""
    with suppress(OSError, TypeError):
        lines, first = inspect.getsourcelines(model or BaseModel)
        file = Path(inspect.getfile(model or BaseModel)).name
        at = next(n for n, line in enumerate(lines) if re.match(rf"\s+{re.escape(name)}\s*:", line))
        return {"file": file, "line": first + at}
    return {}


def _cron_problem(cron: str) -> str:
    try:
        CronSim(cron, datetime.now(UTC))
    except CronSimError as error:
        return str(error)
    fields = len(cron.split())
    return "" if fields == 5 else f"it has {fields}; jobs run at a minute"


def _handlers(loaded: LoadedExtension) -> Iterator[tuple[str, str, Handler]]:
    ext = loaded.ext
    yield from (("section", s.section, s.func) for s in ext.skeletons.values())
    for name, tool in ext.tools.items():
        if name.startswith(ALERT_PREFIX):
            yield "alert", name, tool.func
    yield from (("panel", p.panel_id, p.func) for p in ext.panels.values())
    yield from (("schedule", j.name, j.func) for j in ext.schedules.values())
    yield from (("webhook", w.path, w.func) for w in ext.webhooks.values())
    yield from (("event listener", kind, func) for kind, func in ext.event_handlers)
    yield from (("hook", n, f) for n, f in (*ext.lifecycle.items(), *ext.upgrades.items()))
    if ext.health:
        yield "health check", "health", ext.health


def _mismatch(kind: str, handler: Handler) -> str:
    shown, args, kwargs = TAKES[kind]
    if not inspect.iscoroutinefunction(handler):
        return f"must be async def {shown}"
    try:
        inspect.signature(handler).bind(*args, **kwargs)
    except TypeError as error:
        return f"is called with {shown}: {error}"
    return ""


def _chat_mismatch(handler: Handler) -> str:
    """What a chat function lacks to be called with `(ctx, params)` or `(ctx, **arguments)`."""
    if not inspect.iscoroutinefunction(handler):
        return "must be async def (ctx, params: Model)"
    parameters = list(inspect.signature(handler).parameters.values())
    if not parameters or parameters[0].kind is inspect.Parameter.KEYWORD_ONLY or _is_model(handler):
        return "takes no context: async def (ctx, params: Model)"
    required = [p for p in parameters[2:] if p.default is p.empty and p.kind < 2]
    if params_model(handler) and required:
        return f"is called with (ctx, params): {required[0].name} gets no value"
    return ""


def _is_model(handler: Handler) -> bool:
    """Whether the first parameter is said to be what the second should be."""
    first = next(iter(inspect.signature(handler).parameters))
    with suppress(NameError, TypeError):  # an annotation that cannot be resolved is no model
        hint = typing.get_type_hints(handler).get(first)
        return isinstance(hint, type) and issubclass(hint, BaseModel)
    return False


def _untold(function: FunctionDef) -> str:
    """Parameters of which a model hears nothing: there is neither a Pydantic model nor a schema."""
    if function.params_model or function.params:
        return ""
    taken = list(inspect.signature(function.func).parameters.values())[1:]
    named = [p.name for p in taken if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if not named:
        return ""
    return f"takes {', '.join(named)}, of which no model is told: make it params: Model"


def _alerts(loaded: LoadedExtension, folder: Path) -> Iterator[Finding]:
    ext = loaded.ext
    for section in ext.skeletons.values():
        tool = ALERT_PREFIX + section.section
        if section.alert and tool not in ext.tools:
            text = (
                f'alert=True without a tool: @ext.tool("{tool}") async def (ctx, old, new) -> str'
            )
            yield _at(section.func, folder, "alert", text)
        if not section.alert and tool in ext.tools:
            text = f"{tool} is never asked: its section lacks alert=True"
            yield _at(ext.tools[tool].func, folder, "alert", text)
    for name, tool_def in ext.tools.items():
        section_name = name.removeprefix(ALERT_PREFIX)
        if name.startswith(ALERT_PREFIX) and section_name not in ext.skeletons:
            text = f"there is no section {section_name!r} to alert about"
            yield _at(tool_def.func, folder, "alert", text)


def _at(handler: Handler, folder: Path, rule: str, message: str) -> Finding:
    code = getattr(inspect.unwrap(handler), "__code__", None)
    path = Path(code.co_filename) if code else folder / "main.py"
    file = path.name if path.is_relative_to(folder.resolve()) else "main.py"
    return Finding.of(file, code.co_firstlineno if code else 1, rule, message)
