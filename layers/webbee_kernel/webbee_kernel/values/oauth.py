"""An OAuth provider as an operator names it."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field

HttpUrl = Annotated[str, Field(pattern=r"^https?://[^\s]+$", max_length=500)]


NAME: Final = r"[a-z][a-z0-9_-]{0,31}"
"""A provider's name: it stands in the callback's path and in the names of its two secrets."""


class Provider(BaseModel):
    """Where a provider is asked. `userinfo_url` tells whose account it is when the answer holds no
    id token; `extra` goes into the authorize URL.

    `resource` names what the tokens are for, to a provider that issues them for several (RFC 8707);
    `client_id` is that of a client without a secret, where no app-wide secret has another.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    authorize_url: HttpUrl
    token_url: HttpUrl
    userinfo_url: HttpUrl | None = None
    extra: dict[Annotated[str, Field(pattern=r"^[A-Za-z_]{1,64}$")], str] = {}
    resource: HttpUrl | None = None
    client_id: str = Field("", max_length=500)

    @property
    def targeted(self) -> dict[str, str]:
        """The parameter that says what the tokens are for, in each request that asks for some."""
        return {"resource": self.resource} if self.resource else {}
