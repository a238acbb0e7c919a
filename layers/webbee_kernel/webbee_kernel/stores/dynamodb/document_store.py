"""Documents.

    pk tenant#user#app   sk collection#id             created etag created_at updated_at
                                                      data | text | packed | parts
                                                      i1 … i4 (declared: see `document_items`)
                         sk collection#id#part#000 …  etag chunk (too large for one item)
                         sk #users#collection         users_key user_id (once a user, collection)
    index by_created     pk, created (collection#<uuid7>)        a collection in order of creation
    index users          users_key tenant#app#collection user_id who has a collection

`#` ends a collection's name in every key, so `a` and `ab` never mix; parts and markers carry no
`created`, so no query meets them. A document in parts is replaced by one transaction over its head
and parts: either all of them are the new version or none is, nothing is ever left over, and no part
needs an expiry that could outlive its purpose. A reader takes head and parts one after the other
and starts again when their etags differ.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any, Final

import uuid_utils

from ...clock import parse_iso
from ...sdk.exceptions import StoreConflict
from ...sdk.records import Document, Page
from ...types import JSONObject, UserKey
from ..codec import document_text, loads
from ..item_keys import collection_name, document_id, members_key
from ..paging import Collection, Declared, positive
from .client import ConditionFailed, Database, Item, S, TableStore, pause
from .document_items import (
    Entries,
    Generation,
    Generations,
    Place,
    etag_of,
    part_count,
    removed_parts,
    unchanged,
    writes_of,
)
from .document_queries import ATTEMPTS, DocumentQueries, DocumentQuery, DocumentReader, contended

_USERS_AT_ONCE: Final = 20


class DocumentStore(TableStore):
    """Documents of collections. `data` is a JSON object; numbers come back exactly as they went in.
    A get, a create and a delete are one request each, an update two."""

    def __init__(self, database: Database, table: str) -> None:
        super().__init__(database, table)
        self._reader = DocumentReader(database, table)
        self._generations = Generations(database, table)
        self._queries = DocumentQueries(database, self._reader, self._generations)

    async def create(
        self, collection: Collection, data: JSONObject, *, now: str, doc_id: str = ""
    ) -> Document:
        """A new document under a fresh time-ordered id, or under `doc_id` if nothing is there
        (StoreConflict otherwise)."""
        place, declared = _place(collection, doc_id or uuid_utils.uuid7().hex), collection.declared
        text = document_text(data)
        for attempt in range(ATTEMPTS):
            try:
                return await self._write(place, None, text, now, declared)
            except ConditionFailed as failure:
                if failure.item.get("sk") == place.key["sk"]:
                    raise StoreConflict(place.doc_id, "", etag_of(failure.item)) from None
                await self._again(place, attempt)
        raise contended(place)

    async def get(self, collection: Collection, doc_id: str) -> Document | None:
        """One document, strongly consistent and whole."""
        place = _place(collection, doc_id)
        head = await self._get(place.key)
        return await self._reader.whole(place, head) if head else None

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
        place, declared = _place(collection, doc_id), collection.declared
        text = document_text(data)
        for attempt in range(ATTEMPTS):
            head = await self._get(place.key)
            held = await self._reader.whole(place, head) if head and not replace else None
            if if_match and if_match != etag_of(head):
                raise StoreConflict(doc_id, if_match, etag_of(head))
            if held is not None and held.etag != etag_of(head):
                continue  # replaced while its parts were read
            merged = document_text({**held.data, **loads(text)}) if held is not None else text
            try:
                return await self._write(place, head, merged, now, declared)
            except ConditionFailed:
                await self._again(place, attempt)
        raise contended(place)

    async def delete(self, collection: Collection, doc_id: str) -> bool:
        """Remove it with all its parts; whether it was there."""
        place, declared = _place(collection, doc_id), collection.declared
        head: Item = {}
        for attempt in range(ATTEMPTS):
            try:
                if head:
                    await self._database.transact(*await self._removals(place, head, declared))
                    return True
                condition = "attribute_not_exists(#parts) AND attribute_not_exists(#i1)"
                answer = await self._delete(place.key, condition, returns="ALL_OLD")
                return "Attributes" in answer
            except ConditionFailed as failure:  # it has parts or entries, or was replaced meanwhile
                spread = part_count(failure.item) > 0 or "i1" in failure.item
                head = failure.item if spread else {}
                if attempt:
                    await self._again(place, attempt)
        raise contended(place)

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
        place, declared = _place(collection), collection.declared
        asked = DocumentQuery(place, declared, where or {}, order_by or "", positive(limit), cursor)
        return await self._queries.query(asked)

    async def count(self, collection: Collection, *, where: Mapping[str, Any] | None = None) -> int:
        """How many match."""
        return await self._queries.count(
            DocumentQuery(_place(collection), collection.declared, where or {})
        )

    async def list_users(
        self, tenant_id: str, app_id: str, collection: str, *, page_size: int = 500
    ) -> AsyncIterator[str]:
        """Users of the tenant that hold at least one document in the collection. Markers are never
        removed; one query of one key per user says whether the collection still holds
        something."""
        request = {
            "TableName": self._table,
            "IndexName": "users",
            "KeyConditionExpression": "#users_key = :members",
            "ExpressionAttributeValues": {
                ":members": S(members_key(tenant_id, app_id, collection))
            },
            "Limit": positive(page_size),
        }
        start: Item | None = {}
        while start is not None:
            items, start = await self._database.page(**request)
            names = [item["user_id"]["S"] for item in items]
            for at in range(0, len(names), _USERS_AT_ONCE):
                group = names[at : at + _USERS_AT_ONCE]
                people = (UserKey(tenant_id, name) for name in group)
                holds = await asyncio.gather(
                    *(self._holds(Collection(user, app_id, collection)) for user in people)
                )
                for name, held in zip(group, holds, strict=True):
                    if held:
                        yield name
            request["ExclusiveStartKey"] = start

    async def _holds(self, collection: Collection) -> bool:
        request = self._reader.collection(_place(collection))
        items, _ = await self._database.page(**request, ProjectionExpression="#pk", Limit=1)
        return bool(items)

    async def _again(self, place: Place, attempt: int) -> None:
        """Before the next attempt of a write that met another state: look at it anew."""
        self._generations.forget(place)
        await pause(attempt)

    async def _write(
        self, place: Place, head: Item | None, text: str, now: str, declared: Declared
    ) -> Document:
        """Put the document in the place of `head`, with its entries in indexes; where that changes
        a count, or it has parts, in one transaction."""
        at = declared.now or parse_iso(now)
        state = await self._generation(place, head, declared, at)
        document, (put, *parts) = writes_of(self._table, place, head, text, now)
        new, item = state.entries_of(document, declared, at), put["Put"]["Item"]
        item |= new.attributes(place.collection, item["created"]["S"])
        counts = state.counting(self._table, place, declared, (Entries.of(head), new))
        if parts or counts:
            await self._database.transact(*counts, put, *parts)
        else:
            await self._database.write("put_item", own={"etag": S(document.etag)}, **put["Put"])
        return document

    async def _generation(
        self, place: Place, head: Item | None, declared: Declared, now: float
    ) -> Generation:
        """The generation to write under, with the marker there: before a first document, so that
        none is ever unlisted. Where nothing is declared it is none, and one that had been ends."""
        if head and not declared:
            if "i1" in head:
                await self._generations.end(place, now)
            return Generation()
        return await self._generations.current(place, declared, now)

    async def _removals(self, place: Place, head: Item, declared: Declared) -> list[JSONObject]:
        state = await self._generation(place, head, declared, declared.now)
        condition, values = unchanged(head)
        guarded = {
            "TableName": self._table,
            "Key": place.key,
            "ConditionExpression": condition,
            "ExpressionAttributeValues": values,
        }
        parts = removed_parts(self._table, place, range(part_count(head)))
        counts = state.counting(self._table, place, declared, (Entries.of(head), Entries()))
        return [*counts, {"Delete": guarded}, *parts]


def _place(collection: Collection, doc_id: str = "") -> Place:
    """Where a document is stored, or without its id, where its collection is."""
    user, app_id, name, _ = collection
    return Place(user, app_id, collection_name(name), doc_id and document_id(doc_id))
