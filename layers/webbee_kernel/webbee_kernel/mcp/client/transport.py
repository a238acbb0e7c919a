"""The wire to one server: HTTP with a cap on what is read, or a process on this machine."""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from ...base.text import one_line
from ...values.mcp import McpServer

MAX_BODY: Final = 4_000_000
"""Bytes of one answer; a call's result may have 1 MB as JSON. Of a stream it is each event that is
capped, at 1 MB, by the protocol's library."""
CONNECT_S: Final = 5.0
STREAM: Final = "text/event-stream"
MAX_LINE: Final = 2_000
_log = logging.getLogger("webbee.extension")


def transport_of(server: McpServer, token: str) -> Any:
    """What an `mcp.Client` connects through."""
    return _process(server) if server.command else _http(server, token)


@asynccontextmanager
async def _process(server: McpServer) -> AsyncIterator[Any]:
    """A process on this machine. What it writes to its error stream stands in the log under the
    app's name, as what extensions print does."""
    asked = StdioServerParameters(command=server.command, args=list(server.args), env=server.env)
    reading, writing = os.pipe()
    threading.Thread(target=_log_lines, args=(server.id, reading), daemon=True).start()
    with os.fdopen(writing, "w") as errors:
        async with stdio_client(asked, errlog=errors) as streams:
            yield streams


def _log_lines(server_id: str, source: int) -> None:
    with os.fdopen(source, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            _log.info("app=%s | %s", server_id, one_line(line, MAX_LINE))


@asynccontextmanager
async def _http(server: McpServer, token: str) -> AsyncIterator[Any]:
    headers = {"accept-encoding": "identity"}  # what is packed small may be endless unpacked
    if token:
        headers["authorization"] = f"Bearer {token}"
    timeout = httpx2.Timeout(CONNECT_S, read=server.timeout_s + CONNECT_S)
    client = httpx2.AsyncClient(
        headers=headers, timeout=timeout, trust_env=False, transport=_Capped()
    )
    async with client, streamable_http_client(str(server.url), http_client=client) as streams:
        yield streams


class _Capped(httpx2.AsyncBaseTransport):
    """Reads no answer further than `MAX_BODY`, and none that came packed."""

    def __init__(self) -> None:
        self._inner = httpx2.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "GET":  # where a server speaks unasked, it may be silent for hours
            times = request.extensions.get("timeout", {})
            request.extensions = {**request.extensions, "timeout": {**times, "read": None}}
        response = await self._inner.handle_async_request(request)
        if response.headers.get("content-encoding", "identity") != "identity":
            await response.aclose()
            raise httpx2.RemoteProtocolError("the answer is packed, which nobody asked for")
        if not response.headers.get("content-type", "").startswith(STREAM):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _CappedStream(response.stream)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _CappedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream) -> None:
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for chunk in self._inner:
            size += len(chunk)
            if size > MAX_BODY:  # an error of this type fails the one request, not the connection
                raise httpx2.StreamError(f"the answer is larger than {MAX_BODY} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()
