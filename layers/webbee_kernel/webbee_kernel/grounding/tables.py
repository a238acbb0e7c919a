"""The lists of a turn's results as tables: rows, columns, and the groups that rows fall into."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from itertools import combinations

from .. import language
from .places import DATE, Number, Owner, Place

MOST, GROUPS, CUTS = 80, 40, 120
"""Rows that are grouped; groups by one field, and groups with those of two fields and of order,
whose sums are made."""
LABEL, COLUMNS = 60, 5
"""Characters of a text that sorts rows into groups; columns that are multiplied row by row."""
_LISTED = re.compile(r"(.*)\[\d+\]")
ID = frozenset(("id",))
MONEY = frozenset(("money", "total"))


@dataclass
class Table:
    """Rows with the same place in a result: of one list, of the lists inside the rows of another,
    or the results of a function that was called repeatedly."""

    name: str
    rows: list[Owner] = field(default_factory=list)
    numbers: dict[str, dict[int, Number]] = field(default_factory=dict)
    labels: dict[str, dict[int, object]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self.rows)

    def take(self, place: Place, row: int) -> None:
        """Take in a field of a row."""
        value = place.value
        if isinstance(value, str):
            if len(value) <= LABEL:
                self.labels.setdefault(place.key, {})[row] = value
        elif isinstance(value, bool):
            self.labels.setdefault(place.key, {})[row] = value
        else:
            self.labels.setdefault(place.key, {})[row] = value
            roles = language.key_roles(place.key)
            if abs(value) < 1e12 and (not roles & ID or roles & MONEY):
                self.numbers.setdefault(place.key, {})[row] = value

    @cached_property
    def groups(self) -> dict[int, str]:
        """The rows that share a value, as bit masks, with what they share."""
        found: dict[int, str] = {}
        for key, column in self.labels.items():
            by_value: dict[object, int] = {}
            for row, value in column.items():
                for one in _sorts(value):
                    by_value[one] = by_value.get(one, 0) | 1 << row
            for value, mask in by_value.items():
                found.setdefault(mask, f"{key} = {value}")
            mask = sum(1 << row for row in column)
            found.setdefault(mask, f"{key}")
            found.setdefault(self._all & ~mask, f"no {key}")
        for mask in self._inner():
            found.setdefault(mask, "of one record")
        found.pop(0, None)
        return found

    def _inner(self) -> Iterator[int]:
        """The rows inside each record of another table."""
        for step in {owner[:-2] for owner in self.rows if len(owner) > 4}:
            yield sum(1 << n for n, own in enumerate(self.rows) if own[: len(step)] == step)

    def _of(self, mask: int) -> list[int]:
        return [row for row in range(self.size) if mask >> row & 1]

    @property
    def _all(self) -> int:
        return (1 << len(self.rows)) - 1

    @cached_property
    def _parts(self) -> dict[int, str]:
        """The groups, those of two fields, all but a group, and the rows before or after a value
        of a column."""
        found = {**self.groups, self._all: ""}
        few = list(self.groups.items())[:GROUPS]
        for mask, label in few:
            found.setdefault(self._all & ~mask, f"not {label}")
        for mask, label in self._ordered():
            found.setdefault(mask, label)
        for (one, a), (other, b) in combinations(few, 2):
            if len(found) > CUTS:
                break
            found.setdefault(one & other, f"{a}, {b}")
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
                yield self._all & ~mask, f"{key} > {dates[row]}"

    def sums(self, named: frozenset[Owner]) -> Iterator[tuple[float, str, object, object]]:
        """Sums and sizes of the groups, and of the rows that are named, as entries of the
        closure."""
        products = dict(self._across())
        mine = sum(1 << n for n, owner in enumerate(self.rows) if owner in named)
        for mask, label in {**self._parts, mine: "named", self._all & ~mine: "not named"}.items():
            members = self._of(mask)
            yield float(len(members)), "count", f"{self.name} {label}".rstrip(), ""
            for key, column in (*self.numbers.items(), *products.items()):
                part = [column[row] for row in members if row in column]
                if len(part) > 1:
                    where = f"{self.name}[].{key}" + (f" where {label}" if label else "")
                    yield float(abs(sum(part))), "sum", where, ""

    def averages(self) -> Iterator[tuple[float, str, object, object]]:
        """The averages of all rows and of those that share a value."""
        for mask, label in {**self.groups, self._all: ""}.items():
            for key, column in self.numbers.items():
                part = [value for row, value in column.items() if mask >> row & 1]
                if len(part) > 1:
                    where = f"{self.name}[].{key} {label}".rstrip()
                    yield abs(sum(part) / len(part)), "average", where, ""

    def _across(self) -> Iterator[tuple[str, dict[int, Number]]]:
        """The products and differences of two columns, row by row: quantity times price, what is
        due less what was paid."""
        keys = [key for key in self.numbers if "rate" not in language.key_roles(key)]
        for a, b in combinations(keys[:COLUMNS], 2):
            one, other = self.numbers[a], self.numbers[b]
            both = [row for row in one if row in other]
            yield f"({a} * {b})", {row: one[row] * other[row] for row in both}
            yield f"({a} - {b})", {row: one[row] - other[row] for row in both}

    def totals(self) -> Iterator[tuple[str, tuple[float, str, object, object]]]:
        """The sums of all rows and of those that share a value, each with what it is of."""
        columns = {**self.numbers, **dict(self._across())}
        for mask, label in {**self.groups, self._all: ""}.items():
            members = self._of(mask)
            for key, column in columns.items():
                part = [column[row] for row in members if row in column]
                if len(part) > 1:
                    entry = float(sum(part)), "sum", f"{self.name}[].{key} {label}".rstrip(), ""
                    yield key, entry

    def figures(self) -> Iterator[tuple[str, list[tuple[Number, str]]]]:
        """The figures of each column, with its key."""
        for key, column in self.numbers.items():
            yield key, [(value, f"{self.name}[{row}].{key}") for row, value in column.items()]

    def shares(self) -> list[tuple[tuple[Number, str], tuple[Number, str]]]:
        """Parts beside their wholes: groups of rows, their sums, and single values."""
        found: list[tuple[tuple[Number, str], tuple[Number, str]]] = []
        wholes = {key: sum(column.values()) for key, column in self.numbers.items()}
        for key, column in self.numbers.items():
            whole = wholes[key], f"sum({key})"
            found += [
                ((value, f"{self.name}[{row}].{key}"), whole) for row, value in column.items()
            ]
        for mask, label in self.groups.items():
            members = self._of(mask)
            found.append(((len(members), label), (self.size, f"count({self.name})")))
            for key, column in self.numbers.items():
                part = sum(column[row] for row in members if row in column)
                found.append(((part, f"sum({key} {label})"), (wholes[key], f"sum({key})")))
        return found


def tables(fields: Iterable[Place], is_row: Callable[[Owner], bool]) -> list[Table]:
    """The tables that fields of results lie in and that have more than one row."""
    found: dict[Owner, Table] = {}
    rows: dict[Owner, tuple[Table, int] | None] = {}
    for place in fields:
        if place.owner not in rows:
            rows[place.owner] = _row(place, found) if is_row(place.owner) else None
        if held := rows[place.owner]:
            held[0].take(place, held[1])
    return [table for table in found.values() if table.size > 1]


def _row(place: Place, found: dict[Owner, Table]) -> tuple[Table, int] | None:
    """The table that a row belongs to, and its number there."""
    steps = tuple(step for step in place.owner if isinstance(step, str))
    listed = _LISTED.match(place.path)
    table = found.setdefault(steps, Table(listed[1] if listed else str(steps[-1])))
    if table.size >= MOST:
        return None
    table.rows.append(place.owner)
    return table, table.size - 1


def _sorts(value: object) -> Iterator[object]:
    """The groups that a value puts its row in: itself; of a date its day, month and week."""
    yield value if not isinstance(value, str) else value.lower()
    if isinstance(value, str) and value[4:5] == value[7:8] == "-":
        yield value[:10]
        yield value[:7]
        with suppress(ValueError):
            yield date.fromisoformat(value[:10]).isocalendar()[:2]
            yield f"weekday {date.fromisoformat(value[:10]).weekday()}"
