"""A request as the messages that both model services know: what the user said, what the model
answered, what its calls returned, and the reasoning it came with. Pure.

Servers of chat completions want reasoning back in three forms. OpenRouter's `reasoning_details` and
Gemini's `extra_content` with a `thought_signature` are signed or encrypted, and go back wherever
they came from. `reasoning_content` is clear text: DeepSeek and Kimi refuse a request without it,
most others one that has it, so it goes back to a server that has asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ..types import JSONObject
from .protocol import Exchange, ModelRequest, Reasoning
from .tools import clean

_NOT_IN_A_NAME: Final = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(frozen=True, slots=True)
class NativeCall:
    """A call as it is sent back to the service that asked for it, and what it returned.

    `call_id` is the kernel's own, nine letters and digits: services repeat theirs or leave them
    out, and the strictest takes no other form. `name` is one that services accept, whatever the
    model made up; arguments that were no JSON object are left out.
    """

    call_id: str
    name: str
    arguments: JSONObject
    result: str


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user, or an answer of the model with what its calls returned and the
    reasoning that it came with."""

    role: Literal["user", "assistant"]
    text: str = ""
    calls: tuple[NativeCall, ...] = ()
    reasoning: Reasoning | None = field(default=None, repr=False)


def conversation(request: ModelRequest) -> list[Message]:
    """The request's messages; the first is the user's, and no two of the user's follow each other
    but behind results. A later round's are the earlier one's with more behind them."""
    if not request.exchanges:
        return [Message("user", clean(request.prompt))]
    messages = [Message("user", clean(request.opening))]
    number = 0
    for exchange in request.exchanges:
        for message in _messages(exchange, number):
            last = messages[-1]
            if last.role == message.role == "user":
                messages[-1] = Message("user", f"{last.text}\n{message.text}")
            else:
                messages.append(message)
        number += len(exchange.calls)
    return messages


def _messages(exchange: Exchange, number: int) -> Iterator[Message]:
    text = clean(exchange.text).strip()
    if not exchange.calls:
        if text:
            yield Message("assistant", text, reasoning=exchange.reasoning)
        yield Message("user", clean(exchange.note))
        return
    results = list(exchange.results)
    if exchange.note:  # behind results some services take no message of the user's
        results[-1] += f"\n{exchange.note}"
    calls = tuple(
        NativeCall(
            f"call{n:05d}",
            _NOT_IN_A_NAME.sub("_", call.name)[:64] or "_",
            call.arguments if isinstance(call.arguments, dict) else {},
            clean(result),
        )
        for n, (call, result) in enumerate(zip(exchange.calls, results, strict=True), number)
    )
    yield Message("assistant", text, calls, exchange.reasoning)


EXTRA: Final = "extra_content"
DETAILS: Final = "reasoning_details"
PLAIN: Final = ("reasoning_content", "reasoning")
THOUGHTS: Final = (*PLAIN, DETAILS, "thinking", "thoughts")
"""Fields in which servers send a model's thoughts, which nobody is shown."""

_SEALED: Final = (DETAILS, EXTRA)
_GROWING: Final = ("text", "summary")


def reasoning_of(message: Mapping[str, Any], calls: int) -> Reasoning | None:
    """What of an answer goes back with it; None where nothing may. `calls` is how many of its calls
    were read: where these are others than it names, nothing can be told to its call."""
    sealed = {name: message[name] for name in _SEALED if message.get(name)}
    plain = {name: text for name in PLAIN if isinstance(text := message.get(name), str) and text}
    own = _extras(message.get("tool_calls") or (), calls)
    return Reasoning(sealed, own, plain) if sealed or own or plain else None


def _extras(asked: Sequence[Any], calls: int) -> tuple[JSONObject, ...]:
    """What belongs to each call; empty where nothing does."""
    named = [c for c in asked if isinstance(c, Mapping)]
    own = tuple({EXTRA: c[EXTRA]} if c.get(EXTRA) else {} for c in named)
    return own if any(own) and len(own) == calls else ()


def returned(
    reasoning: Reasoning | None, calls: int, without: frozenset[str]
) -> tuple[JSONObject, Sequence[JSONObject]]:
    """What goes back with a message and with each of its calls. `without` holds `reasoning` where
    the server refuses it, `no_reasoning` where it refuses to have clear thoughts left out."""
    nothing: Sequence[JSONObject] = [{}] * calls
    if reasoning is None:
        return {}, nothing
    plain = reasoning.plain if "no_reasoning" in without else {}
    if "reasoning" in without:
        return plain, nothing
    return {**plain, **reasoning.message}, reasoning.calls or nothing


def gather(made: JSONObject, delta: Mapping[str, Any]) -> None:
    """A streamed piece put to what there is of an answer's thoughts."""
    for name in THOUGHTS:
        piece = delta.get(name)
        if not piece:
            continue
        if isinstance(piece, str) and isinstance(made.get(name, ""), str):
            made[name] = made.get(name, "") + piece
        elif isinstance(piece, list) and isinstance(made.get(name, []), list):
            for detail in piece:
                _detail(made.setdefault(name, []), detail)
        else:
            made[name] = piece
    if extra := delta.get(EXTRA):
        made[EXTRA] = extra


def _detail(made: list[Any], piece: Any) -> None:
    """Details grow by text; another kind, place or id begins another one, and what is encrypted
    comes whole."""
    last: Any = made[-1] if made else None
    if not _is_same(last, piece):
        made.append(dict(piece) if isinstance(piece, dict) else piece)
        return
    for name, value in piece.items():
        if name in _GROWING and isinstance(value, str) and isinstance(last.get(name), str):
            last[name] += value
        elif value is not None:
            last[name] = value


def _is_same(last: Any, piece: Any) -> bool:
    if not (isinstance(piece, dict) and isinstance(last, dict)):
        return False
    if "data" in piece or last.get("type") != piece.get("type"):
        return False
    ids = {last.get("id"), piece.get("id")} - {None}
    return last.get("index") == piece.get("index") and len(ids) < 2
