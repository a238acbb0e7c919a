"""Questions to a client's user, and what comes back with the next request. Pure.

Two kinds: whether a call may run (the kernel's own), and what a function asks in the middle of a
call (`ActionResult.ask`). Both end the answer; the client sends the same call again with what its
user did, and `requestState` as it was. That state is the name under which the call's question was
put (`turn.direct.question_of`), and the answers so far: nothing in it is believed that the user
could not have said anyway. What a client that cannot ask says of him is not believed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from ...sdk.result import ANSWERS, NEEDS_ANSWER
from ...stores.types import PendingConfirmation
from ...text import as_typed
from ...types import JSON, CallOutcome, JSONObject, object_of, of_token, token_of
from .json_rpc import INVALID_PARAMS, Message
from .primitives import refusal

CONFIRM: Final = "confirm"
"""The name of the question whether a call may run."""


@dataclass(frozen=True, slots=True)
class Answered:
    """What came back with a request. `action` is what the user did with the question `CONFIRM`
    (`accept`, `decline`, `cancel`, empty: nothing), which was put as `question`; `answers` what
    functions were told so far, `refused` that he would not answer one."""

    question: str = ""
    action: str = ""
    answers: JSONObject = field(default_factory=dict)
    asked: bool = False
    """Whether the function had asked: the state says so."""
    refused: bool = False

    def arguments(self, given: JSONObject, schema: JSONObject) -> JSONObject:
        """The call's arguments with the answers, where the function asked or says that it
        asks."""
        takes = self.asked or ANSWERS in (schema.get("properties") or {})
        return {**given, ANSWERS: self.answers} if self.answers and takes else given

    def state(self, question: str = "") -> str:
        """What the client is given to send back."""
        return f"{question}.{token_of(self.answers) if self.answers or not question else ''}"


def answered(message: Message) -> Answered:
    """What came back with a message; Refused where its state is none of ours."""
    state, given = message.params.get("requestState"), message.params.get("inputResponses")
    responses = {k: r for k, r in object_of(given).items() if isinstance(r, dict)}
    question, answers = _state(message, state)
    said = responses.pop(CONFIRM, {}) if question else {}
    for response in responses.values():
        if response.get("action") == "accept":
            answers |= object_of(response.get("content"))
    return Answered(
        question,
        str(said.get("action", "")) if message.can_elicit else "",
        answers,
        asked=bool(state),
        refused=any(r.get("action") in ("decline", "cancel") for r in responses.values()),
    )


def _state(message: Message, state: JSON) -> tuple[str, JSONObject]:
    if not state:
        return "", {}
    question, _, kept = str(state).partition(".")
    try:
        answers = of_token(kept) if kept else {}
        if isinstance(answers, dict):
            return question, answers
    except ValueError:
        pass
    raise message.refused(INVALID_PARAMS, "requestState is not what this server gave out")


def of_function(outcome: CallOutcome) -> JSONObject:
    """What a function asked, as elicitation requests by their names; empty where it asked nothing,
    or what no form can ask."""
    data = object_of(outcome.data)
    asked = object_of(data.get("questions")) if outcome.error_code == NEEDS_ANSWER else {}
    return {n: elicitation(q) for n, q in asked.items() if isinstance(q, dict) and "schema" in q}


def of_confirmation(pending: PendingConfirmation) -> JSONObject:
    """Whether a call may run, as the one elicitation request."""
    form = {"type": "object", "properties": {}}
    told = "\n".join(part for part in (pending.summary, pending.asks.get("ask", "")) if part)
    return {CONFIRM: elicitation({"message": told, "schema": form})}


def elicitation(question: Mapping[str, JSON]) -> JSONObject:
    """A question as a request of the protocol."""
    asked = {
        "mode": "form",
        "message": as_typed(str(question.get("message", ""))),
        "requestedSchema": question["schema"],
    }
    return {"method": "elicitation/create", "params": asked}


def input_required(requests: JSONObject, state: str) -> JSONObject:
    """The result that asks the client to ask."""
    return {"resultType": "input_required", "inputRequests": requests, "requestState": state}


def not_answered() -> JSONObject:
    """The result of a call whose user would not answer what it asked."""
    why = "The user did not answer what this function asked: it has not gone on. Do not insist."
    return refusal(why, NEEDS_ANSWER)


def waiting(pending: PendingConfirmation, spoken: str) -> JSONObject:
    """The call has not run: the card as text, and where it stands to be pressed."""
    asks = pending.asks
    verb = f"“{asks['verb']}”" if asks.get("verb") else "yes"
    why = (
        f"This waits for the user's yes and has not run:\n\n{pending.summary}\n\nShow him"
        " this card. It stands on Webbee's page for 5 minutes, in the conversation that begins"
        f" with {spoken}; pressing {verb} there runs it once. Do not call it again."
    )
    waits = {
        "id": pending.confirmation_id,
        "expires_at": pending.expires_at,
        "summary": pending.summary,
        **{name: asks[name] for name in ("question", "verb", "calls") if asks.get(name)},
    }
    return refusal(as_typed(why), "CONFIRMATION_REQUIRED", {"confirmation": waits})
