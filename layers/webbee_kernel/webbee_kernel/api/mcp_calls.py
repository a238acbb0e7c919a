"""Calls of an MCP client's: a tool, a prompt, an app's own resource. All are one call of a chat
function (`turn.direct`), told in different shapes. And questions to a client's user, with what
comes back with the next request.

Two kinds: whether a call may run (the kernel's own), and what a function asks in the middle of a
call (`ActionResult.ask`). Both end the answer; the client sends the same call again with what its
user did, and `requestState` as it was. That state is the name under which the call's question was
put (`turn.direct.question_of`), and the answers so far: nothing in it is believed that the user
could not have said anyway. What a client that cannot ask says of him is not believed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from ..bootstrap import App
from ..catalogue import Catalogue, FunctionInfo
from ..errors import CallError, Gone, KernelError
from ..mcp import json_rpc, primitives
from ..mcp.json_rpc import Message, Stream, Waiting, progress
from ..mcp.primitives import refusal
from ..observability import bind
from ..sdk.records import User
from ..sdk.result import ANSWERS, NEEDS_ANSWER
from ..stores.types import PendingConfirmation
from ..text import defuse_markup, one_line
from ..turn.direct import SESSION, question_of
from ..turn.kernel import Kernel, TurnRequest
from ..types import JSON, CallOutcome, JSONObject, Step, UserKey, from_token, object_of, token_of
from .router import REQUEST_ID, Request

CONFIRM: Final = "confirm"
"""The name of the question whether a call may run."""


@dataclass(frozen=True, slots=True)
class Elicited:
    """What came back with a request. `action` is what the user did with the question `CONFIRM`
    (`accept`, `decline`, `cancel`, empty: nothing), which was put as `question`; `answers` what
    functions were told so far, `refused` that he would not answer one."""

    question: str = ""
    action: str = ""
    answers: JSONObject = field(default_factory=dict)
    asked: bool = False
    """Whether the function had asked: the state says so."""
    refused: bool = False

    def arguments(self, arguments: JSONObject, schema: JSONObject) -> JSONObject:
        """The call's arguments with the answers, if the function asked or may ask."""
        takes = self.asked or ANSWERS in (schema.get("properties") or {})
        return {**arguments, ANSWERS: self.answers} if self.answers and takes else arguments

    def state(self, question: str = "") -> str:
        """What the client is given to send back."""
        return f"{question}.{token_of(self.answers) if self.answers or not question else ''}"


def parse_replies(message: Message) -> Elicited:
    """What came back with a message; Refused where its state is none of ours."""
    state, responses_ = message.params.get("requestState"), message.params.get("inputResponses")
    responses = {k: r for k, r in object_of(responses_).items() if isinstance(r, dict)}
    question, answers = _state(message, state)
    # where the kernel put no question, a function's own may bear this name
    confirmation = responses.pop(CONFIRM, {}) if question else {}
    for response in responses.values():
        if response.get("action") == "accept":
            answers |= object_of(response.get("content"))
    return Elicited(
        question,
        str(confirmation.get("action", "")) if message.can_elicit else "",
        answers,
        asked=bool(state),
        refused=any(r.get("action") in ("decline", "cancel") for r in responses.values()),
    )


def _state(message: Message, state: JSON) -> tuple[str, JSONObject]:
    if not state:
        return "", {}
    question, _, encoded = str(state).partition(".")
    try:
        answers = from_token(encoded) if encoded else {}
        if isinstance(answers, dict):
            return question, answers
    except ValueError:
        pass
    raise message.bad("requestState is not what this server gave out")


def of_function(outcome: CallOutcome) -> JSONObject:
    """What a function asked, as elicitation requests by their names; empty where it asked nothing,
    or what no form can ask."""
    data = object_of(outcome.data)
    questions = object_of(data.get("questions")) if outcome.error_code == NEEDS_ANSWER else {}
    return {
        n: elicitation(q) for n, q in questions.items() if isinstance(q, dict) and "schema" in q
    }


def of_confirmation(pending: PendingConfirmation) -> JSONObject:
    """Whether a call may run, as the one elicitation request."""
    form = {"type": "object", "properties": {}}
    text = "\n".join(part for part in (pending.summary, pending.asks.get("ask", "")) if part)
    return {CONFIRM: elicitation({"message": text, "schema": form})}


def elicitation(question: Mapping[str, JSON]) -> JSONObject:
    """A question as a request of the protocol."""
    params = {
        "mode": "form",
        "message": defuse_markup(str(question.get("message", ""))),
        "requestedSchema": question["schema"],
    }
    return {"method": "elicitation/create", "params": params}


def input_required(requests: JSONObject, state: str) -> JSONObject:
    """The result that asks the client to ask."""
    return {"resultType": "input_required", "inputRequests": requests, "requestState": state}


def unanswered_result() -> JSONObject:
    """The result of a call whose user would not answer what it asked."""
    text = "The user did not answer what this function asked: it has not gone on. Do not insist."
    return refusal(text, NEEDS_ANSWER)


def pending_result(pending: PendingConfirmation, prefix: str) -> JSONObject:
    """The call has not run: the card as text, and where it stands to be pressed."""
    asks = pending.asks
    verb = f"“{asks['verb']}”" if asks.get("verb") else "yes"
    text = (
        f"This waits for the user's yes and has not run:\n\n{pending.summary}\n\nShow him"
        " this card. It stands on Webbee's page for 5 minutes, in the conversation that begins"
        f" with {prefix}; pressing {verb} there runs it once. Do not call it again."
    )
    confirmation = {
        "id": pending.confirmation_id,
        "expires_at": pending.expires_at,
        "summary": pending.summary,
        **{name: asks[name] for name in ("question", "verb", "calls") if asks.get(name)},
    }
    return refusal(defuse_markup(text), "CONFIRMATION_REQUIRED", {"confirmation": confirmation})


KEY: Final = "webbee/requestId"
"""Where a client names its request in `_meta`: the same one runs nothing twice."""

MESSAGE_PREFIX: Final = "MCP"
"""How the messages begin in whose place such a call stands."""

Formatter = Callable[[CallOutcome], JSONObject]
"""How an outcome is told."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call on its way."""

    message: Message
    ask: TurnRequest
    step: Step
    elicited: Elicited
    schemes: Collection[str] = ()


class Calls:
    """Runs what clients call, asks what has to be asked."""

    def __init__(self, app: App, kernel: Kernel) -> None:
        self._app = app
        self._kernel = kernel

    async def function(self, message: Message, name: str) -> FunctionInfo:
        """The function of a tool's name; Refused where there is none."""
        catalogue = await self._kernel.dispatch.catalogue()
        if found := _function_of(catalogue, name):
            return found
        raise message.bad(f"there is no tool {name[:64]!r}")

    async def run(
        self,
        request: Request,
        message: Message,
        function: FunctionInfo,
        arguments_: JSON,
        formatter: Formatter = primitives.result,
        *,
        schemes: Collection[str] = (),
    ) -> JSONObject | Stream:
        """What a call comes to, or the question it waits for, as its client can be asked it.
        `schemes`: those of the addresses that its app lists.

        With the token of a client that listens, what the call told on its way stands before.
        """
        if not isinstance(arguments_, dict):
            raise message.bad("arguments must be an object")
        elicited = parse_replies(message)
        if elicited.refused:
            return unanswered_result()
        arguments = elicited.arguments(arguments_, function.input_schema)
        step = Step(0, function.app_id, function.fn_name, arguments, function.action_type)
        catalogue = await self._kernel.dispatch.catalogue()
        title = primitives.title_of(function, catalogue.apps[function.app_id])
        # what stands in the conversation where a person finds the question
        message_text = f"{MESSAGE_PREFIX}: {title}" + (
            f" ({message.client[:64]})" if message.client else ""
        )
        key = request.key(_request_id(message))
        ask = TurnRequest(request.caller, SESSION, one_line(message_text), key)
        call = Call(message, ask, step, elicited, schemes)
        # before the call: what it tells of its progress comes behind this
        mark = self._app.events.mark()
        result = await self._result(call, formatter)
        if isinstance(result, Stream) or message.progress_token is None:
            return result
        return Stream(await self._progress(call, mark), result)

    async def decide(self, user: User, question: str, reply: JSONObject) -> None:
        """What a client's user did with a question that was put in a stream: all but a yes is a no.
        One that nobody waits for any more is past: the client learns it with the result."""
        yes, answers = reply.get("action") == "accept", object_of(reply.get("content"))
        ask = TurnRequest(user, SESSION, MESSAGE_PREFIX, question)
        with suppress(Gone):
            await self._kernel.direct.answer(ask, None, question, yes, answers)

    async def resume(self, user: User, waits: Waiting) -> JSONObject | Stream:
        """The result that a client comes back for, or that it still waits."""
        catalogue = await self._kernel.dispatch.catalogue()
        function = _function_of(catalogue, waits.tool)
        if function is None:
            return primitives.refusal(f"there is no tool {waits.tool[:64]!r}", "UNKNOWN_TOOL")
        ask = TurnRequest(user, SESSION, MESSAGE_PREFIX, waits.confirmation_id)
        step = Step(0, function.app_id, function.fn_name, {}, function.action_type)
        try:
            outcome = await self._kernel.direct.outcome_of(ask, step, waits.confirmation_id)
        except Gone as error:
            return primitives.refusal(str(error), error.code)
        if isinstance(outcome, PendingConfirmation):
            return Stream(resume=waits.token())
        return primitives.result(outcome)

    async def _result(self, call: Call, formatter: Formatter) -> JSONObject | Stream:
        bind(session=call.ask.session_id, turn=call.ask.request_id)
        message = call.message
        try:
            outcome = await self._outcome(call)
            if isinstance(outcome, PendingConfirmation):
                return self._confirmation(call, outcome)
            questions = of_function(outcome) if message.can_elicit else {}
            return await self._questions(call, questions) if questions else formatter(outcome)
        except CallError as error:
            return primitives.refusal(str(error), error.code)
        except Gone as error:
            raise message.bad(str(error)) from None
        except json_rpc.Refused:
            raise
        except KernelError as error:
            # an outage is no result of the tool: the request may be sent again
            if error.status >= 500:
                raise
            return primitives.refusal(str(error), error.code, error.body()["error"])

    async def _outcome(self, call: Call) -> CallOutcome | PendingConfirmation:
        """The call's end, where the user has been asked before: what came of his answer."""
        elicited = call.elicited
        if elicited.action in ("accept", "decline"):
            yes = elicited.action == "accept"
            return await self._kernel.direct.answer(call.ask, call.step, elicited.question, yes)
        return await self._kernel.direct.call(call.ask, call.step, schemes=call.schemes)

    def _confirmation(self, call: Call, pending: PendingConfirmation) -> JSONObject | Stream:
        """The question whether the call may run, or how its user says yes elsewhere."""
        message = call.message
        # closed without an answer, a question goes on waiting on the page
        if not message.can_elicit or call.elicited.action == "cancel":
            return pending_result(pending, MESSAGE_PREFIX)
        requests = of_confirmation(pending)
        if message.stateless:
            return input_required(requests, call.elicited.state(question_of(pending)))
        return _question_stream(message, pending, requests[CONFIRM])

    async def _questions(self, call: Call, requests: JSONObject) -> JSONObject | Stream:
        """What the function asks in the middle of the call."""
        if call.message.stateless:
            return input_required(requests, call.elicited.state())
        text = " ".join(str(q["params"]["message"]) for q in requests.values())
        pending = await self._kernel.direct.ask_question(call.ask, call.step, text)
        [request, *_] = requests.values()
        return _question_stream(call.message, pending, request)

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


def _question_stream(message: Message, pending: PendingConfirmation, request: JSONObject) -> Stream:
    tool = str(message.params.get("name"))
    waits = Waiting(pending.confirmation_id, message.id or 0, tool)
    question = {"jsonrpc": "2.0", "id": question_of(pending), **request}
    return Stream((question,), resume=waits.token())


def _request_id(message: Message) -> str:
    request_id = str(object_of(message.params.get("_meta")).get(KEY, ""))
    if request_id and not REQUEST_ID.fullmatch(request_id):
        raise message.bad(f"_meta.{KEY} takes 1 to 128 letters, digits and . : _ -")
    return request_id


def _function_of(catalogue: Catalogue, name: str) -> FunctionInfo | None:
    app_id, _, fn_name = name.partition("__")
    if found := catalogue.function(app_id, fn_name):
        return found
    # what a tool's name cannot hold is spelled otherwise in it
    every = (f for a in catalogue.apps.values() for f in a.functions)
    return next((f for f in every if f.tool_name == name), None)


def no_tool(message: Message, result: JSONObject | Stream) -> JSONObject | Stream:
    """A call that was refused, as the error of a method that is no tool's."""
    if isinstance(result, Stream) or "isError" not in result:
        return result
    raise message.bad(result["content"][0]["text"])
