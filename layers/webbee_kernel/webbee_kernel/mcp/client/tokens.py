"""Tokens: what a call shows to a server that wants to know who asks."""

from __future__ import annotations

from typing import Final

from ...config import Provider
from ...errors import CallError
from ...sdk import Context, Document, Extension
from ...types import JSONObject
from .servers import McpServer

TOKEN: Final = "token"  # noqa: S105
"""The app-wide secret of a server with `auth` bearer."""
_SOON_S: Final = 60
HOUR: Final = 3_600
"""Seconds a token lasts whose provider does not say."""


def declare(ext: Extension, server: McpServer) -> None:
    """What an operator has to set and a user to connect."""
    if server.auth == "bearer":
        ext.secret(
            TOKEN,
            f"Token for {server.display_name}",
            required=True,
            scope="app",
            max_bytes=16_384,
            env_fallback=f"IMPERAL_APPSECRET_{server.id.replace('-', '_').upper()}_TOKEN",
        )
    if server.auth == "oauth":
        ext.oauth(server.signs_in_with, scopes=list(server.scopes))
        for part in ("id", "secret"):
            ext.secret(f"{server.signs_in_with}_client_{part}", f"OAuth client {part}", scope="app")


async def token_of(ctx: Context, server: McpServer, provider: Provider | None) -> str:
    """The bearer token of this call, empty where the server wants none. CallError
    PERMISSION_DENIED, with what to do, where there is none yet."""
    if server.auth == "bearer":
        token = await ctx.secrets.get(TOKEN)
        if not token:
            raise CallError(
                "PERMISSION_DENIED",
                f"{server.display_name} wants a token: an operator sets the secret {TOKEN!r} of the"
                f" app {server.id}",
            )
        return token
    if provider is not None:
        return await _of_account(ctx, server, provider)
    return ""


async def _of_account(ctx: Context, server: McpServer, provider: Provider) -> str:
    page = await ctx.store.query(f"{server.signs_in_with}_accounts", limit=1)
    if not page.data:
        raise CallError(
            "PERMISSION_DENIED",
            f"connect your account of {server.display_name} first: call {server.id} connect",
        )
    account = page.data[0]
    if (account.get("expires_at") or 0) < ctx.time.timestamp() + _SOON_S:
        return await _renewed(ctx, server, account, provider)
    return str(account["access_token"])


async def _renewed(ctx: Context, server: McpServer, account: Document, provider: Provider) -> str:
    """A fresh token. One that cannot be renewed asks for a new sign-in."""
    name = server.signs_in_with
    form = {
        "grant_type": "refresh_token",
        "refresh_token": account.get("refresh_token") or "",
        "client_id": await ctx.secrets.get(f"{name}_client_id") or provider.client_id,
        "client_secret": await ctx.secrets.get(f"{name}_client_secret") or "",
        **provider.targeted,
    }
    fresh = await _tokens(ctx, provider.token_url, {k: v for k, v in form.items() if v})
    if not isinstance(fresh.get("access_token"), str):
        raise CallError(
            "PERMISSION_DENIED",
            f"the sign-in with {server.display_name} is over: connect the account again",
        )
    seconds = fresh.get("expires_in")
    kept = {k: fresh[k] for k in ("access_token", "refresh_token") if fresh.get(k)}
    kept["expires_at"] = int(ctx.time.timestamp()) + (seconds if isinstance(seconds, int) else HOUR)
    await ctx.store.update(f"{server.signs_in_with}_accounts", account.id, kept)
    return str(fresh["access_token"])


async def _tokens(ctx: Context, token_url: str, form: dict[str, str]) -> JSONObject:
    """The provider's answer; empty where it gives none."""
    answer = await ctx.http.post(token_url, data=form)
    fresh = answer.json() if answer.ok else {}
    return fresh if isinstance(fresh, dict) else {}
