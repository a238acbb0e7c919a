"""Documents as items: one head, and up to ten parts when it is too large for one.

    pk tenant#user#app   sk collection#id             created etag created_at updated_at
                                                      data | text | packed | parts
                                                      i1 … i4  collection#<gen>#<key>TAB<creation>
                         sk collection#id#part#000 …  etag chunk (too large for one item)
                         sk #users#collection         users_key user_id (once a user, collection)
                                                      gen fields since done n (declared)
    index by_created     pk, created (collection#<uuid7>)        a collection in order of creation
    index by_1 … by_4    pk, i1 … i4              with the data of small documents
    index users          users_key tenant#app#collection user_id who has a collection

`#` ends a collection's name in every key, so `a` and `ab` never mix; parts and markers carry no
`created`, so no query meets them.

A document in parts is replaced by one transaction over its head and parts: either all of them are
the new version or none is, nothing is ever left over, and no part needs an expiry that could
outlive its purpose. A reader takes head and parts one after the other and starts again when their
etags differ. Queries and counts go by an index (`document_indexes`) where one holds what is asked,
else through the documents as they were made.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import uuid_utils

from ...config import Settings
from ...sdk.exceptions import StoreConflict
from ...sdk.result import Document, Page
from ...types import JSONObject, UserKey
from ..codec import document_text, loads, pack, packed_text
from ..item_keys import KERNEL_APP, collection_name, document_id, members_key
from ..paging import END, Collection, DocumentQuery, Row, check_limit
from .client import ConditionFailed, Database, TableStore, contention, pause
from .document_indexes import (
    BACKFILL,
    Generation,
    Generations,
    Ranges,
    by_creation,
    generation_of,
    index_entries,
    ranges,
    unchanged_head,
)
from .item_requests import Item, Query, Write, delete, put

ATTEMPTS: Final = 60
CHUNK: Final = 200
"""Items read at a time while looking for those that match `where`."""
_USERS_AT_ONCE: Final = 20
COPY_CHARACTERS: Final = 1_000
"""Of a document's JSON that its entries in indexes repeat: `data`, which they project; a larger one
is `text` and read from its head."""


class DocumentStore(TableStore):
    """Documents of collections. `data` is a JSON object; numbers come back exactly as they went in.
    A get, a create and a delete are one request each, an update two."""

    def __init__(self, database: Database, table: str) -> None:
        super().__init__(database, table)
        self._generations = Generations(database, table)

    async def create(
        self, collection: Collection, data: JSONObject, *, now: str, doc_id: str = ""
    ) -> Document:
        """A new document under a fresh time-ordered id, or under `doc_id` if nothing is there
        (StoreConflict otherwise)."""
        doc_id = _check_names(collection, doc_id or uuid_utils.uuid7().hex)
        text, key = document_text(data), collection.key(doc_id)
        for attempt in range(ATTEMPTS):
            try:
                return await self._write(collection, doc_id, None, text, now)
            except ConditionFailed as failure:
                # else it was the marker that changed: another generation has begun
                if failure.item.get("sk") == key["sk"]:
                    raise StoreConflict(doc_id, "", etag_of(failure.item)) from None
                await self._before_retry(collection, attempt)
        raise contention(f"A document of {collection.name}")

    async def get(self, collection: Collection, doc_id: str) -> Document | None:
        """One document, strongly consistent and whole."""
        head = await self._get(collection.key(_check_names(collection, doc_id)))
        return await self._complete(collection, head)

    async def update(
        self,
        collection: Collection,
        doc_id: str,
        data: JSONObject,
        *,
        now: str,
        if_match: str = "",
        replace: bool = False,
    ) -> Document:
        """Merge `data` shallowly (or replace); a missing document is created. A wrong `if_match`
        raises `StoreConflict`."""
        key, text = collection.key(_check_names(collection, doc_id)), document_text(data)
        for attempt in range(ATTEMPTS):
            head = await self._get(key)
            before = await self._complete(collection, head) if head and not replace else None
            if if_match and if_match != etag_of(head):
                raise StoreConflict(doc_id, if_match, etag_of(head))
            if before is not None and before.etag != etag_of(head):
                continue  # replaced while its parts were read
            merged = document_text({**before.data, **loads(text)}) if before is not None else text
            try:
                return await self._write(collection, doc_id, head, merged, now)
            except ConditionFailed:
                await self._before_retry(collection, attempt)
        raise contention(f"A document of {collection.name}")

    async def delete(self, collection: Collection, doc_id: str) -> bool:
        """Remove it with all its parts; whether it was there."""
        key = collection.key(_check_names(collection, doc_id))
        head: Item = {}
        for attempt in range(ATTEMPTS):
            try:
                if not head:
                    is_single_item = "attribute_not_exists(#parts) AND attribute_not_exists(#i1)"
                    return bool(await self._delete(key, is_single_item))
                state = await self._generations.for_write(collection, head)
                condition, values = unchanged_head(head)
                await self._database.write(
                    *state.count_change(self._table, collection, head, None),
                    delete(self._table, key, condition, **values),
                    *part_writes(self._table, collection, head, []),
                )
                return True
            except ConditionFailed as failure:  # it has parts or entries, or was replaced meanwhile
                has_more_items = part_count(failure.item) > 0 or "i1" in failure.item
                head = failure.item if has_more_items else {}
                # the first refusal only says that it is spread: nobody was in the way
                if attempt:
                    await self._before_retry(collection, attempt)
        raise contention(f"A document of {collection.name}")

    async def query(
        self,
        collection: Collection,
        *,
        where: Mapping[str, Any] | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Document]:
        """Top-level equality, one order field (`-field` descends), else insertion order; pages by
        cursor. Reads what the page needs; with an `order_by` that is not declared all that is in
        the collection."""
        _check_names(collection)
        question = DocumentQuery(collection, where or {}, order_by or "", limit, cursor)
        state = await self._generations.read(collection) if question.index_field else None
        found = ranges(self._table, question, state)
        if not found.in_order:
            rows = question.sort(await self._rows(question, state, found))
            return question.page(rows, len(rows))
        rows = await self._rows(question, state, found, need=limit + 1)
        # the marker counts the whole collection, not what matches
        return question.page(rows, state.n if state and order_by and not where else None)

    async def count(self, collection: Collection, *, where: Mapping[str, Any] | None = None) -> int:
        """How many match."""
        _check_names(collection)
        question = DocumentQuery(collection, where or {})
        is_useful = question.index_field if where else collection.fields
        state = await self._generations.read(collection) if is_useful else None
        if state and state.done and not where:
            return state.n
        found = ranges(self._table, question, state)
        if not found.exact:
            return len(await self._rows(question, state, found))
        count = sum([await self._database.count(query) for query in found.queries])
        if not question.index_field:
            question.log_cost("count", count)
        return count

    async def list_users(
        self,
        tenant_id: str,
        app_id: str,
        collection: str,
        *,
        page_size: int = 500,
        is_included: Callable[[UserKey], Awaitable[bool]] | None = None,
    ) -> AsyncIterator[str]:
        """Users of the tenant that hold at least one document in the collection, and `is_included`.
        Markers are never removed; one query of one key per user says whether the collection still
        holds something."""
        members = members_key(tenant_id, app_id, collection)
        condition, values = "#users_key = :members", {"members": members}
        query = Query(self._table, condition, values, index="users", limit=check_limit(page_size))
        async for page in self._database.pages(query):
            names = [item["user_id"] for item in page]
            for at in range(0, len(names), _USERS_AT_ONCE):
                group = names[at : at + _USERS_AT_ONCE]
                collections = (Collection(UserKey(tenant_id, n), app_id, collection) for n in group)
                results = await asyncio.gather(
                    *(self._has_documents(k, is_included) for k in collections)
                )
                for name, has_documents in zip(group, results, strict=True):
                    if has_documents:
                        yield name

    async def _has_documents(
        self, collection: Collection, is_included: Callable[[UserKey], Awaitable[bool]] | None
    ) -> bool:
        first = replace(by_creation(self._table, collection), fields="#pk")
        if not await self._database.items(first, need=1):
            return False
        return is_included is None or await is_included(collection.user)

    async def _complete(self, collection: Collection, head: Item | None) -> Document | None:
        """The document of a head, of a newer one if it was replaced while its parts were read; None
        if it was deleted."""
        for attempt in range(ATTEMPTS):
            if head is None or not part_count(head):
                return document_from(collection, head) if head else None
            parts = await self._partition(collection.pk, f"{head['sk']}#part#")
            if [part["etag"] for part in parts] == [head["etag"]] * part_count(head):
                return document_from(collection, head, parts)
            await pause(attempt)
            head = await self._get({"pk": head["pk"], "sk": head["sk"]})
        raise contention(f"A document of {collection.name}")

    async def _rows(
        self, question: DocumentQuery, state: Generation | None, found: Ranges, need: int = 0
    ) -> list[Row]:
        """Matching documents of the ranges, in their order: all, or at least the first `need`."""
        if state and state.needs_backfill(question.collection.now):
            return await self._rows_with_backfill(question, state)
        # few may match: pages of no more than `need` would be a request for each handful
        size = need if found.exact or not need else CHUNK
        read, rows = 0, list[Row]()
        async for part in self._pages(question.collection, found, size):
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
        async for part in self._pages(collection, Ranges([by_creation(self._table, collection)])):
            rows += question.matching(part)
            if len(unindexed) <= BACKFILL:
                unindexed += (row for row in part if generation_of(row.head) != state.gen)
        await self._generations.backfill(collection, state, unindexed)
        return rows

    async def _pages(
        self, collection: Collection, found: Ranges, size: int = 0
    ) -> AsyncIterator[list[Row]]:
        """Whole documents, page by page; those that were deleted meanwhile are missing."""
        for query in found.queries:
            async for items in self._database.pages(replace(query, limit=size)):
                whole = await asyncio.gather(*(self._document(collection, i) for i in items))
                pairs = zip(items, whole, strict=True)
                yield [row_of(item, one, found.sort_key) for item, one in pairs if one]

    async def _document(self, collection: Collection, item: Item) -> Document | None:
        # an index has the data of small ones only, the order of creation every head whole
        if "data" in item or "created" in item:
            return await self._complete(collection, item)
        return await self.get(collection, doc_id_of(item))

    async def _before_retry(self, collection: Collection, attempt: int) -> None:
        """Before the next attempt of a write that met another state: look at it anew."""
        self._generations.forget(collection)
        await pause(attempt)

    async def _write(
        self, collection: Collection, doc_id: str, current: Item | None, text: str, now: str
    ) -> Document:
        """Put the document in the place of the head `current`, with its entries in indexes; where
        that changes the count, or it has parts, in one transaction."""
        state = await self._generations.for_write(collection, current)
        head, parts = layout(collection, doc_id, current, text, uuid_utils.uuid7().hex, now)
        # what a reader will get: its entries are made of that and not of what was given
        document = document_from(collection, head, parts)
        head |= index_entries(collection, state.gen, head, document.data)
        condition, values = unchanged_head(current)
        await self._database.write(
            *state.count_change(self._table, collection, current, head),
            put(self._table, head, condition, own="etag", **values),
            *part_writes(self._table, collection, current, parts),
        )
        return document


def etag_of(head: Item | None) -> str:
    """The head's etag, empty for a document that does not exist."""
    return str(head["etag"]) if head else ""


def doc_id_of(head: Item) -> str:
    """The id of a head item that a query found."""
    return str(head["sk"].rpartition("#")[2])


def part_count(head: Item | None) -> int:
    return int(head.get("parts", 0)) if head else 0


def row_of(item: Item, document: Document, sort_key: str) -> Row:
    """The row of a document and its item in the index that is sorted so."""
    if sort_key == "created":
        return Row(item["created"], document, item)
    name, _, entry = str(item[sort_key]).split("#", 2)
    key, _, created = entry.partition(END)
    return Row(f"{name}#{created}", document, item, key)


def document_from(collection: Collection, head: Item, parts: Iterable[Item] = ()) -> Document:
    """The document of a head and its parts."""
    return Document(
        id=doc_id_of(head),
        collection=collection.name,
        data=loads(packed_text(head, (part["chunk"] for part in parts))),
        created_at=head["created_at"],
        updated_at=head["updated_at"],
        user_id=collection.user.imperal_id,
        etag=etag_of(head),
    )


def layout(
    collection: Collection, doc_id: str, current: Item | None, text: str, etag: str, now: str
) -> tuple[Item, list[Item]]:
    """The head that puts `text` where `current` stands (None: nothing does), and its parts."""
    name = "data" if len(text) <= COPY_CHARACTERS else "text"
    packed, chunks = pack(text, name=name)
    head = {
        **collection.key(doc_id),
        # etags are time-ordered, so the first one orders by creation as well
        "created": current["created"] if current else f"{collection.name}#{etag}",
        "etag": etag,
        "created_at": current["created_at"] if current else now,
        "updated_at": now,
        **packed,
    }
    parts = [
        {**collection.key(doc_id, n), "etag": etag, "chunk": chunk}
        for n, chunk in enumerate(chunks)
    ]
    return head, parts


def part_writes(
    table: str, collection: Collection, current: Item | None, parts: list[Item]
) -> list[Write]:
    """What makes these the parts of the document that `current` is the head of: they overwrite old
    ones of the same number, those beyond their count are deleted."""
    surplus = range(len(parts), part_count(current))
    deletions = (delete(table, collection.key(doc_id_of(current or {}), n)) for n in surplus)
    return [*(put(table, part) for part in parts), *deletions]


def _check_names(collection: Collection, doc_id: str = "") -> str:
    """The id; ValueError where it, or the collection's name, is none."""
    collection_name(collection.name)
    return doc_id and document_id(doc_id)


INSTALLATIONS: Final = "installations"
"""A collection of the kernel's own: copies of installations, which turns read from the skeleton
table. Direct calls read the copy, because `tool_dispatch` must not use that table."""


async def is_installed(
    documents: DocumentStore, settings: Settings, user: UserKey, app_id: str
) -> bool:
    """The user's own decision, or the deployment's default."""
    record = await documents.get(Collection(user, KERNEL_APP, INSTALLATIONS), app_id)
    return bool(record["installed"]) if record else settings.installed_by_default(app_id)


async def write_copy(
    documents: DocumentStore, user: UserKey, app_id: str, installed: bool, now: str
) -> None:
    """Write the copy that direct calls read."""
    copies, data = Collection(user, KERNEL_APP, INSTALLATIONS), {"installed": installed}
    await documents.update(copies, app_id, data, now=now, replace=True)
