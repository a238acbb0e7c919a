"""Calls of an MCP client's: a tool, a prompt, an app's own resource. All are one call of a chat
function (`turn.direct`), told in different shapes."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from ..bootstrap import App
from ..catalogue import Catalogue, FunctionInfo
from ..errors import CallError, Gone, KernelError
from ..mcp.server import json_rpc, primitives, questions
from ..mcp.server.json_rpc import Message, Stream, Waiting, progress
from ..mcp.server.questions import Answered
from ..observability import bind
from ..sdk.records import User
from ..stores.types import PendingConfirmation
from ..text import one_line
from ..turn.direct import SESSION, question_of
from ..turn.kernel import Kernel, TurnRequest
from ..types import JSON, CallOutcome, JSONObject, Step, UserKey, object_of
from .router import REQUEST_ID, Request

KEY: Final = "webbee/requestId"
"""Where a client names its request in `_meta`: the same one runs nothing twice."""

SPOKEN: Final = "MCP"
"""How the messages begin in whose place such a call stands."""

Told = Callable[[CallOutcome], JSONObject]
"""How an outcome is told."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call on its way."""

    message: Message
    ask: TurnRequest
    step: Step
    came: Answered
    schemes: Collection[str] = ()


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
        self,
        request: Request,
        message: Message,
        function: FunctionInfo,
        given: JSON,
        told: Told = primitives.result,
        *,
        schemes: Collection[str] = (),
    ) -> JSONObject | Stream:
        """What a call comes to, or the question it waits for, as its client can be asked it.
        `schemes`: those of the addresses that its app lists.

        With the token of a client that listens, what the call told on its way stands before.
        """
        if not isinstance(given, dict):
            raise message.refused(json_rpc.INVALID_PARAMS, "arguments must be an object")
        came = questions.answered(message)
        if came.refused:
            return questions.not_answered()
        arguments = came.arguments(given, function.input_schema)
        step = Step(0, function.app_id, function.fn_name, arguments, function.action_type)
        catalogue = await self._kernel.dispatch.catalogue()
        title = primitives.titled(function, catalogue.apps[function.app_id])
        # what stands in the conversation where a person finds the question
        said = f"{SPOKEN}: {title}" + (f" ({message.client[:64]})" if message.client else "")
        key = request.key(_request_id(message))
        ask = TurnRequest(request.caller, SESSION, one_line(said), key)
        call = Call(message, ask, step, came, schemes)
        mark = self._app.events.mark()
        result = await self._result(call, told)
        if isinstance(result, Stream) or message.progress_token is None:
            return result
        return Stream(await self._progress(call, mark), result)

    async def decide(self, user: User, question: str, reply: JSONObject) -> None:
        """What a client's user did with a question that was put in a stream: all but a yes is a no.
        One that nobody waits for any more is past: the client learns it with the result."""
        yes, answers = reply.get("action") == "accept", object_of(reply.get("content"))
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

    async def _result(self, call: Call, told: Told) -> JSONObject | Stream:
        bind(session=call.ask.session_id, turn=call.ask.request_id)
        message = call.message
        try:
            ended = await self._ended(call)
            if isinstance(ended, PendingConfirmation):
                return self._confirming(call, ended)
            asked = questions.of_function(ended) if message.can_elicit else {}
            return await self._asking(call, asked) if asked else told(ended)
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
        return await self._kernel.direct.call(call.ask, call.step, schemes=call.schemes)

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


def _request_id(message: Message) -> str:
    named = str(object_of(message.params.get("_meta")).get(KEY, ""))
    if named and not REQUEST_ID.fullmatch(named):
        raise message.refused(
            json_rpc.INVALID_PARAMS, f"_meta.{KEY} takes 1 to 128 letters, digits and . : _ -"
        )
    return named


def _named(catalogue: Catalogue, name: str) -> FunctionInfo | None:
    app_id, _, fn_name = name.partition("__")
    if found := catalogue.function(app_id, fn_name):
        return found
    every = (f for a in catalogue.apps.values() for f in a.functions)
    return next((f for f in every if f.tool_name == name), None)


def no_tool(message: Message, result: JSONObject | Stream) -> JSONObject | Stream:
    """A call that was refused, as the error of a method that is no tool's."""
    if isinstance(result, Stream) or "isError" not in result:
        return result
    raise message.refused(json_rpc.INVALID_PARAMS, result["content"][0]["text"])
