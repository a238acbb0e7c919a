"""What a figure is of: the kind that a key tells, the unit behind a number, and lengths of time,
sizes and weights in another unit."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import cached_property, lru_cache

from .. import language
from ..language import Language
from .index import Index
from .places import DATE, Number, Place, key_words

UNITS = {
    "millisecond": ("time", 0.001), "second": ("time", 1), "minute": ("time", 60),
    "hour": ("time", 3600), "day": ("time", 86_400), "week": ("time", 604_800),
    "month": ("time", 2_629_746), "year": ("time", 31_556_952),
    "byte": ("size", 1), "kilobyte": ("size", 1000), "megabyte": ("size", 1e6),
    "gigabyte": ("size", 1e9), "terabyte": ("size", 1e12),
    "gram": ("mass", 1), "kilogram": ("mass", 1000), "metre": ("length", 1),
    "kilometre": ("length", 1000),
}  # fmt: skip
"""What a unit measures, and how many seconds, bytes, grams or metres it is."""
SHORT = {"s": "second", "ms": "millisecond", "g": "gram", "m": "metre", "size": "byte"}
"""Units as keys shorten them: `duration_s`."""
ROUGH, BINARY = 0.15, 0.1
"""How far off "about" may be at most; sizes may be told in steps of 1024: so much more or less."""
MOMENTS = 60
"""Moments between which lengths of time lie."""
EPSILON = 1e-6
_LETTERS = re.compile(r"[\s\u00a0-]?([^\W\d_]+)")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


@lru_cache(maxsize=2048)
def kind_of(key: str) -> str:
    """What a key says that its figure is of: `rate`, `level`, what its unit measures, `money`, or
    nothing known."""
    words, roles = [word.lower() for word in _PARTS.split(key)], language.key_roles(key)
    if "level" in roles:
        return "level"
    least = words[-1] == "min" and "money" in roles  # `price_min`, no minutes
    if "per" not in words and not least and (measured := _measured(words[-1])):
        return measured
    if "rate" in roles:
        return "rate"
    if (roles & {"minor", "money"} and key != "value") or language.currencies_in(words[-1].upper()):
        return "money"
    known = (one for word in words if (one := _measured(word)) not in ("", "time"))
    return next(known, "")


def _measured(word: str) -> str:
    """What a unit in a key measures."""
    return UNITS.get(language.of("en").words.units.get(word, SHORT.get(word, "")), ("",))[0]


def behind(text: str, end: int) -> str:
    """The word right behind a number."""
    after = _LETTERS.match(text, end)
    return after.group(1) if after else ""


def unit_behind(text: str, end: int, spoken: Language) -> str:
    """The unit right behind a number."""
    word = behind(text, end)
    return spoken.words.units.get(spoken.stem(word), "") if word else ""


def slack_of(value: float, step: float, *, rough: bool) -> float:
    """How far a figure may be from the exact one that it stands for; a `rough` one by what its last
    digit that is no zero stands for, a five for steps of five."""
    if not rough:
        return step
    whole = f"{value / step:.0f}"
    digits = whole.rstrip("0")
    last = step * 10.0 ** (len(whole) - len(digits)) * (2.5 if digits[1:].endswith("5") else 0.5)
    return max(step, min(last, ROUGH * value))


class Measures:
    """The lengths of time, sizes and weights of an index; `now`: the turn's moment."""

    def __init__(self, index: Index, now: datetime | None) -> None:
        self._index, self._now = index, now

    def held(self, value: Number, step: float, unit: str, *, rough: bool = False) -> list[Place]:
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
        for line in (self._moments, self._clock):
            for at in line:
                first = bisect_left(line, at + max(low, EPSILON))
                if first < len(line) and line[first] <= at + high:
                    return True
        return False

    def lengths(self, seconds: Sequence[float]) -> list[Place]:
        """The fields that give one of some lengths of time, to the second."""
        held = self._times
        sizes = [base for base, _ in held] if seconds else []
        spans = ((bisect_left(sizes, s - 1), bisect_right(sizes, s + 1)) for s in seconds)
        return [place for first, last in spans for _, place in held[first:last]]

    @cached_property
    def _times(self) -> list[tuple[float, Place]]:
        times = ((base, place) for kind, base, place in self._measures if kind == "time")
        return sorted(times, key=lambda pair: pair[0])

    @cached_property
    def _moments(self) -> list[float]:
        """The moments in sight, in minutes, in order."""
        found = [self._now] if self._now else []
        for place in self._index.strings:
            if len(found) < MOMENTS and len(place.value) <= 35 and DATE.match(place.value):
                with suppress(ValueError):
                    at = datetime.fromisoformat(place.value)
                    found.append(at if at.tzinfo else at.replace(tzinfo=UTC))
        return sorted(at.timestamp() / 60 for at in found)

    @cached_property
    def _clock(self) -> list[int]:
        return sorted(self._index.times)

    @cached_property
    def _measures(self) -> list[tuple[str, float, Place]]:
        """The figures whose key names a unit, in seconds, bytes, grams or metres."""
        known, found = language.of("en").words.units, []
        for place in self._index.figures:
            for word in key_words(place.key):
                kind, size = UNITS.get(known.get(word, SHORT.get(word, "")), ("", 0))
                if kind:
                    found.append((kind, abs(place.value) * size, place))
        return found
