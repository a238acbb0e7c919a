"""Reading documents: one with its parts, a page, a count. Queries and counts go by an index where
one holds what is asked, else through the documents as they were made.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from typing import Final

from ...errors import StorageUnavailable
from ...sdk.records import Document, Page
from ..paging import Collection, DocumentQuery, Row
from .client import Database, TableStore, pause
from .document_indexes import Generation, Generations, Ranges, as_made, ranges
from .document_items import doc_id_of, document_from, entry_of, generation_of, part_count
from .item_requests import Item

ATTEMPTS: Final = 60
CHUNK: Final = 200
"""Items read at a time while looking for those that match `where`."""


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

    async def query(self, asked: DocumentQuery) -> Page[Document]:
        """One page."""
        state = await self._state(
            asked, asked.field in asked.collection.fields or bool(asked.sought)
        )
        found = ranges(self._table, asked, state)
        if not found.in_order:
            rows = asked.ordered(await self._rows(asked, state, found))
            return asked.page(rows, len(rows))
        rows = await self._rows(asked, state, found, need=asked.limit + 1)
        # the marker counts the whole collection, not what matches
        total = state.total if state and asked.order_by and not asked.where else None
        return asked.page(rows, total)

    async def count(self, asked: DocumentQuery) -> int:
        """How many match."""
        state = await self._state(asked, bool(asked.sought) or not asked.where)
        if state and state.done and not asked.where:
            return state.total
        found = ranges(self._table, asked, state)
        # a bare count reads no documents, so none of them would get its entries
        if not found.exact or (state and state.takes_in(asked.collection.now)):
            return len(await self._rows(asked, state, found))
        count = sum([await self._database.count(query) for query in found.queries])
        if not asked.sought:
            asked.tell_cost("count", count)
        return count

    async def _state(self, asked: DocumentQuery, would_help: bool) -> Generation | None:
        """The state of the indexes, where one would help."""
        if not would_help or not asked.collection.fields:
            return None
        return await self._generations.read(asked.collection, asked.collection.now)

    async def _rows(
        self, asked: DocumentQuery, state: Generation | None, found: Ranges, need: int = 0
    ) -> list[Row]:
        """Matching documents of the ranges, in their order: all, or at least the first `need`."""
        if state and state.takes_in(asked.collection.now):
            return await self._taken_in(asked, state)
        # few may match: pages of no more than `need` would be a request for each handful
        size = need if found.exact or not need else CHUNK
        read, rows = 0, list[Row]()
        async for part in self._parts(asked.collection, found, size):
            read += len(part)
            rows += asked.matching(part)
            if need and len(rows) >= need:
                break
        if found.sort_key == "created":
            asked.tell_cost(asked.order_by or "where", read)
        return rows

    async def _taken_in(self, asked: DocumentQuery, state: Generation) -> list[Row]:
        """All that match, as they were made; of those gone through, some get their entries."""
        collection = asked.collection
        waiting, rows = list[Row](), list[Row]()
        async for part in self._parts(collection, Ranges([as_made(self._table, collection)])):
            rows += asked.matching(part)
            if not self._generations.is_step(waiting):
                waiting += (row for row in part if generation_of(row.head) != state.gen)
        await self._generations.take_in(collection, state, waiting)
        return rows

    async def _parts(
        self, collection: Collection, found: Ranges, size: int = 0
    ) -> AsyncIterator[list[Row]]:
        for query in found.queries:
            async for items in self._database.pages(replace(query, limit=size)):
                yield await self._documents(collection, found.sort_key, items)

    async def _documents(
        self, collection: Collection, sort_key: str, items: Sequence[Item]
    ) -> list[Row]:
        """Whole documents; those that were deleted meanwhile are missing."""
        wholes = await asyncio.gather(*(self._document(collection, item) for item in items))
        rows = []
        for item, document in zip(items, wholes, strict=True):
            if document and sort_key == "created":
                rows.append(Row(item["created"], document, item))
            elif document:
                key, created = entry_of(item, sort_key)
                rows.append(Row(created, document, item, key))
        return rows

    async def _document(self, collection: Collection, item: Item) -> Document | None:
        # an index has the data of small ones only, the order of creation every head whole
        if "data" in item or "created" in item:
            return await self.whole(collection, item)
        return await self.one(collection, doc_id_of(item))


def contended(collection: Collection, doc_id: str) -> StorageUnavailable:
    """Every attempt met another writer."""
    return StorageUnavailable(
        f"The document {collection.name}/{doc_id} is being replaced all the time; try again."
    )
