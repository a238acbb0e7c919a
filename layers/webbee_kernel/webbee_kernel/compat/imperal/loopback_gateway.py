"""The gateway's wire: a request, its answer, and what bodies have to hold; and who may ask for
what: finds a request's route, checks whom it names, and puts errors into statuses. Fields that are
not named here are ignored."""

from __future__ import annotations

import json
import logging
import re
import socketserver
import sys
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import Annotated, Any
from urllib.parse import parse_qsl, unquote

from pydantic import BaseModel, Field, ValidationError

from ...background import LoopThread
from ...errors import KernelError
from ...sdk.context import Context
from ...sdk.exceptions import SystemContextRequired
from . import sdk_names as sdk
from .conversion import keywords, keywords_model
from .handbuilt import Gateway, find
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
        # one more than was asked for tells that there is a next page
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
    # before `{doc_id}`, which fits these last words as well
    Route("GET", STORE + "/{collection}/list_users", list_users, system=True),
    Route("GET", STORE + "/{collection}/all", query_all, system=True),
    Route("GET", STORE + "/{collection}/{doc_id}", get),
    Route("PATCH", STORE + "/{collection}/{doc_id}", update),
    Route("DELETE", STORE + "/{collection}/{doc_id}", delete),
    Route("POST", "/v1/internal/notify", notify),
    Route("POST", "/v1/internal/chat/inject", inject),
    Route("POST", "/v1/internal/ai/complete", complete),
)

RETRY_S = 30
"""Seconds after which a client may ask again while the store is gone."""
UNTOLD_TENANT = "default"
"""What the SDK's store client names where nobody told it the tenant."""
_log = logging.getLogger("webbee.imperal")


async def answer(request: Request, gateway: Gateway) -> Answer:
    """Serve a request for the call that its token stands for. Never raises; what it says holds
    nothing of the deployment."""
    try:
        return Answer(200, await _serve(request, gateway))
    except Exception as error:
        if refused := _refusal(error):
            return refused.answer
        _log.exception("app=%s method=%s | the gateway failed", gateway.app_id, request.method)
        return Refused(500, "internal error").answer


async def _serve(request: Request, gateway: Gateway) -> Any:
    route, parts = _route(request)
    body = request.json()
    app, tenants = (gateway.app_id,), (gateway.ctx.user.tenant_id, UNTOLD_TENANT)
    for name, own in {"extension_id": app, "ext_id": app, "tenant_id": tenants}.items():
        header = _header(request, "X-" + name.replace("_", "-"))
        if any(
            v not in ("", None, *own) for v in (request.query.get(name), body.get(name), header)
        ):
            raise Refused(403, f"{name}: a token of one app and tenant opens no other")
    named = (_header(request, "X-Acting-User"), body.get("user_id"), request.query.get("user_id"))
    user = next(filter(None, named), "")
    if not isinstance(user, str):
        raise Refused(422, "user_id: a string is wanted")
    ctx = gateway.acting(user, system=route.system)
    return await route.serve(Asked(ctx, gateway.app_id, request.query, body, **parts))


def _route(request: Request) -> tuple[Route, dict[str, str]]:
    """The first route that fits. `all` and `list_users` are a document's id too: the SDK's clients
    send `limit` where they mean the list."""
    fitting = [(route, found) for route in ROUTES if (found := route.match(request.path))]
    for route, found in fitting:
        if route.method == request.method and (not route.system or "limit" in request.query):
            return route, {name: unquote(part) for name, part in found.groupdict().items()}
    raise _refused({route.method for route, _ in fitting})


def _refused(methods: set[str]) -> Refused:
    """Of a path that takes these methods; of one that takes none, nothing is there."""
    if not methods:
        served = ", ".join(f"{r.method} {r.path}" for r in ROUTES)
        return Refused(404, f"this deployment serves {served} and nothing else")
    taken = ", ".join(sorted(methods))
    return Refused(405, f"this path takes {taken}", Allow=taken)


def _header(request: Request, name: str) -> str:
    """A header that holds UTF-8; http.server reads Latin-1."""
    return (
        str(request.headers.get(name) or "").encode("latin-1", "replace").decode("utf-8", "replace")
    )


def _refusal(error: Exception) -> Refused | None:
    """The status of an error that a client can act on; None for a defect."""
    match error:
        case Refused():
            return error
        case SystemContextRequired():
            told = "only schedules, signals and webhooks act for another user, or for all"
            return Refused(403, told)
        case sdk.StoreConflict():
            told = "the document changed: read it again"
            return Refused(409, {"message": told, "current_etag": error.current_etag})
        case sdk.StoreUnavailable() | KernelError(status=503) | sdk.APIError(status_code=503):
            again = {"Retry-After": str(RETRY_S)}
            return Refused(503, f"unavailable; try again in {RETRY_S} s", **again)
        case KernelError():
            return Refused(error.status, error.code)
    # what the clients say about an argument
    return Refused(422, str(error)) if type(error) in (ValueError, TypeError) else None


HOST = "127.0.0.1"
MAX_BODY_BYTES = 6 * 1024 * 1024
"""Of one request: what Lambda takes, and more than the largest document."""
IDLE_S = 30
"""Seconds a connection may say nothing."""
BACKLOG = 128
NEVER_S = 3600
"""How often the server looks whether it should stop: it should not, and need not wake for it."""
_loop = LoopThread("webbee-gateway")


def serve() -> str:
    """Start the server; its address. OSError where there is no port to be had."""
    server = _Server((HOST, 0), _Connection)
    threading.Thread(
        target=server.serve_forever, args=(NEVER_S,), name="webbee-gateway-http", daemon=True
    ).start()
    return f"http://{HOST}:{server.server_address[1]}"


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    request_queue_size = BACKLOG

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away, or a defect: its class is logged, nothing of the request."""
        _log.info("error=%s | a connection to the gateway broke", type(sys.exception()).__name__)


class _Connection(BaseHTTPRequestHandler):
    """One request and its answer, in HTTP/1.0."""

    timeout = IDLE_S

    def _serve(self) -> None:
        try:
            found = self._answer()
        except Refused as refused:
            found = refused.answer
        raw = json.dumps(found.body, separators=(",", ":")).encode()
        self.send_response_only(found.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        for name, value in found.headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    # http.server finds them by these names
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

    def _answer(self) -> Answer:
        """That of the call's gateway. What is too large is read to its end first: a client that is
        still sending would not hear the answer."""
        size = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(min(size, MAX_BODY_BYTES))
        if size > MAX_BODY_BYTES:
            while (size := size - MAX_BODY_BYTES) > 0:
                self.rfile.read(min(size, MAX_BODY_BYTES))
            raise Refused(413, f"a request holds at most {MAX_BODY_BYTES} bytes")
        gateway = find(self.headers)
        if gateway is None or gateway.variables is None:
            raise Refused(401, "this token is wrong, or the call it was made in is over")
        path, _, query = self.path.partition("?")
        given = dict(parse_qsl(query, keep_blank_values=True))
        request = Request(self.command, path, given, self.headers, body)
        # In the call's own variables: what is logged and counted there belongs to its invocation.
        return gateway.variables.copy().run(_loop.run, answer(request, gateway))

    def log_message(self, format: str, *args: Any) -> None:
        """No access log: paths hold names of documents."""
