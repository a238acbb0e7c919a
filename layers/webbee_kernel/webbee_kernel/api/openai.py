"""A turn behind the protocol that chat clients speak: OpenAI's chat completions.

Of the messages a client sends, the last one by the user counts: memory is the kernel's, and what a
client repeats of it is not read. A conversation is the client's: `metadata.session_id`, else one of
`SESSION_HEADERS`, else `user`, else a digest of the first message by the user.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from ..base.clock import Clock
from ..base.ids import digest
from ..base.logs import bind
from ..base.usage import Usage, used
from ..errors import BadInput, NotFound
from ..turn.kernel import Ask, Kernel
from ..turn.replies import as_text
from ..values.plain import JSONObject
from . import openai_wire as wire
from .http import Answer, Request, Route, json_text
from .openai_wire import MODEL, CompletionBody, Message
from .wire import MAX_MESSAGE, at_most

ROOT: Final = "/v1/openai/v1"
SESSION_HEADERS: Final = (
    "x-session-id",
    "x-conversation-id",
    "x-openwebui-chat-id",
    "x-librechat-conversation-id",
)
"""Headers in which front ends name a conversation, as they are or as an operator sets them up."""

_ID: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SENTENCE: Final = re.compile(r".+?(?:[.!?\u2026]+\s+|\n+|$)", re.S)
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
        answer=wire.CompletionAnswer,
        errors=shaped,
    )
    async def complete(self, request: Request) -> Answer:
        """One turn as a chat completion; with `stream` as Server-Sent Events. `webbee` carries what
        the protocol has no place for: calls, sources, a question that waits."""
        body = request.body(CompletionBody)
        if body.model != MODEL:
            raise _unknown(body.model)
        alone = all(m.role in ("user", "system", "developer") for m in body.messages)
        named = session(request, body)
        ask = Ask(request.caller, named, message(body), request.key(), alone=alone)
        bind(session=ask.session_id, turn=ask.request_id)
        with used() as usage:
            reply = (await self._kernel.turn(ask)).body
        made = {
            "id": f"chatcmpl-{ask.request_id}",
            "created": int(self._clock.now()),
            "model": MODEL,
        }
        if not body.stream:
            return Answer(_whole(made, reply, usage))
        told = bool(body.stream_options and body.stream_options.include_usage)
        return Answer(
            "".join(_events(_chunks(made, reply, usage if told else None))),
            content_type="text/event-stream",
        )

    @Route(f"GET {ROOT}/models", answer=wire.ModelsAnswer, errors=shaped)
    async def models(self, request: Request) -> Answer:
        """The models there are: the kernel is the one."""
        return Answer({"object": "list", "data": [_row()]})

    @Route(f"GET {ROOT}/models/{{model}}", answer=wire.ModelRow, errors=shaped)
    async def model(self, request: Request) -> Answer:
        """One of them."""
        if request.path["model"] != MODEL:
            raise _unknown(request.path["model"])
        return Answer(_row())


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


def _text(one: Message) -> str:
    if not isinstance(one.content, list):
        return one.content or ""
    if other := next((p.type for p in one.content if p.type != "text"), ""):
        raise BadInput(
            f"messages holds a part of type {other[:64]!r}: only text is read", field="messages"
        )
    return "\n".join(part.text for part in one.content)


def _unknown(model: str) -> NotFound:
    return NotFound(
        f"there is no model {model[:64]!r}: use {MODEL!r}; which models answer is the operator's"
        " to choose",
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


def _more(reply: JSONObject) -> JSONObject:
    return {name: value for name, value in reply.items() if name != "reply"}


def _whole(made: JSONObject, reply: JSONObject, usage: Usage) -> JSONObject:
    said = {"role": "assistant", "content": as_text(reply), "refusal": None}
    choice = {"index": 0, "message": said, "finish_reason": "stop", "logprobs": None}
    return {
        **made,
        "object": "chat.completion",
        "choices": [choice],
        "usage": _usage(usage),
        "webbee": _more(reply),
    }


def _chunks(made: JSONObject, reply: JSONObject, usage: Usage | None) -> Iterator[JSONObject]:
    """The reply sentence by sentence."""
    base = {**made, "object": "chat.completion.chunk"}

    def chunk(delta: JSONObject, end: str | None = None) -> JSONObject:
        choice = {"index": 0, "delta": delta, "finish_reason": end, "logprobs": None}
        return {**base, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for sentence in _SENTENCE.findall(as_text(reply)):
        yield chunk({"content": sentence})
    yield {**chunk({}, "stop"), "webbee": _more(reply)}
    if usage is not None:
        yield {**base, "choices": [], "usage": _usage(usage)}


def _events(chunks: Iterator[JSONObject]) -> Iterator[str]:
    for chunk in chunks:
        yield f"data: {json_text(chunk)}\n\n"
    yield "data: [DONE]\n\n"
