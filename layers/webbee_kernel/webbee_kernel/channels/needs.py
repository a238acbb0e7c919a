"""What the rows of a list need at least, and which of them stay where that is too much. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TypeAlias

from ..base.text import json_size
from ..values.plain import JSON, JSONObject
from .rows import label_keys
from .texts import capped

LABEL = 60
"""Characters of a row's title where there is room for little else, as in a skeleton section."""

WHOLE = 3  # times what selects it: so small a row is not worth cutting
FLOOR = 80  # characters below which a long field is not worth its key


Need: TypeAlias = tuple[int, int]
"""A row's least room, its comma included, and how many of its labels take all of it; 0 where not
just these are meant."""


def needs(rows: list[JSONObject], sizes: list[int], room: int) -> list[Need]:
    """The least room of each row that stays, leading rows first."""
    labels = [_label_sizes(row) for row in rows]
    least = [_least(size, *label) for size, label in zip(sizes, labels, strict=True)]
    if room_of(least) <= room:
        return least
    bare = [(ident + 2, 1) for ident, _ in labels]
    if (2, 1) not in bare and ids_stay(room_of(bare), room):
        return _titled(least, bare, room - room_of(bare))
    return list(_leading(least, sizes, room))


def room_of(needs: list[Need]) -> int:
    """The room of all of them."""
    return sum([need for need, _ in needs])


def _least(size: int, ident: int, title: int) -> Need:
    return min(size, ident + title + 2 if ident or title else FLOOR), 2 * bool(ident and title)


def ids_stay(ids: int, room: int) -> bool:
    """Whether the ids of all rows, so many characters, come before any title: they leave a third of
    the room."""
    return 3 * ids <= 2 * room


def _titled(least: list[Need], bare: list[Need], left: int) -> list[Need]:
    """Room for every id, and for the titles of as many leading rows as what is left lasts."""
    for i, ((full, _), (small, _)) in enumerate(zip(least, bare, strict=True)):
        if full - small > left:
            return [*least[:i], *bare[i:]]
        left -= full - small
    return least


def _leading(least: list[Need], sizes: list[int], room: int) -> Iterator[Need]:
    """As many rows as have room, at least one: small ones whole, twice what selects the others."""
    for number, ((need, _), size) in enumerate(zip(least, sizes, strict=True)):
        want = size if size <= WHOLE * need else 2 * need
        if number and want > room:
            return
        room -= want
        yield want, 0


def least_of(row: JSONObject, *, title: bool = True) -> int:
    """Characters of what selects a row, its comma included; of a row without, those of a floor."""
    ident, named = _label_sizes(row)
    total = ident + named if title else ident
    return total + 2 if total else FLOOR


def _label_sizes(row: JSONObject) -> tuple[int, int]:
    """Characters of a row's id and of its title; 0 where there is none."""
    title, ident = label_keys(row)
    return (
        0 if ident is None else entry(ident, _label(row[ident])),
        0 if title is None else entry(title, _label(row[title])),
    )


def labels_of(row: JSONObject) -> JSONObject:
    """The id and the title of a record, cut to what a label needs, in that order."""
    title_key, ident = label_keys(row)
    return {k: _label(row[k]) for k in (ident, title_key) if k is not None}


def _label(value: JSON) -> JSON:
    return capped(value, LABEL) if type(value) is str and len(value) > LABEL else value


def entry(key: str, item: JSON) -> int:
    """Characters of a field, its comma included."""
    return key_size(key) + json_size(item) + 4


key_size = lru_cache(json_size)
"""Rows of a list have the same keys."""
