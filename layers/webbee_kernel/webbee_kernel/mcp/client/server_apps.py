"""Apps: a server as an `Extension`, its approved tools as chat functions, and asking: a question
that a server puts to the user in the middle of a call.

A call does not wait for people. The question is answered `cancel`, the call ends with what was
asked, and the model asks the user; the answer travels with the same call, made again, as the
argument `_answers`. So it works across turns, processes and days, and nothing is kept.
"""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ... import background
from ...catalogue import OPEN_WORLD
from ...errors import CallError
from ...sdk import ChatExtension, Context, Extension, ui
from ...sdk.definitions import FunctionDef, Handler
from ...sdk.result import ANSWERS, NEEDS_ANSWER, ActionResult, failure
from ...text import cut, one_line, reveal
from ...types import JSON, JSONObject
from . import approvals, connections, server_tools
from .approvals import Approval, Drift
from .connections import Connections, McpServer, Wanted, failure_of
from .server_tools import Tool, checker, problem_of_schema, readable, tools_of

if TYPE_CHECKING:
    from .server_session import Session

T = TypeVar("T")
MAX_QUESTION: Final = 600
TAKEN: Final[JSONObject] = {
    "type": "object",
    "description": "What the user answered to a question that this function asked before.",
}
"""The schema of that argument, on functions that have asked before."""


@dataclass(slots=True)
class Asking:
    """The questions of one call. `answers` are those the call brought, None where it brought
    none."""

    answers: JSONObject | None = None
    open: list[str] = field(default_factory=list)
    forms: JSONObject = field(default_factory=dict)
    """The same questions by a name, as `ActionResult.ask` has them; one that leads to an address,
    or hides something in its schema, is none."""

    def reply(self, question: Mapping[str, JSON]) -> JSONObject:
        """What the server is told: the user's answers where they are complete, else `cancel`."""
        wanted = question.get("requestedSchema") or {}
        fields = wanted.get("properties") or {}
        missing = set(wanted.get("required") or ()).difference(self.answers or ())
        # an address is the user's to open: answers that came along never accept it
        if self.answers is None or missing or question.get("url"):
            self.open.append(_told(question, fields))
            self._form(question, wanted)
            return {"action": "cancel"}
        # a server may ask twice in one call: each question gets its own fields only
        content = {k: v for k, v in self.answers.items() if k in fields}
        return {"action": "accept", "content": content}

    def _form(self, question: Mapping[str, JSON], wanted: JSONObject) -> None:
        """Keep the newest open question as a form, where its schema makes one."""
        if wanted and not problem_of_schema(wanted):
            text = cut(one_line(reveal(str(question.get("message", "")))), MAX_QUESTION)
            form = {"message": text, "schema": readable(wanted)}
            self.forms[f"question_{len(self.open)}"] = form

    def ended(self, server: str) -> ActionResult | None:
        """How a call ends that asked what nobody has answered yet; None where it asked nothing."""
        if not self.open:
            return None
        told = f"{server} asks the user: {' '.join(self.open)}"
        result = failure(told, code=NEEDS_ANSWER)
        result.data = {
            "questions": {
                n: {**q, "message": f"{server} asks: {q['message']}"} for n, q in self.forms.items()
            }
        }
        return result


def asked_of(arguments: JSONObject) -> tuple[JSONObject, Asking]:
    """The tool's own arguments, and the answers that came with them."""
    given = arguments.get(ANSWERS)
    own = {k: v for k, v in arguments.items() if k != ANSWERS}
    return own, Asking(given if isinstance(given, dict) else None)


def _told(question: Mapping[str, JSON], fields: Mapping[str, JSON]) -> str:
    """A stranger's question on one line, with its fields or its address."""
    text = one_line(reveal(str(question.get("message", ""))))
    if url := question.get("url"):
        return cut(f"“{text}” ({one_line(reveal(str(url)))})", MAX_QUESTION)
    wanted = "; ".join(_fields(fields))
    return cut(f"“{text}”" + (f" ({wanted})" if wanted else ""), MAX_QUESTION)


def _fields(fields: Mapping[str, JSON]) -> Iterator[str]:
    for name, rules in fields.items():
        rules = rules if isinstance(rules, dict) else {}
        said = rules.get("description") or rules.get("title") or ""
        choices = ", ".join(map(str, rules.get("enum") or ()))
        parts = filter(None, (str(rules.get("type", "")), str(said), choices))
        yield one_line(reveal(f"{name}: {', '.join(parts)}"))


LIST, READ, CONNECT = "list_resources", "read_resource", "connect"
"""Functions of an app that are no tools of its server."""
HEALTH_S: Final = 4.0
PROGRESS_S: Final = 0.5
"""Seconds between two events of one call's progress."""
NOTHING: Final[JSONObject] = {"type": "object", "properties": {}}
URI: Final[JSONObject] = {
    "type": "object",
    "properties": {"uri": {"type": "string", "description": "Address as the list gives it."}},
    "required": ["uri"],
    OPEN_WORLD: True,
}


def own_functions(server: McpServer, approval: Approval) -> tuple[str, ...]:
    """The functions of its app that are no tools of the server."""
    names = (LIST, READ) if approval.resources else ()
    return (*names, CONNECT) if server.auth == "oauth" else names


@dataclass(slots=True)
class ServerApp:
    """One approved server. `changed` is told when other functions are to be offered, so that the
    catalogue can follow."""

    server: McpServer
    approval: Approval
    connections: Connections
    changed: Callable[[ServerApp], None] = lambda app: None
    drift: Drift = field(default_factory=Drift)
    _tools: dict[str, Tool] = field(init=False)
    _asks: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._tools = tools_of(self.approval.tools)

    def extension(self) -> Extension:
        """The app as it may be called now: tools that have changed since they were approved, or are
        gone, are left out."""
        name = self.server.display_name
        description = f"Tools of the MCP server {name}"
        ext = Extension(
            self.server.id, self.approval.protocol, display_name=name, description=description
        )
        chat = ChatExtension(ext)
        connections.declare(ext, self.server)
        for function in self._functions():
            # the server's tools come first: one that is called `connect` keeps its name
            chat.functions.setdefault(function.name, function)
        ext.health_check(self._health)
        return ext

    @property
    def withdrawn(self) -> dict[str, str]:
        """Functions of tools that are not what was approved, or are gone, with the reason."""
        reasons = {t.fn_name: self._why_not(t) for t in self._tools.values()}
        return {name: why for name, why in reasons.items() if why}

    def _why_not(self, tool: Tool) -> str:
        name = self.server.display_name
        if tool.name in self.drift.changed:
            return (
                f"{name} has changed {tool.name} since it was approved: an operator has to look at"
                f" it (webbee mcp approve {self.server.id})"
            )
        return f"{name} has no tool {tool.name} any more" if tool.name in self.drift.gone else ""

    def _functions(self) -> list[FunctionDef]:
        name = self.server.display_name
        own = {
            LIST: _read(LIST, f"List the resources of {name}", NOTHING, self._list),
            READ: _read(READ, f"Read one resource of {name}", URI, self._read),
            CONNECT: _read(CONNECT, f"Connect an account of {name}", NOTHING, self._connect),
        }
        made = [self._function(t) for t in self._tools.values() if not self._why_not(t)]
        return made + [own[name] for name in own_functions(self.server, self.approval)]

    def _function(self, tool: Tool) -> FunctionDef:
        check, schema = checker(tool.schema), tool.schema
        if tool.name in self._asks:
            properties = {**schema.get("properties", {}), ANSWERS: TAKEN}
            schema = {**schema, "properties": properties}

        def accepts(arguments: JSONObject) -> None:
            # without `_answers`: the server's schema may refuse what it does not know
            check(asked_of(arguments)[0])

        return FunctionDef(
            tool.fn_name,
            partial(self._call, tool),
            tool.description,
            tool.action_type,
            params=schema,
            accepts=accepts,
        )

    async def _call(self, tool: Tool, ctx: Context, /, **arguments: Any) -> ActionResult:
        """Call a tool, as it was approved."""
        tell, (own, asking) = _teller(ctx), asked_of(arguments)

        async def called(session: Session) -> JSONObject:
            # looked at again: opening the session listed the tools, which may have changed
            if why := self._why_not(tool):
                raise CallError("UNKNOWN_SUB_FUNCTION", why)
            return await session.call_tool(tool.name, own, tell, asking)

        result = await self._use(ctx, called, server_tools.of_tool)
        # before the result: that is only what the server made of our `cancel`
        if asked := asking.ended(self.server.display_name):
            if tool.name not in self._asks:  # from now on it says that it takes answers
                self._asks.add(tool.name)
                self.changed(self)
            return asked
        return result

    async def _list(self, ctx: Context, /) -> ActionResult:
        return await self._use(
            ctx, lambda s: s.list_resources(), lambda found: server_tools.of_resources(*found)
        )

    async def _read(self, ctx: Context, /, uri: str) -> ActionResult:
        read = partial(server_tools.of_resource, uri)
        return await self._use(ctx, lambda s: s.read_resource(uri), read)

    async def _connect(self, ctx: Context, /) -> ActionResult:
        url = await ctx.oauth_authorize_url(self.server.signs_in_with)
        told = f"Connect an account of {self.server.display_name}"
        link = ui.Link(told, url)
        return ActionResult.success(
            {"url": url}, "Open the address to connect your account.", ui=link
        )

    async def _health(self, ctx: Context) -> JSONObject:
        """`ok`, or what is wrong, in the operator's words."""
        try:
            if self.server.auth != "oauth":  # nobody's account is at hand
                async with asyncio.timeout(HEALTH_S):
                    await self._on(ctx, _greeted)
        except Exception as error:
            return {"status": failure_of(error, self.server).error}
        return {"status": str(self.drift) or "ok"}

    async def _use(
        self, ctx: Context, ask: Callable[[Session], Awaitable[T]], of: Callable[[T], ActionResult]
    ) -> ActionResult:
        """The result `of` what a session answers, or how it failed."""
        try:
            return of(await self._on(ctx, ask))
        except CallError:
            raise
        except Exception as error:
            return failure_of(error, self.server)

    async def _on(self, ctx: Context, ask: Callable[[Session], Awaitable[T]]) -> T:
        server, user = self.server, ctx.user
        token = await connections.token_of(ctx, server)
        whose = (user.tenant_id, user.imperal_id, token, self.approval.protocol)
        return await self.connections.use(Wanted(server, self._listed, *whose), ask)

    def _listed(self, server: McpServer, offered: tuple[JSONObject, ...]) -> None:
        """Compare what is offered with what was approved."""
        now = self.approval.drift(approvals.digests(offered))
        # listings come often, another drift seldom: only that makes the catalogue anew
        if now != self.drift:
            self.drift = now
            self.changed(self)


async def _greeted(session: Session) -> JSONObject:
    return session.about


def _read(name: str, description: str, schema: JSONObject, handler: Handler) -> FunctionDef:
    check = checker(schema)
    return FunctionDef(name, handler, description, "read", params=schema, accepts=check)


def _teller(ctx: Context) -> Callable[[float, float | None, str | None], Awaitable[None]]:
    """Progress of a server's as events of the call: told on the loop and with the credentials of
    whoever called."""
    loop, here = asyncio.get_running_loop(), contextvars.copy_context()
    last = 0.0

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        nonlocal last
        if time.monotonic() - last < PROGRESS_S:
            return
        last = time.monotonic()
        percent = 100.0 * progress / total if total else 0.0

        telling = _quietly(ctx.progress(percent, message or ""))
        loop.call_soon_threadsafe(background.start, telling, "mcp-progress", context=here)

    return tell


async def _quietly(work: Awaitable[None]) -> None:
    """A call does not hang on what is told of it."""
    try:
        await work
    except Exception:
        return
