"""Tables and lists of a reply: a row, or a column, is of one record, and what stands at the same
place in each is one field of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from .index import Index
from .places import Owner, Place
from .reading import ITEM, Claim, Reading, Sentence
from .record_binding import UNIT, Bound, Misplaced, Value, held_by, is_apart

LEAST = 2
"""Rows that tell what a column shows, and values that are of the record at its head."""


def side_by_side(reading: Reading, index: Index, values: Bound) -> Iterator[Misplaced]:
    """The values of tables that set records side by side, of another record than their column's."""
    for is_table, parts in groupby(reading.sentences, key=_is_row):
        columns = _columns(reading, values, parts) if is_table else {}
        heads = [(own[0], own[1:]) for own in columns.values() if own[0].is_label]
        for head, own in heads if len(heads) > 1 else ():
            yield from ((v.claim, held_by(index, v, head.rows), head.rows) for v in _odd(head, own))


def _odd(head: Value, own: Sequence[Value]) -> Sequence[Value]:
    """The few values of a column that are not of the record at its head."""
    apart = [v for v in own if is_apart(v, [head])]
    return apart if LEAST <= len(own) - len(apart) > len(apart) else ()


def _is_row(part: Sentence) -> bool:
    return part.text.lstrip()[:1] == "|"


def _columns(reading: Reading, values: Bound, rows: Iterable[Sentence]) -> dict[int, list[Value]]:
    """The values of a table by their column."""
    found: dict[int, list[Value]] = {}
    for row in rows:
        for value in values.between(row.start, row.end)[:UNIT]:
            column = reading.text.count("|", row.start, value.claim.start)
            found.setdefault(column, []).append(value)
    return found


SHOWN = frozenset(("number", "money", "percent", "time", "date", "moment", "field"))
"""Kinds of values that a column is read of."""
Shown = Mapping[int, Sequence[Place]]
Cell = tuple[str, int, int]
Field = tuple[Owner, str]


class Row(NamedTuple):
    """A row of a table or an item of a list: the block that it is in, its record, its values."""

    block: int
    is_table: bool
    owner: Owner
    cells: Mapping[Cell, Claim]


def column_outliers(reading: Reading, index: Index, shown: Shown) -> Iterator[tuple[Claim, str]]:
    """The figures of tables and lists that are not what their column shows of their record, each
    with what the record holds; `shown`: the fields of a value, by where it starts."""
    for _, block in groupby(_rows(reading, index, shown), key=lambda row: row.block):
        rows = list(block)
        fields = _fields(rows, shown)
        for row in rows:
            for cell, claim in row.cells.items():
                if (
                    cell in fields
                    and not _fields_shown(claim, row.owner, shown)
                    and (row.is_table or not shown.get(claim.start))
                ):
                    yield claim, _value_of(index, fields[cell], row.owner)


def _rows(reading: Reading, index: Index, shown: Shown) -> Iterator[Row]:
    block = 0
    for part in reading.sentences:
        if not ITEM.match(part.text):
            block += 1
            continue
        claims = reading.inside(part)
        if owner := _record(index, claims, shown):
            cells = _cells(reading, part, claims, is_table=_is_row(part))
            yield Row(block, _is_row(part), owner, cells)


def _record(index: Index, claims: Sequence[Claim], shown: Shown) -> Owner:
    """The record that most values of a row are of; none where two are as many."""
    counted = Counter[Owner]()
    for claim in claims:
        counted.update({p.owner for p in shown.get(claim.start, ()) if index.is_row(p.owner)})
    most = counted.most_common(2)
    alone = len(most) == 1 or (len(most) == 2 and most[0][1] > most[1][1])
    return most[0][0] if alone and most else ()


def _cells(
    reading: Reading, part: Sentence, claims: Sequence[Claim], *, is_table: bool
) -> dict[Cell, Claim]:
    """The values of a row by their column, or by their number among those of their kind."""
    found: dict[Cell, Claim] = {}
    seen = Counter[tuple[str, int]]()
    for claim in claims:
        if claim.kind in SHOWN and not getattr(claim.mention, "spelled", False):
            column = reading.text.count("|", part.start, claim.start)
            place = ("", column) if is_table else (claim.kind, 0)
            found[*place, seen[place]] = claim
            seen[place] += 1
    return found


def _fields(rows: Sequence[Row], shown: Shown) -> dict[Cell, Field]:
    """The field that most values of a column are, of the record of their row."""
    votes: dict[Cell, Counter[Field]] = {}
    sizes = Counter[Cell]()
    for row in rows:
        for cell, claim in row.cells.items():
            sizes[cell] += 1
            votes.setdefault(cell, Counter()).update(_fields_shown(claim, row.owner, shown))
    found = {}
    for cell, counted in votes.items():
        field, most = next(iter(counted.most_common(1)), (None, 0))
        if field and most >= LEAST and 2 * most > sizes[cell]:
            found[cell] = field
    return found


def _fields_shown(claim: Claim, owner: Owner, shown: Shown) -> set[Field]:
    """The fields of a record, or of what lies in it, that a value shows."""
    size = len(owner)
    own = (p for p in shown.get(claim.start, ()) if p.owner[:size] == owner)
    return {(p.owner[size:], p.key) for p in own}


def _value_of(index: Index, field: Field, owner: Owner) -> str:
    """What a record holds in a field; empty where it has none."""
    below, key = field
    whole = (*owner, *below)
    column = index.column(Place(0, "", key, whole, None))
    return next((f"{key}: {p.value}" for p in column if p.owner == whole), "")
