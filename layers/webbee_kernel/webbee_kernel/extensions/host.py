"""The host of extension code in this process: calls by kind, several sections at once, and what the
kernel does itself where extensions run."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
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

SHARE = 0.8
"""Of a call's time for its sections: the rest is for what they found, should one of them block."""

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
        `skeleton`, side by side.
        """
        if request.kind == "skeletons":
            return await self._sections(request)
        # a blocked one holds up nobody who has another
        with self._threads.of(_owner(request)) as thread:
            try:
                outcome = await self._once(request, thread)
            except TimeoutError:
                outcome = unfinished(request)
        if outcome.fate == RUNNING:
            of, name, seconds = request.kind, request.name, request.deadline_s
            _log.warning("app=%s %s=%s seconds=%g | %s", request.app_id, of, name, seconds, LATE)
        return outcome

    async def _sections(self, request: CallRequest) -> CallOutcome:
        """`arguments.sections` names sections by app; the outcome's data holds for each, by app,
        `{"data": …}` or `{"code", "error"}`."""
        stored = request.arguments.get("snapshots") or {}
        each = replace(request, kind="skeleton", deadline_s=request.deadline_s * SHARE)
        calls = [
            replace(each, app_id=app_id, name=section, arguments=given)
            for app_id, sections in (request.arguments.get("sections") or {}).items()
            # once an app: each of its sections may read what is stored of all
            for given in ({"snapshots": stored.get(app_id) or {}},)
            for section in sections
        ]
        data: JSONObject = {call.app_id: {} for call in calls}
        for call, o in zip(calls, await asyncio.gather(*map(self.execute, calls)), strict=True):
            told = {"data": o.data} if o.ok else {"code": o.error_code, "error": o.error}
            data[call.app_id][call.name] = told
        return succeeded(request, data)

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
        # it may have ended this moment: a loop that is free is not given up
        if not future.done():
            # Python cannot stop a thread; a new one takes the next call
            thread.abandon(future)
            background.hold(future)
        raise TimeoutError
    if here.cancelled():  # by code that ran beside it: ours is not a cancellation
        raise Escaped(asyncio.CancelledError())
    return here.result()


def _owner(request: CallRequest) -> tuple[str, ...]:
    """Whose thread a call runs on: its user's for each app; a section's, which is refreshed beside
    others, its own."""
    user, section = request.user, request.name * (request.kind == "skeleton")
    whose = str(user.get("tenant_id", "")), str(user.get("imperal_id", ""))
    return *whose, request.app_id, section


class InlineDispatch:
    """Runs extension code in this process; the host keeps it off the turn's thread."""

    def __init__(self, host: ExtensionHost) -> None:
        self._registry = host.registry
        self.call = host.execute

    async def catalogue(self) -> Catalogue:
        """What is loaded now."""
        return self._registry.catalogue()
