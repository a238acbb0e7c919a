"""Refreshing one user: all due sections under one lease, with one save."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from ..catalogue import Dispatch, SectionInfo
from ..channels.skeleton import snapshots
from ..clock import Clock, digest
from ..config import Settings
from ..errors import DispatchRefused, DispatchUnanswered
from ..observability import correlation_id, measure
from ..sdk.result import User
from ..stores import EventLog
from ..stores.types import Lease, Section, UserState
from ..text import one_line
from ..types import CallRequest, JSONObject, UserKey, user_dict, user_from
from .refresh_queue import (
    BACKOFF_S,
    NEW,
    PRESENCE_S,
    PUNCTUAL_S,
    SLOW_S,
    RefreshItem,
    RefreshRequest,
    UserDue,
    is_due,
    ttl_due_at,
)

if TYPE_CHECKING:
    from ..stores.dynamodb.skeletons import SkeletonStore

SECTIONS_S = 52.0
"""Seconds for all handlers of one user together."""
ALONE_S = 5.0
"""Seconds of them that are left for each app that is called alone."""

Results = Mapping[tuple[str, str], JSONObject]
"""By app and section `{"data": …}` or `{"code", "error"}`."""

_log = logging.getLogger("webbee.refresh")


def _failure(code: str, error: str) -> JSONObject:
    return {"code": code, "error": error}


LEASE_S = 120.0
"""Seconds until a lease expires: all handlers, all alert tools, and a margin."""
ALERT_S = 25.0
"""Seconds an alert tool may take."""
MAX_ALERT = 1_000
"""Characters of an alert; a longer one is cut."""
_TRIES = 3

Infos = Mapping[tuple[str, str], SectionInfo]


class RefreshResult(NamedTuple):
    """The result of a message: saved, failed, skipped, busy, carried or gone; and the user's next
    due time where it was saved."""

    outcome: str
    due_at: float | None = None


@dataclass(frozen=True, slots=True)
class UserRefresh:
    """The inputs of one refresh of a user; `infos` are of the apps that the user has."""

    user: User
    lease: Lease
    infos: Infos
    now: float
    wanted: Sequence[RefreshItem] = ()

    @property
    def key(self) -> UserKey:
        """Whose timer it is."""
        return UserKey.of(self.user)


class UserRefresher:
    """Runs the handlers of due sections, saves their data and delivers alerts."""

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

    async def due(self, message: UserDue) -> RefreshResult:
        """Refresh what is due; `skipped` where nothing is or another consumer has the lease."""
        user, now = user_from(message.user), self._clock.now()
        # of two deliveries at once one gets it
        lease = await self._store.lease(
            UserKey.of(user), now=now, until=now + LEASE_S, due_by=now + PUNCTUAL_S
        )
        if lease is None:
            return RefreshResult("skipped")
        return await self._refresh(user, lease, await self._infos(), now)

    async def requested(self, message: RefreshRequest) -> RefreshResult:
        """Refresh what was requested and what is due. `carried` where another consumer refreshes
        the user: it is done by them or right after."""
        infos = await self._infos()
        # a section may have gone with a deployment
        items = tuple(w for w in message.wanted if w[:2] in infos)
        if not items:
            return RefreshResult("gone")
        user = user_from(message.user)
        key = UserKey.of(user)
        for _ in range(_TRIES):
            now = self._clock.now()
            if lease := await self._store.lease(key, now=now, until=now + LEASE_S):
                return await self._refresh(user, lease, infos, now, items)
            # the holder of the lease sees the request when it saves
            if await self._store.ask(key, [w[:2] for w in items], now=now):
                return RefreshResult("carried")
            if not await self._register(user, items, infos):
                return RefreshResult("gone")  # asked for before the user left, or was erased
        return RefreshResult("busy")

    async def _register(self, user: User, items: Iterable[RefreshItem], infos: Infos) -> bool:
        """Create a timer for a user without one, for `NEW` items only; whether any app is
        installed."""
        state = await self._store.read(UserKey.of(user))
        sections = [
            Section(*w[:2], ttl=infos[w[:2]].ttl, due_at=self._clock.now())
            for w in items
            if w.reason == NEW and self._has(state, w.app_id)
        ]
        if sections:
            await self._store.register(UserKey.of(user), sections, who=user_fields(user))
        return bool(sections)

    async def _refresh(
        self, user: User, lease: Lease, infos: Infos, now: float, wanted: Sequence[RefreshItem] = ()
    ) -> RefreshResult:
        """Deliver old alerts, run handlers, write data, deliver alerts, and save the bookkeeping
        last."""
        own = {key: info for key, info in infos.items() if self._has(lease.state, key[0])}
        refresh = UserRefresh(user, lease, own, now, wanted)
        before = self._sections(refresh)
        # a crash after the last save may have left an alert undelivered
        current = {**before, **await self._deliver_alerts(refresh, before.values())}
        after = await self._run(refresh, current, before.values())
        if not after:
            return await self._save(refresh, current, "skipped")
        changed = [s for key, s in after.items() if s.version != current[key].version]
        # data first: an alert's `old` is read from the store, so it survives a crash
        if changed and not await self._store.write(refresh.key, changed, lease=refresh.lease):
            return RefreshResult("busy")
        after |= await self._deliver_alerts(refresh, after.values())
        outcome = "saved" if any(not s.failures for s in after.values()) else "failed"
        return await self._save(refresh, {**current, **after}, outcome)

    async def _removed(
        self, refresh: UserRefresh, stored: Mapping[tuple[str, str], Section]
    ) -> dict[tuple[str, str], Section]:
        """The sections that their app, which is loaded, no longer registers, or that the user has
        no more, without their data."""
        apps = (await self._dispatch.catalogue()).apps
        return {
            key: replace(s, data=None, version=s.version + 1, previous=None)
            for key, s in stored.items()
            if s.data is not None and key not in refresh.infos
            if s.app_id in apps and not apps[s.app_id].error
        }

    async def _run(
        self,
        refresh: UserRefresh,
        current: Mapping[tuple[str, str], Section],
        stored: Collection[Section],
    ) -> dict[tuple[str, str], Section]:
        """Run the handlers of sections that are due or requested; these after that, and those that
        are no longer registered."""
        sections = current.values()
        due = [s for s in sections if is_due(s, refresh.now) or self._is_requested(refresh, s)]
        for section in due:
            measure("RefreshLagSeconds", round(max(0.0, refresh.now - (section.due_at or 0.0)), 1))
        results = await self._results(refresh.user, due, stored) if due else {}
        after = {s.key: self._after(refresh, s, results[s.key]) for s in due}
        return {**await self._removed(refresh, current), **after}

    async def _results(
        self, user: User, due: Sequence[Section], stored: Collection[Section]
    ) -> Results:
        """The result of every due section's handler, by one call. Apps that failed the last time
        are called alone, behind the others: one that ends its process fails no other."""
        failing = sorted({s.app_id for s in due if s.failures})
        groups = [[s for s in due if s.app_id not in failing]]
        groups += [[s for s in due if s.app_id == app_id] for app_id in failing]
        results, until = dict[tuple[str, str], JSONObject](), time.monotonic() + SECTIONS_S
        for behind, group in zip(reversed(range(len(groups))), groups, strict=True):
            left = until - time.monotonic()
            seconds = max(left - behind * ALONE_S, left / (behind + 1))
            results |= await self._call(user, group, stored, seconds) if group else {}
        return results

    async def _call(
        self, user: User, due: Sequence[Section], stored: Collection[Section], seconds: float
    ) -> Results:
        """The results of these sections' handlers, which may read their own app's snapshots. A
        missing result is a failure of that section."""
        apps: dict[str, list[str]] = {}
        for section in due:
            apps.setdefault(section.app_id, []).append(section.section)
        by_app = {app: snapshots(s for s in stored if s.app_id == app) for app in apps}
        arguments = {"sections": apps, "snapshots": by_app}
        request = CallRequest("skeletons", user_dict(user), "", "skeletons", arguments)
        try:
            outcome = await self._dispatch.call(
                replace(request, deadline_s=seconds, correlation_id=correlation_id())
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
        self, refresh: UserRefresh, sections: Mapping[tuple[str, str], Section], outcome: str
    ) -> RefreshResult:
        # presence from here on, for a user who was there before it was recorded
        is_new = self._absent_after_s and refresh.lease.state.seen_at is None
        saved = await self._store.save(
            refresh.key,
            sections.values(),
            lease=refresh.lease,
            now=self._clock.now(),
            seen_at=refresh.now if is_new else None,
            who=user_fields(refresh.user) if refresh.wanted else None,
        )
        return RefreshResult("busy") if saved is None else RefreshResult(outcome, saved.due_at)

    def _sections(self, refresh: UserRefresh) -> dict[tuple[str, str], Section]:
        """Sections of the timer and new requested ones. One without its extension, or uninstalled,
        gets no due time."""
        infos, keys = refresh.infos, (w[:2] for w in refresh.wanted)
        new = {key: Section(*key, due_at=refresh.now) for key in keys if key in infos}
        stored = {**new, **{s.key: s for s in refresh.lease.state.sections}}
        return {
            key: replace(s, ttl=infos[key].ttl) if key in infos else replace(s, due_at=None)
            for key, s in stored.items()
        }

    def _is_requested(self, refresh: UserRefresh, section: Section) -> bool:
        """Whether it was requested and is still needed: always after an effect, a stale one only if
        not refreshed since."""
        if section.key not in refresh.infos:
            return False
        if section.key in refresh.lease.requested:
            return True
        # the reason decides whether it is still needed
        reasons = {w.reason for w in refresh.wanted if w[:2] == section.key}
        if "effect" in reasons:
            return True
        by_ttl = replace(section, due_at=ttl_due_at(section, section.ttl, refresh.now))
        return "stale" in reasons and is_due(by_ttl, refresh.now)

    def _after(self, refresh: UserRefresh, section: Section, result: JSONObject) -> Section:
        """The section after its handler ran. A failure keeps the last snapshot and backs off."""
        info, now = refresh.infos[section.key], refresh.now
        min_pause = SLOW_S if self._is_slow(refresh, section, info) else 0
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
                due_at=now + max(pause, min_pause),
            )
        measure("Refreshes")
        data: JSONObject = result["data"]
        saved = replace(
            section,
            refreshed_at=now,
            due_at=now + max(section.ttl, min_pause),
            failures=0,
            last_error="",
        )
        # same data: newer, but no change
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

    async def _deliver_alerts(
        self, refresh: UserRefresh, sections: Iterable[Section]
    ) -> dict[tuple[str, str], Section]:
        """Deliver alerts for changes not yet alerted; those sections, marked as alerted."""
        # `alerted` lags `version` until the text was delivered
        pending = [
            s
            for s in sections
            if s.alerted < s.version and s.key in refresh.infos and s.data is not None
        ]
        done = await asyncio.gather(*(self._alert(refresh, s) for s in pending))
        told = zip(pending, done, strict=True)
        return {s.key: replace(s, alerted=s.version) for s, is_done in told if is_done}

    async def _alert(self, refresh: UserRefresh, section: Section) -> bool:
        """Run the alert tool, if any, on the stored change and emit its text; False where it gave
        no answer: the next refresh asks again. Repeatable: the event's id is derived from section
        and version, so it is emitted once."""
        app_id, name = section.key
        if not refresh.infos[section.key].alert:
            return True
        change = {"old": section.previous or {}, "new": section.data or {}}
        who = user_dict(refresh.user)
        request = CallRequest("alert", who, app_id, name, change, deadline_s=ALERT_S)
        try:
            outcome = await self._dispatch.call(replace(request, correlation_id=correlation_id()))
        except (DispatchUnanswered, DispatchRefused) as error:  # what is beside it is saved
            text = "app=%s section=%s error=%s | no alert yet"
            _log.warning(text, app_id, name, type(error).__name__)
            return False
        text = str(outcome.data["text"]) if outcome.ok else ""
        if text:
            data = {"app_id": app_id, "section": name, "text": one_line(text, MAX_ALERT)}
            # sorts by time like every event id, and is the same for the same change
            milliseconds = int((section.refreshed_at or 0) * 1000)
            event_id = f"{milliseconds:012x}7{digest(app_id, name, section.version)[:19]}"
            await self._events.emit(refresh.key, "alert", data, event_id=event_id)
        return True

    def _is_slow(self, refresh: UserRefresh, section: Section, info: SectionInfo) -> bool:
        """Whether the section is refreshed less often because its user is absent."""
        if not self._absent_after_s or info.alert or info.ttl >= SLOW_S:
            return False
        if self._is_requested(refresh, section):
            return False
        seen_at = refresh.lease.state.seen_at
        # presence is recorded once a day, so it may be a day older
        return seen_at is not None and refresh.now - seen_at > self._absent_after_s + PRESENCE_S

    def _has(self, state: UserState, app_id: str) -> bool:
        return state.has(app_id, self._installed_by_default(app_id))

    async def _infos(self) -> Infos:
        apps = (await self._dispatch.catalogue()).apps.values()
        return {(app.app_id, s.section): s for app in apps for s in app.sections}


def user_fields(user: User) -> dict[str, str]:
    """The user's fields that a refresh needs beyond the key, as stored in the due index."""
    who = {"role": user.role, "language": user.language, "email": user.email}
    return {name: value for name, value in who.items() if value}
