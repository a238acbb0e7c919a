"""`Context`: what a handler gets, and the shapes of its clients; and `Sentences`, what an app tells
people, each in his language.

The kernel fills a `Context` per call; extension code only reads it. There is no `fact_ledger`, no
history and no skeleton writer here: handlers never see them.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Protocol, TypeVar, overload

from pydantic import BaseModel

from .result import Document, Page
from .result import User as User

ModelT = TypeVar("ModelT", bound=BaseModel)


class StoreClient(Protocol):
    """Persistent documents of this user and app."""

    async def create(self, collection: str, data: dict[str, Any]) -> Document:
        """A new document; its id is made here. The data is JSON, of any size."""

    async def get(self, collection: str, doc_id: str | None = None) -> Document | None:
        """One document, by collection and id or by `"collection/id"`; None where there is none."""

    async def update(
        self, collection: str, doc_id: str, data: dict[str, Any], if_match: str = ""
    ) -> Document:
        """Merge top-level fields; a missing document is made. StoreConflict where `if_match` is
        not the current etag."""

    async def delete(self, collection: str, doc_id: str) -> bool:
        """Whether it was there."""

    async def query(
        self,
        collection: str,
        where: dict[str, Any] | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Document]:
        """Documents whose top-level fields equal those of `where`, as they were made or by
        `order_by` (`"-field"` descends); at most 1,000 a page. `ext.index` makes it cheap."""

    async def count(self, collection: str, where: dict[str, Any] | None = None) -> int:
        """How many a query would find."""

    async def set(self, key: str, data: Any) -> Document:
        """Write `"collection/id"` whole, replacing what was there."""

    async def list(self, prefix: str = "") -> list[Document]:
        """Documents of a collection, or of `"collection/start of id"`; at most 1,000."""

    def list_users(self, collection: str, *, page_size: int = 500) -> AsyncIterator[str]:
        """Users that have the app, and documents of the collection. System context only."""

    async def query_all(self, collection: str, *, limit: int = 500) -> list[Document]:  # type: ignore[valid-type]
        """Documents of all users. System context only."""

    def for_user(self, user_id: str) -> StoreClient:
        """Another user's documents. System context only."""


class CacheClient(Protocol):
    """Short-lived values of this user and app: TTL 5 to 300 s, 64 KB a value."""

    @overload
    async def get(self, key: str, model: type[ModelT]) -> ModelT | None:
        """The value or None: JSON, or with a registered model an instance of it."""

    @overload
    async def get(self, key: str, model: None = None) -> Any: ...

    async def set(self, key: str, value: Any, ttl_seconds: int = 60) -> None:
        """Keep JSON or a registered model, at most 65,536 bytes, 5 to 300 s; keys are 1 to 128 of
        `A-Za-z0-9_-:`. ValueError or TypeError names the limit."""

    async def delete(self, key: str) -> None:
        """Forget it under every model."""

    async def get_or_fetch(
        self,
        key: str,
        model: type[ModelT] | None,
        fetcher: Callable[[], Awaitable[Any]],
        ttl_seconds: int = 60,
    ) -> Any:
        """The cached value, else what `fetcher` returns, which is then kept."""


class SkeletonClient(Protocol):
    """Reads this app's previous snapshot, inside `@ext.skeleton` handlers only."""

    async def get(self, section: str) -> dict[str, Any] | None:
        """The section's previous snapshot, None before the first. SkeletonAccessForbidden
        elsewhere."""


class SecretsClient(Protocol):
    """Declared secrets of this user or app. Values never reach a log."""

    async def get(self, name: str) -> str | None:
        """The value, None where nobody set it. SecretNotDeclaredError for an unknown name."""

    async def set(self, name: str, value: str) -> None:
        """PermissionError where only its user may, SecretTooLargeError over `max_bytes`."""

    async def delete(self, name: str) -> bool:
        """Forget it; whether it was there. PermissionError where only its user may."""

    async def is_set(self, name: str) -> bool:
        """Whether there is a value."""

    def for_user(self, user_id: str) -> SecretsClient:
        """Another user's secrets. System context only."""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer, read whole: at most 10 MB."""

    status_code: int
    headers: Mapping[str, str]
    body: bytes
    url: str = ""

    @property
    def ok(self) -> bool:
        """Whether the status is below 400."""
        return self.status_code < 400

    def text(self) -> str:
        """The body as UTF-8, broken bytes replaced."""
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        """The body as JSON; ValueError where it is none."""
        return json.loads(self.body)


class HttpClient:
    """Outbound HTTP: 30 s default, 180 s cap, at most 5 redirects, no private or metadata
    addresses."""

    async def request(self, method: str, url: str, **kwargs: Any) -> HttpResponse:
        """Keyword arguments: `params headers json data content files cookies auth timeout
        follow_redirects`. HttpBlockedError, TimeoutError, ConnectionError, ValueError (10 MB)."""
        raise NotImplementedError

    async def get(self, url: str, **kwargs: Any) -> HttpResponse:
        return await self.request("GET", url, **kwargs)

    async def post(self, url: str, **kwargs: Any) -> HttpResponse:
        return await self.request("POST", url, **kwargs)

    async def put(self, url: str, **kwargs: Any) -> HttpResponse:
        return await self.request("PUT", url, **kwargs)

    async def patch(self, url: str, **kwargs: Any) -> HttpResponse:
        return await self.request("PATCH", url, **kwargs)

    async def delete(self, url: str, **kwargs: Any) -> HttpResponse:
        return await self.request("DELETE", url, **kwargs)


class ConfigClient:
    """The merged configuration of this app: its defaults, overlaid by the deployment's, overlaid by
    the tenant's."""

    def __init__(self, merged: dict[str, Any]) -> None:
        self._merged = merged

    def get(self, key: str, default: Any = None) -> Any:
        """A value; dots descend: `get("smtp.port")`."""
        value: Any = self._merged
        for part in key.split("."):
            if not isinstance(value, Mapping) or part not in value:
                return default
            value = value[part]
        return value

    def get_section(self, section: str) -> dict[str, Any]:
        """A sub-tree, empty where there is none."""
        value = self.get(section, {})
        return dict(value) if isinstance(value, Mapping) else {}

    def all(self) -> dict[str, Any]:
        """Everything."""
        return dict(self._merged)


class NotifyClient(Protocol):
    """Messages to the user outside the chat turn."""

    async def send(self, message: str, channel: str = "in_app", **kwargs: Any) -> None:
        """At most 2,000 characters. ValueError for an empty text."""

    def for_user(self, user_id: str) -> NotifyClient:
        """Another user's. System context only."""


class AIClient(Protocol):
    """A plain completion by the deployment's model."""

    async def complete(self, prompt: str, model: str = "", **kwargs: Any) -> Any:
        """`.text`, `.model`, `.usage` of the deployment's model, whatever `model` says."""


class ExtensionsClient(Protocol):
    """Calls between extensions: only `@ext.expose`d methods, at most 6 nested, no cycles."""

    async def call(self, app_id: str, method: str, **params: Any) -> Any:
        """An exposed method's result. CircularCallError in a circle; fails where the app is not
        installed for the user or exposes no such method."""

    async def emit(self, event_type: str, data: dict[str, Any]) -> None:
        """Tell every extension that listens with `@ext.on_event`; a failing one is logged."""


class TimeContext(Protocol):
    """The clock, in the user's terms."""

    def now(self) -> datetime:
        """The time, in UTC."""

    def timestamp(self) -> float:
        """Unix seconds."""

    def iso(self) -> str:
        """`2026-05-15T17:21:04Z`."""


class Log(Protocol):
    """`ctx.log("message")`, awaited or not, or `ctx.log.info/warning/error("message",
    field=value)`."""

    def __call__(self, message: str, level: str = "info") -> Awaitable[None]: ...
    def info(self, message: str, **fields: Any) -> None: ...
    def warning(self, message: str, **fields: Any) -> None: ...
    def error(self, message: str, **fields: Any) -> None: ...


class SearchWords(Protocol):
    """What somebody looks for. A word stands in a text by its letters, in any case and anywhere, or
    in another of its forms: "books" in "A book". Small words ("the", "of") count alone only."""

    def __bool__(self) -> bool:
        """Whether there are any."""

    def are_in(self, text: str) -> bool:
        """Whether each word stands in a text."""

    def held(self, text: str) -> frozenset[str]:
        """The words that stand in a text."""

    def best(self, counts: Mapping[frozenset[str], int]) -> list[frozenset[str]]:
        """Which combinations of words are worth showing, the best first: all of them, then what
        holds enough of what they tell. `counts` says how many texts hold just these."""

    def place_in(self, text: str) -> tuple[int, int] | None:
        """Where the first one that stands there begins and ends; None where none does."""

    def beginnings(self) -> dict[str, str]:
        """Each word, and it without its ending, for a server that compares letters."""


class Context:
    """One handler call's view of the world."""

    user: User
    app_id: str
    store: StoreClient
    cache: CacheClient
    skeleton: SkeletonClient
    secrets: SecretsClient
    http: HttpClient
    config: ConfigClient
    notify: NotifyClient
    ai: AIClient
    extensions: ExtensionsClient
    time: TimeContext
    log: Log

    async def progress(self, percent: float, message: str = "") -> None:
        """Tell the user how far a long call is, 0 to 100."""
        raise NotImplementedError

    async def background_task(
        self, coro: Coroutine[Any, Any, Any], *, long_running: bool = False, name: str = ""
    ) -> str:
        """Continue past the turn; the result reaches the user as an event. Returns the task's
        id."""
        raise NotImplementedError

    def words(self, text: str) -> SearchWords:
        """What the user looks for, to be compared with texts of the app."""
        raise NotImplementedError

    def as_user(self, user_id: str) -> Context:
        """This context for another user; system context only (`SystemContextRequired`
        otherwise)."""
        raise NotImplementedError

    def webhook_url(self, path: str) -> str:
        """The public address of this app's webhook."""
        raise NotImplementedError

    async def oauth_authorize_url(self, provider: str, *, login_hint: str | None = None) -> str:
        """The address that a user opens to connect an account; good once and for ten minutes.

        The account becomes a document of `<provider>_accounts` (or of the collection `ext.oauth`
        names), and listeners of `<app_id>.oauth_connected` are called. Raises ValueError for an
        unknown provider, OAuthNotConfigured where the deployment lacks the client id,
        PermissionError without a user.
        """
        raise NotImplementedError

    async def oauth_token(self, provider: str, account: str = "") -> str:
        """The access token of the account that the user connected, empty where there is none.
        `account` is its document's id, the first one's without. A token that ends is renewed by one
        call for all; where the provider refuses, the call ends with PERMISSION_DENIED and says that
        the account has to be connected again.
        """
        raise NotImplementedError


class Sentences:
    """What an app tells people, from a JSON file: `{key: {language: sentence}}`.

    A sentence that counts something is an object by CLDR's plural forms (`one few many other`; what
    a form lacks is said in `other`), with `none` for no thing at all where that has its own words.
    """

    def __init__(self, module: str, name: str = "sentences.json") -> None:
        """The file `name` in the folder of a module: `Sentences(__file__)`."""
        self._texts: dict[str, dict[str, Any]] = json.loads(
            Path(module).with_name(name).read_text("utf-8")
        )

    def texts(self, key: str) -> dict[str, str]:
        """The sentence `key` by language, as `titles=` of a function takes it."""
        return {tag: text for tag, text in self._texts[key].items() if isinstance(text, str)}

    def say(self, reader: Context | str, key: str, n: int = 0, **values: object) -> str:
        """The sentence `key` in the language of a call's user, or of a BCP 47 tag, with its
        `{values}` filled in; in English where that language has none. `n`, a value too, chooses
        the plural form. KeyError for an unknown key."""
        texts = self._texts[key]
        told = reader if isinstance(reader, str) else reader.user.language
        tag = re.split("[-_]", told.lower(), maxsplit=1)[0]
        tag = tag if tag in texts else "en" if "en" in texts else next(iter(texts))
        text = texts[tag]
        if not isinstance(text, str):
            form = "none" if n == 0 and "none" in text else _plural(tag, n)
            text = text.get(form, text["other"])
        return str(text.format(n=n, **values))


def _plural(tag: str, n: int) -> str:
    """CLDR's plural form; `other` in a language that is not installed with the kernel."""
    from babel import Locale, UnknownLocaleError  # 6 ms, for who counts

    try:
        return str(Locale.parse(tag).plural_form(n))
    except (UnknownLocaleError, ValueError):
        return "other"
