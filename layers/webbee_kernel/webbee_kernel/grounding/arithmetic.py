"""What figures that belong together give: sums, differences, products, ratios and percentages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations, permutations
from typing import NamedTuple

from .. import language
from .places import Number, Place

BIG = 1e12
"""What is larger is no figure that people work with."""
ROUGH, ROUGHER = 0.05, 0.15
"""How far off "about" may be; a figure of one digit stands for more."""


class Figure(NamedTuple):
    """A value, where it stands, and what it is of: `money`, `rate`, or nothing known."""

    value: Number
    path: str
    kind: str = ""


Entry = tuple[float, str, object, object]
"""A value, the sign between two others (or a function's name), and these."""


def slack_of(value: float, step: float, *, rough: bool) -> float:
    """How far a figure may be from the exact one that it stands for."""
    if not rough:
        return step
    digits = len(f"{value:.0f}".rstrip("0"))
    return max(step, (ROUGHER if digits < 2 else ROUGH) * value)


def counted(place: Place) -> bool:
    """Whether a figure is one that people work with, no id."""
    roles = language.key_roles(place.key)
    return abs(place.value) < BIG and ("id" not in roles or bool(roles & {"money", "total"}))


def figure(place: Place) -> Figure:
    """A field as a figure."""
    return Figure(place.value, place.path, kind_of(place.key))


@lru_cache(maxsize=2048)
def kind_of(key: str) -> str:
    """What a key says that its figure is of."""
    roles = language.key_roles(key)
    return "rate" if roles & {"rate"} else "money" if roles & {"money", "minor"} else ""


def alike(one: Figure, other: Figure) -> bool:
    """Whether two figures may be added: both amounts, or neither, or one with no key."""
    kinds = {one.kind, other.kind}
    free = "total" in f"{one.path}{other.path}" or "message" in (one.path, other.path)
    return len(kinds) == 1 or free or "reply" in (one.path, other.path)


def combined(one: Figure, other: Figure, signs: str = "+-*/%") -> Iterator[Entry]:
    """What two figures give: sum, difference, product, ratio, and a percentage of the other."""
    (a, x, _), (b, y, _) = one, other
    if "-" in signs and alike(one, other):
        yield float(abs(a + b)), "+", x, y
        yield float(abs(a - b)), "-", x, y
    if "*" in signs and abs(a * b) < BIG:
        yield float(abs(a * b)), "*", x, y
    if "/" in signs and a and b:
        yield abs(a / b), "/", x, y
        yield abs(b / a), "/", y, x
    if "%" in signs:
        yield from _percents(one, other)
        yield from _percents(other, one)


def _percents(whole: Figure, rate: Figure) -> Iterator[Entry]:
    """What a percentage takes or leaves of a figure, or adds to it."""
    told = rate.kind == "rate" or rate.path in ("reply", "message", "policy")
    if told and 0 < rate.value <= 100:
        part = abs(whole.value) * rate.value / 100
        yield part, "% of", rate.path, whole.path
        yield abs(abs(whole.value) - part), "less % of", whole.path, rate.path
        yield abs(whole.value) + part, "with % of", whole.path, rate.path


def several(held: Sequence[Figure]) -> Iterator[Entry]:
    """The sums of several figures of a record, and what three of them give."""
    for size in range(3, len(held) + 1):
        for some in combinations(held, size):
            if all(alike(some[0], other) for other in some[1:]):
                total = sum(f.value for f in some)
                yield float(abs(total)), "sum", ", ".join(f.path for f in some), ""
    for one, other, third in permutations(held, 3):
        if one.path < other.path:
            yield from _three(one, other, third)


def _three(one: Figure, other: Figure, third: Figure) -> Iterator[Entry]:
    """Two figures less a third, and their product with it."""
    a, b, c = one.value, other.value, third.value
    rest = f"{other.path}, {third.path}"
    if alike(one, other) and alike(one, third):
        yield float(abs(a + b - c)), "+ -", one.path, rest
    if abs(a * b) < BIG and alike(one, third):
        yield float(abs(a * b + c)), "* +", one.path, rest


def fractions(one: Figure, other: Figure, *, whole: bool = False) -> Iterator[Entry]:
    """Shares of two figures in each other, and the changes between them; `whole`: the second is
    what the first is a part of."""
    for part, base in ((one, other), (other, one))[: 1 if whole else 2]:
        if base.value and part.value:
            share = abs(part.value / base.value)
            yield share, "/", part.path, base.path
            yield abs(1 - share), "/", f"({part.path} - {base.path})", base.path
