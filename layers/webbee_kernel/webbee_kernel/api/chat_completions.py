"""A turn behind the protocol that chat clients speak: OpenAI's chat completions.

Of the messages a client sends, the last one by the user counts: memory is the kernel's, and what a
client repeats of it is not read. A conversation is the client's: `metadata.session_id`, else one of
`SESSION_HEADERS`, else `user`, else a digest of the first message by the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from ..clock import Clock, digest
from ..errors import BadInput, NotFound
from ..observability import Usage, bind, used
from ..turn.kernel import Kernel, TurnRequest
from ..types import JSONObject
from .endpoint import Answer, Request, Route, json_text
from .openai_wire import (
    MODEL,
    CompletionBody,
    Limits,
    Message,
    limits,
    no_choice,
    no_more_than_text,
    only_text,
    text_of,
    told,
)
from .request_models import MAX_MESSAGE, at_most

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
            shown=said_before(request, map(_shown, shown)),
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
    only_text("response_format", body.response_format)
    no_choice("tool_choice", body.tool_choice)
    no_choice("function_call", body.function_call)
    no_more_than_text(logprobs=body.logprobs, modalities=body.modalities)
    return limits(body.stop, body.max_completion_tokens or body.max_tokens)


def said_before(request: Request, texts: Iterable[str]) -> tuple[str, ...]:
    """The user's messages that a client repeats. With a key of the client's own it is the key that
    says what is asked again."""
    return () if request.headers.get("idempotency-key") else tuple(texts)


def session(request: Request, body: CompletionBody) -> str:
    """The conversation's id, always of the form that `/v1/chat` takes."""
    if named := named_session(request, body.metadata, body.user):
        return named
    first = next((m for m in body.messages if m.role == "user"), body.messages[0])
    return session_id(f"first message: {_text(first)}")


def named_session(request: Request, metadata: Mapping[str, Any] | None, user: str | None) -> str:
    """The conversation that the request names; empty where it names none."""
    headers = (request.headers.get(name) for name in SESSION_HEADERS)
    given = ((metadata or {}).get("session_id"), *headers, user)
    named = next((str(name) for name in given if name and str(name).strip()), "")
    return session_id(named) if named else ""


def session_id(named: str) -> str:
    """A name in the form of an id."""
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
    return text_of(one.content, frozenset({"text"}), "messages")


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


def extras(reply: JSONObject) -> JSONObject:
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
        "webbee": extras(reply),
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
    yield {**chunk({}, "length" if is_cut else "stop"), "webbee": extras(reply)}
    if usage is not None:
        yield {**base, "choices": [], "usage": _usage(usage)}


def _events(chunks: Iterator[JSONObject]) -> Iterator[str]:
    for chunk in chunks:
        yield f"data: {json_text(chunk)}\n\n"
    yield "data: [DONE]\n\n"
