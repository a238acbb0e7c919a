"""A person's conversations in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ...values import JSONObject, SessionKey, SessionSummary, Turn, UserKey
from ..jsontext import dumps, loads
from ..keys import session_key, turn_key, user_key
from ..paging import Cursor, positive
from ..records import told_row, told_until
from ..transcript_protocol import Place


class MemoryTranscriptStore:
    """`TranscriptStore` in memory."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._turns: dict[str, dict[str, tuple[str, int]]] = defaultdict(dict)
        self._listed: dict[str, dict[str, tuple[SessionSummary, int]]] = defaultdict(dict)

    async def append(self, key: SessionKey, turns: Sequence[Turn], *, seconds: int) -> None:
        with self._lock:
            for turn in turns:
                kept = dumps(told_row(turn)), told_until(turn, seconds)
                self._turns[session_key(key)][turn_key(turn.at, turn.seq)] = kept

    async def read(
        self, key: SessionKey, *, limit: int = 50, before: Place | None = None, now: float
    ) -> tuple[JSONObject, ...]:
        end = turn_key(*before) if before else "turn$"
        with self._lock:
            kept = self._turns[session_key(key)].items()
            rows = [(sk, text) for sk, (text, until) in kept if until > now and sk < end]
        rows.sort(reverse=True)
        return tuple(loads(text) for _, text in reversed(rows[: positive(limit)]))

    async def touch(self, user: UserKey, touched: SessionSummary, *, expires_at: int) -> None:
        with self._lock:
            listed = self._listed[user_key(user)]
            held = listed.get(touched.session_id)
            kept = replace(touched, title=held[0].title) if held else touched
            listed[touched.session_id] = (kept, expires_at)

    async def list(
        self,
        user: UserKey,
        *,
        limit: int = 50,
        cursor: str | None = None,
        title: str = "",
        now: float,
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        tokens = Cursor("sessions", user_key(user), title)
        before = tuple(tokens.read(cursor, 2)) if cursor is not None else None
        with self._lock:
            rows = [
                row
                for row, expires_at in self._listed[user_key(user)].values()
                if expires_at > now and title.casefold() in row.title.casefold()
            ]
        rows.sort(key=_recency, reverse=True)
        rest = [row for row in rows if before is None or _recency(row) < before]
        page = rest[: positive(limit)]
        return tuple(page), tokens.write(*_recency(page[-1])) if len(rest) > limit else None

    async def rename(self, key: SessionKey, title: str) -> SessionSummary | None:
        with self._lock:
            listed = self._listed[user_key(key.user)]
            if key.session_id not in listed:
                return None
            row, expires_at = listed[key.session_id]
            listed[key.session_id] = (replace(row, title=title), expires_at)
            return listed[key.session_id][0]

    async def delete(self, key: SessionKey) -> None:
        with self._lock:
            self._turns.pop(session_key(key), None)
            self._listed[user_key(key.user)].pop(key.session_id, None)


def _recency(row: SessionSummary) -> tuple[str, str]:
    return row.touched_at, row.session_id
