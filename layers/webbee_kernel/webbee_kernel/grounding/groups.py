"""The lists of a turn's results as tables: rows, columns, and the groups that rows fall into."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from functools import cached_property
from itertools import combinations, islice
from typing import NamedTuple

from .. import language
from .index import Index
from .places import DATE, Number, Owner, Place, settle
from .units import kind_of

BIG = 1e12
"""What is larger is no figure that people work with."""
ANY = "?"
"""What a figure of no field is of."""
MOST, ROWS, GROUPS, LABEL = 1000, 80, 40, 60
"""Rows that are added up; rows whose parts are combined; groups that are; characters of a text that
sorts rows."""
PAIR, HOUR, DAY = 2, 3600, 24
_LISTED = re.compile(r"(.*)\[\d+\]")
_ABOVE = re.compile(r"^(?:.*[.\]])?([^.\]]*)\.[^.]*$")


class Figure(NamedTuple):
    """A value, where it stands, and what it is of: `money`, `rate`, what its unit measures, nothing
    known of a field, or `ANY`."""

    value: Number
    path: str
    kind: str = ""


class Entry(NamedTuple):
    """A value, what it is of, and how it is made."""

    value: float
    kind: str
    sign: str
    one: object = ""
    other: object = ""

    @property
    def formula(self) -> str:
        """How the value is made."""
        if not self.sign:
            return str(self.one)
        return f"{self.one} {self.sign} {self.other}" if self.other else f"{self.sign}({self.one})"


class Table:
    """Rows with the same place in a result, as bit masks: row n is bit n."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: list[Owner] = []
        self.labels: dict[str, dict[int, object]] = {}
        self.numbers: dict[str, dict[int, Number]] = {}
        self.kinds: dict[str, str] = {}

    def take(self, place: Place, row: int) -> None:
        """Take in a field of a row."""
        value = place.value
        if isinstance(value, str) and len(value) > LABEL:
            return
        self.labels.setdefault(place.key, {})[row] = value
        if not isinstance(value, str | bool) and counted(place):
            self.numbers.setdefault(place.key, {})[row] = value
            self.kinds[place.key] = figure(place).kind

    @property
    def all(self) -> int:
        """The mask of all rows."""
        return (1 << len(self.rows)) - 1

    @cached_property
    def groups(self) -> dict[int, str]:
        """The rows that share a value, and those that have a field, with what they share."""
        found: dict[int, str] = {}
        for key, column in self.labels.items():
            by_value: dict[object, int] = {}
            for row, value in column.items():
                for one in _sorts(value):
                    by_value[one] = by_value.get(one, 0) | 1 << row
            for value, mask in by_value.items():
                found.setdefault(mask, f"{key} = {value}")
            found.setdefault(sum(1 << row for row in column), key)
        for step in {owner[:-2] for owner in self.rows if len(owner) > 4}:
            inner = sum(1 << n for n, own in enumerate(self.rows) if own[: len(step)] == step)
            found.setdefault(inner, "of one record")
        return found

    def parts(self, named: frozenset[Owner]) -> dict[int, str]:
        """All rows, the groups, all but a group, the rows up to a date or behind it, those that a
        reply names, and those in two groups."""
        if len(self.rows) > ROWS:
            return {**dict(list(self.groups.items())[:GROUPS]), self.all: ""}
        few = list(self.groups.items())[:GROUPS]
        mine = sum(1 << n for n, owner in enumerate(self.rows) if owner in named)
        found = {**self.groups, self.all: ""}
        shared = ((mask, label) for mask, label in few if mask & (mask - 1))
        others = [(self.all & ~mask, f"not {label}") for mask, label in shared]
        pairs = ((a & b, f"{x}, {y}") for (a, x), (b, y) in combinations(few, 2))
        own = [(mine, "named"), (self.all & ~mine, "not named")]
        for mask, label in [*others, *self._ordered(), *own, *islice(pairs, ROWS)]:
            found.setdefault(mask, label)
        found.pop(0, None)
        return found

    def _ordered(self) -> Iterator[tuple[int, str]]:
        """The rows up to a date, and those behind it."""
        for key, column in self.labels.items():
            dates = {r: v for r, v in column.items() if isinstance(v, str) and DATE.match(v)}
            mask = 0
            for row in sorted(dates, key=lambda at: dates[at]) if len(dates) == len(column) else ():
                mask |= 1 << row
                yield mask, f"{key} <= {dates[row]}"
                yield self.all & ~mask, f"{key} > {dates[row]}"

    @cached_property
    def columns(self) -> dict[str, tuple[str, dict[int, Number]]]:
        """The columns of figures, the products of two (quantity times price) and the differences of
        like ones, each with what it is of."""
        found = {k: (self.kinds[k], own) for k, own in self.numbers.items()}
        if hours := self._hours:
            found["hours"] = "time", hours
            for key, own in self.numbers.items():
                if self.kinds[key] in ("rate", "money"):
                    paid = {row: own[row] * hours[row] for row in own if row in hours}
                    found[f"({key} * hours)"] = "money", paid
        keys = [k for k in self.numbers if self.kinds[k] not in ("rate", "level")][:5]
        for a, b in combinations(keys, 2):
            one, other = self.numbers[a], self.numbers[b]
            both = [row for row in one if row in other]
            if self.kinds[a] == self.kinds[b]:
                rest = {row: one[row] - other[row] for row in both}
                found[f"({a} - {b})"] = self.kinds[a], rest
            elif "money" in (self.kinds[a], self.kinds[b]):
                found[f"({a} * {b})"] = "money", {row: one[row] * other[row] for row in both}
        return found

    @cached_property
    def _hours(self) -> dict[int, Number]:
        """The hours between the first two moments of each row."""
        moments: dict[int, list[datetime]] = {}
        for column in self.labels.values():
            for row, value in column.items():
                if isinstance(value, str) and (found := DATE.match(value)) and found[4]:
                    with suppress(ValueError):
                        moments.setdefault(row, []).append(datetime.fromisoformat(found[0][:16]))
        pairs = {row: own for row, own in moments.items() if len(own) == PAIR}
        lasting = {row: (b - a).total_seconds() / HOUR for row, (a, b) in pairs.items()}
        return {row: settle(hours) for row, hours in lasting.items() if 0 < hours <= DAY}

    def sums(self, masks: dict[int, str], *, mean: bool = False) -> Iterator[Entry]:
        """The sums, or averages, of each column over some rows; of levels only these."""
        for mask, label in masks.items():
            where = f" where {label}" if label else ""
            for key, (kind, column) in self.columns.items():
                part = [v for row, v in column.items() if mask >> row & 1]
                made = key[-6:] in ("hours)", "hours") and bool(part)
                if (len(part) > 1 or made) and (mean or kind != "level"):
                    value = abs(sum(part)) / (len(part) if mean else 1)
                    sign = "average" if mean else "sum"
                    yield Entry(float(value), kind, sign, f"{self.name}[].{key}{where}")

    def sizes(self, named: frozenset[Owner]) -> Iterator[Entry]:
        """How many rows there are of each part."""
        for mask, label in self.parts(named).items():
            name = f"{self.name} {label}".rstrip()
            yield Entry(float(mask.bit_count()), "", "count", name)


def tables(index: Index) -> list[Table]:
    """The tables that fields of results lie in and that have more than one row."""
    found: dict[Owner, Table] = {}
    rows: dict[Owner, tuple[Table, int] | None] = {}
    for place in index.fields():
        if place.owner not in rows:
            rows[place.owner] = _row(place, found) if index.is_row(place.owner) else None
        if held := rows[place.owner]:
            held[0].take(place, held[1])
    return [table for table in found.values() if len(table.rows) > 1]


def _row(place: Place, found: dict[Owner, Table]) -> tuple[Table, int] | None:
    """The table that a row belongs to, and its number there."""
    steps = tuple(step for step in place.owner if isinstance(step, str))
    listed = _LISTED.match(place.path)
    table = found.setdefault(steps, Table(listed[1] if listed else str(steps[-1])))
    if len(table.rows) >= MOST:
        return None
    table.rows.append(place.owner)
    return table, len(table.rows) - 1


def _sorts(value: object) -> Iterator[object]:
    """The groups that a value puts its row in: itself; of a date its day and month."""
    yield value.lower() if isinstance(value, str) else value
    if isinstance(value, str) and value[4:5] == value[7:8] == "-":
        yield value[:10]
        yield value[:7]


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
