"""The wire to one server: HTTP with a cap on what is read, or a process on this machine."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import threading
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from errno import ENOENT
from pathlib import Path
from typing import Any, Final

import httpx2
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client

from ...text import cut, one_line
from .failures import CLOSED
from .servers import McpServer

MAX_BODY: Final = 4_000_000
"""Bytes of one answer; a call's result may have 1 MB as JSON. Of a stream it is each event that is
capped, at 1 MB, by the protocol's library."""
CONNECT_S: Final = 5.0
STREAM: Final = "text/event-stream"
MAX_LINE: Final = 2_000
LAST_LINES: Final = 5
"""Lines of a process's error stream that are kept."""
LEAST_SECRET: Final = 6
"""Characters of a variable's value from which on it is left out of what the process says."""
END_S: Final = 2.0
"""Seconds for which the end of a process is waited for, once its connection is gone."""
SHELL: Final = Path("/bin/sh")
EXIT: Final = "\x1eexit "
TELLS_EXIT: Final = '"$@"; code=$?; printf "\\036exit %s\\n" "$code" >&2; exit "$code"'
_log = logging.getLogger("webbee.extension")


class ServerEnded(Exception):
    """The process of a server ended; the text has its command, exit code and last words."""


class ServerProcess:
    """The process of one server on this machine, as its shell and its error stream tell of it.

    What it writes to its error stream stands in the log under the app's name, as what extensions
    print does; the last lines are kept for whoever has to know why it ended.
    """

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self._code = ""
        self._ended = threading.Event()

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[Any]:
        """Run it for the time of the block. ServerEnded where it ends before it has answered,
        FileNotFoundError where there is no such program."""
        reading, writing = os.pipe()
        thread = threading.Thread(target=self._read, args=(reading,), daemon=True)
        thread.start()
        try:
            with os.fdopen(writing, "w") as errors:
                async with stdio_client(self._asked(), errlog=errors) as streams:
                    yield streams
        except Exception as error:
            if is_closed(error):
                raise ServerEnded(await self.end()) from error
            raise

    @property
    def has_ended(self) -> bool:
        """Whether it is known to have ended."""
        return self._ended.is_set()

    async def end(self) -> str:
        """How it ended, as soon as that is known."""
        await asyncio.to_thread(self._ended.wait, END_S)
        code = f" with exit code {self._code}" if self._code else ""
        told = f"`{self._server.where}` ended{code}"
        last = " / ".join(self._lines)
        return f"{told}: {cut(last, MAX_LINE)}" if last else f"{told}; its error stream is empty"

    def _asked(self) -> StdioServerParameters:
        """Its command behind a shell that tells the exit code, which the library keeps to
        itself."""
        server = self._server
        command, args = server.command, list(server.args)
        path = server.env.get("PATH") or None  # None: that of this process
        is_named = Path(command).name == command
        if not (
            shutil.which(command, path=path) if is_named else Path(server.cwd, command).exists()
        ):
            raise FileNotFoundError(ENOENT, "no such program", command)
        if SHELL.exists():
            command, args = str(SHELL), ["-c", TELLS_EXIT, "sh", command, *args]
        return StdioServerParameters(
            command=command, args=args, env=server.env, cwd=server.cwd or None
        )

    def _read(self, source: int) -> None:
        secrets = [value for value in self._server.env.values() if len(value) >= LEAST_SECRET]
        with os.fdopen(source, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith(EXIT):
                    self._code = line.removeprefix(EXIT).strip()
                    self._ended.set()
                    continue
                for secret in secrets:
                    line = line.replace(secret, "[variable]")
                if text := one_line(line, MAX_LINE):
                    self._lines.append(text)
                    _log.info("app=%s | %s", self._server.id, text)
        self._ended.set()


def is_closed(error: BaseException) -> bool:
    """Whether an error says that the other side is gone."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return getattr(error, "code", None) == CLOSED


@asynccontextmanager
async def http_transport(server: McpServer, token: str) -> AsyncIterator[Any]:
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
