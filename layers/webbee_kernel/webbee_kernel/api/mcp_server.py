"""The kernel as an MCP server: streamable HTTP without sessions.

The caller's functions are tools, those that read are prompts, too. A call passes a turn's guards
(`turn.direct`); what the user must be asked is asked by elicitation where the client can put a
question to its user, and refused with the way to confirm it where it cannot. Resources are what
apps offer to be read and, for developers, the sections of the skeleton.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from .. import __version__
from ..bootstrap import App
from ..catalogue import FunctionInfo
from ..mcp import json_rpc, primitives
from ..mcp.json_rpc import Message, Refused, Stream, Waiting, events
from ..sdk.records import User
from ..stores.types import Section
from ..turn.direct import SESSION
from ..turn.kernel import Kernel
from ..types import JSON, CallOutcome, CallRequest, JSONObject, user_dict
from .identity import has_role
from .mcp_calls import Calls, no_tool
from .router import Answer, Request

INSTRUCTIONS: Final = (
    "Every tool acts for the signed-in user, on that user's data. What destroys something, or sends"
    " it somewhere, waits for the user's own yes. A tool that says it waits has not run."
)

Method = Callable[[Request, Message], Coroutine[Any, Any, JSONObject | Stream]]


class McpServer:
    """What clients of the Model Context Protocol are answered."""

    def __init__(self, app: App, kernel: Kernel) -> None:
        self._kernel = kernel
        self._calls = Calls(app, kernel)
        self._resources = Resources(kernel, self._calls)
        self._methods: Mapping[str, Method] = {
            "tools/list": self._list,
            "tools/call": self._call,
            "prompts/list": self._prompts,
            "prompts/get": self._prompt,
            "completion/complete": self._complete,
            "resources/list": self._resources.listed,
            "resources/templates/list": self._resources.templates,
            "resources/read": self._resources.read,
        }

    async def post(self, request: Request) -> Answer:
        """One message of the Model Context Protocol, one answer; 202 for a notification, and for
        what a client's user answered."""
        ident: str | int | None = None
        try:
            data = json_rpc.json_of(request.raw())
            if reply := json_rpc.reply_of(data):
                # only a client that was given a session has been asked anything
                if json_rpc.in_session(request.headers):
                    await self._calls.decide(request.caller, *reply)
                return Answer("", 202, "text/plain")
            data = json_rpc.parsed(data)
            ident = data.get("id")
            message = json_rpc.message(data, request.headers)
            if ident is None:
                return Answer("", 202, "text/plain")
            result = await self._method(message)(request, message)
        except Refused as error:
            return Answer(json_rpc.failure(ident, error), error.status)
        return _answered(ident, message, result)

    async def resume(self, request: Request, waits: Waiting) -> Answer:
        """The result that a client comes back for, or word that it still waits for its user."""
        result = await self._calls.resume(request.caller, waits)
        stream = result if isinstance(result, Stream) else Stream(result=result)
        return _events(stream, waits.ident, stream.result)

    def _method(self, message: Message) -> Method:
        known = dict(self._methods)
        if message.stateless:
            known["server/discover"] = self._discover
        else:
            known |= {"initialize": self._initialize, "ping": self._ping}
        if method := known.get(message.method):
            return method
        raise message.refused(
            json_rpc.METHOD_NOT_FOUND, f"there is no method {message.method[:64]!r}"
        )

    async def _initialize(self, request: Request, message: Message) -> JSONObject:
        wanted = message.params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise message.bad("protocolVersion must be a text")
        known = wanted in json_rpc.HANDSHAKE
        return {
            # to an unknown one the protocol answers with one of ours, and the client decides
            "protocolVersion": wanted if known else json_rpc.HANDSHAKE[-1],
            "capabilities": _CAPABILITIES,
            "serverInfo": _INFO,
            "instructions": INSTRUCTIONS,
        }

    async def _discover(self, request: Request, message: Message) -> JSONObject:
        return {
            "supportedVersions": list(json_rpc.VERSIONS),
            "capabilities": _CAPABILITIES,
            "instructions": INSTRUCTIONS,
            **message.cached(),
        }

    async def _ping(self, request: Request, message: Message) -> JSONObject:
        return {}

    async def _list(self, request: Request, message: Message) -> JSONObject:
        return await self._page("tools", primitives.tool, request, message)

    async def _prompts(self, request: Request, message: Message) -> JSONObject:
        return await self._page("prompts", primitives.prompt, request, message)

    async def _page(
        self, kind: str, shape: Callable[..., JSONObject], request: Request, message: Message
    ) -> JSONObject:
        catalogue, _, mine = await self._kernel.apps_of(request.caller)
        listed = catalogue.functions(mine)
        functions = primitives.prompts(listed) if kind == "prompts" else listed
        found = primitives.page(functions, message.text("cursor"))
        if found is None:
            raise message.bad("this cursor names nothing: begin anew")
        shown, more = found
        return {
            kind: [shape(f, catalogue.apps[f.app_id]) for f in shown],
            **({"nextCursor": more} if more else {}),
            **message.cached(),
        }

    async def _call(self, request: Request, message: Message) -> JSONObject | Stream:
        function = await self._calls.function(message, message.text("name"))
        given = message.params.get("arguments") or {}
        return await self._calls.run(request, message, function, given)

    async def _prompt(self, request: Request, message: Message) -> JSONObject | Stream:
        """The result of a read, as what the user says. Refused where the function is none."""
        function = await self._reading(message, message.text("name"))
        given = message.params.get("arguments") or {}

        def told(outcome: CallOutcome) -> JSONObject:
            if not outcome.ok:
                raise message.refused(json_rpc.INTERNAL, outcome.error)
            blocks = primitives.content_of(outcome) or [primitives.text("Nothing was found.")]
            return {"messages": primitives.messages(blocks)}

        # the protocol has texts alone as arguments of prompts
        arguments = (
            primitives.parse_arguments(function, given) if isinstance(given, dict) else given
        )
        schemes = await self._resources.schemes(request.caller, function.app_id, arguments)
        result = await self._calls.run(request, message, function, arguments, told, schemes=schemes)
        return no_tool(message, result)

    async def _complete(self, request: Request, message: Message) -> JSONObject:
        """What the schema of an argument lists. Of the addresses of resources nothing is known."""
        ref, argument = message.params.get("ref"), message.params.get("argument")
        if not isinstance(ref, dict) or not isinstance(argument, dict):
            raise message.bad("ref and argument must be objects")
        if ref.get("type") != "ref/prompt":
            return {"completion": {"values": [], "total": 0, "hasMore": False}}
        function = await self._reading(message, str(ref.get("name")))
        name, begun = str(argument.get("name")), str(argument.get("value") or "")
        return {"completion": primitives.completions(function, name, begun)}

    async def _reading(self, message: Message, name: str) -> FunctionInfo:
        function = await self._calls.function(message, name)
        if function.action_type != "read":
            raise message.bad(f"there is no prompt {name[:64]!r}")
        return function


_INFO: Final[JSONObject] = {"name": "webbee-kernel", "title": "Webbee", "version": __version__}
_CAPABILITIES: Final[JSONObject] = {"tools": {}, "prompts": {}, "resources": {}, "completions": {}}


def _answered(ident: str | int, message: Message, result: JSONObject | Stream) -> Answer:
    """A result in its version's form; a session for a client that can ask its user."""
    stream = result if isinstance(result, Stream) else Stream(result=result)
    body = stream.result
    if message.stateless and body is not None:
        body = {"resultType": "complete", **body, "_meta": {json_rpc.META_SERVER: _INFO}}
    if isinstance(result, Stream):
        return _events(stream, ident, body)
    headers = _session(message) if message.method == "initialize" else {}
    return Answer(json_rpc.answer(ident, body or {}), headers=headers)


def _events(stream: Stream, ident: str | int, body: JSONObject | None) -> Answer:
    last = None if body is None else json_rpc.answer(ident, body)
    return Answer(events(stream, last), content_type="text/event-stream")


def _session(message: Message) -> dict[str, str]:
    can = message.params.get("capabilities")
    asks = can.get("elicitation") if isinstance(can, dict) else None
    # an empty object is how a client says forms that knows of nothing else
    forms = isinstance(asks, dict) and (not asks or "form" in asks)
    return {"mcp-session-id": f"{json_rpc.ELICITS}{uuid.uuid4()}"} if forms else {}


LISTING_S: Final = 10.0
"""Seconds in which an app lists its resources; one that takes longer is left out."""


class Resources:
    """Lists and reads them."""

    def __init__(self, kernel: Kernel, calls: Calls) -> None:
        self._kernel = kernel
        self._calls = calls

    async def listed(self, request: Request, message: Message) -> JSONObject:
        sections, of_apps = await asyncio.gather(
            self._sections(request.caller), self._of_apps(request.caller)
        )
        listed = [primitives.of_section(s) for s in sections]
        listed += [row for rows, _ in of_apps for row in rows]
        return {"resources": listed, **message.cached(0)}

    async def templates(self, request: Request, message: Message) -> JSONObject:
        of_apps = await self._of_apps(request.caller)
        listed = [row for _, rows in of_apps for row in rows]
        return {"resourceTemplates": listed, **message.cached(0)}

    async def read(self, request: Request, message: Message) -> JSONObject | Stream:
        uri = message.text("uri")
        if found := primitives.app_of_uri(uri):
            return await self._read_of_app(request, message, uri, *found)
        held = primitives.section_of(await self._sections(request.caller), uri)
        if held is None:
            raise _missing(message, uri)
        return {"contents": [held], **message.cached(0)}

    async def _read_of_app(
        self, request: Request, message: Message, uri: str, app_id: str, own: str
    ) -> JSONObject | Stream:
        catalogue = await self._kernel.dispatch.catalogue()
        function = catalogue.function(app_id, primitives.READ)
        if function is None:
            raise _missing(message, uri)

        def told(outcome: CallOutcome) -> JSONObject:
            if not outcome.ok and outcome.retryable:
                raise message.refused(json_rpc.INTERNAL, outcome.error)
            held = primitives.contents(outcome, uri) if outcome.ok else []
            if not held:
                raise _missing(message, uri)
            return {"contents": held, **message.cached(0)}

        given: JSONObject = {"uri": own}
        own_schemes = await self.schemes(request.caller, app_id, given)
        result = await self._calls.run(request, message, function, given, told, schemes=own_schemes)
        return no_tool(message, result)

    async def schemes(self, caller: User, app_id: str, given: JSON) -> frozenset[str]:
        """The schemes of the addresses that an app lists, where a call gives an address."""
        values = given.values() if isinstance(given, dict) else ()
        # to ask an app what it lists is a call of its own: spared where no address is given
        if not any(isinstance(value, str) and "://" in value for value in values):
            return frozenset()
        return primitives.schemes(await self._of_apps(caller, app_id))

    async def _of_apps(
        self, caller: User, only: str = ""
    ) -> list[tuple[list[JSONObject], list[JSONObject]]]:
        """What the caller's apps list to be read; those that do not answer are left out."""
        catalogue, _, mine = await self._kernel.apps_of(caller)
        listing = (f for f in catalogue.functions(mine) if f.fn_name == primitives.LIST)
        lists = [f for f in listing if f.action_type == "read"]
        ids = [f.app_id for f in lists if only in ("", f.app_id)]
        calls = [
            CallRequest(
                "function",
                user_dict(caller),
                app_id,
                primitives.LIST,
                session_id=SESSION,
                deadline_s=LISTING_S,
            )
            for app_id in ids
        ]
        ended = await asyncio.gather(*map(self._kernel.dispatch.call, calls))
        return [primitives.of_app(app_id, o) for app_id, o in zip(ids, ended, strict=True)]

    async def _sections(self, caller: User) -> list[Section]:
        """The sections of the caller's apps that have been filled; none but for developers."""
        if not has_role(caller, "developer"):
            return []
        _, state, mine = await self._kernel.apps_of(caller)
        return [s for s in state.sections if s.app_id in mine and s.data is not None]


def _missing(message: Message, uri: str) -> Refused:
    # stateless versions of the protocol have no code of its own for it
    number = json_rpc.INVALID_PARAMS if message.stateless else json_rpc.RESOURCE_NOT_FOUND
    return message.refused(number, "there is no such resource", {"uri": uri[:512]})
