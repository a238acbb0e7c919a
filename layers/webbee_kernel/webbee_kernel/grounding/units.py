"""What a figure is of: the kind that a key tells, the unit behind a number, and lengths of time,
sizes and weights in another unit."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache

from .. import language
from ..language import Language
from .index import Index
from .places import Number, Place, key_words

UNITS = {
    "millisecond": ("time", 0.001), "second": ("time", 1), "minute": ("time", 60),
    "hour": ("time", 3600), "day": ("time", 86_400), "week": ("time", 604_800),
    "month": ("time", 2_629_746), "year": ("time", 31_556_952),
    "byte": ("size", 1), "kilobyte": ("size", 1000), "megabyte": ("size", 1e6),
    "gigabyte": ("size", 1e9), "terabyte": ("size", 1e12),
    "gram": ("mass", 1), "kilogram": ("mass", 1000), "metre": ("length", 1),
    "kilometre": ("length", 1000), "centimetre": ("length", 0.01), "millimetre": ("length", 0.001),
    "milligram": ("mass", 0.001), "litre": ("volume", 1), "millilitre": ("volume", 0.001),
}  # fmt: skip
"""What a unit measures, and how many seconds, bytes, grams or metres it is."""
SIGNS = {
    "s": "second",
    "ms": "millisecond",
    "min": "minute",
    "h": "hour",
    "g": "gram",
    "m": "metre",
    "cm": "centimetre",
    "mm": "millimetre",
    "mg": "milligram",
    "l": "litre",
    "ml": "millilitre",
}
"""Units by their signs, which are the same in keys (`duration_s`) and in every language."""
NONE = ("", 0.0)
BINARY = 0.1
"""Sizes may be told in steps of 1024: so much more or less."""
EPSILON = 1e-6
_LETTERS = re.compile(r"[\s\u00a0-]?([^\W\d_]+)")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


@lru_cache(maxsize=2048)
def kind_of(key: str) -> str:
    """What a key says that its figure is of: `rate`, `level`, what its unit measures, `money`, or
    nothing known."""
    words, roles = [word.lower() for word in _PARTS.split(key)], language.key_roles(key)
    if language.currencies_in(words[-1].upper()):
        return "money"  # `rate_rub`
    if "level" in roles:
        return "level"
    least = words[-1] == "min" and "money" in roles  # `price_min`, no minutes
    if "per" not in words and not least and (measured := unit_of_key(words[-1])[0]):
        return measured
    if "rate" in roles:
        return "rate"
    if roles & {"minor", "money"} and key != "value":
        return "money"
    known = (one for word in words if (one := unit_of_key(word)[0]) not in ("", "time"))
    return next(known, "")


def unit_of_key(word: str) -> tuple[str, float]:
    """What a unit in a key measures, and how much it is; nothing for any other word."""
    english = language.of("en")
    known = english.words.units.get(english.stem(word)) or SIGNS.get(word, "")
    known = known or ("byte" if word == "size" else "")
    return UNITS.get(known, NONE)


def behind(text: str, end: int) -> str:
    """The word right behind a number."""
    after = _LETTERS.match(text, end)
    return after.group(1) if after else ""


def unit_behind(text: str, end: int, spoken: Language) -> str:
    """The unit right behind a number."""
    word = behind(text, end)
    return (spoken.words.units.get(spoken.stem(word)) or SIGNS.get(word, "")) if word else ""


class Measures:
    """The lengths of time, sizes and weights of an index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def has(self, kind: str) -> bool:
        """Whether any figure is a length of time, a size or a weight."""
        return kind in self._bases

    def held(self, value: Number, slack: float, unit: str) -> list[Place]:
        """The fields that give a length of time, a size or a weight in another unit."""
        kind, size = UNITS.get(unit, NONE)
        slack = max(slack, abs(value) * BINARY if kind == "size" else 0)
        sizes, places = self._bases.get(kind, ([], []))
        first = bisect_left(sizes, (abs(value) - slack) * size)
        return places[first : bisect_right(sizes, (abs(value) + slack) * size)]

    @cached_property
    def _bases(self) -> dict[str, tuple[list[float], list[Place]]]:
        """The figures whose key names a unit, in seconds, bytes, grams or metres, by size."""
        found: dict[str, list[tuple[float, Place]]] = {}
        for place in self._index.figures:
            for word in key_words(place.key):
                kind, size = unit_of_key(word)
                if kind:
                    found.setdefault(kind, []).append((abs(place.value) * size, place))
        ordered = {kind: sorted(own, key=lambda pair: pair[0]) for kind, own in found.items()}
        return {kind: ([b for b, _ in own], [p for _, p in own]) for kind, own in ordered.items()}
