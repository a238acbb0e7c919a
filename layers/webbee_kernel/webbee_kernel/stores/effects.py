"""Dispatch that records every call and runs an effect once, whoever runs it and however often it is
asked for."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TypeVar

from .. import background
from ..background import start_beside
from ..catalogue import Dispatch
from ..errors import DispatchRefused, DispatchUnanswered, StorageUnavailable
from ..types import (
    NOT_RUN,
    RUNNING,
    AuditRecord,
    CallOutcome,
    CallRequest,
    Event,
    UserKey,
    failed,
    user_from,
)
from .audit_trail import Audit
from .event_log import EventLog, panel_refresh

_log = logging.getLogger("webbee.audit")

Follow = Callable[[CallRequest, AuditRecord], Awaitable[None]]
"""Has the record of an effect that nobody waits for any longer looked after."""
FOLLOW_S = 1.0
"""Seconds that asking for it may take."""


class OnceDispatch:
    """Another dispatch, with a record of each call, and a claim before each effect."""

    def __init__(
        self, inner: Dispatch, audit: Audit, events: EventLog, follow: Follow | None = None
    ) -> None:
        self._inner = inner
        self.catalogue = inner.catalogue
        self._audit = audit
        self._events = events
        self._follow = follow

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run it, unless another delivery of the same call has it: then that one's outcome."""
        kind = await self._action_type(request)
        if not kind:
            return await self._inner.call(request)
        record = self._audit.open(request, kind)
        if kind == "read":
            outcome = await self._inner.call(request)
            if outcome.fate != NOT_RUN:
                await start_beside(self._close(request, record, outcome))
            return outcome
        wait_s = 0.0 if request.kind == "schedule" else request.deadline_s
        record, earlier = await self._audit.claim(_owner(request), record, wait_s)
        if earlier:
            return replace(earlier, repeated=earlier.repeated or request.kind != "function")
        try:
            outcome = await self._inner.call(replace(request, effect=record.effect))
        except (DispatchRefused, StorageUnavailable) as error:  # nothing happened yet
            refused = failed(request, "BACKEND_5XX", str(error), action_type=kind)
            await self._close(request, record, replace(refused, fate=NOT_RUN))
            raise
        except (DispatchUnanswered, asyncio.CancelledError):
            background.start(self._followed(request, record), f"follow-{record.effect}")
            raise
        if outcome.fate == RUNNING:  # its record is written when somebody knows how it ended
            await self._followed(request, record)
            return outcome
        outcome = replace(outcome, action_type=kind)
        await start_beside(self._close(request, record, outcome))
        return outcome

    async def settle(self, user: UserKey, record: AuditRecord) -> bool:
        """Write the record of an effect that ended, or that was lost, while nobody waited for it.
        False where it may still be running."""
        return await self._audit.settle(user, record)

    async def _followed(self, request: CallRequest, record: AuditRecord) -> None:
        if self._follow is None:
            return
        try:
            async with asyncio.timeout(FOLLOW_S):
                await self._follow(request, record)
        except Exception as error:
            _log.warning(
                "app=%s function=%s error=%s | its record waits for a repetition of the request",
                request.app_id,
                request.name,
                type(error).__name__,
            )

    async def _action_type(self, request: CallRequest) -> str:
        """`read`, or what counts as an effect; empty for calls of which no record is kept."""
        if request.kind in ("schedule", "connect"):
            return "write"
        if request.kind != "function":
            return ""
        function = (await self.catalogue()).function(request.app_id, request.name)
        return function.action_type if function else ""

    async def _close(self, request: CallRequest, record: AuditRecord, outcome: CallOutcome) -> None:
        """Record the outcome with the events it caused: beside the turn, before its reply leaves. A
        read that cannot be recorded is not answered; an effect is done, whatever becomes of its
        record, and what ran it has left the outcome (`kept`)."""
        try:
            await self._audit.close(
                _owner(request),
                record,
                outcome,
                self._told(request, outcome),
                self._events.expires_at,
            )
        except StorageUnavailable:
            if record.action_type == "read":
                raise
            _log.error(
                "app=%s function=%s | done, but its record could not be completed",
                request.app_id,
                request.name,
            )

    def _told(self, request: CallRequest, outcome: CallOutcome) -> tuple[Event, ...]:
        """What the page hears of it."""
        if request.kind == "schedule" or outcome.fate == NOT_RUN:
            return ()
        if outcome.action_type == "read" and not outcome.panels_named:
            return ()
        events = panel_refresh(self._events, request.app_id, outcome.panels)
        if request.kind == "connect" and outcome.ok:
            text = {"app_id": request.app_id, "text": outcome.summary, "channel": "in_app"}
            events = (*events, self._events.new("notification", text))
        return events


def _owner(request: CallRequest) -> UserKey:
    return UserKey.of(user_from(request.user))


T = TypeVar("T")
