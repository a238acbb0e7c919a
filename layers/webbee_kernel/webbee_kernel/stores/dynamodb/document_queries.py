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
from .document_indexes import Generation, Generations, Ranges, by_creation, ranges
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
        return await self.complete(collection, head) if head else None

    async def complete(self, collection: Collection, head: Item) -> Document | None:
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
        raise contention(collection, doc_id_of(head))

    async def query(self, question: DocumentQuery) -> Page[Document]:
        """One page."""
        state = await self._state(
            question, question.field in question.collection.fields or bool(question.indexed_field)
        )
        found = ranges(self._table, question, state)
        if not found.in_order:
            rows = question.sort(await self._rows(question, state, found))
            return question.page(rows, len(rows))
        rows = await self._rows(question, state, found, need=question.limit + 1)
        # the marker counts the whole collection, not what matches
        total = state.total if state and question.order_by and not question.where else None
        return question.page(rows, total)

    async def count(self, question: DocumentQuery) -> int:
        """How many match."""
        state = await self._state(question, bool(question.indexed_field) or not question.where)
        if state and state.done and not question.where:
            return state.total
        found = ranges(self._table, question, state)
        # a bare count reads no documents, so none of them would get its entries
        if not found.exact or (state and state.needs_backfill(question.collection.now)):
            return len(await self._rows(question, state, found))
        count = sum([await self._database.count(query) for query in found.queries])
        if not question.indexed_field:
            question.log_cost("count", count)
        return count

    async def _state(self, question: DocumentQuery, is_useful: bool) -> Generation | None:
        """The state of the indexes, where one would help."""
        if not is_useful or not question.collection.fields:
            return None
        return await self._generations.read(question.collection, question.collection.now)

    async def _rows(
        self, question: DocumentQuery, state: Generation | None, found: Ranges, need: int = 0
    ) -> list[Row]:
        """Matching documents of the ranges, in their order: all, or at least the first `need`."""
        if state and state.needs_backfill(question.collection.now):
            return await self._rows_with_backfill(question, state)
        # few may match: pages of no more than `need` would be a request for each handful
        size = need if found.exact or not need else CHUNK
        read, rows = 0, list[Row]()
        async for part in self._parts(question.collection, found, size):
            read += len(part)
            rows += question.matching(part)
            if need and len(rows) >= need:
                break
        if found.sort_key == "created":
            question.log_cost(question.order_by or "where", read)
        return rows

    async def _rows_with_backfill(self, question: DocumentQuery, state: Generation) -> list[Row]:
        """All that match, as they were made; of those gone through, some get their entries."""
        collection = question.collection
        unindexed, rows = list[Row](), list[Row]()
        async for part in self._parts(collection, Ranges([by_creation(self._table, collection)])):
            rows += question.matching(part)
            if not self._generations.is_over_batch(unindexed):
                unindexed += (row for row in part if generation_of(row.head) != state.gen)
        await self._generations.backfill(collection, state, unindexed)
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
        documents = await asyncio.gather(*(self._document(collection, item) for item in items))
        rows = []
        for item, document in zip(items, documents, strict=True):
            if document and sort_key == "created":
                rows.append(Row(item["created"], document, item))
            elif document:
                key, created = entry_of(item, sort_key)
                rows.append(Row(created, document, item, key))
        return rows

    async def _document(self, collection: Collection, item: Item) -> Document | None:
        # an index has the data of small ones only, the order of creation every head whole
        if "data" in item or "created" in item:
            return await self.complete(collection, item)
        return await self.one(collection, doc_id_of(item))


def contention(collection: Collection, doc_id: str) -> StorageUnavailable:
    """Every attempt met another writer."""
    return StorageUnavailable(
        f"The document {collection.name}/{doc_id} is being replaced all the time; try again."
    )
