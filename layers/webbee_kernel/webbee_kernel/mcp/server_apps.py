"""MCP servers as extensions of a registry: their approved tools as chat functions, and elicitation.

A call does not wait for the user. The server's question is answered `cancel`, the call ends with
it, and the model asks the user; the same call is then repeated with the argument `_answers`."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from .. import background
from ..config import Settings
from ..errors import CallError, SettingsError
from ..extensions.oauth import find_provider
from ..extensions.registry import LoadedExtension, Registry, check_names
from ..sdk import ChatExtension, Context, Extension, ui
from ..sdk.definitions import FunctionDef
from ..sdk.result import ANSWERS, NEEDS_ANSWER, ActionResult, failure
from ..text import cut, one_line, reveal
from ..types import JSON, JSONObject
from . import connections, server_tools
from .connections import SESSIONS, McpServer, SessionRequest, failure_of, servers_of
from .server_tools import (
    Approval,
    Drift,
    Tool,
    approval_of,
    checker,
    digests,
    problem_of_schema,
    read_approvals,
    readable,
    tools_of,
)

if TYPE_CHECKING:
    from .server_session import Session

_log = logging.getLogger("webbee.mcp")

T = TypeVar("T")
MAX_QUESTION: Final = 600
ANSWERS_SCHEMA: Final[JSONObject] = {
    "type": "object",
    "description": "What the user answered to a question that this function asked before.",
}
"""The schema of `_answers`, on functions that have asked before."""


@dataclass(slots=True)
class Elicitation:
    """The elicitations of one call. `answers` are those that came with the call, or None."""

    answers: JSONObject | None = None
    open: list[str] = field(default_factory=list)
    forms: JSONObject = field(default_factory=dict)
    """The open questions as forms by name, as `ActionResult.ask` has them; none for a URL or a
    refused schema."""

    def reply(self, question: Mapping[str, JSON]) -> JSONObject:
        """The reply to the server: the user's answers if they are complete, else `cancel`."""
        schema = question.get("requestedSchema") or {}
        fields = schema.get("properties") or {}
        missing = set(schema.get("required") or ()).difference(self.answers or ())
        # a URL is never accepted by answers: the user opens it
        if self.answers is None or missing or question.get("url"):
            self.open.append(_question_text(question, fields))
            self._form(question, schema)
            return {"action": "cancel"}
        # of several questions in one call each gets its own fields only
        content = {k: v for k, v in self.answers.items() if k in fields}
        return {"action": "accept", "content": content}

    def _form(self, question: Mapping[str, JSON], schema: JSONObject) -> None:
        """Keep the newest open question as a form, where its schema makes one."""
        if schema and not problem_of_schema(schema):
            text = cut(one_line(reveal(str(question.get("message", "")))), MAX_QUESTION)
            form = {"message": text, "schema": readable(schema)}
            self.forms[f"question_{len(self.open)}"] = form

    def result(self, server: str) -> ActionResult | None:
        """The call's result with its open questions; None without any."""
        if not self.open:
            return None
        text = f"{server} asks the user: {' '.join(self.open)}"
        failed = failure(text, code=NEEDS_ANSWER)
        failed.data = {
            "questions": {
                n: {**q, "message": f"{server} asks: {q['message']}"} for n, q in self.forms.items()
            }
        }
        return failed


def split_answers(arguments: JSONObject) -> tuple[JSONObject, Elicitation]:
    """The tool's own arguments, and the answers that came with them."""
    answers, own = arguments.get(ANSWERS), {k: v for k, v in arguments.items() if k != ANSWERS}
    return own, Elicitation(answers if isinstance(answers, dict) else None)


def _question_text(question: Mapping[str, JSON], fields: Mapping[str, JSON]) -> str:
    """A question on one line, with its fields or URL."""
    text = one_line(reveal(str(question.get("message", ""))))
    url = one_line(reveal(str(question.get("url") or "")))
    more = url or "; ".join(_fields(fields))
    return cut(f"“{text}”" + (f" ({more})" if more else ""), MAX_QUESTION)


def _fields(fields: Mapping[str, JSON]) -> Iterator[str]:
    for name, rules in fields.items():
        rules = rules if isinstance(rules, dict) else {}
        description = rules.get("description") or rules.get("title") or ""
        choices = ", ".join(map(str, rules.get("enum") or ()))
        parts = filter(None, (str(rules.get("type", "")), str(description), choices))
        yield one_line(reveal(f"{name}: {', '.join(parts)}"))


CONNECT: Final = "connect"
"""The function of an app that is no tool of its server: it connects a user's account there."""
HEALTH_S: Final = 4.0
PROGRESS_S: Final = 0.5
"""Seconds between two events of one call's progress."""
NO_ARGUMENTS: Final[JSONObject] = {"type": "object", "properties": {}}


@dataclass(slots=True)
class ServerApp:
    """One approved server, registered anew when its functions change."""

    server: McpServer
    approval: Approval
    registry: Registry
    drift: Drift = field(default_factory=Drift)
    _tools: dict[str, Tool] = field(init=False)
    _asks: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._tools = tools_of(self.approval.tools)

    def extension(self) -> Extension:
        """The app without tools that changed since approval or are gone."""
        name = self.server.display_name
        description = f"Tools of the MCP server {name}"
        ext = Extension(
            self.server.id, self.approval.protocol, display_name=name, description=description
        )
        chat = ChatExtension(ext)
        connections.declare(ext, self.server)
        for function in self._functions():
            # the server's tools come first: one named `connect` keeps its name
            chat.functions.setdefault(function.name, function)
        ext.health_check(self._health)
        return ext

    def loaded(self) -> LoadedExtension:
        """What the registry holds of it."""
        extension = LoadedExtension(self.server.id, self.extension(), None, True, self.withdrawn)
        return check_names(extension)

    @property
    def withdrawn(self) -> dict[str, str]:
        """Functions of tools that changed since approval or are gone, with the reason."""
        reasons = {t.fn_name: self._withdrawal_reason(t) for t in self._tools.values()}
        return {name: reason for name, reason in reasons.items() if reason}

    def _withdrawal_reason(self, tool: Tool) -> str:
        name = self.server.display_name
        if tool.name in self.drift.changed:
            return (
                f"{name} has changed {tool.name} since it was approved: an operator has to look at"
                f" it (webbee mcp approve {self.server.id})"
            )
        return f"{name} has no tool {tool.name} any more" if tool.name in self.drift.gone else ""

    def _functions(self) -> list[FunctionDef]:
        found = [self._function(t) for t in self._tools.values() if not self._withdrawal_reason(t)]
        if self.server.auth == "oauth":
            about = f"Connect an account of {self.server.display_name}"
            check, schema = checker(NO_ARGUMENTS), NO_ARGUMENTS
            found.append(
                FunctionDef(CONNECT, self._connect, about, "read", params=schema, accepts=check)
            )
        return found

    def _function(self, tool: Tool) -> FunctionDef:
        check, schema = checker(tool.schema), tool.schema
        if tool.name in self._asks:
            properties = {**schema.get("properties", {}), ANSWERS: ANSWERS_SCHEMA}
            schema = {**schema, "properties": properties}

        def accepts(arguments: JSONObject) -> None:
            # without `_answers`: the server's schema may refuse what it does not know
            check(split_answers(arguments)[0])

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
        tell, (own, elicitation) = _progress_reporter(ctx), split_answers(arguments)

        async def call(session: Session) -> JSONObject:
            # checked again: opening the session listed the tools
            if why := self._withdrawal_reason(tool):
                raise CallError("UNKNOWN_SUB_FUNCTION", why)
            return await session.call_tool(tool.name, own, tell, elicitation)

        result = await self._use(ctx, call, server_tools.of_tool)
        # instead of the result, which is only the server's reaction to our `cancel`
        if question := elicitation.result(self.server.display_name):
            if tool.name not in self._asks:  # from now on its schema has `_answers`
                self._asks.add(tool.name)
                self._register()
            return question
        return result

    async def _connect(self, ctx: Context, /) -> ActionResult:
        url = await ctx.oauth_authorize_url(self.server.signs_in_with)
        link = ui.Link(f"Connect an account of {self.server.display_name}", url)
        told = "Open the address to connect your account."
        return ActionResult.success({"url": url}, told, ui=link)

    async def _health(self, ctx: Context) -> JSONObject:
        """`ok`, or what is wrong, for the operator."""
        try:
            if self.server.auth != "oauth":  # nobody's account is at hand
                async with asyncio.timeout(HEALTH_S):
                    await self._on(ctx, _server_info)
        except Exception as error:
            return {"status": failure_of(error, self.server).error}
        return {"status": str(self.drift) or "ok"}

    async def _use(
        self, ctx: Context, ask: Callable[[Session], Awaitable[T]], of: Callable[[T], ActionResult]
    ) -> ActionResult:
        """`of(answer)` of a session, or the failure as a result."""
        try:
            return of(await self._on(ctx, ask))
        except CallError:
            raise
        except Exception as error:
            return failure_of(error, self.server)

    async def _on(self, ctx: Context, ask: Callable[[Session], Awaitable[T]]) -> T:
        server, user = self.server, ctx.user
        token = await connections.token_of(ctx, server)
        identity = (user.tenant_id, user.imperal_id, token, self.approval.protocol)
        return await SESSIONS.use(SessionRequest(server, self._on_listing, *identity), ask)

    def _on_listing(self, offered: tuple[JSONObject, ...]) -> None:
        """Compare what is offered with what was approved."""
        drift = self.approval.drift(digests(offered))
        # only a new drift rebuilds the catalogue
        if drift != self.drift:
            self.drift = drift
            self._register()

    def _register(self) -> None:
        if self.drift:
            _log.warning("server=%s | not as it was approved: %s", self.server.id, self.drift)
        self.registry.put({self.server.id: self.loaded()})


async def _server_info(session: Session) -> JSONObject:
    return session.about


def _progress_reporter(
    ctx: Context,
) -> Callable[[float, float | None, str | None], Awaitable[None]]:
    """A callback that emits progress on the caller's loop and with its credentials."""
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    last = 0.0

    async def report(progress: float, total: float | None, message: str | None) -> None:
        nonlocal last
        if time.monotonic() - last < PROGRESS_S:
            return
        last = time.monotonic()
        percent = 100.0 * progress / total if total else 0.0
        event = _ignoring_errors(ctx.progress(percent, message or ""))
        loop.call_soon_threadsafe(background.start, event, "mcp-progress", context=context)

    return report


async def _ignoring_errors(work: Awaitable[None]) -> None:
    with suppress(Exception):
        await work


def add_servers(registry: Registry, settings: Settings) -> None:
    """Register every configured server as an extension, as approved in the approvals file. One that
    is not approved is reported and left out, one whose id an extension has is left out with a log
    line; SettingsError for a malformed one."""
    loaded, failed = {}, {}
    try:
        servers = servers_of(settings.mcp_servers)
    except ValueError as error:
        field = "WEBBEE_MCP_SERVERS"
        raise SettingsError(f"environment variable {field}: {error}", field=field) from None
    for server in servers:
        extension = registry.loaded.get(server.id)
        if extension and not extension.is_server:
            _log.error("server=%s | left out: the id is taken by an extension", server.id)
            continue
        try:
            loaded[server.id] = _app(registry, settings, server)
        except ValueError as error:
            failed[server.id] = str(error)
            _log.error("server=%s | left out: %s", server.id, error)
    registry.put(loaded, failed=failed, gone=failed)


def _app(registry: Registry, settings: Settings, server: McpServer) -> LoadedExtension:
    approval = approval_of(server, read_approvals(settings.extensions_dir))
    if isinstance(approval, str):
        raise ValueError(approval)
    if name := server.signs_in_with:
        find_provider(name, settings)
    return ServerApp(server, approval, registry).loaded()
