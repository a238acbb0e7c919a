"""A person's conversations, and the archive that keeps them: the turns that may be read again.

    pk tenant#user#session   sk turn#<time>#<seq>   packed  expires_at
    pk tenant#user           sk session#<id>        session_id  title  folded  turns  expires_at
                                                    touched_at
    index by_touched         pk tenant#user  touched_at           (rows of the list only)

An item holds up to five turns, compressed, each with its own end, under the key of the last one.
Items overlap where two turns at once archived the same; whoever reads sees each turn once.

The list's rows lie in their user's own partition, so a session is found as long as anything of it
lives, and a renamed one keeps its name: `touch` writes a title only where none is.

The last five turns are read from the session's ring. Before the ring overwrites a turn, it is
archived together with all later ones, so that five turns cost one write."""

from __future__ import annotations

import asyncio
import logging
import zlib
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace

from ...clock import iso, parse_iso
from ...config import Settings
from ...errors import KernelError
from ...types import JSONObject, SessionKey, UserKey
from .. import Stores
from ..codec import PART_BYTES, QUESTION_GRACE_S, compress, decompress, dumps, loads, transcript_row
from ..item_keys import session_key, session_list_key, turn_key, user_key
from ..paging import KEY, Cursor, check_limit
from ..types import RING_SIZE, SessionMemory, SessionSummary, Turn, TurnPlace
from .client import ConditionFailed, TableStore
from .item_requests import Default, Item, Query, key_of
from .sessions import log_damaged


class TranscriptStore(TableStore):
    """Turns of a session in order of time, and the list of a user's sessions."""

    async def append(self, key: SessionKey, turns: Sequence[Turn], *, seconds: int) -> None:
        """Keep turns, oldest first, as their user may read them, each for so long from its time
        on; the same turn (`at` and `seq`) is told once. One write."""
        rows = [(int(parse_iso(turn.at)) + seconds, transcript_row(turn)) for turn in turns]
        packed = compress(dumps(rows))
        # five turns of the largest kind pass an item's limit; halves are tried until they fit
        if len(packed) > PART_BYTES and len(turns) > 1:
            half = len(turns) // 2
            await self.append(key, turns[:half], seconds=seconds)
            await self.append(key, turns[half:], seconds=seconds)
            return
        item = {
            **key_of(session_key(key), turn_key(turns[-1].at, turns[-1].seq)),
            "packed": packed,
            # as long as its last turn: the earlier ones are left out by whoever reads
            "expires_at": max(until for until, _ in rows),
        }
        await self._put(item)

    async def read(
        self, key: SessionKey, *, limit: int = 50, before: TurnPlace | None = None, now: float
    ) -> tuple[JSONObject, ...]:
        """The newest `limit` turns that had not expired by `now`, or the newest of those before
        that place, oldest first."""
        rows: dict[TurnPlace, JSONObject] = {}
        async for item in self._newest_first(key, check_limit(limit), before):
            for place, row in rows_from_item(item, now).items():
                if before is None or place < before:
                    # newest items first: of a turn that was archived twice the later copy counts
                    rows.setdefault(place, row)
            if len(rows) >= limit:
                break
        return tuple(rows[place] for place in sorted(rows)[-limit:])

    async def _newest_first(
        self, key: SessionKey, limit: int, before: TurnPlace | None
    ) -> AsyncIterator[Item]:
        """The items with turns before that place: the one that it lies in, and those behind."""
        # `$` follows `#`: behind every turn
        pk, start = session_key(key), "turn$"
        if before:
            start = turn_key(*before)
            values = {"pk": pk, "start": start}
            for item in await self._query("#pk = :pk AND #sk >= :start", values, need=1):
                yield item
        condition, values = "#pk = :pk AND #sk < :start", {"pk": pk, "start": start}
        # an item has up to five turns, and the page may begin and end within one
        size = limit // RING_SIZE + 2
        query = Query(self._table, condition, values, backwards=True, limit=size)
        async for items in self._database.pages(query):
            for item in items:
                yield item

    async def touch(self, user: UserKey, summary: SessionSummary, *, expires_at: int) -> None:
        """List the session as touched then, with so many turns; the title stands only where it has
        none yet. One write."""
        row = {
            "session_id": summary.session_id,
            "turns": summary.turns,
            "touched_at": summary.touched_at,
            "expires_at": expires_at,
        }
        key = key_of(user_key(user), session_list_key(summary.session_id))
        title = {name: Default(value) for name, value in _title_fields(summary.title).items()}
        await self._update(key, row | title)

    async def list(
        self,
        user: UserKey,
        *,
        limit: int = 50,
        cursor: str | None = None,
        title: str = "",
        now: float,
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        """The user's sessions, most recently touched first, and the cursor of the next page. With
        `title`, those whose title holds it, whatever the case."""
        pk = user_key(user)
        tokens = Cursor("sessions", pk, title)
        after = None
        if cursor is not None:
            touched_at, session_id = tokens.read(cursor, KEY, KEY)
            after = {**key_of(pk, session_list_key(session_id)), "touched_at": touched_at}
        items = await self._query_unexpired(
            now,
            "#pk = :pk",
            {"pk": pk, **({"part": title.casefold()} if title else {})},
            "contains(#folded, :part)" if title else "",
            need=check_limit(limit) + 1,
            index="by_touched",
            backwards=True,
            after=after,
        )
        page = tuple(map(_summary, items[:limit]))
        return page, (
            tokens.write(page[-1].touched_at, page[-1].session_id) if len(items) > limit else None
        )

    async def rename(self, key: SessionKey, title: str) -> SessionSummary | None:
        """Give the session this title; None where there is no such session."""
        row = key_of(user_key(key.user), session_list_key(key.session_id))
        try:
            return _summary(await self._update(row, _title_fields(title), "attribute_exists(#pk)"))
        except ConditionFailed:
            return None

    async def delete(self, key: SessionKey) -> None:
        """Forget the session. Repeatable: its row goes last, so whoever asks again finds what is
        left of a long one."""
        await self._delete_batch(await self._partition(session_key(key), fields="#pk, #sk"))
        row = key_of(user_key(key.user), session_list_key(key.session_id))
        await self._delete_batch([row])  # no role may delete an item alone


def rows_from_item(item: Item, now: float = 0.0) -> dict[TurnPlace, JSONObject]:
    """The turns of an item that are not gone by `now`, by their places."""
    try:
        rows = loads(decompress(item["packed"]))
    except (zlib.error, ValueError) as error:
        log_damaged(item, error)
        return {}
    return {(str(row["at"]), int(row["turn"])): row for until, row in rows if until > now}


def _title_fields(title: str) -> Item:
    return {"title": title, "folded": title.casefold()}


def _summary(item: Item) -> SessionSummary:
    turns = int(item["turns"])
    return SessionSummary(item["session_id"], item["title"], item["touched_at"], turns)


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
