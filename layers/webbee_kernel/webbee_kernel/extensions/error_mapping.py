"""Faults: what extension code raised, told where its author stands; refused arguments, told to
whoever gave them; and containment: whatever extension code raises or cancels stays its own.

Models, users and the cloud's replies get the class of an error and an incident's number; text,
line and frames stand in the extension's log under that number, on the author's own machine
(`WEBBEE_DEVELOP`) also in the terminal, in the harness and, for developers, on the page.
"""

from __future__ import annotations

import asyncio
import inspect
import linecache
import logging
import traceback
from collections import deque
from collections.abc import Awaitable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from .. import language
from ..clock import new_id
from ..errors import CallError, ResultError, StorageUnavailable
from ..guards.field_names import closest
from ..sdk.definitions import FunctionDef
from ..sdk.records import User
from ..stores.event_log import EventLog
from ..text import one_line
from ..types import CallOutcome, CallRequest, JSONObject, UserKey, failed_outcome, user_from
from .loader import Frame, app_of_module, def_line, frame_line, own_file, own_frames
from .outcomes import from_exception
from .redaction import hidden, trace
from .registry import LoadedExtension, Registry

MAX_TEXT = 2_000
MAX_FRAMES = 20
"""Characters of an error's text, and frames of the extension's own, that are told."""
KEPT = 50
"""Faults that an author's process remembers, the newest last."""
DEVELOPERS = ("developer", "operator")

_log = logging.getLogger("webbee.extension")


@dataclass(frozen=True, slots=True)
class Fault:
    """One error of extension code. `file` is as its author sees it from where the process was
    started (`extensions/weather/main.py`): the line that was running, else its handler's, empty
    where neither is known; `frames` are its own lines, the outermost first; `log` is what the call
    had said before."""

    incident: str
    app_id: str
    what: str
    error: str
    text: str
    file: str = ""
    line: int = 0
    frames: tuple[str, ...] = ()
    log: tuple[str, ...] = ()

    def __str__(self) -> str:
        what = f"{self.error}: {self.text}" if self.text else self.error
        return f"{what} ({self.place or self.app_id})"

    @property
    def place(self) -> str:
        """`extensions/weather/main.py:51`; empty where the line is not known."""
        return f"{self.file}:{self.line}" if self.file else ""


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
        fault = _fault(raised(error), app_id, what, self._registry)
        kind, _, name = what.partition(" ")
        place, text = f" at {fault.place}" * bool(fault.file), f": {fault.text}" * bool(fault.text)
        _log.warning(
            f"app=%s {kind}=%s error=%s incident=%s | {kind} failed%s%s",
            *(app_id, name, fault.error, fault.incident, place, text),
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
        ended = replace(ended, incident=fault.incident)
        user = user_from(request.user)
        if not (self._show and user.role in DEVELOPERS):
            return ended
        lines = {"log": list(fault.log), "frames": list(fault.frames)}
        text = f"{fault.what}: {fault}, {fault.incident}"
        shown = {"app_id": fault.app_id, "text": text, "incident": fault.incident, **lines}
        await self._emit(UserKey.of(user), "fault", shown)
        told = str(fault)
        if reason := self._registry.stale.get(request.app_id):  # the file is what to mend first
            told = f"{self._unloaded(request.app_id, reason)['text']}; what ran failed: {told}"
        # of a panel the error too, which no model reads
        return replace(ended, fault=told, error=told if request.kind == "panel" else ended.error)

    async def meet(self, user: User) -> None:
        """Know a person by the first call, on an author's machine: who is here is told what is live
        anew, and a developer what does not load, at the start, as it was saved, and later."""
        key = UserKey.of(user)
        if key in self._met:
            return
        # before anything is awaited: of two calls at once, one tells
        self._met[key] = user.role in DEVELOPERS
        unloaded = {**self._registry.failed, **self._registry.stale}
        for app_id, reason in unloaded.items() if self._met[key] else ():
            await self._emit(key, "fault", self._unloaded(app_id, reason))

    async def note(self, user: User, app_id: str, text: str) -> bool:
        """Tell a developer, on an author's machine, what is no error and yet surely not meant;
        whether that is who called."""
        if is_here := self._met.get(UserKey.of(user), False):
            await self._emit(UserKey.of(user), "fault", {"app_id": app_id, "text": text})
        return is_here

    def saved(self, folder: str, reason: str) -> None:
        """The files of a folder were saved: with a reason they do not load, else they are live, and
        what was drawn of the app is to be fetched again. For a thread without an event loop."""
        apps = self._registry.loaded
        # its manifest may give the app another id
        ids = (a for a, known in apps.items() if known.folder and known.folder.name == folder)
        app_id = next(ids, folder)
        loaded = apps.get(app_id)
        panels = list(loaded.ext.panels) if loaded else []
        live = {"app_id": app_id, "panels": panels, "loaded": True}
        # a copy: calls on other threads meet people meanwhile
        for user, is_developer in tuple(self._met.items()):
            if not reason:
                asyncio.run(self._emit(user, "panel_refresh", live))
            elif is_developer:
                told = self._unloaded(app_id, reason)
                asyncio.run(self._emit(user, "fault", told))

    def _unloaded(self, app_id: str, reason: str) -> JSONObject:
        """What the page tells of an app whose files do not load."""
        is_stale = app_id in self._registry.stale
        stays = "the version before stays" if is_stale else "it is left out"
        return {"app_id": app_id, "text": f"{app_id} is not loaded, {stays}: {reason}"}

    async def _emit(self, user: UserKey, kind: str, told: JSONObject) -> None:
        try:
            await self._events.emit(user, kind, told)
        except StorageUnavailable:
            _log.warning("incident=%s | the page was not told", told.get("incident", "-"))


def _fault(error: BaseException, app_id: str, what: str, registry: Registry) -> Fault:
    loaded = registry.loaded.get(app_id)
    folder = loaded.folder if loaded else None
    own = [frame for each in _chain(error) for frame in own_frames(each, folder)]
    own = own or [*_registered(loaded, what)]
    if app_id in registry.stale:  # the lines that ran are no longer those of the files
        own = [(file, line, f"{name} (the version before)", "") for file, line, name, _ in own]
    file, line, *_ = own[-1] if own else ("", 0)
    call = trace()
    return Fault(
        # its end: an id begins with the time, which errors of one moment share
        incident=new_id()[-12:],
        app_id=app_id,
        what=what,
        error=type(error).__name__,
        text=one_line(hidden(error, call.secrets), MAX_TEXT),
        file=shown_file(file, folder),
        line=line,
        frames=tuple(hidden(frame_line(*frame), call.secrets) for frame in own[-MAX_FRAMES:]),
        log=tuple(hidden(line, call.secrets) for line in call.lines),
    )


def place_in(handler: Any, folder: Path | None) -> str:
    """`, at <file>:<line>` where a handler is that has not come back: its own line, or that of the
    innermost of the extension's functions that it awaits. Empty where that is not known."""
    place = ""
    while frame := getattr(handler, "cr_frame", None):
        if file := own_file(frame.f_code.co_filename, folder):
            place = f", at {shown_file(file, folder)}:{frame.f_lineno}"
        handler = handler.cr_await
    return place


def shown_file(file: str, folder: Path | None) -> str:
    """A file of a folder as seen from where the process was started; from the folder's own place
    where it lies elsewhere."""
    if not file or folder is None:
        return file
    whole, here = folder.resolve(), Path.cwd()
    return str((whole.relative_to(here) if whole.is_relative_to(here) else Path(whole.name)) / file)


def _registered(loaded: LoadedExtension | None, what: str) -> Iterator[Frame]:
    """Where the handler that was called stands, for an error before its first line: it does not
    take what it is given."""
    if loaded is None:
        return
    kind, _, name = what.partition(" ")
    ext = loaded.ext
    named: Mapping[str, Mapping[str, Any]] = {
        "function": loaded.functions,
        "skeleton": ext.skeletons,
        "panel": ext.panels,
        "schedule": ext.schedules,
        "webhook": {path: hook for (_, path), hook in ext.webhooks.items()},
    }
    if called := named.get(kind, {}).get(name.strip("/")):
        code = getattr(inspect.unwrap(called.func), "__code__", None)
        if code and (file := own_file(code.co_filename, loaded.folder)):
            number = def_line(code)
            yield file, number, code.co_name, linecache.getline(code.co_filename, number).strip()


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error after those it came from."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from _chain(cause)
    yield error


_MOST = 10
"""Problems that are told at once."""

_LIMITS = ("max_length", "min_length", "le", "ge", "lt", "gt", "expected", "pattern")

_KINDS: Final[Mapping[str, str]] = {
    "missing": "missing",
    "long": "string_too_long",
    "short": "string_too_short",
    "most": "too_long less_than_equal",
    "below": "less_than",
    "least": "too_short greater_than_equal",
    "above": "greater_than",
    "one_of": "literal_error enum",
    "number": "int_parsing int_type int_from_float float_parsing float_type",
}
_SAID = {error: kind for kind, errors in _KINDS.items() for error in errors.split()}
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
    return failed_outcome(request, code, text, action_type=function.action_type, problems=problems)


def _names(function: FunctionDef) -> set[str]:
    fields = function.params_model.model_fields if function.params_model else {}
    return {*fields, *(f.alias for f in fields.values() if f.alias)}


def _problem(error: Any, spoken: language.Language, unknown: Iterable[str]) -> dict[str, str]:
    field, context = ".".join(map(str, error["loc"])) or "params", error.get("ctx") or {}
    limit = str(next((context[k] for k in _LIMITS if k in context), ""))
    problem, label, kind = str(error["msg"]), f"label_{field}", _SAID.get(error["type"], "other")
    name = spoken.say(label) if label in spoken.sentences else field
    told = spoken.say(f"refused_{kind}", field=name, limit=limit.replace(" or ", ", "))
    if isinstance(own := context.get("error"), Exception):
        told = f"{field}: {own}"
    if kind == "missing" and (given := closest(field, unknown)):
        problem = f"{problem}: {given!r} is no argument"
        told = f'{told} ("{given}" \u2192 "{field}"?)'
    return {"field": field, "problem": problem, "limit": limit, "told": told}


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


async def contained(work: Awaitable[T], seconds: float | None = None) -> T:
    """The result of extension code, run as a task of its own, so that what it cancels is not ours.

    Raises what it raised, as `Escaped` where that is no `Exception`; TimeoutError when the seconds
    are over: it is cancelled then, and left alone where it does not heed that.
    """
    task = asyncio.create_task(_sealed(work))
    task.add_done_callback(asked_for)
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if not done:
        task.cancel()
        await asyncio.wait({task}, timeout=UNWIND_S)
        raise TimeoutError
    try:
        return task.result()
    except Exception:
        raise
    # the code cancelled itself: raised as it is, that would look like our own end
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
