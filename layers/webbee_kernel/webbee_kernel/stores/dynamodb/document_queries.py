"""Reading documents: heads with their parts, a collection in order of creation, an index in its
order. Queries and counts go by an index where one holds what is asked, else through the documents
as they were made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ...errors import StorageUnavailable
from ...sdk.records import Document, Page
from ..paging import Collection, DocumentQuery, Row, is_cut, matches, order_key, tell_cost
from .client import Database, TableStore, pause
from .document_indexes import CHUNK, Entry, Fetch, Generations, Index
from .document_items import Entries, Generation, doc_id_of, document_from, part_count
from .item_requests import Item, Query

ATTEMPTS: Final = 60


@dataclass(slots=True)
class Pass:
    """What one read of a collection went through: how many documents of about how many bytes, and
    the first of those without entries in the generation `gen`."""

    gen: str = ""
    keeps: int = 0
    documents: int = 0
    size: int = 0
    waiting: list[Row] = field(default_factory=list)

    def note(self, rows: Sequence[Row]) -> None:
        """Some more were read."""
        self.documents += len(rows)
        self.size += sum(_bytes(row.head) for row in rows)
        if self.keeps > len(self.waiting):
            self.waiting += (row for row in rows if Entries.of(row.head).gen != self.gen)


class DocumentQueries(TableStore):
    """Reads, queries and counts of one table's collections."""

    def __init__(self, database: Database, table: str, generations: Generations) -> None:
        super().__init__(database, table)
        self._generations = generations

    async def one(self, collection: Collection, doc_id: str) -> Document | None:
        """One document, strongly consistent and whole."""
        head = await self._get(collection.key(doc_id))
        return await self.whole(collection, head) if head else None

    async def whole(self, collection: Collection, head: Item) -> Document | None:
        """The document of a head, of a newer one if it was replaced while its parts were read; None
        if it was deleted."""
        current: Item | None = head
        for attempt in range(ATTEMPTS):
            if current is None:
                return None
            if not part_count(current):
                return document_from(collection, current)
            parts = await self._partition(collection.pk, f"{current['sk']}#part#")
            if len(parts) == part_count(current) and all(
                part["etag"] == current["etag"] for part in parts
            ):
                return document_from(collection, current, parts)
            await pause(attempt)
            current = await self._get(collection.key(doc_id_of(head)))
        raise contended(collection, doc_id_of(head))

    def in_order(self, collection: Collection, after: str = "", **options: Any) -> Query:
        """A collection in order of creation, beyond one creation key. `!` sorts before hex digits
        and `g` after them."""
        low = f"{after}!" if after else f"{collection.name}#"
        values = {"pk": collection.pk, "low": low, "high": f"{collection.name}#g"}
        condition = "#pk = :pk AND #created BETWEEN :low AND :high"
        return Query(self._table, condition, values, index="by_created", **options)

    async def rows(
        self,
        collection: Collection,
        where: Mapping[str, Any],
        seen: Pass,
        *,
        after: str = "",
        need: int = 0,
    ) -> list[Row]:
        """Matching documents in order of creation: all, or the first `need`. `seen` notes what was
        read."""
        # few may match: pages of no more than `need` would be a request for each handful
        size = CHUNK if need and where else need
        rows: list[Row] = []
        async for heads in self._database.pages(self.in_order(collection, after, limit=size)):
            found = await self._read(collection, heads)
            seen.note(found)
            rows += (row for row in found if matches(row.document.data, where))
            if need and len(rows) >= need:
                break
        return rows[: need or None]

    async def _read(self, collection: Collection, heads: Sequence[Item]) -> list[Row]:
        """Whole documents; those that were deleted meanwhile are missing."""
        wholes = await asyncio.gather(*(self.whole(collection, head) for head in heads))
        read = zip(heads, wholes, strict=True)
        return [Row(head["created"], document, head) for head, document in read if document]

    async def listed(
        self,
        collection: Collection,
        where: Mapping[str, Any],
        fetch: Fetch,
        last: Entry | None,
        *,
        need: int,
        size: int,
    ) -> list[Row]:
        """Matching documents of an index's entries behind one of them, in their order: all, or the
        first `need`, `size` entries at a time."""
        rows: list[Row] = []
        while True:
            entries = await fetch(last, size)
            found = await asyncio.gather(*(self._listed(collection, entry) for entry in entries))
            rows += (row for row in found if row and matches(row.document.data, where))
            # without `need` the one fetch brought all; fewer than asked for are the last
            if not need or len(entries) < size or len(rows) >= need:
                return rows[: need or None]
            last = entries[-1]

    async def _listed(self, collection: Collection, entry: Entry) -> Row | None:
        """The document of an entry, of which a large one is no part; None where it is gone."""
        if "data" in entry.item:
            document: Document | None = document_from(collection, entry.item)
        else:
            document = await self.one(collection, doc_id_of(entry.item))
        created = f"{collection.name}#{entry.created}"
        return Row(created, document, entry.item, entry.key) if document else None

    async def query(self, asked: DocumentQuery) -> Page[Document]:
        """One page."""
        created = asked.after[1] if asked.after else ""
        is_kept = asked.field in asked.collection.declared.fields
        state = await self._state(asked, is_kept or bool(asked.sought))
        if not asked.order_by:
            rows = await self._made(asked, state, after=created, need=asked.limit + 1)
            return asked.page(rows, None)
        # with a sought value its own index has few: they are sorted here instead
        if is_kept and not asked.sought and state and state.done:
            rows = await self._by_index(asked, state)
            # the marker counts the whole collection, not what matches
            return asked.page(rows, None if asked.where else state.total)
        rows = asked.ordered(await self._made(asked, state))
        return asked.page(rows, len(rows))

    async def count(self, asked: DocumentQuery) -> int:
        """How many match."""
        state = await self._state(asked, bool(asked.sought) or not asked.where)
        if state and state.done:
            if not asked.where:
                return state.total
            if key := _counted(asked, state):
                return state.counts.get(f"{asked.sought}:{key}", 0)
        # a bare count reads no documents, so none of them would get its entries
        elif not asked.where and not self._generations.backfills(state, _now(asked)):
            found = await self._database.count(self.in_order(asked.collection))
            tell_cost(asked, "count", found)
            return found
        return len(await self._made(asked, state, what="count"))

    async def _state(self, asked: DocumentQuery, would_help: bool) -> Generation | None:
        """The state of the indexes, where one would help."""
        if not would_help or not asked.collection.declared:
            return None
        return await self._generations.read(asked.collection, _now(asked))

    async def _made(
        self,
        asked: DocumentQuery,
        state: Generation | None,
        *,
        after: str = "",
        need: int = 0,
        what: str = "",
    ) -> list[Row]:
        """Matching documents as they were made: all, or the first `need` behind a key of creation;
        by the index that has those of one value, or through all."""
        if asked.sought and state and state.done:
            return await self._having(asked, state, after, need)
        if state and self._generations.backfills(state, _now(asked)):
            return (await self._brought_in(asked, state, after))[: need or None]
        seen, fields = Pass(), asked.collection.declared.fields
        rows = await self.rows(asked.collection, asked.where, seen, after=after, need=need)
        if asked.wanted not in fields:
            tell_cost(asked, what or asked.order_by or asked.wanted, seen.documents, seen.size)
        return rows

    async def _brought_in(self, asked: DocumentQuery, state: Generation, after: str) -> list[Row]:
        """The same, and some of those gone through come into the indexes."""
        seen = Pass(state.gen, self._generations.backfills(state, _now(asked)))
        # from the beginning: documents before `after` wait for their entries, too
        rows = await self.rows(asked.collection, asked.where, seen)
        await self._generations.backfill(asked.collection, state, seen.waiting)
        return [row for row in rows if row.created > after]

    async def _having(
        self, asked: DocumentQuery, state: Generation, after: str, need: int
    ) -> list[Row]:
        """The same by the index that has those of one value together."""
        index = self._index(asked, state, asked.sought)
        key = order_key(asked.where[asked.sought])
        # a page of entries is one of documents where each matches
        exact = len(asked.where) == 1 and not is_cut(key)
        rows = await self.listed(
            asked.collection,
            asked.where,
            index.group,
            index.start(key, after),
            need=need,
            size=need if not need or exact else CHUNK,
        )
        # the key is of the field that was sought, not of one to order by
        return [row._replace(key="") for row in rows]

    async def _by_index(self, asked: DocumentQuery, state: Generation) -> list[Row]:
        """The first matching documents behind the query's cursor in the order of a field."""
        index, need = self._index(asked, state, asked.field), asked.limit + 1
        return await self.listed(
            asked.collection,
            asked.where,
            index.down if asked.descends else index.up,
            index.start(*asked.after) if asked.after else None,
            need=need,
            size=CHUNK if asked.where else need,
        )

    def _index(self, asked: DocumentQuery, state: Generation, name: str) -> Index:
        return Index(self._database, self._table, asked.collection, state.gen, name)


def _bytes(head: Mapping[str, Any]) -> int:
    """About: a number counts as eight."""
    return sum(len(n) + (len(v) if isinstance(v, str | bytes) else 8) for n, v in head.items())


def contended(collection: Collection, doc_id: str) -> StorageUnavailable:
    """Every attempt met another writer."""
    return StorageUnavailable(
        f"The document {collection.name}/{doc_id} is being replaced all the time; try again."
    )


def _now(asked: DocumentQuery) -> float:
    return asked.collection.declared.now


def _counted(asked: DocumentQuery, state: Generation) -> str:
    """The key by which documents of the sought value are counted; empty where they are not, or
    where it may stand for several."""
    if len(asked.where) > 1 or not state.counts_values:
        return ""
    value = asked.where[asked.sought]
    key = order_key(value)
    told = asked.sought in asked.collection.declared.counted
    # null and missing share a key, but a missing field matches no condition
    return key if told and value is not None and not is_cut(key) else ""
