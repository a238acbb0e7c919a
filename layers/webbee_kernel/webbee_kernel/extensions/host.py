"""The host of extension code in this process: calls by kind, several sections at once, and what the
kernel does itself where extensions run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any, TypeVar

from .. import background
from ..background import LoopThread, LoopThreads
from ..catalogue import Catalogue
from ..clock import Clock
from ..config import Settings
from ..llm.protocol import Model
from ..stores.protocols import Stores
from ..types import RUNNING, CallOutcome, CallRequest, JSONObject, succeeded, unfinished
from .error_mapping import Escaped, asked_for
from .registry import Registry
from .runner import ExtensionRunner

GRACE_S = 1.0
"""Seconds a call may overrun its own deadline before its thread is given up on."""

LATE = "still running at its deadline"
"""How the log calls a handler that nobody waits for any longer."""

T = TypeVar("T")

_log = logging.getLogger("webbee.host")


class ExtensionHost:
    """Runs every line of extension code of this process; callers may live on any event loop."""

    def __init__(
        self, registry: Registry, stores: Stores, settings: Settings, clock: Clock, model: Model
    ) -> None:
        self._runner = ExtensionRunner(registry, stores, settings, clock, model)
        self._threads = LoopThreads("webbee-extensions")
        self.registry = registry
        self.events = self._runner.events
        self.contexts = self._runner.contexts

    @property
    def catalogue(self) -> Catalogue:
        """What the loaded extensions add up to."""
        return self.registry.catalogue()

    async def execute(self, request: CallRequest) -> CallOutcome:
        """Run one call of any kind to its outcome: BACKEND_TIMEOUT where it blocks its thread.

        Never raises for what the extension did. A call of kind `skeletons` is several of kind
        `skeleton`.
        """
        # one person's handlers share a loop; a blocked one holds up nobody else
        with self._threads.of(_owner(request)) as thread:
            if request.kind == "skeletons":
                return await run_sections(lambda one: self._once(one, thread), request)
            try:
                outcome = await self._once(request, thread)
            except TimeoutError:
                outcome = unfinished(request)
        if outcome.fate == RUNNING:
            of, name, seconds = request.kind, request.name, request.deadline_s
            _log.warning("app=%s %s=%s seconds=%g | %s", request.app_id, of, name, seconds, LATE)
        return outcome

    async def _once(self, request: CallRequest, thread: LoopThread) -> CallOutcome:
        try:
            return await _apart(thread, self._runner.execute(request), request.deadline_s)
        except (Escaped, RuntimeError) as error:
            return await self.contexts.faults.outcome(error, request)


async def _apart(thread: LoopThread, work: Coroutine[Any, Any, T], seconds: float) -> T:
    """The result of work on the extensions' thread; TimeoutError, the thread left behind, when
    nothing comes back in time; Escaped or RuntimeError where its loop was ended under it."""
    future = thread.submit(work)
    here = asyncio.wrap_future(future)
    # an exception that nobody waits for any more is no warning
    here.add_done_callback(asked_for)
    done, _ = await asyncio.wait({here}, timeout=seconds + GRACE_S)
    if not done:
        if not future.done():
            # Python cannot stop a thread; a new one takes the next call
            thread.abandon(future)
            background.hold(future)
        raise TimeoutError
    if here.cancelled():  # by code that ran beside it: ours is not a cancellation
        raise Escaped(asyncio.CancelledError())
    return here.result()


def _owner(request: CallRequest) -> tuple[str, ...]:
    """Whose thread a call runs on: its user's, the app's own where the system calls."""
    user = str(request.user.get("imperal_id", ""))
    return str(request.user.get("tenant_id", "")), user, request.app_id * user.startswith("__")


class InlineDispatch:
    """Runs extension code in this process; the host keeps it off the turn's thread."""

    def __init__(self, host: ExtensionHost) -> None:
        self._registry = host.registry
        self.call = host.execute

    async def catalogue(self) -> Catalogue:
        """What is loaded now."""
        return self._registry.catalogue()


SHARE = 0.4
"""Of the call's time for all handlers side by side, and again for those that were starved."""
LEAST_S = 0.1

Execute = Callable[[CallRequest], Awaitable[CallOutcome]]
"""Runs one call to its outcome; TimeoutError where its thread was blocked."""


async def run_sections(execute: Execute, request: CallRequest) -> CallOutcome:
    """`arguments.sections` names sections by app; the outcome's data holds for each, by app,
    `{"data": …}` or `{"code", "error"}`."""
    each = _each(request)
    together = request.deadline_s * SHARE
    found = await asyncio.gather(*(_one(execute, replace(r, deadline_s=together)) for r in each))
    results = {(r.app_id, r.name): o for r, o in zip(each, found, strict=True)}
    # they shared a thread with one that blocked: each again, alone
    starved = [r for r in each if results[r.app_id, r.name] is None]
    apart = max(LEAST_S, together / max(1, len(starved)))
    for call in starved:
        results[call.app_id, call.name] = await _one(execute, replace(call, deadline_s=apart))
    data: JSONObject = {}
    for call in each:
        data.setdefault(call.app_id, {})[call.name] = _told(results[call.app_id, call.name])
    return succeeded(request, data)


def _each(request: CallRequest) -> list[CallRequest]:
    stored = request.arguments.get("snapshots") or {}
    return [
        replace(
            request,
            kind="skeleton",
            app_id=app_id,
            name=section,
            arguments={"snapshots": stored.get(app_id) or {}},
        )
        for app_id, sections in (request.arguments.get("sections") or {}).items()
        for section in sections
    ]


async def _one(execute: Execute, call: CallRequest) -> CallOutcome | None:
    """Its outcome; None where the thread was blocked, by it or by another."""
    try:
        return await execute(call)
    except TimeoutError:
        return None


def _told(outcome: CallOutcome | None) -> JSONObject:
    if outcome is None:
        return {"code": "BACKEND_TIMEOUT", "error": "its thread was blocked"}
    if outcome.ok:
        return {"data": outcome.data}
    return {"code": outcome.error_code, "error": outcome.error}
