"""For clients that extensions build by hand: the gateway's address, and a token that is valid for
one call; and `ctx.http`, which reaches that address with that token."""

from __future__ import annotations

import contextvars
import functools
import importlib
import json
import secrets
import threading
import weakref
from collections.abc import Callable
from typing import Any

import httpx

from .. import compat as sdk
from ..extensions.context.http_client import MAX_TIMEOUT_S, HttpClient
from ..invariants import breach
from ..sdk import context as kernel
from ..sdk.context import Context
from ..sdk.exceptions import HttpBlockedError

_lock = threading.Lock()
_address = ""
# weak: with its call's context a token stops opening anything
_open: weakref.WeakValueDictionary[str, Gateway] = weakref.WeakValueDictionary()


class Gateway:
    """One call's access to the gateway, for its app, tenant and user; valid while the call's
    context, or a client of it, is alive."""

    def __init__(
        self, ctx: Context, app_id: str, serve: Callable[[], str], parent: Gateway | None = None
    ) -> None:
        """`serve` starts the server and returns its address; it is called once per process."""
        self.ctx = ctx
        self.app_id = app_id
        self._serve = serve
        # the outermost keeps the token: an `as_user` context in between may be gone sooner
        self._parent: Gateway | None = (parent._parent or parent) if parent else None
        self._kept: list[Gateway] = []
        self._token = ""
        self.variables: contextvars.Context | None = None

    @property
    def url(self) -> str:
        """The server's address; the first access in a process starts the server. OSError where no
        socket is available."""
        return _address or _start(self._serve)

    @property
    def token(self) -> str:
        """The secret token of this call, made when first read. That of an `as_user` context is
        valid as long as its parent's."""
        with _lock:
            if not self._token:
                self._token = secrets.token_urlsafe(24)
                self.variables = contextvars.copy_context()
                _open[self._token] = self
                if self._parent:
                    self._parent._kept.append(self)
                    # no cycle: the token ends with the last reference, not with a collection
                    self._parent = None
        return self._token

    def acting(self, user_id: str, *, system: bool = False) -> Context:
        """The kernel's context for this user. SystemContextRequired for another one, or for
        `system`, outside system context."""
        own_id = self.ctx.user.imperal_id
        if user_id in ("", own_id) and not system:
            return self.ctx
        return self.ctx.as_user(user_id or own_id)

    def sent_to_itself(self, url: str, headers: Any) -> bool:
        """Whether a request goes to the running gateway with this call's own token."""
        return (
            bool(_address)
            and url.startswith(f"{_address}/")
            and find(httpx.Headers(headers)) is self
        )


def find(headers: Any) -> Gateway | None:
    """The open call whose token the headers bear, as `X-Service-Token` or as a bearer's; None for a
    wrong one and after the call."""
    scheme, _, bearer = (headers.get("authorization") or "").partition(" ")
    token = headers.get("x-service-token") or (bearer.strip() if scheme.lower() == "bearer" else "")
    return _open.get(token)


class HandBuilt:
    """The SDK's private attributes, on a context and on its clients, from which extensions build
    clients of their own."""

    _gateway: Gateway | None = None
    _extension_id = _user_id = ""
    _tenant_id = "default"

    @functools.cached_property
    def _gateway_url(self) -> str:
        return self._gateway.url if self._gateway else ""

    @functools.cached_property
    def _auth_token(self) -> str:
        return self._gateway.token if self._gateway else ""

    @functools.cached_property
    def _service_token(self) -> str:
        return self._gateway.token if self._gateway else ""

    def __repr__(self) -> str:
        """Without the token."""
        return f"{type(self).__name__}(app={self._extension_id!r})"

    def _enter(self, gateway: Gateway | None, user_id: str) -> None:
        """Set the attributes for this call's gateway, in place of earlier ones."""
        for name in ("_gateway_url", "_auth_token", "_service_token"):
            vars(self).pop(name, None)
        if gateway:
            self._gateway, self._extension_id = gateway, gateway.app_id
            self._user_id, self._tenant_id = user_id, gateway.ctx.user.tenant_id


class HTTP(HandBuilt, kernel.HttpClient):
    """GET, POST, PUT, PATCH and DELETE; `timeout` is in seconds, over 180 is refused.

    Of this machine's addresses it reaches the gateway's only, and that with its own call's token in
    the headers only.
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
    """The body: JSON where the content type says so and it parses, else text; bytes where it is not
    UTF-8."""
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


def _start(serve: Callable[[], str]) -> str:
    """Start the server, once per process, and make the SDK's store client name the acting user."""
    global _address
    with _lock:
        if not _address:
            address = serve()
            client = importlib.import_module("imperal_sdk.store.client").StoreClient
            client._headers = _naming_the_user(client._headers)
            # last: who sees the address sends at once, and needs the headers above
            _address = address
        return _address


def _naming_the_user(original: Any) -> Any:
    """`StoreClient._headers` with `X-Acting-User` for our address: the SDK names the user in three
    of its eight requests only."""

    @functools.wraps(original)
    def headers(self: Any) -> Any:
        sent = original(self)
        return (
            {**sent, "X-Acting-User": self._user_id.encode()}
            if self._user_id and self._gateway_url == _address
            else sent
        )

    return headers
