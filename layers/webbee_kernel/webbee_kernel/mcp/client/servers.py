"""A server of the Model Context Protocol as an operator names it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ...config import PROVIDER_NAME, HttpUrl, Provider

RESERVED: Final = ("kernel",)
"""Ids that the kernel's own functions bear."""


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
        """What people read: the operator's word, never the server's."""
        return self.name or self.id


def servers_of(given: Iterable[Mapping[str, object]]) -> tuple[McpServer, ...]:
    """The servers of a list of JSON objects; ValueError with the first thing that is wrong."""
    try:
        return tuple(McpServer.model_validate(one) for one in given)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}".removeprefix(": ")) from None
