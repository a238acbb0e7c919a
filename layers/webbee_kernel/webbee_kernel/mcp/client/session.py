"""Session: one connection to one server, from its handshake to its end, on one task of one loop.

This and `transport` import `mcp` (1.4 s of processor time, 70 MB): only a call to a server does.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final

import mcp_types as types
from mcp import Client, MCPError
from mcp.client.session import ClientRequestContext
from pydantic import TypeAdapter

from ... import __version__
from ...types import JSONObject
from .asking import Asking
from .servers import McpServer
from .transport import ServerEnded, ServerProcess, http_transport, is_closed

OPEN_S: Final = 10.0
"""Seconds in which a server has to say hello and list its tools."""
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
        """A `resources/read` result."""
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
        """Whether the server offers resources."""
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
