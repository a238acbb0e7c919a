"""The skeleton, users' timers and installation records in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ...values import (
    DueUser,
    Installation,
    Lease,
    Saved,
    Section,
    ShardMark,
    UserKey,
    UserState,
)
from ..jsontext import dumps, loads
from ..keys import installation_key, section_key, shard_of, user_key
from ..paging import Cursor, positive
from ..records import installation_from, installation_text, says_the_same
from ..timers import (
    NO_SECTIONS,
    Snapshot,
    added,
    book_from,
    book_text,
    earliest,
    pictured,
    reconciled,
)


@dataclass(slots=True)
class _Timer:
    book: str = NO_SECTIONS
    due_at: float | None = None
    lease_until: float = 0.0
    seen_at: float | None = None
    who: str = "{}"
    asked: set[tuple[str, str]] = field(default_factory=set)

    def put(self, sections: Collection[Section]) -> None:
        self.book, self.due_at = book_text(sections), earliest(sections)


class MemorySkeletonStore:
    """`SkeletonStore` in memory."""

    def __init__(self, lock: threading.RLock, *, shards: int) -> None:
        self._lock = lock
        self._shards = shards
        self._timers: dict[UserKey, _Timer] = {}
        self._data: dict[UserKey, dict[tuple[str, str], str]] = defaultdict(dict)
        self._installations: dict[UserKey, dict[str, str]] = defaultdict(dict)
        self._marks: dict[int, ShardMark] = {}
        self._tenants: set[str] = set()

    async def read(self, user: UserKey) -> UserState:
        return self._state(user, previous=False)

    async def get(self, user: UserKey, app_id: str, section: str) -> Section | None:
        section_key(app_id, section)
        found = self._state(user, previous=False).sections
        return next((s for s in found if s.key == (app_id, section)), None)

    async def register(
        self, user: UserKey, sections: Iterable[Section], *, who: Mapping[str, Any]
    ) -> bool:
        with self._lock:
            timer = self._timer(user)
            book = added(book_from(timer.book), sections)
            if book is None:
                return False
            timer.put(book.values())
            timer.who = dumps(dict(who))
            return True

    async def lease(
        self, user: UserKey, *, now: float, until: float, due_by: float | None = None
    ) -> Lease | None:
        with self._lock:
            timer = self._timers.get(user)
            if timer is None or timer.lease_until > now:
                return None
            if due_by is not None and (timer.due_at is None or timer.due_at > due_by):
                return None
            timer.lease_until = until
            state = self._state(user, previous=True)
            return Lease(until, state, frozenset(timer.asked), timer.book)

    async def ask(self, user: UserKey, sections: Iterable[tuple[str, str]], *, now: float) -> bool:
        with self._lock:
            timer = self._timers.get(user)
            if timer is None or timer.lease_until <= now:
                return False
            timer.asked |= set(sections)
            return True

    async def write(self, user: UserKey, sections: Iterable[Section], *, lease: Lease) -> bool:
        with self._lock:
            timer = self._timers.get(user)
            if timer is None or timer.lease_until != lease.until:
                return False
            book, before = book_from(timer.book), {s.key for s in lease.state.sections}
            for section in sections:
                if section.key in book or section.key not in before:
                    text = dumps(
                        [section.data, section.version, section.refreshed_at, section.previous]
                    )
                    self._data[user][section.key] = text
            return True

    async def save(
        self,
        user: UserKey,
        sections: Iterable[Section],
        *,
        lease: Lease,
        now: float,
        seen_at: float | None = None,
        who: Mapping[str, Any] | None = None,
    ) -> Saved | None:
        with self._lock:
            timer = self._timers.get(user)
            if timer is None or timer.lease_until != lease.until:
                return None
            timer.asked -= lease.asked
            timer.put(reconciled(sections, lease, book_from(timer.book)).values())
            timer.lease_until = 0.0
            timer.seen_at = timer.seen_at if seen_at is None else seen_at
            timer.who = timer.who if who is None else dumps(dict(who))
            if timer.asked:
                timer.due_at = now
            return Saved(timer.due_at)

    async def due(
        self,
        shard: int,
        before: float,
        *,
        since: float = 0.0,
        limit: int = 500,
        cursor: str | None = None,
    ) -> tuple[tuple[tuple[UserKey, DueUser], ...], str | None]:
        tokens = Cursor("due", shard)
        last = tuple(tokens.read(cursor, 2)) if cursor is not None else None
        found = self._entries(shard, since, before)
        rest = [entry for entry in found if last is None or entry[:2] > last]
        page = rest[: positive(limit)]
        users = tuple((user, DueUser(loads(who), at)) for at, _, user, who in page)
        return users, tokens.write(*page[-1][:2]) if len(rest) > limit else None

    async def begin_shard(self, shard: int, *, now: float, until: float) -> ShardMark | None:
        with self._lock:
            mark = self._marks.get(shard, ShardMark())
            if mark.lease > now:
                return None
            self._marks[shard] = replace(mark, lease=until)
            return self._marks[shard]

    async def move_shard(self, shard: int, mark: ShardMark, *, done: bool = False) -> bool:
        with self._lock:
            if self._marks.get(shard, ShardMark()).lease != mark.lease:
                return False
            self._marks[shard] = replace(mark, lease=0.0) if done else mark
            return True

    async def queued_until(self, user: UserKey) -> float:
        with self._lock:
            return self._marks.get(shard_of(user, self._shards), ShardMark()).queued_until

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
            if installation.installed:
                self._tenants.add(user.tenant_id)
            return before

    async def mark_seen(self, user: UserKey, at: float) -> None:
        with self._lock:
            self._timer(user).seen_at = at

    async def know(self, tenant_id: str) -> None:
        with self._lock:
            self._tenants.add(tenant_id)

    async def tenants(self, app_id: str = "") -> tuple[str, ...]:
        with self._lock:
            if not app_id:
                return tuple(sorted(self._tenants))
            having = {
                user.tenant_id
                for user, records in self._installations.items()
                for text in records.values()
                if (found := installation_from(text)).app_id == app_id and found.installed
            }
            return tuple(sorted(having))

    async def purge(self, user: UserKey, app_id: str) -> int:
        with self._lock:
            timer = self._timer(user)
            book = book_from(timer.book)
            gone = [key for key in book if key[0] == app_id]
            if gone:
                timer.put([s for key, s in book.items() if key not in gone])
            for key in [key for key in self._data[user] if key[0] == app_id]:
                del self._data[user][key]
            return len(gone)

    def _entries(
        self, shard: int, since: float, before: float
    ) -> list[tuple[float, str, UserKey, str]]:
        """The shard's part of the due index, earliest first."""
        with self._lock:
            return sorted(
                (timer.due_at, user_key(user), user, timer.who)
                for user, timer in self._timers.items()
                if timer.due_at is not None
                and since <= timer.due_at < before
                and shard_of(user, self._shards) == shard
            )

    def _timer(self, user: UserKey) -> _Timer:
        user_key(user)
        return self._timers.setdefault(user, _Timer())

    def _state(self, user: UserKey, *, previous: bool) -> UserState:
        user_key(user)
        with self._lock:
            timer = self._timers.get(user) or _Timer()
            data = dict(self._data[user])
            installations = [text for _, text in sorted(self._installations[user].items())]
        sections = [
            pictured(entry, _snapshot(data.get(key), previous), timer.lease_until)
            for key, entry in sorted(book_from(timer.book).items())
        ]
        return UserState(
            tuple(sections), tuple(map(installation_from, installations)), timer.seen_at
        )


def _snapshot(text: str | None, previous: bool) -> Snapshot | None:
    if text is None:
        return None
    data, version, refreshed_at, before = loads(text)
    return Snapshot(data, version, refreshed_at, before if previous else None)
