"""Answers in pieces, put together again: what streams of both services make of one answer. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
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
        # as much as a repetition needs to be seen
        self._tail = (self._tail + piece)[-2 * PERIOD * TIMES :]
        self._unchecked += len(piece)
        if self._unchecked >= CHECKED_EVERY:
            self._unchecked = 0
            self.endless = repeats(self._tail)


@dataclass(slots=True)
class ChatPieces:
    """The chunks of a streamed chat completion."""

    hear: Hear
    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: list[dict[str, Any]] = field(default_factory=list)
    finish: str = ""
    usage: Any = None
    thoughts: JSONObject = field(default_factory=dict)
    done: bool = False
    is_foreign: bool = False
    """Whether what came is something else than a completion."""
    _places: dict[object, dict[str, Any]] = field(default_factory=dict)
    _is_error: bool = False
    """Whether the event that comes was named as an error."""

    def take(self, line: str) -> JSONObject | None:
        """One line of Server-Sent Events, or of JSON alone; the error in it, where it tells one."""
        line = line.strip("\ufeff\r\n")
        name, colon, value = line.partition(":")
        if name == "event":
            self._is_error = "error" in value
        # llama.cpp's server sends `error:` lines
        if name == "error" and colon:
            self._is_error, name = True, "data"
        data = value.strip() if name == "data" else line.strip()
        if data.upper() == "[DONE]":
            self.done = True
        if data.startswith("{"):
            return self._chunk(data)
        # words instead of JSON behind an error's name
        is_told = self._is_error and data and not data.startswith(("[", "event:"))
        return {"error": {"message": data}} if is_told else None

    def _chunk(self, data: str) -> JSONObject | None:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            why = "The model server sent an event that is no JSON: try again."
            raise Passing(ModelUnavailable(why, cause="server_error")) from None
        if error := error_in(chunk):
            return error
        if self._is_error:
            return {"error": chunk}
        # most send it with the last chunk only
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
        if not delta and not self._said:  # some send a whole message as the one piece
            delta = choice.get("message") or {}
        self.finish = finish_of(choice) or self.finish
        gather(self.thoughts, delta)
        piece = self._say(delta.get("content", choice.get("text")), self.text)
        if piece:
            self.hear(piece)
        self._say(delta.get("refusal"), self.refusal)
        self._calls(delta)

    def _calls(self, delta: JSONObject) -> None:
        older = delta.get("function_call")
        for call in [*asked_of(delta), *([{"function": older}] if older else [])]:
            self._call(call)

    def _say(self, content: Any, said: list[str]) -> str:
        """Keep what a piece says, with the calls that stand among its parts."""
        piece, calls = content_of(content)
        self.calls += [{"name": n, "arguments": a} for n, a in calls]
        said += [piece] if piece else []
        return piece

    def _call(self, call: JSONObject) -> None:
        """A piece of a call. Servers leave the index out, or give all calls the same: an id that is
        new at its place begins another call."""
        place = call.get("index") or 0
        made = self._places.get(place)
        # an index alone does not tell two calls apart
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
    def _said(self) -> bool:
        return bool(self.text or self.calls or self.refusal)

    @property
    def ended(self) -> bool:
        """Whether the answer is whole."""
        return bool(self.finish) or (self.done and self._said)

    def body(self) -> JSONObject:
        """The same as a service sends it in one piece."""
        message = {
            "content": "".join(self.text),
            "refusal": "".join(self.refusal),
            "tool_calls": [{**c, "arguments": _arguments(c["arguments"])} for c in self.calls],
            **self.thoughts,
        }
        choice = {"message": message, "finish_reason": self.finish}
        return {"choices": [choice], "usage": self.usage}


def _arguments(pieces: Any) -> Any:
    """Arguments of their pieces; an object is all of them."""
    if not isinstance(pieces, list) or not pieces:
        return pieces or ""
    # an object at once is all of them
    return "".join(pieces) if all(isinstance(p, str) for p in pieces) else pieces[-1]


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
    # the surest sign, where a server sends ids
    if call.get("id") and made["id"]:
        return bool(call["id"] != made["id"])
    before = made["arguments"]
    is_whole = bool(before) and (isinstance(before[-1], dict) or _is_object(_arguments(before)))
    return bool(before) and (is_whole or inner["name"] != made["name"])


def _think(made: JSONObject, piece: Mapping[str, Any]) -> None:
    """A piece of a thought that Converse streams, put to what there is of it."""
    if sealed := piece.get("redactedContent"):
        # encrypted: only the service reads it
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
