"""The SDK's `Context`, made for one call over the kernel's: an instance of its class, its clients
the kernel's."""

from __future__ import annotations

import copy
import re
from collections.abc import AsyncIterator, Coroutine
from dataclasses import dataclass, fields
from typing import Any

from pydantic import BaseModel

from ...sdk import context as kernel
from ...sdk.context import Context
from ...sdk.records import Document
from . import sdk_names as sdk
from .conversion import in_their_words, presentable
from .handbuilt import Gateway, HandBuilt
from .platform_clients import (
    AI,
    HTTP,
    Billing,
    Cache,
    Extensions,
    Notify,
    Secrets,
    Storage,
    deliver,
)

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
        own = {"extension_id": self._app, "tenant_id": self._tenant}
        made = sdk.Document(id=d.id, collection=d.collection, data=d.data, **own)
        for name in ("created_at", "updated_at", "user_id", "etag"):
            setattr(made, name, getattr(d, name))
        return made


def _split(key: str) -> tuple[str, str]:
    collection, slash, doc_id = key.partition("/")
    return (collection, doc_id) if slash else (key, key)


def _check(collection: str, name: str, value: int) -> None:
    if _FORBIDDEN_COLLECTION.search(collection):
        raise ValueError(f"forbidden characters in collection {collection!r}")
    if not 1 <= value <= MAX_LIMIT:
        raise ValueError(f"{name} is {value}: give 1 to {MAX_LIMIT}")


@dataclass(frozen=True, slots=True)
class Adopted:
    """An extension of the SDK under the id that counts here."""

    app_id: str
    ext: Any
    secrets: dict[str, Any]
    cache_models: dict[str, type[BaseModel]]


class Skeleton:
    """`ctx.skeleton`: the kernel decides who may read; the SDK's own guard stands before it."""

    def __init__(self, ctx: Context) -> None:
        self._client = ctx.skeleton
        self._app = ctx.app_id

    async def get(self, section: str) -> dict[str, Any] | None:
        """The previous snapshot, inside `@ext.skeleton` handlers only."""
        with in_their_words(self._app):
            return await self._client.get(section)


class KernelContext(HandBuilt, sdk.Context):  # type: ignore[misc]
    """What a handler of the SDK gets. `tool_type` is skeleton, panel, chat_fn or tool, as in the
    SDK."""

    def __init__(
        self,
        ctx: Context,
        app: Adopted,
        tool_type: str,
        *,
        scoped_from: str = "",
        parent: Gateway | None = None,
    ) -> None:
        given: dict[str, Any] = {
            "user": _user(ctx, scoped_from),
            "tenant": sdk.TenantContext(tenant_id=ctx.user.tenant_id, name=ctx.user.tenant_id),
            "store": Store(ctx.store, app.app_id, ctx.user.tenant_id),
            "ai": AI(ctx.ai, app.app_id),
            "skeleton": Skeleton(ctx),
            "billing": Billing(app.app_id),
            "notify": Notify(ctx.notify, app.app_id),
            "storage": Storage(ctx.store, app.app_id),
            "http": HTTP(ctx.http),
            # a copy, so that nothing an extension changes outlives its call
            "config": sdk.ConfigClient(copy.deepcopy(ctx.config.all())),
            "extensions": Extensions(ctx.extensions, app.app_id),
            "time": _time(ctx),
            "_extension_id": app.app_id,
            "_tool_type": tool_type,
        }
        # not every version of the SDK has all of these fields
        known = {f.name for f in fields(sdk.Context)}
        super().__init__(**{name: value for name, value in given.items() if name in known})
        self._extension = app.ext
        self._cache = Cache(ctx.cache, app.app_id, app.cache_models)
        self.secrets = Secrets(ctx.secrets, app.app_id, app.secrets)
        self.ext_id = self.extension_id = app.app_id
        self._declared_secrets = app.secrets
        self._kernel = ctx
        self._app = app
        gateway = Gateway(ctx, app.app_id, _serve, parent)
        for holder in (self, self.store, self.notify, self.ai, self.http):
            holder._enter(gateway, ctx.user.imperal_id)

    @property
    def cache(self) -> Cache:
        """Short-lived typed values of this user and app."""
        return self._cache

    async def progress(self, percent: float, message: str = "") -> None:
        """Tell the user how far it is."""
        await self._kernel.progress(percent, message)

    async def background_task(
        self, coro: Coroutine[Any, Any, Any], *, long_running: bool = False, name: str = ""
    ) -> str:
        """Go on past the turn; the result reaches the user as an event."""

        async def presented() -> Any:
            return presentable(await coro)

        return await self._kernel.background_task(
            presented(), long_running=long_running, name=name or "background"
        )

    async def deliver_chat_message(
        self, text: str, *, msg_type: str = "response", refresh_panels: list[str] | None = None
    ) -> None:
        """A message outside a turn, at most 64 KB, as an event the page shows."""
        await deliver(self._kernel, text, msg_type, refresh_panels or ())

    async def log(self, message: str, level: str = "info") -> None:
        """One line of the app's log."""
        self._kernel.log(message, level)

    def webhook_url(self, path: str) -> str:
        """The public address of this app's webhook."""
        return self._kernel.webhook_url(path or "")

    async def oauth_authorize_url(self, provider: str, *, login_hint: str | None = None) -> str:
        """The address a user opens to connect an account; the SDK's ExtensionError where the
        operator has not configured the provider."""
        with in_their_words(self._app.app_id):
            return await self._kernel.oauth_authorize_url(provider, login_hint=login_hint)

    def _gw_namespace(self, name: str, cls: Any) -> Any:
        """`ctx.users`, `ctx.apps`, `ctx.rbac`, `ctx.conversations`: the platform's own, so refused
        as the SDK does without a gateway."""
        raise RuntimeError(f"ctx.{name} is not available: this deployment has no platform gateway")

    def as_user(self, user_id: str) -> KernelContext:
        """This context for another user; RuntimeError outside system context, ValueError for nobody
        and for the system itself."""
        with in_their_words(self._app.app_id):
            other = self._kernel.as_user(user_id)
        # after the kernel's own refusal: in a user's call that comes first, whoever is named
        if not user_id or user_id.startswith("__"):
            raise ValueError(f"as_user wants a user's id, not {user_id!r}")
        scoped = KernelContext(
            other,
            self._app,
            self._tool_type,
            scoped_from=self._kernel.user.imperal_id,
            parent=self._gateway,
        )
        for kept in ("agency_id", "agency_theme", "_metadata"):
            setattr(scoped, kept, getattr(self, kept, None))
        return scoped


def _serve() -> str:
    """Start the gateway; its modules are imported when an extension first asks for the address."""
    from .loopback_gateway import serve

    return serve()


class _User(sdk.UserContext):  # type: ignore[misc]
    """The SDK's user, whose id is also called `id`: published extensions read either."""

    @property
    def id(self) -> str:
        """Another name of `imperal_id`."""
        return str(self.imperal_id)


def _user(ctx: Context, scoped_from: str) -> Any:
    """The user in the SDK's frozen model, made anew for each call, so that what a handler does to
    it ends with the call."""
    user = ctx.user
    attributes: dict[str, Any] = {"language": user.language} | (
        {"scoped_from": scoped_from} if scoped_from else {}
    )
    return _User(
        imperal_id=user.imperal_id,
        email=user.email,
        tenant_id=user.tenant_id,
        role=user.role,
        scopes=list(user.scopes),
        attributes=attributes,
    )


def _time(ctx: Context) -> Any:
    """The kernel's clock in the SDK's terms. The kernel knows no user's timezone: local time is
    UTC."""
    now = ctx.time.now()
    return sdk.TimeContext(
        timezone="UTC",
        utc_offset="+00:00",
        now_utc=ctx.time.iso(),
        now_local=now.strftime("%Y-%m-%dT%H:%M:%S"),
        hour_local=now.hour,
        is_business_hours=now.weekday() < 5 and 9 <= now.hour < 18,
    )
