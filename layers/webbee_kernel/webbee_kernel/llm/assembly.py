"""Assembles one answer from what a service sends, streamed or whole: readable text, calls and stop
reason. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import ModelUnavailable
from ..types import JSONObject
from .failures import Retryable
from .normaliser import Normaliser
from .protocol import CUT_OFF, ModelRequest, ModelResponse, Reasoning, ToolCall, Usage

UNREADABLE_CALL: Final = "unreadable_call"
"""The name under which an unparsable call is reported back to the model."""

BROKEN: Final = "broken"
_STOP_REASONS: Final = {
    "end_turn": "stop eos eos_token stop_sequence completed",
    "tool_use": "tool_calls function_call",
    CUT_OFF: "length max_output_tokens model_length model_context_window_exceeded incomplete",
    "content_filtered": "content_filter safety recitation blocklist prohibited_content",
}
"""The protocol's stop reasons → the services' words; other words are kept."""
_BY_WORD: Final = {word: ours for ours, said in _STOP_REASONS.items() for word in said.split()}
_BROKEN_WORDS: Final = re.compile(
    r"\b(?:error|abort(?:ed)?|cancell?ed|insufficient\w*|timeout|interrupted|malformed\w*)\b", re.I
)
"""Stop reasons of an interrupted answer."""

_PROMPT_BLOCKS: Final = re.compile(
    r"^(?:\[(?:SKELETON|HISTORY|APPS|RESULTS|PROBLEMS)\]\s*$|FACTS: app=)", re.M
)
"""Headers that occur only in a prompt."""


@dataclass(slots=True)
class NativeCall:
    """A native call under construction. `extra` is sent back with it."""

    call_id: str = ""
    name: str = ""
    pieces: list[Any] = field(default_factory=list)
    extra: Any = None

    @property
    def arguments(self) -> Any:
        """The joined text pieces, or the last piece if a service sends objects."""
        is_text = all(isinstance(piece, str) for piece in self.pieces)
        return "".join(self.pieces) if is_text else self.pieces[-1]

    def is_new_call(self, call_id: str, name: str) -> bool:
        """Whether a piece at this call's index begins another call: it has a name, and another id,
        another name, or this call's arguments are complete."""
        if not name:
            return False
        if call_id and self.call_id:  # the surest sign, where a server sends ids
            return call_id != self.call_id
        return bool(self.pieces) and (name != self.name or _is_object(self.arguments))


def _is_object(arguments: Any) -> bool:
    try:
        return isinstance(arguments, dict) or isinstance(json.loads(arguments), dict)
    except (TypeError, ValueError, RecursionError):
        return False


class Assembly:
    """An answer under construction. Adapters call `add_text` and `add_call` in order and set `stop`
    (the service's word), `usage` and `has_thoughts` (separate reasoning); `response` is the answer.

    `hear` gets readable text as early as possible.
    """

    def __init__(self, request: ModelRequest, hear: Callable[[str], object] | None = None) -> None:
        self.stop = ""
        self.usage = Usage()
        self.has_thoughts = False
        self.calls: list[NativeCall] = []
        self.has_text = False
        self._request = request
        self.hear = hear
        self._reader = Normaliser(request.tools)
        self._open_calls: dict[object, NativeCall] = {}

    @property
    def is_empty(self) -> bool:
        """Whether neither text nor calls have come."""
        return not (self.has_text or self.calls)

    def add_text(self, piece: str) -> None:
        """The next piece of the text as the service sends it."""
        self.has_text |= bool(piece)
        visible = self._reader.feed(piece)
        if visible and self.hear:
            self.hear(visible)

    def add_call(
        self, index: object, call_id: str, name: str, arguments: object, extra: Any = None
    ) -> None:
        """A call, or a piece of the one at `index`; servers omit the index or repeat it for all
        calls, so `is_new_call` decides."""
        call = self._open_calls.get(index)
        if call is None or call.is_new_call(call_id, name):
            call = self._open_calls[index] = NativeCall()
            self.calls.append(call)
        call.call_id = call_id or call.call_id
        call.extra = extra or call.extra
        if name != call.name:  # some say the whole name with each piece
            call.name += name
        if arguments not in (None, ""):
            call.pieces.append(arguments)

    def response(self, message: JSONObject, plain: JSONObject) -> ModelResponse:
        """The answer, with the reasoning to send back. Calls written as text are used if there are
        no native ones."""
        reader = self._reader
        text, stop = reader.close(), _stop_reason(self.stop)
        calls = self._all_calls(text)
        if _PROMPT_BLOCKS.search(text):
            text, stop = "", "unusable"
        if stop == "end_turn" and reader.calls:
            stop = "tool_use"
        is_silent = stop == "end_turn" and not (text or calls)
        if is_silent and (reader.has_thoughts or self.has_thoughts):
            stop = "only_thoughts"
        reasoning = self._reasoning(message, plain, len(calls))
        calls = _complete(calls, stop)
        return ModelResponse(text, calls, self.usage, stop, reader.is_orphan, reasoning=reasoning)

    def _all_calls(self, text: str) -> tuple[ToolCall, ...]:
        """The native calls, else those written as text; unparsable markup becomes
        UNREADABLE_CALL."""
        reader = self._reader
        native = [reader.tool_index.call(c.name, c.arguments) for c in self.calls if c.name]
        found = tuple(native or reader.calls)
        is_lost = reader.has_unreadable_call and self._request.tools and not (found or text)
        return (ToolCall(UNREADABLE_CALL, {}),) if is_lost else found

    def _reasoning(self, message: JSONObject, plain: JSONObject, read: int) -> Reasoning | None:
        """Per-call extras only if all native calls are among the `read` ones of the answer."""
        extras = tuple(call.extra or {} for call in self.calls)
        extra = extras if any(extras) and len(extras) == read else ()
        return Reasoning(message, extra, plain) if message or extra or plain else None


def _stop_reason(reason: str) -> str:
    """The stop reason in the protocol's words, where it has one."""
    known = _BY_WORD.get(reason.lower(), reason.lower() or "end_turn")
    return BROKEN if _BROKEN_WORDS.search(known) else known


def _complete(calls: tuple[ToolCall, ...], stop: str) -> tuple[ToolCall, ...]:
    """The calls; if the answer was cut off, the last one's arguments become text, so that it never
    runs and the model is asked again."""
    if stop != CUT_OFF or not calls or isinstance(calls[-1].arguments, str):
        return calls
    last = calls[-1]
    return (*calls[:-1], ToolCall(last.name, json.dumps(last.arguments, ensure_ascii=False)))


_EMPTY_CAUSES: Final = {
    "only_thoughts": ("empty", "thought and gave no answer: raise its output tokens"),
    "content_filtered": ("refused", "was stopped by its service's safety filter"),
    "guardrail_intervened": ("refused", "was stopped by its service's guardrail"),
    BROKEN: ("server_error", "broke off its answer"),
    "refusal": ("refused", "refused to answer"),
    "unusable": ("unusable", "recited its prompt: choose another model"),
    CUT_OFF: ("cut_off", "was cut off before it said anything: raise its output tokens"),
}


def require_content(answer: ModelResponse, request: ModelRequest, model: str) -> ModelResponse:
    """The answer if it has content, or if empty is valid (a classifier with nothing more to call).
    Raises ModelUnavailable, or Retryable where a retry may help."""
    is_whole = answer.stop_reason not in (BROKEN, "content_filtered")
    if is_whole and (answer.text or answer.tool_calls):
        return answer
    if request.exchanges and answer.stop_reason == "end_turn":
        return answer
    cause, why = _EMPTY_CAUSES.get(answer.stop_reason, ("empty", "gave an empty answer: try again"))
    error = ModelUnavailable(f"The model {model} {why}.", cause=cause)
    raise Retryable(error) if cause in ("empty", "unusable", "server_error") else error


def count(value: Any) -> int:
    """A token count as int, also from text or a missing value."""
    try:
        return max(0, int(float(value or 0)))
    except (TypeError, ValueError, OverflowError):
        return 0
