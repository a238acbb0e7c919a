"""Audit records and events in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict
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

    async def append(self, user: UserKey, event: Event, *, expires_at: int) -> bool:
        return self.put(user, event, event_text(event), expires_at)

    def put(self, user: UserKey, event: Event, text: str, expires_at: int) -> bool:
        """`append` for a caller that holds the lock already."""
        with self._lock:
            events = self._events[user_key(user)]
            if event.event_id in events:
                return False
            events[event.event_id] = (text, expires_at)
            return True

    async def since(
        self, user: UserKey, last_id: str, *, limit: int = 100, now: float = 0.0
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
        self._effects: dict[str, dict[str, str]] = defaultdict(dict)
        self._calls: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)

    async def begin(
        self, user: UserKey, effect: str, record: AuditRecord, *, expires_at: int
    ) -> AuditRecord | None:
        text = audit_text(replace(record, status="started"))
        key = user_key(user)
        with self._lock:
            held = self._effects[key].setdefault(effect, text)
            if held is text:
                return None
            intent = audit_from(held)
            done = self._calls[key].get(intent.record_id)
        return audit_from(done[0]) if done else intent

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
        self, user: UserKey, *, limit: int = 100, now: float = 0.0
    ) -> tuple[AuditRecord, ...]:
        with self._lock:
            living = [
                (record_id, text)
                for record_id, (text, expires_at) in self._calls[user_key(user)].items()
                if expires_at > now
            ]
        newest = nlargest(positive(limit), living)
        return tuple(audit_from(text) for _, text in newest)
