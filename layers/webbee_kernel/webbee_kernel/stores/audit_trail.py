"""Audit trail and idempotency: a dispatch that records every call and runs each effect once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from .. import background
from ..background import start_in_scope
from ..catalogue import Dispatch
from ..clock import Clock, digest, iso, new_id, parse_iso
from ..errors import DispatchRefused, DispatchUnanswered, RequestConflict, StorageUnavailable
from ..sdk.result import NEEDS_ANSWER
from ..types import (
    NOT_RUN,
    RUNNING,
    AuditRecord,
    CallOutcome,
    CallRequest,
    Event,
    JSONObject,
    UserKey,
    failed_outcome,
    from_dict,
    to_dict,
    user_from,
)
from . import EventLog, panel_refresh
from .codec import dumps, fit_outcome, loads
from .item_keys import KERNEL_APP

if TYPE_CHECKING:
    from .dynamodb.user_items import AuditStore, CacheStore

STARTED = "started"
POLL_S = 0.2
LOST_S = 240.0
"""Seconds after which an effect without an outcome is lost: tool_dispatch ends after 190 s."""
MAX_TRIES = 50
"""Claims of one effect that are tried, where earlier ones were refused before they ran."""


def _call(record: AuditRecord) -> tuple[str, str, str]:
    return record.app_id, record.fn_name, record.args_hash


def _has_own_id(request: CallRequest) -> bool:
    """Whether the call has a request id of its own: made by a user or program, not by a model, a
    schedule or the kernel."""
    return request.kind == "function" and request.nth is None and bool(request.request_id)


def _outcome_of_other(record: AuditRecord) -> CallOutcome:
    """The outcome of another call under the same request that did nothing: refused, or asking for
    the answer that this one carries. RequestConflict where it ran or may be running."""
    outcome = _outcome(record)
    if outcome and (outcome.fate == NOT_RUN or outcome.error_code == NEEDS_ANSWER):
        return replace(outcome, fate=NOT_RUN)
    raise RequestConflict(
        "this request was used for another call: send a new one", field="request_id"
    )


def _outcome(record: AuditRecord) -> CallOutcome | None:
    """What the call of an effect came to; None while it may be running."""
    return from_dict(CallOutcome, record.outcome) if record.outcome else None


def _unfinished_outcome(record: AuditRecord) -> CallOutcome:
    text = (
        f"an earlier delivery started {record.fn_name} at {record.at} and has not reported back; it"
        " is not run twice: check before asking again"
    )
    call: JSONObject = {"action_type": record.action_type, "step": record.step}
    return CallOutcome(
        record.app_id, record.fn_name, "error", error=text, error_code="BACKEND_TIMEOUT", **call
    )


MODEL = "outcome"
SECONDS = 86_400
"""Seconds that outcomes are cached: one day."""


class OutcomeCache:
    """Outcomes of effects, stored by the function that ran them."""

    def __init__(self, cache: CacheStore, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock

    async def put(self, user: UserKey, effect: str, outcome: CallOutcome) -> None:
        """Store an outcome; one over 300 KB loses its data and notes that."""
        text = dumps(fit_outcome(to_dict(outcome)))
        at = self._clock.now() + SECONDS
        await self._cache.set(user, KERNEL_APP, MODEL, effect, text.encode(), expires_at=at)

    async def find(self, user: UserKey, effect: str) -> CallOutcome | None:
        """The stored outcome, or None."""
        now = self._clock.now()
        raw = await self._cache.get(user, KERNEL_APP, MODEL, effect, now=now)
        return None if raw is None else from_dict(CallOutcome, loads(raw.decode()))


_log = logging.getLogger("webbee.audit")

Follow = Callable[[CallRequest, AuditRecord], Awaitable[None]]
"""Queues a check of an effect whose caller stopped waiting."""
FOLLOW_S = 1.0
"""Seconds for queueing it."""


class OnceDispatch:
    """Wraps a dispatch: records each call, and claims each effect before it runs."""

    def __init__(
        self,
        inner: Dispatch,
        store: AuditStore,
        outcomes: OutcomeCache,
        events: EventLog,
        clock: Clock,
        *,
        days: int = 365,
        follow: Follow | None = None,
    ) -> None:
        self._inner = inner
        self.catalogue = inner.catalogue
        self._store = store
        self._outcomes = outcomes
        self._events = events
        self._clock = clock
        self._seconds = days * 86_400
        self._follow = follow

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run it, or return the outcome of an earlier delivery of the same call."""
        kind = await self._action_type(request)
        if not kind:
            return await self._inner.call(request)
        record = self._open(request, kind)
        if kind == "read":
            outcome = await self._inner.call(request)
            # a read that was refused has looked at nothing
            if outcome.fate != NOT_RUN:
                await start_in_scope(self._record(request, record, outcome))
            return outcome
        record, earlier = await self._claim(request, record)
        if earlier:
            return replace(earlier, repeated=earlier.repeated or request.kind != "function")
        try:
            # the function that runs it stores the outcome under this key (`OutcomeCache`)
            outcome = await self._inner.call(replace(request, effect=record.effect))
        except (DispatchRefused, StorageUnavailable) as error:  # nothing happened yet
            refused = failed_outcome(request, "BACKEND_5XX", str(error), action_type=kind)
            await self._record(request, record, replace(refused, fate=NOT_RUN))
            raise
        # it may have run or still run: its record is completed later
        except DispatchUnanswered:
            # waited for: skeleton_refresh stands still as soon as it has answered
            await self._queue_follow_up(request, record)
            raise
        except asyncio.CancelledError:
            background.start(self._queue_follow_up(request, record), f"follow-{record.effect}")
            raise
        if outcome.fate == RUNNING:  # its record is written once the outcome is known
            await self._queue_follow_up(request, record)
            return outcome
        outcome = replace(outcome, action_type=kind)
        await start_in_scope(self._record(request, record, outcome))
        return outcome

    async def settle(self, user: UserKey, record: AuditRecord) -> bool:
        """Complete the record of an effect whose caller stopped waiting, from its cached outcome,
        or as lost after `LOST_S`. False where it may still run: check again. Nothing is written for
        an erased user."""
        if not await self._store.has_claim(user, record.effect):
            return True
        if outcome := await self._outcomes.find(user, record.effect):
            await self._close(user, record, outcome)
            return True
        if self._clock.now() < parse_iso(record.at) + LOST_S:
            return False
        await self._close(user, record, _unfinished_outcome(record))
        return True

    def _open(self, request: CallRequest, action_type: str) -> AuditRecord:
        """A record of a call about to run, with a hash of its arguments.

        `effect` is the idempotency key that deliveries of a request share: by step for a call with
        its own request id, by the nth call of the function where a model chose the arguments, else
        by step and arguments.
        """
        which: list[object] = [request.app_id, request.name]
        if request.nth is not None:
            which += ["nth", request.nth]
        elif _has_own_id(request):
            which = [request.step]
        else:
            which += [request.step, digest(request.arguments)]
        return AuditRecord(
            record_id=new_id(),
            at=iso(self._clock.now()),
            app_id=request.app_id,
            fn_name=request.name,
            action_type=action_type,
            session_id=request.session_id,
            request_id=request.request_id,
            step=request.step,
            args_hash=digest(request.arguments),
            status=STARTED,
            effect=digest(request.session_id, request.request_id, *which),
        )

    async def _claim(
        self, request: CallRequest, record: AuditRecord
    ) -> tuple[AuditRecord, CallOutcome | None]:
        """The claim and None when the effect is to run now, else the first delivery's outcome.

        Waits for a running delivery; one that died is reported, never repeated. A claim refused
        before it ran gets a successor. RequestConflict where a call's own request id was used for
        another call.
        """
        mine, outcome = record, None
        for tries in range(MAX_TRIES):
            # the same names in the same order for all: two tries at once meet at one claim
            mine = replace(record, effect=digest(record.effect, tries)) if tries else record
            outcome = await self._claim_once(request, mine)
            if outcome is None or outcome.fate != NOT_RUN:
                break
        return mine, outcome

    async def _claim_once(self, request: CallRequest, record: AuditRecord) -> CallOutcome | None:
        user, loop = _owner(request), asyncio.get_running_loop()
        # a schedule's second delivery need not wait for the first
        deadline = loop.time() + (0.0 if request.kind == "schedule" else request.deadline_s)
        while True:
            found = await self._store.begin(
                user, record.effect, record, expires_at=self._expires_at(), now=self._clock.now()
            )
            if found is None:
                return None
            if _has_own_id(request) and _call(found) != _call(record):
                return _outcome_of_other(found)
            if outcome := _outcome(found):
                return replace(outcome, repeated=True)
            # the first delivery ended but did not write its record: completed here
            if outcome := await self._outcomes.find(user, record.effect):
                await self._close(user, found, outcome)
                return replace(outcome, repeated=True)
            if loop.time() >= deadline:
                return _unfinished_outcome(found)
            await asyncio.sleep(POLL_S)

    async def _record(
        self, request: CallRequest, record: AuditRecord, outcome: CallOutcome
    ) -> None:
        """Record the outcome with its events, before the reply is sent. A read that cannot be
        recorded fails; an effect is done anyway, and its outcome is cached."""
        try:
            await self._close(_owner(request), record, outcome, self._events_of(request, outcome))
        except StorageUnavailable:
            if record.action_type == "read":
                raise
            _log.error(
                "app=%s function=%s | done, but its record could not be completed",
                request.app_id,
                request.name,
            )
            await self._queue_follow_up(request, record)

    async def _close(
        self,
        user: UserKey,
        record: AuditRecord,
        outcome: CallOutcome,
        events: tuple[Event, ...] = (),
    ) -> None:
        """Write the outcome and its events; a read's outcome is not stored."""
        closed = replace(
            record,
            status=outcome.status,
            error_code=outcome.error_code,
            duration_ms=outcome.duration_ms,
            outcome=to_dict(outcome) if outcome.action_type != "read" else None,
        )
        await self._store.append(
            user,
            closed,
            expires_at=self._expires_at(),
            events=events,
            events_expire_at=self._events.expires_at if events else 0,
        )

    def _expires_at(self) -> int:
        return int(self._clock.now()) + self._seconds

    async def _queue_follow_up(self, request: CallRequest, record: AuditRecord) -> None:
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
        """The action type; empty for calls that are not recorded."""
        if request.kind in ("schedule", "connect"):
            return "write"
        if request.kind != "function":
            return ""
        function = (await self.catalogue()).function(request.app_id, request.name)
        # an unknown function: the inner dispatch refuses it, unrecorded
        return function.action_type if function else ""

    def _events_of(self, request: CallRequest, outcome: CallOutcome) -> tuple[Event, ...]:
        """Events for the page."""
        if request.kind == "schedule" or outcome.fate == NOT_RUN:
            return ()
        # a read has changed no panel, unless it names one itself
        if outcome.action_type == "read" and not outcome.panels_named:
            return ()
        events = panel_refresh(self._events, request.app_id, outcome.panels)
        if request.kind == "connect" and outcome.ok:
            text = {"app_id": request.app_id, "text": outcome.summary, "channel": "in_app"}
            events = (*events, self._events.new("notification", text))
        return events


def _owner(request: CallRequest) -> UserKey:
    return UserKey.of(user_from(request.user))
