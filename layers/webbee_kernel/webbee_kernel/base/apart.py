"""What tells things of one title apart: the first field in which they differ. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

LONGEST = 40
"""Characters of a value that is worth showing beside a title."""


def told_apart(things: Sequence[tuple[str, Mapping[str, object]]]) -> list[str]:
    """What to say behind the title of each of these `(title, fields)`: nothing where no other has
    it, else ` (2026-05-16)`, a value of its own, the id where nothing else differs."""
    alike: dict[str, list[Mapping[str, object]]] = {}
    for title, fields in things:
        alike.setdefault(title, []).append(fields)
    by = {title: _differing(rows) for title, rows in alike.items() if len(rows) > 1}
    return [f" ({fields[by[t]]})" if by.get(t) else "" for t, fields in things]


def _differing(rows: Sequence[Mapping[str, object]]) -> str:
    """The first field that all have and no two share; the id last."""
    names = [name for name in rows[0] if all(_says(row.get(name)) for row in rows)]
    own = [name for name in names if len({row[name] for row in rows}) == len(rows)]
    return next(iter(sorted(own, key=("id", "id_", "uid").__contains__)), "")


def _says(value: object) -> bool:
    return (isinstance(value, str) and 0 < len(value) <= LONGEST) or type(value) in (int, float)
