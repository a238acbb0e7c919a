"""The lists of a turn's results as tables: rows, columns, and the groups that rows fall into."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import accumulate, combinations, islice
from typing import NamedTuple

from .. import language
from .index import Index
from .places import Number, Owner, Place
from .units import kind_of

ANY = "?"
"""What a figure of no field is of."""
OTHER = "-"
"""What a product is of that is no amount."""
BIG = 1e12
"""What is larger is no figure that people work with."""
MOST, ROWS, GROUPS, LABEL = 1000, 80, 40, 60
"""Rows that are added up; rows whose parts are combined; groups that are; characters of a text that
sorts rows."""
WIDE = 8
"""Columns of figures of which two are worked with."""
_LENGTH = re.compile(r"(\d{1,3}):([0-5]\d):([0-5]\d)")
"""A length of time: hours, minutes, seconds."""


class Figure(NamedTuple):
    """A value, what it is of (`money`, `rate`, what its unit measures, nothing known of a field, or
    `ANY`), and where it stands or how it is made."""

    value: Number
    kind: str = ANY
    formula: str = ""


def is_counted(place: Place) -> bool:
    """Whether a figure is one that people work with, no id."""
    roles = language.key_roles(place.key)
    known = "id" not in roles or bool(roles & {"money", "total"})
    return abs(place.value) < BIG and (known or isinstance(place.value, float))


def figure(place: Place) -> Figure:
    """A field as a figure; what its key does not tell, that of the record around it may:
    `{"cost": {"v": 6.91}}`."""
    if not place.key:
        return Figure(place.value, ANY, place.path)
    above = place.path.rpartition(".")[0].rpartition(".")[2].rpartition("]")[2]
    return Figure(place.value, kind_of(place.key) or kind_of(above), place.path)


class Table:
    """Rows with the same place in a result, as bit masks: row n is bit n."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: dict[Owner, int] = {}
        self.labels: dict[str, dict[int, object]] = {}
        self.numbers: dict[str, dict[int, Number]] = {}
        self.kinds: dict[str, str] = {}

    def take(self, place: Place, row: int) -> None:
        """Take in a field of a row."""
        value = place.value
        if isinstance(value, str) and len(value) > LABEL:
            return
        self.labels.setdefault(place.key, {})[row] = value
        if isinstance(value, str):
            if length := _LENGTH.fullmatch(value):
                hours, minutes, seconds = map(int, length.groups())
                own = self.numbers.setdefault(place.key, {})
                own[row] = hours * 3600 + minutes * 60 + seconds
                self.kinds[place.key] = "time"
        elif not isinstance(value, bool) and is_counted(place):
            self.numbers.setdefault(place.key, {})[row] = value
            self.kinds[place.key] = figure(place).kind

    @property
    def all(self) -> int:
        """The mask of all rows."""
        return (1 << len(self.rows)) - 1

    @cached_property
    def groups(self) -> dict[int, str]:
        """The rows that share a value, those that have a field, and those that one record holds."""
        found: dict[int, str] = {}
        for key, column in self.labels.items():
            by_value: dict[object, int] = {}
            for row, value in column.items():
                for one in _sorts(value):
                    by_value[one] = by_value.get(one, 0) | 1 << row
            for value, mask in by_value.items():
                found.setdefault(mask, f"{key} = {value}")
            found.setdefault(sum(1 << row for row in column), key)
        above: dict[Owner, int] = {}
        for owner, row in self.rows.items():
            above[owner[:-2]] = above.get(owner[:-2], 0) | 1 << row
        for mask in above.values():
            found.setdefault(mask, "of one record")
        return found

    def parts(self, named: frozenset[Owner]) -> dict[int, str]:
        """All rows, the groups, all but a group, those that a reply names, those in two groups."""
        found = dict(islice(self.groups.items(), GROUPS if len(self.rows) > ROWS else None))
        found[self.all] = ""
        if len(self.rows) <= ROWS:
            few = list(islice(found.items(), GROUPS))
            mine = sum(1 << n for owner, n in self.rows.items() if owner in named)
            more = [(mine, "named"), (self.all & ~mine, "not named")]
            more += [(self.all & ~mask, f"not {label}") for mask, label in few if mask & (mask - 1)]
            pairs = ((a & b, f"{x}, {y}") for (a, x), (b, y) in combinations(few, 2))
            for mask, label in (*more, *islice(pairs, ROWS)):
                found.setdefault(mask, label)
        found.pop(0, None)
        return found

    @cached_property
    def columns(self) -> dict[str, tuple[str, dict[int, Number]]]:
        """The columns of figures and what two of them give row by row (a price times a quantity, a
        balance, a pace), each with what it is of."""
        found = {k: (self.kinds[k], own) for k, own in self.numbers.items()}
        for a, b in combinations(islice(self.numbers, WIDE), 2):
            kinds, other = (self.kinds[a], self.kinds[b]), self.numbers[b]
            for row, value in self.numbers[a].items():
                for made in _of_row((a, value), (b, other[row]), kinds) if row in other else ():
                    found.setdefault(made.formula, (made.kind, {}))[1][row] = made.value
        return found

    def sums(
        self, masks: Iterable[tuple[int, str]], keys: Iterable[str] = (), sign: str = "sum"
    ) -> Iterator[Figure]:
        """The sums, or averages, of some columns over some rows; of levels only these. A row's own
        value is one where it is worked out."""
        columns = [(key, *self.columns[key]) for key in keys or self.columns]
        for mask, label in masks:
            where = f" where {label}" if label else ""
            for key, kind, column in columns:
                part = [v for row, v in column.items() if mask >> row & 1]
                if len(part) > (key in self.numbers) and (sign != "sum" or kind != "level"):
                    value = sum(part) / (1 if sign == "sum" else len(part))
                    yield Figure(value, kind, f"{sign}({self.name}[].{key}{where})")

    def stretches(self, named: frozenset[Owner]) -> Iterator[Figure]:
        """The sums and averages of columns over rows that follow each other: those to and from
        either end, and those between two that a reply names."""
        ends = {0, len(self.rows)}
        mine = {self.rows[owner] for owner in named if owner in self.rows}
        cuts = range(min(len(self.rows), ROWS) + 1)
        pairs = {(a, b) for a in cuts for b in cuts if a < b and {a, b} & ends}
        pairs |= {(a, b + 1) for a in mine for b in mine if a < b}
        for key, column in self.numbers.items():
            sums = [0, *accumulate(column.get(row, 0) for row in range(len(self.rows)))]
            for a, b in pairs if self.kinds[key] != "rate" else ():
                total, place = sums[b] - sums[a], f"({self.name}[{a}:{b}].{key})"
                yield Figure(total / (b - a), self.kinds[key], f"average{place}")
                if self.kinds[key] != "level":
                    yield Figure(total, self.kinds[key], f"sum{place}")


def _of_row(
    one: tuple[str, Number], other: tuple[str, Number], kinds: tuple[str, str]
) -> Iterator[Figure]:
    """What two fields of a row give; added is only what is known to be of the same."""
    (a, x), (b, y), (k, m) = one, other, kinds
    yield from combined(Figure(x, k, a), Figure(y, m, b), "+%")
    yield from combined(Figure(x, k or ANY, a), Figure(y, m or ANY, b), "-*/")


def tables(index: Index) -> list[Table]:
    """The tables that fields of results lie in, and the lists of plain numbers, of more than one
    row."""
    found: dict[Owner, Table] = {}
    rows: dict[Owner, tuple[Table, int] | None] = {}
    for place in index.fields():
        if place.owner not in rows:
            rows[place.owner] = _row(place, found) if index.is_row(place.owner) else None
        if held := rows[place.owner]:
            held[0].take(place, held[1])
    for number, own in enumerate(r for r in index.rows if len(r.items) > 1):
        if all(type(v) in (int, float) for v in own.items[:MOST]):
            table = found[("plain", number)] = Table(own.path)
            table.rows = {("plain", number, n): n for n in range(len(own.items[:MOST]))}
            table.numbers[""] = dict(enumerate(own.items[:MOST]))
            table.kinds[""] = ANY
    return [table for table in found.values() if len(table.rows) > 1]


def _row(place: Place, found: dict[Owner, Table]) -> tuple[Table, int] | None:
    """The table that a row belongs to, and its number there."""
    steps = tuple(step for step in place.owner if isinstance(step, str))
    name = place.path.rpartition("[")[0] or str(steps[-1])
    table = found.setdefault(steps, Table(name))
    if len(table.rows) >= MOST:
        return None
    return table, table.rows.setdefault(place.owner, len(table.rows))


def _sorts(value: object) -> Iterator[object]:
    """The groups that a value puts its row in: itself; of a date its day and month."""
    yield value.lower() if isinstance(value, str) else value
    if isinstance(value, str) and value[4:5] == value[7:8] == "-":
        yield value[:10]
        yield value[:7]


def fractions(part: Figure, whole: Figure) -> Iterator[Figure]:
    """The share of a figure in another, and the change between them, as fractions."""
    if part.value and whole.value:
        share = abs(part.value / whole.value)
        yield Figure(share, "", f"{part.formula} / {whole.formula}")
        yield Figure(abs(1 - share), "", f"1 - {part.formula} / {whole.formula}")


def is_alike(one: Figure, other: Figure) -> bool:
    """Whether two figures may be added: of the same, or one with no key."""
    kinds = one.kind, other.kind
    if one.kind == other.kind or ANY in kinds or ("" in kinds and "money" not in kinds):
        return True
    return "total" in one.formula or "total" in other.formula


def combined(one: Figure, other: Figure, signs: str = "+-*/%") -> Iterator[Figure]:
    """What two figures give: sum, difference, product, ratio, and a percentage of the other; of
    levels only the difference."""
    (a, k, x), (b, m, y) = one, other
    kind = _kind(k, m)
    if "-" in signs and is_alike(one, other):
        yield Figure(a - b, kind, f"{x} - {y}")
    if "level" in (k, m):
        return
    if "+" in signs and _is_addable(one, other):
        yield Figure(a + b, kind, f"{x} + {y}")
    if "*" in signs and (k != m or kind == ANY):
        made = kind if "money" in (k, m) or k == m else OTHER
        yield Figure(a * b, made, f"{x} * {y}")
    if "/" in signs and a and b:
        yield Figure(a / b, _ratio(k, m), f"{x} / {y}")
        yield Figure(b / a, _ratio(m, k), f"{y} / {x}")
    if "%" in signs:
        yield from _percentages(one, other)
        yield from _percentages(other, one)


def _percentages(whole: Figure, rate: Figure) -> Iterator[Figure]:
    """A percentage of a figure, and the figure without it and with it."""
    if rate.kind == "rate" and 0 < rate.value <= 100:
        shares = {"% of": rate.value, "less": 100 - rate.value, "with": 100 + rate.value}
        for sign, share in shares.items():
            made = f"{rate.formula} {sign} {whole.formula}"
            yield Figure(whole.value * share / 100, whole.kind, made)


def _is_addable(one: Figure, other: Figure) -> bool:
    """Whether two figures make a sum: of the same known kind, or told by the reply or the user."""
    kinds = {one.kind, other.kind}
    if kinds in ({ANY}, {ANY, ""}) or "total" in one.formula + other.formula:
        return is_alike(one, other)
    return one.kind == other.kind != ""


def _kind(one: str, other: str) -> str:
    """What a sum or a product is of: an amount if one is, else what is known."""
    if "money" in (one, other):
        return "money"
    return ANY if one in (ANY, "rate") or other in (ANY, "rate") else one or other


def _ratio(part: str, whole: str) -> str:
    """What one figure for each of another is of: nothing known where both are of the same."""
    return ANY if part == ANY else "" if part == whole else part
