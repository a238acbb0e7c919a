"""A local API Gateway: routes and authoriser of template.yaml, real events to the real handlers,
and `@connections` for what they send. An ASGI application."""

from __future__ import annotations

import asyncio
import base64
import secrets
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import unquote

from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from .stack import Stack, http_event
from .template import matched, routes

TENANT = "local"
"""The tenant of everybody on this machine."""

_USERS = (("alice", "user", "ru"), ("bob", "user", "en"), ("dev", "developer", "en"))
TOKENS: Mapping[str, Mapping[str, str]] = {
    name: {
        "sub": name,
        "tenant_id": TENANT,
        "role": role,
        "language": language,
        "email": "me@personal.com" if name == "alice" else f"{name}@personal.com",
        "scope": "chat",
    }
    for name, role, language in (*_USERS, ("ops", "operator", "en"))
}
"""Bearer tokens of the local authoriser and the claims each stands for: what a real token carries,
without the signature."""

LOOPBACK = ("127.0.0.1", "localhost")
"""Hosts by which this machine alone is meant. A page elsewhere whose name was made to point here
(DNS rebinding) still says its own, and these tokens are no secrets."""

FUNCTION = "chat_turn"
"""What every route of the template leads to (a test compares them)."""


def open_to(
    origins: Sequence[str], gateway: Gateway, template: Mapping[str, Any], host: str
) -> ASGIApp:
    """The gateway as pages of these origins may call it, by the template's CorsConfiguration, and,
    where it listens on this machine alone, only by its names."""
    cors = template["Resources"]["Api"]["Properties"]["CorsConfiguration"]
    application = CORSMiddleware(
        gateway,
        allow_origins=[origin for origin in origins if origin],
        allow_methods=cors["AllowMethods"],
        allow_headers=cors["AllowHeaders"],
        expose_headers=cors["ExposeHeaders"],
        max_age=cors["MaxAge"],
    )
    return TrustedHostMiddleware(application, LOOPBACK) if host in LOOPBACK else application


class Gateway:
    """The ASGI application. Each request runs its handler on a thread, as concurrent Lambda
    instances would."""

    def __init__(
        self,
        stack: Stack,
        tokens: Mapping[str, Mapping[str, str]],
        connections: str,
        erased: Callable[[Mapping[str, str]], None],
    ) -> None:
        """`connections` is the path under which handlers find `@connections`; `erased` hears of
        each user of whom everything was erased."""
        self._stack = stack
        self._erased = erased
        self._live = LiveApi(self._invoke, connections)
        self._tokens = tokens
        self._routes = routes(dict(stack.template))
        self._threads = ThreadPoolExecutor(16, thread_name_prefix="lambda")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "websocket":
            await self._live.serve(WebSocket(scope, receive, send))
            return
        response = await self._answer(Request(scope, receive))
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        raw_path: bytes = request.scope["raw_path"]
        method, path = request.method, raw_path.decode("latin-1").partition("?")[0]
        body = await request.body()
        if path.startswith(self._live.place):
            return Response(status_code=await self._live.post(method, path, body))
        route = matched(self._routes, method, path)
        if route is None:
            return _error(404, "not_found", f"there is no route {method} {unquote(path)}")
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        claims = self._tokens.get(token.strip()) if scheme.lower() == "bearer" else None
        if claims is None and not route.public:
            told = "send Authorization: Bearer alice (or bob, dev, ops)"
            return _error(401, "not_authenticated", told, {"www-authenticate": "Bearer"})
        event = http_event(
            method,
            unquote(path),
            claims=None if route.public else claims,
            query=dict(request.query_params),
            headers=dict(request.headers),
            body=body or None,
            request_id=uuid.uuid4().hex,
        )
        answer = await self._invoke(event)
        if (method, path) == ("DELETE", "/v1/me") and claims:
            await asyncio.to_thread(self._erased, claims)
        return _response(answer)

    async def _invoke(self, event: Mapping[str, Any]) -> Any:
        return await asyncio.get_running_loop().run_in_executor(
            self._threads, self._stack.invoke, FUNCTION, event
        )


def _response(answer: Mapping[str, Any]) -> Response:
    """What a function answers, as it goes over the wire."""
    raw = answer.get("body") or ""
    content = base64.b64decode(raw) if answer.get("isBase64Encoded") else raw.encode()
    told = answer.get("headers") or {}
    response = Response(content, answer["statusCode"], {k: str(v) for k, v in told.items()})
    for cookie in answer.get("cookies") or ():
        response.headers.append("set-cookie", cookie)
    return response


def _error(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response:
    return JSONResponse({"error": {"code": code, "message": message}}, status, headers)


PATH = "/live"
MAX_MESSAGE = 128 * 1024
"""Bytes of a message, API Gateway's own limit."""

Invoke = Callable[[Mapping[str, Any]], Awaitable[Any]]


class LiveApi:
    """Open connections of one process. `prefix` is where its `@connections` stands: what AWS guards
    by signatures is guarded here by an address that nobody outside is told."""

    def __init__(self, invoke: Invoke, prefix: str) -> None:
        self._invoke = invoke
        self._open: dict[str, Send] = {}
        self.place = f"{prefix}/@connections/"

    async def serve(self, socket: WebSocket) -> None:
        """One connection, from its handshake to its end."""
        connection_id = base64.urlsafe_b64encode(secrets.token_bytes(11)).decode()
        query = dict(socket.query_params)
        answer = await self._invoke(socket_event("CONNECT", connection_id, query))
        if answer["statusCode"] != 200:
            await socket.close()  # before it is accepted: the handshake fails
            return
        lock = asyncio.Lock()

        async def send(message: Message) -> None:
            async with lock:
                await socket.send(message)

        await socket.accept()
        self._open[connection_id] = send
        try:
            await self._listen(connection_id, socket)
        finally:
            del self._open[connection_id]
            await self._invoke(socket_event("DISCONNECT", connection_id))

    async def _listen(self, connection_id: str, socket: WebSocket) -> None:
        """Each message is an invocation of its own; none waits for the one before it."""
        running: set[asyncio.Task[Any]] = set()
        while (message := await socket.receive())["type"] == "websocket.receive":
            text = message.get("text") or (message.get("bytes") or b"").decode("utf-8", "replace")
            event = {**socket_event("MESSAGE", connection_id), "body": text}
            task = asyncio.ensure_future(self._invoke(event))
            running.add(task)
            task.add_done_callback(running.discard)

    async def post(self, method: str, path: str, body: bytes) -> int:
        """Send to a connection, or end it; the status of the answer: 410 where it is gone."""
        send = self._open.get(unquote(path.rpartition("/")[2]))
        if send is None:
            return 410
        if len(body) > MAX_MESSAGE:
            return 413
        message: dict[str, Any] = (
            {"type": "websocket.close", "code": 1000}
            if method == "DELETE"
            else {"type": "websocket.send", "text": body.decode()}
        )
        try:
            await send(message)
        except Exception:  # the peer has gone while it was written to, and the server says so
            return 410
        return 200


def socket_event(
    kind: str, connection_id: str, query: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """An event of API Gateway's WebSocket API."""
    route = {"CONNECT": "$connect", "DISCONNECT": "$disconnect", "MESSAGE": "$default"}[kind]
    event: dict[str, Any] = {
        "requestContext": {
            "routeKey": route,
            "eventType": kind,
            "messageDirection": "IN",
            "stage": "live",
            "requestTimeEpoch": int(time.time() * 1000),
            "identity": {"sourceIp": "127.0.0.1"},
            "requestId": uuid.uuid4().hex,
            "domainName": "127.0.0.1",
            "connectionId": connection_id,
            "apiId": "local-live",
        },
        "isBase64Encoded": False,
    }
    if query is not None:
        event["queryStringParameters"] = dict(query)
        event["headers"] = {}
    return event
