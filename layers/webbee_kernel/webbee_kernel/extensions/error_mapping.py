"""Errors of extension code: reporting them, validation errors of arguments, and containment.

Models and users get an error's class and its incident number; text, line and frames are logged
under that number, and with `WEBBEE_DEVELOP` also shown in the terminal, the harness and, for
developers, on the page.
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
from ..errors import CallError, KernelError, ResultError, StorageUnavailable
from ..guards.field_names import closest
from ..sdk.definitions import FunctionDef
from ..sdk.result import User
from ..stores import EventLog
from ..text import one_line
from ..types import CallOutcome, CallRequest, JSONObject, UserKey, failed_outcome, user_from
from .loader import Frame, app_of_module, def_line, frame_line, own_file, own_frames, return_line
from .outcomes import from_exception
from .redaction import hide_secrets, trace
from .registry import LoadedExtension, Registry

MAX_TEXT = 2_000
MAX_FRAMES = 20
"""Characters of an error's text, and frames of the extension's own code, that are reported."""
MAX_FAULTS = 50
"""Faults that are kept during development, the newest last."""
DEVELOPERS = ("developer", "operator")

_log = logging.getLogger("webbee.extension")


@dataclass(frozen=True, slots=True)
class Fault:
    """One error of extension code. `file` is relative to the working directory
    (`extensions/weather/main.py`) and `line` the one that was running, else its handler's; `frames`
    are the extension's own, the outermost first; `log` is what the call had logged."""

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
    """Reports the errors of a process's extensions."""

    def __init__(self, registry: Registry, events: EventLog, *, show: bool) -> None:
        self._registry = registry
        self._events = events
        self._show = show
        self.recent: deque[Fault] = deque(maxlen=MAX_FAULTS)
        self._users: dict[UserKey, bool] = {}
        """Users who called here, and whether they are developers."""

    def report(self, error: BaseException, app_id: str, what: str) -> Fault:
        """Log an error of `what` (`function add`), and the kernel's own behind it, under a new
        incident number."""
        original = original_error(error)
        fault = _fault(original, app_id, what, self._registry)
        kind, _, name = what.partition(" ")
        place, text = f" at {fault.place}" * bool(fault.file), f": {fault.text}" * bool(fault.text)
        if isinstance(original.__cause__, KernelError):
            text += f" ({original.__cause__})"
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
        """The outcome of a failed call. A `CallError` of the kernel is no fault, unless it is about
        what the handler returned."""
        outcome = from_exception(original_error(error), request, action_type)
        if isinstance(error, CallError) and not isinstance(error, ResultError):
            return outcome
        fault = self.report(error, request.app_id, f"{request.kind} {request.name}")
        outcome = replace(outcome, incident=fault.incident)
        user = user_from(request.user)
        if not (self._show and user.role in DEVELOPERS):
            return outcome
        lines = {"log": list(fault.log), "frames": list(fault.frames)}
        text = f"{fault.what}: {fault}, {fault.incident}"
        data = {"app_id": fault.app_id, "text": text, "incident": fault.incident, **lines}
        await self._emit(UserKey.of(user), "fault", data)
        message = str(fault)
        # of a panel the error too, which no model reads
        return replace(
            outcome, fault=message, error=message if request.kind == "panel" else outcome.error
        )

    async def add_user(self, user: User) -> None:
        """Register a user on their first call, during development: users get events about reloaded
        apps, developers also about load failures."""
        key = UserKey.of(user)
        if key in self._users:
            return
        # before anything is awaited: of two concurrent calls one reports
        self._users[key] = user.role in DEVELOPERS
        unloaded = {**self._registry.failed, **self._registry.stale}
        for app_id, reason in unloaded.items() if self._users[key] else ():
            await self._emit(key, "fault", self._load_failure(app_id, reason))

    async def note(self, user: User, app_id: str, text: str) -> bool:
        """Tell a developer, on an author's machine, what is no error and yet surely not meant;
        whether that is who called."""
        if is_here := self._users.get(UserKey.of(user), False):
            await self._emit(UserKey.of(user), "fault", {"app_id": app_id, "text": text})
        return is_here

    def on_saved(self, folder: str, reason: str) -> None:
        """Handle saved files of a folder: a `reason` why they do not load, else the app is live and
        its panels are refreshed. For a thread without an event loop."""
        apps = self._registry.loaded
        # its manifest may give the app another id
        ids = (a for a, app in apps.items() if app.folder and app.folder.name == folder)
        app_id = next(ids, folder)
        loaded = apps.get(app_id)
        panels = list(loaded.ext.panels) if loaded else []
        live = {"app_id": app_id, "panels": panels, "loaded": True}
        # a copy: calls on other threads meet people meanwhile
        for user, is_developer in tuple(self._users.items()):
            if not reason:
                asyncio.run(self._emit(user, "panel_refresh", live))
            elif is_developer:
                data = self._load_failure(app_id, reason)
                asyncio.run(self._emit(user, "fault", data))

    def _load_failure(self, app_id: str, reason: str) -> JSONObject:
        """The event data for an app that does not load."""
        is_stale = app_id in self._registry.stale
        stays = "the version before stays" if is_stale else "it is left out"
        return {"app_id": app_id, "text": f"{app_id} is not loaded, {stays}: {reason}"}

    async def _emit(self, user: UserKey, kind: str, data: JSONObject) -> None:
        try:
            await self._events.emit(user, kind, data)
        except StorageUnavailable:
            _log.warning("incident=%s | the page was not told", data.get("incident", "-"))


def _fault(error: BaseException, app_id: str, what: str, registry: Registry) -> Fault:
    loaded = registry.loaded.get(app_id)
    folder = loaded.folder if loaded else None
    frames = [frame for each in _chain(error) for frame in own_frames(each, folder)]
    frames = frames or [*_handler_frame(loaded, what, error)]
    if app_id in registry.stale:  # the lines that ran are no longer those of the files
        frames = [
            (file, line, f"{name} (the version before)", "") for file, line, name, _ in frames
        ]
    file, line, *_ = frames[-1] if frames else ("", 0)
    call = trace()
    return Fault(
        # its end: an id begins with the time, which errors of one moment share
        incident=new_id()[-12:],
        app_id=app_id,
        what=what,
        error=type(error).__name__,
        text=one_line(hide_secrets(error, call.secrets), MAX_TEXT),
        file=shown_file(file, folder),
        line=line,
        frames=tuple(
            hide_secrets(frame_line(*frame), call.secrets) for frame in frames[-MAX_FRAMES:]
        ),
        log=tuple(hide_secrets(line, call.secrets) for line in call.lines),
    )


def place_in(handler: Any, folder: Path | None) -> str:
    """`, at <file>:<line>`: where a running handler waits, in the innermost function of the
    extension. Empty where that is not known."""
    place = ""
    while frame := getattr(handler, "cr_frame", None):
        if file := own_file(frame.f_code.co_filename, folder):
            place = f", at {shown_file(file, folder)}:{frame.f_lineno}"
        handler = handler.cr_await
    return place


def shown_file(file: str, folder: Path | None) -> str:
    """A file's path relative to the working directory, else to the folder's parent."""
    if not file or folder is None:
        return file
    root, here = folder.resolve(), Path.cwd()
    return str((root.relative_to(here) if root.is_relative_to(here) else Path(root.name)) / file)


def _handler_frame(
    loaded: LoadedExtension | None, what: str, error: BaseException
) -> Iterator[Frame]:
    """The definition of the called handler, for an error before its first line; for one of its
    result the `return`."""
    if loaded is None:
        return
    kind, _, name = what.partition(" ")
    ext = loaded.ext
    handlers: Mapping[str, Mapping[str, Any]] = {
        "function": loaded.functions,
        "skeleton": ext.skeletons,
        "panel": ext.panels,
        "schedule": ext.schedules,
        "webhook": {path: hook for (_, path), hook in ext.webhooks.items()},
    }
    if handler := handlers.get(kind, {}).get(name.strip("/")):
        func = inspect.unwrap(handler.func)
        code = getattr(func, "__code__", None)
        if code and (file := own_file(code.co_filename, loaded.folder)):
            path = error.path if isinstance(error, ResultError) else None
            number = def_line(code) if path is None else return_line(func, path)
            yield file, number, code.co_name, linecache.getline(code.co_filename, number).strip()


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error's causes, then the error."""
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None:
        yield from _chain(cause)
    yield error


_MAX_PROBLEMS = 10
"""Problems that are reported at once."""

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
_KIND_OF_ERROR = {error: kind for kind, errors in _KINDS.items() for error in errors.split()}
"""The kernel's message key for a type of pydantic's errors; `other` for all else."""


def validation_outcome(
    error: ValidationError, request: CallRequest, function: FunctionDef
) -> CallOutcome:
    """VALIDATION_MISSING_FIELD or VALIDATION_TYPE_ERROR with one problem per rejected argument;
    `error`, and `told` of each problem, are in the user's language. A missing argument that was
    misspelt names what was given."""
    found = error.errors(include_url=False, include_input=False)
    missing = any(e["type"] == "missing" for e in found)
    code = "VALIDATION_MISSING_FIELD" if missing else "VALIDATION_TYPE_ERROR"
    language_ = language.of(str(request.user.get("language") or "en"))
    fields = function.params_model.model_fields if function.params_model else {}
    unknown = request.arguments.keys() - fields.keys() - {f.alias for f in fields.values()}
    problems = tuple(_problem(e, language_, unknown) for e in found[:_MAX_PROBLEMS])
    text = "; ".join(p["told"] for p in problems)
    return failed_outcome(request, code, text, action_type=function.action_type, problems=problems)


def _problem(error: Any, language_: language.Language, unknown: Iterable[str]) -> dict[str, str]:
    field, context = ".".join(map(str, error["loc"])) or "params", error.get("ctx") or {}
    limit = str(next((context[k] for k in _LIMITS if k in context), ""))
    problem, label, kind = (
        str(error["msg"]),
        f"label_{field}",
        _KIND_OF_ERROR.get(error["type"], "other"),
    )
    name = language_.say(label) if label in language_.sentences else field
    text = language_.say(f"refused_{kind}", field=name, limit=limit.replace(" or ", ", "))
    if isinstance(cause := context.get("error"), Exception):
        text = f"{field}: {cause}"
    if kind == "missing" and (misspelt := closest(field, unknown)):
        problem = f"{problem}: {misspelt!r} is no argument"
        text = f'{text} ("{misspelt}" \u2192 "{field}"?)'
    return {"field": field, "problem": problem, "limit": limit, "told": text}


T = TypeVar("T")

UNWIND_S = 0.5
"""Seconds that timed-out code gets to clean up; less than `GRACE_S`."""

_host_log = logging.getLogger("webbee.extensions")


class ExtensionExit(Exception):
    """Extension code raised a BaseException that is no `Exception`; `error` is it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


def original_error(error: BaseException) -> BaseException:
    """What extension code itself raised."""
    return error.error if isinstance(error, ExtensionExit) else error


async def run_contained(work: Awaitable[T], seconds: float | None = None) -> T:
    """The result of extension code, run as a task of its own, so that it cannot cancel the caller.

    Raises what it raised, as `ExtensionExit` where that is no `Exception`; TimeoutError after
    `seconds`, when it is cancelled.
    """
    task = asyncio.create_task(_catch_exit(work))
    task.add_done_callback(retrieve_error)
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
        raise ExtensionExit(error) from None


async def _catch_exit(work: Awaitable[T]) -> T:
    """Turn KeyboardInterrupt and SystemExit, which would end the event loop, into ExtensionExit."""
    try:
        return await work
    except (KeyboardInterrupt, SystemExit) as error:
        raise ExtensionExit(error) from None


def retrieve_error(task: asyncio.Future[Any]) -> None:
    """Mark a task's error as retrieved, so that asyncio does not log it."""
    if not task.cancelled():
        task.exception()


def report_orphan(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log the failure of a task or callback that a handler left on the loop, with its app."""
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
