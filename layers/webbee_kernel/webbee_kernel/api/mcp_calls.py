"""Calls by MCP clients: who makes them, what each runs, and the questions it ends with.

`POST /v1/mcp` is public at the gateway, so that a client without a token is told where its user
signs in. A tool, a prompt, an app's own resource: each is one call of a function (`turn.direct`).

There are two kinds of questions: whether a call may run (the kernel's), and what a function asks
during a call (`ActionResult.ask`). Both end the answer; the client sends the same call again with
its user's answer and an unchanged `requestState`: the name of the kernel's question
(`turn.direct.question_of`) and the answers so far. It is not signed: all in it are words that the
user could have said anyway. Answers from a client that cannot ask its user are ignored."""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Final, NamedTuple

import orjson
from urllib3 import PoolManager
from urllib3.exceptions import HTTPError

from ..bootstrap import App
from ..catalogue import Catalogue, FunctionInfo
from ..clock import Clock
from ..config import Settings
from ..errors import BadInput, CallError, Gone, KernelError, NotAuthenticated, StorageUnavailable
from ..mcp import primitives
from ..mcp.json_rpc import Message, Stream, Waiting, progress
from ..mcp.primitives import refusal
from ..observability import bind, user_hash
from ..sdk.result import ANSWERS, NEEDS_ANSWER, User
from ..stores.types import PendingConfirmation
from ..text import defuse_markup, one_line
from ..turn import cards
from ..turn.direct import SESSION, question_of
from ..turn.kernel import Kernel, TurnRequest
from ..types import (
    JSON,
    CallOutcome,
    JSONObject,
    Step,
    UserKey,
    from_token,
    object_of,
    token_of,
    user_from,
)
from .identity import user_of
from .router import REQUEST_ID, Request

ME: Final = "/v1/me"
ASK_S: Final = 5.0
"""Seconds the gateway has to answer."""
KEPT_S: Final = 300.0
"""Seconds for which an accepted token is not checked again, at most until it expires."""
MOST: Final = 1_000
"""Checked tokens that a process remembers."""


class Callers:
    """Authenticates callers: the gateway is asked whose a token is, by `GET /v1/me`."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._known: OrderedDict[str, tuple[float, User]] = OrderedDict()
        self._http = PoolManager()

    async def of(self, request: Request) -> User:
        """The caller. BadInput for query parameters, NotAuthenticated without a token, or with one
        that the gateway refuses; StorageUnavailable where it cannot be asked."""
        if request.query:
            named = min(request.query)[:64]
            raise BadInput(f"there is no query parameter {named!r}", field=named)
        context = request.event.get("requestContext") or {}
        if context.get("authorizer"):  # an authoriser stands before this route after all
            return user_of(request.event)
        token = _bearer(request.headers)
        ends = self._ends(token)
        # hashed: no token stays in memory for longer than its request
        key, now = hashlib.sha256(token.encode()).hexdigest(), self._clock.now()
        until, user = self._known.get(key, (0.0, None))
        if user is None or until <= now:
            base = self._settings.public_url or f"https://{context.get('domainName', '')}"
            user = await asyncio.to_thread(self._ask, base, token)
            self._known[key] = (min(now + KEPT_S, ends), user)
            if len(self._known) > MOST:
                self._known.popitem(last=False)
        bind(user=user_hash(user.tenant_id, user.imperal_id))
        return user

    def _ends(self, token: str) -> float:
        """When the token ends, by its own claim, which the gateway checks; now without one.
        NotAuthenticated for a token that no issuer of this deployment has given out."""
        parts, now = token.split("."), self._clock.now()
        try:
            claims = object_of(from_token(parts[1])) if len(parts) == 3 else {}
        except ValueError:
            claims = {}
        ends = claims.get("exp")
        ends = float(ends) if isinstance(ends, int | float) else now
        issuer = self._settings.issuer
        if issuer and (claims.get("iss") != issuer or ends <= now):
            raise NotAuthenticated("the token is of another issuer, or over", field="Authorization")
        return ends

    def _ask(self, base: str, token: str) -> User:
        headers = {"authorization": f"Bearer {token}"}
        url = base.rstrip("/") + ME
        try:
            # a redirect would carry the token to wherever it points
            answer = self._http.request(
                "GET", url, headers=headers, timeout=ASK_S, redirect=False, retries=False
            )
            if answer.status in (401, 403):
                raise NotAuthenticated("the token is not accepted", field="Authorization")
            if answer.status == 200:
                return user_from(orjson.loads(answer.data))
            why = f"status {answer.status}"
        except (HTTPError, ValueError, TypeError) as error:
            why = type(error).__name__
        told = f"the token could not be looked at ({why}): try again"
        raise StorageUnavailable(told, code="token_unchecked")


def _bearer(headers: Mapping[str, str]) -> str:
    scheme, _, token = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token.strip().isascii() or not token.strip():
        raise NotAuthenticated("send Authorization: Bearer <token>", field="Authorization")
    return token.strip()


CONFIRM: Final = "confirm"
"""The name of the question whether a call may run."""
KEY: Final = "webbee/requestId"
"""The field of `_meta` with the client's request id: the same one runs nothing twice."""
MESSAGE_PREFIX: Final = "MCP"
"""The beginning of the message that stands for such a call in its conversation."""
UNANSWERED: Final = (
    "The user did not answer what this function asked: it has not gone on. Do not insist."
)

Formatter = Callable[[CallOutcome], JSONObject]
"""Makes a result of an outcome."""


class Replies(NamedTuple):
    """What came back with a request: the name of the kernel's question, what the user did with it
    (`accept`, `decline`, `cancel`, empty: nothing), the answers to functions so far, and whether
    the user refused one."""

    question: str
    action: str
    answers: JSONObject
    is_refused: bool


def replies_in(message: Message) -> Replies:
    """What came back with a message; Refused where its state is not one of ours."""
    responses = object_of(message.params.get("inputResponses"))
    responses = {k: r for k, r in responses.items() if isinstance(r, dict)}
    question, answers = _state(message)
    # without a question of the kernel's, one of the function's may have this name
    confirmation = responses.pop(CONFIRM, {}) if question else {}
    for response in responses.values():
        if response.get("action") == "accept":
            answers |= object_of(response.get("content"))
    action = str(confirmation.get("action", "")) if message.can_elicit else ""
    is_refused = any(r.get("action") in ("decline", "cancel") for r in responses.values())
    return Replies(question, action, answers, is_refused)


def _state(message: Message) -> tuple[str, JSONObject]:
    question, _, encoded = str(message.params.get("requestState") or "").partition(".")
    with suppress(ValueError):
        answers = from_token(encoded) if encoded else {}
        if isinstance(answers, dict):
            return question, answers
    raise message.bad("requestState is not what this server gave out")


def of_function(outcome: CallOutcome) -> JSONObject:
    """What a function asked, as elicitation requests by name; empty where it asked nothing, or
    nothing that has a form."""
    data = object_of(outcome.data)
    questions = object_of(data.get("questions")) if outcome.error_code == NEEDS_ANSWER else {}
    return {
        n: elicitation(q) for n, q in questions.items() if isinstance(q, dict) and "schema" in q
    }


def of_confirmation(pending: PendingConfirmation) -> JSONObject:
    """Whether a call may run, as the one elicitation request."""
    form = {"type": "object", "properties": {}}
    return {CONFIRM: elicitation({"message": cards.question(pending), "schema": form})}


def elicitation(question: Mapping[str, JSON]) -> JSONObject:
    """A question as a request of the protocol."""
    params = {
        "mode": "form",
        "message": defuse_markup(str(question.get("message", ""))),
        "requestedSchema": question["schema"],
    }
    return {"method": "elicitation/create", "params": params}


def pending_result(pending: PendingConfirmation) -> JSONObject:
    """The result of a call that waits: the card as text, and where it can be answered."""
    asks = pending.asks
    verb = f"“{asks['verb']}”" if asks.get("verb") else "yes"
    text = (
        f"This waits for the user's yes and has not run:\n\n{pending.summary}\n\nShow him"
        " this card. It stands on Webbee's page for 5 minutes, in the conversation that begins"
        f" with {MESSAGE_PREFIX}; pressing {verb} there runs it once. Do not call it again."
    )
    confirmation = {
        "id": pending.confirmation_id,
        "expires_at": pending.expires_at,
        "summary": pending.summary,
        **{name: asks[name] for name in ("question", "verb", "calls") if asks.get(name)},
    }
    return refusal(defuse_markup(text), "CONFIRMATION_REQUIRED", {"confirmation": confirmation})


class Calls:
    """Runs the calls of clients and asks their users."""

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
        arguments: JSON,
        formatter: Formatter = primitives.result,
        *,
        schemes: Collection[str] = (),
    ) -> JSONObject | Stream:
        """The result of a call, or the question it waits for; after its progress for a client that
        wants that. `schemes`: URL schemes that belong to the app."""
        if not isinstance(arguments, dict):
            raise message.bad("arguments must be an object")
        replies = replies_in(message)
        if replies.is_refused:
            return refusal(UNANSWERED, NEEDS_ANSWER)
        # only a function that asked, or that has the parameter, takes answers
        known = function.input_schema.get("properties") or {}
        if replies.answers and (message.params.get("requestState") or ANSWERS in known):
            arguments = {**arguments, ANSWERS: replies.answers}
        step = Step(0, function.app_id, function.fn_name, arguments, function.action_type)
        catalogue = await self._kernel.dispatch.catalogue()
        title = primitives.title_of(function, catalogue.apps[function.app_id])
        by = f" ({message.client[:64]})" if message.client else ""
        text, key = one_line(f"{MESSAGE_PREFIX}: {title}{by}"), request.key(_request_id(message))
        ask = TurnRequest(request.caller, SESSION, text, key)
        # taken before the call, whose progress events come after it
        mark = self._app.events.mark()
        result = await self._result(message, ask, step, replies, formatter, schemes)
        if isinstance(result, Stream) or message.progress_token is None:
            return result
        return Stream(await self._progress(message.progress_token, ask, mark), result)

    async def decide(self, user: User, question: str, reply: JSONObject) -> None:
        """The answer of a client's user to a question sent in a stream: anything but accept is a
        no. One that is over is ignored: the client learns it with the result."""
        yes, answers = reply.get("action") == "accept", object_of(reply.get("content"))
        ask = TurnRequest(user, SESSION, MESSAGE_PREFIX, question)
        with suppress(Gone):
            await self._kernel.direct.answer(ask, None, question, yes, answers)

    async def resume(self, user: User, waits: Waiting) -> Stream:
        """The result that a client comes back for, or that it still waits."""
        function = _function_of(await self._kernel.dispatch.catalogue(), waits.tool)
        if function is None:
            why = f"there is no tool {waits.tool[:64]!r}"
            return Stream(result=primitives.refusal(why, "UNKNOWN_TOOL"))
        ask = TurnRequest(user, SESSION, MESSAGE_PREFIX, waits.confirmation_id)
        step = Step(0, function.app_id, function.fn_name, {}, function.action_type)
        try:
            outcome = await self._kernel.direct.outcome_of(ask, step, waits.confirmation_id)
        except Gone as error:
            return Stream(result=primitives.refusal(str(error), error.code))
        if isinstance(outcome, PendingConfirmation):
            return Stream(resume=waits.token())
        return Stream(result=primitives.result(outcome))

    async def _result(
        self,
        message: Message,
        ask: TurnRequest,
        step: Step,
        replies: Replies,
        formatter: Formatter,
        schemes: Collection[str],
    ) -> JSONObject | Stream:
        bind(session=ask.session_id, turn=ask.request_id)
        try:
            outcome = await self._outcome(ask, step, replies, schemes)
            if isinstance(outcome, PendingConfirmation):
                return _confirmation(message, outcome, replies)
            if message.can_elicit and (requests := of_function(outcome)):
                if message.stateless:
                    return input_required(requests, f".{token_of(replies.answers)}")
                text = " ".join(str(q["params"]["message"]) for q in requests.values())
                pending = await self._kernel.direct.ask_question(ask, step, text)
                return _question_stream(message, pending, next(iter(requests.values())))
        except CallError as error:
            return refusal(str(error), error.code)
        except Gone as error:
            raise message.bad(str(error)) from None
        except KernelError as error:
            # an outage is not the tool's result: the request may be sent again
            if error.status >= 500:
                raise
            return refusal(str(error), error.code, error.body()["error"])
        return formatter(outcome)

    async def _outcome(
        self, ask: TurnRequest, step: Step, replies: Replies, schemes: Collection[str]
    ) -> CallOutcome | PendingConfirmation:
        """The call's end, where the user was asked before: by his answer."""
        direct, yes = self._kernel.direct, replies.action == "accept"
        if yes or replies.action == "decline":
            return await direct.answer(ask, step, replies.question, yes)
        return await direct.call(ask, step, schemes=schemes)

    async def _progress(self, token: str | int, ask: TurnRequest, mark: str) -> list[JSONObject]:
        """The call's progress notifications."""
        found = await self._app.events.since(UserKey.of(ask.user), mark)
        told = (e.data for e in found if e.kind == "progress")
        own = (d for d in told if d.get("request_id") == ask.request_id)
        return [progress(token, d["percent"], d["text"]) for d in own]


def _confirmation(
    message: Message, pending: PendingConfirmation, replies: Replies
) -> JSONObject | Stream:
    """The question whether a call may run, or where its user can answer it."""
    # a question that was closed without an answer waits on the page
    if not message.can_elicit or replies.action == "cancel":
        return pending_result(pending)
    requests = of_confirmation(pending)
    if message.stateless:
        answers = token_of(replies.answers) if replies.answers else ""
        return input_required(requests, f"{question_of(pending)}.{answers}")
    return _question_stream(message, pending, requests[CONFIRM])


def input_required(requests: JSONObject, state: str) -> JSONObject:
    """The result that makes the client ask its user."""
    return {"resultType": "input_required", "inputRequests": requests, "requestState": state}


def _question_stream(message: Message, pending: PendingConfirmation, request: JSONObject) -> Stream:
    waits = Waiting(pending.confirmation_id, message.id or 0, str(message.params.get("name")))
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
    # characters that a tool's name cannot have are replaced in it
    every = (f for a in catalogue.apps.values() for f in a.functions)
    return next((f for f in every if f.tool_name == name), None)
