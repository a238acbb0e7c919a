"""What tells things of one title apart: the first fields in which they differ. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, combinations

LONGEST = 40
"""Characters of a value that is worth showing beside a title."""
MOST = 12
"""Fields of a record that are looked at, before its id."""
_IDS = ("id", "id_", "uid")


def told_apart(things: Sequence[tuple[str, Mapping[str, object]]]) -> list[str]:
    """What to say behind the title of each of these `(title, fields)`: nothing where no other has
    it, else ` (2026-05-16)` or ` (2026-05-16, open)`, what only it has, the id where nothing else
    differs. Of things alike one may have nothing there: the others are told from it."""
    alike: dict[str, list[Mapping[str, object]]] = {}
    for title, fields in things:
        alike.setdefault(title, []).append(fields)
    by = {title: _differing(rows) for title, rows in alike.items() if len(rows) > 1}
    return [f" ({own})" if (own := _said(f, by.get(t, ()))) else "" for t, f in things]


def _differing(rows: Sequence[Mapping[str, object]]) -> Sequence[str]:
    """The first field, else the first two, of which no two rows say the same; the id last."""
    names = [n for n in dict.fromkeys(n for row in rows for n in row) if n not in _IDS][:MOST]
    tried = chain(combinations(names, 1), combinations(names, 2), combinations(_IDS, 1))
    return next((by for by in tried if len({_said(r, by) for r in rows}) == len(rows)), ())


def _said(row: Mapping[str, object], names: Sequence[str]) -> str:
    told = (row.get(name) for name in names)
    return ", ".join(str(value) for value in told if _is_short(value))


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= LONGEST and value.isprintable()
    return type(value) in (int, float)
