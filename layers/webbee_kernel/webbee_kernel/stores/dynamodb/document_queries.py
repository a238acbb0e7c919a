"""Reading documents: heads with their parts, a collection in order of creation, an index in its
order.

Queries and counts of one collection go by an index where one holds what is asked, else through its
documents as they were made. Going down an index, documents of one value still come as they were
made: a page reads its values backwards and the last of them, which it may hold in part, from its
beginning.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, Final, NamedTuple

from ...errors import StorageUnavailable
from ...sdk.records import Document, Page
from ...types import JSONObject
from ..paging import (
    END,
    MISSING,
    Cursor,
    Declared,
    Order,
    Position,
    Row,
    created_after,
    created_page,
    is_cut,
    kept_page,
    matches,
    ordered_page,
    rank_key,
    rank_of,
    tell_cost,
)
from .client import Database, Item, S, pause
from .document_items import (
    SORT_KEYS,
    Entries,
    FoundDocument,
    Generation,
    Generations,
    Place,
    document_from,
    part_count,
)

ATTEMPTS: Final = 60

_SCAN_PAGE: Final = 200
"""Items read at a time while looking for those that match `where`."""


@dataclass(slots=True)
class Pass:
    """What one read of a collection went through: how many documents of about how many bytes, and
    the first of those without entries in the generation `gen`."""

    gen: str = ""
    keeps: int = 0
    documents: int = 0
    size: int = 0
    waiting: list[FoundDocument] = field(default_factory=list)

    def note(self, rows: Sequence[FoundDocument]) -> None:
        """Some more were read."""
        self.documents += len(rows)
        self.size += sum(_bytes(row.head) for row in rows)
        if self.keeps > len(self.waiting):
            self.waiting += (row for row in rows if Entries.of(row.head).gen != self.gen)


class DocumentReader:
    """Reads of one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self.table = table

    async def one(self, place: Place) -> Document | None:
        head = await self._database.get(self.table, place.key)
        return await self.whole(place, head) if head else None

    async def whole(self, place: Place, head: Item) -> Document | None:
        """The document of a head, of a newer one if it was replaced while its parts were read; None
        if it was deleted."""
        current: Item | None = head
        for attempt in range(ATTEMPTS):
            if current is None:
                return None
            if not part_count(current):
                return document_from(place, current)
            parts = await self._database.partition(self.table, place.pk, place.part_prefix)
            if len(parts) == part_count(current) and all(
                part["etag"] == current["etag"] for part in parts
            ):
                return document_from(place, current, parts)
            await pause(attempt)
            current = await self._database.get(self.table, place.key)
        raise contended(place)

    def collection(self, of: Place, after: str = "") -> JSONObject:
        """A Query of a place's collection in order of creation, beyond one creation key. `!` sorts
        before hex digits and `g` after them."""
        low = f"{after}!" if after else f"{of.collection}#"
        return {
            "TableName": self.table,
            "IndexName": "by_created",
            "KeyConditionExpression": "#pk = :pk AND #created BETWEEN :low AND :high",
            "ExpressionAttributeValues": {
                ":pk": S(of.pk),
                ":low": S(low),
                ":high": S(f"{of.collection}#g"),
            },
            "ConsistentRead": True,
        }

    async def rows(
        self,
        of: Place,
        where: Mapping[str, Any] | None,
        seen: Pass,
        *,
        after: str = "",
        need: int = 0,
    ) -> list[Row]:
        """Matching documents of a place's collection in order of creation: all, or the first
        `need`. `seen` notes what was read."""
        request = self.collection(of, after)
        if need:
            request["Limit"] = _SCAN_PAGE if where else need
        rows: list[Row] = []
        while True:
            items, start = await self._database.page(**request)
            found = await self._read(of, items)
            seen.note(found)
            rows += (Row(*row[:2]) for row in found if matches(row.document.data, where))
            if start is None or (need and len(rows) >= need):
                return rows[: need or None]
            request["ExclusiveStartKey"] = start

    async def _read(self, of: Place, items: Sequence[Item]) -> list[FoundDocument]:
        """Items as whole documents; those that were deleted meanwhile are missing."""
        wholes = (self.whole(Place.of(of.user, of.app_id, item), item) for item in items)
        pairs = zip(items, await asyncio.gather(*wholes), strict=True)
        return [FoundDocument(i["created"]["S"], d, i) for i, d in pairs if d is not None]


def _bytes(head: Item) -> int:
    return sum(len(name) + len(next(iter(value.values()))) for name, value in head.items())


def contended(place: Place) -> StorageUnavailable:
    """Every attempt met another writer."""
    return StorageUnavailable(
        f"The document {place.collection}/{place.doc_id} is being replaced all the time; try again."
    )


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
        self, database: Database, reader: DocumentReader, place: Place, gen: str, number: int
    ) -> None:
        """`number` is the index's among those declared, from 0 on."""
        self._database = database
        self._reader = reader
        self._place = place
        self._sort_key, self._name = SORT_KEYS[number], f"by_{number + 1}"
        self._prefix = f"{place.collection}#{gen}#"

    async def ordered(
        self, order: Order, where: Mapping[str, Any] | None, after: Position | None, need: int
    ) -> list[Row]:
        """The first `need` matching documents behind a position."""
        last = None
        if after:
            rank, created = after
            key = MISSING if rank is None else str(rank[1])
            last = Entry(key, created.rpartition("#")[2], {})
        rows: list[Row] = []
        while len(rows) < need:
            size = _CHUNK if where else need - len(rows)
            if order.descends:
                entries = await self._down(last, size)
            else:
                entries = await self._between(_behind(last) if last else "", _END, size)
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
            "IndexName": self._name,
            "KeyConditionExpression": f"#pk = :pk AND #{self._sort_key} BETWEEN :low AND :high",
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
        key, _, created = item[self._sort_key]["S"].removeprefix(self._prefix).partition(END)
        return Entry(key, created, item)

    async def _rows(self, entries: Sequence[Entry], where: Mapping[str, Any] | None) -> list[Row]:
        """The documents of entries; those that are gone meanwhile, or do not match, are missing."""
        rows = await asyncio.gather(*map(self._row, entries))
        return [row for row in rows if row and matches(row.document.data, where)]

    async def _row(self, entry: Entry) -> Row | None:
        """A large document is no part of its entry."""
        place = Place.of(self._place.user, self._place.app_id, entry.item)
        if "data" in entry.item:
            document: Document | None = document_from(place, entry.item)
        else:
            document = await self._reader.one(place)
        if document is None:
            return None
        return Row(f"{place.collection}#{entry.created}", document, entry.key)


def _behind(entry: Entry) -> str:
    return f"{entry.key}{END}{entry.created}!" if entry.created else f"{entry.key}{END}"


class DocumentQuery(NamedTuple):
    """One question about the documents of a collection; `place` names it."""

    place: Place
    declared: Declared
    where: Mapping[str, Any] = {}
    order_by: str = ""
    limit: int = 100
    cursor: str | None = None

    @property
    def tokens(self) -> Cursor:
        return Cursor(self.place.collection, dict(self.where), self.order_by)

    @property
    def order(self) -> Order | None:
        """By which field, if by any."""
        return Order(self.order_by, self.declared) if self.order_by else None

    @property
    def sought(self) -> str:
        """The field whose index has what is wanted together; empty for none."""
        return self.declared.sought(self.where)


class DocumentQueries:
    """Reads of one table's collections."""

    def __init__(
        self, database: Database, reader: DocumentReader, generations: Generations
    ) -> None:
        self._database = database
        self._reader = reader
        self._generations = generations

    async def query(self, asked: DocumentQuery) -> Page[Document]:
        order = asked.order
        if not (asked.sought or (order and order.declared)):
            return await self._page_of(asked, order, None)
        state = await self._generations.read(asked.place, asked.declared, asked.declared.now)
        if state is None or not state.done:
            return await self._page_of(asked, order, state)
        if order is None:
            return await self._having(asked, state)
        if asked.sought:
            rows = await self._index(asked, state, asked.sought).having(
                asked.where[asked.sought], asked.where
            )
            return ordered_page(rows, order, asked.tokens, asked.cursor, asked.limit)
        after = order.read(asked.tokens, asked.cursor) if asked.cursor is not None else None
        rows = await self._index(asked, state, order.field).ordered(
            order, asked.where, after, asked.limit + 1
        )
        total = None if asked.where else state.total
        return kept_page(rows, order, asked.tokens, asked.limit, total)

    async def count(self, asked: DocumentQuery) -> int:
        """How many match."""
        state = None
        if asked.declared and (asked.sought or not asked.where):
            state = await self._generations.read(asked.place, asked.declared, asked.declared.now)
        if state is None or not state.done:
            return await self._count_all(asked, state)
        if not asked.where:
            return state.total
        value = asked.where[asked.sought]
        if len(asked.where) == 1 and (key := _counted(asked, state, value)):
            return state.counts.get(f"{asked.sought}:{key}", 0)
        return len(await self._index(asked, state, asked.sought).having(value, asked.where))

    async def _having(self, asked: DocumentQuery, state: Generation) -> Page[Document]:
        after = created_after(asked.tokens, asked.cursor, asked.place.collection)
        rows = await self._index(asked, state, asked.sought).having(
            asked.where[asked.sought], asked.where, after=after, need=asked.limit + 1
        )
        return created_page(rows, asked.tokens, asked.limit)

    async def _page_of(
        self, asked: DocumentQuery, order: Order | None, state: Generation | None
    ) -> Page[Document]:
        if order:
            rows = await self._through(asked, state, asked.order_by, order.field)
            return ordered_page(rows, order, asked.tokens, asked.cursor, asked.limit)
        after = created_after(asked.tokens, asked.cursor, asked.place.collection)
        need = asked.limit + 1
        wanted = "" if not asked.where else next(iter(asked.where))
        rows = await self._through(asked, state, wanted, wanted, after=after, need=need)
        return created_page(rows, asked.tokens, asked.limit)

    async def _count_all(self, asked: DocumentQuery, state: Generation | None) -> int:
        if asked.where or (state and self._generations.backfills(state, asked.declared.now)):
            wanted = next(iter(asked.where), "")
            return len(await self._through(asked, state, "count", wanted))
        place = asked.place
        request = self._reader.collection(place)
        found = await self._database.count(**request)
        tell_cost(place.app_id, place.collection, "count", found, 0, "")
        return found

    async def _through(
        self,
        asked: DocumentQuery,
        state: Generation | None,
        what: str,
        wanted: str,
        *,
        after: str = "",
        need: int = 0,
    ) -> list[Row]:
        """Rows found by going through the documents; a full pass brings some into the indexes."""
        place, declared = asked.place, asked.declared
        takes = self._generations.backfills(state, declared.now)
        seen = Pass(state.gen if state else "", takes)
        start, count = ("", 0) if takes else (after, need)
        rows = await self._reader.rows(place, asked.where, seen, after=start, need=count)
        if state and takes:
            await self._generations.backfill(place, declared, state, seen.waiting)
            rows = [row for row in rows if row.created > after][: need or None]
        elif wanted not in declared.fields:
            tell_cost(place.app_id, place.collection, what, seen.documents, seen.size, wanted)
        return rows

    def _index(self, asked: DocumentQuery, state: Generation, name: str) -> Index:
        number = asked.declared.fields.index(name)
        return Index(self._database, self._reader, asked.place, state.gen, number)


def _counted(asked: DocumentQuery, state: Generation, value: Any) -> str:
    """The key by which documents of this value are counted; empty where they are not, or where it
    may stand for several."""
    key = rank_key(rank_of(value))
    told = asked.sought in asked.declared.counted and state.counts_values
    return key if told and value is not None and not is_cut(key) else ""
