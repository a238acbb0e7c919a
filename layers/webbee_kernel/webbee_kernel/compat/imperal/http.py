"""`ctx.http`: the SDK's `HTTPResponse`, the errors of its HTTP library, the kernel's caps and
closed networks."""

from __future__ import annotations

import json
from typing import Any

import httpx

from ...extensions.context.http_client import MAX_TIMEOUT_S, HttpClient, Verbs
from ...invariants import breach
from ...sdk import context as kernel
from ...sdk.errors import HttpBlockedError
from . import names as sdk
from .handbuilt import HandBuilt


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
            raise ValueError(
                breach(
                    "I-LONGRUN-HTTP-CAP-180S",
                    f"This timeout is {timeout} s: longer work goes to ctx.background_task.",
                )
            )
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
        signed = next(auth.sync_auth_flow(request))
        options["headers"] = {
            **dict(options.get("headers") or {}),
            "authorization": signed.headers.get("authorization", ""),
        }
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
