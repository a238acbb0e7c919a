"""Cells: what stands in the same column of several rows, or behind the same label, is one field.

A column whose other cells show a field of their records word for word shows it in every row: a cell
with other words is wrong, be they found elsewhere or nowhere. No word needs to be known for that.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from .. import language
from .index import Index
from .places import Owner, Place, fold
from .reading import Claim, Reading, among
from .records import units
from .slots import SIGN

_PAIR = re.compile(
    '(?<![^\\W_])([^\\W\\d_][^\\W_]*(?: [^\\W_]+){0,4})[*_`"\u00bb\u201c\u201d]*\\s?'
    f'(?:[:=\u2026(]|{SIGN}|\\s-)[\\s*_`"\u00ab\u201e\u201c(]*'
    '([^\\s*`"\u00ab\u00bb\u201c-\u201e(][^\\n,;|()\\[\\]`"\u00bb\u201d:=\u2026\u2190-\u27ff]*)'
    '(?=[\\n,;|()\\[\\]`"\u00bb\u201d]|$)'
)
"""A label, its sign, and what stands behind up to the next mark."""
_CELL = re.compile(r"[^|\n]+")
_EDGES = " .*_\t"
_WORD = re.compile(r"[^\W\d_]{4,}")
LEAST = 2
"""Rows of a column in which one can be another than the rest."""


class Cell(NamedTuple):
    """What stands in a column, in the row of a record."""

    column: str
    owner: Owner
    claim: Claim


def misfits(
    reading: Reading, index: Index, told: Iterable[tuple[Claim, Sequence[Place]]]
) -> Iterator[Claim]:
    """The cells that do not show the field which all others of their column show."""
    if reading.text.count("\n") < LEAST:
        return
    columns: dict[str, dict[Owner, Claim]] = {}
    for cell in _cells(reading, index, list(told)):
        columns.setdefault(cell.column, {}).setdefault(cell.owner, cell.claim)
    fields: dict[Owner, dict[str, str]] = {}
    if any(len(rows) >= LEAST for rows in columns.values()):
        for place in index.strings():
            fields.setdefault(place.owner, {})[place.key] = fold(place.value)
    for rows in columns.values():
        if len(rows) >= LEAST:
            yield from _misfit(reading, rows, fields)


def _misfit(
    reading: Reading, rows: dict[Owner, Claim], fields: dict[Owner, dict[str, str]]
) -> Iterator[Claim]:
    """The one cell of a column that shows another thing than its record's field."""
    keys = dict.fromkeys(key for owner in rows for key in fields.get(owner, ()))
    for key in keys:
        held = [(c, fields.get(o, {}).get(key, ""), o) for o, c in rows.items()]
        other = [one for one in held if fold(one[0].token) != one[1]]
        if len(other) == 1 and other[0][1]:
            claim, _, own = other[0]
            if not any(_fits(reading, claim.token, value) for value in fields[own].values()):
                yield claim
            return


def _fits(reading: Reading, cell: str, value: str) -> bool:
    """Whether a cell shows a field: as it is, a part or a word of it, or the state that it tells;
    one that says that there is nothing may."""
    cell, stem = fold(cell), reading.language.stem
    if among(map(stem, cell.split()), reading.language.words.negation):
        return True
    if cell in value or value in cell or any(w[:5] in value for w in _WORD.findall(cell)):
        return True
    state = reading.language.words.states.get(stem(cell), "")
    english = language.of("en")
    own = english.words.states.get(english.stem(value), "")
    return bool(own) and state in ("", own)  # it may be told in other words


def _cells(
    reading: Reading, index: Index, told: Sequence[tuple[Claim, Sequence[Place]]]
) -> Iterator[Cell]:
    """The cells of the rows that name one record."""
    rows = ((c.start, {p.owner for p in ps if index.is_row(p.owner)}) for c, ps in told)
    named = sorted((one for one in rows if one[1]), key=itemgetter(0))
    starts = [at for at, _ in named]
    for unit in units(reading):
        spans = (slice(bisect_left(starts, a), bisect_left(starts, b)) for a, b in unit)
        inside = [owners for span in spans for _, owners in named[span]]
        owners = set.intersection(*inside) if inside else set()
        if len(owners) != 1:
            continue
        owner = next(iter(owners))
        for start, end in unit:
            yield from (Cell(column, owner, c) for column, c in _of_line(reading.text, start, end))


def _of_line(text: str, start: int, end: int) -> Iterator[tuple[str, Claim]]:
    """The columns of a line with their cells."""
    table = text[start:end].lstrip().startswith("|")
    if table and text[end : end + 2] == "|-":
        return  # its head
    for number, match in enumerate((_CELL if table else _PAIR).finditer(text, start, end)):
        label, group = ("|" * number, 0) if table else (fold(match[1]), 2)
        token = match[group].strip(_EDGES)
        if len(token) > 1 and not any(map(str.isdigit, token)):
            at = match.start(group) + match[group].index(token)
            yield label, Claim("cell", token, at, at + len(token))
