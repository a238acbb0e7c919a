"""A local WebSocket API: real events of API Gateway to the real handler, and its `@connections` for
what the handler sends. Parts of an ASGI application."""

from __future__ import annotations

import asyncio
import base64
import secrets
import time
import uuid
from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, unquote

PATH = "/live"
MAX_MESSAGE = 128 * 1024
"""Bytes of a message, API Gateway's own limit."""

Invoke = Callable[[Mapping[str, Any]], Awaitable[Any]]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class LiveApi:
    """Open connections of one process. `prefix` is where its `@connections` stands: what AWS guards
    by signatures is guarded here by an address that nobody outside is told."""

    def __init__(self, invoke: Invoke, prefix: str = "") -> None:
        self._invoke = invoke
        self._open: dict[str, Send] = {}
        self.prefix = prefix or new_prefix()

    async def serve(self, scope: Mapping[str, Any], receive: Receive, send: Send) -> None:
        """One connection, from its handshake to its end."""
        await receive()  # websocket.connect
        connection_id = base64.urlsafe_b64encode(secrets.token_bytes(11)).decode()
        query = dict(parse_qsl(scope["query_string"].decode("latin-1")))
        answer = await self._invoke(event("CONNECT", connection_id, query))
        if answer["statusCode"] != 200:
            await send({"type": "websocket.close"})  # before it is accepted: the handshake fails
            return
        lock = asyncio.Lock()

        async def send_text(message: dict[str, Any]) -> None:
            async with lock:
                await send(message)

        await send({"type": "websocket.accept"})
        self._open[connection_id] = send_text
        try:
            await self._listen(connection_id, receive)
        finally:
            del self._open[connection_id]
            await self._invoke(event("DISCONNECT", connection_id))

    async def _listen(self, connection_id: str, receive: Receive) -> None:
        """Each message is an invocation of its own; none waits for the one before it."""
        running: set[asyncio.Task[Any]] = set()
        while (message := await receive())["type"] == "websocket.receive":
            text = message.get("text") or (message.get("bytes") or b"").decode("utf-8", "replace")
            task = asyncio.ensure_future(
                self._invoke({**event("MESSAGE", connection_id), "body": text})
            )
            running.add(task)
            task.add_done_callback(running.discard)

    def is_mine(self, path: str) -> bool:
        """Whether a request is for `@connections`."""
        return path.startswith(f"{self.prefix}/@connections/")

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


def new_prefix() -> str:
    """An address of `@connections` that nobody can guess."""
    return f"/{secrets.token_urlsafe(12)}"


def event(kind: str, connection_id: str, query: Mapping[str, str] | None = None) -> dict[str, Any]:
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
