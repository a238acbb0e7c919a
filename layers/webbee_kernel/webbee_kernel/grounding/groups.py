"""The lists of a turn's results as tables: rows, columns, groups of rows, and combinations of
figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import date
from functools import cached_property
from itertools import accumulate, combinations, islice, product
from typing import NamedTuple

from .. import language
from .index import Index
from .places import Number, Owner, Place, currencies_of, key_words, kind_of

ANY = "?"
"""The kind of a figure without a field."""
SIZE = "#"
"""The kind of a list's size."""
QUOTIENT = "/"
"""The kind of a ratio, which must match exactly."""
OTHER = "-"
"""The kind of a product that is not an amount."""
BIG = 1e12
"""Larger figures are ignored."""
MAX_ROWS, MAX_LABEL = 1000, 60
"""Maximum rows of a table; maximum characters of a text that groups rows."""
FRIDAY = 5
"""The last weekday of ISO 8601 before the weekend."""
MAX_RUN, MAX_COLUMN = 24, 100
"""Maximum rows for sums of consecutive rows and differences; maximum rows for complements of
groups."""
MAX_TABLES = 6
"""Maximum tables whose rows are combined individually."""
MAX_CHAIN = 6
"""Maximum columns for chains of three."""
MAX_WIDTH = 8
"""Maximum numeric columns combined in pairs."""

Part = frozenset[int]


class Figure(NamedTuple):
    """A value, its kind (`money`, `rate`, a measure, empty for an unknown field, or `ANY`), its
    path or formula, and its key."""

    value: Number
    kind: str = ANY
    formula: str = ""
    key: str = ""


def is_usable(place: Place) -> bool:
    """Whether a figure is usable in arithmetic: not an id."""
    roles = language.key_roles(place.key)
    known = "id" not in roles or bool(roles & {"money", "total"})
    return abs(place.value) < BIG and (known or isinstance(place.value, float))


def figure(place: Place) -> Figure:
    """A field as a figure, its kind by its key or its parent's: `{"cost": {"v": 6.91}}`."""
    if not place.key:
        return Figure(place.value, ANY, place.path)
    above = place.path.rpartition(".")[0].rpartition(".")[2].rpartition("]")[2]
    kind = place.kind or kind_of(place.key) or kind_of(above)
    if kind == "money" and "rate" in key_words(above) and currencies_of(place.key):
        kind = ANY  # `rates: {USD: 1.16}`
    return Figure(place.value, kind, place.path, place.key)


class Table:
    """Rows of the same list; a group is a set of row numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: dict[Owner, int] = {}
        self.labels: dict[str, dict[int, object]] = {}
        self.numbers: dict[str, dict[int, Number]] = {}
        self.kinds: dict[str, str] = {}

    def add(self, place: Place, row: int) -> None:
        """Add a field of a row."""
        value = place.value
        if isinstance(value, str) and len(value) > MAX_LABEL:
            return
        self.labels.setdefault(place.key, {})[row] = value
        if not isinstance(value, str | bool) and is_usable(place):
            self.numbers.setdefault(place.key, {})[row] = value
            self.kinds[place.key] = figure(place).kind

    @cached_property
    def within(self) -> dict[Owner, list[int]]:
        """The row numbers by record and parent record."""
        found: dict[Owner, list[int]] = {}
        for owner, row in self.rows.items():
            for end in range(1, len(owner) + 1):
                found.setdefault(owner[:end], []).append(row)
        return found

    @cached_property
    def groups(self) -> dict[Part, str]:
        """Groups of rows with labels: with the same value, with a field, and all."""
        found: dict[tuple[str, object], set[int]] = {}
        for key, column in self.labels.items():
            for row, value in column.items():
                for one in _sorts(value):
                    found.setdefault((f"{key} = ", one), set()).add(row)
            found[key, ""] = set(column)
        for key, figures in self.numbers.items():
            if below := {row for row, value in figures.items() if value < 0}:
                found[key, " < 0"], found[key, " > 0"] = below, figures.keys() - below
        labels = {frozenset(rows): f"{key}{one}" for (key, one), rows in found.items()}
        return labels | {frozenset(self.rows.values()): ""}

    @cached_property
    def columns(self) -> dict[str, tuple[str, dict[int, Number]]]:
        """The numeric columns and combinations of two (price times quantity, balance, pace), each
        with its kind."""
        found = {k: (self.kinds[k], own) for k, own in self.numbers.items()}
        for a, b in combinations(islice(self.numbers, MAX_WIDTH), 2):
            other, is_priced = self.numbers[b], self._is_whole(a) is not self._is_whole(b)
            for row, value in self.numbers[a].items():
                if row not in other:
                    continue
                one, two = Figure(value, self.kinds[a], a), Figure(other[row], self.kinds[b], b)
                for made in _of_row(one, two, is_priced=is_priced):
                    found.setdefault(made.formula, (made.kind, {}))[1][row] = made.value
        return found

    def _is_whole(self, key: str) -> bool:
        return all(isinstance(value, int) for value in self.numbers[key].values())

    def derived(self) -> Iterator[Figure]:
        """The combinations of two fields of each row."""
        for key in self.columns.keys() - self.numbers.keys():
            kind, column = self.columns[key]
            for row, value in column.items():
                yield Figure(value, kind, f"{self.name}[{row}]: {key}")

    def totals(self) -> Iterator[Figure]:
        """Sums and averages of columns; no sums of levels."""
        for key, column in self.numbers.items():
            if len(column) > 1:
                total, kind = sum(column.values()), self.kinds[key]
                yield Figure(total / len(column), kind, f"average({self.name}[].{key})", key)
                if kind != "level":
                    yield Figure(total, kind, f"sum({self.name}[].{key})", key)

    def _parts(
        self, columns: Mapping[str, Mapping[int, Number]]
    ) -> Iterator[tuple[str, list[Number], str]]:
        """The figures of each group in each column, with the column's key and their formula."""
        for key, column in columns.items():
            for rows, label in self.groups.items():
                if part := [column[row] for row in rows if row in column]:
                    yield key, part, f"{self.name}[].{key}" + (f" where {label}" if label else "")

    def group_sums(self) -> Iterator[Figure]:
        """Sums of columns over groups."""
        for key, part, where in self._parts(self.numbers):
            if len(part) > 1 and self.kinds[key] != "level":
                yield Figure(sum(part), self.kinds[key], f"sum({where})")

    def by_group(self) -> Iterator[Figure]:
        """Averages of columns and sums of combinations over groups, sums of complements and of
        consecutive rows, and differences; of levels only averages and differences."""
        columns = {key: column for key, (_, column) in self.columns.items()}
        totals = {k: sum(own.values()) for k, own in columns.items() if len(own) <= MAX_COLUMN}
        for key, part, where in self._parts(columns):
            kind = self.columns[key][0]
            if len(part) > 1 and key in self.numbers:
                yield Figure(sum(part) / len(part), kind, f"average({where})")
            elif len(part) > 1 and kind != "level":
                yield Figure(sum(part), kind, f"sum({where})")
            if kind != "level" and key in totals:
                rest = totals[key] - sum(part)
                yield Figure(rest, kind, f"sum({self.name}[].{key}) - {where}")
        for key in self.numbers:
            yield from self._runs(key)

    def _runs(self, key: str) -> Iterator[Figure]:
        """Sums of consecutive rows, and differences, of a short column."""
        values, kind = [*self.numbers[key].values()][:MAX_RUN], self.kinds[key]
        for start in range(len(values) if kind != "level" else 0):
            for total in accumulate(values[start:]):
                yield Figure(total, kind, f"sum of some {self.name}[].{key}")
        for a, b in combinations(values, 2):
            yield Figure(a - b, kind, f"difference of two {self.name}[].{key}")


def _of_row(one: Figure, other: Figure, *, is_priced: bool) -> Iterator[Figure]:
    """Combinations of two fields of a row; `is_priced`: one may be a quantity and the other a
    price, as only one column is integer."""
    yield from combine(one, other, "%")
    kinds = {one.kind, other.kind}
    signs = "+-*/" if is_priced or "money" in kinds else "+-/"
    if len(kinds) == 2 and "" in kinds and "money" not in kinds:
        signs = signs.removeprefix("+-")  # a depth, and what nobody knows
    x, y = (f._replace(kind=f.kind or ANY) for f in (one, other))
    yield from combine(x, y, signs)


def tables(index: Index) -> list[Table]:
    """The tables of a turn's results; a single record is a table of one row."""
    found: dict[Owner, Table] = {}
    rows: dict[Owner, tuple[Table, int] | None] = {}
    for place in index.fields():
        if place.owner not in rows:
            rows[place.owner] = _row(place, found)
        if held := rows[place.owner]:
            held[0].add(place, held[1])
    return [*found.values()]


def _row(place: Place, found: dict[Owner, Table]) -> tuple[Table, int] | None:
    """The table of a row, and its number there; None if the table is full."""
    steps = tuple(step for step in place.owner if isinstance(step, str))
    name = place.path.rpartition("[")[0] or str(steps[-1])
    table = found.setdefault(steps, Table(name))
    if len(table.rows) >= MAX_ROWS:
        return None
    return table, table.rows.setdefault(place.owner, len(table.rows))


def _sorts(value: object) -> Iterator[object]:
    """The grouping keys of a value: itself; for a date also day, month, week and its weekend."""
    yield value.lower() if isinstance(value, str) else value
    if isinstance(value, str) and value[4:5] == value[7:8] == "-":
        yield value[:10]
        yield value[:7]
        with suppress(ValueError):
            week = date.fromisoformat(value[:10]).isocalendar()
            yield from (week[:2], (*week[:2], week.weekday > FRIDAY))


def combine(one: Figure, other: Figure, signs: str = "+-*/%") -> Iterator[Figure]:
    """Combinations of two figures: sum, difference, product, ratios and percentages; of levels only
    the difference."""
    (a, k, x), (b, m, y) = one[:3], other[:3]
    kind = _kind(k, m)
    if "-" in signs and _is_alike(one, other):
        yield Figure(a - b, kind, f"{x} - {y}")
    if "level" in (k, m):
        return
    if "+" in signs and _is_addable(one, other):
        yield Figure(a + b, kind, f"{x} + {y}")
    if "*" in signs and (k != m or kind == ANY):
        made = kind if "money" in (k, m) or k == m else OTHER
        yield Figure(a * b, made, f"{x} * {y}")
    if "/" in signs and a and b:
        yield from _ratios(one, other)
    if "%" in signs:
        yield from _percentages(one, other)
        yield from _percentages(other, one)


def chains(parts: Sequence[Figure]) -> Iterator[Figure]:
    """Combinations of three figures: (a - b) * c, (a - b) / c, a * b + c, a * b - c, c - a - b; and
    the products of two."""
    for one, (a, b) in product(parts, combinations(parts, 2)):
        if one in (a, b):
            continue
        kind = "money" if "money" in (one.kind, a.kind, b.kind) else ANY
        x, y, z = a.value, b.value, one.value
        made = {"ab": x * y, "c-a-b": z - x - y}
        if kind == "money":
            made |= {"(a-b)c": (x - y) * z, "ab+c": x * y + z, "ab-c": x * y - z}
            made |= {"(a-b)/c": (x - y) / z} if z else {}
        for how, value in made.items():
            yield Figure(value, kind, f"{how} of {a.formula}, {b.formula}, {one.formula}")


def multiples(
    row: Sequence[Figure], counts: Iterable[Number], few: Iterable[Number]
) -> Iterator[Figure]:
    """The amounts of a row times each of `counts`, and the sums of two, each times one of `few`."""
    amounts = [one for one in row if one.kind == "money"][:MAX_CHAIN]
    for one, n in product(amounts, counts):
        yield Figure(one.value * n, one.kind, f"{one.formula} * {n}")
    for (one, other), n, m in product(combinations(amounts, 2), few, few):
        told = f"{one.formula} * {n} + {other.formula} * {m}"
        yield Figure(one.value * n + other.value * m, one.kind, told)


def _ratios(one: Figure, other: Figure) -> Iterator[Figure]:
    (a, k, x), (b, m, y) = one[:3], other[:3]
    are_same = one.key == other.key != "" or k == m not in ("", ANY)
    times = "" if are_same else QUOTIENT
    yield Figure(a / b, _ratio(k, m) or times, f"{x} / {y}")
    yield Figure(b / a, _ratio(m, k) or times, f"{y} / {x}")


def _percentages(whole: Figure, rate: Figure) -> Iterator[Figure]:
    """Percentages of a figure, the figure minus, plus, and before it; a rate may be a fraction."""
    if rate.kind == "rate" and 0 < rate.value <= 100:
        share = rate.value if rate.value < 1 else rate.value / 100
        made = {"% of": share, "less": 1 - share, "with": 1 + share, "before": 1 / (1 + share)}
        for sign, factor in made.items():
            formula = f"{rate.formula} {sign} {whole.formula}"
            yield Figure(whole.value * factor, whole.kind, formula)


def _is_alike(one: Figure, other: Figure) -> bool:
    """Whether two figures are comparable: of the same kind, or one of an unknown kind."""
    kinds = one.kind, other.kind
    if one.kind == other.kind or ANY in kinds or ("" in kinds and "money" not in kinds):
        return True
    return "total" in one.formula or "total" in other.formula


def _is_addable(one: Figure, other: Figure) -> bool:
    """Whether two figures can be added: of the same known kind, or from reply or message."""
    kinds = {one.kind, other.kind}
    if kinds in ({ANY}, {ANY, ""}, {ANY, "money"}) or "total" in one.formula + other.formula:
        return _is_alike(one, other)
    return one.kind == other.kind != ""


def _kind(one: str, other: str) -> str:
    """The kind of a sum or product: `money` if one is, else the known one."""
    if "money" in (one, other):
        return "money"
    return ANY if one in (ANY, "rate") or other in (ANY, "rate") else one or other


def _ratio(part: str, whole: str) -> str:
    """The kind of a ratio: `money` or empty."""
    return part if part == "money" != whole else ""
