"""What tells things of one title apart: the first field in which they differ. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LONGEST = 40
"""Characters of a value that is worth showing beside a title."""


def told_apart(things: Sequence[tuple[str, Mapping[str, object]]]) -> list[str]:
    """What to say behind the title of each of these `(title, fields)`: nothing where no other has
    it, else ` (2026-05-16)`, what only it has, the id where nothing else differs. Of things alike
    one may have nothing there: the others are told from it."""
    alike: dict[str, list[Mapping[str, object]]] = {}
    for title, fields in things:
        alike.setdefault(title, []).append(fields)
    by = {title: _differing(rows) for title, rows in alike.items() if len(rows) > 1}
    return [f" ({own})" if (own := _said(f, by.get(t, ""))) else "" for t, f in things]


def _differing(rows: Sequence[Mapping[str, object]]) -> str:
    """The first field of which no two say the same; the id last."""
    names = dict.fromkeys(name for row in rows for name in row)
    own = [name for name in names if len({_said(row, name) for row in rows}) == len(rows)]
    return next(iter(sorted(own, key=("id", "id_", "uid").__contains__)), "")


def _said(row: Mapping[str, object], name: str) -> str:
    value = row.get(name)
    short = isinstance(value, str) and len(value) <= LONGEST and value.isprintable()
    return str(value) if short or type(value) in (int, float) else ""
