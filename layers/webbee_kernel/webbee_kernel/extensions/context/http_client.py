"""ctx.http: outbound HTTP with limits, without access to private networks."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

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
_ARGUMENTS = ("params", "headers", "json", "data", "content", "files", "cookies", "auth")
REDIRECT_HEADERS = frozenset(
    "accept accept-charset accept-encoding accept-language cache-control connection"
    " content-language content-length content-type host pragma range transfer-encoding"
    " user-agent".split()
)
"""Headers that follow a redirect to another host. Any other may hold a key (`X-Api-Key`, `Apikey`,
`PRIVATE-TOKEN`, …) and is for the host it was given for."""


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
        data content files cookies auth`.

        Raises HttpBlockedError for what is no http address or one that extensions may not reach,
        TimeoutError when the time is over, ConnectionError where nobody answers in HTTP, ValueError
        for a body over 10 MB or a sixth redirect.
        """
        if unknown := set(kwargs) - set(_ARGUMENTS):
            raise TypeError(
                f"ctx.http does not take {', '.join(sorted(unknown))}: give any of"
                f" {', '.join(_ARGUMENTS)}, timeout, follow_redirects"
            )
        # imported late: most calls make no request, and a cold start should not pay for it
        import httpx2

        requested_s = DEFAULT_TIMEOUT_S if timeout is None else float(timeout)
        seconds = max(0.001, min(requested_s, MAX_TIMEOUT_S))
        host = _parse(url).host
        try:
            async with asyncio.timeout(seconds):
                return await self._exchange(method.upper(), url, seconds, kwargs, follow_redirects)
        except (TimeoutError, httpx2.TimeoutException):
            raise TimeoutError(
                f"{host} did not answer in {seconds:g} s: timeout= of the call waits up to"
                f" {MAX_TIMEOUT_S:g} s, the call itself WEBBEE_CALL_SECONDS"
            ) from None
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol):
            raise bad_url(url) from None
        except httpx2.RequestError as error:
            raise ConnectionError(f"{host}: {str(error) or type(error).__name__}") from None

    async def _exchange(
        self, method: str, url: str, timeout: float, kwargs: JSONObject, follow: bool
    ) -> HttpResponse:
        """The response after redirects. Each request is sent by itself, so that its host is checked
        again; bodies of redirects are not read."""
        import httpx2

        # cookies go to the client, which lives for this request: per request they are deprecated
        options = {k: v for k, v in kwargs.items() if k not in ("auth", "cookies")}
        auth, cookies = kwargs.get("auth"), kwargs.get("cookies")
        async with httpx2.AsyncClient(
            timeout=timeout, trust_env=False, cookies=cookies, transport=_transport(self)
        ) as client:
            request = client.build_request(method, url, **options)
            for _ in range(MAX_REDIRECTS + 1):
                answer = await client.send(request, auth=auth, stream=True)
                try:
                    if not (follow and answer.has_redirect_location):
                        return await _read(answer)
                finally:
                    await answer.aclose()
                auth, request = None, _next(request, answer)
        raise ValueError(f"more than {MAX_REDIRECTS} redirects")

    async def _resolve(self, host: str, port: int) -> str:
        """The address to connect to, resolved and checked once, against DNS rebinding."""
        loop = asyncio.get_running_loop()
        try:
            found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            raise ConnectionError(f"cannot resolve {host}: {error}") from None
        addresses = [str(info[4][0]) for info in found]
        # all of them, though one is used: a name that mixes both kinds is refused
        for address in addresses:
            if not is_allowed(address, allow_private=self._allow_private):
                is_private = is_allowed(address, allow_private=True)
                cure = "; WEBBEE_HTTP_ALLOW_PRIVATE=true opens this one" if is_private else ""
                raise HttpBlockedError(
                    f"{host} leads to {address}: metadata services and private networks are"
                    f" closed to extensions{cure}"
                )
        return addresses[0]


def _parse(url: object) -> httpx2.URL:
    """A URL; HttpBlockedError for anything but an http(s) URL."""
    import httpx2

    try:
        parsed = httpx2.URL(url)  # type: ignore[arg-type]
        parsed.host.encode("idna")  # the resolver's own reading, and its errors
    except (httpx2.InvalidURL, TypeError, ValueError):
        raise bad_url(url) from None
    if parsed.scheme not in ("http", "https") or not parsed.host or not str(url).isprintable():
        raise bad_url(url)
    return parsed


def bad_url(url: object) -> HttpBlockedError:
    """The error for an invalid URL."""
    return HttpBlockedError(f"{str(url)[:200]!r} is refused: give an http or https URL")


def _next(request_sent: httpx2.Request, answer: httpx2.Response) -> httpx2.Request:
    """The redirected request; to another host without headers that may hold a key."""
    request = answer.next_request
    if request is None:
        raise bad_url(answer.headers["location"])
    old, new = request_sent.url, _parse(str(request.url))
    # credentials follow to the same host and port, and never from https down to http
    if old.netloc != new.netloc or new.scheme not in (old.scheme, "https"):
        for name in {*request.headers} - REDIRECT_HEADERS:
            del request.headers[name]
    return request


async def _read(answer: httpx2.Response) -> HttpResponse:
    body = bytearray()
    async for chunk in answer.aiter_bytes():
        body += chunk
        # counted unpacked, as it comes: `content-length` tells neither
        if len(body) > MAX_BODY_BYTES:
            host = answer.url.host
            raise ValueError(f"the answer of {host} is larger than {MAX_BODY_BYTES} bytes")
    headers = {k.lower(): v for k, v in answer.headers.items()}
    return HttpResponse(answer.status_code, headers, bytes(body), str(answer.url))


def _transport(client: HttpClient) -> httpx2.AsyncBaseTransport:
    """A transport that connects to the checked address."""
    import httpcore2
    import httpx2

    class Backend(httpcore2.AsyncNetworkBackend):
        def __init__(self) -> None:
            self._backend = httpcore2.AnyIOBackend()

        async def connect_tcp(
            self, host: str, port: int, *args: Any, **options: Any
        ) -> httpcore2.AsyncNetworkStream:
            # below TLS only: the certificate is still checked against the name
            address = await client._resolve(host, port)
            return await self._backend.connect_tcp(address, port, *args, **options)

    transport = httpx2.AsyncHTTPTransport()
    transport._pool._network_backend = Backend()
    return transport
