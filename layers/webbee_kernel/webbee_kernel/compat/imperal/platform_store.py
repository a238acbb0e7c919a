"""`ctx.store` in the SDK's shapes, over the kernel's."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

from ...sdk import context as kernel
from ...sdk.records import Document
from . import sdk_names as sdk
from .conversion import in_their_words
from .handbuilt import HandBuilt

PAGE = 1_000
MAX_LIMIT = 10_000
"""Documents of one answer: the kernel pages by 1,000, the SDK lets an extension ask for 10,000."""

_FORBIDDEN_COLLECTION = re.compile(r"[:*?\[\]\s/]")


class Store(HandBuilt):
    """`ctx.store`: documents as the SDK's `Document`, pages as its `Page`."""

    def __init__(self, store: kernel.StoreClient, app_id: str, tenant_id: str) -> None:
        self._store = store
        self._app = app_id
        self._tenant = tenant_id

    async def create(self, collection: str, data: dict[str, Any]) -> Any:
        """A new document."""
        with in_their_words(self._app):
            return self._document(await self._store.create(collection, data))

    async def get(self, collection: str, doc_id: str | None = None) -> Any:
        """One document or None; `get("collection/id")` works too, and a bare name is both."""
        if doc_id is None:
            collection, doc_id = _split(collection)
        with in_their_words(self._app):
            found = await self._store.get(collection, doc_id)
        return None if found is None else self._document(found)

    async def update(
        self, collection: str, doc_id: str, data: dict[str, Any], if_match: str = ""
    ) -> Any:
        """Merge; the SDK's StoreConflict on another etag."""
        with in_their_words(self._app):
            return self._document(await self._store.update(collection, doc_id, data, if_match))

    async def set(self, key: str, data: Any) -> Any:
        """Upsert `collection/id`; as in the SDK it merges into what is there."""
        collection, doc_id = _split(key)
        return await self.update(
            collection, doc_id, data if isinstance(data, dict) else {"value": data}
        )

    async def delete(self, collection: str, doc_id: str) -> bool:
        """Remove it; whether it was there."""
        with in_their_words(self._app):
            return await self._store.delete(collection, doc_id)

    async def query(
        self,
        collection: str,
        where: dict[str, Any] | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Any:
        """A page of at most `limit` documents, 10,000 at once."""
        wanted = max(1, min(limit, MAX_LIMIT))
        found: list[Document] = []
        with in_their_words(self._app):
            while True:
                page = await self._store.query(
                    collection, where, order_by, min(wanted - len(found), PAGE), cursor
                )
                found.extend(page.data)
                cursor = page.cursor
                if not page.has_more or len(found) >= wanted:
                    break
        documents = [self._document(d) for d in found]
        return sdk.Page(
            data=documents, cursor=page.cursor, has_more=page.has_more, total=page.total
        )

    async def list(self, prefix: str = "") -> list[Any]:
        """Documents of a collection."""
        with in_their_words(self._app):
            return [self._document(d) for d in await self._store.list(prefix)]

    async def count(self, collection: str, where: dict[str, Any] | None = None) -> int:
        """How many match."""
        with in_their_words(self._app):
            return await self._store.count(collection, where)

    async def list_users(self, collection: str, *, page_size: int = 500) -> AsyncIterator[str]:
        """Users with documents in the collection; RuntimeError outside system context."""
        _check(collection, "page_size", page_size)
        with in_their_words(self._app):
            async for user_id in self._store.list_users(collection, page_size=page_size):
                yield user_id

    async def query_all(self, collection: str, *, limit: int = 500) -> list[Any]:  # type: ignore[valid-type]
        """Documents of all users, each with its `user_id`; RuntimeError outside system context."""
        _check(collection, "limit", limit)
        with in_their_words(self._app):
            found: Any = await self._store.query_all(collection, limit=limit)
            return [self._document(d) for d in found]

    def for_user(self, user_id: str) -> Store:
        """Another user's store; RuntimeError outside system context."""
        with in_their_words(self._app):
            theirs = Store(self._store.for_user(user_id), self._app, self._tenant)
        theirs._enter(self._gateway, user_id)
        return theirs

    def _document(self, d: Document) -> Any:
        made = sdk.Document(
            id=d.id,
            collection=d.collection,
            data=d.data,
            extension_id=self._app,
            tenant_id=self._tenant,
        )
        made.created_at, made.updated_at, made.user_id, made.etag = (
            d.created_at,
            d.updated_at,
            d.user_id,
            d.etag,
        )
        return made


def _split(key: str) -> tuple[str, str]:
    collection, slash, doc_id = key.partition("/")
    return (collection, doc_id) if slash else (key, key)


def _check(collection: str, name: str, value: int) -> None:
    if _FORBIDDEN_COLLECTION.search(collection):
        raise ValueError(f"forbidden characters in collection {collection!r}")
    if not 1 <= value <= MAX_LIMIT:
        raise ValueError(f"{name} is {value}: give 1 to {MAX_LIMIT}")
