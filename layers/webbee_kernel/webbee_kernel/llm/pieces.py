"""Answers in pieces, put together again: what streams of both services make of one answer. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import ModelUnavailable
from ..types import JSONObject
from .chat_completions import asked_of, choice_of, content_of, inner_of
from .completions import PERIOD, TIMES, repeats
from .normaliser import Normaliser
from .protocol import ToolSpec
from .reasoning import EXTRA, gather
from .streaming import Hear

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
    _places: dict[object, dict[str, Any]] = field(default_factory=dict)
    _is_error: bool = False
    """Whether the event that comes was named as an error."""

    def take(self, line: str) -> JSONObject | None:
        """One line of Server-Sent Events; the error in it, where it tells one."""
        line = line.removeprefix("\ufeff")
        if line.startswith("event:"):
            self._is_error = "error" in line
        data = line[5:].strip() if line.startswith("data:") else line.strip()
        if data == "[DONE]":
            self.done = True
        if not data.startswith("{"):
            return None
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            raise _no_completion() from None
        if chunk.get("error") or self._is_error:
            return dict(chunk) if chunk.get("error") else {"error": chunk}
        self.usage = chunk.get("usage") or self.usage
        try:
            if choice := choice_of(chunk):
                self._take(choice)
        except (ValueError, AttributeError, TypeError, KeyError):
            raise _no_completion() from None
        return None

    def _take(self, choice: JSONObject) -> None:
        delta = choice.get("delta") or self._whole(choice)
        self.finish = choice.get("finish_reason") or self.finish
        gather(self.thoughts, delta)
        self._say(delta.get("content"), self.text)
        self._say(delta.get("refusal"), self.refusal)
        older = delta.get("function_call")
        for call in [*asked_of(delta), *([{"function": older}] if older else [])]:
            self._call(call)

    def _whole(self, choice: JSONObject) -> JSONObject:
        """What a piece says that has no delta: a message, which some say again at the end."""
        if isinstance(message := choice.get("message"), dict):
            return {} if self.text or self.calls else message
        return {"content": choice.get("text")}

    def _say(self, content: Any, kept: list[str]) -> None:
        """Hand on and keep what a piece says, with the calls that stand among its parts."""
        piece, calls = content_of(content)
        self.calls += [{"name": n, "arguments": a} for n, a in calls]
        if piece:
            kept.append(piece)
            self.hear(piece)

    def _call(self, call: JSONObject) -> None:
        """A piece of a call. Servers leave the index out, or give all calls the same: an id that is
        new at its place begins another call."""
        place = call.get("index") or 0
        made = self._places.get(place)
        if made is None or _is_other(made, call):
            made = self._places[place] = {"id": "", "name": "", "arguments": ""}
            self.calls.append(made)
        if extra := call.get(EXTRA):
            made[EXTRA] = extra
        made["id"] = call.get("id") or made["id"]
        inner = inner_of(call)
        name = inner.get("name") or ""
        if name != made["name"]:  # some say the whole name with each piece
            made["name"] += name
        _add(made, inner.get("arguments"))

    @property
    def ended(self) -> bool:
        """Whether the answer is whole."""
        return bool(self.finish) or (self.done and bool(self.text or self.calls or self.refusal))

    def body(self) -> JSONObject:
        """The same as a service sends it in one piece."""
        message = {
            "content": "".join(self.text),
            "refusal": "".join(self.refusal),
            "tool_calls": self.calls,
            **self.thoughts,
        }
        choice = {"message": message, "finish_reason": self.finish}
        return {"choices": [choice], "usage": self.usage}


def _is_other(made: JSONObject, call: JSONObject) -> bool:
    """Whether a piece begins another call at a place: it has another id, or another name where the
    one before has its arguments already."""
    if call.get("id") and made["id"]:
        return bool(call["id"] != made["id"])
    inner = inner_of(call)
    is_whole = isinstance(inner.get("arguments"), dict)
    is_named = bool(inner.get("name")) and inner["name"] != made["name"]
    return bool(made["arguments"]) and (is_whole or is_named)


def _no_completion() -> ModelUnavailable:
    return ModelUnavailable(
        "The model server's stream is no chat completion: check the base URL in WEBBEE_MODEL.",
        cause="no_completion",
    )


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
    blocks: dict[int, JSONObject] = field(default_factory=dict)
    stop: str = ""
    usage: JSONObject = field(default_factory=dict)

    def take(self, event: Mapping[str, Any]) -> None:
        """One event."""
        if start := event.get("contentBlockStart"):
            tool = (start.get("start") or {}).get("toolUse")
            if tool:
                made: JSONObject = {"toolUse": {"name": tool.get("name"), "input": ""}}
                self.blocks[start["contentBlockIndex"]] = made
        elif said := event.get("contentBlockDelta"):
            self._take(said["contentBlockIndex"], said.get("delta") or {})
        elif ended := event.get("messageStop"):
            self.stop = ended.get("stopReason") or ""
        elif told := event.get("metadata"):
            self.usage = told.get("usage") or {}

    def _take(self, index: int, delta: JSONObject) -> None:
        if piece := delta.get("text"):
            block = self.blocks.setdefault(index, {"text": ""})
            block["text"] = block.get("text", "") + piece
            self.hear(piece)
        if thought := delta.get("reasoningContent"):
            block = self.blocks.setdefault(index, {"reasoningContent": {}})
            _think(block["reasoningContent"], thought)
        if tool := delta.get("toolUse"):
            block = self.blocks.setdefault(index, {"toolUse": {"name": "", "input": ""}})
            block["toolUse"]["input"] += tool.get("input") or ""

    def answer(self) -> JSONObject:
        """The same as Converse answers it."""
        content = [block for _, block in sorted(self.blocks.items())]
        return {
            "output": {"message": {"content": content}},
            "stopReason": self.stop,
            "usage": self.usage,
        }


def _add(made: dict[str, Any], arguments: object) -> None:
    """A piece of a call's arguments: text goes on, anything else is all of them."""
    if isinstance(arguments, str) and isinstance(made["arguments"], str):
        made["arguments"] += arguments
    elif arguments is not None:
        made["arguments"] = arguments
