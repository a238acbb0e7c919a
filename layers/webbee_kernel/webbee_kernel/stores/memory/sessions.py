"""Session memory in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict
from dataclasses import dataclass, field

from ...values import PendingConfirmation, SessionKey, SessionMemory, SessionSummary, Turn, UserKey
from ..keys import session_key, user_key
from ..paging import Cursor, positive
from ..records import (
    carries_listing,
    pending_from,
    pending_text,
    slot_of,
    title_of,
    turn_from,
    turn_text,
)


@dataclass(slots=True)
class _Session:
    slots: dict[int, tuple[int, str]] = field(default_factory=dict)
    pending: tuple[str, str] | None = None
    listing: SessionSummary | None = None


class MemorySessionStore:
    """`SessionStore` in memory."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._users: dict[str, dict[str, _Session]] = defaultdict(dict)
        self._asked: dict[tuple[str, str], str] = {}

    async def read(self, key: SessionKey) -> SessionMemory:
        with self._lock:
            session = self._find(key)
            rows, pending = sorted(session.slots.values()), session.pending
        return SessionMemory(
            turns=tuple(turn_from(text) for _, text in rows),
            pending=pending_from(pending[1]) if pending else None,
        )

    async def append(self, key: SessionKey, turn: Turn, *, expires_at: int) -> bool:
        text = turn_text(turn)
        with self._lock:
            session = self._make(key)
            held = session.slots.get(slot_of(turn.seq))
            if held and held[0] >= turn.seq:
                return False
            session.slots[slot_of(turn.seq)] = (turn.seq, text)
            if carries_listing(turn.seq):
                title = session.listing.title if session.listing else title_of(turn.message)
                session.listing = SessionSummary(key.session_id, title, turn.at, turn.seq)
            return True

    async def put_pending(self, key: SessionKey, pending: PendingConfirmation) -> None:
        text = pending_text(pending)
        with self._lock:
            self._make(key).pending = (pending.confirmation_id, text)
            self._asked[user_key(key.user), pending.confirmation_id] = key.session_id

    async def take_pending(
        self, key: SessionKey, confirmation_id: str
    ) -> PendingConfirmation | None:
        with self._lock:
            session = self._find(key)
            if session.pending is None or session.pending[0] != confirmation_id:
                return None
            text = session.pending[1]
            session.pending = None
        return pending_from(text)

    async def find_pending(self, user: UserKey, confirmation_id: str) -> str | None:
        with self._lock:
            return self._asked.get((user_key(user), confirmation_id))

    async def delete(self, key: SessionKey) -> None:
        with self._lock:
            self._users[user_key(key.user)].pop(key.session_id, None)

    async def list(
        self, user: UserKey, *, limit: int = 50, cursor: str | None = None
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        tokens = Cursor("sessions", user_key(user))
        before = tuple(tokens.read(cursor, 2)) if cursor is not None else None
        with self._lock:
            listings = [
                session.listing
                for session in self._users[user_key(user)].values()
                if session.listing
            ]
        listings.sort(key=_recency, reverse=True)
        rest = [summary for summary in listings if before is None or _recency(summary) < before]
        page = rest[: positive(limit)]
        return tuple(page), tokens.write(*_recency(page[-1])) if len(rest) > limit else None

    def _find(self, key: SessionKey) -> _Session:
        session_key(key)
        return self._users[user_key(key.user)].get(key.session_id) or _Session()

    def _make(self, key: SessionKey) -> _Session:
        session_key(key)
        return self._users[user_key(key.user)].setdefault(key.session_id, _Session())


def _recency(summary: SessionSummary) -> tuple[str, str]:
    return summary.touched_at, summary.session_id
