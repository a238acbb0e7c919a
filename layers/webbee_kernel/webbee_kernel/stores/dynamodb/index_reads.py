"""Reading an index: its entries in order, and the documents that they stand for.

Going down, documents of one value still come as they were made: a page reads its values backwards
and the last of them, which it may hold in part, from its beginning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any, Final, NamedTuple

from ...values.plain import JSONObject
from ..declared import END, MISSING, is_cut, rank_key
from ..paging import Order, Position, Row, matches, rank_of
from .client import Database, Item, S
from .document_items import Place
from .document_reads import DocumentReader
from .kept_items import document_in, index_prefix

_CHUNK: Final = 200
"""Entries read at a time while looking for those that match `where`."""
_LAST: Final = "~"
"""After every key of creation."""
_PRESENT_END: Final = "5"
_END: Final = ":"
"""After every key, and after those of missing values."""


class Entry(NamedTuple):
    """One entry: its key, its document's key of creation, and its item."""

    key: str
    created: str
    item: Item


class Index:
    """One index of one user's collection; `place` names the collection."""

    def __init__(
        self, database: Database, reader: DocumentReader, place: Place, gen: str, field: str
    ) -> None:
        self._database = database
        self._reader = reader
        self._place = place
        self._prefix = index_prefix(place.collection, gen, field)

    async def ordered(
        self, order: Order, where: Mapping[str, Any] | None, after: Position | None, need: int
    ) -> list[Row]:
        """The first `need` matching documents behind a position."""
        last = _entry_at(after) if after else None
        rows: list[Row] = []
        while len(rows) < need:
            size = _CHUNK if where else need - len(rows)
            walk = self._down if order.descends else self._up
            entries = await walk(last, size)
            rows += await self._rows(entries, where)
            if len(entries) < size:
                break
            last = entries[-1]
        return rows[:need]

    async def having(
        self, value: Any, where: Mapping[str, Any], *, after: str = "", need: int = 0
    ) -> list[Row]:
        """Matching documents of one value, as they were made: all, or the first `need` behind a key
        of creation."""
        key = rank_key(rank_of(value))
        exact = len(where) == 1 and not is_cut(key)
        size = 0 if not need else need if exact else _CHUNK
        last = Entry(key, after.rpartition("#")[2], {})
        rows: list[Row] = []
        while True:
            entries = await self._group(last, size)
            rows += [row._replace(key="") for row in await self._rows(entries, where)]
            if not need or len(entries) < size or len(rows) >= need:
                return rows[: need or None]
            last = entries[-1]

    async def _up(self, last: Entry | None, need: int) -> list[Entry]:
        return await self._between(_behind(last) if last else "", _END, need)

    async def _down(self, last: Entry | None, need: int) -> list[Entry]:
        if last and last.key == MISSING:
            return await self._group(last, need)
        found = await self._group(last, need) if last else []
        if len(found) < need:
            below = f"{last.key}{END}" if last else _PRESENT_END
            found += await self._values_below(below, need - len(found))
        if len(found) < need:
            found += await self._group(Entry(MISSING, "", {}), need - len(found))
        return found

    async def _values_below(self, below: str, need: int) -> list[Entry]:
        """The first `need` entries of the values below one, downwards, each value's in order."""
        read = await self._between("", below, need, backwards=True)
        groups = [list(group)[::-1] for _, group in groupby(read, key=lambda entry: entry.key)]
        if len(read) < need:
            return [entry for group in groups for entry in group]
        whole = [entry for group in groups[:-1] for entry in group]
        beginning = Entry(groups[-1][0].key, "", {})
        return whole + await self._group(beginning, need - len(whole))

    async def _group(self, last: Entry, need: int) -> list[Entry]:
        """Entries of one value behind one of them."""
        return await self._between(_behind(last), f"{last.key}{END}{_LAST}", need)

    async def _between(
        self, low: str, high: str, need: int, *, backwards: bool = False
    ) -> list[Entry]:
        request: JSONObject = {
            "TableName": self._reader.table,
            "KeyConditionExpression": "#pk = :pk AND #sk BETWEEN :low AND :high",
            "ExpressionAttributeValues": {
                ":pk": S(self._place.pk),
                ":low": S(self._prefix + low),
                ":high": S(self._prefix + high),
            },
            "ConsistentRead": True,
            "ScanIndexForward": not backwards,
        }
        items = await self._database.items(need=need, **request)
        return [self._entry(item) for item in items]

    def _entry(self, item: Item) -> Entry:
        key, _, created = item["sk"]["S"].removeprefix(self._prefix).partition(END)
        return Entry(key, created, item)

    async def _rows(self, entries: Sequence[Entry], where: Mapping[str, Any] | None) -> list[Row]:
        """The documents of entries; those that are gone meanwhile, or do not match, are missing."""
        rows = await asyncio.gather(*map(self._row, entries))
        return [row for row in rows if row and matches(row.document.data, where)]

    async def _row(self, entry: Entry) -> Row | None:
        place, document = document_in(self._place, entry.item)
        if document is None:
            document = await self._reader.one(place)
        if document is None:
            return None
        return Row(f"{self._place.collection}#{entry.created}", document, entry.key)


def _behind(entry: Entry) -> str:
    return f"{entry.key}{END}{entry.created}!" if entry.created else f"{entry.key}{END}"


def _entry_at(position: Position) -> Entry:
    rank, created = position
    return Entry(MISSING if rank is None else str(rank[1]), created.rpartition("#")[2], {})
