"""The kernel as an MCP server: streamable HTTP without sessions.

The caller's functions are tools. A call passes a turn's guards (`turn.direct`); what the user must
be asked is asked by elicitation where the client can put a question to its user, and refused with
the way to confirm it where it cannot.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from .. import __version__
from ..bootstrap import App
from ..catalogue import Catalogue, FunctionInfo
from ..errors import CallError, Gone, KernelError
from ..mcp.server import json_rpc, primitives, questions
from ..mcp.server.json_rpc import Message, Refused, Stream, Waiting, events, progress
from ..mcp.server.questions import Answered
from ..observability import bind
from ..sdk.records import User
from ..stores.types import PendingConfirmation
from ..text import one_line
from ..turn.direct import SESSION, question_of
from ..turn.kernel import Kernel, TurnRequest
from ..types import JSON, CallOutcome, JSONObject, Step, UserKey
from .endpoint import REQUEST_ID, Answer, Request

INSTRUCTIONS: Final = (
    "Every tool acts for the signed-in user, on that user's data. What destroys something, or sends"
    " it somewhere, waits for the user's own yes. A tool that says it waits has not run."
)

Method = Callable[[Request, Message], Coroutine[Any, Any, JSONObject | Stream]]


class McpServer:
    """What clients of the Model Context Protocol are answered."""

    def __init__(self, app: App, kernel: Kernel) -> None:
        self._app = app
        self._kernel = kernel
        self._calls = Calls(app, kernel)

    async def post(self, request: Request) -> Answer:
        """One message of the Model Context Protocol, one answer; 202 for a notification, and for
        what a client's user answered."""
        ident: str | int | None = None
        try:
            data = json_rpc.json_of(request.raw())
            if reply := json_rpc.reply_of(data):
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
        result = await self._calls.resumed(request.caller, waits)
        stream = result if isinstance(result, Stream) else Stream(result=result)
        return _events(stream, waits.ident, stream.result)

    def _method(self, message: Message) -> Method:
        """What serves a message; Refused where its version has no such method."""
        known: dict[str, Method] = {"tools/list": self._list, "tools/call": self._call}
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
            raise message.refused(json_rpc.INVALID_PARAMS, "protocolVersion must be a text")
        known = wanted in json_rpc.HANDSHAKE
        return {
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
            **json_rpc.cached(message),
        }

    async def _ping(self, request: Request, message: Message) -> JSONObject:
        return {}

    async def _list(self, request: Request, message: Message) -> JSONObject:
        catalogue = await self._kernel.dispatch.catalogue()
        state = await self._app.stores.skeleton.read(UserKey.of(request.caller))
        mine = catalogue.functions(self._kernel.installed(catalogue, state))
        found = primitives.page(mine, json_rpc.text(message, "cursor"))
        if found is None:
            raise message.refused(json_rpc.INVALID_PARAMS, "this cursor names nothing: begin anew")
        shown, more = found
        return {
            "tools": [primitives.tool(f, catalogue.apps[f.app_id]) for f in shown],
            **({"nextCursor": more} if more else {}),
            **json_rpc.cached(message),
        }

    async def _call(self, request: Request, message: Message) -> JSONObject | Stream:
        function = await self._calls.function(message, json_rpc.text(message, "name"))
        given = message.params.get("arguments") or {}
        return await self._calls.run(request, message, function, given)


_INFO: Final[JSONObject] = {"name": "webbee-kernel", "title": "Webbee", "version": __version__}
_CAPABILITIES: Final[JSONObject] = {"tools": {}}


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
    forms = isinstance(asks, dict) and (not asks or "form" in asks)
    return {"mcp-session-id": f"{json_rpc.ELICITS}{uuid.uuid4()}"} if forms else {}


KEY: Final = "webbee/requestId"
"""Where a client names its request in `_meta`: the same one runs nothing twice."""

SPOKEN: Final = "MCP"
"""How the messages begin in whose place such a call stands."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call on its way."""

    message: Message
    ask: TurnRequest
    step: Step
    came: Answered


class Calls:
    """Runs what clients call, asks what has to be asked."""

    def __init__(self, app: App, kernel: Kernel) -> None:
        self._app = app
        self._kernel = kernel

    async def function(self, message: Message, name: str) -> FunctionInfo:
        """The function of a tool's name; Refused where there is none."""
        catalogue = await self._kernel.dispatch.catalogue()
        if found := _named(catalogue, name):
            return found
        raise message.refused(json_rpc.INVALID_PARAMS, f"there is no tool {name[:64]!r}")

    async def run(
        self, request: Request, message: Message, function: FunctionInfo, given: JSON
    ) -> JSONObject | Stream:
        """What a call comes to, or the question it waits for, as its client can be asked it.

        With the token of a client that listens, what the call told on its way stands before.
        """
        if not isinstance(given, dict):
            raise message.refused(json_rpc.INVALID_PARAMS, "arguments must be an object")
        came = questions.answered(message)
        if came.refused:
            return questions.not_answered()
        arguments = came.arguments(given, function.input_schema)
        step = Step(0, function.app_id, function.fn_name, arguments, function.action_type)
        title = await self._title(function)
        ask = _asked(request.caller, _said_of(title, message.client), request, message)
        call = Call(message, ask, step, came)
        mark = self._app.events.mark()
        result = await self._result(call)
        if isinstance(result, Stream) or message.progress_token is None:
            return result
        return Stream(await self._progress(call, mark), result)

    async def decide(self, user: User, question: str, reply: JSONObject) -> None:
        """What a client's user did with a question that was put in a stream: all but a yes is a no.
        One that nobody waits for any more is past: the client learns it with the result."""
        yes, content = reply.get("action") == "accept", reply.get("content")
        answers = content if isinstance(content, dict) else {}
        ask = TurnRequest(user, SESSION, SPOKEN, question)
        with suppress(Gone):
            await self._kernel.direct.decide(ask, question, yes, answers)

    async def resumed(self, user: User, waits: Waiting) -> JSONObject | Stream:
        """The result that a client comes back for, or that it still waits."""
        catalogue = await self._kernel.dispatch.catalogue()
        function = _named(catalogue, waits.tool)
        if function is None:
            return primitives.refusal(f"there is no tool {waits.tool[:64]!r}", "UNKNOWN_TOOL")
        ask = TurnRequest(user, SESSION, SPOKEN, waits.confirmation_id)
        step = Step(0, function.app_id, function.fn_name, {}, function.action_type)
        try:
            ended = await self._kernel.direct.came_of(ask, step, waits.confirmation_id)
        except Gone as error:
            return primitives.refusal(str(error), error.code)
        if isinstance(ended, PendingConfirmation):
            return Stream(resume=waits.token())
        return primitives.result(ended)

    async def _title(self, function: FunctionInfo) -> str:
        catalogue = await self._kernel.dispatch.catalogue()
        return primitives.titled(function, catalogue.apps[function.app_id])

    async def _result(self, call: Call) -> JSONObject | Stream:
        bind(session=call.ask.session_id, turn=call.ask.request_id)
        message = call.message
        try:
            ended = await self._ended(call)
            if isinstance(ended, PendingConfirmation):
                return self._confirming(call, ended)
            asked = questions.of_function(ended) if message.can_elicit else {}
            return await self._asking(call, asked) if asked else primitives.result(ended)
        except CallError as error:
            return primitives.refusal(str(error), error.code)
        except Gone as error:
            raise message.refused(json_rpc.INVALID_PARAMS, str(error)) from None
        except json_rpc.Refused:
            raise
        except KernelError as error:
            if error.status >= 500:
                raise
            return primitives.refusal(str(error), error.code, error.body()["error"])

    async def _ended(self, call: Call) -> CallOutcome | PendingConfirmation:
        """The call's end, where the user has been asked before: what came of his answer."""
        came = call.came
        if came.action in ("accept", "decline"):
            yes = came.action == "accept"
            return await self._kernel.direct.answer(call.ask, call.step, came.question, yes)
        return await self._kernel.direct.call(call.ask, call.step)

    def _confirming(self, call: Call, pending: PendingConfirmation) -> JSONObject | Stream:
        """The question whether the call may run, or how its user says yes elsewhere."""
        message = call.message
        if not message.can_elicit or call.came.action == "cancel":
            return questions.waiting(pending, SPOKEN)
        requests = questions.of_confirmation(pending)
        if message.stateless:
            return questions.input_required(requests, call.came.state(question_of(pending)))
        return _streamed(message, pending, requests[questions.CONFIRM])

    async def _asking(self, call: Call, requests: JSONObject) -> JSONObject | Stream:
        """What the function asks in the middle of the call."""
        if call.message.stateless:
            return questions.input_required(requests, call.came.state())
        told = " ".join(str(q["params"]["message"]) for q in requests.values())
        pending = await self._kernel.direct.put(call.ask, call.step, told)
        [request, *_] = requests.values()
        return _streamed(call.message, pending, request)

    async def _progress(self, call: Call, mark: str) -> list[JSONObject]:
        """What the call told of its progress."""
        token = call.message.progress_token
        found = await self._app.events.since(UserKey.of(call.ask.user), mark)
        of_call = (
            e.data
            for e in found
            if e.kind == "progress" and e.data.get("request_id") == call.ask.request_id
        )
        return [progress(token or 0, d["percent"], d["text"]) for d in of_call]


def _streamed(message: Message, pending: PendingConfirmation, request: JSONObject) -> Stream:
    named = str(message.params.get("name"))
    waits = Waiting(pending.confirmation_id, message.id or 0, named)
    asked = {"jsonrpc": "2.0", "id": question_of(pending), **request}
    return Stream((asked,), resume=waits.token())


def _asked(user: User, said: str, request: Request, message: Message) -> TurnRequest:
    return TurnRequest(user, SESSION, said, request.key(_request_id(message)))


def _request_id(message: Message) -> str:
    meta = message.params.get("_meta")
    named = str(meta.get(KEY, "")) if isinstance(meta, dict) else ""
    if named and not REQUEST_ID.fullmatch(named):
        raise message.refused(
            json_rpc.INVALID_PARAMS, f"_meta.{KEY} takes 1 to 128 letters, digits and . : _ -"
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
