"""What follows from shown figures by arithmetic that people do: wide and cheap.

A figure is invented only where nothing here gives it. The closure holds, of every list and every
group of its rows (those that share a value or a flag, those before or after a date or an amount),
sums, averages and sizes; of figures that belong together (one record, one column, the message, the
reply) sums, differences, products and ratios. Its values lie sorted and are made only when a
figure is not shown as it is, the cheap ones first; a figure is looked up within what its printed
digits leave open.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice

from .arithmetic import (
    BIG,
    Entry,
    Figure,
    combined,
    counted,
    figure,
    fractions,
    kind_of,
    several,
    slack_of,
)
from .index import Index
from .places import Number, Owner, Place
from .tables import Table

FAMILY, CROSSED, SAID, TRIPLES = 16, 120, 16, 6
"""Figures of a record or column that are paired; figures of the data that go with those of the
message or the reply; figures of these; figures of a record that are taken three at a time."""
OFTEN = (2, 3, 4, 7, 12, 24, 52, 60, 365)
"""What figures are taken times: twice, days of a week, months of a year."""
EPSILON = 1e-6


@dataclass(slots=True)
class _Layer:
    """Some values that follow, sorted."""

    values: list[float]
    entries: list[Entry]

    def near(self, value: float, slack: float, *, exact: bool) -> Entry | None:
        """The first entry that rounds, or is cut, to a value; `exact`: a whole one only where it is
        the value."""
        first = bisect_left(self.values, value - (slack / 2 if exact else slack) - EPSILON)
        last = bisect_right(self.values, value + slack + EPSILON)
        for entry in self.entries[first:last]:
            whole = exact and entry[0] == int(entry[0])
            if not whole or abs(entry[0] - value) < EPSILON:
                return entry
        return None


@dataclass
class Closure:
    """The figures that follow from an index and from `said`, those that the reply shows; `named`:
    the records that the reply names; `year`: today's."""

    index: Index
    said: Sequence[Number] = ()
    named: frozenset[Owner] = frozenset()
    year: int = 0
    _layers: list[_Layer] = field(default_factory=list)

    def follows(
        self,
        value: Number,
        step: float,
        *,
        rough: bool = False,
        most: int = 3,
        means: bool = False,
        often: bool = False,
    ) -> str:
        """How a figure follows, as a formula; empty where it does not. `step`: what one in its last
        digit stands for; `most`: how many layers are asked; `means`:
        also as an average; `often`: as so many times another."""
        value = abs(value)
        slack = slack_of(value, step, rough=rough)
        exact = not rough and step <= 1
        for layer in islice(self._made(), most):
            if entry := layer.near(value, slack, exact=exact):
                return _formula(entry)
        if often and (entry := self._often.near(value, slack, exact=exact)):
            return _formula(entry)
        if means and (entry := self._averages.near(value, slack, exact=exact)):
            return _formula(entry)
        return ""

    def within(self, owners: Iterable[Owner], value: Number) -> bool:
        """Whether two figures of a record give a value."""
        for owner in owners:
            held = [figure(p) for p in self._figures if p.owner == owner][:FAMILY]
            for pair in combinations(held, 2):
                if any(abs(e[0] - abs(value)) < EPSILON for e in combined(*pair, "-*")):
                    return True
        return False

    def share(self, value: Number, step: float, *, rough: bool = False) -> str:
        """How a percentage is a share, or a change."""
        value = abs(value)
        slack = slack_of(value, step, rough=rough)
        entry = self._ratios.near(value / 100, slack / 100, exact=False)
        return f"100 * {_formula(entry)}" if entry else ""

    def _made(self) -> Iterator[_Layer]:
        makers = (self._sums, self._pairs, self._crossed)
        for number, make in enumerate(makers):
            if len(self._layers) <= number:
                self._layers.append(_layer(make()))
            yield self._layers[number]

    # ---- lists and groups of rows

    @cached_property
    def _tables(self) -> list[Table]:
        return self.index.grouped()

    def _sums(self) -> Iterator[Entry]:
        for place in self.index.figures:
            yield float(abs(place.value)), "", place.value, place.path
        for table in self._tables:
            yield from table.sums(self.named)
        for path, values in self.index.tallies:
            yield float(abs(sum(values))), "sum", path, ""
            for value in values:
                yield float(abs(sum(values) - value)), "-", f"sum({path})", value

    @cached_property
    def _averages(self) -> _Layer:
        held = [entry for table in self._tables for entry in table.averages()]
        for path, values in self.index.tallies:
            held.append((abs(sum(values) / len(values)), "average", path, ""))
        said = [value for value in self.said if value]
        if len(said) > 1:
            held.append((abs(sum(said) / len(said)), "average", said, ""))
        return _layer(held)

    @cached_property
    def _often(self) -> _Layer:
        """Figures and sums taken times or shared: a month's for a year, two of them."""
        held = [*map(figure, self._figures), *self._wholes][:CROSSED]
        pairs = ((Figure(often, str(often)), one) for often in OFTEN for one in held)
        return _layer(entry for one, other in pairs for entry in combined(one, other, "*/"))

    @cached_property
    def _wholes(self) -> list[Figure]:
        """The sums of lists and of groups of rows."""
        return [
            Figure(entry[0], _formula(entry), kind_of(key))
            for table in self._tables
            for key, entry in table.totals()
        ][:CROSSED]

    # ---- figures that belong together

    @cached_property
    def _families(self) -> list[list[Figure]]:
        """The figures of one record with those of the records above it, and of one column."""
        records: dict[Owner, list[Figure]] = {}
        for place in self._figures:
            records.setdefault(place.owner, []).append(figure(place))
        found: list[list[Figure]] = []
        for owner, own in records.items():
            above = [f for n in range(1, len(owner)) for f in records.get(owner[:n], ())]
            found.append([*own, *above][:FAMILY])
        for table in self._tables:
            for key, column in table.figures():
                kind = kind_of(key)
                found.append([Figure(v, path, kind) for v, path in column][:FAMILY])
        for path, values in self.index.tallies:
            found.append([Figure(value, path) for value in values][:FAMILY])
        return [held for held in found if len(held) > 1]

    @cached_property
    def _figures(self) -> list[Place]:
        """The figures that people compare with others."""
        return [p for p in self.index.figures if p.call >= 0 and p.key and counted(p)]

    @cached_property
    def _asked(self) -> list[Figure]:
        """The figures of the message, of keys and of prose, and those of the reply."""
        asked = [figure(p) for p in self.index.figures if not p.owner and not p.key]
        said = [Figure(value, "reply") for value in dict.fromkeys(self.said)]
        years = [Figure(self.year, "today")] if self.year else []
        return [*asked[:SAID], *said[:SAID], *years]

    def _pairs(self) -> Iterator[Entry]:
        for held in [*self._families, self._asked]:
            for one, other in combinations(held, 2):
                yield from combined(one, other)
            if len(held) <= TRIPLES:
                yield from several(held)
        said = [value for value in self.said if value]
        for start in range(len(said)):  # "3, 4 and 5, 12 in all"
            total: Number = 0
            for end in range(start, min(len(said), start + SAID)):
                total += said[end]
                yield float(total), "sum", said[start : end + 1], ""

    def _crossed(self) -> Iterator[Entry]:
        """Figures of the message, of the reply, sizes and sums of lists, each with every other."""
        wholes = self._wholes
        held = [figure(p) for p in self._figures][:CROSSED]
        for one in self._asked:
            small = one.path == "reply"
            for other in [*held, *wholes] if not small or one.value <= SAID else ():
                yield from combined(one, other, "*" if small else "+-*/%")
        for table in self._tables:
            size = Figure(table.size, f"count({table.name})")
            for other in held:
                yield from combined(size, other, "*")
        for one in wholes:
            for other in held:
                yield from combined(one, other, "-+%")
        for one, other in combinations(wholes[:SAID], 2):
            yield from combined(one, other, "-+")

    @cached_property
    def _ratios(self) -> _Layer:
        """Shares and changes, as fractions."""
        held = [figure(p) for p in self._figures][:CROSSED]
        pairs = [pair for own in [*self._families, self._asked] for pair in combinations(own, 2)]
        pairs += [(a, b) for a in self._asked if a.path != "reply" for b in held]
        made = [entry for a, b in pairs for entry in fractions(a, b)]
        rates = [figure(p) for p in self.index.figures if kind_of(p.key) == "rate"]
        made += [(abs(1 - r.value / 100), "100 -", r.path, "") for r in rates]
        return _layer([*made, *self._parts()])

    def _parts(self) -> Iterator[Entry]:
        """The shares of parts in their wholes."""
        pairs = [(Figure(*a), Figure(*b)) for table in self._tables for a, b in table.shares()]
        for path, values in self.index.tallies:
            pairs += [(Figure(v, path), Figure(sum(values), "sum")) for v in values]
        for part, whole in pairs:
            yield from fractions(part, whole, whole=True)


def _layer(entries: Iterable[Entry]) -> _Layer:
    held = sorted((e for e in entries if e[0] < BIG), key=lambda e: e[0])
    return _Layer([e[0] for e in held], held)


def _formula(entry: Entry) -> str:
    _value, sign, one, other = entry
    if not sign:
        return str(other)
    return f"{one} {sign} {other}" if other != "" else f"{sign}({one})"
