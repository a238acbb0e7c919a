"""Choices: what a reply offers to pick from, and which of them a message picks. Pure.

A question with a list under or over it ("Which one?") is answered by pressing one of its rows, or
by its number; no yes answers it. What is pressed is said by the user, as if he had typed it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ..types import JSONObject
from .confirmation import asks

FEWEST, MOST = 2, 9
"""Rows that are choices; a longer list is something to read."""
LONGEST: Final = 120
"""Characters of a row that is one."""
AROUND: Final = 2
"""Lines beside the list, its question among them: more is an answer, not a question."""

# compiled, and kept by `re`, with their first use
_ROW = r"\s*(?:[-*•–]|(\d{1,2})[.)])\s+(\S.*)"
_EMPHASIS = r"\*\*|__|`"
_NUMBER = r"\s*#?(\d{1,2})[.)]?\s*"


def choices(reply: str, offer: Any = None) -> list[JSONObject]:
    """What may be picked: the buttons of the tree below the reply that say something, else the rows
    of the list that its question stands beside; `message` is what picking one says."""
    if offer:
        pressed = list(_buttons(offer))[:MOST]
        return pressed if len(pressed) >= FEWEST else []
    labels = _labels(reply)
    return [{"label": label, "message": label} for label in labels]


def _labels(reply: str) -> list[str]:
    """The rows of the one list of a reply that asks and says little besides."""
    lines = [line for line in reply.splitlines() if line.strip()]
    rows = [match[2].strip() for line in lines if (match := re.fullmatch(_ROW, line))]
    beside = [line for line in lines if not re.fullmatch(_ROW, line)]
    if len(beside) > AROUND or not any(map(asks, beside)):
        return []
    labels = [re.sub(_EMPHASIS, "", row) for row in rows]
    is_choice = FEWEST <= len(labels) <= MOST and len(set(labels)) == len(labels)
    return labels if is_choice and max(map(len, labels)) <= LONGEST else []


def picked(message: str, offered: Sequence[Mapping[str, Any]]) -> str:
    """What a message says that is only the number of a choice, or its label; empty for any other
    message. A number picks nothing where the labels begin with numbers of their own."""
    for choice in offered:
        if message.strip().casefold() == str(choice["label"]).casefold():
            return str(choice["message"])
    number = re.fullmatch(_NUMBER, message)
    if not number or any(str(choice["label"])[:1].isdigit() for choice in offered):
        return ""
    place = int(number[1])
    return str(offered[place - 1]["message"]) if 1 <= place <= len(offered) else ""


def _buttons(node: Any) -> Iterator[JSONObject]:
    """The buttons of a UI tree that say something in the chat."""
    if isinstance(node, list):
        for item in node:
            yield from _buttons(item)
    elif isinstance(node, Mapping):
        props = node.get("props") or {}
        action = props.get("on_click") or {}
        if node.get("type") == "Button" and action.get("action") == "send":
            yield {"label": str(props.get("label", "")), "message": str(action.get("message", ""))}
        yield from _buttons(props.get("children"))
