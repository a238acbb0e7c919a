"""A server of the Model Context Protocol as an operator names it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ...config import PROVIDER_NAME, HttpUrl, Provider
from ...errors import CallError
from ...sdk import Context, Document, Extension
from ...types import JSONObject

RESERVED: Final = ("kernel",)
"""Ids that the kernel's own functions bear."""

OPEN_S: Final = 10.0
"""Seconds in which a server has to say hello and list its tools."""


class McpServer(BaseModel):
    """Where a server is and how the kernel signs in. Its tools become functions of the app `id`.

    A remote server has a `url` (streamable HTTP), one on this machine a `command` (stdio), with
    variables (`env`) and a working directory (`cwd`) of its own. `auth`:
    `bearer` takes the app-wide secret `token`, `oauth` the account that each user connects with
    `provider`, a known one, one of the deployment's, or the server's own, which `oauth` describes
    (`webbee mcp add --oauth` finds it) and which bears the server's id. `timeout_s` is how long one
    request may take.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$")
    url: HttpUrl | None = None
    command: str = Field("", max_length=500)
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = Field("", max_length=1_000)
    name: str = Field("", max_length=60)
    auth: Literal["none", "bearer", "oauth"] = "none"
    provider: Annotated[str, Field(pattern=f"^({PROVIDER_NAME})?$")] = ""
    oauth: Provider | None = None
    scopes: tuple[str, ...] = ()
    timeout_s: float = Field(30.0, gt=0, le=120)

    @model_validator(mode="after")
    def _whole(self) -> McpServer:
        if bool(self.url) == bool(self.command):
            raise ValueError("a server has either a url or a command")
        if self.url and (self.env or self.cwd):
            raise ValueError("env and cwd belong to a command")
        if self.id in RESERVED:
            raise ValueError(f"the id {self.id!r} is the kernel's own")
        self._check_sign_in()
        return self

    def _check_sign_in(self) -> None:
        if self.auth != "none" and not self.url:
            raise ValueError("only a server with a url is signed in to")
        if (self.auth == "oauth") != bool(self.provider or self.oauth):
            raise ValueError("auth oauth and a provider belong together")
        if self.oauth and not re.fullmatch(PROVIDER_NAME, self.signs_in_with):
            raise ValueError("the id of a server with a provider of its own begins with a letter")

    @property
    def signs_in_with(self) -> str:
        """The name of its provider; empty where it has none."""
        return self.provider or (self.id if self.oauth else "")

    @property
    def where(self) -> str:
        """What was approved: the address, or the command with its arguments."""
        return self.url or " ".join((self.command, *self.args))

    @property
    def display_name(self) -> str:
        """What people read: the operator's word, never the server's; else the id as a name."""
        words = self.id.replace("-", " ")
        return self.name or words[:1].upper() + words[1:]


def servers_of(given: Iterable[Mapping[str, object]]) -> tuple[McpServer, ...]:
    """The servers of a list of JSON objects; ValueError with the first thing that is wrong."""
    try:
        return tuple(McpServer.model_validate(one) for one in given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}".removeprefix(": ")) from None


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
