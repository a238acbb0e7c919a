"""Answers in pieces, put together again: what streams of both services make of one answer. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from ..errors import ModelUnavailable
from ..values.plain import JSONObject
from .streaming import Hear

_THINKS: Final = "<think>"
_THOUGHT: Final = "</think>"


class Aloud:
    """Hands on what a model says, less the thoughts that some write before it, until it is closed.
    `anything` says whether anything was heard."""

    def __init__(self, hear: Hear) -> None:
        self._hear = hear
        self._held = ""
        self._speaks = False
        self.anything = False
        self.closed = False

    def __call__(self, piece: str) -> None:
        """The next piece of the text as the service sends it."""
        if self.closed:
            return
        if not self._speaks:
            self._held += piece
            piece = self._after_thoughts()
        if piece:
            self.anything = True
            self._hear(piece)

    def _after_thoughts(self) -> str:
        text = self._held.lstrip()
        if _THINKS.startswith(text[: len(_THINKS)]):
            _, end, text = text.partition(_THOUGHT)
            text = text.lstrip() if end else ""
        self._speaks = bool(text)
        return text


@dataclass(slots=True)
class ChatPieces:
    """The chunks of a streamed chat completion."""

    hear: Hear
    text: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    finish: str = ""
    usage: JSONObject = field(default_factory=dict)

    def take(self, line: str) -> None:
        """One line of Server-Sent Events; ModelUnavailable for an error in it."""
        if not line.startswith("data:") or (data := line[5:].strip()) in ("", "[DONE]"):
            return
        try:
            chunk = json.loads(data)
            if chunk.get("error"):
                raise ModelUnavailable("The model server failed while it answered: try again.")
            self.usage = chunk.get("usage") or self.usage
            for choice in (chunk.get("choices") or [])[:1]:
                self._take(choice)
        except (ValueError, AttributeError, TypeError, KeyError):
            raise ModelUnavailable(
                "The model server's stream is no chat completion: check the base URL in"
                " WEBBEE_MODEL."
            ) from None

    def _take(self, choice: JSONObject) -> None:
        delta = choice.get("delta") or {}
        self.finish = choice.get("finish_reason") or self.finish
        for key, kept in (("content", self.text), ("refusal", self.refusal)):
            if piece := delta.get(key):
                kept.append(piece)
                self.hear(piece)
        for call in delta.get("tool_calls") or []:
            made = self.calls.setdefault(int(call.get("index", 0)), {"name": "", "arguments": ""})
            for key, piece in (call.get("function") or {}).items():
                made[key] = made.get(key, "") + (piece or "")

    @property
    def ended(self) -> bool:
        """Whether the answer is whole."""
        return bool(self.finish)

    def body(self) -> JSONObject:
        """The same as a service sends it in one piece."""
        message = {
            "content": "".join(self.text),
            "refusal": "".join(self.refusal),
            "tool_calls": [{"function": call} for _, call in sorted(self.calls.items())],
        }
        choice = {"message": message, "finish_reason": self.finish}
        return {"choices": [choice], "usage": self.usage}


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
                made = {"toolUse": {"name": tool.get("name"), "input": ""}}
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
            block["text"] += piece
            self.hear(piece)
        if tool := delta.get("toolUse"):
            self.blocks[index]["toolUse"]["input"] += tool.get("input") or ""

    def answer(self) -> JSONObject:
        """The same as Converse answers it."""
        content = [block for _, block in sorted(self.blocks.items())]
        return {
            "output": {"message": {"content": content}},
            "stopReason": self.stop,
            "usage": self.usage,
        }
