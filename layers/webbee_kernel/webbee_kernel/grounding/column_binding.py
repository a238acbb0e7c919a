"""A column of a reply's table, or what stands at one place of each list item, shows one field.

Where most rows tell that field of their own records, a figure in it that its row's record does not
have is wrong, also where nothing else says so: a percentage, a small number, what is worked out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from .index import Index
from .places import Owner, Place
from .reading import ITEM, Claim, Reading, Sentence

SHOWN = frozenset(("number", "money", "percent", "time", "date", "moment"))
"""Kinds of values that a column is read of."""
LEAST = 2
"""Rows that tell what a column shows."""

Shown = Mapping[int, Sequence[Place]]
Cell = tuple[str, int, int]
Field = tuple[Owner, str]


class Row(NamedTuple):
    """A row of a table or an item of a list: the block that it is in, its record, its values."""

    block: int
    is_table: bool
    owner: Owner
    cells: Mapping[Cell, Claim]


def outliers(reading: Reading, index: Index, shown: Shown) -> Iterator[tuple[Claim, str]]:
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
            is_table = part.text.lstrip()[0] == "|"
            yield Row(block, is_table, owner, _cells(reading, part, claims, is_table=is_table))


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
