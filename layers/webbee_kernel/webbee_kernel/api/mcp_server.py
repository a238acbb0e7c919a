"""The kernel as an MCP server: streamable HTTP without sessions, JSON answers.

The caller's functions are tools. A call passes a turn's guards (`turn.direct`); what the user must
be asked about is asked by elicitation where the client can put a question to its user (from
2026-07-28 on it comes back with the next request), and refused with the way to confirm it where it
cannot. Sections of the skeleton are resources for developers.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final

from .. import __version__
from ..base.logs import bind
from ..base.text import one_line
from ..bootstrap import App
from ..catalogue import Catalogue, FunctionInfo
from ..errors import CallError, Gone, KernelError
from ..mcp import server_messages as messages
from ..mcp import server_tools as tools
from ..mcp.server_messages import Message, Refused
from ..sdk.context import User
from ..turn.direct import SESSION
from ..turn.kernel import Ask, Kernel
from ..values import CallOutcome, PendingConfirmation, Section, Step, UserKey
from ..values.plain import JSONObject
from .http import REQUEST_ID, Answer, Request
from .identity import has_role

KEY: Final = "webbee/requestId"
"""Where a client names its request in `_meta`: the same one runs nothing twice."""

SPOKEN: Final = "MCP"
"""How the messages begin in whose place such a call stands."""

QUESTION: Final = "confirm"
FRESH_MS: Final = 60_000
"""For how long a client may keep what it listed; apps are installed on the page, not here."""

INSTRUCTIONS: Final = (
    "Every tool acts for the signed-in user, on that user's data. What destroys something, or sends"
    " it somewhere, waits for the user's own yes. A tool that says it waits has not run."
)

Method = Callable[[Request, Message], Coroutine[Any, Any, JSONObject]]


class McpServer:
    """What clients of the Model Context Protocol are answered."""

    def __init__(self, app: App, kernel: Kernel) -> None:
        self._app = app
        self._kernel = kernel
        self._methods: Mapping[str, Method] = {
            "tools/list": self._list,
            "tools/call": self._call,
            "prompts/list": self._prompts,
        }
        self._of_developers: Mapping[str, Method] = {
            "resources/list": self._resources,
            "resources/templates/list": self._templates,
            "resources/read": self._read,
        }

    async def post(self, request: Request) -> Answer:
        """One message of the Model Context Protocol, one answer; 202 for a notification."""
        ident: str | int | None = None
        try:
            data = messages.parsed(request.raw())
            ident = data.get("id")
            message = messages.message(data, request.headers)
            if ident is None:
                return Answer("", 202, "text/plain")
            result = await self._method(request.caller, message)(request, message)
        except Refused as error:
            return Answer(messages.failure(ident, error), error.status)
        if message.stateless:
            result = {"resultType": "complete", **result, "_meta": {messages.META_SERVER: _INFO}}
        return Answer(messages.answer(ident, result))

    def _method(self, caller: User, message: Message) -> Method:
        """What serves a message; Refused where its version, or the caller's role, has no such
        method."""
        known = dict(self._methods)
        if has_role(caller, "developer"):
            known |= self._of_developers
        if message.stateless:
            known["server/discover"] = self._discover
        else:
            known |= {"initialize": self._initialize, "ping": self._ping}
        if method := known.get(message.method):
            return method
        raise message.refused(
            messages.METHOD_NOT_FOUND, f"there is no method {message.method[:64]!r}"
        )

    async def _initialize(self, request: Request, message: Message) -> JSONObject:
        wanted = message.params.get("protocolVersion")
        if not isinstance(wanted, str):
            raise message.refused(messages.INVALID_PARAMS, "protocolVersion must be a text")
        known = wanted in messages.HANDSHAKE
        return {
            "protocolVersion": wanted if known else messages.HANDSHAKE[-1],
            "capabilities": _capabilities(request.caller),
            "serverInfo": _INFO,
            "instructions": INSTRUCTIONS,
        }

    async def _discover(self, request: Request, message: Message) -> JSONObject:
        return {
            "supportedVersions": list(messages.VERSIONS),
            "capabilities": _capabilities(request.caller),
            "instructions": INSTRUCTIONS,
            **_cached(message),
        }

    async def _ping(self, request: Request, message: Message) -> JSONObject:
        return {}

    async def _list(self, request: Request, message: Message) -> JSONObject:
        catalogue = await self._kernel.dispatch.catalogue()
        state = await self._app.stores.skeleton.read(UserKey.of(request.caller))
        mine = catalogue.functions(self._kernel.installed(catalogue, state))
        found = tools.page(mine, _text(message, "cursor"))
        if found is None:
            raise message.refused(messages.INVALID_PARAMS, "this cursor names nothing: begin anew")
        shown, more = found
        return {
            "tools": [tools.tool(f, catalogue.apps[f.app_id]) for f in shown],
            **({"nextCursor": more} if more else {}),
            **_cached(message),
        }

    async def _call(self, request: Request, message: Message) -> JSONObject:
        catalogue = await self._kernel.dispatch.catalogue()
        function = _named(catalogue, _text(message, "name"))
        given = message.params.get("arguments") or {}
        if function is None:
            raise message.refused(
                messages.INVALID_PARAMS, f"there is no tool {_text(message, 'name')[:64]!r}"
            )
        if not isinstance(given, dict):
            raise message.refused(messages.INVALID_PARAMS, "arguments must be an object")
        step = Step(0, function.app_id, function.fn_name, given, function.action_type)
        title = tools.tool(function, catalogue.apps[function.app_id])["title"]
        ask = Ask(
            request.caller,
            SESSION,
            _said_of(title, message.client),
            request.key(_request_id(message)),
        )
        bind(session=ask.session_id, turn=ask.request_id)
        try:
            ended = await self._ended(ask, step, message)
        except CallError as error:
            return tools.refusal(str(error), error.code)
        except Gone as error:
            raise message.refused(messages.INVALID_PARAMS, str(error)) from None
        except KernelError as error:
            if error.status >= 500:
                raise
            return tools.refusal(str(error), error.code, error.body()["error"])
        if isinstance(ended, CallOutcome):
            return tools.result(ended)
        return _asking(ended, message) if message.can_elicit else _waiting(ended)

    async def _ended(
        self, ask: Ask, step: Step, message: Message
    ) -> CallOutcome | PendingConfirmation:
        """The call's end, where the user has been asked before: what came of his answer."""
        state, said = _text(message, "requestState"), _said(message)
        if state and said in ("accept", "decline"):
            return await self._kernel.direct.answer(ask, step, state, said == "accept")
        return await self._kernel.direct.call(ask, step)

    async def _resources(self, request: Request, message: Message) -> JSONObject:
        sections = await self._sections(request.caller)
        return {"resources": [tools.resource(s) for s in sections], **_cached(message, 0)}

    async def _prompts(self, request: Request, message: Message) -> JSONObject:
        """None: clients ask for them whether or not a server says that it has any."""
        return {"prompts": [], **_cached(message)}

    async def _templates(self, request: Request, message: Message) -> JSONObject:
        return {"resourceTemplates": [], **_cached(message)}

    async def _read(self, request: Request, message: Message) -> JSONObject:
        uri = _text(message, "uri")
        held = tools.contents(await self._sections(request.caller), uri)
        if held is None:
            number = messages.INVALID_PARAMS if message.stateless else messages.RESOURCE_NOT_FOUND
            raise message.refused(number, "there is no such resource", {"uri": uri[:512]})
        return {"contents": [held], **_cached(message, 0)}

    async def _sections(self, caller: User) -> list[Section]:
        """The sections of the caller's apps that have been filled."""
        state = await self._app.stores.skeleton.read(UserKey.of(caller))
        mine = self._kernel.installed(await self._kernel.dispatch.catalogue(), state)
        return [s for s in state.sections if s.app_id in mine and s.data is not None]


_INFO: Final[JSONObject] = {"name": "webbee-kernel", "title": "Webbee", "version": __version__}


def _capabilities(caller: User) -> JSONObject:
    return {"tools": {}, **({"resources": {}} if has_role(caller, "developer") else {})}


def _cached(message: Message, fresh_ms: int = FRESH_MS) -> JSONObject:
    """How long an answer holds, in versions that say it; it is one user's."""
    return {"ttlMs": fresh_ms, "cacheScope": "private"} if message.stateless else {}


def _text(message: Message, name: str) -> str:
    """A parameter that is a text, empty where there is none; Refused where it is another thing."""
    value = message.params.get(name)
    if value is None or isinstance(value, str):
        return value or ""
    raise message.refused(messages.INVALID_PARAMS, f"{name} must be a text")


def _request_id(message: Message) -> str:
    meta = message.params.get("_meta")
    named = str(meta.get(KEY, "")) if isinstance(meta, dict) else ""
    if named and not REQUEST_ID.fullmatch(named):
        raise message.refused(
            messages.INVALID_PARAMS, f"_meta.{KEY} takes 1 to 128 letters, digits and . : _ -"
        )
    return named


def _named(catalogue: Catalogue, name: str) -> FunctionInfo | None:
    """The function of a tool's name."""
    app_id, _, fn_name = name.partition("__")
    if found := catalogue.function(app_id, fn_name):
        return found
    every = (f for a in catalogue.apps.values() for f in a.functions)
    return next((f for f in every if f.tool_name == name), None)


def _said_of(title: str, client: str) -> str:
    """What stands in the conversation where a person finds the question."""
    return one_line(f"{SPOKEN}: {title} ({client[:64]})" if client else f"{SPOKEN}: {title}")


def _said(message: Message) -> str:
    """What the user did with the question: `accept`, `decline`, `cancel`, or nothing yet."""
    answers = message.params.get("inputResponses")
    answer = answers.get(QUESTION) if isinstance(answers, dict) else None
    return str(answer.get("action", "")) if isinstance(answer, dict) else ""


def _asking(pending: PendingConfirmation, message: Message) -> JSONObject:
    """The question, for the client to put to its user; or that he has put it aside."""
    if _said(message) == "cancel":
        return _waiting(pending)
    form = {"type": "object", "properties": {}}
    asked = {"mode": "form", "message": pending.summary, "requestedSchema": form}
    return {
        "resultType": "input_required",
        "inputRequests": {QUESTION: {"method": "elicitation/create", "params": asked}},
        "requestState": pending.confirmation_id,
    }


def _waiting(pending: PendingConfirmation) -> JSONObject:
    """The call has not run, and how the user says yes."""
    why = (
        f"This waits for the user's yes and has not run: {pending.summary}. Ask the user to confirm"
        f" it within 5 minutes on Webbee's page, in the conversation that begins with {SPOKEN},"
        " or with"
        f" POST /v1/confirmations/{pending.confirmation_id} and the body"
        ' {"accept": true}. It runs once then: do not call it again.'
    )
    waits = {
        "id": pending.confirmation_id,
        "expires_at": pending.expires_at,
        "summary": pending.summary,
    }
    return tools.refusal(why, "CONFIRMATION_REQUIRED", {"confirmation": waits})
