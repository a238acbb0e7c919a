"""A figure with a unit: a field in another unit, or a length of time between two moments."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property
from itertools import combinations

from .. import language
from ..language import Language
from .arithmetic import SHORT, UNITS, kind_of, slack_of
from .index import Index
from .places import Number, Owner, Place, key_words

BINARY = 0.1
"""Sizes in bytes may be told in steps of 1024: so much more or less."""
TIMES = 120
"""Times of day of which the lengths between are looked at."""
EPSILON = 1e-6


_LETTERS = re.compile(r"[\s\u00a0-]?([^\W\d_]+)")


def behind(text: str, end: int) -> str:
    """The word right behind a number."""
    after = _LETTERS.match(text, end)
    return after.group(1) if after else ""


def unit_behind(text: str, end: int, spoken: Language) -> str:
    """The unit right behind a number."""
    word = behind(text, end)
    return spoken.words.units.get(spoken.stem(word), "") if word else ""


class Measures:
    """The lengths of time, sizes and weights of an index; `moments`: those in sight, in minutes."""

    def __init__(self, index: Index, moments: Sequence[float]) -> None:
        self.index, self.moments = index, moments

    def measured(
        self, value: Number, step: float, unit: str, *, rough: bool = False
    ) -> list[Place]:
        """The fields that give a length of time, a size or a weight in another unit."""
        kind, size = UNITS.get(unit, ("", 0))
        if not kind:
            return []
        value = abs(value)
        slack = max(slack_of(value, step, rough=rough), value * BINARY if kind == "size" else 0)
        low, high = (value - slack) * size, (value + slack) * size
        return [p for own, base, p in self._measures if own == kind and low <= base <= high]

    def lasts(self, value: Number, step: float, unit: str, *, rough: bool = False) -> bool:
        """Whether a length of time lies between two moments in sight."""
        kind, size = UNITS.get(unit, ("", 0))
        if kind != "time":
            return False
        slack = max(slack_of(abs(value), step, rough=rough), step)
        low, high = (abs(value) - slack) * size / 60, (abs(value) + slack) * size / 60
        for at in self.moments:
            first = bisect_left(self.moments, at + max(low, EPSILON))
            if first < len(self.moments) and self.moments[first] <= at + high:
                return True
        times = sorted(self.index.times)[:TIMES]
        return any(low <= b - a <= high for a, b in combinations(times, 2))

    def lengths(self, seconds: Sequence[int]) -> tuple[list[Place], str]:
        """The fields that give one of some lengths of time, to the second; where none does, the
        key of the column that adds up to one."""
        held = [
            p
            for own, base, p in self._measures
            if own == "time" and any(abs(base - s) < 1 for s in seconds)
        ]
        sums = (key for base, key in self._sums if any(abs(base - s) < 1 for s in seconds))
        return held, "" if held else next(sums, "")

    @cached_property
    def _sums(self) -> list[tuple[float, str]]:
        """The sums of lengths of time in a list, in seconds, by their key."""
        columns: dict[tuple[Owner, str], float] = {}
        for own, base, place in self._measures:
            if own == "time" and place.owner:
                column = place.owner[:-1], place.key
                columns[column] = columns.get(column, 0) + base
        return [(base, key) for (_, key), base in columns.items()]

    @cached_property
    def _measures(self) -> list[tuple[str, float, Place]]:
        """The figures whose key names a unit, in seconds, bytes, grams or metres."""
        known, found = language.of("en").words.units, []
        for place in self.index.figures:
            for word in key_words(place.key):
                kind, size = UNITS.get(known.get(word, SHORT.get(word, "")), ("", 0))
                if kind:
                    found.append((kind, abs(place.value) * size, place))
        return found


def lasts_or_other(unit: str, places: Sequence[Place]) -> bool:
    """Whether fields may be what a number with a unit says that it is of: "7 days" is no
    `vat_pct`, nor the 7 of a text."""
    if UNITS.get(unit, ("",))[0] != "time":
        return True
    figures = [p for p in places if not isinstance(p.value, str)]
    return any(not kind_of(p.key) or "time" in _measured(p.key) for p in figures)


def _measured(key: str) -> list[str]:
    """What the words of a key measure."""
    known = language.of("en").words.units
    return [UNITS.get(known.get(w, SHORT.get(w, "")), ("",))[0] for w in key_words(key)]
