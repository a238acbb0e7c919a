"""The kernel as an MCP server: its routes, streamable HTTP without stored sessions.

The caller's functions are tools; those that read are prompts, too. A call passes a turn's guards
(`turn.direct`); consent is asked by elicitation, or, where the client cannot do that, the call is
refused with the place where the user can answer. Resources are what apps list and, for developers,
the sections of the skeleton.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final

from .. import __version__
from ..catalogue import FunctionInfo
from ..errors import NotAuthenticated
from ..mcp import json_rpc, primitives
from ..mcp.json_rpc import Message, Refused, Stream, Waiting, events
from ..sdk.result import User
from ..stores.types import Section
from ..turn.direct import SESSION
from ..types import JSON, CallOutcome, JSONObject, object_of
from .identity import has_role
from .mcp_calls import Callers, Calls, Formatter
from .router import Answer, Request, Route, Services

INSTRUCTIONS: Final = (
    "Every tool acts for the signed-in user, on that user's data. What destroys something, or sends"
    " it somewhere, waits for the user's own yes. A tool that says it waits has not run."
)

PATH: Final = "/v1/mcp"
METADATA: Final = "/.well-known/oauth-protected-resource"


def shaped(status: int, body: JSONObject) -> JSONObject:
    """An error outside of any message, in JSON-RPC's form."""
    error = body["error"]
    told = {"code": json_rpc.INTERNAL, "message": error["message"], "data": error}
    return {"jsonrpc": "2.0", "id": None, "error": told}


Method = Callable[[Request, Message], Coroutine[Any, Any, JSONObject | Stream]]


class Mcp:
    """The endpoint, which answers the messages of clients, and the metadata of where their users
    sign in."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._kernel = services.kernel
        self._settings = services.app.settings
        self._callers = Callers(self._settings, services.app.clock)
        self._calls = Calls(services.app, services.kernel)
        self._methods: Mapping[str, Method] = {
            "tools/list": partial(self._page, "tools", primitives.tool),
            "tools/call": self._call,
            "prompts/list": partial(self._page, "prompts", primitives.prompt),
            "prompts/get": self._prompt,
            "completion/complete": self._complete,
            "resources/list": partial(self._list, "resources"),
            "resources/templates/list": partial(self._list, "resourceTemplates"),
            "resources/read": self._read,
        }

    @Route(
        f"POST {PATH}",
        public=True,
        body=json_rpc.McpBody,
        answer=JSONObject,
        accepted=type(None),
        errors=shaped,
        failure=JSONObject,
    )
    async def post(self, request: Request) -> Answer:
        """One message of the Model Context Protocol, one answer; 202 for a notification. Without a
        token that counts 401, which says where there are some."""
        try:
            user = await self._callers.of(request)
        except NotAuthenticated as error:
            # the way on which a client finds out where its user signs in (RFC 9728)
            where = f'Bearer resource_metadata="{self._base(request)}{METADATA}{PATH}"'
            told = shaped(error.status, error.body())
            return Answer(told, error.status, headers={"www-authenticate": where})
        return await self._message(request._replace(user=user))

    @Route(f"GET {PATH}", answer=JSONObject, errors=shaped, failure=JSONObject)
    async def get(self, request: Request) -> Answer:
        """The result of a call that waited for its user, for a client that comes back for it with
        `Last-Event-ID`; else refused with 405: nothing is pushed over this protocol."""
        if waits := Waiting.of(request.headers.get("last-event-id", "")):
            return _events(await self._calls.resume(request.caller, waits), waits.ident)
        return _not_allowed("nothing is pushed over this protocol")

    @Route(f"DELETE {PATH}", answer=JSONObject, errors=shaped, failure=JSONObject)
    async def delete(self, request: Request) -> Answer:
        """Refused with 405: nothing is kept of a session that could be ended."""
        return _not_allowed("nothing is kept of a session")

    @Route(f"GET {METADATA}", public=True, answer=JSONObject)
    @Route(f"GET {METADATA}{PATH}", public=True, answer=JSONObject)
    async def metadata(self, request: Request) -> Answer:
        """Where a client's user signs in (RFC 9728)."""
        told: JSONObject = {
            "resource": self._base(request) + PATH,
            "resource_name": "Webbee",
            "bearer_methods_supported": ["header"],
        }
        if self._settings.issuer:
            told["authorization_servers"] = [self._settings.issuer]
        return Answer(told)

    def _base(self, request: Request) -> str:
        """The deployment's own address."""
        scheme = request.headers.get("x-forwarded-proto", "http")
        host = request.headers.get("host", "localhost")
        return (self._settings.public_url or f"{scheme}://{host}").rstrip("/")

    async def _message(self, request: Request) -> Answer:
        """The answer to one message; 202 for a notification and for a user's answer to a
        question."""
        ident: str | int | None = None
        try:
            data = json_rpc.json_of(request.raw())
            if reply := json_rpc.reply_of(data):
                # only a client with a session has been asked anything
                if json_rpc.in_session(request.headers):
                    await self._calls.decide(request.caller, *reply)
                return Answer("", 202, "text/plain")
            body = json_rpc.parsed(data)
            ident = body.id
            message = json_rpc.message(body, request.headers)
            if ident is None:
                return Answer("", 202, "text/plain")
            result = await self._method(message)(request, message)
        except Refused as error:
            return Answer(json_rpc.failure(ident, error), error.status)
        return _answered(ident, message, result)

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
        return {
            # to an unknown one the protocol answers with one of ours, and the client decides
            "protocolVersion": wanted if wanted in json_rpc.HANDSHAKE else json_rpc.HANDSHAKE[-1],
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

    async def _page(
        self, kind: str, shape: Callable[..., JSONObject], request: Request, message: Message
    ) -> JSONObject:
        catalogue, _, mine = await self._kernel.apps_of(request.caller)
        functions = catalogue.functions(mine)
        if kind == "prompts":  # picked without a confirmation: only what reads
            functions = tuple(f for f in functions if f.action_type == "read")
        try:
            shown, more = primitives.page(functions, message.text("cursor"))
        except ValueError:
            raise message.bad("this cursor names nothing: begin anew") from None
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
        """The result of a read as messages of the user. Refused where the function is none."""
        function = await self._reading(message, message.text("name"))

        def as_messages(outcome: CallOutcome) -> JSONObject:
            if not outcome.ok:
                raise message.refused(json_rpc.INTERNAL, outcome.error)
            blocks = primitives.content_of(outcome) or [primitives.text("Nothing was found.")]
            return {"messages": [{"role": "user", "content": block} for block in blocks]}

        given = message.params.get("arguments") or {}
        if isinstance(given, dict):
            given = primitives.parse_arguments(function, given)
        return await self._read_by(request, message, function, given, as_messages)

    async def _complete(self, request: Request, message: Message) -> JSONObject:
        """The values in the schema of a prompt's argument; none for the address of a resource."""
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

    async def _list(self, kind: str, request: Request, message: Message) -> JSONObject:
        sections, of_apps = await asyncio.gather(
            self._sections(request.caller), self._of_apps(request.caller)
        )
        listed = [*map(primitives.of_section, sections), *(r for rows, _ in of_apps for r in rows)]
        templates = [row for _, rows in of_apps for row in rows]
        return {kind: listed if kind == "resources" else templates, **message.cached(0)}

    async def _read(self, request: Request, message: Message) -> JSONObject | Stream:
        uri = message.text("uri")
        app_id, own = primitives.app_of_uri(uri) or ("", "")
        if not app_id:
            held = primitives.section_of(await self._sections(request.caller), uri)
            if held is None:
                raise _missing(message, uri)
            return {"contents": [held], **message.cached(0)}
        catalogue = await self._kernel.dispatch.catalogue()
        function = catalogue.function(app_id, primitives.READ)
        if function is None:
            raise _missing(message, uri)

        def as_contents(outcome: CallOutcome) -> JSONObject:
            if not outcome.ok and outcome.retryable:
                raise message.refused(json_rpc.INTERNAL, outcome.error)
            held = primitives.contents(outcome, uri) if outcome.ok else []
            if not held:
                raise _missing(message, uri)
            return {"contents": held, **message.cached(0)}

        return await self._read_by(request, message, function, {"uri": own}, as_contents)

    async def _read_by(
        self,
        request: Request,
        message: Message,
        function: FunctionInfo,
        given: JSON,
        formatter: Formatter,
    ) -> JSONObject | Stream:
        """A call for a method other than tools/call: where it is refused, that is the error."""
        schemes = frozenset[str]()
        # listing an app's resources is a call of its own: only where an address is given
        values = object_of(given).values()
        if any(isinstance(value, str) and "://" in value for value in values):
            schemes = primitives.schemes(await self._of_apps(request.caller, function.app_id))
        result = await self._calls.run(
            request, message, function, given, formatter, schemes=schemes
        )
        if isinstance(result, Stream) or "isError" not in result:
            return result
        raise message.bad(result["content"][0]["text"])

    async def _of_apps(
        self, caller: User, only: str = ""
    ) -> list[tuple[list[JSONObject], list[JSONObject]]]:
        """The resources and templates of the caller's apps; without those that do not answer."""
        catalogue, _, mine = await self._kernel.apps_of(caller)
        listing = (f for f in catalogue.functions(mine) if f.fn_name == primitives.LIST)
        ids = [f.app_id for f in listing if f.action_type == "read" and only in ("", f.app_id)]
        more: JSONObject = {"session_id": SESSION, "deadline_s": LISTING_S}
        calls = (
            self._services.call("function", caller, app_id, primitives.LIST, **more)
            for app_id in ids
        )
        ended = await asyncio.gather(*calls)
        return [primitives.of_app(app_id, o) for app_id, o in zip(ids, ended, strict=True)]

    async def _sections(self, caller: User) -> list[Section]:
        """The filled sections of the caller's apps, for developers only."""
        if not has_role(caller, "developer"):
            return []
        _, state, mine = await self._kernel.apps_of(caller)
        return [s for s in state.sections if s.app_id in mine and s.data is not None]


LISTING_S: Final = 10.0
"""Seconds in which an app lists its resources; one that takes longer is left out."""
_INFO: Final[JSONObject] = {"name": "webbee-kernel", "title": "Webbee", "version": __version__}
_CAPABILITIES: Final[JSONObject] = {"tools": {}, "prompts": {}, "resources": {}, "completions": {}}


def _answered(ident: str | int, message: Message, result: JSONObject | Stream) -> Answer:
    """A result in its version's form, with a session for a client that supports elicitation."""
    body = result.result if isinstance(result, Stream) else result
    if message.stateless and body is not None:
        body = {"resultType": "complete", **body, "_meta": {json_rpc.META_SERVER: _INFO}}
    if isinstance(result, Stream):
        return _events(result._replace(result=body), ident)
    headers: dict[str, str] = {}
    capabilities = object_of(message.params.get("capabilities"))
    if message.method == "initialize" and json_rpc.takes_forms(capabilities):
        headers["mcp-session-id"] = f"{json_rpc.ELICITS}{uuid.uuid4()}"
    return Answer(json_rpc.answer(ident, body or {}), headers=headers)


def _events(stream: Stream, ident: str | int) -> Answer:
    last = None if stream.result is None else json_rpc.answer(ident, stream.result)
    return Answer(events(stream, last), content_type="text/event-stream")


def _not_allowed(why: str) -> Answer:
    told = {"error": {"code": "method_not_allowed", "message": why}}
    return Answer(shaped(405, told), 405, headers={"allow": "GET, POST"})


def _missing(message: Message, uri: str) -> Refused:
    # stateless versions of the protocol have no code of its own for it
    number = json_rpc.INVALID_PARAMS if message.stateless else json_rpc.RESOURCE_NOT_FOUND
    return message.refused(number, "there is no such resource", {"uri": uri[:512]})
