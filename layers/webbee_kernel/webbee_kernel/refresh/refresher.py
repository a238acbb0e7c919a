"""Refresher: keeps sections fresh. Tick → what is due → queue; message → lease → handler → save →
alert."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from ..base.clock import Clock
from ..base.ids import digest
from ..base.logs import correlation_id
from ..base.metrics import record
from ..base.text import one_line
from ..catalogue import SectionInfo
from ..channels.skeleton import snapshots
from ..dispatch import Dispatch
from ..events import EventLog
from ..sdk.context import User
from ..stores.protocols import SkeletonStore
from ..values import (
    CallOutcome,
    CallRequest,
    JSONObject,
    RefreshMessage,
    Section,
    UserKey,
    user_dict,
    user_from,
)
from .asking import BACKOFF_S, SEEN, SEEN_EVERY_S, own_due

TICK_S = 60
SHORTEST_S = 5
"""Seconds between two refreshes of a section at the least, whatever its ttl."""
MAX_DELAY_S = 900  # SQS delays a message by at most 15 minutes
LEASE_S = 60
HANDLER_S = 30
SLOW_S = 6 * 3600
"""Seconds between two refreshes of a section of a user who is away
(docs/decisions/absent-users.md)."""

MAX_ALERT = 1_000
_log = logging.getLogger("webbee.refresh")


class RefreshSender(Protocol):
    """Puts messages on the refresh queue."""

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        """All of them, each with its delay."""
        ...


class Refresher:
    """The refresh loop's two halves: `tick` finds, `refresh` does."""

    def __init__(
        self,
        dispatch: Dispatch,
        sections: SkeletonStore,
        events: EventLog,
        clock: Clock,
        *,
        shards: int = 4,
        installed_by_default: Callable[[str], bool] = lambda _: True,
        absent_after_days: int = 0,
    ) -> None:
        self._dispatch = dispatch
        self._sections = sections
        self._events = events
        self._clock = clock
        self._shards = shards
        self._installed_by_default = installed_by_default
        self._absent_after_s = absent_after_days * 86_400

    async def tick(self, sender: RefreshSender) -> int:
        """Queue everything that falls due before the next tick, each delayed to its second; how
        many. Costs what is due.

        A section with a ttl below a minute is queued as often as it falls due in that minute.
        """
        now = self._clock.now()
        sent = 0
        oldest = now
        for shard in range(self._shards):
            cursor = None
            while True:
                found, cursor = await self._sections.due(shard, now + TICK_S, cursor=cursor)
                oldest = min([oldest, *(s.due_at for _, s in found if s.due_at)])
                messages = [
                    message
                    for user, section in found
                    for message in _due_messages(user, section, now)
                ]
                await sender.send(messages)
                sent += len(messages)
                if cursor is None:
                    break
        record("SectionsQueued", sent)
        record("OldestDueSeconds", round(now - oldest, 1))
        return sent

    async def refresh(self, message: RefreshMessage) -> str:
        """Refresh one section; what came of it: saved, failed, skipped, busy or gone. Of a user to
        be noted: seen.

        Delivered twice, it saves once: a section whose due time has moved on is skipped, one under
        lease is busy.
        """
        user = user_from(message.user)
        key = UserKey.of(user)
        if (message.app_id, message.section) == SEEN:
            await self._sections.mark_seen(key, self._clock.now())
            return "seen"
        definition = await self._definition(message)
        if definition is None:
            return "gone"
        if message.reason != "due":
            if not await self._is_installed(key, message.app_id):
                return "gone"  # asked for before the user left
            fresh = Section(
                message.app_id,
                message.section,
                ttl=definition.ttl,
                due_at=self._clock.now(),
                user=user_dict(replace(user, scopes=())),
            )
            await self._sections.register(key, fresh)
        now = self._clock.now()
        held = await self._sections.lease(
            key, message.app_id, message.section, now=now, until=now + LEASE_S
        )
        if held is None:
            return "busy"
        if held.alerted < held.version:
            await self._alert(user, key, held)
            held = replace(held, alerted=held.version)
        held = replace(held, ttl=definition.ttl)
        if self._is_settled(message, held, now):
            await self._sections.save(key, replace(held, lease_until=0.0), lease=held.lease_until)
            return "skipped"
        slow = message.reason == "due" and await self._is_slow(key, definition, now)
        return await self._refresh(user, key, held, definition.alert, SLOW_S if slow else 0)

    async def _is_slow(self, key: UserKey, definition: SectionInfo, now: float) -> bool:
        """Whether the section waits longer because its user is away. A user nobody has noted yet
        counts from now on.

        One small read, where the setting is on and the section could wait at all.
        """
        if not self._absent_after_s or definition.alert or definition.ttl >= SLOW_S:
            return False
        seen_at = await self._sections.seen(key)
        if seen_at is None:
            await self._sections.mark_seen(key, now)
            return False
        return (
            now - seen_at > self._absent_after_s + SEEN_EVERY_S
        )  # who was noted may have been here until a day later

    async def _refresh(
        self, user: User, key: UserKey, held: Section, alert: bool, at_least: int
    ) -> str:
        """Run the handler, save, alert; due again `at_least` so many seconds later. A failure keeps
        the last good snapshot and backs off."""
        lease = held.lease_until
        started = self._clock.now()
        record("RefreshLagSeconds", round(max(0.0, started - (held.due_at or started)), 1))
        stored = {"snapshots": await self._snapshots(key, held)}
        outcome = await self._call("skeleton", user, held, stored)
        if not outcome.ok:
            _log.warning(
                "app=%s section=%s code=%s | refresh failed, last snapshot kept",
                held.app_id,
                held.section,
                outcome.error_code,
            )
            pause = max(BACKOFF_S[min(held.failures, len(BACKOFF_S) - 1)], at_least)
            failed = replace(
                held,
                failures=held.failures + 1,
                last_error=outcome.error,
                due_at=started + pause,
                lease_until=0.0,
            )
            await self._sections.save(key, failed, lease=lease)
            record("RefreshFailures")
            return "failed"
        data: JSONObject = outcome.data
        changed = data != held.data
        version = held.version + 1 if changed else held.version
        saved = replace(
            held,
            data=data,
            previous=(held.data or {}) if changed else held.previous,
            refreshed_at=started,
            due_at=started + max(held.ttl, at_least),
            failures=0,
            last_error="",
            version=version,
            alerted=held.alerted if alert else version,
            lease_until=0.0,
        )
        if not await self._sections.save(key, saved, lease=lease):
            return "busy"
        record("Refreshes")
        if saved.alerted < saved.version:
            await self._alert(user, key, saved)
        return "saved"

    async def _alert(self, user: User, key: UserKey, section: Section) -> None:
        """Deliver the alert of the stored change, once: the event's id is made of the section and
        its version."""
        change = {"old": section.previous or {}, "new": section.data or {}}
        outcome = await self._call("alert", user, section, change)
        text = str(outcome.data["text"]) if outcome.ok else ""
        if text:
            data = {
                "app_id": section.app_id,
                "section": section.section,
                "text": one_line(text, MAX_ALERT),
            }
            name = _alert_id(section)
            await self._events.emit(key, "alert", data, event_id=name)
        await self._sections.mark_alerted(key, section.app_id, section.section, section.version)

    async def _call(
        self, kind: str, user: User, section: Section, arguments: JSONObject
    ) -> CallOutcome:
        """Extension code for one section; always an outcome, unless the database is gone."""
        return await self._dispatch.call(
            CallRequest(
                kind,
                user_dict(user),
                section.app_id,
                section.section,
                arguments,
                deadline_s=HANDLER_S,
                correlation_id=correlation_id(),
            )
        )

    async def _snapshots(self, key: UserKey, held: Section) -> JSONObject:
        """What the handler may read: its app's sections. The only one of its app costs no read."""
        app = (await self._dispatch.catalogue()).apps[held.app_id]
        if len(app.sections) < 2:
            return snapshots([held])
        others = (await self._sections.read(key)).sections
        mine = [s for s in others if s.app_id == held.app_id and s.section != held.section]
        return snapshots([*mine, held])

    async def _definition(self, message: RefreshMessage) -> SectionInfo | None:
        app = (await self._dispatch.catalogue()).apps.get(message.app_id)
        return (
            next((s for s in app.sections if s.section == message.section), None) if app else None
        )

    async def _is_installed(self, key: UserKey, app_id: str) -> bool:
        return (await self._sections.read(key)).has(app_id, self._installed_by_default(app_id))

    @staticmethod
    def _is_settled(message: RefreshMessage, held: Section, now: float) -> bool:
        """Whether somebody did this already: the section is not due for this reason any more."""
        if message.reason == "effect":
            return False
        early = min(
            5.0, max(0.5, held.ttl / 10)
        )  # a delay of whole seconds and a late start add up within a minute
        if held.due_at is None:
            return False
        return (
            held.due_at
            if message.reason == "due"
            else min(held.due_at, own_due(held, held.ttl, now))
        ) > now + early


def _due_messages(user: UserKey, section: Section, now: float) -> list[RefreshMessage]:
    who = {
        "imperal_id": user.imperal_id,
        "tenant_id": user.tenant_id,
        **{k: v for k, v in section.user.items() if k in ("role", "language", "email")},
    }
    first = max(0.0, (section.due_at or now) - now)
    every = max(section.ttl, SHORTEST_S)
    later = (first + n * every for n in range(1, TICK_S // every + 1))
    delays = [first, *(delay for delay in later if delay < TICK_S)]
    return [
        RefreshMessage(
            who, section.app_id, section.section, "due", now + d, min(MAX_DELAY_S, round(d))
        )
        for d in delays
    ]


def _alert_id(section: Section) -> str:
    """Sorts by time like every event id, and is the same for the same change."""
    milliseconds = int((section.refreshed_at or 0) * 1000)
    return f"{milliseconds:012x}7{digest(section.app_id, section.section, section.version)[:19]}"
