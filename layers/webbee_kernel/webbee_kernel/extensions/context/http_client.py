"""ctx.http: outbound HTTP with caps, and no way into the deployment's own network."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin, urlsplit

from ...invariants import limit
from ...sdk import context
from ...sdk.context import HttpResponse
from ...sdk.exceptions import HttpBlockedError
from ...sdk.net import is_allowed
from ...types import JSONObject

if TYPE_CHECKING:
    import httpx2

DEFAULT_TIMEOUT_S = 30.0
MAX_TIMEOUT_S = float(limit("I-LONGRUN-HTTP-CAP-180S"))
MAX_REDIRECTS = 5
MAX_BODY_BYTES = 10 * 1024 * 1024
_TAKES = ("params", "headers", "json", "data", "content", "files", "cookies", "auth")
_REDIRECTS = (301, 302, 303, 307, 308)


class HttpClient(context.HttpClient):
    """`ctx.http` of one call. `timeout` is in seconds: 30 unless told, never more than 180."""

    def __init__(self, *, allow_private: bool = False) -> None:
        self._allow_private = allow_private

    async def request(
        self,
        method: str,
        url: str,
        *,
        timeout: float | None = None,
        follow_redirects: bool = True,
        **kwargs: Any,
    ) -> HttpResponse:
        """Send and follow at most 5 redirects, or none; keyword arguments are `params headers json
        data content cookies auth`.

        Raises HttpBlockedError for what is no http address or one that extensions may not reach,
        TimeoutError when the time is over, ConnectionError where nobody answers in HTTP, ValueError
        for a body over 10 MB or a sixth redirect.
        """
        if unknown := set(kwargs) - set(_TAKES):
            raise TypeError(
                f"ctx.http does not take {', '.join(sorted(unknown))}: give any of"
                f" {', '.join(_TAKES)}, timeout, follow_redirects"
            )
        asked = DEFAULT_TIMEOUT_S if timeout is None else float(timeout)
        seconds = max(0.001, min(asked, MAX_TIMEOUT_S))
        try:
            async with asyncio.timeout(seconds):
                return await self._follow(method.upper(), url, seconds, kwargs, follow_redirects)
        except TimeoutError:
            raise TimeoutError(
                f"{urlsplit(url).hostname} did not answer in {seconds:g} s: timeout= of the call"
                f" waits up to {MAX_TIMEOUT_S:g} s, the call itself WEBBEE_CALL_SECONDS"
            ) from None

    async def _follow(
        self, method: str, url: str, timeout: float, kwargs: JSONObject, follow: bool
    ) -> HttpResponse:
        for _ in range(MAX_REDIRECTS + 1):
            address = await self._resolve(url)
            response = await _send(method, url, address, timeout, kwargs)
            location = response.headers.get("location")
            if not follow or response.status_code not in _REDIRECTS or not location:
                return response
            target = _joined(url, location)
            old, new = urlsplit(url), urlsplit(target)
            # credentials follow to the same host and port, and never from https down to http
            same = old.netloc == new.netloc and new.scheme in (old.scheme, "https")
            method, kwargs = _redirected(method, response.status_code, kwargs, same_host=same)
            url = target
        raise ValueError(f"more than {MAX_REDIRECTS} redirects")

    async def _resolve(self, url: str) -> str:
        """The address to connect to: resolved once, checked, and then used, so a second answer of
        DNS cannot differ."""
        host, port = _host_and_port(url)
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise ConnectionError(f"cannot resolve {host}: {error}") from None
        addresses = [str(info[4][0]) for info in found]
        # all of them, though one is used: a name that mixes both kinds is refused
        for address in addresses:
            if not is_allowed(address, allow_private=self._allow_private):
                opens = is_allowed(address, allow_private=True)
                cure = "; WEBBEE_HTTP_ALLOW_PRIVATE=true opens this one" if opens else ""
                raise HttpBlockedError(
                    f"{host} leads to {address}: metadata services and private networks are"
                    f" closed to extensions{cure}"
                )
        return addresses[0]


def _host_and_port(url: str) -> tuple[str, int]:
    """Where a URL leads, the name as DNS has it; HttpBlockedError for what is no http address, in
    whichever way."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = parts.port or (443 if parts.scheme == "https" else 80)
        if parts.scheme in ("http", "https") and host and url.isprintable():
            host.encode("idna")  # the resolver's own reading, and its errors
            return host, port
    except (ValueError, TypeError, AttributeError):
        pass
    raise refused(url)


def refused(url: object) -> HttpBlockedError:
    """What a URL that is none ends with."""
    return HttpBlockedError(f"{str(url)[:200]!r} is refused: give an http or https URL")


def _joined(url: str, location: str) -> str:
    try:
        return urljoin(url, location)
    except ValueError:
        raise refused(location) from None


HARMLESS = frozenset(
    "accept accept-charset accept-encoding accept-language cache-control content-language"
    " content-type pragma range user-agent".split()
)
"""Headers that follow a redirect to another host. Any other may hold a key (`X-Api-Key`, `Apikey`,
`PRIVATE-TOKEN`, …) and is for the host it was given for."""


def _redirected(
    method: str, status: int, kwargs: JSONObject, *, same_host: bool
) -> tuple[str, JSONObject]:
    """What a browser would send next: GET after 303, and no credentials to another host."""
    # the target brings its own query
    dropped = {"params"}
    if status == 303 or (status in (301, 302) and method == "POST"):
        method = "GET"
        dropped |= {"json", "data", "content", "files"}
    if not same_host:
        dropped |= {"auth", "cookies"}
        headers = dict(kwargs.get("headers") or {})
        kwargs = {**kwargs, "headers": {k: v for k, v in headers.items() if k.lower() in HARMLESS}}
    return method, {k: v for k, v in kwargs.items() if k not in dropped}


async def _send(
    method: str, url: str, address: str, timeout: float, kwargs: JSONObject
) -> HttpResponse:
    # imported late: most calls make no request, and a cold start should not pay for it
    import httpx2

    # cookies go to the client, which lives for this request: per request they are deprecated
    host, options = urlsplit(url).hostname, {k: v for k, v in kwargs.items() if k != "cookies"}
    client = httpx2.AsyncClient(
        timeout=timeout, trust_env=False, cookies=kwargs.get("cookies"), transport=_pinned(address)
    )
    try:
        async with client, client.stream(method, url, **options) as response:
            body = bytearray()
            async for chunk in response.aiter_bytes():
                body += chunk
                # counted unpacked, as it comes: `content-length` tells neither
                if len(body) > MAX_BODY_BYTES:
                    raise ValueError(f"the answer of {host} is larger than {MAX_BODY_BYTES} bytes")
            told = {k.lower(): v for k, v in response.headers.items()}
            return HttpResponse(response.status_code, told, bytes(body), str(response.url))
    except httpx2.TimeoutException:
        raise TimeoutError(f"{host} did not answer in {timeout:g} s") from None
    except httpx2.InvalidURL:
        raise refused(url) from None
    except httpx2.RequestError as error:
        raise ConnectionError(f"{host}: {str(error) or type(error).__name__}") from None


def _pinned(address: str) -> httpx2.AsyncBaseTransport:
    """A transport that connects to the checked address, whatever the name resolves to by then."""
    import httpcore2
    import httpx2

    class Backend(httpcore2.AsyncNetworkBackend):
        def __init__(self) -> None:
            self._backend = httpcore2.AnyIOBackend()

        async def connect_tcp(
            self, host: str, port: int, *args: Any, **options: Any
        ) -> httpcore2.AsyncNetworkStream:
            # below TLS only: the certificate is still checked against the name
            return await self._backend.connect_tcp(address, port, *args, **options)

    transport = httpx2.AsyncHTTPTransport()
    transport._pool._network_backend = Backend()
    return transport
