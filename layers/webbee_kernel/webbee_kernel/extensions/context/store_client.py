"""ctx.store: persistent documents of one user and app."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from ...clock import iso
from ...errors import StorageUnavailable
from ...sdk.exceptions import StoreUnavailable
from ...sdk.result import Document, Page
from ...stores.paging import Collection
from ...types import JSONObject

if TYPE_CHECKING:
    from . import CallContext

MAX_LIMIT = 1000
T = TypeVar("T")


class StoreClient:
    """`ctx.store` of one call. In system context it reaches other users of the tenant, too."""

    def __init__(self, ctx: CallContext) -> None:
        self._ctx = ctx
        self._documents = ctx._stores.documents
        self.created: tuple[str, ...] = ()
        """Ids of the first two documents that were created by it."""

    async def create(self, collection: str, data: JSONObject) -> Document:
        call = self._documents.create(self._of(collection), data, now=self._now())
        made = await check_answer(call)
        # two are enough to tell that it was more than one
        self.created = (*self.created, made.id)[:2]
        return made

    async def get(self, collection: str, doc_id: str | None = None) -> Document | None:
        if doc_id is None:
            collection, doc_id = _split(collection)
        return await check_answer(self._documents.get(self._of(collection), doc_id))

    async def update(
        self, collection: str, doc_id: str, data: JSONObject, if_match: str = ""
    ) -> Document:
        """Merge `data` into the document's top level, creating it if missing. `if_match` is the
        etag you read."""
        call = self._documents.update(
            self._of(collection), doc_id, data, now=self._now(), if_match=if_match
        )
        return await check_answer(call)

    async def delete(self, collection: str, doc_id: str) -> bool:
        return await check_answer(self._documents.delete(self._of(collection), doc_id))

    async def query(
        self,
        collection: str,
        where: JSONObject | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Document]:
        if not 1 <= limit <= MAX_LIMIT:
            raise ValueError(f"limit is {limit}: give 1 to {MAX_LIMIT} and follow the cursor")
        call = self._documents.query(
            self._of(collection), where=where, order_by=order_by, limit=limit, cursor=cursor
        )
        return await check_answer(call)

    async def count(self, collection: str, where: JSONObject | None = None) -> int:
        return await check_answer(self._documents.count(self._of(collection), where=where))

    async def set(self, key: str, data: Any) -> Document:
        """Write `collection/id` whole, replacing what was there. A value that is no object is kept
        under `value`."""
        collection, doc_id = _split(key)
        body = data if isinstance(data, dict) else {"value": data}
        call = self._documents.update(
            self._of(collection), doc_id, body, now=self._now(), replace=True
        )
        return await check_answer(call)

    async def list(self, prefix: str = "") -> list[Document]:
        collection, _, start = prefix.partition("/")
        found: list[Document] = []
        cursor, has_more = None, True
        while has_more and len(found) < MAX_LIMIT:
            page = await self.query(collection, limit=MAX_LIMIT, cursor=cursor)
            found += [d for d in page.data if d.id.startswith(start)]
            cursor, has_more = page.cursor, page.has_more
        return found[:MAX_LIMIT]

    async def list_users(self, collection: str, *, page_size: int = 500) -> AsyncIterator[str]:
        """Ids of the tenant's users that have the app and hold documents in the collection. System
        context only (I-LIST-USERS-1)."""
        self._ctx._need_system("I-LIST-USERS-1", "list_users")
        try:
            app_id, has = self._ctx._app, partial(self._ctx._has_app, self._ctx._app)
            async for user_id in self._documents.list_users(
                self._ctx._user.tenant_id, app_id, collection, page_size=page_size, is_included=has
            ):
                yield user_id
        except StorageUnavailable as error:
            raise StoreUnavailable from error

    async def query_all(self, collection: str, *, limit: int = 500) -> list[Document]:  # type: ignore[valid-type]
        self._ctx._need_system("I-LIST-USERS-1", "query_all")
        found: list[Document] = []
        async for user_id in self.list_users(collection):
            store, cursor, has_more = self.for_user(user_id), None, True
            while has_more and len(found) < limit:
                room = min(limit - len(found), MAX_LIMIT)
                page = await store.query(collection, limit=room, cursor=cursor)
                found += page.data
                cursor, has_more = page.cursor, page.has_more
            # further users are not read
            if len(found) >= limit:
                break
        return found

    def for_user(self, user_id: str) -> StoreClient:
        """This store for another user of the tenant: system context only, but for `__webhook__`,
        where chat functions and webhooks of an app meet."""
        return StoreClient(self._ctx._for_user(user_id, "I-AS-USER-1", "for_user"))

    def _of(self, collection: str) -> Collection:
        fields = self._ctx._ext.indexes.get(collection, ())
        return Collection(self._ctx._key, self._ctx._app, collection, fields, self._ctx._now())

    def _now(self) -> str:
        return iso(self._ctx._now())


async def check_answer(call: Awaitable[T]) -> T:
    """A store's result; StoreUnavailable in place of the kernel's own error."""
    try:
        return await call
    except StorageUnavailable as error:
        raise StoreUnavailable from error


def _split(key: str) -> tuple[str, str]:
    collection, slash, doc_id = key.partition("/")
    if not (collection and slash and doc_id):
        raise ValueError(f"{key!r} is no document key: give collection/id")
    return collection, doc_id
