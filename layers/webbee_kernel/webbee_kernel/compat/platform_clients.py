"""The clients of the SDK's `Context`: they call the kernel's own and convert answers and errors to
the SDK's."""

from __future__ import annotations

import base64
import copy
import functools
import hashlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from pydantic import BaseModel

from .. import compat as sdk
from ..errors import CallError
from ..extensions.context.services import CompletionResult
from ..invariants import breach
from ..sdk import context as kernel
from ..sdk.result import Document, Page
from .conversion import in_their_words
from .handbuilt import HandBuilt

PAGE = 1_000
MAX_LIMIT = 10_000
"""Documents of one answer: the kernel pages by 1,000, the SDK lets an extension ask for 10,000."""

_FORBIDDEN_COLLECTION = re.compile(r"[:*?\[\]\s/]")


class Client(HandBuilt):
    """A client of the kernel's with the SDK's types and errors."""

    def __init__(self, client: Any, app_id: str, tenant_id: str = "") -> None:
        self._client = client
        self._extension_id = app_id
        self._tenant_id = tenant_id

    def for_user(self, user_id: str) -> Any:
        """The same client for another user; RuntimeError outside system context."""
        theirs = copy.copy(self)
        with self._words():
            theirs._client = self._client.for_user(user_id)
        theirs._enter(self._gateway, user_id)
        return theirs

    def _words(self) -> AbstractContextManager[None]:
        return in_their_words(self._extension_id)

    def _told(self, value: Any) -> Any:
        """The kernel's answer as the SDK's type of the same name."""
        match value:
            case list():
                return [self._told(each) for each in value]
            case Document():
                own = {"extension_id": self._extension_id, "tenant_id": self._tenant_id}
                return _made(sdk.Document, value, ("id", "collection", "data"), own)
            case Page():
                return _made(sdk.Page, value, (), {"data": self._told(value.data)})
            case CompletionResult():
                return _made(sdk.CompletionResult, value, ("text",), {})
        return value


def _made(kind: Any, value: Any, named: Sequence[str], own: dict[str, Any]) -> Any:
    """An object of the SDK with all fields of the kernel's; some are set afterwards, as not every
    version's constructor takes them."""
    made = kind(**{name: getattr(value, name) for name in named}, **own)
    for name in type(value).__dataclass_fields__.keys() - own.keys():
        setattr(made, name, getattr(value, name))
    return made


def translated(method: Callable[..., Any]) -> Any:
    """A method that calls the kernel client's of that name and converts its answer and errors."""

    @functools.wraps(method)
    async def call(self: Client, *args: Any, **kwargs: Any) -> Any:
        with self._words():
            return self._told(await getattr(self._client, method.__name__)(*args, **kwargs))

    return call


class Store(Client):
    """`ctx.store`: documents as the SDK's `Document`, pages as its `Page`."""

    create = translated(kernel.StoreClient.create)
    update = translated(kernel.StoreClient.update)
    delete = translated(kernel.StoreClient.delete)
    list = translated(kernel.StoreClient.list)
    count = translated(kernel.StoreClient.count)
    _get = translated(kernel.StoreClient.get)
    _query = translated(kernel.StoreClient.query)
    _query_all = translated(kernel.StoreClient.query_all)

    async def get(self, collection: str, doc_id: str | None = None) -> Any:
        """One document or None; `get("collection/id")` works too, and a bare name is both."""
        return await self._get(*(_split(collection) if doc_id is None else (collection, doc_id)))

    async def set(self, key: str, data: Any) -> Any:
        """Upsert `collection/id`; as in the SDK it merges into what is there."""
        return await self.update(*_split(key), data if isinstance(data, dict) else {"value": data})

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
        asked = collection, where or None, order_by or None
        page = await self._query(*asked, min(wanted, PAGE), cursor or None)
        # a page of the kernel's may be shorter than it was asked for
        while page.has_more and (left := wanted - len(page.data)) > 0:
            more = await self._query(*asked, min(left, PAGE), page.cursor)
            more.data = [*page.data, *more.data]
            page = more
        return page

    async def list_users(self, collection: str, *, page_size: int = 500) -> AsyncIterator[str]:
        """Users with documents in the collection; RuntimeError outside system context."""
        _check(collection, "page_size", page_size)
        with self._words():
            async for user_id in self._client.list_users(collection, page_size=page_size):
                yield user_id

    async def query_all(self, collection: str, *, limit: int = 500) -> Any:
        """Documents of all users, each with its `user_id`; RuntimeError outside system context."""
        _check(collection, "limit", limit)
        return await self._query_all(collection, limit=limit)


def _split(key: str) -> tuple[str, str]:
    collection, slash, doc_id = key.partition("/")
    return (collection, doc_id) if slash else (key, key)


def _check(collection: str, name: str, value: int) -> None:
    if _FORBIDDEN_COLLECTION.search(collection):
        raise ValueError(f"forbidden characters in collection {collection!r}")
    if not 1 <= value <= MAX_LIMIT:
        raise ValueError(f"{name} is {value}: give 1 to {MAX_LIMIT}")


class Skeleton(Client):
    """`ctx.skeleton`: the kernel decides who may read; the SDK's own guard stands before it."""

    get = translated(kernel.SkeletonClient.get)


class AI(Client):
    """`ctx.ai`: the deployment's model answers, whatever `model` says."""

    complete = translated(kernel.AIClient.complete)


class Notify(Client):
    """`ctx.notify("text", priority="high")` and `ctx.notify.send(...)`."""

    send = translated(kernel.NotifyClient.send)

    async def __call__(self, message: str, **kwargs: Any) -> None:
        await self.send(message, **kwargs)


class Secrets(Client):
    """`ctx.secrets`: the SDK's errors and its `SecretStatus`."""

    get = translated(kernel.SecretsClient.get)
    set = translated(kernel.SecretsClient.set)
    delete = translated(kernel.SecretsClient.delete)
    is_set = translated(kernel.SecretsClient.is_set)

    def __init__(self, client: Any, app_id: str, declared: dict[str, Any]) -> None:
        super().__init__(client, app_id)
        self._declared = declared

    async def list(self) -> Any:
        """What is declared and whether it is set; never a value."""
        return [
            sdk.SecretStatus(n, s.description, await self.is_set(n), None)
            for n, s in self._declared.items()
        ]

    @contextmanager
    def _words(self) -> Iterator[None]:
        """The vault's own outage is not the store's."""
        try:
            with super()._words():
                yield
        except sdk.StoreUnavailable as outage:
            raise sdk.SecretVaultUnavailable(str(outage)) from None
        except PermissionError as refused:
            raise sdk.SecretWriteForbidden(str(refused)) from None


class Extensions(Client):
    """`ctx.extensions`: calls between extensions, of this SDK or the kernel's own."""

    emit = translated(kernel.ExtensionsClient.emit)

    async def call(self, app_id: str, method: str, **params: Any) -> Any:
        """An exposed method's result; the SDK's NotFoundError, AuthError or CircularCallError where
        there is none."""
        with in_their_words(app_id):
            try:
                return await self._client.call(app_id, method, **params)
            except CallError as error:
                if error.code == "UNKNOWN_SUB_FUNCTION":
                    raise sdk.NotFoundError("method", f"{app_id}.{method}") from None
                raise


INDEX = "imperal.storage"
CONTENT = "imperal.storage.content"
MAX_BYTES = 3_500_000
"""Bytes of one file: what is left of the store's 3.8 MB a document once the content is text."""


class Storage:
    """`ctx.storage`: files as documents of the user and app, since a deployment has no bucket. The
    bytes and their entry are two documents; the entry is written last and removed first."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def upload(
        self, path: str, data: bytes, content_type: str = "application/octet-stream"
    ) -> Any:
        """Keep a file of at most 3.5 MB; ValueError over that."""
        if len(data) > MAX_BYTES:
            raise ValueError(
                f"{path!r} has {len(data)} bytes; ctx.storage keeps at most {MAX_BYTES} a file"
            )
        name, entry = _name(path), {"path": path, "size": len(data), "content_type": content_type}
        await self._store.set(f"{CONTENT}/{name}", {"base64": base64.b64encode(data).decode()})
        return _file(await self._store.set(f"{INDEX}/{name}", entry))

    async def download(self, path: str) -> bytes:
        """The file's bytes; FileNotFoundError where there is none."""
        found = await self._store.get(CONTENT, _name(path))
        if found is None:
            raise FileNotFoundError(path)
        return base64.b64decode(found["base64"])

    async def delete(self, path: str) -> bool:
        """Remove it; whether it was there."""
        there: bool = await self._store.delete(INDEX, _name(path))
        await self._store.delete(CONTENT, _name(path))
        return there

    async def list(self, prefix: str = "") -> Any:
        """Files whose path starts so, at most 1,000."""
        page = await self._store.query(INDEX, limit=PAGE)
        page.data = [_file(d) for d in page.data if str(d["path"]).startswith(prefix)]
        return page


def _name(path: str) -> str:
    """A document id for any path."""
    return hashlib.sha256(path.encode()).hexdigest()


def _file(entry: Any) -> Any:
    kept = {name: entry[name] for name in ("path", "size", "content_type")}
    return sdk.FileInfo(**kept, created_at=entry.created_at)


MAX_MESSAGE_BYTES = 64 * 1024


async def deliver(
    ctx: kernel.Context, text: str, msg_type: str, refresh_panels: Sequence[str]
) -> None:
    """`ctx.deliver_chat_message`: a message outside a turn, cut at 64 KB."""
    raw = text.encode("utf-8", "replace")
    if len(raw) > MAX_MESSAGE_BYTES:
        # ignore: the cut may go through a character
        text = raw[:MAX_MESSAGE_BYTES].decode("utf-8", "ignore") + "...(truncated)"
    made: Any = ctx
    await made.deliver(text, msg_type, tuple(refresh_panels))


class Cache:
    """`ctx.cache`: only instances of models registered with `@ext.cache_model`, as in the SDK."""

    def __init__(
        self, cache: kernel.CacheClient, app_id: str, models: dict[str, type[BaseModel]]
    ) -> None:
        self._cache = cache
        self._app = app_id
        self._models = models

    async def get(self, key: str, model: type[BaseModel]) -> Any:
        """The value, or None."""
        self._registered(model)
        return await self._cache.get(key, model)

    async def set(self, key: str, value: BaseModel, ttl_seconds: int = 60) -> None:
        """Keep it."""
        if not isinstance(value, BaseModel):
            raise TypeError(
                f"cache.set takes an instance of a registered model, not {type(value).__name__}"
                " (I-CACHE-PYDANTIC-ONLY)"
            )
        self._registered(type(value))
        await self._cache.set(key, value, _checked(ttl_seconds))

    async def delete(self, key: str) -> None:
        """Forget it under every model."""
        await self._cache.delete(key)

    async def get_or_fetch(
        self,
        key: str,
        model: type[BaseModel],
        fetcher: Callable[[], Awaitable[Any]],
        ttl_seconds: int = 60,
    ) -> Any:
        """The cached value, or what `fetcher` returns, which must be an instance of `model`."""
        self._registered(model)

        async def fetch() -> Any:
            fresh = await fetcher()
            if not isinstance(fresh, model):
                raise TypeError(
                    f"the fetcher of {key!r} returned {type(fresh).__name__}, not {model.__name__}"
                    " (I-CACHE-PYDANTIC-ONLY)"
                )
            return fresh

        return await self._cache.get_or_fetch(key, model, fetch, _checked(ttl_seconds))

    def _registered(self, model: Any) -> None:
        if not (isinstance(model, type) and issubclass(model, BaseModel)):
            raise TypeError("ctx.cache wants a Pydantic model class (I-CACHE-PYDANTIC-ONLY)")
        if model not in self._models.values():
            wanted = f"decorate it with @ext.cache_model(name) in {self._app}"
            raise ValueError(
                f"cache model {model.__name__!r} is not registered: {wanted}"
                " (I-CACHE-MODEL-REGISTRATION-REQUIRED)"
            )


class Billing:
    """`ctx.billing`: a deployment of one's own bills nobody, so nothing is exceeded and nothing can
    be bought."""

    def __init__(self, app_id: str) -> None:
        self._app = app_id

    async def check_limits(self, user: Any = None) -> Any:
        """Nothing is exceeded; readable as either of the SDK's two results of this name."""
        made = sdk.LimitsResult(plan="self-hosted", usage={}, limits={}, exceeded=[])
        for name, value in vars(sdk.BillingLimits()).items():
            if not hasattr(made, name):
                setattr(made, name, value)
        return made

    async def get_subscription(self, user: Any = None) -> Any:
        """A plan called self-hosted."""
        made = sdk.SubscriptionInfo(plan_id="self-hosted", plan_name="self-hosted", status="active")
        made.plan = "self-hosted"
        return made

    async def get_balance(self, user: Any = None) -> Any:
        """Zero of zero: there is no balance."""
        return sdk.BalanceInfo(plan="self-hosted")

    async def track_usage(self, meter: str, quantity: int = 1, user: Any = None) -> bool:
        """False, nothing is metered: the SDK's own answer where no meter can be reached."""
        return False


def _refusing(name: str) -> Any:
    """A method of the SDK's billing client that exists, as its protocol demands, and refuses."""

    async def refused(self: Billing, *args: Any, **kwargs: Any) -> Any:
        raise sdk.ExtensionError(
            self._app, f"billing.{name} is not there: this deployment bills nobody"
        )

    return refused


# as the installed version has them: code may look whether a method is there
for _method in dir(sdk.BillingClient):
    if not _method.startswith("_") and not hasattr(Billing, _method):
        setattr(Billing, _method, _refusing(_method))


def _checked(ttl: Any) -> int:
    """The SDK refuses a TTL that is no integer with ValueError, where the kernel says TypeError."""
    # not isinstance: True is an int, and no number of seconds
    if type(ttl) is not int:
        raise ValueError(breach("I-CACHE-TTL-CAP-300S", f"ttl_seconds is {ttl!r}."))
    return ttl
