"""What figures that belong together give: differences, sums, products, ratios, shares, changes.

Figures belong together that are of one record, of one field over a few records, or of the user's
message; a figure of the message and the size of a list go with every figure of the data.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from .. import language
from .index import Index
from .places import MESSAGE, Number, Owner, Place, settle

Figure = tuple[Number, str]
"""A value and where it stands."""
FAMILY = 12
"""Figures of one record, or of one field over the records, that are compared in pairs."""
ASKED = 4
"""Figures of a message that go with those of the data."""
HELD = 40
"""Figures of the data that go with those of a message, and with percentages of the reply."""
BIG = 1e12
CLOSE = 0.02
"""How far off what two figures give may be told as "about"."""
ALL, OF_ROWS = "-+*/:", "-/:"
"""The signs between two figures; figures of two rows are summed where the sentence adds up."""
RATIOS = "/:"
ADDS = "s"
"""In a list of signs: the sentence adds up."""


def rounds_to(exact: Number, shown: Number, decimals: int, scale: int = 1) -> bool:
    """Whether `exact` rounded half up, or cut, to the decimals shown is `shown`; `scale` is 1000
    for "12.5 thousand"."""
    step = scale * 10.0**-decimals
    return any(
        abs(math.floor(exact / step + half) * step - shown) < step * 1e-6
        for half in (0.5 + 1e-9, 0.5 - 1e-9)
    )


def nearly(exact: Number, shown: Number) -> bool:
    """Whether "about 40" may stand for 36: rounded to one, two or three leading digits, or within a
    twentieth."""
    if exact < 5 or shown <= 0:
        return exact == shown or (isinstance(exact, float) and abs(exact - shown) <= 0.05 * exact)
    size = len(str(int(exact)))
    return abs(exact - shown) <= 0.05 * exact or any(
        round(exact, kept - size) == shown for kept in range(1, min(4, size))
    )


def gives(exact: Number, value: Number, decimals: int, *, rough: bool) -> bool:
    """Whether a figure that was worked out is told as `value`."""
    step = 0 if rough else 10.0**-decimals
    if step and not value - step <= exact <= value + step:
        return False  # as most are: told without a call
    return (
        settle(exact) == settle(value)
        or (isinstance(exact, float) and rounds_to(exact, value, decimals))
        or (rough and nearly(exact, value))
    )


@dataclass(slots=True)
class Arithmetic:
    """The figures of an index that belong together, and what they give; `percents`: those that a
    reply names; `totals`: the sums of their columns."""

    index: Index
    percents: Sequence[Number] = ()
    totals: Sequence[Figure] = ()
    _families: list[list[Figure]] | None = None
    _across: list[tuple[Figure, Figure, str]] | None = None
    _cells: list[Figure] = field(default_factory=list)

    def gap(self, value: Number, decimals: int, signs: str, *, rough: bool = False) -> str:
        """How a figure is one of `signs` of two figures that belong together: "-+*", "/" a ratio,
        ":" one that is a whole number."""
        step = 10.0**-decimals
        slack = max(CLOSE * value, step / 2) if rough else step
        low, high = value - slack, value + slack
        for one, other, fit in self._pairs():
            for exact, sign in _combined(one[0], other[0], signs, fit):
                if low <= exact <= high and (rough or gives(exact, value, decimals, rough=False)):
                    big, small = sorted((one, other), reverse=True)
                    return f"{big[0]} {sign} {small[0]} ({one[1]}, {other[1]})"
        return ""

    def difference(self, value: Number, signs: str) -> str:
        """How a whole number is the difference, or the sum, of two of one record or field."""
        for held in self.families():
            whole = [one for one in held if isinstance(one[0], int)]
            for (a, one), (b, other) in combinations(whole, 2):
                for exact, sign in _combined(a, b, signs, ALL):
                    if exact == value:
                        return f"{max(a, b)} {sign} {min(a, b)} ({one}, {other})"
        return ""

    def share(self, value: Number, decimals: int, *, rough: bool = False) -> str:
        """How a percentage is the share of one figure in another, or the change between them."""
        for (a, one), (b, other), _signs in self._pairs():
            part, whole = sorted((abs(a), abs(b)))
            if not part:
                continue
            ratios = part / whole, 1 - part / whole, whole / part, whole / part - 1
            if any(gives(100 * r, value, decimals, rough=rough) for r in ratios):
                return f"100 * {part} / {whole} ({one}, {other})"
        return ""

    def portion(self, value: Number, decimals: int, *, rough: bool = False) -> str:
        """How a figure is what a percentage that the reply names takes, or leaves, of another."""
        if not self.percents:
            return ""
        self._crossed()
        for base, path in self._cells:
            for percent in self.percents[:ASKED]:
                part = base * percent / 100
                for exact in (part, base - part, base + part):
                    if gives(float(exact), value, decimals, rough=rough):
                        return f"{percent} % of {base} ({path})"
        return ""

    def _pairs(self) -> Iterator[tuple[Figure, Figure, str]]:
        """The figures that go together, and the signs that may stand between them unasked."""
        for held in self.families():
            rows = "[" in held[0][1] and _field(held[0][1]) == _field(held[1][1])
            for one, other in combinations(held, 2):
                yield one, other, OF_ROWS if rows else ALL
        yield from self._crossed()

    def _crossed(self) -> list[tuple[Figure, Figure, str]]:
        """The figures of the message and the sizes of lists, each with every figure of the data."""
        if self._across is None:
            figures = self.index.figures
            asked = [(p.value, p.path) for p in figures if p.call == MESSAGE and _is_small(p)]
            held = [(p.value, p.path) for p in figures if _compared(p)][:HELD]
            totals = list(self.totals)[:ASKED]
            self._cells = asked[:ASKED] + totals + held
            self._across = [(a, b, ALL) for a in asked[:ASKED] for b in held]
            for rows in [r for r in self.index.tables if r.size > 1][:ASKED]:
                size = rows.size, f"count({rows.path})"
                above = (b for b in held if not b[1].startswith(rows.path))  # not of one row
                self._across += [(size, b, "*/:") for b in above]
            single = [b for b in held if "[" not in b[1]]
            self._across += [(total, b, "-/") for total in totals for b in single]
        return self._across

    def families(self) -> list[list[Figure]]:
        """The figures that belong together: of one record, of one field over a few records, of the
        message."""
        if self._families is None:
            self._families = self._together()
        return self._families

    def _together(self) -> list[list[Figure]]:
        found: dict[tuple[object, ...], list[Figure]] = {}
        below: dict[Owner, set[Owner]] = {}
        for owner in {p.owner for p in self.index.figures if len(p.owner) > 3}:
            below.setdefault(owner[:-2], set()).add(owner)
        for place in self.index.figures:
            value = place.value, place.path
            if place.call == MESSAGE and _is_small(place):
                found.setdefault(("message",), []).append(value)
            if not _compared(place):
                continue
            for own in (place.owner, *below.get(place.owner, ())):
                found.setdefault(("record", place.call, *own), []).append(value)
            found.setdefault(("field", place.key, *place.owner[:-1]), []).append(value)
        return [held for held in found.values() if 1 < len(held) <= FAMILY]


def _compared(place: Place) -> bool:
    """Whether a figure is one that people compare with others."""
    named = place.path.startswith("data") and bool(place.key) and _is_small(place)
    return named and not language.key_roles(place.key) & {"id", "rank", "paging"}


def _is_small(place: Place) -> bool:
    """Whether a figure is one that products and ratios do not overflow with."""
    return bool(abs(place.value) < BIG)


def _field(path: str) -> str:
    """The last key of a path."""
    return path.rpartition(".")[2]


def _combined(a: Number, b: Number, signs: str, fit: str) -> Iterator[tuple[Number, str]]:
    """Two figures taken together, each with the sign between them."""
    fit = f"{fit}+" if ADDS in signs else fit
    for sign in {*signs} & {*fit}:
        if sign == "-":
            yield abs(a - b), sign
        elif sign == "+":
            yield a + b, sign
        elif sign == "*" and abs(a * b) < BIG:
            yield a * b, sign
        elif sign in RATIOS:
            yield from ((ratio, "/") for ratio in _ratios(a, b, whole=sign == ":"))


def _ratios(a: Number, b: Number, *, whole: bool) -> list[float]:
    """Each of two figures in the other; `whole`: the larger in the smaller, where it is whole."""
    if not (a and b):
        return []
    ratio = float(max(a, b) / min(a, b))
    return [ratio, 1 / ratio] if not whole else [ratio] if ratio.is_integer() else []
