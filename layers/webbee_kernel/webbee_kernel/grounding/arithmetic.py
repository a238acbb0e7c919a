"""What follows from figures by arithmetic that people do.

Worked with are the parts of each list (all rows, those that share a value, those that the reply
names), of which there are sizes, sums and averages, and pairs of the figures *in sight*: what the
reply shows, what the message says, what a result holds beside its rows, the fields of the records
that the reply names. Two figures from anywhere would give any third: what nobody named counts only
where chance would hardly give it. What a key says that a figure is of must agree: no sum of hours
and prices.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate, chain, combinations, product

from .groups import (
    ANY,
    BIG,
    QUOTIENT,
    SIZE,
    Figure,
    Table,
    combined,
    figure,
    is_counted,
    tables,
)
from .index import Index
from .places import EPSILON, MESSAGE, Number, Owner, Place

SAID, SEEN = 16, 40
"""Figures of the reply and of the message, and others in sight, that are paired."""
PARTS = 8
"""Fields of a record of which two are taken from a third: places less those sold and those held."""
FIXED, SURE = ("sizes", "sums", "groups"), ("sums", "told")
"""Ways to work figures out that do not depend on the reply, and those that nothing hits by
chance."""
CHANCE, ALIKE, MANY = 0.2, 0.1, 1000
"""How many hits by chance are too many for a figure to be made of what nobody named; share of a
figure by which others of about its size are off, and how many of these are counted."""
TIMES = (4, 7, 12, 24, 52, 60, 365)
"""Parts of calendars and clocks by which people multiply and divide: months of a year, days."""
REPLY, WORKED = "reply", "reply.worked"
"""Where a figure that the reply shows stands, and one that it works out."""


class Layer:
    """Some figures, sorted by size."""

    def __init__(self, figures: Iterable[Figure]) -> None:
        own = [f for f in figures if -BIG < f.value < BIG]
        self._figures = sorted(own, key=_size)
        self._sizes = [abs(f.value) for f in self._figures]

    def near(self, value: float, slack: float, kinds: Sequence[str], *, exact: bool) -> str:
        """How the first figure of some kinds is made that rounds, or is cut, to a value; `exact`: a
        whole one only where it is the value."""
        first = bisect_left(self._sizes, value - slack - EPSILON)
        last = bisect_right(self._sizes, value + (slack if exact else 2 * slack) + EPSILON)
        for one in self._figures[first:last]:
            size = _size(one)
            whole = exact and size == int(size)
            off = (whole or one.kind == QUOTIENT) and abs(size - value) >= EPSILON
            if (not kinds or one.kind in kinds) and not off:
                return one.formula
        return ""

    def odds(self, value: Number, step: float, kinds: Sequence[str]) -> float:
        """How many figures of some kinds any one of about this size hits by chance."""
        first, last = (bisect_left(self._sizes, value * (1 + off)) for off in (-ALIKE, ALIKE))
        alike = self._figures[first : min(last, first + MANY)]
        near = {_size(f) for f in alike if not kinds or f.kind in kinds}
        return len(near) * step / max(2 * ALIKE * value, step)


def _is_in(row: Owner, owners: frozenset[Owner]) -> bool:
    """Whether a row is one of some records, or lies in one."""
    return any(row[:end] in owners for end in range(len(row), 0, -1))


def _left(table: Table, row: int) -> Iterator[Number]:
    """What two fields of a row leave of a third."""
    parts = [column[row] for column in table.numbers.values() if row in column][:PARTS]
    return (a - b - c for a, (b, c) in product(parts, combinations(parts, 2)))


def _size(one: Figure) -> Number:
    return abs(one.value)


class Arithmetic:
    """The figures that follow from an index; `said`: those that the reply shows; `named`: the
    records that it names."""

    def __init__(self, index: Index, said: Sequence[Figure], named: frozenset[Owner]) -> None:
        self._index, self._said, self._named = index, said, named
        self._layers: dict[str, Layer] = {}
        self._given: dict[frozenset[Owner], list[Number]] = {}

    def follows(self, value: Number, step: float, kind: str, *, is_known: bool = False) -> str:
        """How a figure follows, as a formula; empty where it does not. `step`: what one in its last
        digit stands for; `kind`: what it is of, if that is known; `is_known`: whether it is that of
        a figure of the same known kind alone."""
        kinds = () if not kind else (kind,) if is_known else (kind, ANY, "", QUOTIENT)
        summed = kinds[:2] if kind in self._kinds else kinds
        for name in ("sums", "groups", "told", "pairs"):
            own = summed if name in FIXED else kinds
            layer = self._layer(name)
            found = layer.near(abs(value), step / 2, own, exact=step <= 1)
            if found and (name in SURE or layer.odds(abs(value), step, own) <= CHANCE):
                return found
        return self._by_chance(abs(value), step, kinds)

    def size(self, value: Number) -> str:
        """Which list, or part of one, has so many rows, or what a whole column adds up to; empty
        where none has."""
        sums = (f.formula for t in self._tables for f in t.totals() if f.value == value)
        return self._layer("sizes").near(abs(value), 0, (), exact=True) or next(sums, "")

    def of_records(self, owners: frozenset[Owner], value: Number, step: float) -> bool:
        """Whether a value is what figures of some records give, row by row or together."""
        if owners not in self._given:
            self._given[owners] = self._given_by(owners)
        most = max(step, EPSILON)
        return any(abs(abs(one) - abs(value)) < most for one in self._given[owners])

    def _given_by(self, owners: frozenset[Owner]) -> list[Number]:
        made: list[Number] = []
        for table in self._tables:
            mine = [n for row, n in table.rows.items() if _is_in(row, owners)]
            for key, (_, column) in table.columns.items() if mine else ():
                own = [column[row] for row in mine if row in column]
                made += [sum(own), *(a - b for a, b in combinations(own[:SAID], 2))]
                made += own if key not in table.numbers else (100 * one for one in own)
            made += chain.from_iterable(_left(table, row) for row in mine)
        return made

    def _layer(self, name: str) -> Layer:
        """The figures of one way to work some out; those that do not depend on the reply are kept
        with the index, until it takes in further figures."""

        def made() -> Layer:
            return Layer(getattr(self, f"_{name}")())

        if name in FIXED:
            return self._index.once(f"{name} of {len(self._index.figures)}", made)
        if name not in self._layers:
            self._layers[name] = made()
        return self._layers[name]

    def _sizes(self) -> Iterator[Figure]:
        for table in self._tables:
            for rows, label in table.groups.items():
                yield Figure(len(rows), SIZE, f"count({table.name} {label})")
        for listed in self._index.rows:
            yield Figure(listed.size, SIZE, f"count({listed.path})")

    def _sums(self) -> Iterator[Figure]:
        yield from (figure(p) for p in self._index.figures if p.call >= 0)
        yield from self._sizes()
        for table in self._tables:
            yield from (*table.worked_out(), *table.totals(), *table.means())

    def _groups(self) -> Iterator[Figure]:
        for table in self._tables:
            yield from (*table.sums(), *table.averages(), *table.weighted())

    def _by_chance(self, value: Number, step: float, kinds: Sequence[str]) -> str:
        """How a figure is made of some rows of a column, where so many sums and differences of it
        would hardly hit any figure by chance."""
        odds = 0.0
        parts = self._index.once("parts", lambda: sorted(chain(*(t.parts() for t in self._tables))))
        for part in (p for p in parts if not kinds or p.kind in kinds):
            odds += part.odds * max(1, step / part.grain)
            if odds > CHANCE:
                break
            at = bisect_left(part.made, value - step / 2 - EPSILON)
            if at < len(part.made) and part.made[at] <= value + step / 2 + EPSILON:
                return part.formula
        return ""

    def _pairs(self) -> Iterator[Figure]:
        for one, other in combinations(self._sight, 2):
            yield from combined(one, other)

    def _told(self) -> Iterator[Figure]:
        """What two figures give of which the reply or the message tells one."""
        told = {abs(p.value) for p in self._index.figures if p.call == MESSAGE}
        told |= {abs(one.value) for one in self._said}
        for one, other in combinations(self._sight, 2):
            if abs(one.value) in told or abs(other.value) in told or one.key == other.key != "":
                yield from combined(one, other)
        for one, times in product((s for s in self._said if s.kind == "money"), TIMES):
            yield Figure(one.value * times, one.kind, f"{one.formula} * {times}")
            yield Figure(one.value / times, one.kind, f"{one.formula} / {times}")
        for first in range(len(self._said)):
            kind = self._said[first].kind
            alike = [one.value for one in self._said[first:] if one.kind == kind]
            for count, total in enumerate(accumulate(alike), 1):  # "3, 4 and 5: 12 in all"
                yield Figure(total, kind, "sum(reply)")
                if total != int(total):  # "4.6 and 4.0: 4.3 on average"
                    yield Figure(total / count, kind, "average(reply)")

    @cached_property
    def _sight(self) -> list[Figure]:
        """The figures in sight, each value of a kind once."""
        told = [p for p in self._index.figures if p.call == MESSAGE]
        own = [p for p in self._index.figures if p.call >= 0 and self._is_seen(p)]
        seen = (*map(figure, told[:SAID]), *self._said, *map(figure, own[:SEEN]))
        found = {(f.value, f.kind): f for f in reversed(seen)}
        return list(found.values())

    def _is_seen(self, place: Place) -> bool:
        """Whether a figure is no row's, or of one that the reply names or that holds such a one."""
        if not (place.key or place.path == "data") or not is_counted(place):
            return False
        owner = place.owner
        above = not self._index.is_row(owner) or owner in self._named
        return above or any(one[: len(owner)] == owner for one in self._named)

    @property
    def _kinds(self) -> set[str]:
        """What the keys of the data say that its figures are of: what they do not say is not."""
        own = (p for p in self._index.figures if p.call >= 0 and p.key)
        return self._index.once("kinds", lambda: {figure(p).kind for p in own})

    @cached_property
    def _tables(self) -> list[Table]:
        return self._index.once("tables", lambda: tables(self._index))
