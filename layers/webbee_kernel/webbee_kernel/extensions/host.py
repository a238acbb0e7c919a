"""The host of extension code in this process: runs calls of every kind, and the kernel's own calls
that need the user's secrets and documents."""

from __future__ import annotations

import asyncio
import inspect
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, TypeVar

from pydantic import ValidationError

from .. import background
from ..background import LoopThread, LoopThreads
from ..catalogue import Catalogue
from ..clock import Clock, digest, new_id
from ..config import Settings
from ..errors import CallError, KernelError, StorageUnavailable
from ..guards.arguments import conform
from ..guards.ids import check_placeholders
from ..llm.protocol import Model
from ..sdk.context import User
from ..sdk.definitions import FunctionDef
from ..stores import EventLog, Stores, panel_refresh
from ..stores.audit_trail import OutcomeCache
from ..types import (
    NOT_RUN,
    RUNNING,
    CallOutcome,
    CallRequest,
    JSONObject,
    UserKey,
    failed_outcome,
    ok_outcome,
    unfinished_outcome,
    user_from,
)
from . import oauth, redaction, system_calls
from .context import CallContext, ContextFactory, webhook_mark
from .error_mapping import (
    ExtensionExit,
    place_in,
    report_orphan,
    retrieve_error,
    run_contained,
    validation_outcome,
)
from .outcomes import MAX_UNDO_BYTES, event_data, from_return, mismatch, request_fields
from .redaction import call_scope
from .registry import LoadedExtension, Registry

GRACE_S = 1.0
"""Seconds a call may overrun its deadline before its thread is abandoned."""

LATE_S = 150.0
"""Seconds a handler may go on past its turn; the function's own timeout (190 s) is longer."""

LISTENERS_S = 5.0
"""Seconds for which a call waits for the listeners of its event; they have `LATE_S` in all."""

LATE_TEXT = "still running at its deadline"
"""The log text for a handler that overran its deadline."""

SECTIONS_SHARE = 0.8
"""Share of a call's time for its sections' handlers; the rest is a margin should one block."""

T = TypeVar("T")

_log = logging.getLogger("webbee.host")


KernelCall: TypeAlias = Callable[[CallContext, CallRequest], Awaitable[CallOutcome]]

KERNEL_CALLS: Mapping[str, KernelCall] = MappingProxyType(
    {
        "secrets": system_calls.list_secrets,
        "secret_put": system_calls.put_secret,
        "secret_delete": system_calls.delete_secret,
        "signin": oauth.find_signin,
        "connect": oauth.connect_account,
    }
)
"""Calls that the kernel itself answers where extensions run, because only there the user's secrets
and documents are accessible. No handler runs, but for the listeners of a sign-in:

| kind            | name     | arguments       | outcome's data                             |
|-----------------|----------|-----------------|--------------------------------------------|
| `secrets`       | –        | –               | `{"secrets": [{"name", "is_set", …}]}`     |
| `secret_put`    | secret   | `value`         | `{"is_set": true}`                         |
| `secret_delete` | secret   | –               | `{"is_set": false}`                        |
| `signin`        | provider | `state`         | `{"user", "key"}`, none when it is over    |
| `connect`       | provider | `state`, `code` | `{"provider", "email", "collection", "id"}` |

A database that is gone is raised, as everywhere."""


USER_KINDS = ("function", "check", "panel")
"""Kinds that a turn or a click causes."""


class _Call(NamedTuple):
    """A call of a function, as it was resolved and its arguments validated."""

    request: CallRequest
    loaded: LoadedExtension
    function: FunctionDef
    args: tuple[Any, ...]
    kwargs: JSONObject


class ExtensionHost:
    """Runs every line of extension code of this process; callers may live on any event loop."""

    def __init__(
        self, registry: Registry, stores: Stores, settings: Settings, clock: Clock, model: Model
    ) -> None:
        self.registry = registry
        self.events = EventLog(stores.events, clock, hours=settings.event_hours)
        self.contexts = ContextFactory(registry, stores, settings, clock, model, self.events)
        self._outcomes = OutcomeCache(stores.cache, clock)
        self._threads = LoopThreads("webbee-extensions")
        self._faults = self.contexts.faults
        if settings.develop:
            redaction.keep_unawaited()
        self._develop = settings.develop
        self._handlers: dict[int, tuple[object, LoadedExtension]] = {}
        """Running handlers by `id()` of their request."""

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue of the loaded extensions."""
        return self.registry.catalogue()

    async def execute(self, request: CallRequest) -> CallOutcome:
        """Run one call of any kind to its outcome: BACKEND_TIMEOUT where it blocks its thread.

        Never raises for what the extension did. A call of kind `skeletons` is several of kind
        `skeleton`, side by side.
        """
        if request.kind == "skeletons":
            return await self._sections(request)
        # a blocked thread affects only its owner
        with self._threads.of(_thread_owner(request)) as thread:
            try:
                work = self._execute(request)
                outcome = await _run_on_thread(thread, work, request.deadline_s)
            except TimeoutError:
                outcome = unfinished_outcome(request)
            except (ExtensionExit, RuntimeError) as error:
                outcome = await self._faults.outcome(error, request)
        if outcome.fate == RUNNING:
            kind, name, seconds = request.kind, request.name, request.deadline_s
            handler, loaded = self._handlers.get(id(request), (None, None))
            text = LATE_TEXT + place_in(handler, loaded.folder if loaded else None)
            _log.warning("app=%s %s=%s seconds=%g | %s", request.app_id, kind, name, seconds, text)
        return outcome

    async def _sections(self, request: CallRequest) -> CallOutcome:
        """`arguments.sections` names sections by app; the outcome's data holds for each, by app,
        `{"data": …}` or `{"code", "error"}`."""
        stored = request.arguments.get("snapshots") or {}
        each = replace(request, kind="skeleton", deadline_s=request.deadline_s * SECTIONS_SHARE)
        calls = [
            replace(each, app_id=app_id, name=section, arguments=arguments)
            for app_id, sections in (request.arguments.get("sections") or {}).items()
            # once an app: each of its sections may read what is stored of all
            for arguments in ({"snapshots": stored.get(app_id) or {}},)
            for section in sections
        ]
        data: JSONObject = {call.app_id: {} for call in calls}
        for call, o in zip(calls, await asyncio.gather(*map(self.execute, calls)), strict=True):
            result = {"data": o.data} if o.ok else {"code": o.error_code, "error": o.error}
            data[call.app_id][call.name] = result
        return ok_outcome(request, data)

    async def _execute(self, request: CallRequest) -> CallOutcome:
        started = time.perf_counter()
        asyncio.get_running_loop().set_exception_handler(report_orphan)
        # a context variable: handlers of other calls run beside this one
        webhook_mark.set(request.webhooks)
        # meets the developer's page: faults are told there, too
        if self._develop:
            await self._faults.add_user(user_from(request.user))
        with call_scope():
            try:  # also of what an author's own checks of arguments raise
                outcome = await run_contained(self._execute_contained(request))
            except KernelError:
                raise
            except Exception as error:
                outcome = await self._faults.outcome(error, request)
        return replace(outcome, duration_ms=int((time.perf_counter() - started) * 1000))

    async def _execute_contained(self, request: CallRequest) -> CallOutcome:
        user = user_from(request.user)
        try:
            loaded = self.registry.extension(request.app_id)
            if request.kind in KERNEL_CALLS or request.kind in system_calls.SYSTEM_CALLS:
                run = KERNEL_CALLS.get(request.kind, system_calls.run_system_call)
                ctx = system_calls.context_of(self.contexts, request)
                return self._with_cached_outcome(request, await run(ctx, request))
            call = self._resolve(loaded, request, user)
        except CallError as error:
            # a turn or a click gets an outcome; other kinds raise
            if request.kind not in USER_KINDS:
                raise
            return replace(await self._faults.outcome(error, request), fate=NOT_RUN)
        if isinstance(call, CallOutcome):
            return call
        return await self._run(call, user)

    def _with_cached_outcome(self, request: CallRequest, outcome: CallOutcome) -> CallOutcome:
        """The outcome, cached in the background in case the response is lost."""
        # effects only: a read can be repeated
        if request.effect:
            background.start(self._cache_outcome(request, outcome), f"keep-{request.effect}")
        return outcome

    async def _cache_outcome(self, request: CallRequest, outcome: CallOutcome) -> None:
        try:
            await self._outcomes.put(UserKey.of(user_from(request.user)), request.effect, outcome)
        except StorageUnavailable:
            text = "app=%s function=%s | done, but its outcome could not be kept"
            _log.error(text, request.app_id, request.name)

    def _resolve(
        self, loaded: LoadedExtension, request: CallRequest, user: User
    ) -> _Call | CallOutcome:
        function = loaded.functions.get(request.name)
        if function is None:
            raise system_calls.missing(request, "function", loaded.withdrawn.get(request.name, ""))
        # again here: chat_turn's own check may be of an older catalogue
        if missing := [s for s in function.scopes if not user.has_scope(s)]:
            raise CallError(
                "PERMISSION_DENIED", f"{request.name} needs the scope {', '.join(missing)}"
            )
        arguments = self._arguments(request, user)
        if function.accepts:
            function.accepts(request.arguments)
        model = function.params_model
        try:
            # `(params,)` for a handler with a Pydantic parameter, keywords for the others
            args = (model.model_validate(arguments),) if model else ()
        except ValidationError as error:
            outcome = validation_outcome(error, request, function)
            return replace(outcome, fate=NOT_RUN)
        # validated, and nothing run
        if request.kind == "check":
            return ok_outcome(request, action_type=function.action_type)
        return _Call(request, loaded, function, args, {} if model else arguments)

    def _arguments(self, request: CallRequest, user: User) -> JSONObject:
        """The arguments by the schema, dates in ISO 8601; CallError for a placeholder."""
        if not request.arguments:
            return {}
        check_placeholders(request.arguments)
        # as other processes know the schema
        function = self.registry.catalogue().function(request.app_id, request.name)
        schema = function.input_schema if function else {}
        return conform(request.arguments, schema, user.language, self.contexts.clock.now())

    async def _run(self, call: _Call, user: User) -> CallOutcome:
        request = call.request
        effect = call.function.action_type
        ctx = self.contexts.make(user, request.app_id, request=request, effect=effect)
        # a task: it outlives the wait for it
        work = asyncio.ensure_future(self._finish(call, ctx))
        started = time.perf_counter()
        await asyncio.wait({work}, timeout=request.deadline_s)
        in_time = time.perf_counter() - started < request.deadline_s
        if work.done() and in_time:  # a handler that blocked ends too late
            return work.result()
        # what is still running arrives as an event
        late = self._deliver_late(work, UserKey.of(user), request)
        background.start(late, f"late-{request.effect or new_id()}")
        text = (
            f"{request.name} is still running after {request.deadline_s:g} s; its result will"
            " arrive as an event"
        )
        return failed_outcome(request, "BACKEND_TIMEOUT", text, action_type=effect, fate=RUNNING)

    async def _finish(self, call: _Call, ctx: CallContext) -> CallOutcome:
        """Run the handler to its end, however late."""
        deadline_s = max(call.request.deadline_s, LATE_S)
        try:
            outcome = await run_contained(self._invoke(call, ctx), deadline_s)
        # the class name goes to the model, the text to the log
        except Exception as error:
            outcome = await self._faults.outcome(error, call.request, call.function.action_type)
        # before listeners of other apps, which may end the process
        outcome = self._with_cached_outcome(call.request, replace(outcome, created=ctx.created))
        return await self._after_success(call, outcome, ctx) if outcome.ok else outcome

    async def _invoke(self, call: _Call, ctx: CallContext) -> CallOutcome:
        function, panels = call.function, tuple(call.loaded.ext.panels)
        pending = function.func(ctx, *call.args, **call.kwargs)
        # a plain function would have blocked the loop
        if not inspect.isawaitable(pending):
            raise TypeError(f"{call.request.name} must be async def: the kernel awaits it")
        self._handlers[id(call.request)] = pending, call.loaded
        try:
            returned = await pending
        finally:
            self._handlers.pop(id(call.request), None)
        outcome = from_return(returned, call.request, panels, function.action_type)
        return redaction.check_secrets(outcome, function, develop=self._develop)

    async def _after_success(
        self, call: _Call, outcome: CallOutcome, ctx: CallContext
    ) -> CallOutcome:
        """Hold a result against its model and against emptiness, tell its author what was not
        awaited, and publish the function's event. The call is done whatever comes of it, and waits
        `LISTENERS_S` for listeners; to its author an empty result says that it is one."""
        app_id, function = outcome.app_id, call.function
        for text in _warnings(call.loaded, function, outcome):
            _log.warning("app=%s function=%s | %s", app_id, function.name, text)
            is_told = await self._faults.note(ctx.user, app_id, text)
            if is_told and not outcome.data:
                outcome = replace(outcome, summary=outcome.summary or text)
        if not function.event:
            return outcome
        # an event's name begins with its app
        name = function.event if "." in function.event else f"{app_id}.{function.event}"
        data = outcome.data if isinstance(outcome.data, dict) else {"value": outcome.data}
        heard = asyncio.Event()

        async def publish() -> None:
            try:
                await run_contained(ctx.extensions.emit(name, data), LATE_S)
            except Exception as error:
                text = "app=%s event=%s error=%s | event of a function not published"
                _log.warning(text, app_id, name, type(error).__name__)
            heard.set()

        background.start(publish(), f"event-{name}")
        with suppress(TimeoutError):
            await asyncio.wait_for(heard.wait(), LISTENERS_S)
        return outcome

    async def _deliver_late(
        self, work: asyncio.Future[CallOutcome], key: UserKey, request: CallRequest
    ) -> None:
        """Deliver the outcome of a late handler as an event."""
        outcome = await work
        text, data = outcome.summary or outcome.error, event_data(outcome.data)
        event_data_ = {"app_id": request.app_id, "fn_name": request.name, "status": outcome.status}
        event_data_ |= {"text": text, **request_fields(request), "data": data}
        event_data_ |= {"call": digest(request.arguments)}
        await self.events.deliver(key, "result", event_data_)
        # a read changes no panel unless it says so
        if outcome.action_type != "read" or outcome.panels_named:
            for event in panel_refresh(self.events, request.app_id, outcome.panels):
                await self.events.emit(key, event.kind, event.data)


async def _run_on_thread(thread: LoopThread, work: Coroutine[Any, Any, T], seconds: float) -> T:
    """The result of work on the extensions' thread; TimeoutError, the thread left behind, when
    nothing comes back in time; ExtensionExit or RuntimeError where its loop was ended under it."""
    future = thread.submit(work)
    waiter = asyncio.wrap_future(future)
    # no warning for an exception that is never retrieved
    waiter.add_done_callback(retrieve_error)
    done, _ = await asyncio.wait({waiter}, timeout=seconds + GRACE_S)
    if not done:
        # it may have ended just now: a free loop is not abandoned
        if not future.done():
            # Python cannot stop a thread; a new one takes the next call
            thread.abandon(future)
            background.track(future)
        raise TimeoutError
    if waiter.cancelled():  # by code that ran beside it: ours is not a cancellation
        raise ExtensionExit(asyncio.CancelledError())
    return waiter.result()


def _thread_owner(request: CallRequest) -> tuple[str, ...]:
    """The owner of a call's thread: user and app, and for a section, which runs in parallel with
    others, the section."""
    user, section = request.user, request.name * (request.kind == "skeleton")
    owner = str(user.get("tenant_id", "")), str(user.get("imperal_id", ""))
    return *owner, request.app_id, section


def _warnings(loaded: LoadedExtension, called: FunctionDef, outcome: CallOutcome) -> Iterator[str]:
    """Warnings about a successful call, of which something was probably not intended."""
    if not (outcome.summary or outcome.ui or outcome.data):
        yield (
            f"{called.name} returned neither data nor a summary, so that a reply has nothing to"
            " tell: return ActionResult.success(data, summary)"
        )
    if problem := mismatch(called.data_model, outcome.data):
        yield f"the result of {called.name} does not fit its data_model: {problem}"
    if outcome.undo and (undo := outcome.undo["function"]) not in loaded.functions:
        yield (
            f"the undo of {called.name} is never offered: it is ui.Call of a function of this app,"
            f" not {undo!r}, with at most {MAX_UNDO_BYTES} bytes of arguments and no secret"
        )
    yield from (f"{called.name}: {text}" for text in redaction.trace().unawaited)


class InlineDispatch:
    """Runs extension code in this process; the host keeps it off the turn's thread."""

    def __init__(self, host: ExtensionHost) -> None:
        self._registry = host.registry
        self.call = host.execute

    async def catalogue(self) -> Catalogue:
        """What is loaded now."""
        return self._registry.catalogue()
