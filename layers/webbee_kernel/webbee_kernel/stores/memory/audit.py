"""Audit records and events in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from heapq import nlargest, nsmallest

from ...values import AuditRecord, Event, UserKey
from ..keys import user_key
from ..paging import positive
from ..records import audit_from, audit_text, event_from, event_text


class MemoryEventStore:
    """`EventStore` in memory."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._events: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
        self.followers: list[Callable[[UserKey, Event], object]] = []
        """Told of each new event, as DynamoDB's stream tells: they return at once."""

    async def append(self, user: UserKey, event: Event, *, expires_at: int) -> bool:
        return self.put(user, event, event_text(event), expires_at)

    def put(self, user: UserKey, event: Event, text: str, expires_at: int) -> bool:
        """`append` for a caller that holds the lock already."""
        with self._lock:
            events = self._events[user_key(user)]
            if event.event_id in events:
                return False
            events[event.event_id] = (text, expires_at)
        for follower in self.followers:
            follower(user, event)
        return True

    async def since(
        self, user: UserKey, last_id: str, *, limit: int = 100, now: float
    ) -> tuple[Event, ...]:
        with self._lock:
            newer = [
                (event_id, text)
                for event_id, (text, expires_at) in self._events[user_key(user)].items()
                if event_id > last_id and expires_at > now
            ]
        return tuple(event_from(text) for _, text in nsmallest(positive(limit), newer))


class MemoryAuditStore:
    """`AuditStore` in memory."""

    def __init__(self, lock: threading.RLock, events: MemoryEventStore) -> None:
        self._lock = lock
        self._events = events
        self._effects: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
        self._calls: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)

    async def begin(
        self, user: UserKey, effect: str, record: AuditRecord, *, expires_at: int, now: float
    ) -> AuditRecord | None:
        text = audit_text(replace(record, status="started"))
        key = user_key(user)
        with self._lock:
            held, until = self._effects[key].get(effect, ("", 0))
            if not held or until <= now:
                self._effects[key][effect] = (text, expires_at)
                return None
            intent = audit_from(held)
            done, until = self._calls[key].get(intent.record_id, ("", 0))
        return audit_from(done) if done and until > now else intent

    async def append(
        self,
        user: UserKey,
        record: AuditRecord,
        *,
        expires_at: int,
        events: tuple[Event, ...] = (),
        events_expire_at: int = 0,
    ) -> None:
        text = audit_text(record)
        told = [(event, event_text(event)) for event in events]
        with self._lock:
            self._calls[user_key(user)].setdefault(record.record_id, (text, expires_at))
            for event, event_json in told:
                self._events.put(user, event, event_json, events_expire_at)

    async def list(
        self, user: UserKey, *, limit: int = 100, before: str = "", now: float
    ) -> tuple[AuditRecord, ...]:
        with self._lock:
            living = [
                (record_id, text)
                for record_id, (text, expires_at) in self._calls[user_key(user)].items()
                if expires_at > now and (not before or record_id < before)
            ]
        newest = nlargest(positive(limit), living)
        return tuple(audit_from(text) for _, text in newest)
