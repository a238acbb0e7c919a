"""The skeleton and installation records in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, replace

from ...values import Installation, Section, UserKey, UserState
from ..jsontext import dumps, loads
from ..keys import installation_key, section_key, shard_of, user_key
from ..paging import Cursor, positive
from ..records import installation_from, installation_text, says_the_same, settled


@dataclass(slots=True)
class _Row:
    section: Section
    asked_at: float | None = None


class MemorySkeletonStore:
    """`SkeletonStore` in memory."""

    def __init__(self, lock: threading.RLock, *, shards: int) -> None:
        self._lock = lock
        self._shards = shards
        self._rows: dict[UserKey, dict[str, _Row]] = defaultdict(dict)
        self._installations: dict[UserKey, dict[str, str]] = defaultdict(dict)
        self._seen: dict[UserKey, float] = {}

    async def read(self, user: UserKey) -> UserState:
        user_key(user)
        with self._lock:
            rows = [row.section for _, row in sorted(self._rows[user].items())]
            installations = [text for _, text in sorted(self._installations[user].items())]
            seen_at = self._seen.get(user)
        return UserState(
            tuple(map(_copy, rows)), tuple(map(installation_from, installations)), seen_at
        )

    async def get(self, user: UserKey, app_id: str, section: str) -> Section | None:
        with self._lock:
            row = self._row(user, app_id, section)
            return _copy(row.section) if row else None

    async def register(self, user: UserKey, section: Section) -> None:
        key, copy = section_key(section.app_id, section.section), _copy(section)
        user_key(user)
        with self._lock:
            self._rows[user].setdefault(key, _Row(copy))

    async def request_refresh(
        self, user: UserKey, app_id: str, section: str, due_at: float
    ) -> bool:
        with self._lock:
            row = self._row(user, app_id, section)
            if row is None:
                return False
            held = row.section
            if held.due_at is None or held.due_at > due_at or held.lease_until > due_at:
                row.section = replace(held, due_at=due_at)
                row.asked_at = due_at
            return True

    async def lease(
        self, user: UserKey, app_id: str, section: str, *, now: float, until: float
    ) -> Section | None:
        with self._lock:
            row = self._row(user, app_id, section)
            if row is None or row.section.lease_until > now:
                return None
            row.section = replace(row.section, lease_until=until)
            row.asked_at = None
            return _copy(row.section)

    async def save(self, user: UserKey, section: Section, *, lease: float) -> bool:
        copy = _copy(section)
        with self._lock:
            row = self._row(user, section.app_id, section.section)
            if row is None or row.section.lease_until != lease:
                return False
            row.section = settled(copy, row.asked_at, row.section.alerted)
            row.asked_at = None
            return True

    async def mark_alerted(self, user: UserKey, app_id: str, section: str, version: int) -> None:
        with self._lock:
            row = self._row(user, app_id, section)
            if row is not None and row.section.alerted < version:
                row.section = replace(row.section, alerted=version)

    async def due(
        self, shard: int, before: float, *, limit: int = 500, cursor: str | None = None
    ) -> tuple[tuple[tuple[UserKey, Section], ...], str | None]:
        tokens = Cursor("due", shard)
        last = tuple(tokens.read(cursor, 3)) if cursor is not None else None
        with self._lock:
            found = sorted(
                (row.section.due_at, user_key(user), key, user, row.section)
                for user, rows in self._rows.items()
                if shard_of(user, self._shards) == shard
                for key, row in rows.items()
                if row.section.due_at is not None and row.section.due_at < before
            )
        rest = [entry for entry in found if last is None or entry[:3] > last]
        page = rest[: positive(limit)]
        due = tuple((user, _outline(section)) for *_, user, section in page)
        return due, tokens.write(*page[-1][:3]) if len(rest) > limit else None

    async def put_installation(
        self, user: UserKey, installation: Installation
    ) -> Installation | None:
        key = installation_key(installation.app_id)
        user_key(user)
        with self._lock:
            text = self._installations[user].get(key)
            before = installation_from(text) if text is not None else None
            if before is None or not says_the_same(before, installation):
                self._installations[user][key] = installation_text(installation)
            return before

    async def mark_seen(self, user: UserKey, at: float) -> None:
        user_key(user)
        with self._lock:
            self._seen[user] = at

    async def seen(self, user: UserKey) -> float | None:
        user_key(user)
        with self._lock:
            return self._seen.get(user)

    async def purge(self, user: UserKey, app_id: str) -> int:
        with self._lock:
            rows = self._rows[user]
            gone = [key for key, row in rows.items() if row.section.app_id == app_id]
            for key in gone:
                del rows[key]
            return len(gone)

    def _row(self, user: UserKey, app_id: str, section: str) -> _Row | None:
        user_key(user)
        return self._rows[user].get(section_key(app_id, section))


def _copy(section: Section) -> Section:
    data, previous, user = loads(dumps([section.data, section.previous, section.user]))
    return replace(section, data=data, previous=previous, user=user)


def _outline(section: Section) -> Section:
    return Section(
        section.app_id,
        section.section,
        due_at=section.due_at,
        ttl=section.ttl,
        user=loads(dumps(section.user)),
    )
