"""The gateway's wire: a request, its answer, and what bodies have to hold. Fields that are not
named here are ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ...sdk.context import Context
from .platform_clients import AI, Notify, deliver
from .platform_context import MAX_LIMIT, Store

Wire = TypeVar("Wire", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, what goes out as JSON, and headers besides."""

    status: int
    body: Any
    headers: Mapping[str, str] = field(default_factory=dict)


class Refused(Exception):
    """The request cannot be served; the answer says why."""

    def __init__(self, status: int, detail: Any, **headers: str) -> None:
        super().__init__(detail)
        self.answer = Answer(status, {"detail": detail}, headers)


@dataclass(frozen=True, slots=True)
class Request:
    """One request: the path as it came, percent-encoded; query parameters, each once; the body,
    still JSON text."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Any
    body: bytes = b""

    def json(self) -> dict[str, Any]:
        """The body's object, empty without a body."""
        try:
            found = json.loads(self.body or b"{}")
        except (ValueError, RecursionError):
            raise Refused(422, "body: this is no JSON") from None
        if not isinstance(found, dict):
            raise Refused(422, "body: an object is wanted")
        return found


class Create(BaseModel):
    """A new document."""

    collection: str
    data: dict[str, Any]


class Update(BaseModel):
    """Fields to merge; `if_match` is the etag that was read."""

    data: dict[str, Any]
    if_match: str = ""


class Matching(BaseModel):
    """Documents whose fields equal these."""

    where: dict[str, Any] | None = None


class Query(Matching):
    """A page of them."""

    order_by: str | None = None
    limit: int = 100
    cursor: str | None = None


class Listing(BaseModel):
    """A page of users, or all documents up to a number."""

    limit: int = Field(ge=1, le=MAX_LIMIT)
    cursor: str = ""


class Notification(BaseModel):
    """A message to the user; whatever else is sent goes with it."""

    model_config = ConfigDict(extra="allow")

    message: str


class Message(BaseModel):
    """A message in the chat, and the panels to fetch again."""

    text: str
    msg_type: str = "response"
    refresh_panels: list[str] = Field(default_factory=list)


class Prompt(BaseModel):
    """A completion to make; whatever else is sent goes with it."""

    model_config = ConfigDict(extra="allow")

    prompt: str
    model: str = ""


def checked(model: type[Wire], values: Mapping[str, Any]) -> Wire:
    """The values as their model; Refused 422 names the fields that are missing or wrong, never what
    was in them."""
    try:
        return model.model_validate(dict(values))
    except ValidationError as error:
        wrong = "; ".join(
            f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}"
            for e in error.errors(include_url=False)
        )
        raise Refused(422, wrong) from None


@dataclass(frozen=True, slots=True)
class Asked:
    """A request that was let in: the kernel's context of the user it acts for, and what it
    holds."""

    ctx: Context
    app: str
    query: Mapping[str, str]
    body: Mapping[str, Any]
    collection: str = ""
    doc_id: str = ""

    @property
    def store(self) -> Store:
        """The acting user's documents."""
        return Store(self.ctx.store, self.app, self.ctx.user.tenant_id)

    def read(self, model: type[Wire]) -> Wire:
        """The body, checked."""
        return checked(model, self.body)


async def create(asked: Asked) -> Any:
    """A new document."""
    wanted = asked.read(Create)
    return vars(await asked.store.create(wanted.collection, wanted.data))


async def get(asked: Asked) -> Any:
    """One document."""
    found = await asked.store.get(asked.collection, asked.doc_id)
    if found is None:
        raise Refused(404, "there is no such document")
    return vars(found)


async def update(asked: Asked) -> Any:
    """Merge into a document, creating it if missing."""
    wanted = asked.read(Update)
    return vars(
        await asked.store.update(asked.collection, asked.doc_id, wanted.data, wanted.if_match)
    )


async def delete(asked: Asked) -> Any:
    """Remove a document."""
    if not await asked.store.delete(asked.collection, asked.doc_id):
        raise Refused(404, "there is no such document")
    return {"deleted": True}


async def query(asked: Asked) -> Any:
    """A page of documents."""
    wanted = asked.read(Query)
    page = await asked.store.query(
        asked.collection,
        wanted.where or None,
        wanted.order_by or None,
        wanted.limit,
        wanted.cursor or None,
    )
    return {
        "data": [vars(d) for d in page.data],
        "cursor": page.cursor,
        "has_more": page.has_more,
        "total": page.total,
    }


async def count(asked: Asked) -> Any:
    """How many documents match."""
    return {"count": await asked.store.count(asked.collection, asked.read(Matching).where or None)}


async def list_users(asked: Asked) -> Any:
    """A page of the users that hold documents. Users come in order, so the cursor is the last one;
    each page reads them from the first."""
    page = checked(Listing, asked.query)
    after = page.cursor[1:] if page.cursor.startswith(">") else ""
    found: list[str] = []
    async for user_id in asked.store.list_users(asked.collection, page_size=page.limit):
        if user_id > after:
            found.append(user_id)
        if len(found) > page.limit:
            return {"user_ids": found[: page.limit], "next_cursor": f">{found[page.limit - 1]}"}
    return {"user_ids": found, "next_cursor": None}


async def query_all(asked: Asked) -> Any:
    """Documents of all users."""
    found: Any = await asked.store.query_all(
        asked.collection, limit=checked(Listing, asked.query).limit
    )
    return [vars(d) for d in found]


async def notify(asked: Asked) -> Any:
    """Tell the user."""
    wanted = asked.read(Notification)
    extra = {
        k: v
        for k, v in (wanted.model_extra or {}).items()
        if k not in ("user_id", "extension_id", "tenant_id")
    }
    await Notify(asked.ctx.notify, asked.app)(wanted.message, **extra)
    return {"ok": True}


async def inject(asked: Asked) -> Any:
    """A message outside a turn."""
    wanted = asked.read(Message)
    await deliver(asked.ctx, wanted.text, wanted.msg_type, wanted.refresh_panels)
    return {"ok": True}


async def complete(asked: Asked) -> Any:
    """The model's answer."""
    wanted = asked.read(Prompt)
    extra = {k: v for k, v in (wanted.model_extra or {}).items() if k != "extension_id"}
    return vars(await AI(asked.ctx.ai, asked.app).complete(wanted.prompt, wanted.model, **extra))


@dataclass(frozen=True, slots=True)
class Route:
    """A method, a path, and what answers it; `system` is for system contexts only."""

    method: str
    path: str
    handler: Callable[[Asked], Awaitable[Any]]
    system: bool = False

    def match(self, path: str) -> re.Match[str] | None:
        """The path's parts, still encoded. A document id may hold `/`, a collection before a fixed
        last word too."""
        last = self.path.endswith("{doc_id}")
        pattern = self.path.replace(
            "{collection}", "(?P<collection>[^/]+)" if last else "(?P<collection>.+)"
        )
        return re.fullmatch(pattern.replace("{doc_id}", "(?P<doc_id>.+)"), path)


STORE = "/v1/internal/store"
ROUTES = (
    Route("POST", STORE, create),
    Route("POST", STORE + "/{collection}/query", query),
    Route("POST", STORE + "/{collection}/count", count),
    Route("GET", STORE + "/{collection}/list_users", list_users, system=True),
    Route("GET", STORE + "/{collection}/all", query_all, system=True),
    Route("GET", STORE + "/{collection}/{doc_id}", get),
    Route("PATCH", STORE + "/{collection}/{doc_id}", update),
    Route("DELETE", STORE + "/{collection}/{doc_id}", delete),
    Route("POST", "/v1/internal/notify", notify),
    Route("POST", "/v1/internal/chat/inject", inject),
    Route("POST", "/v1/internal/ai/complete", complete),
)
