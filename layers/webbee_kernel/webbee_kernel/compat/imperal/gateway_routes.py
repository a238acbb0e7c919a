"""The gateway's wire: a request, its answer, and what bodies have to hold. Fields that are not
named here are ignored."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError

from ...sdk.context import Context
from .conversion import keywords, keywords_model
from .platform_clients import AI, Notify, deliver
from .platform_context import MAX_LIMIT, Store


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


Limit = Annotated[int, Field(ge=1, le=MAX_LIMIT)]


async def create(ctx: Asked, collection: str, data: dict[str, Any]) -> Any:
    """A new document."""
    return vars(await ctx.store.create(collection, data))


async def get(ctx: Asked) -> Any:
    """One document."""
    found = await ctx.store.get(ctx.collection, ctx.doc_id)
    if found is None:
        raise Refused(404, "there is no such document")
    return vars(found)


async def update(ctx: Asked, data: dict[str, Any], if_match: str = "") -> Any:
    """Merge fields into a document, creating it if missing; `if_match` is the etag that was
    read."""
    return vars(await ctx.store.update(ctx.collection, ctx.doc_id, data, if_match))


async def delete(ctx: Asked) -> Any:
    """Remove a document."""
    if not await ctx.store.delete(ctx.collection, ctx.doc_id):
        raise Refused(404, "there is no such document")
    return {"deleted": True}


async def query(
    ctx: Asked,
    where: dict[str, Any] | None = None,
    order_by: str | None = None,
    limit: int = 100,
    cursor: str | None = None,
) -> Any:
    """A page of the documents whose fields equal these."""
    page = await ctx.store.query(
        ctx.collection, where or None, order_by or None, limit, cursor or None
    )
    return {
        "data": [vars(d) for d in page.data],
        "cursor": page.cursor,
        "has_more": page.has_more,
        "total": page.total,
    }


async def count(ctx: Asked, where: dict[str, Any] | None = None) -> Any:
    """How many documents match."""
    return {"count": await ctx.store.count(ctx.collection, where or None)}


async def list_users(ctx: Asked, limit: Limit, cursor: str = "") -> Any:
    """A page of the users that hold documents. Users come in order, so the cursor is the last one;
    each page reads them from the first."""
    after = cursor[1:] if cursor.startswith(">") else ""
    found: list[str] = []
    async for user_id in ctx.store.list_users(ctx.collection, page_size=limit):
        if user_id > after:
            found.append(user_id)
        if len(found) > limit:
            return {"user_ids": found[:limit], "next_cursor": f">{found[limit - 1]}"}
    return {"user_ids": found, "next_cursor": None}


async def query_all(ctx: Asked, limit: Limit) -> Any:
    """Documents of all users."""
    found: Any = await ctx.store.query_all(ctx.collection, limit=limit)
    return [vars(d) for d in found]


async def notify(ctx: Asked, message: str, **more: Any) -> Any:
    """Tell the user; whatever else is sent goes with it."""
    named = ("user_id", "extension_id", "tenant_id")
    extra = {k: v for k, v in more.items() if k not in named}
    await Notify(ctx.ctx.notify, ctx.app)(message, **extra)
    return {"ok": True}


async def inject(
    ctx: Asked, text: str, msg_type: str = "response", refresh_panels: Sequence[str] = ()
) -> Any:
    """A message outside a turn, and the panels to fetch again."""
    await deliver(ctx.ctx, text, msg_type, refresh_panels)
    return {"ok": True}


async def complete(ctx: Asked, prompt: str, model: str = "", **more: Any) -> Any:
    """The model's answer; whatever else is sent goes with the prompt."""
    extra = {k: v for k, v in more.items() if k != "extension_id"}
    return vars(await AI(ctx.ctx.ai, ctx.app).complete(prompt, model, **extra))


@dataclass(frozen=True, slots=True)
class Route:
    """A method, a path, and what answers it, whose arguments are the body's fields; `system` is for
    system contexts only, and has them in the query."""

    method: str
    path: str
    handler: Callable[..., Awaitable[Any]]
    system: bool = False

    def match(self, path: str) -> re.Match[str] | None:
        """The path's parts, still encoded. A document id may hold `/`, a collection before a fixed
        last word too."""
        last = self.path.endswith("{doc_id}")
        pattern = self.path.replace(
            "{collection}", "(?P<collection>[^/]+)" if last else "(?P<collection>.+)"
        )
        return re.fullmatch(pattern.replace("{doc_id}", "(?P<doc_id>.+)"), path)

    async def serve(self, asked: Asked) -> Any:
        """What the request comes to; Refused 422 names the fields that are missing or wrong, never
        what was in them."""
        if (shape := _shape(self.handler)) is None:
            return await self.handler(asked)
        try:
            values = shape.model_validate(dict(asked.query if self.system else asked.body))
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}"
                for e in error.errors(include_url=False)
            )
            raise Refused(422, wrong) from None
        return await self.handler(asked, **keywords(values))


@cache
def _shape(handler: Callable[..., Any]) -> type[BaseModel] | None:
    return keywords_model(handler, {})


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
