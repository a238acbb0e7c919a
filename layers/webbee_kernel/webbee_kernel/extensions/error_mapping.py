"""Faults: what extension code raised, told where its author stands; and containment: whatever it
raises or leaves behind stays its own.

Models, users and the cloud's replies get the class of an error and an incident's number; text,
line and frames stand in the extension's log under that number, on the author's own machine
(`WEBBEE_DEVELOP`) also in the terminal, in the harness and, for developers, on the page.

Only the kernel's own cancellation is a cancellation. A handler that ends with CancelledError (it
awaited a task that somebody cancelled), KeyboardInterrupt or SystemExit has failed like any other.
"""

from __future__ import annotations

import asyncio
import inspect
import linecache
import logging
import traceback
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from .. import language
from ..clock import new_id
from ..errors import CallError, ResultError, StorageUnavailable
from ..guards.field_names import near
from ..sdk.definitions import FunctionDef
from ..sdk.records import User
from ..stores.event_log import EventLog
from ..text import one_line
from ..types import CallOutcome, CallRequest, JSONObject, UserKey, failed, user_from
from . import redaction
from .loader import Frame, app_of_module, def_line, frame_line, own_file, own_frames
from .outcomes import from_exception
from .redaction import hidden, seen
from .registry import LoadedExtension, Registry

MAX_TEXT = 2_000
MAX_FRAMES = 20
"""Characters of an error's text, and frames of the extension's own, that are told."""
Handler = Callable[..., Any]
KEPT = 50
"""Faults that an author's process remembers, the newest last."""
DEVELOPERS = ("developer", "operator")

_log = logging.getLogger("webbee.extension")


@dataclass(frozen=True, slots=True)
class Fault:
    """One error of extension code. `file` is relative to the extension's folder: the line that was
    running, else its handler's, empty where neither is known; `frames` are its own lines, the
    outermost first."""

    incident: str
    app_id: str
    what: str
    error: str
    text: str
    file: str = ""
    line: int = 0
    frames: tuple[str, ...] = ()
    log: tuple[str, ...] = ()
    """What the call had said before."""
    folder: str = ""
    """The extension's, as its author sees it from where the process was started."""

    def __str__(self) -> str:
        place = f" ({self.file}:{self.line})" if self.file else ""
        return self.what_happened + place

    @property
    def what_happened(self) -> str:
        """The error without its place."""
        return f"{self.error}: {self.text}" if self.text else self.error

    @property
    def told(self) -> str:
        """The error with its place, or its app where no line of it was running."""
        return f"{self.what_happened} ({self.place or self.app_id})"

    @property
    def place(self) -> str:
        """`extensions/weather/main.py:51`; empty where the line is not known."""
        return f"{Path(self.folder) / self.file}:{self.line}" if self.file else ""


class Faults:
    """Tells the faults of a process's extensions."""

    def __init__(self, registry: Registry, events: EventLog, *, show: bool) -> None:
        self._registry = registry
        self._events = events
        self._show = show
        self.recent: deque[Fault] = deque(maxlen=KEPT)
        self._met: dict[UserKey, bool] = {}
        """Who called here, and whether errors are told to them."""

    def tell(self, error: BaseException, app_id: str, what: str) -> Fault:
        """Log an error of `what` (`function add`) under an incident's number."""
        loaded = self._registry.loaded.get(app_id)
        fault = _fault(raised(error), app_id, what, loaded, app_id in self._registry.stale)
        kind, _, name = what.partition(" ")
        _log.warning(
            "app=%s %s=%s error=%s incident=%s | %s failed%s%s",
            app_id,
            kind,
            name,
            fault.error,
            fault.incident,
            kind,
            f" at {fault.place}" if fault.place else "",
            f": {fault.text}" if fault.text else "",
            extra={"incident": fault.incident, "frames": list(fault.frames)},
        )
        if self._show:
            self.recent.append(fault)
        return fault

    async def outcome(
        self, error: BaseException, request: CallRequest, action_type: str = "read"
    ) -> CallOutcome:
        """How the call ended; a refusal of the kernel's own (`CallError`) is no fault, but that of
        what a handler returned is its author's to know."""
        ended = from_exception(raised(error), request, action_type)
        if isinstance(error, CallError) and not isinstance(error, ResultError):
            return ended
        fault = self.tell(error, request.app_id, f"{request.kind} {request.name}")
        user = user_from(request.user)
        if self._show and user.role in DEVELOPERS:
            await self._show_to(UserKey.of(user), fault)
            told = fault.told
            if reason := self._registry.stale.get(request.app_id):  # the file is what to mend first
                unloaded = _unloaded(request.app_id, reason, self._registry)["text"]
                told = f"{unloaded}; what ran failed: {told}"
            ended = replace(ended, fault=told)
            if request.kind == "panel":  # which no model reads
                ended = replace(ended, error=told)
        return replace(ended, incident=fault.incident)

    async def meet(self, user: User) -> None:
        """Know a person by the first call, on an author's machine: who is here is told what is live
        anew, and a developer what does not load, at the start, as it was saved, and later."""
        key = UserKey.of(user)
        if key in self._met:
            return
        self._met[key] = user.role in DEVELOPERS
        unloaded = {**self._registry.failed, **self._registry.stale}
        for app_id, reason in unloaded.items() if self._met[key] else ():
            await self._emit(key, "fault", _unloaded(app_id, reason, self._registry))

    async def note(self, user: User, app_id: str, text: str) -> None:
        """Tell a developer, on an author's machine, what is no error and yet surely not meant."""
        if self._met.get(UserKey.of(user)):
            await self._emit(UserKey.of(user), "fault", {"app_id": app_id, "text": text})

    def saved(self, app_id: str, reason: str) -> None:
        """An app's files were saved: with a reason they do not load, else they are live, and what
        was drawn of the app is to be fetched again. For a thread without an event loop."""
        loaded = self._registry.loaded.get(app_id)
        panels = list(loaded.ext.panels) if loaded else []
        live = {"app_id": app_id, "panels": panels, "loaded": True}
        for user, is_developer in tuple(self._met.items()):
            if not reason:
                asyncio.run(self._emit(user, "panel_refresh", live))
            elif is_developer:
                told = _unloaded(app_id, reason, self._registry)
                asyncio.run(self._emit(user, "fault", told))

    async def _show_to(self, user: UserKey, fault: Fault) -> None:
        told = {
            "app_id": fault.app_id,
            "text": f"{fault.what}: {fault.told}, {fault.incident}",
            "incident": fault.incident,
        }
        more = {"log": list(fault.log), "frames": list(fault.frames)}
        await self._emit(user, "fault", {**told, **more})

    async def _emit(self, user: UserKey, kind: str, told: JSONObject) -> None:
        try:
            await self._events.emit(user, kind, told)
        except StorageUnavailable:
            _log.warning("incident=%s | the page was not told", told.get("incident", "-"))


def _unloaded(app_id: str, reason: str, registry: Registry) -> JSONObject:
    """What the page tells of an app whose files do not load."""
    is_stale = reason in registry.stale.values()
    stays = "the version before stays" if is_stale else "it is left out"
    return {"app_id": app_id, "text": f"{app_id} is not loaded, {stays}: {reason}"}


def _fault(
    error: BaseException, app_id: str, what: str, loaded: LoadedExtension | None, is_stale: bool
) -> Fault:
    folder = loaded.folder if loaded else None
    own = [frame for each in _chain(error) for frame in own_frames(each, folder)]
    own = own or _registered(loaded, what)
    if is_stale:  # the lines that ran are no longer those of the files
        own = [(file, line, f"{name} (the version before)", "") for file, line, name, _ in own]
    file, line = (own[-1][0], own[-1][1]) if own else ("", 0)
    revealed = seen()
    return Fault(
        incident=new_id()[-12:],
        app_id=app_id,
        what=what,
        error=type(error).__name__,
        text=one_line(hidden(error, revealed), MAX_TEXT),
        file=file,
        line=line,
        frames=tuple(hidden(frame_line(*frame), revealed) for frame in own[-MAX_FRAMES:]),
        log=tuple(hidden(line, revealed) for line in redaction.call_lines()),
        folder=_shown(folder),
    )


def _shown(folder: Path | None) -> str:
    """A folder from where the process was started; its name alone where it lies elsewhere."""
    if folder is None:
        return ""
    whole, here = folder.resolve(), Path.cwd()
    return str(whole.relative_to(here)) if whole.is_relative_to(here) else whole.name


def _registered(loaded: LoadedExtension | None, what: str) -> list[Frame]:
    """Where the handler that was called stands, for an error before its first line: it does not
    take what it is given."""
    kind, _, name = what.partition(" ")
    called = _handlers(loaded).get((kind, name.strip("/"))) if loaded else None
    code = getattr(inspect.unwrap(called), "__code__", None) if called else None
    if loaded is None or code is None or not (file := own_file(code.co_filename, loaded.folder)):
        return []
    number = def_line(code)
    source = linecache.getline(code.co_filename, number).strip()
    return [(file, number, code.co_name, source)]


def _handlers(loaded: LoadedExtension) -> dict[tuple[str, str], Handler]:
    """By kind and name, what is called."""
    ext = loaded.ext
    named = (
        *(("function", n, f.func) for n, f in loaded.functions.items()),
        *(("section", s.section, s.func) for s in ext.skeletons.values()),
        *(("panel", p.panel_id, p.func) for p in ext.panels.values()),
        *(("schedule", j.name, j.func) for j in ext.schedules.values()),
        *(("webhook", w.path, w.func) for w in ext.webhooks.values()),
    )
    return {(kind, name): func for kind, name, func in named}


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error after those it came from."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from _chain(cause)
    yield error


_MOST = 10
"""Problems that are told at once."""

_LIMITS = ("max_length", "min_length", "le", "ge", "lt", "gt", "expected", "pattern")

_SAID: Final[Mapping[str, str]] = {
    "missing": "missing",
    "string_too_long": "long",
    "string_too_short": "short",
    "too_long": "most",
    "less_than_equal": "most",
    "less_than": "below",
    "too_short": "least",
    "greater_than_equal": "least",
    "greater_than": "above",
    "literal_error": "one_of",
    "enum": "one_of",
    "int_parsing": "number",
    "int_type": "number",
    "int_from_float": "number",
    "float_parsing": "number",
    "float_type": "number",
}
"""The kernel's sentence for a type of pydantic's errors. An author's own check speaks for itself;
of any other kind people read that the value does not fit."""


def validation_failed(
    error: ValidationError, request: CallRequest, function: FunctionDef
) -> CallOutcome:
    """VALIDATION_MISSING_FIELD or VALIDATION_TYPE_ERROR, one problem per rejected argument with its
    limit; `error`, and of each problem `told`, say it to a person in the language of the call's
    user. Of a missing one that was misspelt it is said what was given in its place."""
    found = error.errors(include_url=False, include_input=False)
    missing = any(e["type"] == "missing" for e in found)
    code = "VALIDATION_MISSING_FIELD" if missing else "VALIDATION_TYPE_ERROR"
    spoken = language.of(str(request.user.get("language") or "en"))
    unknown = request.arguments.keys() - _names(function)
    problems = tuple(_problem(e, spoken, unknown) for e in found[:_MOST])
    text = "; ".join(p["told"] for p in problems)
    return failed(request, code, text, action_type=function.action_type, problems=problems)


def _names(function: FunctionDef) -> set[str]:
    fields = function.params_model.model_fields if function.params_model else {}
    return {*fields, *(f.alias for f in fields.values() if f.alias)}


def _problem(error: Any, spoken: language.Language, unknown: Iterable[str]) -> dict[str, str]:
    given = near(_field(error), unknown) if error["type"] == "missing" else ""
    problem = f"{error['msg']}: {given!r} is no argument" if given else str(error["msg"])
    told = _told(error, spoken) + (f' ("{given}" \u2192 "{_field(error)}"?)' if given else "")
    return {"field": _field(error), "problem": problem, "limit": _limit(error), "told": told}


def _told(error: Any, spoken: language.Language) -> str:
    own = (error.get("ctx") or {}).get("error")
    field = _field(error)
    if isinstance(own, Exception):
        return f"{field}: {own}"
    label = f"label_{field}"
    kind = _SAID.get(error["type"], "other")
    name = spoken.say(label) if label in spoken.sentences else field
    return spoken.say(f"refused_{kind}", field=name, limit=_limit(error).replace(" or ", ", "))


def _field(error: Any) -> str:
    return ".".join(str(p) for p in error["loc"]) or "params"


def _limit(error: Any) -> str:
    context = error.get("ctx") or {}
    return str(next((context[k] for k in _LIMITS if k in context), ""))


T = TypeVar("T")

UNWIND_S = 0.5
"""Seconds that code whose time is over gets to clean up; less than the host's patience."""

_host_log = logging.getLogger("webbee.extensions")


class Escaped(Exception):
    """What extension code raised is no `Exception`; `error` is it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


def raised(error: BaseException) -> BaseException:
    """What extension code itself raised."""
    return error.error if isinstance(error, Escaped) else error


async def contained(work: Awaitable[T]) -> T:
    """The result of extension code, run as a task of its own.

    Raises what it raised, as `Escaped` where that is no `Exception`.
    """
    task = asyncio.create_task(_sealed(work))
    task.add_done_callback(asked_for)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        raise
    return await _ended(task)


async def apart(work: Awaitable[T], seconds: float | None = None) -> T:
    """The same where the kernel's own task waits, which nobody but extension code would cancel:
    `for task in asyncio.all_tasks(): task.cancel()` ends the handler that says it. TimeoutError
    when the seconds are over: it is cancelled then, and left alone where it does not heed that."""
    task = asyncio.create_task(_sealed(work))
    task.add_done_callback(asked_for)
    await settled(task, seconds)
    return await _ended(task)


async def settled(task: asyncio.Future[Any], seconds: float | None = None) -> None:
    """Wait until the task is done or the seconds are over, whoever cancels the waiting."""
    loop = asyncio.get_running_loop()
    deadline = None if seconds is None else loop.time() + seconds
    while True:
        left = None if deadline is None else max(0.0, deadline - loop.time())
        try:
            await asyncio.wait({task}, timeout=left)
            return
        except asyncio.CancelledError:
            if waiting := asyncio.current_task():
                waiting.uncancel()


async def _ended(task: asyncio.Task[T]) -> T:
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=UNWIND_S)
        raise TimeoutError
    try:
        return task.result()
    except Exception:
        raise
    except BaseException as error:
        raise Escaped(error) from None


async def _sealed(work: Awaitable[T]) -> T:
    """The event loop lets these two through to whoever runs it: they end the call instead."""
    try:
        return await work
    except (KeyboardInterrupt, SystemExit) as error:
        raise Escaped(error) from None


def asked_for(task: asyncio.Future[Any]) -> None:
    """Nobody may want to know how it ended any more."""
    if not task.cancelled():
        task.exception()


def report(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What nobody waits for failed, a task or a callback that a handler left on its loop: said with
    the app's name where its code was running."""
    error = context.get("exception")
    apps = (
        app_of_module(str(frame.f_globals.get("__name__", "")))
        for frame, _ in traceback.walk_tb(error.__traceback__ if error else None)
    )
    _host_log.warning(
        "app=%s error=%s | left on the loop: %s",
        next(filter(None, apps), ""),
        type(error).__name__,
        context.get("message", ""),
    )
