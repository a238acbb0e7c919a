"""Loading an extension to see whether it loads: as the functions do, in a process of its own.

What extension code does while it is imported (prints, threads, an endless loop, `os._exit`) stays
in that process: `python -m <this module> FOLDER` answers on its output with one JSON object.
"""

from __future__ import annotations

import inspect
import os
import re
import sys
import typing
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cronsim import CronSim, CronSimError
from pydantic import BaseModel, TypeAdapter

from webbee_kernel import language
from webbee_kernel.catalogue import SLOT, FunctionInfo
from webbee_kernel.extensions.loader import frames_of, place_of, reason_of
from webbee_kernel.extensions.registry import LoadedExtension, Registry, load_extension
from webbee_kernel.guards.field_names import DESTROY
from webbee_kernel.guards.sinks import classify_function
from webbee_kernel.sdk import FunctionDef
from webbee_kernel.sdk.definitions import ON_EVENT
from webbee_kernel.sdk.extension import ALERT_PREFIX, REFRESH_PREFIX, params_model

from ..project import child_environment
from ..terminal import near
from . import cross_references
from .rules import CheckResult, Finding, ended, parse, source_lines, sources

SDK = "imperal-sdk==6.3.7"
"""What the build gives a folder that imports `imperal_sdk` and names no version of it."""

LOAD_S = 60
"""Seconds an import may take; Lambda's init leaves it ten."""

QUIET = "ignore::RuntimeWarning:runpy"
"""That this module is imported before it runs; the last words of a child are its own."""

FINAL = re.compile("|".join(DESTROY))
_CHECKED = TypeAdapter(CheckResult)


def load(folder: Path) -> CheckResult:
    """Load the folder in a child process; a child that hangs or dies is a finding too."""
    command = [sys.executable, "-W", QUIET, "-m", f"{__package__}.loading", str(folder.resolve())]
    done = ended(command, LOAD_S, env=child_environment())
    if done is None:
        message = f"it did not load in {LOAD_S} s: an import waits for something or never ends"
        return CheckResult("", [Finding.of("main.py", 1, "load", message)])
    if done.stdout:
        return _CHECKED.validate_json(done.stdout)
    last = next(reversed(done.stderr.strip().splitlines()), "")
    message = f"it ended the process that imported it (exit status {done.returncode})"
    said = f"{message}: {last}" if last else message
    return CheckResult("", [Finding.of("main.py", 1, "load", said)])


def _look(folder: Path) -> CheckResult:
    """In the child: whether it loads, and what the loaded extension shows."""
    try:
        extension = load_extension(folder)
    except (Exception, SystemExit) as error:
        file, line = place_of(error, folder)
        reason = reason_of(error, folder).removesuffix(f" ({file}:{line})")
        message = f"it does not load: {reason}{_remedy(error, folder)}"
        frames = tuple(frames_of(error, folder))
        failed = Finding.of(file or "main.py", line or 1, "load", message, frames)
        return CheckResult("", [failed])
    info = Registry({extension.app_id: extension}).catalogue().apps[extension.app_id]
    found = [
        *registered(extension, folder),
        *cross_references.of_loaded(parse(folder)[0], extension),
    ]
    if not (info.functions or info.panels or info.sections):
        message = "it registers no function, panel or section"
        found.append(Finding.of("main.py", 1, "empty", message))
    for function in info.functions:
        handler = extension.functions[function.fn_name].func
        found += _slots(extension.app_id, function, folder, _at(handler, folder, "slot", ""))
    if info.icon and not (folder / info.icon).exists():
        found.append(Finding.of("main.py", 1, "icon", f"{info.icon} is not there"))
    return CheckResult(extension.app_id, found, {f.fn_name: _classed(f) for f in info.functions})


def _classed(function: FunctionInfo) -> str:
    """How calls of a function are classed, and by what: `outward – to (name)`."""
    classification = classify_function(function)
    why = ", ".join(
        f"{s.path} ({s.reason})" if s.path else f"its {s.reason}" for s in classification.sinks
    )
    return f"{classification.effect} – {why}" if why else classification.effect


def _remedy(error: BaseException, folder: Path) -> str:
    """What to do about a library that is not there; empty for other errors."""
    if not isinstance(error, ModuleNotFoundError) or not error.name:
        return ""
    pip = f"{os.path.relpath(sys.executable)} -m pip install"
    if error.name.partition(".")[0] == "imperal_sdk":
        return f" – it comes by itself when deployed; on this machine: {pip} {SDK}"
    listed = folder / "requirements.txt"
    install = f", or install what it requires: {pip} -r {os.path.relpath(listed)}"
    return f" – add it to requirements.txt{install if listed.exists() else ''}"


def _slots(app_id: str, function: FunctionInfo, folder: Path, place: Finding) -> Iterator[Finding]:
    """Slots of a function's examples that are none of its parameters: nothing said fits them."""
    known = list(function.input_schema.get("properties") or ())
    for example in function.examples:
        for name in dict.fromkeys(match[1] for match in SLOT.finditer(example)):
            if name not in known:
                message = f"{app_id}.{function.fn_name}: {{{name}}} of the example {example!r}"
                has = f"it has {', '.join(known)}{near(name, known)}" if known else "it has none"
                text = f"{message} is no parameter of the function: {has}"
                yield replace(place, message=text, **_written(folder, f".*{re.escape(example)}"))


def _written(folder: Path, pattern: str) -> dict[str, Any]:
    """File and line of the first line that begins so; empty where none does."""
    for path, name in sources(folder):
        for number, line in enumerate(source_lines(path.read_text("utf-8")), 1):
            if re.match(pattern, line):
                return {"file": name, "line": number}
    return {}


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


def registered(loaded: LoadedExtension, folder: Path) -> Iterator[Finding]:
    """Every rule of this page."""
    for kind, name, handler in _handlers(loaded):
        if problem := _mismatch(kind, handler):
            yield _at(handler, folder, "signature", f"{kind} {name!r} {problem}")
    for function in loaded.functions.values():
        if problem := _chat_mismatch(function.func) or _untold(function):
            yield _at(function.func, folder, "signature", f"{function.name} {problem}")
        yield from _required_nulls(function, folder)
    yield from _described(loaded, folder)
    yield from _alerts(loaded, folder)
    for panel in loaded.ext.panels.values():
        if panel.refresh not in ("", "manual") and not panel.refresh.startswith(ON_EVENT):
            text = f"refresh is {panel.refresh!r}: give manual, or {ON_EVENT}<type>,… of events"
            yield _at(panel.func, folder, "refresh", text)
    for job in loaded.ext.schedules.values():
        if problem := _cron_problem(job.cron):
            text = f"{job.cron!r} is no cron of five fields ({problem})"
            yield _at(job.func, folder, "cron", text)


def _described(loaded: LoadedExtension, folder: Path) -> Iterator[Finding]:
    """What models read of its chat functions."""
    chats = [f for chat in loaded.ext.chats for f in chat.functions.values()]
    for function in chats:
        for message in _wordings(function):
            yield _at(function.func, folder, "description", f"{function.name} {message}")
        if not function.examples:
            message = "has no examples: the embedded model matches messages with them"
            yield _at(function.func, folder, "examples", f"{function.name} {message}")
        if FINAL.match(function.name) and function.action_type != "destructive":
            message = "sounds final: action_type='destructive' asks the user first"
            yield _at(function.func, folder, "final", f"{function.name} {message}")


def _wordings(function: FunctionDef) -> Iterator[str]:
    """Why no model would find a chat function, or fill its parameters."""
    model = function.params_model
    undescribed = [
        name
        for name, info in (model.model_fields if model else {}).items()
        if not info.description and not re.search(r"\b(Literal|bool)\b", str(info.annotation))
    ]
    if undescribed:
        names = ", ".join(undescribed)
        yield f"has {names} without a description, which models fill it by: Field(…)"
    if not function.description:
        yield "has no description: models choose by it, and know only its name"
    elif _stems(function.description) <= _stems(function.name):
        yield "is described by its own name: say what it does, in words of whoever asks"


def _stems(words: str) -> frozenset[str]:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", words).lower()
    return frozenset(language.stem(t.text) for t in language.tokens(spaced))


def _required_nulls(function: FunctionDef, folder: Path) -> Iterator[Finding]:
    """Parameters that may be null and have to be given all the same: `days: Optional[int]`; also
    those of a model inside."""
    whole = function.params_model.model_json_schema() if function.params_model else {}
    for schema in (whole, *whole.get("$defs", {}).values()):
        for name in schema.get("required", ()):
            if {"type": "null"} not in schema["properties"][name].get("anyOf", ()):
                continue
            message = f"{name} may be None and must be given all the same: end it with = None, or"
            found = _at(function.func, folder, "optional", f"{message} Field(None, …)")
            field = rf"\s+{re.escape(name)}\s*:.*\b(Optional|None)\b"
            yield replace(found, **_written(folder, field))


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
        if not name.startswith(REFRESH_PREFIX):
            yield "alert" if name.startswith(ALERT_PREFIX) else "tool", name, tool.func
    yield from (("signal", name, func) for name, func in ext.signals.items())
    yield from (("panel", p.panel_id, p.func) for p in ext.panels.values())
    yield from (("schedule", j.name, j.func) for j in ext.schedules.values())
    yield from (("webhook", w.path, w.func) for w in ext.webhooks.values())
    yield from (("event listener", kind, func) for kind, func in ext.event_handlers)
    yield from (("hook", n, f) for n, f in (*ext.lifecycle.items(), *ext.upgrades.items()))
    if ext.health:
        yield "health check", "health", ext.health


def _mismatch(kind: str, handler: Handler) -> str:
    shown, args, kwargs = TAKES.get(kind, ("(ctx, …)", (), {}))
    if not inspect.iscoroutinefunction(handler):
        return f"must be async def {shown}: the kernel awaits it"
    if kind not in TAKES:
        return ""
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
    sections, tools = loaded.ext.skeletons, loaded.ext.tools
    for section in sections.values():
        tool = ALERT_PREFIX + section.section
        if section.alert and tool not in tools:
            takes = "async def (ctx, old, new) -> str"
            text = f'alert=True without a tool: @ext.tool("{tool}") {takes}'
            yield _at(section.func, folder, "alert", text)
    for name, tool_def in tools.items():
        about = name.removeprefix(ALERT_PREFIX)
        is_asked = about in sections and sections[about].alert
        if name != about and not is_asked:
            text = f"there is no section {about!r} to alert about"
            if about in sections:
                text = f"{name} is never asked: its section lacks alert=True"
            yield _at(tool_def.func, folder, "alert", text)


def _at(handler: Handler, folder: Path, rule: str, message: str) -> Finding:
    code = getattr(inspect.unwrap(handler), "__code__", None)
    file = _name_of(code.co_filename, folder) if code else "main.py"
    return Finding.of(file, code.co_firstlineno if code else 1, rule, message)


def _name_of(file: str, folder: Path) -> str:
    """A file by its name in the extension's folder."""
    path, home = Path(file), folder.resolve()
    return path.relative_to(home).as_posix() if path.is_relative_to(home) else "main.py"


def main(arguments: list[str]) -> None:
    """Answer on the real output, give extension code none, and end at once, whatever threads it
    left."""
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as answer:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        answer.write(_CHECKED.dump_json(_look(Path(arguments[0]))).decode())
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1:])
