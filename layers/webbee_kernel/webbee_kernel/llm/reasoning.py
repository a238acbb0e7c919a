"""Reasoning that servers of chat completions want back with the answer it came with. Pure.

Three forms are known. OpenRouter's `reasoning_details` and Gemini's `extra_content` with a
`thought_signature` are signed or encrypted, and go back wherever they came from.
`reasoning_content` is clear text: DeepSeek and Kimi refuse a request without it, most others one
that has it, so it goes back to a server that has asked for it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..types import JSONObject
from .protocol import Reasoning

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
    last = made[-1] if made else None
    if not (isinstance(piece, dict) and isinstance(last, dict) and _is_same(last, piece)):
        made.append(dict(piece) if isinstance(piece, dict) else piece)
        return
    for name, value in piece.items():
        if name in _GROWING and isinstance(value, str) and isinstance(last.get(name), str):
            last[name] += value
        elif value is not None:
            last[name] = value


def _is_same(last: JSONObject, piece: JSONObject) -> bool:
    if "data" in piece or last.get("type") != piece.get("type"):
        return False
    ids = {last.get("id"), piece.get("id")} - {None}
    return last.get("index") == piece.get("index") and len(ids) < 2
