"""A turn behind OpenAI's Responses API, which newer clients speak by default.

As in chat completions the last message by the user counts and memory is the kernel's. A
conversation is `metadata.session_id`, a header, `conversation`, the one of `previous_response_id`,
`user`, or a digest of the first message by the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ..clock import Clock
from ..errors import BadInput
from ..observability import Usage
from ..turn.kernel import Kernel, TurnRequest
from ..types import JSONObject
from .chat_completions import (
    ROOT,
    SENTENCE,
    answered,
    extras,
    known,
    named_session,
    said_before,
    session_id,
    shaped,
)
from .endpoint import Answer, Request, Route, json_text
from .openai_wire import MODEL, Part, limits, no_choice, only_text, refuse, text_of, told
from .request_models import MAX_MESSAGE, at_most

_TEXTS: Final = frozenset({"text", "input_text", "output_text"})
_ID: Final = re.compile(r"resp_[^.]+\.([A-Za-z0-9_-]{1,64})")


class InputItem(BaseModel):
    """One item of the input; only messages by the user are read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str = "message"
    role: str = ""
    content: str | list[Part] | None = None


class ResponsesBody(BaseModel):
    """`POST /v1/openai/v1/responses`. What is not named here (temperature, reasoning, …) is the
    operator's to choose and ignored; what would change the answer's form is honoured or refused."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    model: Annotated[str, StringConstraints(max_length=128)] = MODEL
    input: str | Annotated[list[InputItem], Field(min_length=1, max_length=4096)]
    stream: bool | None = None
    max_output_tokens: Annotated[int, Field(ge=1, description="The reply is cut there.")] | None = (
        None
    )
    text: Annotated[JSONObject | None, Field(description="`format` only as `text`.")] = None
    tool_choice: Annotated[str | JSONObject | None, Field(description="Only `auto`, `none`.")] = (
        None
    )
    background: bool | None = None
    conversation: str | JSONObject | None = None
    previous_response_id: Annotated[str, StringConstraints(max_length=256)] | None = None
    user: Annotated[str, StringConstraints(max_length=512)] | None = None
    metadata: dict[str, Any] | None = None


class OpenAIResponses:
    """The route `POST /v1/openai/v1/responses`."""

    def __init__(self, kernel: Kernel, clock: Clock) -> None:
        self._kernel = kernel
        self._clock = clock

    @Route(f"POST {ROOT}/responses", body=ResponsesBody, answer="ResponsesAnswer", errors=shaped)
    async def respond(self, request: Request) -> Answer:
        """One turn as a response; with `stream` as Server-Sent Events."""
        body = request.body(ResponsesBody)
        known(body.model)
        only_text("text.format", _object((body.text or {}).get("format")))
        no_choice("tool_choice", body.tool_choice)
        if body.background:
            raise refuse("background", "a response is waited for")
        ends = limits(None, body.max_output_tokens)
        ask = TurnRequest(
            request.caller,
            _session(request, body),
            _message(body),
            request.key(),
            alone=_is_alone(body),
            shown=() if body.previous_response_id else said_before(request, _said(body)),
        )
        reply, usage = await answered(self._kernel, ask)
        text, is_cut = told(reply, ends)
        base = {
            "id": f"resp_{ask.request_id}.{ask.session_id}",
            "object": "response",
            "created_at": int(self._clock.now()),
            "model": MODEL,
            "error": None,
            "incomplete_details": None,
            "instructions": None,
            "metadata": {k: str(v) for k, v in (body.metadata or {}).items()},
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
        }
        item = _item(f"msg_{ask.request_id}", text, is_cut=is_cut)
        ended: JSONObject = {
            **base,
            "status": item["status"],
            "incomplete_details": {"reason": "max_output_tokens"} if is_cut else None,
            "output": [item],
            "usage": _usage(usage),
            "webbee": extras(reply),
        }
        if not body.stream:
            return Answer(ended)
        events = _events(base, item, text, ended)
        return Answer("".join(events), content_type="text/event-stream")


def _session(request: Request, body: ResponsesBody) -> str:
    """The conversation's id."""
    if named := named_session(request, body.metadata, None):
        return named
    talk = body.conversation
    if named := str(talk.get("id") or "") if isinstance(talk, Mapping) else talk or "":
        return session_id(named)
    if earlier := body.previous_response_id:
        found = _ID.fullmatch(earlier)
        if found is None:
            raise BadInput(
                "previous_response_id: there is no such response",
                code="previous_response_not_found",
                field="previous_response_id",
            )
        return found[1]
    if body.user:
        return session_id(body.user)
    first = next(iter(_said(body)), "")
    return session_id(f"first message: {first}")


def _is_alone(body: ResponsesBody) -> bool:
    """Whether the client shows nothing of a conversation before the message."""
    if body.previous_response_id or body.conversation:
        return False
    items = [] if isinstance(body.input, str) else body.input
    return all(i.type == "message" and i.role in ("user", "system", "developer") for i in items)


def _said(body: ResponsesBody) -> Sequence[str]:
    """The texts of the user's messages."""
    if isinstance(body.input, str):
        return [body.input]
    mine = [i for i in body.input if i.role == "user" and i.type == "message"]
    return [text_of(item.content, _TEXTS, "input") for item in mine]


def _message(body: ResponsesBody) -> str:
    """What the user says now: his last message."""
    said = _said(body)
    if not said:
        raise BadInput("input holds no message by the user", field="input")
    if not (text := said[-1].strip()):
        raise BadInput("input: must hold some text", field="input")
    return at_most(MAX_MESSAGE, "input", text)


def _object(value: object) -> Mapping[str, Any] | None:
    return value if isinstance(value, Mapping) else None


def _item(number: str, text: str, *, is_cut: bool) -> JSONObject:
    return {
        "id": number,
        "type": "message",
        "role": "assistant",
        "status": "incomplete" if is_cut else "completed",
        "content": [_part(text)],
    }


def _part(text: str) -> JSONObject:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(usage: Usage) -> JSONObject:
    return {
        "input_tokens": usage.read,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.written,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.read + usage.written,
    }


def _events(base: JSONObject, item: JSONObject, text: str, ended: JSONObject) -> Iterator[str]:
    """The reply sentence by sentence, as the protocol's events."""
    begun: JSONObject = {**base, "status": "in_progress", "output": [], "usage": None}
    place: JSONObject = {"output_index": 0, "item_id": item["id"], "content_index": 0}
    opening = {**item, "status": "in_progress", "content": []}
    events: list[JSONObject] = [
        {"type": "response.created", "response": begun},
        {"type": "response.in_progress", "response": begun},
        {"type": "response.output_item.added", "output_index": 0, "item": opening},
        {"type": "response.content_part.added", **place, "part": _part("")},
        *(
            {"type": "response.output_text.delta", **place, "delta": piece, "logprobs": []}
            for piece in SENTENCE.findall(text)
        ),
        {"type": "response.output_text.done", **place, "text": text, "logprobs": []},
        {"type": "response.content_part.done", **place, "part": _part(text)},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": f"response.{ended['status']}", "response": ended},
    ]
    for number, event in enumerate(events):
        yield f"event: {event['type']}\ndata: {json_text({**event, 'sequence_number': number})}\n\n"
