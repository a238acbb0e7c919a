"""Who may ask for what: finds a request's route, checks whom it names, and puts errors into
statuses."""

from __future__ import annotations

import json
import logging
import socketserver
import sys
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qsl, unquote

from ...background import LoopThread
from ...errors import KernelError
from ...sdk.exceptions import SystemContextRequired
from . import sdk_names as sdk
from .gateway_routes import ROUTES, Answer, Asked, Refused, Request, Route
from .handbuilt import Gateway, find

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
    own = {
        "extension_id": (gateway.app_id,),
        "ext_id": (gateway.app_id,),
        "tenant_id": (gateway.ctx.user.tenant_id, UNTOLD_TENANT),
    }
    for name, allowed in own.items():
        said = (
            request.query.get(name),
            body.get(name),
            _header(request, "X-" + name.replace("_", "-")),
        )
        if any(value not in ("", None, *allowed) for value in said):
            raise Refused(403, f"{name}: a token of one app and tenant opens no other")
    user = (
        _header(request, "X-Acting-User")
        or body.get("user_id")
        or request.query.get("user_id")
        or ""
    )
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
    found: Refused | None = None
    match error:
        case Refused():
            found = error
        case SystemContextRequired():
            found = Refused(
                403, "only schedules, signals and webhooks act for another user, or for all"
            )
        case sdk.StoreConflict():
            found = Refused(
                409,
                {
                    "message": "the document changed: read it again",
                    "current_etag": error.current_etag,
                },
            )
        case sdk.StoreUnavailable() | KernelError(status=503) | sdk.APIError(status_code=503):
            found = Refused(
                503, f"unavailable; try again in {RETRY_S} s", **{"Retry-After": str(RETRY_S)}
            )
        case KernelError():
            found = Refused(error.status, error.code)
        case ValueError() | TypeError() if type(error) in (
            ValueError,
            TypeError,
        ):  # what the clients say about an argument
            found = Refused(422, str(error))
    return found


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
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S
    disable_nagle_algorithm = True

    def _serve(self) -> None:
        try:
            found = self._answer(self._body())
        except Refused as refused:
            found = refused.answer
        self._send(found)

    # http.server finds them by these names
    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = do_OPTIONS = _serve  # noqa: N815

    def _answer(self, body: bytes) -> Answer:
        gateway = find(self.headers)
        if gateway is None or gateway.variables is None:
            raise Refused(401, "this token is wrong, or the call it was made in is over")
        path, _, query = self.path.partition("?")
        request = Request(
            self.command, path, dict(parse_qsl(query, keep_blank_values=True)), self.headers, body
        )
        # In the call's own variables: what is logged and counted there belongs to its invocation.
        return gateway.variables.copy().run(_loop.run, answer(request, gateway))

    def _body(self) -> bytes:
        """The request's body. One that is too large is read to its end first: a client that is
        still sending would not hear the answer."""
        if "transfer-encoding" in self.headers:
            raise Refused(411, "send the body whole, with its content-length")
        length = self.headers.get("content-length") or "0"
        if not (length.isascii() and length.isdigit() and len(length) < 16):
            raise Refused(400, "the content-length is no number")
        size = int(length)
        if size <= MAX_BODY_BYTES:
            return self.rfile.read(size)
        while size > 0 and (chunk := self.rfile.read(min(size, 65536))):
            size -= len(chunk)
        raise Refused(413, f"a request holds at most {MAX_BODY_BYTES} bytes")

    def _send(self, found: Answer) -> None:
        raw = json.dumps(found.body, separators=(",", ":")).encode()
        self.close_connection = True
        self.request_version = (
            self.protocol_version
        )  # to nonsense too: http.server would send it no headers
        self.send_response_only(found.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.send_header("Connection", "close")
        for name, value in found.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(raw)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """What http.server itself refuses, in this server's form; its text would repeat the
        request."""
        status = (
            HTTPStatus.METHOD_NOT_ALLOWED
            if code == HTTPStatus.NOT_IMPLEMENTED
            else HTTPStatus(code)
        )
        self._send(Answer(status, {"detail": status.phrase}))

    def log_message(self, format: str, *args: Any) -> None:
        """No access log: paths hold names of documents."""
