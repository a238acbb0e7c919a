"""A session with one MCP server, over HTTP with a size limit or a local process."""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import threading
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from errno import ENOENT
from pathlib import Path
from typing import Any, Final

import httpx2
import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from pydantic import TypeAdapter

from .. import __version__
from ..text import cut, one_line
from ..types import JSONObject
from .connections import CLOSED, OPEN_S, McpServer
from .server_apps import Elicitation

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
    """The process of a server ended; the text has command, exit code and last error lines."""


class ServerProcess:
    """The local process of one server. Its error stream is logged under the app's name; the last
    lines are kept for the error when it ends."""

    def __init__(self, server: McpServer) -> None:
        self._server = server
        self._lines: deque[str] = deque(maxlen=LAST_LINES)
        self._code = ""
        self._has_ended = threading.Event()

    @asynccontextmanager
    async def connect(self) -> AsyncIterator[Any]:
        """Run it for the time of the block. ServerEnded where it ends before it has answered,
        FileNotFoundError where there is no such program."""
        read_end, write_end = os.pipe()
        thread = threading.Thread(target=self._read, args=(read_end,), daemon=True)
        thread.start()
        try:
            # our end closes with the block, which ends the reader
            with os.fdopen(write_end, "w") as errors:
                async with stdio_client(self._parameters(), errlog=errors) as streams:
                    yield streams
        except Exception as error:
            if is_closed(error):
                raise ServerEnded(await self.end()) from error
            raise

    @property
    def has_ended(self) -> bool:
        """Whether it is known to have ended."""
        return self._has_ended.is_set()

    async def end(self) -> str:
        """How it ended, as soon as that is known."""
        await asyncio.to_thread(self._has_ended.wait, END_S)
        code = f" with exit code {self._code}" if self._code else ""
        text = f"`{self._server.where}` ended{code}"
        last = " / ".join(self._lines)
        return f"{text}: {cut(last, MAX_LINE)}" if last else f"{text}; its error stream is empty"

    def _parameters(self) -> StdioServerParameters:
        """Its command, wrapped in a shell that reports the exit code."""
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
                # begins with U+001E, which no program writes to its error stream by accident
                if line.startswith(EXIT):
                    self._code = line.removeprefix(EXIT).strip()
                    self._has_ended.set()
                    continue
                for secret in secrets:
                    line = line.replace(secret, "[variable]")
                if text := one_line(line, MAX_LINE):
                    self._lines.append(text)
                    _log.info("app=%s | %s", self._server.id, text)
        self._has_ended.set()


def is_closed(error: BaseException) -> bool:
    """Whether an error means a closed connection."""
    return getattr(_first(error), "code", None) == CLOSED


@asynccontextmanager
async def http_transport(server: McpServer, token: str) -> AsyncIterator[Any]:
    headers = {"accept-encoding": "identity"}  # what is packed small may be endless unpacked
    if token:
        headers["authorization"] = f"Bearer {token}"
    # longer than the library's timeout of a request: that error is told better
    timeout = httpx2.Timeout(CONNECT_S, read=server.timeout_s + CONNECT_S)
    hooks: dict[str, list[Callable[..., Any]]] = {
        "request": [_without_read_timeout],
        "response": [_cap_body],
    }
    client = httpx2.AsyncClient(
        headers=headers, timeout=timeout, trust_env=False, event_hooks=hooks
    )
    async with client, streamable_http_client(str(server.url), http_client=client) as streams:
        yield streams


async def _without_read_timeout(request: httpx2.Request) -> None:
    """No read timeout for the stream of server notifications."""
    if request.method == "GET":
        request.extensions["timeout"] = {**request.extensions.get("timeout", {}), "read": None}


async def _cap_body(response: httpx2.Response) -> None:
    """Limit the body to `MAX_BODY`, and refuse compressed ones."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.RemoteProtocolError("the answer is packed, which nobody asked for")
    if not response.headers.get("content-type", "").startswith(STREAM):
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _CappedStream(response.stream)


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


MAX_PAGES: Final = 50
MAX_TOOLS: Final = 1_000
MAX_QUESTIONS: Final = 8
"""Times a server may ask before it answers one call."""
_RESULT: Final[TypeAdapter[Any]] = TypeAdapter(types.CallToolResult | types.InputRequiredResult)

Progress = Callable[[float, float | None, str | None], Awaitable[None]]


class Session:
    """A connection. `open` before anything else; calls may run side by side."""

    def __init__(
        self, server: McpServer, token: str, protocol: str, on_change: Callable[[Session], None]
    ) -> None:
        """`protocol` is the approved version, which saves a request."""
        self.server = server
        self.tools: tuple[JSONObject, ...] = ()
        self.dead = False
        self._token = token
        self._mode = "legacy" if protocol and protocol < "2026" else "auto"
        self._on_change = on_change
        self._elicitations: list[Elicitation] = []
        self._end = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._process = ServerProcess(server) if server.command else None

    async def open(self) -> None:
        """Connect, greet, list the tools. Raises what went wrong, TimeoutError after 10 s."""
        ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._serve(ready), name=f"mcp-{self.server.id}")
        try:
            async with asyncio.timeout(OPEN_S):
                await asyncio.shield(ready)
        except BaseException:
            self.dead = True
            # also where this opening was cancelled itself: nobody else would end the task
            self._task.cancel()
            raise

    async def close(self) -> None:
        """End it, as the protocol asks: a session is taken leave of, a process gets its time."""
        self.dead = True
        self._end.set()
        if self._task:
            await asyncio.wait({self._task}, timeout=OPEN_S)

    async def list_tools(self) -> tuple[JSONObject, ...]:
        """All pages of tools, as the server words them."""
        found: list[JSONObject] = []
        cursor: str | None = None
        # a server that always names a next page would never end
        for _ in range(MAX_PAGES):
            params = types.PaginatedRequestParams(cursor=cursor)
            page = await self.client.session.list_tools(params=params)
            found += _dump(page).get("tools", [])
            cursor = page.next_cursor
            if not cursor or len(found) >= MAX_TOOLS:
                break
        self.tools = tuple(found[:MAX_TOOLS])
        return self.tools

    async def call_tool(
        self, name: str, arguments: JSONObject, progress: Progress, elicitation: Elicitation
    ) -> JSONObject:
        """A `tools/call` result, not validated against the output schema. Questions go to
        `elicitation`."""
        session = self.client.session
        more: dict[str, Any] = {}
        self._elicitations.append(elicitation)
        try:
            for _ in range(MAX_QUESTIONS):
                params = types.CallToolRequestParams(name=name, arguments=arguments, **more)
                request = types.CallToolRequest(params=params)
                # not the library's call_tool: that holds results against the tool's schema
                result = await session.send_request(request, _RESULT, progress_callback=progress)
                if not isinstance(result, types.InputRequiredResult):
                    return _dump(result)
                replies = await self._replies(result.input_requests or {})
                more = {"input_responses": replies, "request_state": result.request_state}
        except MCPError as error:
            if self._process and is_closed(error):
                self.dead = True
                raise ServerEnded(await self._process.end()) from error
            raise
        finally:
            self._elicitations.remove(elicitation)
        raise RuntimeError("the server asks without an end")

    @property
    def client(self) -> Client:
        """The library's client; ConnectionError where there is none any more."""
        if self._client is None or self.dead or (self._process and self._process.has_ended):
            raise ConnectionError("the connection is closed")
        return self._client

    @property
    def protocol(self) -> str:
        """The version spoken."""
        return str(self.client.protocol_version)

    @property
    def about(self) -> JSONObject:
        """The server's name, version and instructions."""
        info = self.client.server_info
        details = _dump(info) if info else {}
        return {**details, "instructions": self.client.instructions or ""}

    async def _serve(self, ready: asyncio.Future[None]) -> None:
        """Open, wait, close: in one task, as the library requires."""
        try:
            process, token = self._process, self._token
            async with Client(
                process.connect() if process else http_transport(self.server, token),
                mode=self._mode,
                read_timeout_seconds=self.server.timeout_s,
                client_info=types.Implementation(name="webbee", version=__version__),
                message_handler=self._on_message,
                elicitation_callback=self._elicit,
                cache=None,
            ) as client:
                self._client = client
                await self.list_tools()
                ready.set_result(None)
                await self._end.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(_first(error).with_traceback(None))
                ready.exception()  # whoever opened may have given up
            if isinstance(error, asyncio.CancelledError):
                raise
        finally:
            self.dead = True

    async def _replies(self, questions: Mapping[str, Any]) -> dict[str, Any]:
        """Answers to what a server of the newest protocol asks before it goes on."""
        session, replies = self.client.session, {}
        for name, question in questions.items():
            context = ClientRequestContext(session=session, request_id=name)
            answer = await session.dispatch_input_request(context, question)
            if isinstance(answer, types.ErrorData):
                raise MCPError.from_error_data(answer)
            replies[name] = answer
        return replies

    async def _elicit(self, _: object, question: Any) -> types.ElicitResult:
        """A question to the user, attributed to the latest call: the protocol names none."""
        if not self._elicitations:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(**self._elicitations[-1].reply(_dump(question)))

    async def _on_message(self, message: object) -> None:
        """Handle notifications; a broken stream is noticed by the next call."""
        if isinstance(message, types.ToolListChangedNotification):
            self._on_change(self)


def _dump(model: Any) -> JSONObject:
    dumped: JSONObject = model.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped


def _first(error: BaseException) -> BaseException:
    """The error itself, out of the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
