"""The gateway's HTTP server: finds a request's route, checks its body and for whom it acts, serves
it, and maps errors to statuses. Unknown fields of a body are ignored."""

from __future__ import annotations

import json
import logging
import re
import socketserver
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, unquote

from pydantic import BaseModel, ValidationError

from .. import compat as sdk
from ..background import LoopThread
from ..errors import KernelError
from ..extensions.outcomes import keywords
from ..sdk.context import Context
from ..sdk.exceptions import SystemContextRequired
from .conversion import arguments_model
from .handbuilt import Gateway, find
from .platform_clients import AI, Notify, Store, deliver


class Refused(Exception):
    """The request cannot be served: the status, why, and headers of the answer."""

    def __init__(self, status: int, detail: Any, **headers: str) -> None:
        super().__init__(detail)
        self.status, self.detail, self.headers = status, detail, headers


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


class Served(Store):
    """What serves a request: the documents of the user it acts for, messages, the model's answers.
    The parameters of a method are the fields of its body."""

    def __init__(self, ctx: Context, app_id: str) -> None:
        super().__init__(ctx.store, app_id, ctx.user.tenant_id)
        self._ctx = ctx

    async def users(self, collection: str, limit: int, cursor: str = "") -> Any:
        """A page of the users that hold documents. Users come in order, so the cursor is the last
        one; each page reads them from the first."""
        after = cursor[1:] if cursor.startswith(">") else ""
        found: list[str] = []
        async for user_id in self.list_users(collection, page_size=limit):
            if user_id > after:
                found.append(user_id)
            # one more than was asked for tells that there is a next page
            if len(found) > limit:
                return {"user_ids": found[:limit], "next_cursor": f">{found[limit - 1]}"}
        return {"user_ids": found, "next_cursor": None}

    async def notify(self, message: str, **more: Any) -> Any:
        """Tell the user; whatever else is sent goes with it."""
        await Notify(self._ctx.notify, self._extension_id)(message, **_unnamed(more))
        return {"ok": True}

    async def inject(
        self, text: str, msg_type: str = "response", refresh_panels: Sequence[str] = ()
    ) -> Any:
        """A message outside a turn, and the panels to fetch again."""
        await deliver(self._ctx, text, msg_type, refresh_panels)
        return {"ok": True}

    async def complete(self, prompt: str, model: str = "", **more: Any) -> Any:
        """The model's answer; whatever else is sent goes with the prompt."""
        return await AI(self._ctx.ai, self._extension_id).complete(prompt, model, **_unnamed(more))


def _unnamed(given: dict[str, Any]) -> dict[str, Any]:
    """The fields but those that say for whom the client acts."""
    return {k: v for k, v in given.items() if k not in ("user_id", "extension_id", "tenant_id")}


@dataclass(frozen=True, slots=True)
class Route:
    """A method, a path, and the method of `Served` behind them. `told` is the key under which its
    answer is sent; `system` is for system contexts only."""

    method: str
    path: str
    serves: str
    told: str = ""
    system: bool = False

    def match(self, path: str) -> re.Match[str] | None:
        """The path's parts, still encoded. A document id may hold `/`, a collection before a fixed
        last word too."""
        last = self.path.endswith("{doc_id}")
        pattern = self.path.replace(
            "{collection}", "(?P<collection>[^/]+)" if last else "(?P<collection>.+)"
        )
        return re.fullmatch(pattern.replace("{doc_id}", "(?P<doc_id>.+)"), path)

    async def serve(self, served: Served, given: Mapping[str, Any]) -> Any:
        """The answer; Refused 422 names the fields that are missing or wrong, never their
        values."""
        try:
            values = _shape(self.serves).model_validate(given)
        except ValidationError as error:
            wrong = "; ".join(
                f"{'.'.join(str(part) for part in e['loc'])}: {e['msg']}"
                for e in error.errors(include_url=False)
            )
            raise Refused(422, wrong) from None
        answer = await getattr(served, self.serves)(**keywords(values))
        if answer is None or answer is False:
            raise Refused(404, "there is no such document")
        return {self.told: answer} if self.told else answer


@cache
def _shape(name: str) -> type[BaseModel]:
    shape = arguments_model(getattr(Served, name), {})
    assert shape is not None
    return shape


STORE = "/v1/internal/store"
ROUTES = (
    Route("POST", STORE, "create"),
    Route("POST", STORE + "/{collection}/query", "query"),
    Route("POST", STORE + "/{collection}/count", "count", told="count"),
    # before `{doc_id}`, which fits these last words as well
    Route("GET", STORE + "/{collection}/list_users", "users", system=True),
    Route("GET", STORE + "/{collection}/all", "query_all", system=True),
    Route("GET", STORE + "/{collection}/{doc_id}", "get"),
    Route("PATCH", STORE + "/{collection}/{doc_id}", "update"),
    Route("DELETE", STORE + "/{collection}/{doc_id}", "delete", told="deleted"),
    Route("POST", "/v1/internal/notify", "notify"),
    Route("POST", "/v1/internal/chat/inject", "inject"),
    Route("POST", "/v1/internal/ai/complete", "complete"),
)

RETRY_S = 30
"""Seconds after which a client may ask again while the store is gone."""
UNTOLD_TENANT = "default"
"""The tenant that the SDK's store client sends by default."""
_log = logging.getLogger("webbee.imperal")


async def answer(request: Request, gateway: Gateway) -> Any:
    """Serve a request for the call that its token stands for. Raises nothing but `Refused`, which
    tells nothing of the deployment."""
    try:
        return await _serve(request, gateway)
    except Exception as error:
        if (refused := _refusal(error)) is None:
            _log.exception("app=%s method=%s | the gateway failed", gateway.app_id, request.method)
            refused = Refused(500, "internal error")
        raise refused from None


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
    return await route.serve(Served(ctx, gateway.app_id), {**request.query, **body, **parts})


def _route(request: Request) -> tuple[Route, dict[str, str]]:
    """The first matching route and the parts of the path. `all` and `list_users` may be ids of
    documents, too: the SDK's clients send `limit` where they mean the list."""
    fitting = [(route, found) for route in ROUTES if (found := route.match(request.path))]
    for route, found in fitting:
        if route.method == request.method and (not route.system or "limit" in request.query):
            return route, {name: unquote(part) for name, part in found.groupdict().items()}
    raise _refused({route.method for route, _ in fitting})


def _refused(methods: set[str]) -> Refused:
    """405 for a path that takes other methods, 404 for one that takes none."""
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
        status, headers = 200, dict[str, str]()
        try:
            body = self._answer()
        except Refused as refused:
            status, body, headers = refused.status, {"detail": refused.detail}, refused.headers
        raw = json.dumps(body, default=vars, separators=(",", ":")).encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(raw)

    # http.server finds them by these names
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve  # noqa: N815

    def _answer(self) -> Any:
        """The answer of the call's gateway. A body that is too large is read to its end first: a
        client that is still sending would not read the answer."""
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
