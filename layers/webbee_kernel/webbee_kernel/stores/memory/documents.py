"""Documents in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import uuid_utils

from ...sdk.documents import Document, Page
from ...sdk.errors import StoreConflict
from ...values import UserKey
from ...values.plain import JSONObject
from ..declared import MANY, Collection, remedy, tell_cost
from ..jsontext import document_text, loads
from ..keys import app_key, collection_name, document_id, members_key
from ..packing import refuse_oversized
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

ITEM_BYTES: Final = 300
"""Of a document's item in a table, beside its data."""


@dataclass(frozen=True, slots=True)
class _Stored:
    created: str
    text: str
    created_at: str
    updated_at: str
    etag: str


class MemoryDocumentStore:
    """`DocumentStore` in memory."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._collections: dict[tuple[str, str], dict[str, _Stored]] = defaultdict(dict)
        self._users: dict[str, dict[str, UserKey]] = defaultdict(dict)

    async def create(
        self, collection: Collection, data: JSONObject, *, now: str, doc_id: str = ""
    ) -> Document:
        doc_id = document_id(doc_id) if doc_id else uuid_utils.uuid7().hex
        text = document_text(data)
        with self._lock:
            held = self._documents(collection).get(doc_id)
            if held is not None:
                raise StoreConflict(doc_id, "", held.etag)
            return self._put(collection, doc_id, text, now, None)

    async def get(self, collection: Collection, doc_id: str) -> Document | None:
        with self._lock:
            held = self._documents(collection).get(document_id(doc_id))
        return _document(collection, doc_id, held) if held else None

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
        text = document_text(data)
        with self._lock:
            held = self._documents(collection).get(document_id(doc_id))
            etag = held.etag if held else ""
            if if_match and if_match != etag:
                raise StoreConflict(doc_id, if_match, etag)
            if held is not None and not replace:
                text = document_text({**loads(held.text), **loads(text)})
            return self._put(collection, doc_id, text, now, held)

    async def delete(self, collection: Collection, doc_id: str) -> bool:
        with self._lock:
            return self._documents(collection).pop(document_id(doc_id), None) is not None

    async def query(
        self,
        collection: Collection,
        *,
        where: Mapping[str, Any] | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Document]:
        declared = collection.declared
        tokens = Cursor(collection.name, dict(where or {}), order_by or "")
        rows = self._rows(collection, where)
        order = Order(order_by, declared) if order_by else None
        if order and not (order.declared or declared.sought(where)):
            self._tell(collection, order)
        if order:
            return ordered_page(rows, order, tokens, cursor, positive(limit))
        after = created_after(tokens, cursor, collection.name)
        return created_page([row for row in rows if row.created > after], tokens, positive(limit))

    async def count(self, collection: Collection, *, where: Mapping[str, Any] | None = None) -> int:
        return len(self._rows(collection, where))

    async def list_users(
        self, tenant_id: str, app_id: str, collection: str, *, page_size: int = 500
    ) -> AsyncIterator[str]:
        positive(page_size)
        with self._lock:
            users = self._users[members_key(tenant_id, app_id, collection)]
            found = sorted(
                name
                for name, user in users.items()
                if self._documents(Collection(user, app_id, collection))
            )
        for name in found:
            yield name

    def _tell(self, collection: Collection, order: Order) -> None:
        """What the order would have read from a table."""
        held = self._documents(collection)
        if len(held) > MANY:
            size = sum(len(stored.text) + ITEM_BYTES for stored in held.values())
            mended = remedy(collection.name, order.field)
            tell_cost(collection.app_id, collection.name, order.order_by, len(held), size, mended)

    def _documents(self, collection: Collection) -> dict[str, _Stored]:
        key = app_key(collection.user, collection.app_id), collection_name(collection.name)
        return self._collections[key]

    def _put(
        self, collection: Collection, doc_id: str, text: str, now: str, held: _Stored | None
    ) -> Document:
        refuse_oversized(text)
        etag = uuid_utils.uuid7().hex
        if held is None:
            stored = _Stored(f"{collection.name}#{etag}", text, now, now, etag)
        else:
            stored = replace(held, text=text, updated_at=now, etag=etag)
        self._documents(collection)[doc_id] = stored
        user, app_id, name, _ = collection
        self._users[members_key(user.tenant_id, app_id, name)][user.imperal_id] = user
        return _document(collection, doc_id, stored)

    def _rows(self, collection: Collection, where: Mapping[str, Any] | None) -> list[Row]:
        with self._lock:
            held = list(self._documents(collection).items())
        rows = [Row(stored.created, _document(collection, i, stored)) for i, stored in held]
        return [row for row in rows if matches(row.document.data, where)]


def _document(collection: Collection, doc_id: str, stored: _Stored) -> Document:
    return Document(
        doc_id,
        collection.name,
        loads(stored.text),
        stored.created_at,
        stored.updated_at,
        collection.user.imperal_id,
        stored.etag,
    )
