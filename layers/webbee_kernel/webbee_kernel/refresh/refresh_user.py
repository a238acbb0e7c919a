"""Refreshing one user: everything of theirs that is due, under one lease, with one save, and one
call that has the sections' handlers run.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ..catalogue import Dispatch, SectionInfo
from ..channels.skeleton import snapshots
from ..clock import Clock, digest
from ..config import Settings
from ..errors import DispatchRefused, DispatchUnanswered
from ..observability import correlation_id, measure
from ..sdk.records import User
from ..stores.event_log import EventLog
from ..stores.types import Lease, Section, UserState
from ..text import one_line
from ..types import CallRequest, JSONObject, UserKey, user_dict, user_from
from .refresh_queue import (
    BACKOFF_S,
    NEW,
    PUNCTUAL_S,
    SEEN_EVERY_S,
    SLOW_S,
    RefreshAsked,
    UserDue,
    Wanted,
    is_due,
    own_due,
)

if TYPE_CHECKING:
    from ..stores.dynamodb.skeletons import SkeletonStore

SECTIONS_S = 52.0
"""Seconds for all handlers of one user together. A handler has 20; those that another one kept
from running share the rest."""

Results = Mapping[tuple[str, str], JSONObject]
"""By app and section `{"data": …}` or `{"code", "error"}`."""

_log = logging.getLogger("webbee.refresh")


def _failure(code: str, error: str) -> JSONObject:
    return {"code": code, "error": error}


LEASE_S = 120.0
"""Seconds until a lease runs out by itself: all handlers, then all alert tools, and room."""
ALERT_S = 25.0
"""Seconds an alert tool may take."""
MAX_ALERT = 1_000
"""Characters of an alert; a longer one is cut."""
_TRIES = 3

Infos = Mapping[tuple[str, str], SectionInfo]


class Done(NamedTuple):
    """What came of a message: saved, failed, skipped, busy, carried or gone; and when the user is
    due next, where that was saved just now."""

    outcome: str
    due_at: float | None = None


@dataclass(frozen=True, slots=True)
class Round:
    """What one refresh of a user works with."""

    user: User
    lease: Lease
    infos: Infos
    now: float
    wanted: tuple[Wanted, ...] = ()

    @property
    def key(self) -> UserKey:
        """Whose timer it is."""
        return UserKey.of(self.user)


class OneUser:
    """Has due sections' handlers run, saves what they found, has alerts told."""

    def __init__(
        self,
        dispatch: Dispatch,
        store: SkeletonStore,
        events: EventLog,
        clock: Clock,
        settings: Settings,
    ) -> None:
        self._dispatch = dispatch
        self._store = store
        self._events = events
        self._clock = clock
        self._installed_by_default = settings.installed_by_default
        self._absent_after_s = settings.absent_after_days * 86_400

    async def due(self, message: UserDue) -> Done:
        """What the timer says. A second delivery finds nothing due, or the timer held: skipped."""
        user, now = user_from(message.user), self._clock.now()
        # of two deliveries at once one gets it
        lease = await self._store.lease(
            UserKey.of(user), now=now, until=now + LEASE_S, due_by=now + PUNCTUAL_S
        )
        if lease is None:
            return Done("skipped")
        return await self._refresh(Round(user, lease, await self._infos(), now))

    async def asked(self, message: RefreshAsked) -> Done:
        """What somebody asked for, and what is due anyway. While somebody else refreshes the user
        it is carried: done by them, or at once after them."""
        infos = await self._infos()
        # a section may have gone with a deployment
        wanted = tuple(w for w in message.wanted if w[:2] in infos)
        if not wanted:
            return Done("gone")
        user = user_from(message.user)
        key = UserKey.of(user)
        for _ in range(_TRIES):
            now = self._clock.now()
            if lease := await self._store.lease(key, now=now, until=now + LEASE_S):
                return await self._refresh(Round(user, lease, infos, now, wanted))
            # whoever has the lease sees the request when it saves
            if await self._store.ask(key, [w[:2] for w in wanted], now=now):
                return Done("carried")
            if not await self._registered(user, wanted, infos):
                return Done("gone")  # asked for before the user left, or was erased
        return Done("busy")

    async def _registered(self, user: User, wanted: Iterable[Wanted], infos: Infos) -> bool:
        """Give a user without a timer one, for a turn that found nothing of theirs; whether they
        have any of the apps."""
        state = await self._store.read(UserKey.of(user))
        sections = [
            Section(*w[:2], ttl=infos[w[:2]].ttl, due_at=self._clock.now())
            for w in wanted
            if w.reason == NEW and self._has(state, w.app_id)
        ]
        if sections:
            await self._store.register(UserKey.of(user), sections, who=who_of(user))
        return bool(sections)

    async def _refresh(self, round_: Round) -> Done:
        """Alerts that somebody left untold, handlers, data, alerts, and the one save that says all
        of it is done."""
        before = self._sections(round_)
        # a crash after the last save may have left an alert untold
        told = {**before, **await self._told(round_, before.values())}
        due = [s for s in told.values() if self._is_wanted(round_, s)]
        seen_at = self._seen_at(round_)
        if not due:
            return await self._save(round_, told, seen_at, "skipped")
        after = await self._run(round_, due, before.values())
        changed = [s for key, s in after.items() if s.version != told[key].version]
        # data first: an alert's `old` is read from the store, so it is told after a crash, too
        if changed and not await self._store.write(round_.key, changed, lease=round_.lease):
            return Done("busy")
        after |= await self._told(round_, after.values())
        outcome = "saved" if any(not s.failures for s in after.values()) else "failed"
        return await self._save(round_, {**told, **after}, seen_at, outcome)

    async def _run(
        self, round_: Round, due: Sequence[Section], known: Collection[Section]
    ) -> dict[tuple[str, str], Section]:
        """What is due, after its handlers ran."""
        for section in due:
            measure("RefreshLagSeconds", round(max(0.0, round_.now - (section.due_at or 0.0)), 1))
        results = await self._results(round_.user, due, known)
        return {s.key: self._after(round_, s, results[s.key]) for s in due}

    async def _results(
        self, user: User, due: Sequence[Section], known: Collection[Section]
    ) -> Results:
        """The result of every due section's handler; each may read what is stored of its own app.

        One that is missing in the answer, or an answer that is missing, is a failure of that
        section.
        """
        apps: dict[str, list[str]] = {}
        for section in due:
            apps.setdefault(section.app_id, []).append(section.section)
        stored = {app: snapshots(s for s in known if s.app_id == app) for app in apps}
        asked = {"sections": apps, "snapshots": stored}
        request = CallRequest("skeletons", user_dict(user), "", "skeletons", asked)
        try:
            outcome = await self._dispatch.call(
                replace(request, deadline_s=SECTIONS_S, correlation_id=correlation_id())
            )
        except (DispatchUnanswered, DispatchRefused) as error:
            _log.warning("sections=%d error=%s | no answer", len(due), type(error).__name__)
            return {s.key: _failure("BACKEND_5XX", str(error)) for s in due}
        if not outcome.ok:
            return {s.key: _failure(outcome.error_code, outcome.error) for s in due}
        # a handler that was killed leaves no result of its own
        none = _failure("INTERNAL", "no result")
        return {s.key: outcome.data.get(s.app_id, {}).get(s.section, none) for s in due}

    async def _save(
        self,
        round_: Round,
        sections: Mapping[tuple[str, str], Section],
        seen_at: float | None,
        outcome: str,
    ) -> Done:
        saved = await self._store.save(
            round_.key,
            sections.values(),
            lease=round_.lease,
            now=self._clock.now(),
            seen_at=seen_at,
            who=who_of(round_.user) if round_.wanted else None,
        )
        return Done("busy") if saved is None else Done(outcome, saved.due_at)

    def _sections(self, round_: Round) -> dict[tuple[str, str], Section]:
        """Those of the timer and those asked for that it does not know yet. One whose extension is
        gone, or was uninstalled, leaves the schedule."""
        state = round_.lease.state
        new = {
            w[:2]: Section(*w[:2], due_at=round_.now)
            for w in round_.wanted
            if self._has(state, w.app_id)
        }
        known = {**new, **{s.key: s for s in state.sections}}
        return {
            key: (
                replace(section, ttl=round_.infos[key].ttl)
                if key in round_.infos and self._has(state, section.app_id)
                else replace(section, due_at=None)
            )
            for key, section in known.items()
        }

    def _is_wanted(self, round_: Round, section: Section) -> bool:
        return is_due(section, round_.now) or self._is_asked_for(round_, section)

    def _is_asked_for(self, round_: Round, section: Section) -> bool:
        """Asked for, and not refreshed by somebody else since: an effect may be newer than that, a
        stale picture is not."""
        if section.key not in round_.infos or not self._has(round_.lease.state, section.app_id):
            return False
        if section.key in round_.lease.asked:
            return True
        # why it was asked for decides whether it is still needed
        reasons = {w.reason for w in round_.wanted if w[:2] == section.key}
        if "effect" in reasons:
            return True
        at_own_pace = replace(section, due_at=own_due(section, section.ttl, round_.now))
        return "stale" in reasons and is_due(at_own_pace, round_.now)

    def _after(self, round_: Round, section: Section, result: JSONObject) -> Section:
        """The section after its handler ran. A failure keeps the last good snapshot and backs
        off."""
        info, now = round_.infos[section.key], round_.now
        at_least = SLOW_S if self._is_slow(round_, section, info) else 0
        if "data" not in result:
            measure("RefreshFailures")
            _log.warning(
                "app=%s section=%s code=%s | refresh failed, last snapshot kept",
                section.app_id,
                section.section,
                result.get("code"),
            )
            # the last good snapshot stays, ageing visibly
            pause = BACKOFF_S[min(section.failures, len(BACKOFF_S) - 1)]
            return replace(
                section,
                failures=section.failures + 1,
                last_error=str(result.get("error", "")),
                due_at=now + max(pause, at_least),
            )
        measure("Refreshes")
        data: JSONObject = result["data"]
        saved = replace(
            section,
            refreshed_at=now,
            due_at=now + max(section.ttl, at_least),
            failures=0,
            last_error="",
        )
        # the same picture: newer, but no change to tell
        if data == section.data:
            return saved
        version = section.version + 1
        return replace(
            saved,
            data=data,
            version=version,
            previous=section.data if info.alert else None,  # of the first one there is none
            alerted=section.alerted if info.alert else version,
        )

    async def _told(
        self, round_: Round, sections: Iterable[Section]
    ) -> dict[tuple[str, str], Section]:
        """Tell of changes nobody was told of yet; those sections, told."""
        # `alerted` lags `version` until the text was delivered
        untold = [
            s
            for s in sections
            if s.alerted < s.version and s.key in round_.infos and s.data is not None
        ]
        tell = [s for s in untold if round_.infos[s.key].alert]
        await asyncio.gather(*(self._alert(round_.user, s) for s in tell))
        return {s.key: replace(s, alerted=s.version) for s in untold}

    async def _alert(self, user: User, section: Section) -> None:
        """Have the alert tool told of the stored change, and its text delivered. Repeatable: the
        event's id is made of the section and its version, so the user hears of it once."""
        app_id, name = section.key
        change = {"old": section.previous or {}, "new": section.data or {}}
        request = CallRequest("alert", user_dict(user), app_id, name, change, deadline_s=ALERT_S)
        outcome = await self._dispatch.call(replace(request, correlation_id=correlation_id()))
        text = str(outcome.data["text"]) if outcome.ok else ""
        if text:
            data = {"app_id": app_id, "section": name, "text": one_line(text, MAX_ALERT)}
            # sorts by time like every event id, and is the same for the same change
            milliseconds = int((section.refreshed_at or 0) * 1000)
            event_id = f"{milliseconds:012x}7{digest(app_id, name, section.version)[:19]}"
            await self._events.emit(UserKey.of(user), "alert", data, event_id=event_id)

    def _is_slow(self, round_: Round, section: Section, info: SectionInfo) -> bool:
        """Whether the section waits longer because its user is away."""
        if not self._absent_after_s or info.alert or info.ttl >= SLOW_S:
            return False
        if self._is_asked_for(round_, section):
            return False
        seen_at = round_.lease.state.seen_at
        # who was noted may have been here until a day later
        return seen_at is not None and round_.now - seen_at > self._absent_after_s + SEEN_EVERY_S

    def _seen_at(self, round_: Round) -> float | None:
        """A user nobody has noted yet counts from now on."""
        if not self._absent_after_s or round_.lease.state.seen_at is not None:
            return None
        return round_.now

    def _has(self, state: UserState, app_id: str) -> bool:
        return state.has(app_id, self._installed_by_default(app_id))

    async def _infos(self) -> Infos:
        apps = (await self._dispatch.catalogue()).apps.values()
        return {(app.app_id, s.section): s for app in apps for s in app.sections}


def who_of(user: User) -> dict[str, str]:
    """The user as the due index keeps it: what a refresh needs beyond the key."""
    who = {"role": user.role, "language": user.language, "email": user.email}
    return {name: value for name, value in who.items() if value}
