"""The transcript archive: which turns a person may read again, and under which title their
session is listed.

The ring of a session is the end of its transcript: the last five turns are read from there. What
the ring is about to overwrite is archived first, and with it all that came after, so that five
turns cost one write, beside the turn that needs the slot.
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
from .codec import KEPT_S, told_row
from .item_keys import session_key
from .paging import KEY, Cursor
from .protocols import Stores
from .types import RING_SIZE, Place, SessionMemory, SessionSummary, Turn

if TYPE_CHECKING:
    from .dynamodb.transcripts import TranscriptStore

Details = Callable[[Turn], list[JSONObject]]

DAY_S, HOUR_S = 86_400, 3_600
PATIENCE_S = 5.0
"""Seconds from a turn's beginning in which what it overwrites has to be archived: as long as models
take to answer, so that a reply seldom waits for it, and a busy process loses nothing."""
SEARCHED = 50
"""Turns of a session in which the inspector looks for a value."""
OTHERS = 20
"""Other sessions in which it looks."""
TITLE_CHARACTERS = 80
"""Of a session's first message, on one line, under which it is listed."""
SPARE_DAYS = RING_SIZE
"""Days by which a session's row outlives what it leads to: turns less than a day apart touch it
every fifth time only."""

_log = logging.getLogger("webbee.transcript")


class Transcript:
    """Lists sessions and keeps their turns: `days` after a turn it is gone; 0 keeps none."""

    def __init__(self, store: TranscriptStore, settings: Settings, details: Details) -> None:
        """`details` tells what memory has of each of a turn's calls, before memory loses it."""
        self._store = store
        self._details = details
        self._days = settings.transcript_days
        self._listed_days = settings.ring_days + SPARE_DAYS

    async def touch(self, key: SessionKey, memory: SessionMemory, message: str, now: float) -> None:
        """List the session before its turn is recorded: nothing a person said is ever where the
        list does not lead. One write, for the first turn, and after a day's pause or in a new hour
        for turns 6, 11, 16 …"""
        seq = memory.last_seq + 1
        ring = [parse_iso(t.at) for t in memory.ring]
        fifth = seq % RING_SIZE == 1
        if ring and now - ring[-1] < DAY_S and not (fifth and _hour(ring[0]) != _hour(now)):
            return
        # cut before it is split: a message may be a whole document
        title = " ".join(message[: TITLE_CHARACTERS * 4].split())[:TITLE_CHARACTERS]
        touched = SessionSummary(key.session_id, title, iso(now), seq)
        await self._store.touch(key.user, touched, expires_at=int(now) + self._listed_days * DAY_S)

    def owes(self, memory: SessionMemory, now: float) -> bool:
        """Whether the next turn overwrites what is not archived."""
        return bool(self._days and _untold(memory, now))

    async def archive(self, key: SessionKey, memory: SessionMemory, now: float) -> int:
        """Archive what the next turn overwrites; the last turn that the transcript holds then. One
        write, for every fifth turn. What cannot be archived in time costs a log line and is tried
        again with the next turn, when one turn of it is lost to the person; the model's memory
        has had it."""
        told = memory.told
        turns = _untold(memory, now) if self._days else []
        if not turns:
            return told
        whole = []
        for turn in turns:
            found = self._details(turn)
            response = {**turn.response, **({"details": found} if any(found) else {})}
            whole.append(replace(turn, response=response))
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._store.append(key, whole, seconds=self._days * DAY_S)
        except (KernelError, TimeoutError) as error:
            _log.error("error=%s | a turn is missing in its transcript", type(error).__name__)
            return told
        return turns[-1].seq


async def conversation(
    stores: Stores, key: SessionKey, *, limit: int, cursor: str | None = None, now: float
) -> tuple[list[JSONObject], str | None, SessionMemory]:
    """A session's newest turns, or with `cursor` those before them, oldest first, and the cursor of
    the page before; with the memory that holds the last of them."""
    tokens = Cursor("turns", session_key(key))
    before: Place | None = None
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
    rows |= {(t.at, t.seq): told_row(t) for t in memory.ring}
    places = sorted(place for place in rows if before is None or place < before)
    shown = places[-limit:]
    more = tokens.write(*shown[0]) if len(places) > limit else None
    return [rows[place] for place in shown], more, memory


async def forgotten(
    stores: Stores, key: SessionKey, memory: SessionMemory, *, now: float
) -> list[JSONObject]:
    """The newest turns of a session that its user may read again and memory has lost."""
    rows, _, _ = await conversation(stores, key, limit=SEARCHED, now=now)
    kept = {(t.at, t.seq) for t in memory.turns}
    return [row for row in rows if (row["at"], row["turn"]) not in kept]


async def elsewhere(
    stores: Stores, key: SessionKey, *, now: float
) -> dict[SessionSummary, list[JSONObject]]:
    """The newest turns of the same user's other sessions, by session: those that were touched
    last, with what calls brought."""
    listed, _ = await stores.transcripts.list(key.user, limit=OTHERS, now=now)
    others = [s for s in listed if s.session_id != key.session_id]
    keys = [SessionKey(key.user, s.session_id) for s in others]
    read = await asyncio.gather(*(conversation(stores, k, limit=SEARCHED, now=now) for k in keys))
    found = {}
    for session, (rows, _, memory) in zip(others, read, strict=True):
        facts = {t.seq: [d.data_facts_json for d in t.digests] for t in memory.ring}
        found[session] = [{"details": facts.get(row["turn"]), **row} for row in rows]
    return found


def _untold(memory: SessionMemory, now: float) -> list[Turn]:
    """The turns to archive before the next one is written: none while the slot that it overwrites
    is archived, else that one and all behind it up to the first that may still change."""
    overwritten = memory.last_seq + 1 - RING_SIZE
    if overwritten < 1:
        return []
    told = memory.told
    turns = [t for t in memory.ring if t.seq > told]
    if not turns or turns[0].seq > overwritten:
        return []
    closed = next((i for i, t in enumerate(turns) if _may_change(t, now)), len(turns))
    # the one that is overwritten goes now, even with a question open
    return turns[: max(closed, 1)]


def _may_change(turn: Turn, now: float) -> bool:
    """Whether an answer to one of its questions may still become a part of it."""
    return any(asked.expires_at + KEPT_S > now for asked in turn.waiting)


def _hour(moment: float) -> int:
    return int(moment // HOUR_S)
