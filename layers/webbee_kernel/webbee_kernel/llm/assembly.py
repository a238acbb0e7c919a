"""One answer put together from what a service sends of it, in pieces or whole, of both services:
text as people should read it, calls, and why it ended. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import ModelUnavailable
from ..types import JSONObject
from .failures import Passing
from .normaliser import Normalised, Normaliser
from .protocol import CUT_OFF, ModelRequest, ModelResponse, Reasoning, ToolCall, Usage
from .text_calls import Offered

UNREADABLE: Final = "unreadable_call"
"""The name under which a call of which nothing could be made is told back to the model."""

BROKEN: Final = "broken"
_STOP_REASONS: Final = {
    "end_turn": "stop eos eos_token stop_sequence completed",
    "tool_use": "tool_calls function_call",
    CUT_OFF: "length max_output_tokens model_length model_context_window_exceeded incomplete",
    "content_filtered": "content_filter safety recitation blocklist prohibited_content",
}
"""Reasons in the words of the kernel's protocol, with those of services; others stay as they
are."""
_BY_WORD: Final = {word: ours for ours, said in _STOP_REASONS.items() for word in said.split()}
_BREAKS: Final = re.compile(
    r"\b(?:error|abort(?:ed)?|cancell?ed|insufficient\w*|timeout|interrupted|malformed\w*)\b", re.I
)
"""How servers say that an answer has no end."""

PERIOD: Final = 200
TIMES: Final = 12
LEAST: Final = 600
"""A tail of at least 600 characters that repeats one piece of up to 200 twelve times or more is no
answer any more."""
CHECKED_EVERY: Final = 1_000
"""Characters after which a stream is looked at for that."""

_BLOCKS: Final = re.compile(
    r"^(?:\[(?:SKELETON|HISTORY|APPS|RESULTS|PROBLEMS)\]\s*$|FACTS: app=)", re.M
)
"""What only a prompt holds."""


@dataclass(slots=True)
class NativeCall:
    """A call as far as its service has sent it. `extra` is what goes back with it."""

    call_id: str = ""
    name: str = ""
    pieces: list[Any] = field(default_factory=list)
    extra: Any = None

    @property
    def arguments(self) -> Any:
        """Arguments of their pieces; an object at once is all of them."""
        is_text = all(isinstance(piece, str) for piece in self.pieces)
        return "".join(self.pieces) if is_text else self.pieces[-1]

    def is_another(self, call_id: str, name: str) -> bool:
        """Whether a piece begins another call at this one's place: it is named, and has another
        id, another name, or none where this one has all its arguments."""
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
    """An answer as far as it came. Adapters tell it text (`say`) and calls (`call`) in the order in
    which they come, and set `stop`, the service's own word, `usage`, and `thought` where thoughts
    came apart from the text; `response` is then the answer.

    `hear` gets what people may read of the text as soon as that can be told. `endless` says that
    the model repeats itself and need not be read on.
    """

    def __init__(self, request: ModelRequest, hear: Callable[[str], None] | None = None) -> None:
        self.stop = ""
        self.usage = Usage()
        self.thought = False
        self.endless = False
        self.calls: list[NativeCall] = []
        self.has_text = False
        self._request = request
        self.hear = hear
        self._reader = Normaliser(request.tools)
        self._places: dict[object, NativeCall] = {}
        self._tail = ""
        self._unchecked = 0

    @property
    def is_empty(self) -> bool:
        """Whether neither text nor calls have come."""
        return not (self.has_text or self.calls)

    def say(self, piece: str) -> None:
        """The next piece of the text as the service sends it."""
        self.has_text |= bool(piece)
        self._look(piece)
        shown = self._reader.feed(piece)
        if shown and self.hear:
            self.hear(shown)

    def _look(self, piece: str) -> None:
        # as much as a repetition needs to be seen
        self._tail = (self._tail + piece)[-2 * PERIOD * TIMES :]
        self._unchecked += len(piece)
        if self._unchecked >= CHECKED_EVERY:
            self._unchecked = 0
            self.endless = repeats(self._tail)

    def call(
        self, place: object, call_id: str, name: str, arguments: object, extra: Any = None
    ) -> None:
        """A piece of the call at a place, or all of it. Servers leave the place out, or give all
        calls the same: what says that it is another call begins one."""
        made = self._places.get(place)
        if made is None or made.is_another(call_id, name):
            made = self._places[place] = NativeCall()
            self.calls.append(made)
        made.call_id = call_id or made.call_id
        made.extra = extra or made.extra
        if name != made.name:  # some say the whole name with each piece
            made.name += name
        if arguments not in (None, ""):
            made.pieces.append(arguments)

    def response(self) -> ModelResponse:
        """The answer. Calls that were written as text count where there are no others."""
        self._reader.close()
        said = self._reader.result
        calls = _native(self.calls, self._reader.offered) or self._written(said)
        text, stop = said.text, _stop_reason(self.stop)
        if _BLOCKS.search(text) or repeats(text):  # the prompt said again, or one piece
            text, stop = "", "unusable"
        if stop == "end_turn" and said.calls:
            stop = "tool_use"
        is_silent = stop == "end_turn" and not (text or calls)
        if is_silent and (said.thought or self.thought):
            stop = "only_thoughts"
        return ModelResponse(text, _complete(calls, stop), self.usage, stop, said.orphan)

    def _written(self, said: Normalised) -> tuple[ToolCall, ...]:
        """The calls that were written as text; markup that none can be made of is told back as
        one."""
        is_lost = said.unreadable and self._request.tools and not said.text
        return said.calls or ((ToolCall(UNREADABLE, {}),) if is_lost else ())

    def reasoning(self, message: JSONObject, plain: JSONObject, read: int) -> Reasoning | None:
        """What goes back with the answer, and with each of its calls: where `read`, the calls of
        the answer, are others than came, nothing can be told to its call."""
        extras = tuple(call.extra or {} for call in self.calls)
        own = extras if any(extras) and len(extras) == read else ()
        return Reasoning(message, own, plain) if message or own or plain else None


def _stop_reason(said: str) -> str:
    """Why it ended, in the words of the kernel's protocol where it has one."""
    found = _BY_WORD.get(said.lower(), said.lower() or "end_turn")
    return BROKEN if _BREAKS.search(found) else found


def _native(calls: list[NativeCall], offered: Offered) -> tuple[ToolCall, ...]:
    """Calls as the service sent them, by the names that were offered where theirs are nearly so."""
    return tuple(offered.call(call.name, call.arguments) for call in calls if call.name)


def _complete(calls: tuple[ToolCall, ...], stop: str) -> tuple[ToolCall, ...]:
    """The calls, the last one as text where the answer was cut off: what may lack its end never
    runs, the model is asked again."""
    if stop != CUT_OFF or not calls or isinstance(calls[-1].arguments, str):
        return calls
    last = calls[-1]
    return (*calls[:-1], ToolCall(last.name, json.dumps(last.arguments, ensure_ascii=False)))


_NOTHING: Final = {
    "only_thoughts": ("empty", "thought and gave no answer: raise its output tokens"),
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


def count(value: Any) -> int:
    """A count of tokens, also where a service sends it as text or leaves it out."""
    try:
        return max(0, int(float(value or 0)))
    except (TypeError, ValueError, OverflowError):
        return 0
