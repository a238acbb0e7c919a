"""`ctx.storage`: files as documents of the user and app, since a deployment has no bucket."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import httpx
from pydantic import BaseModel

from ...errors import CallError
from ...extensions.context.http_client import MAX_TIMEOUT_S, HttpClient, Verbs
from ...invariants import breach
from ...sdk import context as kernel
from ...sdk.exceptions import HttpBlockedError
from . import sdk_names as sdk
from .conversion import in_their_words
from .handbuilt import HandBuilt

INDEX = "imperal.storage"
CONTENT = "imperal.storage.content"
MAX_BYTES = 3_500_000
"""Bytes of one file: what is left of the store's 3.8 MB a document once the content is text."""


class Storage:
    """Files of one user and app. The bytes and their entry are two documents; the entry is written
    last and removed first."""

    def __init__(self, store: kernel.StoreClient, app_id: str) -> None:
        self._store = store
        self._app = app_id

    async def upload(
        self, path: str, data: bytes, content_type: str = "application/octet-stream"
    ) -> Any:
        """Keep a file of at most 3.5 MB; ValueError over that."""
        if len(data) > MAX_BYTES:
            raise ValueError(
                f"{path!r} has {len(data)} bytes; ctx.storage keeps at most {MAX_BYTES} a file"
            )
        name, entry = _name(path), {"path": path, "size": len(data), "content_type": content_type}
        with in_their_words(self._app):
            await self._store.set(f"{CONTENT}/{name}", {"base64": base64.b64encode(data).decode()})
            made = await self._store.set(f"{INDEX}/{name}", entry)
        return sdk.FileInfo(**entry, created_at=made.created_at)

    async def download(self, path: str) -> bytes:
        """The file's bytes; FileNotFoundError where there is none."""
        with in_their_words(self._app):
            found = await self._store.get(CONTENT, _name(path))
        if found is None:
            raise FileNotFoundError(path)
        return base64.b64decode(found["base64"])

    async def delete(self, path: str) -> bool:
        """Remove it; whether it was there."""
        with in_their_words(self._app):
            there = await self._store.delete(INDEX, _name(path))
            await self._store.delete(CONTENT, _name(path))
        return there

    async def list(self, prefix: str = "") -> Any:
        """Files whose path starts so, at most 1,000."""
        with in_their_words(self._app):
            page = await self._store.query(INDEX, limit=1_000)
        kept = ("path", "size", "content_type")
        files = [
            sdk.FileInfo(**{name: d[name] for name in kept}, created_at=d.created_at)
            for d in page.data
            if str(d["path"]).startswith(prefix)
        ]
        return sdk.Page(data=files, has_more=page.has_more, cursor=page.cursor)


def _name(path: str) -> str:
    """A document id for any path."""
    return hashlib.sha256(path.encode()).hexdigest()


class HTTP(HandBuilt, Verbs[Any]):
    """GET, POST, PUT, PATCH and DELETE; `timeout` is in seconds, over 180 is refused.

    Of this machine it reaches the gateway alone, and that only with the token of its own call among
    the headers.
    """

    def __init__(self, http: kernel.HttpClient) -> None:
        self._http = http

    async def request(
        self, method: str, url: str, *, timeout: float | None = None, **kwargs: Any
    ) -> Any:
        """Send; raises what httpx raises: ConnectError, ReadTimeout, TooManyRedirects."""
        if timeout is not None and not 0 < timeout <= MAX_TIMEOUT_S:
            why = f"This timeout is {timeout} s: longer work goes to ctx.background_task."
            raise ValueError(breach("I-LONGRUN-HTTP-CAP-180S", why))
        sent = httpx.Request(method, url)
        try:
            found = await self._client(str(url), kwargs).request(
                method, str(url), timeout=timeout, **_options(sent, kwargs)
            )
        except TimeoutError as error:
            raise httpx.ReadTimeout(
                str(error) or f"{sent.url.host} did not answer in time", request=sent
            ) from None
        except (ConnectionError, HttpBlockedError) as error:
            raise httpx.ConnectError(str(error), request=sent) from None
        except ValueError as error:
            # the kernel's client raises the same for a body that is too large
            if "redirects" in str(error):
                raise httpx.TooManyRedirects(str(error), request=sent) from None
            raise
        return sdk.HTTPResponse(
            status_code=found.status_code, body=_body(found), headers=dict(found.headers)
        )

    def _client(self, url: str, kwargs: dict[str, Any]) -> kernel.HttpClient:
        own = self._gateway is not None and self._gateway.sent_to_itself(url, kwargs.get("headers"))
        return HttpClient(allow_private=True) if own else self._http


def _options(request: httpx.Request, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keyword arguments as the kernel's client takes them: an httpx auth object becomes the headers
    it would send."""
    options = dict(kwargs)
    if isinstance(auth := options.get("auth"), httpx.Auth):
        del options["auth"]
        plain, headers = request.headers.copy(), httpx.Headers(options.get("headers"))
        signed = next(auth.sync_auth_flow(request)).headers
        headers.update({k: v for k, v in signed.items() if plain.get(k) != v})
        options["headers"] = dict(headers)
    return options


def _body(response: kernel.HttpResponse) -> Any:
    """JSON where the answer says so and is, otherwise text; bytes where it is not UTF-8."""
    raw = response.body
    if "json" in response.headers.get("content-type", ""):
        try:
            return json.loads(raw)
        except ValueError:
            return raw.decode("utf-8", "replace")
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


MAX_MESSAGE_BYTES = 64 * 1024


class Cache:
    """`ctx.cache`: only instances of models registered with `@ext.cache_model`, as the SDK
    wants."""

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


class Secrets:
    """`ctx.secrets`: the SDK's errors and its `SecretStatus`."""

    def __init__(
        self, secrets: kernel.SecretsClient, app_id: str, declared: dict[str, Any]
    ) -> None:
        self._secrets = secrets
        self._app = app_id
        self._declared = declared

    def __repr__(self) -> str:
        return f"Secrets(app={self._app!r})"

    async def get(self, name: str) -> str | None:
        with self._vault():
            return await self._secrets.get(name)

    async def set(self, name: str, value: str) -> None:
        """Write it, where the declaration lets extensions write."""
        with self._vault():
            await self._secrets.set(name, value)

    async def delete(self, name: str) -> bool:
        """Forget it; whether it was there."""
        with self._vault():
            return await self._secrets.delete(name)

    async def is_set(self, name: str) -> bool:
        """Whether there is a value."""
        with self._vault():
            return await self._secrets.is_set(name)

    async def list(self) -> list[Any]:
        """What is declared and whether it is set; never a value."""
        return [
            sdk.SecretStatus(n, s.description, await self.is_set(n), None)
            for n, s in self._declared.items()
        ]

    def for_user(self, user_id: str) -> Secrets:
        """Another user's; RuntimeError outside system context."""
        with in_their_words(self._app):
            return Secrets(self._secrets.for_user(user_id), self._app, self._declared)

    @contextmanager
    def _vault(self) -> Iterator[None]:
        """Errors of secrets in the SDK's names: the vault's own outage is not the store's."""
        try:
            with in_their_words(self._app):
                yield
        except sdk.StoreUnavailable as outage:
            raise sdk.SecretVaultUnavailable(str(outage)) from None
        except PermissionError as refused:
            raise sdk.SecretWriteForbidden(str(refused)) from None


class Notify(HandBuilt):
    """`ctx.notify("text", priority="high")` and `ctx.notify.send(...)`."""

    def __init__(self, notify: kernel.NotifyClient, app_id: str) -> None:
        self._notify = notify
        self._app = app_id

    async def __call__(self, message: str, **kwargs: Any) -> None:
        """Tell the user."""
        with in_their_words(self._app):
            await self._notify.send(message, **{"channel": "in_app", **kwargs})

    async def send(self, message: str, channel: str = "in_app", **kwargs: Any) -> None:
        """The same, by name."""
        await self(message, channel=channel, **kwargs)

    def for_user(self, user_id: str) -> Notify:
        """Tell another user; RuntimeError outside system context."""
        with in_their_words(self._app):
            theirs = Notify(self._notify.for_user(user_id), self._app)
        theirs._enter(self._gateway, user_id)
        return theirs


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


class AI(HandBuilt):
    """`ctx.ai`: the deployment's model answers, whatever `model` says."""

    def __init__(self, ai: kernel.AIClient, app_id: str) -> None:
        self._ai = ai
        self._app = app_id

    async def complete(self, prompt: str, model: str = "", **kwargs: Any) -> Any:
        """The SDK's `CompletionResult`, `tokens_used` included."""
        with in_their_words(self._app):
            r = await self._ai.complete(prompt, model, **kwargs)
        made = sdk.CompletionResult(
            text=r.text, model=r.model, usage=dict(r.usage), stop_reason=r.stop_reason
        )
        made.tokens_used = r.tokens_used
        return made


class Extensions:
    """`ctx.extensions`: calls between extensions, of this SDK or the kernel's own."""

    def __init__(self, extensions: kernel.ExtensionsClient, app_id: str) -> None:
        self._extensions = extensions
        self._app = app_id

    async def call(self, app_id: str, method: str, **params: Any) -> Any:
        """An exposed method's result; the SDK's NotFoundError, AuthError or CircularCallError where
        there is none."""
        with in_their_words(app_id):
            try:
                return await self._extensions.call(app_id, method, **params)
            except CallError as error:
                if error.code == "UNKNOWN_SUB_FUNCTION":
                    raise sdk.NotFoundError("method", f"{app_id}.{method}") from None
                raise

    async def emit(self, event_type: str, data: dict[str, Any]) -> None:
        """Tell all that listen."""
        with in_their_words(self._app):
            await self._extensions.emit(event_type, data)


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
    """A method of the SDK's billing client that is there, as its protocol wants, and refuses."""

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
