"""Turns through OpenAI's chat completions protocol.

Only the last user message is the turn's: the kernel has its own memory and ignores the earlier
messages. The session is `metadata.session_id`, else one of `SESSION_HEADERS`, else `user`, else a
digest of the first user message.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ..clock import digest
from ..errors import BadInput, NotFound
from ..observability import Usage, bind, track_usage
from ..text import json_text
from ..turn.kernel import TurnRequest
from ..turn.messages import as_text
from ..types import JSONObject
from .request_models import MAX_MESSAGE, SESSION_ID
from .router import Answer, Request, Route, Services
from .turns import Turns

MODEL: Final = "webbee"
ROOT: Final = "/v1/openai/v1"
SESSION_HEADERS: Final = (
    "x-session-id",
    "x-conversation-id",
    "x-openwebui-chat-id",
    "x-librechat-conversation-id",
)
"""Headers in which front ends name a conversation, by default or by configuration."""

OWN: Final = "The kernel calls its own functions only."
_TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}


class _Body(BaseModel):
    """A part of a request; unknown fields are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Part(_Body):
    """A part of a message's content; only text is read."""

    type: str
    text: str = ""


class Message(_Body):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(_Body):
    """What a stream ends with."""

    include_usage: bool = False


class TextFormat(_Body):
    """The one form of an answer."""

    type: Literal["text"] = "text"


class CompletionBody(_Body):
    """`POST /v1/openai/v1/chat/completions`. What is not named here (temperature, max_tokens, …) is
    the operator's to choose and ignored; what would make the answer another thing is refused."""

    model: Annotated[str, StringConstraints(max_length=128)] = MODEL
    messages: Annotated[
        list[Message],
        Field(min_length=1, max_length=4096, description="One by the user at least, of text."),
    ]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=1, description="One answer, no more.")] | None = None
    response_format: Annotated[TextFormat | None, Field(description="Only `text`.")] = None
    tool_choice: Annotated[Literal["auto", "none"] | None, Field(description=OWN)] = None
    function_call: Annotated[Literal["auto", "none"] | None, Field(description=OWN)] = None
    user: Annotated[str, StringConstraints(max_length=512)] | None = None
    metadata: dict[str, Any] | None = None


def shaped(status: int, body: JSONObject) -> JSONObject:
    """An error in the protocol's form: ours, with its type and parameter."""
    error = dict(body["error"])
    default = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": error | {"type": _TYPES.get(status, default), "param": error.get("field")}}


class OpenAI:
    """The routes under `/v1/openai/v1`."""

    def __init__(self, services: Services) -> None:
        self._turns = Turns(services.app, services.kernel)
        self._clock = services.app.clock

    @Route(f"POST {ROOT}/chat/completions", body=CompletionBody, answer=JSONObject, errors=shaped)
    async def complete(self, request: Request) -> Answer:
        """One turn as a chat completion; with `stream` as Server-Sent Events. `webbee` carries what
        the protocol has no place for: calls, sources, a question that waits."""
        body = request.body(CompletionBody)
        known(body.model)
        ask = turn_request(request, body)
        bind(session=ask.session_id, turn=ask.request_id)
        with track_usage() as usage:
            reply = (await self._turns.reply(ask)).body
        made = {
            "id": f"chatcmpl-{ask.request_id}",
            "created": int(self._clock.now()),
            "model": MODEL,
        }
        if not body.stream:
            return Answer(_whole(made, reply, usage))
        counted = body.stream_options and body.stream_options.include_usage
        chunks = map(json_text, _chunks(made, reply, usage if counted else None))
        text = "".join(f"data: {chunk}\n\n" for chunk in (*chunks, "[DONE]"))
        return Answer(text, content_type="text/event-stream")

    @Route(f"GET {ROOT}/models", answer=JSONObject, errors=shaped)
    async def models(self, request: Request) -> Answer:
        """The models there are: the kernel is the one."""
        return Answer({"object": "list", "data": [_row()]})

    @Route(f"GET {ROOT}/models/{{model}}", answer=JSONObject, errors=shaped)
    async def model(self, request: Request) -> Answer:
        """One of them."""
        known(request.path["model"])
        return Answer(_row())


def turn_request(request: Request, body: CompletionBody) -> TurnRequest:
    """The turn that a request asks for; BadInput where no message is the user's, or the last one is
    none."""
    # instructions may stand anywhere, and no person sees them
    told = [m for m in body.messages if m.role not in ("system", "developer")]
    own = [m for m in told if m.role == "user"]
    if not own:
        raise BadInput("messages holds none by the user", field="messages")
    return TurnRequest(
        request.caller,
        # the first message is in every request of a conversation
        session(request, body, own[0]),
        message(own[-1]),
        request.key(),
        is_alone=len(own) == len(told),
        # with the client's own key it is the key that tells a repeated request
        user_messages=() if request.headers.get("idempotency-key") else tuple(map(_shown, own)),
        previous_reply=before(told),
    )


def before(told: Sequence[Message]) -> str | None:
    """The reply directly before the last user message, whose card a yes answers. Empty where it is
    another message, None where there is none."""
    last = max(i for i, m in enumerate(told) if m.role == "user")
    if not last:
        return None
    return _shown(told[last - 1]) if told[last - 1].role == "assistant" else ""


def session(request: Request, body: CompletionBody, first: Message) -> str:
    """The session's id, always of the form that `/v1/chat` takes."""
    headers = (request.headers.get(name) for name in SESSION_HEADERS)
    given = ((body.metadata or {}).get("session_id"), *headers, body.user)
    named = next((str(name) for name in given if name and str(name).strip()), "")
    named = named or f"first message: {_text(first)}"
    # clients name conversations by any text, even by an address
    return named if re.fullmatch(SESSION_ID, named) else f"openai-{digest(named)[:32]}"


def message(last: Message) -> str:
    """The text of the last user message; BadInput where it has none, or too much."""
    text = _text(last).strip()
    if not 0 < len(text) <= MAX_MESSAGE:
        has = f"messages: the last by the user has {len(text)} characters of text"
        told = f"{has}; some are needed, and the limit is {MAX_MESSAGE}"
        raise BadInput(told, field="messages", limit=MAX_MESSAGE)
    return text


def _shown(one: Message) -> str:
    """The text of a message, without its other parts."""
    parts = one.content if isinstance(one.content, list) else ()
    return "\n".join(part.text for part in parts) if parts else str(one.content or "")


def _text(one: Message) -> str:
    """The text of a message; BadInput where it holds a part that is none."""
    parts = one.content if isinstance(one.content, list) else ()
    if other := next((part.type for part in parts if part.type != "text"), ""):
        raise BadInput(
            f"messages holds a part of type {other[:64]!r}: only text is read", field="messages"
        )
    return _shown(one)


def known(model: str) -> None:
    """NotFound for any model but the one there is."""
    if model != MODEL:
        raise NotFound(
            f"there is no model {model[:64]!r}: use {MODEL!r}; which models answer is the"
            " operator's to choose",
            code="model_not_found",
            field="model",
        )


def _row() -> JSONObject:
    return {"id": MODEL, "object": "model", "created": 0, "owned_by": MODEL}


def _usage(usage: Usage) -> JSONObject:
    return {
        "prompt_tokens": usage.read,
        "completion_tokens": usage.written,
        "total_tokens": usage.read + usage.written,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
    }


def _extras(reply: JSONObject) -> JSONObject:
    """The fields that the protocol does not have."""
    return {name: value for name, value in reply.items() if name != "reply"}


def _whole(made: JSONObject, reply: JSONObject, usage: Usage) -> JSONObject:
    said = {"role": "assistant", "content": as_text(reply), "refusal": None}
    choice = {"index": 0, "message": said, "finish_reason": "stop", "logprobs": None}
    return {
        **made,
        "object": "chat.completion",
        "choices": [choice],
        "usage": _usage(usage),
        "webbee": _extras(reply),
    }


def _chunks(made: JSONObject, reply: JSONObject, usage: Usage | None) -> Iterator[JSONObject]:
    """The reply as a stream, which begins when the turn is done: in one piece."""
    base = {**made, "object": "chat.completion.chunk"}

    def chunk(delta: JSONObject, end: str | None = None) -> JSONObject:
        choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
        return {**base, "choices": [choice]}

    yield chunk({"role": "assistant", "content": as_text(reply)})
    yield {**chunk({}, "stop"), "webbee": _extras(reply)}
    # the protocol wants it last, in a chunk without choices
    if usage is not None:
        yield {**base, "choices": [], "usage": _usage(usage)}
