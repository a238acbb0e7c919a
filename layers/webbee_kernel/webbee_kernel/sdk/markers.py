"""Markers: types of parameters that say what a value is for. They stand in the JSON schema, so they
travel with the catalogue.

    class Transfer(BaseModel):
        to: Account                                   # outward: asked about until it is accepted
        amount: Annotated[Decimal, directs("amount")] # the same for any type
        channel: Content = ""                         # only carried along, whatever its name

A call that carries something to an address, an account, a link or a path is asked about until its
user has accepted that it goes there (docs/consent.md). `x-pii` says what a value tells about a
person.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import GetJsonSchemaHandler

Directs = Literal[
    "recipient", "account", "url", "amount", "path", "id", "name", "secret", "when", "content"
]
"""`name` is an app's own name of a thing (a channel, a hotel), `secret` is never shown, `when` a
day, `content` directs nothing whatever its name looks like."""

Pii = Literal["name", "email", "phone"]


@dataclass(frozen=True, slots=True)
class _Marker:
    keyword: str
    kind: str | dict[str, Any]

    def __get_pydantic_json_schema__(
        self, core_schema: Any, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        return {**handler(core_schema), self.keyword: self.kind}


def directs(kind: Directs) -> _Marker:
    """Mark a parameter of any type: `Annotated[Decimal, directs("amount")]`."""
    return _Marker("x-directs", kind)


def pii(kind: Pii) -> _Marker:
    """Say what a value tells about a person: `Annotated[str, pii("name")]`."""
    return _Marker("x-pii", kind)


def titled(**titles: str) -> _Marker:
    """What forms and cards call an argument, by language: `Annotated[str, titled(de="Frist")]`."""
    return _Marker("x-titles", titles)


def choices(**titles: dict[str, str]) -> _Marker:
    """What forms and cards call the values that an argument may have, each by language:
    `Annotated[Literal["low", "high"], choices(high={"de": "hoch"})]`."""
    return _Marker("x-choices", titles)


Recipient = Annotated[str, directs("recipient")]
"""Who gets something: an address, a phone number, a user."""
Account = Annotated[str, directs("account")]
"""Whose money, or which account: an IBAN, a card, a wallet."""
Url = Annotated[str, directs("url")]
Amount = Annotated[float, directs("amount")]
Path = Annotated[str, directs("path")]
"""A file or folder."""
Ident = Annotated[str, directs("id")]
"""The id of what is changed."""
Name = Annotated[str, directs("name")]
"""The app's own name of what is changed: a channel, a hotel, a user."""
Secret = Annotated[str, directs("secret")]
"""A password or token: masked wherever it would be shown."""
Content = Annotated[str, directs("content")]
"""Only carried along, though its name may look otherwise."""
PersonName = Annotated[str, pii("name")]
Email = Annotated[str, directs("recipient"), pii("email")]
Phone = Annotated[str, directs("recipient"), pii("phone")]
