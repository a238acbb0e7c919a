"""The transcript archive: the turns that a user may read again, and the session list.

The last five turns of a transcript are read from the session's ring. Before the ring overwrites a
turn, it is archived together with all later ones, so that five turns cost one write.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from ..clock import iso, parse_iso
from ..config import Settings
from ..errors import KernelError
from ..types import JSONObject, SessionKey
from . import Stores
from .codec import QUESTION_GRACE_S, transcript_row
from .item_keys import session_key
from .paging import KEY, Cursor
from .types import RING_SIZE, SessionMemory, SessionSummary, Turn, TurnPlace

if TYPE_CHECKING:
    from .dynamodb.transcripts import TranscriptStore

Details = Callable[[Turn], list[JSONObject]]

DAY_S, HOUR_S = 86_400, 3_600
PATIENCE_S = 5.0
"""Seconds for archiving what a turn overwrites, in parallel with the model."""
MAX_TURNS = 50
"""Turns of a session that the inspector searches."""
MAX_SESSIONS = 20
"""Other sessions that it searches."""
TITLE_CHARACTERS = 80
"""Of a session's first message, on one line, under which it is listed."""
SPARE_DAYS = RING_SIZE
"""Days by which a session's row outlives its turns: it is updated every fifth turn only."""

_log = logging.getLogger("webbee.transcript")


class Transcript:
    """Lists sessions and keeps their turns: `days` after a turn it is gone; 0 keeps none."""

    def __init__(self, store: TranscriptStore, settings: Settings, details: Details) -> None:
        """`details` gives the results of a turn's calls that memory still has."""
        self._store = store
        self._details = details
        self._days = settings.transcript_days
        self._listed_days = settings.ring_days + SPARE_DAYS

    async def touch(self, key: SessionKey, memory: SessionMemory, message: str, now: float) -> None:
        """Update the session's row before its turn is recorded, so that every turn is listed. One
        write: for the first turn, after a day's pause, and in a new hour for turns 6, 11, 16 …"""
        seq = memory.last_seq + 1
        ring = [parse_iso(t.at) for t in memory.ring]
        fifth = seq % RING_SIZE == 1
        is_recent = bool(ring) and now - ring[-1] < DAY_S
        if is_recent and not (fifth and ring[0] // HOUR_S != now // HOUR_S):
            return
        # cut before it is split: a message may be a whole document
        title = " ".join(message[: TITLE_CHARACTERS * 4].split())[:TITLE_CHARACTERS]
        summary = SessionSummary(key.session_id, title, iso(now), seq)
        await self._store.touch(key.user, summary, expires_at=int(now) + self._listed_days * DAY_S)

    async def archive(self, key: SessionKey, memory: SessionMemory, now: float) -> int:
        """Archive what the next turn overwrites; the sequence number of the last archived turn. One
        write for every fifth turn. On failure it is logged and tried again with the next turn, and
        one turn is missing in the transcript."""
        archived_seq = memory.archived_seq
        turns = _unarchived(memory, now) if self._days else []
        if not turns:
            return archived_seq
        rows = []
        for turn in turns:
            found = self._details(turn)
            response = {**turn.response, **({"details": found} if any(found) else {})}
            rows.append(replace(turn, response=response))
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._store.append(key, rows, seconds=self._days * DAY_S)
        except (KernelError, TimeoutError) as error:
            _log.error("error=%s | a turn is missing in its transcript", type(error).__name__)
            return archived_seq
        return turns[-1].seq


async def conversation(
    stores: Stores, key: SessionKey, *, limit: int, cursor: str | None = None, now: float
) -> tuple[list[JSONObject], str | None, SessionMemory]:
    """A session's newest turns, or with `cursor` those before them, oldest first, and the cursor of
    the page before; with the memory that holds the last of them."""
    tokens = Cursor("turns", session_key(key))
    before: TurnPlace | None = None
    if cursor is not None:
        at, seq = tokens.read(cursor, KEY, int)
        before = at, seq
    memory, archived = await asyncio.gather(
        stores.sessions.read(key, now=now),
        # one more tells whether there is a page before
        stores.transcripts.read(key, limit=limit + 1, before=before, now=now),
    )
    rows = {(str(row["at"]), int(row["turn"])): row for row in archived}
    # memory over archive: an answer to its card may have changed a turn since
    rows |= {(t.at, t.seq): transcript_row(t) for t in memory.ring}
    places = sorted(place for place in rows if before is None or place < before)
    shown = places[-limit:]
    more = tokens.write(*shown[0]) if len(places) > limit else None
    return [rows[place] for place in shown], more, memory


async def dropped_turns(
    stores: Stores, key: SessionKey, memory: SessionMemory, *, now: float
) -> list[JSONObject]:
    """The newest archived turns of a session that are no longer in memory."""
    rows, _, _ = await conversation(stores, key, limit=MAX_TURNS, now=now)
    kept = {(t.at, t.seq) for t in memory.turns}
    return [row for row in rows if (row["at"], row["turn"]) not in kept]


async def other_sessions(
    stores: Stores, key: SessionKey, *, now: float
) -> dict[SessionSummary, list[JSONObject]]:
    """The newest turns of the user's other recent sessions, by session, with results of calls."""
    listed, _ = await stores.transcripts.list(key.user, limit=MAX_SESSIONS, now=now)
    others = [s for s in listed if s.session_id != key.session_id]
    keys = [SessionKey(key.user, s.session_id) for s in others]
    read = await asyncio.gather(*(conversation(stores, k, limit=MAX_TURNS, now=now) for k in keys))
    found = {}
    for session, (rows, _, memory) in zip(others, read, strict=True):
        facts = {t.seq: [d.data_facts_json for d in t.digests] for t in memory.ring}
        found[session] = [{"details": facts.get(row["turn"]), **row} for row in rows]
    return found


def _unarchived(memory: SessionMemory, now: float) -> list[Turn]:
    """The turns to archive before the next one is written: none if the overwritten one is archived,
    else that one and the later ones up to the first that may still change."""
    overwritten = memory.last_seq + 1 - RING_SIZE
    if overwritten < 1:
        return []
    archived_seq = memory.archived_seq
    turns = [t for t in memory.ring if t.seq > archived_seq]
    if not turns or turns[0].seq > overwritten:
        return []
    # until then an answer to one of its confirmations may still be added
    ends = (max((q.expires_at + QUESTION_GRACE_S for q in t.waiting), default=now) for t in turns)
    closed = next((i for i, end in enumerate(ends) if end > now), len(turns))
    # the overwritten one is archived even with an open confirmation
    return turns[: max(closed, 1)]
