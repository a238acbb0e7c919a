"""What an extension registers, as frozen values, and the markers of parameters: types that say what
a value is for. They stand in the JSON schema, so they travel with the catalogue.

    class Transfer(BaseModel):
        to: Account                                   # outward: asked about until it is accepted
        amount: Annotated[Decimal, directs("amount")] # the same for any type
        channel: Content = ""                         # only carried along, whatever its name

A call that carries something to an address, an account, a link or a path is asked about until its
user has accepted that it goes there (docs/consent.md). `x-pii` says what a value tells about a
person.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, GetJsonSchemaHandler

K = TypeVar("K")
D = TypeVar("D")

Handler = Callable[..., Awaitable[Any]]

ON_EVENT = "on_event:"
"""How a panel's `refresh` begins that names events."""


@dataclass(frozen=True, slots=True)
class FunctionDef:
    """One chat function. `params_model` is the handler's Pydantic parameter, when it has one.

    `examples` are things a user might say, in any language; the embedded model matches
    against them and real models see the first few in the tool description.
    """

    name: str
    func: Handler
    description: str
    action_type: str = "read"
    params: dict[str, Any] | None = None
    params_model: type[BaseModel] | None = None
    event: str = ""
    data_model: type | None = None
    id_projection: str | None = None
    examples: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    titles: Mapping[str, str] = field(default_factory=dict)
    """What it does in a few words, by language."""
    accepts: Callable[[dict[str, Any]], None] | None = None
    """Checks the arguments where no model does: raises the error that the call then ends with."""


@dataclass(frozen=True, slots=True)
class ToolDef:
    """A plain tool; `skeleton_refresh_*` and `skeleton_alert_*` names carry meaning for the
    kernel."""

    name: str
    func: Handler
    scopes: tuple[str, ...] = ()
    description: str = ""


@dataclass(frozen=True, slots=True)
class SkeletonDef:
    """One section: refreshed every `ttl` seconds per user; `alert` compares old and new."""

    section: str
    func: Handler
    alert: bool = False
    ttl: int = 300
    description: str = ""


@dataclass(frozen=True, slots=True)
class PanelDef:
    """A panel: `slot` is left, right or center; `refresh` is `manual` or `on_event:<type>,…`."""

    panel_id: str
    func: Handler
    slot: str = "center"
    title: str = ""
    icon: str = ""
    refresh: str = "manual"
    options: dict[str, Any] = field(default_factory=dict)

    def hears(self, event_type: str, app_id: str) -> bool:
        """Whether it is fetched again at an event of this name. An event of its own app, `app_id`,
        may be named without the app."""
        if not self.refresh.startswith(ON_EVENT):
            return False
        named = {name.strip() for name in self.refresh.removeprefix(ON_EVENT).split(",")}
        return bool(named & {event_type, event_type.removeprefix(f"{app_id}."), "*"})


@dataclass(frozen=True, slots=True)
class OAuthDef:
    """A provider whose accounts users connect. Accounts become documents of `collection`,
    `<provider>_accounts` unless named."""

    provider: str
    collection: str = ""
    scopes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SecretDef:
    """A declared secret. `scope` is `user` (each user's own) or `app` (one for all); `write_mode`
    says who sets it."""

    name: str
    description: str
    required: bool = False
    write_mode: str = "user"
    max_bytes: int = 4096
    scope: str = "user"
    env_fallback: str | None = None


def once(held: dict[K, D], key: K, made: D, what: str) -> None:
    """Register what stands under a key; ValueError naming both functions where another stands
    there: only one of them would ever run."""
    # a signal's handler stands there as it is, without a definition around it
    new: Any = getattr(made, "func", made)
    old: Any = getattr(held.get(key, made), "func", held.get(key, made))
    if new is not old:
        by = " and ".join(
            f"{f.__qualname__} (line {f.__code__.co_firstlineno})" for f in (old, new)
        )
        raise ValueError(f"{what} {key!r} is registered twice: by {by}")
    held[key] = made


@dataclass(frozen=True, slots=True)
class ScheduleDef:
    """A job in 5-field UTC cron, run as `__system__`."""

    name: str
    func: Handler
    cron: str


@dataclass(frozen=True, slots=True)
class WebhookDef:
    """A webhook at `/v1/ext/{app_id}/webhook/{path}`, run as `__webhook__` with `(ctx, headers,
    body, query_params)`."""

    path: str
    func: Handler
    method: str = "POST"
    secret_header: str = ""


@dataclass(frozen=True, slots=True)
class ExposedDef:
    """A method other extensions may call through `ctx.extensions.call`."""

    name: str
    func: Handler
    action_type: str = "read"


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
