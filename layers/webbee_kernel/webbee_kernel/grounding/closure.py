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
from itertools import chain, combinations, islice
from operator import itemgetter

from .arithmetic import (
    ANY,
    BIG,
    Entry,
    Figure,
    combined,
    counted,
    figure,
    fractions,
    kind_of,
    runs,
    slack_of,
)
from .index import Index
from .places import Number, Owner, Place, key_words
from .tables import Table

FAMILY, CROSSED, SAID, PAIRS = 16, 120, 16, 2000
"""Figures of a record or column that are paired; figures of the data that go with those of the
message or the reply; figures of these; pairs in columns."""
OFTEN = (2, 3, 4, 7, 12, 24, 52, 60, 365)
"""What figures are taken times: twice, days of a week, months of a year."""
YEARS = range(1900, 2100)
"""Figures that are years, from which people count to this one."""
EPSILON = 1e-6


@dataclass(slots=True)
class _Layer:
    """Some values that follow, sorted."""

    values: list[float]
    entries: list[Entry]

    def near(self, value: float, slack: float, kinds: Sequence[str], *, exact: bool) -> str:
        """The formula of the first entry of some kinds that rounds, or is cut, to a value; `exact`:
        a whole one only where it is the value."""
        first = bisect_left(self.values, value - slack - EPSILON)
        last = bisect_right(self.values, value + (slack if exact else 2 * slack) + EPSILON)
        for entry in self.entries[first:last]:
            whole = exact and entry.value == int(entry.value)
            if (not kinds or entry.kind in kinds) and (
                not whole or abs(entry.value - value) < EPSILON
            ):
                return entry.formula
        return ""


@dataclass
class Closure:
    """The figures that follow from an index and from `said`, those that the reply shows; `named`:
    the records that the reply names; `year`: today's."""

    index: Index
    said: Sequence[Figure] = ()
    named: frozenset[Owner] = frozenset()
    year: int = 0
    _layers: list[_Layer] = field(default_factory=list)

    def follows(
        self,
        value: Number,
        step: float,
        *,
        rough: bool = False,
        unit: str = "",
        most: int = 3,
        means: bool = False,
        often: bool = False,
        compares: bool = False,
    ) -> str:
        """How a figure follows, as a formula; empty where it does not. `step`: what one in its last
        digit stands for; `unit`: what it is of, if that is known; `most`: how many layers are
        asked; `means`: also as an average; `often`: as so many times another;
        `compares`: as the difference of any two rows."""
        value, kinds = abs(value), (unit, ANY, "") if unit else ()
        slack = slack_of(value, step if rough else step / 2, rough=rough)
        exact = not rough and step <= 1
        layers = chain(
            islice(self._made(), most),
            (self._often for _ in range(often)),
            (self._averages for _ in range(means)),
            (self._compared for _ in range(compares)),
        )
        found = (layer.near(value, slack, kinds, exact=exact) for layer in layers)
        return next(filter(None, found), "")

    def within(self, owners: Iterable[Owner], value: Number) -> bool:
        """Whether two figures of a record give a value, or one that it is short of what stands
        above it: `stores_kg` and `target_stores_kg`."""
        for owner in owners:
            own = [p for p in self._figures if p.owner == owner][:FAMILY]
            pairs = combinations(map(figure, own), 2)
            made = [e.value for pair in pairs for e in combined(*pair, "-*")]
            above = [p for p in self._figures if p.owner == owner[: len(p.owner)] != owner]
            same = (
                (a, b) for a in own for b in above if {*key_words(a.key)} <= {*key_words(b.key)}
            )
            made += [abs(a.value - b.value) for a, b in same]
            if any(abs(one - abs(value)) < EPSILON for one in made):
                return True
        return False

    def of_record(self, owner: Owner, value: Number, step: float, *, rough: bool = False) -> str:
        """How a figure follows from those of one record, its rows and the records above it."""
        slack = slack_of(abs(value), step if rough else step / 2, rough=rough)
        held = [p for p in self._figures if p.owner == owner[: len(p.owner)] and p.owner]
        pairs = combinations([figure(p) for p in (*self._results, *held)][:FAMILY], 2)
        own = [Entry(float(abs(p.value)), "", "", p.value, p.path) for p in held]
        made = [*own, *(e for pair in pairs for e in combined(*pair)), *self._inside(owner)]
        return _layer(made).near(abs(value), slack, (), exact=not rough and step <= 1)

    def _inside(self, owner: Owner) -> Iterator[Entry]:
        """The sums of the rows inside a record, and how many there are."""
        sums: dict[str, list[Number]] = {}
        for place in self.index.figures:
            if place.owner[: len(owner)] == owner != place.owner:
                sums.setdefault(place.key, []).append(place.value)
        for key, values in sums.items():
            yield Entry(float(abs(sum(values))), "", "sum", key)
            yield Entry(float(len(values)), "", "count", key)

    def share(self, value: Number, step: float, *, rough: bool = False) -> str:
        """How a percentage is a share, or a change."""
        value = abs(value)
        slack = slack_of(value, step if rough else step / 2, rough=rough)
        found = self._ratios.near(value / 100, slack / 100, (), exact=False)
        return f"100 * {found}" if found else ""

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
            yield Entry(float(abs(place.value)), figure(place).kind, "", place.value, place.path)
        for table in self._tables:
            yield from table.sums(self.named)
        for path, values in self.index.tallies:
            yield Entry(float(abs(sum(values))), ANY, "sum", path)
            for value in values:
                yield Entry(float(abs(sum(values) - value)), ANY, "-", f"sum({path})", value)

    @cached_property
    def _averages(self) -> _Layer:
        held = [entry for table in self._tables for entry in table.averages()]
        for path, values in self.index.tallies:
            held.append(Entry(abs(sum(values) / len(values)), ANY, "average", path))
        return _layer(held)

    @cached_property
    def _often(self) -> _Layer:
        """Figures and sums taken times or shared: a month's for a year, two of them."""
        held = [*self.said, *map(figure, self._figures), *self._wholes][:CROSSED]
        pairs = ((Figure(often, str(often)), one) for often in OFTEN for one in held)
        return _layer(entry for one, other in pairs for entry in combined(one, other, "*/"))

    @cached_property
    def _compared(self) -> _Layer:
        """The differences of any two figures of a column."""
        everywhere = frozenset(place.owner for place in self._figures)
        pairs = (pair for table in self._tables for pair in table.pairs(everywhere))
        return _layer(e for one, other in islice(pairs, PAIRS) for e in combined(one, other, "-"))

    @cached_property
    def _wholes(self) -> list[Figure]:
        """The sums of lists and of groups of rows."""
        held = (entry for table in self._tables for entry in table.totals())
        return [Figure(e.value, e.formula, e.kind) for e in islice(held, CROSSED)]

    # ---- figures that belong together

    @cached_property
    def _families(self) -> list[list[Figure]]:
        """The figures of one record with those of the records above, and numbers side by side."""
        records: dict[Owner, list[Figure]] = {}
        for place in self._figures:
            records.setdefault(place.owner, []).append(figure(place))
        found: list[list[Figure]] = []
        for owner, own in records.items():
            above = [f for n in range(1, len(owner)) for f in records.get(owner[:n], ())]
            found.append([*own, *above])
        for path, values in self.index.tallies:
            found.append([Figure(value, path) for value in values])
        return [held[:FAMILY] for held in found if len(held) > 1]

    @cached_property
    def _figures(self) -> list[Place]:
        """The figures that people compare with others."""
        return [p for p in self.index.figures if p.call >= 0 and p.key and counted(p)]

    @cached_property
    def _results(self) -> list[Place]:
        """The numbers that are all of a result, as a calculator returns them."""
        prose = {p.call for p in self.index.strings() if p.path == "data"}
        return [p for p in self.index.figures if p.path == "data" and p.call not in prose]

    @cached_property
    def _asked(self) -> list[Figure]:
        """The figures of the message, of keys and prose, but no summary, those that are all of a
        result, and those of the reply."""
        told = [p for p in self.index.figures if not p.owner and not p.key]
        asked = [figure(p) for p in (*self._results, *told) if p.path != "summary"]
        said = [one for one in self.said if one.kind != "rate"]
        return [*asked[:SAID], *dict.fromkeys(said[:SAID])]

    @cached_property
    def _paired(self) -> list[tuple[Figure, Figure]]:
        """The figures that belong together, by two."""
        families = [*self._families, self._asked]
        found = [pair for held in families for pair in combinations(held, 2)]
        columns = (pair for table in self._tables for pair in table.pairs(self.named))
        return [*found, *islice(columns, PAIRS)]

    def _pairs(self) -> Iterator[Entry]:
        for one, other in self._paired:
            yield from combined(one, other)
        rates = [one for one in self.said if one.kind == "rate"]
        for one in self._asked if rates else ():
            yield from chain.from_iterable(combined(one, rate, "%") for rate in rates)
        told = {one.value for one in self._asked} | {place.value for place in self._figures}
        for value in told if self.year else ():
            if value in YEARS:
                yield Entry(float(abs(self.year - value)), ANY, "-", "today", value)
        yield from runs(self.said, SAID)

    def _crossed(self) -> Iterator[Entry]:
        """Figures of the message, of the reply, and sums of lists, each with every other."""
        wholes = self._wholes
        held = [figure(p) for p in self._figures][:CROSSED]
        for one in self._asked:
            small = one.path == "reply"
            for other in [*held, *wholes] if not small or one.value <= SAID else ():
                yield from combined(one, other, "*" if small else "+-*/")
        for one in wholes:
            for other in held:
                yield from combined(one, other, "-+%")
        for one, other in combinations(wholes[:SAID], 2):
            yield from combined(one, other, "-+")

    @cached_property
    def _ratios(self) -> _Layer:
        """Shares and changes, as fractions."""
        held = [figure(p) for p in self._figures][:CROSSED]
        pairs = self._paired + [(a, b) for a in self._asked if a.path != "reply" for b in held]
        parts = chain.from_iterable(table.shares() for table in self._tables)
        made = chain.from_iterable(fractions(a, b) for a, b in pairs)
        return _layer([*made, *parts, *self._of_rates(), *self._of_tallies()])

    def _of_rates(self) -> Iterator[Entry]:
        for place in self.index.figures:
            if kind_of(place.key) == "rate":
                yield from _of_rate(figure(place))

    def _of_tallies(self) -> Iterator[Entry]:
        for path, values in self.index.tallies:
            whole = Figure(sum(values), "sum")
            for value in values:
                yield from fractions(Figure(value, path), whole, whole=True)


def _of_rate(rate: Figure) -> Iterator[Entry]:
    """What a percentage leaves of a whole, or what it is itself as a fraction of one."""
    yield Entry(abs(1 - rate.value / 100), "", "100 -", rate.path)
    if 0 < rate.value < 1:
        yield Entry(float(rate.value), "", "", "", rate.path)


def _layer(entries: Iterable[Entry]) -> _Layer:
    held = sorted([e for e in entries if e.value < BIG], key=itemgetter(0))
    return _Layer([e.value for e in held], held)
