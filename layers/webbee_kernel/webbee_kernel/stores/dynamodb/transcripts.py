"""A person's conversations.

    pk tenant#user#session   sk turn#<time>#<seq>   packed  expires_at
    pk tenant#user           sk session#<id>        session_id  title  folded  turns  expires_at
                                                    touched_at
    index by_touched         pk tenant#user  touched_at           (rows of the list only)

An item holds up to five turns, compressed, each with its own end, under the key of the last one.
Items overlap where two turns at once archived the same; whoever reads sees each turn once.

The list's rows lie in their user's own partition, so a session is found as long as anything of it
lives, and a renamed one keeps its name: `touch` writes a title only where none is.
"""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator, Sequence

from ...clock import parse_iso
from ...types import JSONObject, SessionKey, UserKey
from ..codec import PART_BYTES, compress, decompress, dumps, loads, transcript_row
from ..item_keys import session_key, session_list_key, turn_key, user_key
from ..paging import KEY, Cursor, check_limit
from ..types import RING_SIZE, SessionSummary, Turn, TurnPlace
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
