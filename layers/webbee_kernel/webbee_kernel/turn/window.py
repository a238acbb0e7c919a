"""Window: what of a prompt goes where its model cannot read all of it. Pure.

Nobody but the model knows its tokens, so they are estimated, rather too many than too few: what a
server cuts off itself is the beginning of the prompt, and it says nothing of it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from ..llm.protocol import ToolSpec
from ..llm.tools import characters
from ..stores.types import HistoryItem

TEXT_BYTES: Final = 3.2
"""Bytes of a token of prose, FACTS lines and rules, by the small vocabularies of local models."""

TOOL_CHARACTERS: Final = 2.6
"""Characters of a function a token: the JSON that a server puts around it is not counted."""

LEAST_TOOLS: Final = 2_500
"""Characters of functions that stay, some ten in few words, before examples and facts go."""

SMALLER: Final = 0.7
"""Of what was refused as too long, what is tried where the refusal tells no number."""

_TOLD: Final = re.compile(
    r"(?:maximum|max\w*|limit\w*|window|length|size|n_ctx|num_ctx|available|>)"
    r"[^\d>]{0,40}?(?P<n>\d[\d,]{2,9})",
    re.I,
)
_LEAST: Final = 512


class LeftOut(NamedTuple):
    """What a window leaves no place for: functions, their examples, the facts of so many turns, and
    so many turns whole."""

    functions: int = 0
    examples: bool = False
    facts: int = 0
    turns: int = 0


def tokens(text: str) -> int:
    """Tokens of a text, at most, for most models."""
    return math.ceil(len(text.encode("utf-8", "replace")) / TEXT_BYTES)


def tool_tokens(tools: Iterable[ToolSpec]) -> int:
    """The same of functions."""
    return math.ceil(sum(map(characters, tools)) / TOOL_CHARACTERS)


def tool_room(left: int) -> int:
    """Characters of functions that go into so many tokens; the least that stays where that is
    fewer."""
    return max(LEAST_TOOLS, int(left * TOOL_CHARACTERS))


def without_examples(tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
    """The functions without what users say for them."""
    return tuple(replace(t, examples=()) if t.examples else t for t in tools)


def shorter(items: tuple[HistoryItem, ...]) -> tuple[HistoryItem, ...]:
    """The remembered turns without the facts of the oldest that has any, or without the oldest."""
    for place, item in enumerate(items):
        if item.facts:
            return (*items[:place], item._replace(facts=()), *items[place + 1 :])
    return items[1:]


def refused_at(words: str, sent: int) -> int:
    """The tokens that a model reads, by its refusal of a prompt of about `sent`: what it names
    where that is less, else a part of what was sent."""
    named = (int(m["n"].replace(",", "")) for m in _TOLD.finditer(words))
    found = next((n for n in named if n >= _LEAST), 0)
    return found if found and found < sent else int(SMALLER * sent)
