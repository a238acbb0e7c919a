"""Audit: what was done, for good, and the guard against doing it twice: dispatch that records every
call and runs an effect once, whoever runs it and however often it is asked for."""

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
from .codec import loads, outcome_text
from .deployment import KERNEL_APP
from .event_log import EventLog, panel_refresh

if TYPE_CHECKING:
    from .dynamodb.user_items import AuditStore, CacheStore

STARTED = "started"
POLL_S = 0.2
LOST_S = 240.0
"""Seconds after which an effect that left no outcome never will: tool_dispatch is ended 190 s
after a call began."""
MAX_TRIES = 50
"""Claims of one effect, all of them refused before anything ran, that are looked through."""


def _call(record: AuditRecord) -> tuple[str, str, str]:
    return record.app_id, record.fn_name, record.args_hash


def _is_named(request: CallRequest) -> bool:
    """Whether a person or a program made this one call under an id of its request: schedules and
    the kernel's own calls share theirs, or have none."""
    return request.kind == "function" and request.nth is None and bool(request.request_id)


def _of_another(record: AuditRecord) -> CallOutcome:
    """What another call under the same request came to, where it did nothing: it was refused, or
    asked what this one answers. RequestConflict where it ran, or may be running."""
    outcome = _outcome(record)
    if outcome.fate == NOT_RUN or outcome.error_code == NEEDS_ANSWER:
        return replace(outcome, fate=NOT_RUN)
    raise RequestConflict(
        "this request was used for another call: send a new one", field="request_id"
    )


def _outcome(record: AuditRecord) -> CallOutcome:
    if record.outcome:
        return from_dict(CallOutcome, record.outcome)
    return _ended(record, record.status, error_code=record.error_code)


def _unfinished(record: AuditRecord) -> CallOutcome:
    text = (
        f"an earlier delivery started {record.fn_name} at {record.at} and has not reported back; it"
        " is not run twice: check before asking again"
    )
    return _ended(record, "error", error=text, error_code="BACKEND_TIMEOUT")


def _ended(record: AuditRecord, status: str, **more: str) -> CallOutcome:
    call: JSONObject = {"action_type": record.action_type, "step": record.step, **more}
    return CallOutcome(record.app_id, record.fn_name, status, **call)


MODEL = "outcome"
SECONDS = 86_400
"""A day: a request that is repeated later is told that its first delivery has not reported back."""


class OutcomeCache:
    """Reads and writes them."""

    def __init__(self, cache: CacheStore, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock

    async def keep(self, user: UserKey, effect: str, outcome: CallOutcome) -> None:
        """Leave it; one over 300 KB loses its data and says so."""
        text = outcome_text(to_dict(outcome))
        at = self._clock.now() + SECONDS
        await self._cache.set(user, KERNEL_APP, MODEL, effect, text.encode(), expires_at=at)

    async def find(self, user: UserKey, effect: str) -> CallOutcome | None:
        """What was left, if anything was."""
        now = self._clock.now()
        raw = await self._cache.get(user, KERNEL_APP, MODEL, effect, now=now)
        return None if raw is None else from_dict(CallOutcome, loads(raw.decode()))


_log = logging.getLogger("webbee.audit")

Follow = Callable[[CallRequest, AuditRecord], Awaitable[None]]
"""Has the record of an effect that nobody waits for any longer looked after."""
FOLLOW_S = 1.0
"""Seconds that asking for it may take."""


class OnceDispatch:
    """Another dispatch, with one record of each call, and a claim before each effect."""

    def __init__(
        self,
        inner: Dispatch,
        store: AuditStore,
        kept: OutcomeCache,
        events: EventLog,
        clock: Clock,
        *,
        days: int = 365,
        follow: Follow | None = None,
    ) -> None:
        self._inner = inner
        self.catalogue = inner.catalogue
        self._store = store
        self._kept = kept
        self._events = events
        self._clock = clock
        self._seconds = days * 86_400
        self._follow = follow

    async def call(self, request: CallRequest) -> CallOutcome:
        """Run it, unless another delivery of the same call has it: then that one's outcome."""
        kind = await self._action_type(request)
        if not kind:
            return await self._inner.call(request)
        record = self._open(request, kind)
        if kind == "read":
            outcome = await self._inner.call(request)
            # a read that was refused has looked at nothing
            if outcome.fate != NOT_RUN:
                await start_in_scope(self._recorded(request, record, outcome))
            return outcome
        # nobody waits for what a schedule's second delivery would come to
        wait_s = 0.0 if request.kind == "schedule" else request.deadline_s
        record, earlier = await self._claim(
            _owner(request), record, wait_s, is_exact=_is_named(request)
        )
        if earlier:
            return replace(earlier, repeated=earlier.repeated or request.kind != "function")
        try:
            # whoever runs it leaves the outcome under this name (`OutcomeCache`)
            outcome = await self._inner.call(replace(request, effect=record.effect))
        except (DispatchRefused, StorageUnavailable) as error:  # nothing happened yet
            refused = failed_outcome(request, "BACKEND_5XX", str(error), action_type=kind)
            await self._recorded(request, record, replace(refused, fate=NOT_RUN))
            raise
        except (DispatchUnanswered, asyncio.CancelledError):
            # it may have run, or still run: somebody has to come back for its record
            background.start(self._followed(request, record), f"follow-{record.effect}")
            raise
        if outcome.fate == RUNNING:  # its record is written when somebody knows how it ended
            await self._followed(request, record)
            return outcome
        outcome = replace(outcome, action_type=kind)
        await start_in_scope(self._recorded(request, record, outcome))
        return outcome

    async def settle(self, user: UserKey, record: AuditRecord) -> bool:
        """Write the record of an effect that nobody waits for any longer, from what it left behind;
        as lost where it can no longer end. False where it may: to be asked again. Of an erased
        person nothing is written."""
        if not await self._store.claims(user, record.effect):
            return True
        if left := await self._kept.find(user, record.effect):
            await self._close(user, record, left)
            return True
        if self._clock.now() < parse_iso(record.at) + LOST_S:
            return False
        await self._close(user, record, _unfinished(record))
        return True

    def _open(self, request: CallRequest, action_type: str) -> AuditRecord:
        """A record of a call about to run. Arguments are kept as a hash only.

        Two deliveries of a request share an effect: where a person or a program made the call, that
        of the same step, whatever it carries (`claim` refuses another one); where a model did and
        may choose other arguments the next time, the nth call of the same function; where nobody
        named the request as one of theirs, the same call.
        """
        which: list[object] = [request.app_id, request.name]
        if request.nth is not None:
            which += ["nth", request.nth]
        elif _is_named(request):
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
        self, user: UserKey, record: AuditRecord, wait_s: float, *, is_exact: bool = False
    ) -> tuple[AuditRecord, CallOutcome | None]:
        """The claim and None when the effect is ours to run, else the first delivery's outcome.

        A delivery still at work is waited for; one that died half-way is reported, never repeated.
        A claim whose call was refused before it ran has not happened: the next try has one of its
        own, as has the call that carries what the first one asked. With `is_exact` RequestConflict
        where the effect was claimed for another call.
        """
        mine, outcome = record, None
        for tries in range(MAX_TRIES):
            # the same names in the same order for all: two tries at once meet at one claim
            mine = replace(record, effect=digest(record.effect, tries)) if tries else record
            outcome = await self._claimed(user, mine, wait_s, is_exact=is_exact)
            if outcome is None or outcome.fate != NOT_RUN:
                break
        return mine, outcome

    async def _claimed(
        self, user: UserKey, record: AuditRecord, wait_s: float, *, is_exact: bool
    ) -> CallOutcome | None:
        deadline = asyncio.get_running_loop().time() + wait_s
        while True:
            found = await self._store.begin(
                user, record.effect, record, expires_at=self._expires_at(), now=self._clock.now()
            )
            if found is None:
                return None
            if is_exact and _call(found) != _call(record):
                return _of_another(found)
            if found.status != STARTED:
                return replace(_outcome(found), repeated=True)
            # the first delivery was done, and lost before its record: completed in its place
            if left := await self._kept.find(user, record.effect):
                await self._close(user, found, left)
                return replace(left, repeated=True)
            if asyncio.get_running_loop().time() >= deadline:
                return _unfinished(found)
            await asyncio.sleep(POLL_S)

    async def _recorded(
        self, request: CallRequest, record: AuditRecord, outcome: CallOutcome
    ) -> None:
        """Record the outcome with the events it caused: beside the turn, before its reply leaves. A
        read that cannot be recorded is not answered; an effect is done, whatever becomes of its
        record, and what ran it has left the outcome (`kept`)."""
        try:
            await self._close(_owner(request), record, outcome, self._told(request, outcome))
        except StorageUnavailable:
            if record.action_type == "read":
                raise
            _log.error(
                "app=%s function=%s | done, but its record could not be completed",
                request.app_id,
                request.name,
            )

    async def _close(
        self,
        user: UserKey,
        record: AuditRecord,
        outcome: CallOutcome,
        events: tuple[Event, ...] = (),
    ) -> None:
        """Write how the call ended, with the events it caused. Reads keep no outcome: they can be
        run again."""
        done = replace(
            record,
            status=outcome.status,
            error_code=outcome.error_code,
            duration_ms=outcome.duration_ms,
            outcome=to_dict(outcome) if outcome.action_type != "read" else None,
        )
        await self._store.append(
            user,
            done,
            expires_at=self._expires_at(),
            events=events,
            events_expire_at=self._events.expires_at,
        )

    def _expires_at(self) -> int:
        return int(self._clock.now()) + self._seconds

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
        # nobody knows the function: the dispatch behind refuses it, unrecorded
        return function.action_type if function else ""

    def _told(self, request: CallRequest, outcome: CallOutcome) -> tuple[Event, ...]:
        """What the page hears of it."""
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
