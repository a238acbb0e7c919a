"""Tables of a reply: a column of which most cells are one field of their rows' records is that
field in every row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from .index import Index
from .places import Owner, Place
from .reading import Claim, Reading, Sentence

MIN_ROWS = 2
"""Rows that tell what a column shows."""
FIGURES = frozenset(("number", "money", "percent"))
CELL_KINDS = FIGURES | {"time", "date", "moment", "field"}
"""Kinds of values that a column is read of."""
ByStart = Mapping[int, Sequence[Place]]
Field = tuple[Owner, str]
Row = tuple[Owner, Mapping[str, Claim]]


def column_outliers(reading: Reading, index: Index, places: ByStart) -> Iterator[tuple[Claim, str]]:
    """The figures of tables that are not what their column shows of their record, each with what
    the record holds; `shown`: the fields of a value, by where it starts."""
    for rows in _tables(reading, index, places):
        for column, field in _fields(rows, places).items():
            for owner, claim in _cells(rows, column):
                own, held = (_fields_of(claim, owner, places), _record_value(index, field, owner))
                # a record without the column's field may tell another one of its own there
                if field not in own and (held or not own):
                    yield claim, held


def _tables(reading: Reading, index: Index, places: ByStart) -> Iterator[Sequence[Row]]:
    """The rows of each table, and the items of each list of which all tell as many figures."""
    for mark, parts in groupby(reading.sentences, key=_mark):
        rows = [_row(reading, index, part, places) for part in parts] if mark else []
        if mark == "|" or len({tuple(cells) for _, cells in rows}) == 1:
            yield rows


def _cells(rows: Sequence[Row], column: str) -> Iterator[tuple[Owner, Claim]]:
    """The values of a column with the records of their rows."""
    return ((owner, cells[column]) for owner, cells in rows if owner and column in cells)


def _mark(part: Sentence) -> str:
    """What the row of a table or the item of a list begins with; empty for any other line."""
    first = part.text.lstrip()[:2]
    return "|" if first[:1] == "|" else "-" if first in ("- ", "* ", "\u2022 ") else ""


def _columns(reading: Reading, part: Sentence) -> Iterator[tuple[str, Claim]]:
    """The values of a row, each with its column: the cell that it stands in, or in a list item its
    kind and what number of that it is."""
    is_table, figures = _mark(part) == "|", 0
    for claim in reading.claims_in(part):
        is_plain = not getattr(claim.mention, "is_spelled", False)
        if is_plain and is_table and claim.kind in CELL_KINDS:
            yield str(reading.text.count("|", part.start, claim.start)), claim
        elif is_plain and claim.kind in FIGURES:
            figures += 1
            yield f"{claim.kind} {figures}", claim


def _record_value(index: Index, field: Field, owner: Owner) -> str:
    """What a record holds in a field; empty where it has none."""
    whole, key = (*owner, *field[0]), field[1]
    column = index.column(Place(0, "", key, whole, None))
    return next((f"{key}: {p.value}" for p in column if p.owner == whole), "")


def _row(reading: Reading, index: Index, part: Sentence, places: ByStart) -> Row:
    """The record that most values of a row are of, a text as much as two figures; none where two
    are as many. And its values by their column, where that has one."""
    votes, cells = Counter[Owner](), dict[str, Claim | None]()
    for claim in reading.claims_in(part):
        owners = {p.owner for p in places.get(claim.start, ()) if index.is_row(p.owner)}
        votes.update(dict.fromkeys(owners, 1 if claim.kind in FIGURES else 2))
    for column, claim in _columns(reading, part):
        # two values in one cell do not tell what its column shows
        cells[column] = None if column in cells else claim
    (owner, most), (_, next_most) = [*votes.most_common(2), ((), 0), ((), 0)][:2]
    single = {column: claim for column, claim in cells.items() if claim}
    return owner if most > next_most else (), single


def _fields(rows: Sequence[Row], places: ByStart) -> dict[str, Field]:
    """The field that most values of a column are, of the record of their row."""
    votes: dict[str, Counter[Field]] = {}
    sizes = Counter[str]()
    for owner, cells in rows:
        for column, claim in cells.items() if owner else ():
            sizes[column] += 1
            votes.setdefault(column, Counter()).update(_fields_of(claim, owner, places))
    found = {column: counted.most_common(1) for column, counted in votes.items()}
    return {c: f[0][0] for c, f in found.items() if f and MIN_ROWS <= f[0][1] > sizes[c] / 2}


def _fields_of(claim: Claim, owner: Owner, places: ByStart) -> set[Field]:
    """The fields of a record, or of what lies in it, that a value shows."""
    size = len(owner)
    own = (p for p in places.get(claim.start, ()) if p.owner[:size] == owner)
    return {(p.owner[size:], p.key) for p in own}
