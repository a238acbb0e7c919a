"""Host: the one place where extension code runs, on a thread of its own. `tool_dispatch` and
`skeleton_refresh` are thin shells around it.

A handler that gives way to others is ended by its deadline. One that blocks its thread cannot be:
the host stops waiting a second later, leaves that thread to its work and takes a new one, so a
blocking handler fails its own call and nobody else's later ones.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from ..base import background
from ..base.clock import Clock
from ..base.loop_thread import LoopThread
from ..channels.skeleton import SkeletonReader
from ..config import Settings
from ..llm.protocol import Model
from ..sdk.context import User
from ..stores.protocols import Stores
from ..values import CallOutcome, CallRequest, failed, user_dict
from .registry import LoadedExtension, Registry
from .runner import HEALTH_S, SYSTEM_USER, ExtensionRunner

__all__ = ["SYSTEM_USER", "ExtensionHost"]

GRACE_S = 1.0
"""Seconds a call may overrun its own deadline before its thread is given up on."""

T = TypeVar("T")
_log = logging.getLogger("webbee.host")


class ExtensionHost:
    """Runs every line of extension code of this process; callers may live on any event loop."""

    def __init__(
        self, registry: Registry, stores: Stores, settings: Settings, clock: Clock, model: Model
    ) -> None:
        self._runner = ExtensionRunner(registry, stores, settings, clock, model)
        self._thread = LoopThread("webbee-extensions")
        self._call_s = settings.call_seconds
        self.registry = registry
        self.catalogue = self._runner.catalogue
        self.events = self._runner.events
        self.contexts = self._runner.contexts

    async def execute(self, request: CallRequest) -> CallOutcome:
        """Run one call of kind function, check, panel or health to its outcome. Never raises for
        what the extension did."""
        return await self._outcome(request, self._runner.execute(request))

    def extension(self, app_id: str) -> LoadedExtension:
        """The loaded extension, or CallError UNKNOWN_TOOL."""
        return self._runner.extension(app_id)

    async def refresh(
        self, user: User, app_id: str, section: str, reader: SkeletonReader, timeout_s: float
    ) -> Any:
        """Run a section's handler with system scopes as the real user; its raw return value. Raises
        what it raises, TimeoutError when it hangs."""
        return await self._apart(
            self._runner.refresh(user, app_id, section, reader, timeout_s), timeout_s
        )

    async def alert(
        self,
        user: User,
        app_id: str,
        section: str,
        old: dict[str, Any],
        new: dict[str, Any],
        timeout_s: float,
    ) -> str:
        """The alert tool's text, empty where there is nothing to say or no such tool. Raises what
        it raises, TimeoutError when it hangs."""
        return await self._apart(
            self._runner.alert(user, app_id, section, old, new, timeout_s), timeout_s
        )

    async def run_as_system(self, request: CallRequest, func: Any, **kwargs: Any) -> CallOutcome:
        """A schedule's or signal's handler in system context; always an outcome."""
        return await self._outcome(request, self._runner.run_as_system(request, func, **kwargs))

    async def signal(self, tenant: User, name: str, data: dict[str, Any]) -> dict[str, str]:
        """Call every extension's handler of a platform signal as `__system__`; status by app id."""
        outcomes: dict[str, str] = {}
        for app_id, loaded in self.registry.loaded.items():
            if handler := loaded.ext.signals.get(name):
                request = CallRequest(
                    "signal", user_dict(tenant), app_id, name, data, deadline_s=self._call_s
                )
                outcomes[app_id] = (await self.run_as_system(request, handler, **data)).status
        return outcomes

    async def emit(self, user: User, app_id: str, event_type: str, data: dict[str, Any]) -> None:
        """Tell every listener of an event, as the app and for the user; one that fails or hangs is
        logged."""
        try:
            await self._apart(self._runner.emit(user, app_id, event_type, data), self._call_s)
        except TimeoutError:
            _log.warning(
                "app=%s event=%s | listeners did not finish in %g s",
                app_id,
                event_type,
                self._call_s,
            )

    async def health(self, app_id: str) -> dict[str, Any]:
        """What the app's own health check says, or that it has none; an error is a status, never
        raised."""
        try:
            return await self._apart(self._runner.health(app_id), HEALTH_S)
        except TimeoutError:
            return {"status": "error", "error_code": "BACKEND_TIMEOUT"}

    async def hook(self, user: User, app_id: str, func: Any, timeout_s: float) -> None:
        """Run a lifecycle hook in system context; what it raises is logged, never passed on, and so
        is that it hangs."""
        try:
            await self._apart(self._runner.hook(user, app_id, func, timeout_s), timeout_s)
        except TimeoutError:
            _log.warning(
                "app=%s hook=%s | lifecycle hook did not finish in %g s",
                app_id,
                getattr(func, "__name__", "?"),
                timeout_s,
            )

    async def webhook(
        self,
        app_id: str,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes,
        query: dict[str, str],
    ) -> tuple[int, dict[str, str], Any]:
        """Run a webhook as `__webhook__`; status, headers and body. Raises CallError where there is
        no such webhook."""
        try:
            return await self._apart(
                self._runner.webhook(app_id, method, path, headers, body, query), self._call_s
            )
        except TimeoutError:
            _log.warning(
                "app=%s webhook=%s | webhook did not finish in %g s", app_id, path, self._call_s
            )
            return (
                500,
                {},
                {
                    "error": {
                        "code": "BACKEND_TIMEOUT",
                        "message": f"the webhook did not finish in {self._call_s:g} s",
                    }
                },
            )

    async def _outcome(
        self, request: CallRequest, work: Coroutine[Any, Any, CallOutcome]
    ) -> CallOutcome:
        try:
            return await self._apart(work, request.deadline_s)
        except TimeoutError:
            return failed(
                request,
                "BACKEND_TIMEOUT",
                f"{request.name} did not finish in {request.deadline_s:g} s",
                retryable=True,
            )

    async def _apart(self, work: Coroutine[Any, Any, T], seconds: float) -> T:
        """The result of work on the extensions' thread; TimeoutError, the thread left behind, when
        nothing comes back in time."""
        future = self._thread.submit(work)
        here = asyncio.wrap_future(future)
        here.add_done_callback(
            lambda ended: ended.cancelled() or ended.exception()
        )  # whoever gave up asks for no error
        try:
            return await asyncio.wait_for(asyncio.shield(here), seconds + GRACE_S)
        except TimeoutError:
            if not future.done():
                self._thread.abandon(future)
                background.hold(future)
            raise
