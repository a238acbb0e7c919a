"""What follows from shown figures by arithmetic that people do: wide and cheap.

A figure is invented only where nothing here gives it: sums, averages and sizes of every list and
every group of its rows (those that share a value, those up to a date), and of figures that belong
together (one record, the message, the reply, totals) sums, differences, products, ratios and
percentages. What a key says that a figure is of must agree: no sum of hours and prices.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import combinations, islice
from operator import itemgetter

from .groups import ANY, BIG, GROUPS, ROWS, Entry, Figure, Table, counted, figure, tables
from .index import Index
from .places import MESSAGE, Number, Owner
from .units import EPSILON, slack_of

FAMILY, CROSSED, SAID, PAIRS = 16, 120, 16, 2000
"""Figures of a record that are paired; figures of the data that go with those of the message or
the reply; figures of these; pairs in columns."""
CHOSEN, TELLING = 9, 1000
"""Rows of a list of which any may be added up, and from which figure on such a sum is no chance."""
OFTEN = (2, 3, 4, 7, 12, 24, 52, 60, 365)
"""What figures are taken times: twice, days of a week, months of a year."""


class Layer:
    """Some values that follow, sorted."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._entries = sorted((e for e in entries if e.value < BIG), key=itemgetter(0))
        self._values = [e.value for e in self._entries]

    def near(self, value: float, slack: float, kinds: Sequence[str], *, exact: bool) -> str:
        """The formula of the first entry of some kinds that rounds, or is cut, to a value; `exact`:
        a whole one only where it is the value."""
        first = bisect_left(self._values, value - slack - EPSILON)
        last = bisect_right(self._values, value + (slack if exact else 2 * slack) + EPSILON)
        for entry in self._entries[first:last]:
            whole = exact and entry.value == int(entry.value)
            if (not kinds or entry.kind in kinds) and (
                not whole or abs(entry.value - value) < EPSILON
            ):
                return entry.formula
        return ""


class Arithmetic:
    """The figures that follow from an index and from `said`, those that the reply shows; `named`:
    the records that the reply names; `year`: today's."""

    def __init__(
        self, index: Index, said: Sequence[Figure], named: frozenset[Owner], year: int
    ) -> None:
        self._index, self._said, self._named, self._year = index, said[:SAID], named, year
        self._layers: dict[str, Layer] = {}

    def follows(
        self, value: Number, step: float, *, rough: bool, unit: str = "", also: Sequence[str] = ()
    ) -> str:
        """How a figure follows, as a formula; empty where it does not. `step`: what one in its last
        digit stands for; `unit`: what it is of, if that is known; `also`: as `means`, `often` (so
        many times another), `compared` (the difference of any two rows)."""
        value, kinds = abs(value), (unit, ANY, "") if unit else ()
        slack = slack_of(value, step if rough else step / 2, rough=rough)
        exact = not rough and step <= 1
        for name in ("sums", "pairs", "crossed", *also):
            if found := self._layer(name).near(value, slack, kinds, exact=exact):
                return found
        return ""

    def share(self, value: Number, step: float, *, rough: bool) -> str:
        """How a percentage is a share, or a change."""
        value = abs(value)
        slack = slack_of(value, step if rough else step / 2, rough=rough)
        found = self._layer("ratios").near(value / 100, slack / 100, (), exact=False)
        return f"100 * {found}" if found else ""

    def size(self, value: Number) -> str:
        """Which list, or part of one, has so many rows; empty where none has."""
        return self._layer("sizes").near(value, 0, (), exact=True)

    def sum_of(self, owners: Iterable[Owner], value: Number) -> bool:
        """Whether a value is the sum of a column over some records."""
        columns: dict[str, list[Number]] = {}
        for owner in owners:
            for place in self._index.of_record(owner):
                columns.setdefault(place.key, []).append(place.value)
        sums = (sum(own) for own in columns.values() if len(own) > 1)
        return any(abs(total - value) < EPSILON for total in sums)

    def within(self, owners: Iterable[Owner], value: Number) -> bool:
        """Whether two figures of a record, or one of it and one of a like key above it, give a
        value: `stores_kg` and `target_stores_kg`."""
        for owner in owners:
            own = self._records.get(owner, [])[:FAMILY]
            above = [f for n in range(1, len(owner)) for f in self._records.get(owner[:n], ())]
            pairs = [*combinations(own, 2), *((a, b) for a in own for b in above[:FAMILY])]
            made = [e.value for pair in pairs for e in combined(*pair, "-*")]
            made += [100 * f.value for f in own]  # 0.24 of a euro as 24 cents
            if any(abs(one - abs(value)) < EPSILON for one in made):
                return True
        return False

    def _layer(self, name: str) -> Layer:
        if name not in self._layers:
            made: Iterator[Entry] = getattr(self, f"_{name}")()
            self._layers[name] = Layer(made)
        return self._layers[name]

    # ---- the layers

    def _sizes(self) -> Iterator[Entry]:
        for table in self._tables:
            yield from table.sizes(self._named)
        for rows in self._index.rows:
            yield Entry(float(rows.size), "", "count", rows.path)

    def _sums(self) -> Iterator[Entry]:
        for place in self._index.figures:
            if place.call >= 0:
                yield Entry(float(abs(place.value)), figure(place).kind, "", place.path)
        yield from self._sizes()
        for table in self._tables:
            yield from table.sums(table.parts(self._named))
        for path, values in self._plain:
            yield Entry(float(abs(sum(values))), ANY, "sum", path)
            yield from (Entry(float(abs(sum(values) - v)), ANY, "-", path, v) for v in values)

    def _means(self) -> Iterator[Entry]:
        for table in self._tables:
            yield from table.sums({**table.groups, table.all: ""}, mean=True)
        for path, values in self._plain:
            yield Entry(abs(sum(values) / len(values)), ANY, "average", path)

    def _pairs(self) -> Iterator[Entry]:
        for one, other in self._paired:
            yield from combined(one, other)
        for value in {f.value for f in (*self._asked, *self._figures)} if self._year else ():
            if 1900 < value < 2100:
                yield Entry(float(abs(self._year - value)), ANY, "-", "today", value)
        yield from self._runs()

    def _runs(self) -> Iterator[Entry]:
        """The sums of figures that the reply tells one after another: "3, 4 and 5, 12 in all"."""
        for kinds in (("rate",), ("money",), (ANY,), (ANY, "money")):
            own = [one for one in self._said if one.kind in kinds]
            for start in range(len(own)):
                total: Number = 0
                for one in own[start:]:
                    total += one.value
                    yield Entry(float(abs(total)), one.kind, "sum", "reply")

    def _crossed(self) -> Iterator[Entry]:
        """Figures of the message and of prose with those of the data, and times small ones that the
        reply tells."""
        held = self._figures[:CROSSED]
        for rate in (one for one in self._said if one.kind == "rate"):
            for other in held:
                yield from combined(rate, other, "%")
        for one in self._asked:
            small = one.path == "reply"
            for other in held:
                if not small or one.value <= SAID or other.kind == "money":
                    yield from combined(one, other, "*" if small else "+-*/")

    def _often(self) -> Iterator[Entry]:
        """Figures and sums taken times or shared: a month's for a year, two of them."""
        held = [*self._said, *self._figures, *self._wholes][:CROSSED]
        pairs = ((Figure(often, str(often)), one) for often in OFTEN for one in held)
        for one, other in pairs:
            yield from combined(one, other, "*/")

    def _chosen(self) -> Iterator[Entry]:
        """The sums of some rows of a short list, whichever a reply may have picked."""
        for table in (t for t in self._tables if 2 < len(t.rows) <= CHOSEN):
            for key, column in table.numbers.items():
                if table.kinds[key] in ("rate", "level"):
                    continue
                sums = [0.0]
                for value in column.values():
                    sums += [total + value for total in sums]
                yield from (Entry(abs(s), table.kinds[key], "sum", f"some {key}") for s in sums)

    def _compared(self) -> Iterator[Entry]:
        """The differences of any two figures of a column."""
        pairs = (pair for table in self._tables for pair in _pairs_of(table))
        for one, other in islice(pairs, PAIRS):
            yield from combined(one, other, "-")

    def _ratios(self) -> Iterator[Entry]:
        """Shares and changes, as fractions."""
        held = self._figures[:CROSSED]
        crossed = ((a, b) for a in self._asked if a.path != "reply" for b in held)
        for one, other in (*self._paired, *crossed):
            yield from fractions(one, other)
        for table in self._tables:
            yield from self._parts_of(table)
        yield from self._rates()
        for path, values in self._plain:
            whole = Figure(sum(values), "sum", ANY)
            for value in values:
                yield from fractions(Figure(value, path), whole, whole=True)

    def _rates(self) -> Iterator[Entry]:
        """The percentages that are told, and what is left of the whole."""
        for rate in (f for f in self._figures if f.kind == "rate"):
            yield Entry(abs(1 - rate.value / 100), "", "100 -", rate.path)
            yield Entry(float(abs(rate.value)), "", "", rate.path)

    def _parts_of(self, table: Table) -> Iterator[Entry]:
        """The shares of rows and groups in the sums of their columns, and in how many there are."""
        size = Figure(len(table.rows), f"count({table.name})", ANY)
        masks = {1 << n: f"row {n}" for n in range(len(table.rows[:ROWS]))}
        masks |= dict(list(table.groups.items())[:GROUPS])
        for mask, label in masks.items():
            part = Figure(mask.bit_count(), f"count({label})", ANY)
            yield from fractions(part, size, whole=True)
        for key, column in table.numbers.items():
            whole = Figure(sum(column.values()), f"sum({key})", ANY)
            for mask, label in masks.items():
                total = sum(v for row, v in column.items() if mask >> row & 1)
                yield from fractions(Figure(total, f"{key} {label}"), whole, whole=True)

    # ---- what they are made of

    @cached_property
    def _figures(self) -> list[Figure]:
        """The figures of results that people compare with others."""
        own = self._index.figures
        return [figure(p) for p in own if p.call >= 0 and p.key and counted(p)]

    @cached_property
    def _asked(self) -> list[Figure]:
        """The figures of the message and of prose, those that are all of a result, and those that
        the reply shows."""
        told = [p for p in self._index.figures if not p.key and p.path != "summary"]
        told.sort(key=lambda p: p.call != MESSAGE)  # the message's own first
        said = [one for one in self._said if one.kind != "rate"]
        return [*map(figure, told[:SAID]), *dict.fromkeys(said)]

    @cached_property
    def _paired(self) -> list[tuple[Figure, Figure]]:
        """The figures that belong together, by two: of one record with those above it, of the
        message and of the reply."""
        records, found = self._records, list[tuple[Figure, Figure]]()
        for owner, own in records.items():
            above = [f for n in range(1, len(owner)) for f in records.get(owner[:n], ())]
            found += combinations([*own, *above][:FAMILY], 2)
        found += combinations(self._asked, 2)
        return found

    @cached_property
    def _records(self) -> dict[Owner, list[Figure]]:
        """The figures of each record."""
        found: dict[Owner, list[Figure]] = {}
        for place in self._index.figures:
            if place.call >= 0 and place.key and counted(place):
                found.setdefault(place.owner, []).append(figure(place))
        return found

    @cached_property
    def _wholes(self) -> list[Figure]:
        """The sums of lists and of groups of rows."""
        own = (e for t in self._tables for e in t.sums({**t.groups, t.all: ""}))
        return [Figure(e.value, e.formula, e.kind) for e in islice(own, CROSSED)]

    @cached_property
    def _plain(self) -> list[tuple[str, list[Number]]]:
        """Lists of nothing but numbers."""
        lists = (r for r in self._index.rows if len(r.items) > 1)
        return [
            (r.path, list(r.items)) for r in lists if all(type(v) in (int, float) for v in r.items)
        ]

    @cached_property
    def _tables(self) -> list[Table]:
        return self._index.once("tables", lambda: tables(self._index))


def _pairs_of(table: Table) -> Iterator[tuple[Figure, Figure]]:
    """The figures of each column, by two."""
    for key, column in table.numbers.items():
        held = (Figure(v, f"{table.name}[{n}].{key}", table.kinds[key]) for n, v in column.items())
        yield from combinations(held, 2)


def _alike(one: Figure, other: Figure) -> bool:
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
    if "-" in signs and _alike(one, other):
        yield Entry(float(abs(a - b)), kind, "-", x, y)
        if not level and (k == m != "" or (not (k and m) and ANY in (k, m)) or "total" in x + y):
            yield Entry(float(abs(a + b)), kind, "+", x, y)
    if level:
        return
    if "*" in signs and (k != m or kind == ANY) and abs(a * b) < BIG:
        yield Entry(float(abs(a * b)), kind, "*", x, y)
    if "/" in signs and a and b:
        yield Entry(abs(a / b), _ratio(k, m), "/", x, y)
        yield Entry(abs(b / a), _ratio(m, k), "/", y, x)
    if "%" in signs:
        yield from _percentage(one, other)
        yield from _percentage(other, one)


def _percentage(whole: Figure, rate: Figure) -> Iterator[Entry]:
    """A percentage of a figure, and the figure without it and with it."""
    if rate.kind == "rate" and 0 < rate.value <= 100:
        part = abs(whole.value) * rate.value / 100
        yield Entry(part, whole.kind, "% of", rate.path, whole.path)
        yield Entry(abs(abs(whole.value) - part), whole.kind, "less", whole.path, rate.path)
        yield Entry(abs(whole.value) + part, whole.kind, "with", whole.path, rate.path)


def _kind(one: str, other: str) -> str:
    """What a sum or a product is of: an amount if one is, else what is known."""
    if "money" in (one, other):
        return "money"
    return ANY if one in (ANY, "rate") or other in (ANY, "rate") else one or other


def _ratio(part: str, whole: str) -> str:
    """What one figure for each of another is of: nothing known where both are of the same."""
    return ANY if part == ANY else "" if part == whole else part


def fractions(one: Figure, other: Figure, *, whole: bool = False) -> Iterator[Entry]:
    """Shares of two figures in each other, and the changes between them; `whole`: the second is
    what the first is a part of."""
    pairs = ((one, other), (other, one))[: 1 if whole else 2] if _alike(one, other) else ()
    for part, base in pairs:
        if base.value and part.value:
            share = abs(part.value / base.value)
            yield Entry(share, "", "/", part.path, base.path)
            yield Entry(abs(1 - share), "", "- 1 /", part.path, base.path)
