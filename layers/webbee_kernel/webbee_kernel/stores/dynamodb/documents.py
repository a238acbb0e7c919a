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

from ...errors import StorageUnavailable
from ...sdk.documents import Document, Page
from ...sdk.errors import StoreConflict
from ...values import UserKey
from ..jsontext import dumps, loads
from ..keys import app_key, collection_name, document_id, members_key
from ..paging import (
    Cursor,
    Order,
    Row,
    created_after,
    created_page,
    matches,
    ordered_page,
    positive,
)
from .client import ConditionFailed, Database, Item, S, key_of, pause
from .document_items import Place, document_from, etag_of, part_count, writes_of

ATTEMPTS: Final = 60
_SCAN_PAGE: Final = 200
"""Items read at a time while looking for those that match `where`."""
_KNOWN_MARKERS: Final = 10_000
_USERS_AT_ONCE: Final = 20


class DynamoDocumentStore:
    """`DocumentStore` on one table. A get, a create and a delete are one request each, an update
    two."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table
        self._marked: set[tuple[str, str]] = set()

    async def create(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        data: dict[str, Any],
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
        return await self._whole(place, head) if head else None

    async def update(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        doc_id: str,
        data: dict[str, Any],
        *,
        now: str,
        if_match: str = "",
        replace: bool = False,
    ) -> Document:
        place = Place(user, app_id, collection_name(collection), document_id(doc_id))
        text = _text(data)
        for attempt in range(ATTEMPTS):
            head = await self._database.get(self._table, place.key)
            held = await self._whole(place, head) if head and not replace else None
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
        raise _contended(place)

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
        raise _contended(place)

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
                await self._rows(user, app_id, collection, where),
                order,
                tokens,
                cursor,
                positive(limit),
            )
        after = created_after(tokens, cursor, collection)
        rows = await self._rows(
            user, app_id, collection, where, after=after, need=positive(limit) + 1
        )
        return created_page(rows, tokens, limit)

    async def count(
        self, user: UserKey, app_id: str, collection: str, *, where: Mapping[str, Any] | None = None
    ) -> int:
        if where:
            return len(await self._rows(user, app_id, collection, where))
        return await self._database.count(**self._collection(user, app_id, collection))

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
            **self._collection(user, app_id, collection), ProjectionExpression="#pk", Limit=1
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

    def _removals(self, place: Place, head: Item) -> list[dict[str, Any]]:
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

    async def _whole(self, place: Place, head: Item) -> Document | None:
        """The document of a head, of a newer one if it was replaced while its parts were read; None
        if it was deleted."""
        current: Item | None = head
        for attempt in range(ATTEMPTS):
            if current is None:
                return None
            if not part_count(current):
                return document_from(place, current)
            parts = await self._database.items(
                TableName=self._table,
                KeyConditionExpression="#pk = :pk AND begins_with(#sk, :parts)",
                ExpressionAttributeValues={":pk": S(place.pk), ":parts": S(place.part_prefix)},
                ConsistentRead=True,
            )
            if len(parts) == part_count(current) and all(
                part["etag"] == current["etag"] for part in parts
            ):
                return document_from(place, current, parts)
            await pause(attempt)
            current = await self._database.get(self._table, place.key)
        raise _contended(place)

    def _collection(
        self, user: UserKey, app_id: str, collection: str, after: str = ""
    ) -> dict[str, Any]:
        """A Query of the collection in order of creation, beyond one creation key. `!` sorts before
        hex digits and `g` after them."""
        low = f"{after}!" if after else f"{collection_name(collection)}#"
        return {
            "TableName": self._table,
            "IndexName": "by_created",
            "KeyConditionExpression": "#pk = :pk AND #created BETWEEN :low AND :high",
            "ExpressionAttributeValues": {
                ":pk": S(app_key(user, app_id)),
                ":low": S(low),
                ":high": S(f"{collection}#g"),
            },
            "ConsistentRead": True,
        }

    async def _rows(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        where: Mapping[str, Any] | None,
        *,
        after: str = "",
        need: int = 0,
    ) -> list[Row]:
        """Matching documents in order of creation: all, or the first `need`."""
        request = self._collection(user, app_id, collection, after)
        if need:
            request["Limit"] = _SCAN_PAGE if where else need
        rows: list[Row] = []
        while True:
            items, start = await self._database.page(**request)
            wholes = (self._whole(Place.of(user, app_id, item), item) for item in items)
            documents = await asyncio.gather(*wholes)
            rows += (
                Row(item["created"]["S"], document)
                for item, document in zip(items, documents, strict=True)
                if document is not None and matches(document.data, where)
            )
            if start is None or (need and len(rows) >= need):
                return rows[: need or None]
            request["ExclusiveStartKey"] = start


def _text(data: dict[str, Any]) -> str:
    if not isinstance(data, dict):
        raise TypeError(f"a document's data is a dict, not {type(data).__name__}")
    return dumps(data)


def _contended(place: Place) -> StorageUnavailable:
    return StorageUnavailable(
        f"The document {place.collection}/{place.doc_id} is being replaced all the time; try again."
    )
