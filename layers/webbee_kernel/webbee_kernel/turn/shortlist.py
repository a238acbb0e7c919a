"""Shortlist: which functions of a large catalogue a prompt shows. Deterministic, by words; pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ..catalogue import FunctionInfo
from ..language import stem, tokens

BUDGET = 24_000
"""Characters of names, descriptions, examples and schemas shown: about 6,000 tokens, some 60
ordinary functions."""

MAX_FUNCTIONS = 120
"""Functions shown: chat-completion services take at most 128."""

_RECENT_WEIGHT = 0.3


@dataclass(frozen=True, slots=True)
class Shortlist:
    """What is shown, in catalogue order; `ranked` holds all, best first; `kept` were used in the
    last turns."""

    shown: tuple[FunctionInfo, ...]
    ranked: tuple[FunctionInfo, ...]
    kept: frozenset[tuple[str, str]] = frozenset()

    @property
    def left_out(self) -> int:
        """How many are not shown."""
        return len(self.ranked) - len(self.shown)

    def notice(self) -> str:
        """What the prompt says about it, empty where everything is shown."""
        if not self.left_out:
            return ""
        shown = (
            f"{len(self.shown)} of {len(self.ranked)} functions are shown, those nearest to the"
            " message"
        )
        return f"[CATALOGUE]\nNOTE: {shown}. If none fits, say what is missing."


def shortlist(
    functions: Sequence[FunctionInfo],
    message: str,
    recent: Sequence[str] = (),
    used: Collection[tuple[str, str]] = (),
    budget: int = BUDGET,
) -> Shortlist:
    """The functions that fit the budget: those used in the last five turns (`(app_id, fn_name)`)
    first, then by shared words.

    Words of `message` count fully, those of `recent` messages a third; rare words count more than
    common ones. Ties go by name, so the same input gives the same list. At least one function is
    shown.
    """
    if len(functions) <= MAX_FUNCTIONS and sum(f.characters for f in functions) <= budget:
        return Shortlist(tuple(functions), tuple(functions), frozenset(used))
    score = _scores(functions, message, recent)
    by_score = sorted(functions, key=lambda f: (-score[f.tool_name], f.tool_name))
    ranked = sorted(by_score, key=lambda f: (f.app_id, f.fn_name) not in used)
    chosen = _fitting(ranked, used, budget)
    shown = tuple(f for f in functions if f.tool_name in chosen)
    return Shortlist(shown, tuple(ranked), frozenset(used))


def _fitting(
    ranked: Sequence[FunctionInfo], used: Collection[tuple[str, str]], budget: int
) -> set[str]:
    """Names of the leading functions that fit; used ones in any case, and at least one."""
    chosen: set[str] = set()
    for function in ranked:
        budget -= function.characters
        full = budget < 0 or len(chosen) >= MAX_FUNCTIONS
        if full and chosen and (function.app_id, function.fn_name) not in used:
            break
        chosen.add(function.tool_name)
    return chosen


def _scores(
    functions: Sequence[FunctionInfo], message: str, recent: Sequence[str]
) -> dict[str, float]:
    """How near each function's words are to the message and, a third as much, to recent ones."""
    said, before = stems(message), stems(" ".join(recent))
    known = Counter(word for f in functions for word in _words(f))
    weight = {word: math.log(1 + len(functions) / n) for word, n in known.items()}

    def together(words: frozenset[str]) -> float:
        return sum(weight[word] for word in words)

    return {
        f.tool_name: together(_words(f) & said) + _RECENT_WEIGHT * together(_words(f) & before)
        for f in functions
    }


def stems(text: str) -> frozenset[str]:
    """The stems of every word of two letters or more."""
    words = (part for token in tokens(text) for part in token.text.split("-"))
    return frozenset(stem(word) for word in words if len(word) > 1 and not word.isdigit())


def _words(function: FunctionInfo) -> frozenset[str]:
    return _stemmed(function.app_id, function.fn_name, function.description, function.examples)


@lru_cache(maxsize=4096)
def _stemmed(app_id: str, name: str, description: str, examples: tuple[str, ...]) -> frozenset[str]:
    return stems(" ".join((app_id, name.replace("_", " "), description, *examples)))
