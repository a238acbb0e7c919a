"""Documents.

    pk tenant#user#app   sk collection#id             created etag created_at updated_at
                                                      data | packed | parts
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

from ...sdk.documents import Document, Page
from ...sdk.errors import StoreConflict
from ...values import UserKey
from ...values.plain import JSONObject
from ..jsontext import dumps, loads
from ..keys import collection_name, document_id, members_key
from ..paging import (
    Cursor,
    Order,
    created_after,
    created_page,
    ordered_page,
    positive,
)
from .client import LAYOUT, ConditionFailed, Database, Item, S, key_of, pause
from .document_items import Place, etag_of, part_count, writes_of
from .document_reads import ATTEMPTS, DocumentReader, contended

_KNOWN_MARKERS: Final = 10_000
_USERS_AT_ONCE: Final = 20


class DynamoDocumentStore:
    """`DocumentStore` on one table. A get, a create and a delete are one request each, an update
    two."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table
        self._reader = DocumentReader(database, table)
        self._marked: set[tuple[str, str]] = set()

    async def create(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        data: JSONObject,
        *,
        now: str,
        doc_id: str = "",
    ) -> Document:
        place = Place(
            user,
            app_id,
            collection_name(collection),
            document_id(doc_id) if doc_id else uuid_utils.uuid7().hex,
        )
        text = _text(data)
        await self._mark(place)
        try:
            return await self._write(place, None, text, now)
        except ConditionFailed as failure:
            raise StoreConflict(place.doc_id, "", etag_of(failure.item)) from None

    async def get(
        self, user: UserKey, app_id: str, collection: str, doc_id: str
    ) -> Document | None:
        place = Place(user, app_id, collection_name(collection), document_id(doc_id))
        head = await self._database.get(self._table, place.key)
        return await self._reader.whole(place, head) if head else None

    async def update(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        doc_id: str,
        data: JSONObject,
        *,
        now: str,
        if_match: str = "",
        replace: bool = False,
    ) -> Document:
        place = Place(user, app_id, collection_name(collection), document_id(doc_id))
        text = _text(data)
        for attempt in range(ATTEMPTS):
            head = await self._database.get(self._table, place.key)
            held = await self._reader.whole(place, head) if head and not replace else None
            if if_match and if_match != etag_of(head):
                raise StoreConflict(doc_id, if_match, etag_of(head))
            if held is not None and held.etag != etag_of(head):
                continue  # replaced while its parts were read
            if head is None:
                await self._mark(place)
            merged = _text({**held.data, **loads(text)}) if held is not None else text
            try:
                return await self._write(place, head, merged, now)
            except ConditionFailed:
                await pause(attempt)
        raise contended(place)

    async def delete(self, user: UserKey, app_id: str, collection: str, doc_id: str) -> bool:
        place = Place(user, app_id, collection_name(collection), document_id(doc_id))
        head: Item = {}
        for _ in range(ATTEMPTS):
            try:
                if head:
                    await self._database.transact(*self._removals(place, head))
                    return True
                answer = await self._database.write(
                    "delete_item",
                    TableName=self._table,
                    Key=place.key,
                    ConditionExpression="attribute_not_exists(#parts)",
                    ReturnValues="ALL_OLD",
                )
                return "Attributes" in answer
            except ConditionFailed as failure:  # it has parts, or was replaced meanwhile
                head = failure.item if part_count(failure.item) else {}
        raise contended(place)

    async def query(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        *,
        where: Mapping[str, Any] | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Document]:
        """Reads what the page needs; with `order_by` all that is in the collection."""
        tokens = Cursor(collection, dict(where or {}), order_by or "")
        if order_by:
            order = Order(order_by)
            return ordered_page(
                await self._reader.rows(user, app_id, collection, where),
                order,
                tokens,
                cursor,
                positive(limit),
            )
        after = created_after(tokens, cursor, collection)
        rows = await self._reader.rows(
            user, app_id, collection, where, after=after, need=positive(limit) + 1
        )
        return created_page(rows, tokens, limit)

    async def count(
        self, user: UserKey, app_id: str, collection: str, *, where: Mapping[str, Any] | None = None
    ) -> int:
        if where:
            return len(await self._reader.rows(user, app_id, collection, where))
        return await self._database.count(**self._reader.collection(user, app_id, collection))

    async def list_users(
        self, tenant_id: str, app_id: str, collection: str, *, page_size: int = 500
    ) -> AsyncIterator[str]:
        """Markers are never removed; one query of one key per user says whether the collection
        still holds something."""
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
                holds = await asyncio.gather(
                    *(self._holds(UserKey(tenant_id, name), app_id, collection) for name in group)
                )
                for name, held in zip(group, holds, strict=True):
                    if held:
                        yield name
            request["ExclusiveStartKey"] = start

    async def _holds(self, user: UserKey, app_id: str, collection: str) -> bool:
        items, _ = await self._database.page(
            **self._reader.collection(user, app_id, collection), ProjectionExpression="#pk", Limit=1
        )
        return bool(items)

    async def _mark(self, place: Place) -> None:
        """Note that the user may hold documents of the collection: before the first one, so that
        none is ever unlisted."""
        marker = (place.pk, place.collection)
        if marker in self._marked:
            return
        members = members_key(place.user.tenant_id, place.app_id, place.collection)
        item = {
            **key_of(place.pk, f"#users#{place.collection}"),
            **LAYOUT,
            "users_key": S(members),
            "user_id": S(place.user.imperal_id),
        }
        await self._database.call("put_item", TableName=self._table, Item=item)
        if len(self._marked) >= _KNOWN_MARKERS:
            self._marked.clear()
        self._marked.add(marker)

    async def _write(self, place: Place, head: Item | None, text: str, now: str) -> Document:
        document, (put, *parts) = writes_of(self._table, place, head, text, now)
        if parts:
            put["Put"]["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
            await self._database.transact(put, *parts)
        else:
            await self._database.write("put_item", own={"etag": S(document.etag)}, **put["Put"])
        return document

    def _removals(self, place: Place, head: Item) -> list[JSONObject]:
        guarded = {
            "TableName": self._table,
            "Key": place.key,
            "ConditionExpression": "#etag = :etag",
            "ExpressionAttributeValues": {":etag": head["etag"]},
            "ReturnValuesOnConditionCheckFailure": "ALL_OLD",
        }
        parts = [
            {"Delete": {"TableName": self._table, "Key": place.part(n)}}
            for n in range(part_count(head))
        ]
        return [{"Delete": guarded}, *parts]


def _text(data: JSONObject) -> str:
    if not isinstance(data, dict):
        raise TypeError(f"a document's data is a dict, not {type(data).__name__}")
    return dumps(data)
