"""The lists of a turn's results as tables: rows, columns, and the groups that rows fall into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, combinations, islice, permutations, product
from math import gcd
from typing import NamedTuple

from .. import language
from .index import Index
from .places import Number, Owner, Place, key_words, kind_of, settle

ANY = "?"
"""What a figure of no field is of."""
SIZE = "#"
"""What the size of a list is of: no amount and no length."""
QUOTIENT = "/"
"""What a figure for each of another is of: people tell one that is no amount only where it is
exact."""
OTHER = "-"
"""What a product is of that is no amount."""
BIG = 1e12
"""What is larger is no figure that people work with."""
MOST, LABEL = 1000, 60
"""Rows that are added up; characters of a text that sorts rows."""
SUBSETS, RUNS = 12, 60
"""Rows of which any are added up, and of which any in a row are."""
JOINED = 6
"""Tables of which rows are looked up in each other."""
WIDE = 8
"""Columns of figures of which two are worked with."""


Part = frozenset[int]


class Figure(NamedTuple):
    """A value, what it is of (`money`, `rate`, what its unit measures, nothing known of a field, or
    `ANY`), where it stands or how it is made, and the object and the key that hold it."""

    value: Number
    kind: str = ANY
    formula: str = ""
    holder: str = ""
    key: str = ""


class Parts(NamedTuple):
    """What some rows of a column give: how many of them any figure hits by chance, the column's
    smallest step, what it is of, how they are made, and all of them by size."""

    odds: float
    grain: float
    kind: str
    formula: str
    made: Sequence[Number]


def is_counted(place: Place) -> bool:
    """Whether a figure is one that people work with, no id."""
    roles = language.key_roles(place.key)
    known = "id" not in roles or bool(roles & {"money", "total"})
    return abs(place.value) < BIG and (known or isinstance(place.value, float))


def figure(place: Place) -> Figure:
    """A field as a figure; what its key does not tell, that of the record around it may:
    `{"cost": {"v": 6.91}}`."""
    holder = place.path.rpartition(".")[0] or place.path
    if not place.key:
        return Figure(place.value, ANY, place.path, holder)
    above = holder.rpartition(".")[2].rpartition("]")[2]
    kind = place.kind or kind_of(place.key) or kind_of(above)
    if kind == "money" and "rate" in key_words(above):
        kind = ANY  # `rates: {USD: 1.16}`
    return Figure(place.value, kind, place.path, holder, place.key)


class Table:
    """Rows with the same place in a result; a part of them is the set of their numbers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.rows: dict[Owner, int] = {}
        self.labels: dict[str, dict[int, object]] = {}
        self.numbers: dict[str, dict[int, Number]] = {}
        self.kinds: dict[str, str] = {}

    @classmethod
    def of_one(cls, owner: Owner, name: str, values: Sequence[Number], kind: str) -> Table:
        """The table of one column without a name."""
        table = cls(name)
        table.rows = {(*owner, n): n for n in range(len(values))}
        table.numbers[""], table.kinds[""] = dict(enumerate(values)), kind
        return table

    def take(self, place: Place, row: int) -> None:
        """Take in a field of a row."""
        value = place.value
        if isinstance(value, str) and len(value) > LABEL:
            return
        self.labels.setdefault(place.key, {})[row] = value
        if isinstance(value, str):
            return
        if not isinstance(value, bool) and is_counted(place):
            self.numbers.setdefault(place.key, {})[row] = value
            self.kinds[place.key] = figure(place).kind

    @cached_property
    def all(self) -> Part:
        """All rows."""
        return frozenset(self.rows.values())

    @cached_property
    def groups(self) -> dict[Part, str]:
        """The rows that share a value, those that have a field, those whose figure is below zero,
        or above where some are below, those that one record holds, and all."""
        found: dict[tuple[str, object], set[int]] = {}
        for key, column in self.labels.items():
            for row, value in column.items():
                for one in _sorts(value):
                    found.setdefault((f"{key} = ", one), set()).add(row)
            found[key, ""] = set(column)
        for key, figures in self.numbers.items():
            if below := {row for row, value in figures.items() if value < 0}:
                found[key, " < 0"], found[key, " > 0"] = below, figures.keys() - below
        for owner, row in self.rows.items():
            found.setdefault(("of ", owner[:-2]), set()).add(row)
        return {frozenset(rows): f"{key}{one}" for (key, one), rows in found.items()} | {
            self.all: ""
        }

    @cached_property
    def shared(self) -> list[tuple[Part, str]]:
        """The groups of more than one row."""
        return [(rows, label) for rows, label in self.groups.items() if len(rows) > 1]

    @cached_property
    def columns(self) -> dict[str, tuple[str, dict[int, Number]]]:
        """The columns of figures and what two of them give row by row (a price times a quantity, a
        balance, a pace), or two products differ by (a gain), each with what it is of."""
        found = {k: (self.kinds[k], own) for k, own in self.numbers.items()}
        for a, b in combinations(islice(self.numbers, WIDE), 2):
            kinds, other = (self.kinds[a], self.kinds[b]), self.numbers[b]
            for row, value in self.numbers[a].items():
                for made in _of_row((a, value), (b, other[row]), kinds) if row in other else ():
                    found.setdefault(made.formula, (made.kind, {}))[1][row] = made.value
        prices = [key for key in self.kinds if self._is_price(key)]
        for (a, b), by in product(combinations(prices, 2), self.kinds):
            costs = [
                found.get(f"{by} * {price}") or found.get(f"{price} * {by}") or ("", {})
                for price in (a, b)
            ]
            (_, one), (_, other) = costs
            if rows := one.keys() & other.keys():
                found[f"{by} * ({a} - {b})"] = "money", {r: one[r] - other[r] for r in rows}
        return found

    def _is_price(self, key: str) -> bool:
        """Whether a column may be of prices: amounts, or figures with decimals of which no more is
        known."""
        kind, values = self.kinds[key], self.numbers[key].values()
        return kind == "money" or (not kind and any(isinstance(one, float) for one in values))

    def worked_out(self) -> Iterator[Figure]:
        """What two fields of one row give, of each row."""
        for key in self.columns.keys() - self.numbers.keys():
            kind, column = self.columns[key]
            for row, value in column.items():
                yield Figure(value, kind, f"{self.name}[{row}]: {key}")

    def sums(self) -> Iterator[Figure]:
        """The sums of columns over groups of rows; none of levels."""
        for key, (kind, column) in self.columns.items():
            for rows, label in self.shared if kind != "level" else ():
                part = [column[row] for row in rows if row in column]
                if len(part) > 1:
                    where = f" where {label}" if label else ""
                    yield Figure(sum(part), kind, f"sum({self.name}[].{key}{where})")

    def averages(self) -> Iterator[Figure]:
        """The averages of columns over groups of rows."""
        for key, column in self.numbers.items():
            for rows, label in self.shared:
                part = [column[row] for row in rows if row in column]
                if len(part) > 1:
                    made = f"average({self.name}[].{key} {label})"
                    yield Figure(sum(part) / len(part), self.kinds[key], made)

    def parts(self) -> Iterator[Parts]:
        """The sums of any rows of a short column, of any rows in a row of a long one, and the
        differences of any two."""
        for key, (kind, column) in self.columns.items():
            plain = key in self.numbers or " * " in key
            values = [v for v in column.values() if v] if plain else []
            grain = gcd(*(round(100 * v) for v in values[:RUNS])) / 100
            if len(values) < 3 or not grain or kind == "level":
                continue
            made = _some(values)
            odds = len(made) * grain / made[-1]
            yield Parts(odds, grain, kind, f"some of {self.name}[].{key}", made)

    def weighted(self) -> Iterator[Figure]:
        """The averages of whole columns, weighed by another, and what their totals are for each of
        another's."""
        for (a, one), (b, other) in permutations(islice(self.numbers.items(), WIDE), 2):
            rows = one.keys() & other.keys()
            if whole := sum(other[row] for row in rows):
                made = f"average({self.name}[].{a} by {b})"
                total = sum(one[row] * other[row] for row in rows)
                yield Figure(total / whole, self.kinds[a], made)
                made = f"sum({self.name}[].{a}) / sum({self.name}[].{b})"
                ratio = sum(one[row] for row in rows) / whole
                yield Figure(ratio, _ratio(self.kinds[a], self.kinds[b]) or QUOTIENT, made)

    def means(self) -> Iterator[Figure]:
        """The averages of whole columns."""
        for key, column in self.numbers.items():
            made = f"average({self.name}[].{key})"
            yield Figure(sum(column.values()) / len(column), self.kinds[key], made)

    def totals(self) -> Iterator[Figure]:
        """The sums of whole columns."""
        for key, column in self.numbers.items():
            if len(column) > 1 and self.kinds[key] != "level":
                made, holder = f"sum({self.name}[].{key})", self.name.rpartition(".")[0]
                yield Figure(sum(column.values()), self.kinds[key], made, holder, key)


def _some(values: Sequence[Number]) -> list[Number]:
    """What some figures add up to (of many only those in a row), or any two differ by, by size."""
    made: set[Number] = {0}
    for start, value in enumerate(values[:RUNS]):
        if len(values) <= SUBSETS:
            made |= {settle(one + value) for one in made}
        else:
            made.update(map(settle, accumulate(values[start:RUNS])))
    made |= {settle(a - b) for a, b in combinations(values[:RUNS], 2)}
    return sorted({abs(one) for one in made} - {0})


def _of_row(
    one: tuple[str, Number], other: tuple[str, Number], kinds: tuple[str, str]
) -> Iterator[Figure]:
    """What two fields of a row give; added is what is known to be of the same, or not known."""
    (a, x), (b, y), (k, m) = one, other, kinds
    yield from combined(Figure(x, k, a), Figure(y, m, b), "%")
    # so many of something, at a price
    is_priced = "money" in kinds or isinstance(x, int) is not isinstance(y, int)
    signs = "+-*/" if is_priced else "+-/"
    yield from combined(Figure(x, k or ANY, a), Figure(y, m or ANY, b), signs)


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
    _join([*found.values()][:JOINED])
    return [table for table in (*found.values(), *_columns(index)) if len(table.rows) > 1]


def _join(found: Sequence[Table]) -> None:
    """Give the rows of a table the figures of the rows of another that they name, by its id or by
    a text of a key that both have."""
    for table, other in permutations(found, 2):
        for key, column in table.labels.items():
            for named, rows in _named_by(key, other) if len(column) > 1 else ():
                if all(value in rows for value in column.values()):
                    _lend(table, other, {r: rows[value] for r, value in column.items()}, named)


def _lend(table: Table, other: Table, meant: Mapping[int, int], named: str) -> None:
    """Give each row of a table the figures of the row of another that it means, but for those of
    the column that names it."""
    for name, figures in other.numbers.items():
        if name in table.numbers or name == named:
            continue
        own = {row: figures[of] for row, of in meant.items() if of in figures}
        table.numbers[name], table.kinds[name] = own, other.kinds[name]


def _named_by(key: str, other: Table) -> Iterator[tuple[str, dict[object, int]]]:
    """The columns of a table by which a key of another names its rows, each with these."""
    of_kind = other.name.rpartition(".")[2].startswith(key.removesuffix("_id").removesuffix("Id"))
    for named in ("id", key) if of_kind else (key,):
        rows = {value: row for row, value in other.labels.get(named, {}).items()}
        if len(rows) == len(other.rows) and (
            named == "id" or all(isinstance(v, str) for v in rows)
        ):
            yield named, rows


def _columns(index: Index) -> Iterator[Table]:
    """The lists of plain numbers."""
    for number, own in enumerate(r for r in index.rows if len(r.items) > 1):
        items = own.items[:MOST]
        if all(type(v) in (int, float) for v in items):
            yield Table.of_one(("plain", number), own.path, items, ANY)


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


def is_alike(one: Figure, other: Figure) -> bool:
    """Whether two figures may be added: of the same, or one with no key."""
    kinds = one.kind, other.kind
    if one.kind == other.kind or ANY in kinds or ("" in kinds and "money" not in kinds):
        return True
    return "total" in one.formula or "total" in other.formula


def combined(one: Figure, other: Figure, signs: str = "+-*/%") -> Iterator[Figure]:
    """What two figures give: sum, difference, product, ratio, and a percentage of the other; of
    levels only the difference."""
    (a, k, x), (b, m, y) = one[:3], other[:3]
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
        are_same = one.key == other.key != "" or k == m not in ("", ANY)
        times = "" if are_same else QUOTIENT
        yield Figure(a / b, _ratio(k, m) or times, f"{x} / {y}")
        yield Figure(b / a, _ratio(m, k) or times, f"{y} / {x}")
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
    if kinds in ({ANY}, {ANY, ""}, {ANY, "money"}) or "total" in one.formula + other.formula:
        return is_alike(one, other)
    return one.kind == other.kind != ""


def _kind(one: str, other: str) -> str:
    """What a sum or a product is of: an amount if one is, else what is known."""
    if "money" in (one, other):
        return "money"
    return ANY if one in (ANY, "rate") or other in (ANY, "rate") else one or other


def _ratio(part: str, whole: str) -> str:
    """What one figure for each of another is of: an amount, or nothing known."""
    return part if part == "money" != whole else ""
