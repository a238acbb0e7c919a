"""The wire to one server: HTTP with a cap on what is read, or a process on this machine."""

from __future__ import annotations

import asyncio
import contextlib
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

from ... import __version__
from ...text import cut, one_line
from ...types import JSONObject
from .connections import CLOSED, OPEN_S, McpServer
from .server_apps import Asking

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
            # our end closes with the block: the reader would else wait for an end for ever
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
                # begins with U+001E, which no program writes to its error stream by accident
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
    # longer than the library's timeout of a request: that error is told better
    timeout = httpx2.Timeout(CONNECT_S, read=server.timeout_s + CONNECT_S)
    hooks: dict[str, list[Callable[..., Any]]] = {"request": [_patient], "response": [_capped]}
    client = httpx2.AsyncClient(
        headers=headers, timeout=timeout, trust_env=False, event_hooks=hooks
    )
    async with client, streamable_http_client(str(server.url), http_client=client) as streams:
        yield streams


async def _patient(request: httpx2.Request) -> None:
    """Where a server speaks unasked, it may be silent for hours."""
    if request.method == "GET":
        request.extensions["timeout"] = {**request.extensions.get("timeout", {}), "read": None}


async def _capped(response: httpx2.Response) -> None:
    """No answer is read further than `MAX_BODY`, and none that came packed."""
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
        self, server: McpServer, token: str, protocol: str, changed: Callable[[Session], None]
    ) -> None:
        """`protocol` is the version the server was approved with: what is known is not asked."""
        self.server = server
        self.tools: tuple[JSONObject, ...] = ()
        self.dead = False
        self._token = token
        self._mode = "legacy" if protocol and protocol < "2026" else "auto"
        self._changed = changed
        self._asking: list[Asking] = []
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
        found = await self._pages(self.client.session.list_tools, "tools")
        self.tools = tuple(found)
        return self.tools

    async def list_resources(self) -> tuple[list[JSONObject], list[JSONObject]]:
        """Resources and templates of resources."""
        session = self.client.session
        listed = await self._pages(session.list_resources, "resources")
        try:
            made = await self._pages(session.list_resource_templates, "resourceTemplates")
        except MCPError:  # a server may have the one without the other
            made = []
        return listed, made

    async def read_resource(self, uri: str) -> JSONObject:
        return _dumped(await self.client.session.read_resource(uri))

    async def call_tool(
        self, name: str, arguments: JSONObject, progress: Progress, asking: Asking
    ) -> JSONObject:
        """A `tools/call` result. What the tool says of its results' schema is not held against it:
        what happened has happened, and its data is data. Questions go to `asking`."""
        session = self.client.session
        more: dict[str, Any] = {}
        self._asking.append(asking)
        try:
            for _ in range(MAX_QUESTIONS):
                asked = types.CallToolRequestParams(name=name, arguments=arguments, **more)
                request = types.CallToolRequest(params=asked)
                # not the library's call_tool: that holds results against the tool's schema
                result = await session.send_request(request, _RESULT, progress_callback=progress)
                if not isinstance(result, types.InputRequiredResult):
                    return _dumped(result)
                replies = await self._replies(result.input_requests or {})
                more = {"input_responses": replies, "request_state": result.request_state}
        except MCPError as error:
            if self._process and is_closed(error):
                self.dead = True
                raise ServerEnded(await self._process.end()) from error
            raise
        finally:
            self._asking.remove(asking)
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
    def has_resources(self) -> bool:
        return self.client.server_capabilities.resources is not None

    @property
    def about(self) -> JSONObject:
        """What the server says of itself: name, version, instructions."""
        info = self.client.server_info
        named = _dumped(info) if info else {}
        return {**named, "instructions": self.client.instructions or ""}

    async def _serve(self, ready: asyncio.Future[None]) -> None:
        """Open, stand by, close: all in one task, as the library wants it."""
        try:
            process, token = self._process, self._token
            async with Client(
                process.connected() if process else http_transport(self.server, token),
                mode=self._mode,
                read_timeout_seconds=self.server.timeout_s,
                client_info=types.Implementation(name="webbee", version=__version__),
                message_handler=self._hear,
                elicitation_callback=self._elicit,
                cache=None,
            ) as client:
                self._client = client
                await self.list_tools()
                ready.set_result(None)
                await self._end.wait()
        except BaseException as error:
            if not ready.done():
                ready.set_exception(_first(error))
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
        """A question to the user. It belongs to the call that was made last: the protocol does not
        say to which."""
        if not self._asking:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(**self._asking[-1].reply(_dumped(question)))

    async def _hear(self, message: object) -> None:
        """What the server says unasked. A broken stream is seen by the next call."""
        if isinstance(message, types.ToolListChangedNotification):
            self._changed(self)

    @staticmethod
    async def _pages(ask: Callable[..., Awaitable[Any]], key: str) -> list[JSONObject]:
        found: list[JSONObject] = []
        cursor: str | None = None
        # a server that always names a next page would never end
        for _ in range(MAX_PAGES):
            page = await ask(params=types.PaginatedRequestParams(cursor=cursor))
            found += _dumped(page).get(key, [])
            cursor = page.next_cursor
            if not cursor or len(found) >= MAX_TOOLS:
                break
        return found[:MAX_TOOLS]


def _dumped(model: Any) -> JSONObject:
    dumped: JSONObject = model.model_dump(by_alias=True, mode="json", exclude_none=True)
    return dumped


def _first(error: BaseException) -> BaseException:
    """The error itself, out of the groups that task groups wrap it in."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    with contextlib.suppress(AttributeError):
        error.__traceback__ = None
    return error
