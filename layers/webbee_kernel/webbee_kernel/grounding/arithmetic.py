"""What figures that belong together give: sums, differences, products, ratios and percentages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from .. import language
from .places import Number, Place

BIG = 1e12
"""What is larger is no figure that people work with."""
ROUGH = 0.15
"""How far off "about" may be at most."""


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
_ABOVE = re.compile(r"^(?:.*[.\]])?([^.\]]*)\.[^.]*$")
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|_")


ANY = "?"


class Figure(NamedTuple):
    """A value, where it stands, and what it is of: `money`, `rate`, what its unit measures, nothing
    known of a field, or `ANY` for a figure of no field."""

    value: Number
    path: str
    kind: str = ""


class Entry(NamedTuple):
    """A value, what it is of, the sign between two others (or a function's name), and these."""

    value: float
    kind: str
    sign: str
    one: object
    other: object = ""

    @property
    def formula(self) -> str:
        """How the value is made."""
        if not self.sign:
            return str(self.other)
        if self.other != "":
            return f"{self.one} {self.sign} {self.other}"
        return f"{self.sign}({self.one})"


def slack_of(value: float, step: float, *, rough: bool) -> float:
    """How far a figure may be from the exact one that it stands for; a `rough` one by what its last
    digit that is no zero stands for, a five for steps of five."""
    if not rough:
        return step
    whole = f"{value / step:.0f}"
    digits = whole.rstrip("0")
    last = step * 10.0 ** (len(whole) - len(digits)) * (2.5 if digits[1:].endswith("5") else 0.5)
    return max(step, min(last, ROUGH * value))


def counted(place: Place) -> bool:
    """Whether a figure is one that people work with, no id."""
    roles = language.key_roles(place.key)
    return abs(place.value) < BIG and ("id" not in roles or bool(roles & {"money", "total"}))


def figure(place: Place) -> Figure:
    """A field as a figure; what its key does not tell, that of the record around it may:
    `{"cost": {"v": 6.91}}`."""
    if not place.key:
        return Figure(place.value, place.path, ANY)
    above = "" if kind_of(place.key) else _ABOVE.sub(r"\1", place.path)
    return Figure(place.value, place.path, kind_of(place.key) or kind_of(above))


@lru_cache(maxsize=2048)
def kind_of(key: str) -> str:
    """What a key says that its figure is of: `rate`, what its unit measures, `money`, or nothing
    known."""
    words, roles = [word.lower() for word in _PARTS.split(key)], language.key_roles(key)
    if "level" in roles:
        return "level"
    least = words[-1] == "min" and "money" in roles  # `price_min`, no minutes
    if "per" not in words and not least and (measured := _measured(words[-1])):
        return measured
    if (roles & {"minor", "money"} and key != "value") or language.currencies_in(words[-1].upper()):
        return "rate" if "rate" in roles else "money"
    if "rate" in roles:
        return "rate"
    known = (one for word in words if (one := _measured(word)) not in ("", "time"))
    return next(known, "")


def _measured(word: str) -> str:
    """What a unit in a key measures."""
    return UNITS.get(language.of("en").words.units.get(word, SHORT.get(word, "")), ("",))[0]


def alike(one: Figure, other: Figure) -> bool:
    """Whether two figures may be added: of the same, or one with no key."""
    kinds = one.kind, other.kind
    if one.kind == other.kind or ANY in kinds or ("" in kinds and "money" not in kinds):
        return True
    return "total" in one.path or "total" in other.path


def combined(one: Figure, other: Figure, signs: str = "+-*/%") -> Iterator[Entry]:
    """What two figures give: sum, difference, product, ratio, and a percentage of the other; of
    levels only the difference."""
    (a, x, k), (b, y, m) = one, other
    level, kind = "level" in (k, m), _kind(k, m)
    if "-" in signs and alike(one, other):
        yield Entry(float(abs(a - b)), kind, "-", x, y)
        if not level:
            yield Entry(float(abs(a + b)), kind, "+", x, y)
    if level:
        return
    if "*" in signs and (k != m or kind == ANY) and abs(a * b) < BIG:
        yield Entry(float(abs(a * b)), kind, "*", x, y)
    if "/" in signs and a and b:
        yield Entry(abs(a / b), _ratio(k, m), "/", x, y)
        yield Entry(abs(b / a), _ratio(m, k), "/", y, x)
    if "%" in signs and "rate" in (k, m):
        yield from _percents(one, other)
        yield from _percents(other, one)


def _kind(one: str, other: str) -> str:
    """What a sum or a product is of: an amount if one is, else what is known."""
    if "money" in (one, other):
        return "money"
    return ANY if one in (ANY, "rate") or other in (ANY, "rate") else one or other


def _ratio(part: str, whole: str) -> str:
    """What one figure for each of another is of: nothing known where both are of the same."""
    return ANY if part == ANY else "" if part == whole else part


def _percents(whole: Figure, rate: Figure) -> Iterator[Entry]:
    """What a percentage takes or leaves of a figure, or adds to it."""
    if rate.kind == "rate" and 0 < rate.value <= 100:
        part, kind = abs(whole.value) * rate.value / 100, whole.kind
        yield Entry(part, kind, "% of", rate.path, whole.path)
        yield Entry(abs(abs(whole.value) - part), kind, "less % of", whole.path, rate.path)
        yield Entry(abs(whole.value) + part, kind, "with % of", whole.path, rate.path)


def runs(told: Sequence[Figure], most: int) -> Iterator[Entry]:
    """The sums of figures that are told one after another, percentages apart from others ("3, 4 and
    5, 12 in all"), and the average of all of them."""
    for rate in (False, True):
        own = [one for one in told if (one.kind == "rate") is rate]
        for start in range(len(own)):
            total: Number = 0
            for one in own[start : start + most]:
                total += one.value
                yield Entry(float(total), one.kind, "sum", "reply")
        if len(own) > 1:
            mean = sum(one.value for one in own) / len(own)
            yield Entry(abs(mean), own[0].kind, "average", "reply")


def fractions(one: Figure, other: Figure, *, whole: bool = False) -> Iterator[Entry]:
    """Shares of two figures in each other, and the changes between them; `whole`: the second is
    what the first is a part of."""
    for part, base in (
        ((one, other), (other, one))[: 1 if whole else 2] if alike(one, other) else ()
    ):
        if base.value and part.value:
            share = abs(part.value / base.value)
            yield Entry(share, "", "/", part.path, base.path)
            yield Entry(abs(1 - share), "", "/", f"({part.path} - {base.path})", base.path)
