"""What is the same for both model services. Pure.

A request as messages: what the user said, what the model answered, what its calls returned, and the
reasoning it came with. An answer as the kernel reads it: text and calls.

Servers of chat completions want reasoning back in three forms. OpenRouter's `reasoning_details` and
Gemini's `extra_content` with a `thought_signature` are signed or encrypted, and go back wherever
they came from. `reasoning_content` is clear text: DeepSeek and Kimi refuse a request without it,
most others one that has it, so it goes back to a server that has asked for it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from ..errors import ModelUnavailable
from ..types import JSONObject
from .failures import Passing
from .normaliser import Normalised, Normaliser
from .protocol import (
    CUT_OFF,
    OUTPUT_TOKENS,
    Exchange,
    ModelRequest,
    ModelResponse,
    Reasoning,
    ToolCall,
    Usage,
)
from .text_calls import Offered, calls_within
from .tools import clean, whole

UNREADABLE: Final = "unreadable_call"
"""The name under which a call of which nothing could be made is told back to the model."""

STOP_REASONS: Final = {
    "stop": "end_turn", "eos": "end_turn", "eos_token": "end_turn", "end_turn": "end_turn",
    "stop_sequence": "end_turn", "completed": "end_turn", "": "end_turn",
    "tool_calls": "tool_use", "function_call": "tool_use", "tool_use": "tool_use",
    "length": CUT_OFF, "max_tokens": CUT_OFF, "max_output_tokens": CUT_OFF, "model_length": CUT_OFF,
    "model_context_window_exceeded": CUT_OFF, "incomplete": CUT_OFF,
    "content_filter": "content_filtered", "content_filtered": "content_filtered",
    "safety": "content_filtered",
    "recitation": "content_filtered", "blocklist": "content_filtered",
    "prohibited_content": "content_filtered", "refusal": "refusal",
}  # fmt: skip
"""Finish reasons in the words of the protocol that the kernel speaks; others stay as they are."""

BROKEN: Final = "broken"
_BROKEN: Final = re.compile(
    r"\b(?:error|abort(?:ed)?|cancell?ed|insufficient\w*|timeout|interrupted|malformed\w*)\b", re.I
)
"""How servers say that an answer has no end."""

PERIOD: Final = 200
TIMES: Final = 12
LEAST: Final = 600
"""A tail of at least 600 characters that repeats one piece of up to 200 twelve times or more is no
answer any more."""

_BLOCKS: Final = re.compile(
    r"^(?:\[(?:SKELETON|HISTORY|APPS|RESULTS|PROBLEMS)\]\s*$|FACTS: app=)", re.M
)
LONG_LINE: Final = 60
RECITED: Final = 3


def completion(
    text: str,
    native: Sequence[tuple[object, object]],
    request: ModelRequest,
    usage: Usage,
    stop_reason: str,
    *,
    reasoned: bool = False,
) -> ModelResponse:
    """The answer. `native` are the calls as the service sent them, name and arguments; calls that
    were written as text count where there are none. `reasoned`: thoughts came in a field of their
    own."""
    reader = Normaliser(request.tools)
    reader.feed(text)
    reader.close()
    said = reader.result
    calls = native_calls(native, reader.offered)
    if not calls and said.calls and stop_reason != CUT_OFF:
        stop_reason = "tool_use"
    calls = calls or _written(said, request)
    text, stop_reason = said.text, _stop_reason(stop_reason)
    if _is_unusable(text, request):
        text, stop_reason = "", "unusable"
    if stop_reason == "end_turn" and not text and not calls:
        stop_reason = _silent(thought=bool(said.thought) or reasoned)
    return ModelResponse(text, whole(calls, stop_reason), usage, stop_reason, said.orphan)


def _is_unusable(text: str, request: ModelRequest) -> bool:
    """Whether a text is the prompt said again, or one piece over and over."""
    return bool(text) and (recites(text, request) or repeats(text))


def _stop_reason(finish: str) -> str:
    found = STOP_REASONS.get(finish.lower(), finish)
    return BROKEN if _BROKEN.search(found) else found


def _silent(*, thought: bool) -> str:
    """Why an answer that ended by itself says and calls nothing."""
    return "only_thoughts" if thought else "end_turn"


def _written(said: Normalised, request: ModelRequest) -> tuple[ToolCall, ...]:
    """The calls that were written as text; markup that none can be made of is told back as one."""
    unreadable = said.unreadable and request.tools and not said.text
    return said.calls or ((ToolCall(UNREADABLE, {}),) if unreadable else ())


_NOTHING: Final = {
    "only_thoughts": (
        "empty",
        "thought and gave no answer: raise its output tokens",
    ),
    "content_filtered": ("refused", "was stopped by its service's safety filter"),
    "guardrail_intervened": ("refused", "was stopped by its service's guardrail"),
    BROKEN: ("server_error", "broke off its answer"),
    "refusal": ("refused", "refused to answer"),
    "unusable": ("unusable", "recited the prompt or repeated itself: choose another model"),
    CUT_OFF: ("cut_off", "was cut off before it said anything: raise its output tokens"),
}


def usable(answer: ModelResponse, request: ModelRequest, model: str) -> ModelResponse:
    """The answer where there is anything in it, or where nothing may be the answer: a classifier
    that has nothing more to call. Raises ModelUnavailable, or Passing where another try may
    help."""
    is_whole = answer.stop_reason not in (BROKEN, "content_filtered")
    if is_whole and (answer.text or answer.tool_calls):
        return answer
    if request.exchanges and answer.stop_reason == "end_turn":
        return answer
    cause, why = _NOTHING.get(answer.stop_reason, ("empty", "gave an empty answer: try again"))
    error = ModelUnavailable(f"The model {model} {why}.", cause=cause)
    raise Passing(error) if cause in ("empty", "unusable", "server_error") else error


def native_calls(native: Sequence[tuple[object, object]], offered: Offered) -> tuple[ToolCall, ...]:
    """Calls as the service sent them, by the names that were offered where theirs are nearly so."""
    made: list[ToolCall] = []
    for name, arguments in native:
        inner = [] if offered.find(name) else calls_within(arguments, offered)
        made += inner or ([offered.call(name, arguments)] if name else [])
    return tuple(made)


def repeats(text: str) -> bool:
    """Whether it ends in one piece over and over."""
    tail = text[-max(LEAST, PERIOD * TIMES) :]
    if len(tail) < LEAST:
        return False
    for period in range(1, PERIOD + 1):
        if period * TIMES > len(tail):
            return False
        size = max(period * TIMES, LEAST)
        if size <= len(tail) and tail[-size + period :] == tail[-size:-period]:
            return bool(tail[-period:].strip("-=_* |\n."))  # a ruled line is none
    return False


def recites(text: str, request: ModelRequest) -> bool:
    """Whether it tells the prompt instead of an answer: its blocks, or several of its lines."""
    if _BLOCKS.search(text):
        return True
    lines = {line.strip() for line in request.system.splitlines() if len(line.strip()) >= LONG_LINE}
    return sum(line in text for line in lines) >= RECITED if lines else False


TOO_LONG_AN_ANSWER: Final = re.compile(
    r"max\w*[ _.-]tokens\b.{0,80}(too (large|big|high)|exceed|at most|less than|lower than|> ?\d)"
    r"|in the completion|\bcompletion tokens|input length and .{0,3}max_tokens",
    re.I | re.S,
)
"""How services say that a model cannot write so much, or not behind so long a prompt. Models and
windows differ, and the refusal is often the only place that tells."""


NO_SYSTEM: Final = re.compile(
    r"(system|developer).{0,30}(role|message|prompt|instruction).{0,80}(not|n't|un)"
    r"|(not|n't|un).{0,4}support\w*.{0,20}\bsystem\b"
    r"|only (user|\W?user\W?).{0,30}assistant|role.{0,40}system",
    re.I | re.S,
)
FEWER_KEYWORDS: Final = re.compile(
    r"function_declarations|(input|json).?schema|schema.{0,60}(invalid|unknown|not|unsupported)"
    r"|(invalid|unknown|unsupported).{0,40}(schema|keyword)",
    re.I | re.S,
)
"""How services say that they take no system part, or fewer keywords of a schema."""


def output_tokens(request: ModelRequest, without: Collection[str]) -> int:
    """Tokens that the answer may have: those of the setting, or, of a model that has refused so
    many, those that every one takes."""
    short = "output_tokens" in without
    return min(request.max_tokens, OUTPUT_TOKENS) if short else request.max_tokens


def unanswerable(request: ModelRequest, refused: frozenset[str]) -> frozenset[str]:
    """The parts that asking again without would change nothing."""
    return refused if request.max_tokens > OUTPUT_TOKENS else refused | {"output_tokens"}


def number(value: Any) -> int:
    """A count of tokens, also where a service sends it as text or leaves it out."""
    try:
        return max(0, int(float(value or 0)))
    except (TypeError, ValueError, OverflowError):
        return 0


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
