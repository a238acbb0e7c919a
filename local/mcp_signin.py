"""An operator signs in with a server of the Model Context Protocol, in a browser.

The official client finds the server's provider (RFC 9728, RFC 8414), registers a client there (RFC
7591) and asks for a token of that server's (RFC 8707). What it found is kept as the server's own
provider, for everybody's sign-ins; the token is the operator's, for one look at the tools.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from webbee_kernel.config import Provider
from webbee_kernel.mcp.json_rpc import HANDSHAKE

from .loopback import served

WAIT_S: Final = 300.0
"""Seconds an operator has at the provider."""
_DONE: Final = "Signed in. You can close this window."


class NoSignIn(Exception):
    """It came to no token; the text says why."""


@dataclass(frozen=True, slots=True)
class SignedIn:
    """What a sign-in found: the provider, its scopes, a token, and the client's secret where the
    provider insists on one."""

    provider: Provider
    scopes: tuple[str, ...]
    token: str
    secret: str


class _Nothing:
    """A storage that keeps nothing: the library asks for one."""

    async def get_tokens(self, *_: Any) -> None:
        return None

    get_client_info = set_tokens = set_client_info = get_tokens


async def sign_in(
    url: str, callbacks: Sequence[str], shown: Callable[[str], Awaitable[None]]
) -> SignedIn:
    """Sign in with the server at `url`. `callbacks` are the addresses that its provider may send
    people back to; `shown` takes the operator's browser to an address. Raises NoSignIn."""
    with _awaited() as (address, came):
        wanted = OAuthClientMetadata(
            redirect_uris=[address, *callbacks],
            token_endpoint_auth_method="none",  # noqa: S106 - PKCE in the place of a secret
            client_name="Webbee",
            application_type="native" if not callbacks else "web",
        )

        async def back() -> AuthorizationCodeResult:
            async with asyncio.timeout(WAIT_S):
                query = await came
            if "code" not in query:
                raise NoSignIn(query.get("error", "the provider sent nobody back"))
            return AuthorizationCodeResult(**{k: query.get(k) for k in ("code", "state", "iss")})

        auth = OAuthClientProvider(url, wanted, _Nothing(), shown, back)
        try:
            await _knock(url, auth)
        except TimeoutError:
            raise NoSignIn(f"nobody came back within {WAIT_S:g} s") from None
        except NoSignIn:
            raise
        except Exception as error:  # the library has many, each of which says what it is
            raise NoSignIn(str(error) or type(error).__name__) from error
    context = auth.context
    metadata, client, tokens = context.oauth_metadata, context.client_info, context.current_tokens
    if tokens is None or client is None or metadata is None:
        raise NoSignIn("the server asks for no sign-in, or its provider describes itself nowhere")
    asked = context.client_metadata.scope or ""
    provider = Provider(
        authorize_url=str(metadata.authorization_endpoint),
        token_url=str(metadata.token_endpoint),
        resource=context.get_resource_url(),
        client_id=client.client_id,
    )
    return SignedIn(provider, tuple(asked.split()), tokens.access_token, client.client_secret or "")


async def _knock(url: str, auth: OAuthClientProvider) -> None:
    """Say hello, as a client that has no token."""
    hello = {
        "protocolVersion": HANDSHAKE[-1],
        "capabilities": {},
        "clientInfo": {"name": "webbee", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}
    headers = {"accept": "application/json, text/event-stream"}
    async with (
        httpx2.AsyncClient(auth=auth, timeout=30) as http,
        http.stream("POST", url, json=message, headers=headers) as answer,
    ):
        if answer.status_code >= 400:
            raise NoSignIn(f"the server answers {answer.status_code}")


@contextmanager
def _awaited() -> Iterator[tuple[str, asyncio.Future[dict[str, str]]]]:
    """An address on this machine to which a browser is sent back, and the query it brings."""
    loop = asyncio.get_running_loop()
    came: asyncio.Future[dict[str, str]] = loop.create_future()

    def take(query: dict[str, str]) -> None:
        if not came.done():
            came.set_result(query)

    async def answer(request: Request) -> Response:
        loop.call_soon_threadsafe(take, dict(request.query_params))
        return PlainTextResponse(_DONE)

    with served(Starlette(routes=[Route("/callback", answer)]), "sign-in") as address:
        yield f"{address}/callback", came
