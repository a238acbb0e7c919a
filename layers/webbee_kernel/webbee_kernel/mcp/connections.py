"""Configured MCP servers, and their sessions, pooled on a thread of their own by server, user and
token: users share no remote session. An unreachable server is not tried again for some seconds.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Final, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ..background import LoopThread, start
from ..config import PROVIDER_NAME, HttpUrl, Provider
from ..errors import CallError
from ..sdk import ActionResult, Context, Extension
from ..text import one_line
from ..types import JSONObject

if TYPE_CHECKING:
    from .server_session import Session

RESERVED: Final = ("kernel",)
"""App ids of the kernel's own functions."""

OPEN_S: Final = 10.0
"""Seconds for opening a session and listing tools."""


class McpServer(BaseModel):
    """Where a server is and how the kernel signs in. Its tools become functions of the app `id`.

    A remote server has a `url` (streamable HTTP), one on this machine a `command` (stdio), with
    variables (`env`) and a working directory (`cwd`) of its own. `auth`:
    `bearer` takes the app-wide secret `token`, `oauth` the account that each user connects with
    `provider`, a known one, one of the deployment's, or the server's own, which `oauth` describes
    (`webbee mcp add --oauth` finds it) and which bears the server's id. `timeout_s` is how long one
    request may take.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str = Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$")
    url: HttpUrl | None = None
    command: str = Field("", max_length=500)
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    cwd: str = Field("", max_length=1_000)
    name: str = Field("", max_length=60)
    auth: Literal["none", "bearer", "oauth"] = "none"
    provider: Annotated[str, Field(pattern=f"^({PROVIDER_NAME})?$")] = ""
    oauth: Provider | None = None
    scopes: tuple[str, ...] = ()
    timeout_s: float = Field(30.0, gt=0, le=120)

    @model_validator(mode="after")
    def _check(self) -> McpServer:
        name = self.signs_in_with
        for is_wrong, message in (
            (bool(self.url) == bool(self.command), "a server has either a url or a command"),
            (self.url and (self.env or self.cwd), "env and cwd belong to a command"),
            (self.id in RESERVED, f"the id {self.id!r} is the kernel's own"),
            (self.auth != "none" and not self.url, "only a server with a url is signed in to"),
            ((self.auth == "oauth") != bool(name), "auth oauth and a provider belong together"),
            (
                self.oauth and not re.fullmatch(PROVIDER_NAME, name),
                "the id of a server with a provider of its own begins with a letter",
            ),
        ):
            if is_wrong:
                raise ValueError(message)
        return self

    @property
    def signs_in_with(self) -> str:
        """The name of its OAuth provider; empty for none."""
        return self.provider or (self.id if self.oauth else "")

    @property
    def where(self) -> str:
        """The approved address, or command with arguments."""
        return self.url or " ".join((self.command, *self.args))

    @property
    def display_name(self) -> str:
        """The operator's name for it, never the server's; else the id as a name."""
        words = self.id.replace("-", " ")
        return self.name or words[:1].upper() + words[1:]


def servers_of(entries: Iterable[Mapping[str, object]]) -> tuple[McpServer, ...]:
    """The servers of a list of JSON objects; ValueError with the first thing that is wrong."""
    try:
        return tuple(McpServer.model_validate(one) for one in entries)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"]))
        raise ValueError(f"{where}: {first['msg']}".removeprefix(": ")) from None


TOKEN: Final = "token"  # noqa: S105
"""The app-wide secret of a server with `auth` bearer."""


def declare(ext: Extension, server: McpServer) -> None:
    """Declare the secrets and OAuth provider that the server needs."""
    if server.auth == "bearer":
        ext.secret(
            TOKEN,
            f"Token for {server.display_name}",
            required=True,
            scope="app",
            max_bytes=16_384,
            env_fallback=f"IMPERAL_APPSECRET_{server.id.replace('-', '_').upper()}_TOKEN",
        )
    if server.auth == "oauth":
        ext.oauth(server.signs_in_with, scopes=list(server.scopes))
        for part in ("id", "secret"):
            ext.secret(f"{server.signs_in_with}_client_{part}", f"OAuth client {part}", scope="app")


async def token_of(ctx: Context, server: McpServer) -> str:
    """The bearer token of this call, empty where the server wants none. CallError
    PERMISSION_DENIED, with what to do, where there is none yet."""
    if server.auth == "none":
        return ""
    name = server.display_name
    if server.auth == "bearer":
        token = await ctx.secrets.get(TOKEN) or ""
        cure = f"an operator sets the secret {TOKEN!r} of the app {server.id}"
    else:
        token = await ctx.oauth_token(server.signs_in_with)
        cure = f"connect your account of it first: call {server.id} connect"
    if not token:
        raise CallError("PERMISSION_DENIED", f"{name} wants a sign-in: {cure}")
    return token


T = TypeVar("T")
MAX_OPEN: Final = 64
"""Sessions of a process; the least recently used idle one is closed for a new one."""
PAUSE_S: Final = 15.0
"""Seconds for which an unreachable server is not tried again."""
RELIST_S: Final = 300.0
"""Seconds after which tools are listed again, in the background."""

_log = logging.getLogger("webbee.mcp")


class Unreachable(Exception):
    """No session could be opened, for the reason in its cause; no request was sent."""


@dataclass(frozen=True, slots=True)
class SessionRequest:
    """What identifies a session: server, user and token, with the callback for each list of tools.
    `protocol` is the approved version."""

    server: McpServer
    on_listing: Callable[[tuple[JSONObject, ...]], None]
    tenant_id: str = ""
    user_id: str = ""
    token: str = field(default="", repr=False)
    protocol: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The pool key. A local process is shared by all users; the token is hashed."""
        name = f"{self.server.id} {self.server.where}"
        digest = hashlib.sha256(self.token.encode()).hexdigest()
        return (name, self.tenant_id, self.user_id, digest) if self.server.url else (name,)


@dataclass(slots=True)
class _Slot:
    """A pool entry: the last request, the session, and the task that opens it."""

    request: SessionRequest
    opening: asyncio.Future[Session] | None = None
    session: Session | None = None
    listed_at: float = 0.0
    used_at: float = 0.0
    calls: int = 0


class Connections:
    """The sessions of this process. Safe from any event loop."""

    def __init__(self) -> None:
        self._thread = LoopThread("webbee-mcp")
        self._slots: dict[tuple[str, ...], _Slot] = {}
        self._down: dict[str, tuple[float, Exception]] = {}

    async def use(self, request: SessionRequest, work: Callable[[Session], Awaitable[T]]) -> T:
        """The result of `work(session)`, run on the pool's thread; retried once with a new session
        where the old one had ended. Raises what `work` raises, or Unreachable."""
        return await asyncio.wrap_future(self._thread.submit(self._use(request, work)))

    def close(self) -> None:
        """End every session, and wait for that."""
        self._thread.run(self._close_all())

    async def _use(self, request: SessionRequest, work: Callable[[Session], Awaitable[T]]) -> T:
        slot = self._slots.setdefault(request.key, _Slot(request))
        # its app may have been rebuilt since the session began
        slot.request, slot.used_at = request, time.monotonic()
        slot.calls += 1
        try:
            session = await self._session(slot)
            try:
                return await work(session)
            except Exception as error:
                if not is_over(error):
                    raise
                session.dead = True
                return await work(await self._session(slot))
        finally:
            slot.calls -= 1
            used = slot.session
            if used and not used.dead and time.monotonic() - slot.listed_at > RELIST_S:
                start(self._relist(slot, used), "mcp-list")

    async def _session(self, slot: _Slot) -> Session:
        """The slot's session, opened if needed; a cancelled caller does not cancel the opening."""
        if slot.session is not None and not slot.session.dead:
            return slot.session
        if slot.opening is None or slot.opening.done():
            # by server, not by user: one user's failed attempt spares the others theirs
            at, error = self._down.get(slot.request.server.id, (0.0, None))
            if error is not None and time.monotonic() - at < PAUSE_S:
                raise Unreachable from error
            slot.opening = asyncio.ensure_future(self._open(slot))
            # retrieved, or asyncio would log it where nobody waits any more
            slot.opening.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        return await asyncio.shield(slot.opening)

    async def _open(self, slot: _Slot) -> Session:
        from .server_session import Session  # here and nowhere earlier: it imports the library

        slot.session = None
        self._make_room()
        request, server = slot.request, slot.request.server

        def on_change(changed: Session) -> None:
            start(self._relist(slot, changed), "mcp-list")

        session = Session(server, request.token, request.protocol, on_change)
        try:
            await session.open()
        except Exception as error:
            self._down[server.id] = (time.monotonic(), error)
            name = type(error).__name__
            _log.warning("app=%s error=%s | its server was not reached", server.id, name)
            raise Unreachable from error
        self._down.pop(server.id, None)
        slot.session, slot.listed_at = session, time.monotonic()
        slot.request.on_listing(session.tools)
        return session

    async def _relist(self, slot: _Slot, session: Session) -> None:
        # first: concurrent calls start no second listing
        slot.listed_at = time.monotonic()
        try:
            tools = await session.list_tools()
        except Exception as error:
            if not session.dead:
                name = type(error).__name__
                _log.warning("app=%s error=%s | its tools were not listed", session.server.id, name)
            return
        slot.request.on_listing(tools)

    def _make_room(self) -> None:
        idle = [(s.used_at, who) for who, s in self._slots.items() if s.session and not s.calls]
        for _, who in sorted(idle, key=lambda one: one[0])[: max(0, len(self._slots) - MAX_OPEN)]:
            slot = self._slots.pop(who)
            if slot.session:
                start(slot.session.close(), "mcp-close")

    async def _close_all(self) -> None:
        # else a session that is being opened now would remain
        opening = {s.opening for s in self._slots.values() if s.opening and not s.opening.done()}
        if opening:
            await asyncio.wait(opening)
        sessions = [s.session for s in self._slots.values() if s.session]
        self._slots.clear()
        self._down.clear()
        await asyncio.gather(*(session.close() for session in sessions))


SESSIONS: Final = Connections()
"""Those of this process."""


def is_over(error: Exception) -> bool:
    """Whether the session had ended before the request, so that it may be sent again: the server
    knows no such session, or our side is closed."""
    if isinstance(error, ConnectionError):
        return True
    return type(error).__name__ == "MCPError" and "Session terminated" in str(error)


INVALID_PARAMS, METHOD_NOT_FOUND = -32602, -32601
CLOSED, TIMED_OUT, NO_JSON = -32000, -32001, -32700
"""Codes of JSON-RPC, and the library's own for a lost connection and a request without answer."""
MAX_REASON = 2_500
OTHER_WAYS = {
    "uvx": "install the server's package in an environment of its own (python3 -m venv) and name"
    " the program that it brings, or install uv",
    "npx": "Node.js brings it; or name a server that is no package of npm",
    "docker": "install a Docker engine; or name the server's own command in its place",
}
"""How a server is started without the program that starts it."""


def failure_of(error: Exception, server: McpServer) -> ActionResult:
    """The error as the call's result: what happened, and whether it may be tried again."""
    name, code = server.display_name, getattr(error, "code", None)
    if isinstance(error, CallError):
        return ActionResult.error(str(error), code=error.code)
    if isinstance(error, Unreachable):
        return _unreachable(error.__cause__, name)
    if isinstance(error, TimeoutError) or code == TIMED_OUT:
        text = f"{name} did not answer in {server.timeout_s:g} s (timeout_s of this server)"
        return ActionResult.error(text, True, code="BACKEND_TIMEOUT")
    # by its name: its module imports the library
    if code == CLOSED or type(error).__name__ == "ServerEnded":
        what = "the connection broke" if code == CLOSED else error
        text = f"{what}; whether {name} carried the call out is not known"
        return ActionResult.error(text, True, code="BACKEND_5XX")
    if isinstance(code, int):
        text = f"{name}: {one_line(str(error), 500)}"
        return ActionResult.error(text, code=_CODES.get(code, ""))
    text = f"{name} gave no answer ({type(error).__name__})"
    return ActionResult.error(text, True, code="BACKEND_5XX")


def _unreachable(cause: BaseException | None, name: str) -> ActionResult:
    """The result where no session could be opened."""
    if isinstance(cause, TimeoutError):
        text = f"{name} cannot be reached: it did not open a session in {OPEN_S:g} s"
        return ActionResult.error(text, True, code="BACKEND_TIMEOUT")
    reason = one_line(str(cause), MAX_REASON) or type(cause).__name__
    if isinstance(cause, FileNotFoundError):
        program = str(cause.filename)
        reason = f"there is no {program!r} on this machine"
        if other := OTHER_WAYS.get(program):
            reason = f"{reason}: {other}"
    if "No module named" in reason:  # Python's own words
        reason += ": name the Python of an environment that has it, such as .venv/bin/python"
    return ActionResult.error(f"{name} cannot be reached: {reason}", True, code="BACKEND_5XX")


_CODES: Final[Mapping[int, str]] = {
    NO_JSON: "BACKEND_5XX",
    INVALID_PARAMS: "VALIDATION_TYPE_ERROR",
    METHOD_NOT_FOUND: "UNKNOWN_SUB_FUNCTION",
}
"""The kernel's code for one of JSON-RPC."""
