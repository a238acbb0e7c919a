"""Answers in pieces, put together again: what streams of both services make of one answer. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final

from ..errors import ModelUnavailable
from ..types import JSONObject
from .completions import EXTRA, PERIOD, TIMES, gather, repeats
from .failures import Passing
from .normaliser import Normaliser
from .openai_chat import (
    asked_of,
    choice_of,
    content_of,
    error_in,
    finish_of,
    inner_of,
    no_completion,
)
from .protocol import Hear, ToolSpec

CHECKED_EVERY: Final = 1_000
"""Characters after which a stream is looked at for one piece over and over."""


class Aloud:
    """Hands on what a model says as people should read it, until it is closed. `anything` says
    whether anything was heard, `endless` that the model repeats itself and need not be read on.

    `held`: nothing is handed on before the end, for a model that may think aloud and say only at
    the end of it that it did."""

    def __init__(self, hear: Hear, tools: Sequence[ToolSpec] = (), *, held: bool = False) -> None:
        self._hear = hear
        self._reader = Normaliser(tools)
        self._heard = 0
        self._tail = ""
        self._unchecked = 0
        self.held = held
        self.closed = False
        self.endless = False

    @property
    def anything(self) -> bool:
        """Whether anything was heard."""
        return self._heard > 0

    def __call__(self, piece: str) -> None:
        """The next piece of the text as the service sends it."""
        if self.closed:
            return
        self._look(piece)
        shown = self._reader.feed(piece)
        if shown and not self.held:
            self._say(shown)

    def finish(self, text: str) -> None:
        """The answer is there, and this is its text: say what of it was not heard yet."""
        if not self.closed and len(text) > self._heard:
            self._say(text[self._heard :])

    def _say(self, text: str) -> None:
        self._heard += len(text)
        self._hear(text)

    def _look(self, piece: str) -> None:
        self._tail = (self._tail + piece)[-2 * PERIOD * TIMES :]
        self._unchecked += len(piece)
        if self._unchecked >= CHECKED_EVERY:
            self._unchecked = 0
            self.endless = repeats(self._tail)


@dataclass(slots=True)
class GrowingText:
    """A text that comes in pieces: what is new of it, or, of some servers, all of it so far.

    That is so where each of at least three pieces begins with the one before it, and for nothing
    else; while it may be so nothing is handed on, which an ordinary stream ends with its second
    piece.
    """

    hear: Hear
    pieces: list[str] = field(default_factory=list)
    _told: int = 0
    _grows: bool = True

    def add(self, piece: str) -> None:
        if not piece:
            return
        last = self.pieces[-1] if self.pieces else ""
        self._grows = self._grows and piece.startswith(last) and len(piece) > len(last)
        self.pieces.append(piece)
        if not self._grows or len(self.pieces) >= _GROWS:
            self._tell()

    def add_rest(self, text: str) -> None:
        """A message that may say again what came before it."""
        self.finish()
        known, whole = self.text.strip(), text.strip()
        self.add(whole[len(known) :] if known and whole.startswith(known) else text)

    def finish(self) -> None:
        """Nothing more comes."""
        self._tell()
        self.pieces, self._grows = [self.text], False

    @property
    def text(self) -> str:
        """All of it."""
        is_whole = self._grows and len(self.pieces) >= _GROWS
        return self.pieces[-1] if is_whole else "".join(self.pieces)

    def _tell(self) -> None:
        text = self.text
        if len(text) > self._told:
            self.hear(text[self._told :])
            self._told = len(text)


_GROWS: Final = 3


@dataclass(slots=True)
class ChatPieces:
    """The chunks of a streamed chat completion."""

    hear: Hear
    calls: list[dict[str, Any]] = field(default_factory=list)
    finish: str = ""
    usage: Any = None
    thoughts: JSONObject = field(default_factory=dict)
    done: bool = False
    text: GrowingText = field(init=False)
    refusal: GrowingText = field(init=False)
    is_foreign: bool = False
    """Whether what came is something else than a completion."""
    _places: dict[object, dict[str, Any]] = field(default_factory=dict)
    _is_error: bool = False
    """Whether the event that comes was named as an error."""
    _data: str = ""
    """Of an event that stands on several lines, those that came."""

    def __post_init__(self) -> None:
        self.text, self.refusal = GrowingText(self.hear), GrowingText(self.hear)

    def take(self, line: str) -> JSONObject | None:
        """One line of Server-Sent Events, or of JSON alone; the error in it, where it tells one."""
        line = line.strip("\ufeff\r\n")
        name, colon, value = line.partition(":")
        if not line.strip():
            self._broken_off()
        if name == "event":
            self._is_error = "error" in value
        if name == "error" and colon:
            self._is_error, name = True, "data"
        return self._event(value.strip() if name == "data" else line.strip())

    def _event(self, data: str) -> JSONObject | None:
        if data.upper() == "[DONE]":
            self.done = True
        if self._is_error and data and not data.startswith(("{", "[", "event:")):
            return {"error": {"message": data}}
        if not self._data and not data.startswith("{"):
            return None
        try:
            chunk = json.loads(self._data + data)
        except (ValueError, RecursionError):
            self._data = f"{self._data}{data}\n"
            return None
        self._data = ""
        return self._chunk(chunk)

    def _broken_off(self) -> None:
        if self._data:
            why = "The model server sent an event that is no JSON: try again."
            raise Passing(ModelUnavailable(why, cause="server_error"))

    def _chunk(self, chunk: JSONObject) -> JSONObject | None:
        if error := error_in(chunk):
            return error
        if self._is_error:
            return {"error": chunk}
        self.usage = chunk.get("usage") or self.usage
        try:
            choice = choice_of(chunk)
            self.is_foreign = bool(chunk) and not choice and "choices" not in chunk
            if choice:
                self._take(choice)
        except (ValueError, AttributeError, TypeError, KeyError):
            raise no_completion() from None
        return None

    def _take(self, choice: JSONObject) -> None:
        delta = choice.get("delta") or {}
        if not delta and isinstance(message := choice.get("message"), dict):
            self._message(message)
        self.finish = finish_of(choice) or self.finish
        gather(self.thoughts, delta)
        self._say(delta.get("content", choice.get("text")), self.text.add)
        self._say(delta.get("refusal"), self.refusal.add)
        self._calls(delta)

    def _message(self, message: JSONObject) -> None:
        """A message instead of a piece: some say all of the answer again at the end."""
        gather(self.thoughts, message)
        self._say(message.get("content"), self.text.add_rest)
        if not self.calls:
            self._calls(message)

    def _calls(self, delta: JSONObject) -> None:
        older = delta.get("function_call")
        for call in [*asked_of(delta), *([{"function": older}] if older else [])]:
            self._call(call)

    def _say(self, content: Any, add: Hear) -> None:
        """Hand on and keep what a piece says, with the calls that stand among its parts."""
        piece, calls = content_of(content)
        self.calls += [{"name": n, "arguments": a} for n, a in calls]
        add(piece)

    def _call(self, call: JSONObject) -> None:
        """A piece of a call. Servers leave the index out, or give all calls the same: an id that is
        new at its place begins another call."""
        place = call.get("index") or 0
        made = self._places.get(place)
        if made is None or _is_other(made, call):
            made = self._places[place] = {"id": "", "name": "", "arguments": []}
            self.calls.append(made)
        if extra := call.get(EXTRA):
            made[EXTRA] = extra
        made["id"] = call.get("id") or made["id"]
        inner = inner_of(call)
        name = inner.get("name") or ""
        if name != made["name"]:  # some say the whole name with each piece
            made["name"] += name
        if inner.get("arguments") not in (None, ""):
            made["arguments"].append(inner["arguments"])

    @property
    def ended(self) -> bool:
        """Whether the answer is whole."""
        said = self.text.text or self.calls or self.refusal.text
        return bool(self.finish) or (self.done and bool(said))

    def body(self) -> JSONObject:
        """The same as a service sends it in one piece."""
        self.text.finish()
        message = {
            "content": self.text.text,
            "refusal": self.refusal.text,
            "tool_calls": [{**c, "arguments": _arguments(c["arguments"])} for c in self.calls],
            **self.thoughts,
        }
        choice = {"message": message, "finish_reason": self.finish}
        return {"choices": [choice], "usage": self.usage}


def _arguments(pieces: Any) -> Any:
    """Arguments of their pieces: an object is all of them, and so is the last of texts each of
    which begins with the one before it."""
    if not isinstance(pieces, list) or not pieces:
        return pieces or ""
    if not all(isinstance(p, str) for p in pieces):
        return pieces[-1]
    grows = all(b.startswith(a) for a, b in pairwise(pieces))
    return pieces[-1] if grows and not _is_object("".join(pieces)) else "".join(pieces)


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _is_other(made: JSONObject, call: JSONObject) -> bool:
    """Whether a piece begins another call at a place: it is named, and has another id, another
    name, or none where the one before has all its arguments."""
    inner = inner_of(call)
    if not inner.get("name"):
        return False
    if call.get("id") and made["id"]:
        return bool(call["id"] != made["id"])
    before = made["arguments"]
    is_whole = bool(before) and (isinstance(before[-1], dict) or _is_object(_arguments(before)))
    return bool(before) and (is_whole or inner["name"] != made["name"])


def _think(made: JSONObject, piece: Mapping[str, Any]) -> None:
    """A piece of a thought that Converse streams, put to what there is of it."""
    if sealed := piece.get("redactedContent"):
        made["redactedContent"] = made.get("redactedContent", b"") + sealed
        return
    told = made.setdefault("reasoningText", {"text": ""})
    told["text"] += piece.get("text") or ""
    if signed := piece.get("signature"):
        told["signature"] = told.get("signature", "") + signed


@dataclass(slots=True)
class ConversePieces:
    """The events of ConverseStream."""

    hear: Hear
    blocks: list[JSONObject] = field(default_factory=list)
    _places: dict[int, JSONObject] = field(default_factory=dict)
    stop: str = ""
    usage: JSONObject = field(default_factory=dict)

    def take(self, event: Mapping[str, Any]) -> None:
        if start := event.get("contentBlockStart"):
            tool = (start.get("start") or {}).get("toolUse")
            if tool:
                made: JSONObject = {"toolUse": {"name": tool.get("name"), "input": []}}
                self._begin(start["contentBlockIndex"], made)
        elif said := event.get("contentBlockDelta"):
            self._take(said["contentBlockIndex"], said.get("delta") or {})
        elif ended := event.get("messageStop"):
            self.stop = ended.get("stopReason") or ""
        elif told := event.get("metadata"):
            self.usage = told.get("usage") or {}

    def _take(self, index: int, delta: JSONObject) -> None:
        if piece := delta.get("text"):
            block = self._places.get(index) or self._begin(index, {"text": ""})
            block["text"] = block.get("text", "") + piece
            self.hear(piece)
        if thought := delta.get("reasoningContent"):
            block = self._places.get(index) or self._begin(index, {"reasoningContent": {}})
            _think(block["reasoningContent"], thought)
        if tool := delta.get("toolUse"):
            made: JSONObject = {"toolUse": {"name": "", "input": []}}
            block = self._places.get(index) or self._begin(index, made)
            block["toolUse"]["input"].append(tool.get("input") or "")

    def _begin(self, index: int, block: JSONObject) -> JSONObject:
        """A new block, also where one had its place."""
        self._places[index] = block
        self.blocks.append(block)
        return block

    def answer(self) -> JSONObject:
        for block in self.blocks:
            if tool := block.get("toolUse"):
                tool["input"] = _arguments(tool["input"])
        return {
            "output": {"message": {"content": self.blocks}},
            "stopReason": self.stop,
            "usage": self.usage,
        }
