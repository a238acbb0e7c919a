"""A turn behind the protocol that chat clients speak: OpenAI's chat completions.

Of the messages a client sends, the last one by the user counts: memory is the kernel's, and what a
client repeats of it is not read. A conversation is the client's: `metadata.session_id`, else one of
`SESSION_HEADERS`, else `user`, else a digest of the first message by the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from ..clock import Clock, digest
from ..errors import BadInput, NotFound
from ..observability import Usage, bind, used
from ..turn.kernel import Kernel, TurnRequest
from ..turn.messages import as_text
from ..types import JSONObject
from .request_models import MAX_MESSAGE, at_most
from .router import Answer, Request, Route, json_text

MODEL: Final = "webbee"
ROOT: Final = "/v1/openai/v1"
SESSION_HEADERS: Final = (
    "x-session-id",
    "x-conversation-id",
    "x-openwebui-chat-id",
    "x-librechat-conversation-id",
)
"""Headers in which front ends name a conversation, as they are or as an operator sets them up."""

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
SENTENCE: Final = re.compile(r".+?(?:[.!?\u2026]+\s+|\n+|$)", re.S)
_TYPES: Final[Mapping[int, str]] = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
}


class Part(BaseModel):
    """A part of a message's content; only text is read."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    type: str
    text: str = ""


class Message(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: str | list[Part] | None = None


class StreamOptions(BaseModel):
    """What a stream ends with."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    include_usage: bool = False


class CompletionBody(BaseModel):
    """`POST /v1/openai/v1/chat/completions`. What is not named here (temperature, seed, …) is the
    operator's to choose and ignored; what would change the answer's form is honoured or refused."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    model: Annotated[str, StringConstraints(max_length=128)] = MODEL
    messages: Annotated[
        list[Message],
        Field(min_length=1, max_length=4096, description="One by the user at least, of text."),
    ]
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: Annotated[int, Field(ge=1, le=1, description="One answer, no more.")] | None = None
    stop: Annotated[
        str | list[str] | None, Field(description="At most four texts; the first found ends it.")
    ] = None
    max_tokens: Annotated[int, Field(ge=1, description="The reply is cut there.")] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    response_format: Annotated[JSONObject | None, Field(description="Only `text`.")] = None
    tool_choice: Annotated[str | JSONObject | None, Field(description="Only `auto`, `none`.")] = (
        None
    )
    function_call: Annotated[str | JSONObject | None, Field(description="As `tool_choice`.")] = None
    logprobs: bool | None = None
    modalities: list[str] | None = None
    user: Annotated[str, StringConstraints(max_length=512)] | None = None
    metadata: dict[str, Any] | None = None


def shaped(status: int, body: JSONObject) -> JSONObject:
    """An error in the protocol's form: ours, with its type and parameter."""
    error = dict(body["error"])
    default = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": error | {"type": _TYPES.get(status, default), "param": error.get("field")}}


class OpenAI:
    """The routes under `/v1/openai/v1`."""

    def __init__(self, kernel: Kernel, clock: Clock) -> None:
        self._kernel = kernel
        self._clock = clock

    @Route(
        f"POST {ROOT}/chat/completions",
        body=CompletionBody,
        answer="CompletionAnswer",
        errors=shaped,
    )
    async def complete(self, request: Request) -> Answer:
        """One turn as a chat completion; with `stream` as Server-Sent Events. `webbee` carries what
        the protocol has no place for: calls, sources, a question that waits."""
        body = request.body(CompletionBody)
        known(body.model)
        ends = _limits(body)
        shown = [m for m in body.messages if m.role == "user"]
        ask = TurnRequest(
            request.caller,
            session(request, body),
            message(body),
            request.key(),
            alone=all(m.role in ("user", "system", "developer") for m in body.messages),
            # with a key of the client's own it is the key that says what is asked again
            shown=() if request.headers.get("idempotency-key") else tuple(map(_shown, shown)),
            before=before(body.messages),
        )
        reply, usage = await answered(self._kernel, ask)
        made = {
            "id": f"chatcmpl-{ask.request_id}",
            "created": int(self._clock.now()),
            "model": MODEL,
        }
        if not body.stream:
            return Answer(_whole(made, reply, usage, ends))
        counted = bool(body.stream_options and body.stream_options.include_usage)
        return Answer(
            "".join(_events(_chunks(made, reply, usage if counted else None, ends))),
            content_type="text/event-stream",
        )

    @Route(f"GET {ROOT}/models", answer="ModelsAnswer", errors=shaped)
    async def models(self, request: Request) -> Answer:
        """The models there are: the kernel is the one."""
        return Answer({"object": "list", "data": [_row()]})

    @Route(f"GET {ROOT}/models/{{model}}", answer="ModelRow", errors=shaped)
    async def model(self, request: Request) -> Answer:
        """One of them."""
        known(request.path["model"])
        return Answer(_row())


async def answered(kernel: Kernel, ask: TurnRequest) -> tuple[JSONObject, Usage]:
    """The turn's answer, and what its models read and wrote."""
    bind(session=ask.session_id, turn=ask.request_id)
    with used() as usage:
        return (await kernel.turn(ask)).body, usage


def _limits(body: CompletionBody) -> Limits:
    """Where the answer ends; BadInput for a form that is not served."""
    kind = str((body.response_format or {}).get("type") or "text")
    if kind != "text":
        why = f"the kernel answers in text only, not {kind[:64]!r}"
        raise refuse("response_format", why)
    no_choice("tool_choice", body.tool_choice)
    no_choice("function_call", body.function_call)
    if body.logprobs:
        raise refuse("logprobs", "the kernel gives no probabilities")
    if set(body.modalities or ()) - {"text"}:
        raise refuse("modalities", "the kernel answers in text only")
    return limits(body.stop, body.max_completion_tokens or body.max_tokens)


def before(messages: Sequence[Message]) -> str | None:
    """The reply that the client shows directly before the user's last message: a yes answers the
    card that stands there. Empty where another message does, None where it shows none before."""
    told = [m for m in messages if m.role not in ("system", "developer")]
    last = next((i for i, m in reversed(list(enumerate(told))) if m.role == "user"), 0)
    if not last:
        return None
    return _shown(told[last - 1]) if told[last - 1].role == "assistant" else ""


def session(request: Request, body: CompletionBody) -> str:
    """The conversation's id, always of the form that `/v1/chat` takes."""
    headers = (request.headers.get(name) for name in SESSION_HEADERS)
    given = ((body.metadata or {}).get("session_id"), *headers, body.user)
    named = next((str(name) for name in given if name and str(name).strip()), "")
    if not named:
        first = next((m for m in body.messages if m.role == "user"), body.messages[0])
        named = f"first message: {_text(first)}"
    return named if _ID.fullmatch(named) else f"openai-{digest(named)[:32]}"


def message(body: CompletionBody) -> str:
    """What the user says now: the last message by the user, which must be the last by anyone but
    the system."""
    at = next((i for i, m in reversed(list(enumerate(body.messages))) if m.role == "user"), None)
    if at is None:
        raise BadInput("messages holds none by the user", field="messages")
    text, field = _text(body.messages[at]).strip(), f"messages.{at}.content"
    if not text:
        raise BadInput(f"{field}: must hold some text", field=field)
    return at_most(MAX_MESSAGE, field, text)


def _shown(one: Message) -> str:
    """The text of a message that was read before, whatever else it holds."""
    parts = one.content if isinstance(one.content, list) else ()
    return "\n".join(part.text for part in parts) if parts else str(one.content or "")


def _text(one: Message) -> str:
    """The text of a message; BadInput where it holds a part that is none."""
    if not isinstance(one.content, list):
        return one.content or ""
    if other := next((part.type for part in one.content if part.type != "text"), ""):
        raise BadInput(
            f"messages holds a part of type {other[:64]!r}: only text is read", field="messages"
        )
    return "\n".join(part.text for part in one.content)


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
    """What the protocol has no place for."""
    return {name: value for name, value in reply.items() if name != "reply"}


def _whole(made: JSONObject, reply: JSONObject, usage: Usage, ends: Limits) -> JSONObject:
    text, is_cut = told(reply, ends)
    said = {"role": "assistant", "content": text, "refusal": None}
    finish = "length" if is_cut else "stop"
    choice = {"index": 0, "message": said, "finish_reason": finish, "logprobs": None}
    return {
        **made,
        "object": "chat.completion",
        "choices": [choice],
        "usage": _usage(usage),
        "webbee": _extras(reply),
    }


def _chunks(
    made: JSONObject, reply: JSONObject, usage: Usage | None, ends: Limits
) -> Iterator[JSONObject]:
    """The reply sentence by sentence."""
    text, is_cut = told(reply, ends)
    base = {**made, "object": "chat.completion.chunk"}

    def chunk(delta: JSONObject, end: str | None = None) -> JSONObject:
        choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
        return {**base, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for sentence in SENTENCE.findall(text):
        yield chunk({"content": sentence})
    yield {**chunk({}, "length" if is_cut else "stop"), "webbee": _extras(reply)}
    if usage is not None:
        yield {**base, "choices": [], "usage": _usage(usage)}


def _events(chunks: Iterator[JSONObject]) -> Iterator[str]:
    for chunk in chunks:
        yield f"data: {json_text(chunk)}\n\n"
    yield "data: [DONE]\n\n"


MAX_STOPS: Final = 4

_TOKEN: Final = re.compile(r"\s*(?:[A-Za-z]{1,4}|\d{1,3}|[^\W\d_]{1,2}|\S)")
"""A piece of text that no tokeniser of today's models makes more than about one token of."""


def refuse(name: str, why: str) -> BadInput:
    """A parameter that is not served, as the protocol words it."""
    return BadInput(f"{name}: {why}", code="unsupported_parameter", field=name)


def no_choice(name: str, choice: object) -> None:
    """Raise BadInput where a call of the client's own tools is demanded: the kernel never makes
    one, which `auto` and `none` allow."""
    kind = choice.get("type", "function") if isinstance(choice, Mapping) else choice
    if kind not in (None, "auto", "none"):
        raise refuse(name, "the kernel calls its own functions only, so use 'auto' or 'none'")


@dataclass(frozen=True, slots=True)
class Limits:
    """Where an answer ends: before the first of `stops`, and after `tokens`, by a count that is
    rather too high than too low; 0 is no limit."""

    stops: tuple[str, ...] = ()
    tokens: int = 0

    def cut(self, text: str) -> tuple[str, bool]:
        """The text within its limits, and whether the number of tokens cut it."""
        places = [place for stop in self.stops if (place := text.find(stop)) >= 0]
        text = text[: min(places)] if places else text
        if not self.tokens:
            return text, False
        end, count = 0, 0
        for piece in _TOKEN.finditer(text):
            if count == self.tokens:
                return text[:end], True
            end, count = piece.end(), count + 1
        return text, False


def limits(stop: str | Sequence[str] | None, tokens: int | None) -> Limits:
    """The limits that a request names."""
    stops = (stop,) if isinstance(stop, str) else tuple(stop or ())
    if len(stops) > MAX_STOPS:
        raise refuse("stop", f"takes at most {MAX_STOPS} texts")
    return Limits(tuple(filter(None, stops)), tokens or 0)


def told(reply: JSONObject, ends: Limits) -> tuple[str, bool]:
    """A turn's answer as text, its reply within the limits, and whether tokens cut it. Receipts
    stay whole, and so does a question that a yes would answer: no effect is hidden by a limit."""
    if reply.get("status") == "confirmation":
        return as_text(reply), False
    text, is_cut = ends.cut(reply["reply"])
    marks = [m for m in reply.get("marks", ()) if m["end"] <= len(text)]
    return as_text({**reply, "reply": text, "marks": marks}), is_cut
