"""Bounding: what of a value can ever come to stand in so many characters, found without a look at
the rest. Pure.

`fit` weighs all of a value to choose from it, which is right for what is a few times too large and
a waste for a megabyte. Here rows behind those that could be chosen, and texts behind their
beginning, are left alone; what is left out is said in the words of `fit`, which goes on from there.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..text import (
    TRUNCATED,
    flat_size,
    head,
    json_size,
    more,
    more_fields,
    more_fields_of,
    size_up_to,
    tail,
)
from ..types import JSON, JSONObject
from .truncate import LEAN, WHOLE, before, ended, fit, fit_row, ids_stay, least_of

MAX_DATA = 12_000
"""Characters of the data of all results together, as models are shown it."""
SLACK = 2
"""Times the room up to which a value is left to `fit` as it is."""
_FEW = 10
_SMALL = 200  # characters: a field this small is never in the way


def fitted(value: JSON, budget: int) -> JSON:
    """As `fit`, in a time that the budget bounds, whatever the value."""
    return fit(bounded(value, budget), budget)


def bounded(value: JSON, budget: int) -> JSON:
    """The value, or as much of it as `budget` characters could be chosen from: a few times that."""
    if size_up_to(value, SLACK * budget) <= SLACK * budget:
        return value
    if isinstance(value, str):
        return head(value, budget) + tail(value)
    if isinstance(value, dict):
        return _fields(value, budget)
    return _items(list(value), budget) if isinstance(value, list | tuple) else value


def _fields(value: JSONObject, budget: int) -> JSONObject:
    """The leading fields; large ones share the room that the others leave."""
    before = more_fields_of(value)
    # the marker of an earlier cut is no field
    names = [n for n in value if not (before and n == TRUNCATED)]
    # more fields than this cannot fit, however small
    leading = names[: budget // len('"a": 0, ')]
    large = [n for n in leading if size_up_to(value[n], _SMALL) > _SMALL]
    stay = large[: budget // LEAN]
    behind = set(large[len(stay) :])
    kept = {n: value[n] for n in leading if n not in behind}
    kept |= _shared(kept, stay, budget)
    gone = len(names) - len(kept) + before
    return {**kept, TRUNCATED: more_fields(gone)} if gone else kept


def _shared(kept: JSONObject, large: list[str], budget: int) -> JSONObject:
    """The large ones of these fields, each cut to its share."""
    others = sum(json_size(n) + 4 for n in large)
    others += json_size({n: v for n, v in kept.items() if n not in large})
    return {n: bounded(kept[n], max(LEAN, (budget - others) // len(large))) for n in large}


def _items(items: list[JSON], budget: int) -> list[JSON]:
    items, known = before(items)
    return ended(_chosen(items, budget), items, known)


def _chosen(items: list[JSON], budget: int) -> list[JSON]:
    """The leading items, as many as could be chosen, none much larger than its share."""
    few = items[:_FEW]
    # texts or numbers: the shortest of the first tells how many could fit
    if not all(isinstance(item, dict) for item in few):
        least = max(3, min(size_up_to(item, LEAN) for item in few))
        count = min(len(items), max(1, budget // least))
        share = max(LEAN, SLACK * budget // count)
        return [bounded(item, share) for item in items[:count]]
    # every row keeps its id, as `fit` will want it
    if ids_stay(len(items) * min(least_of(row, title=False) for row in few), budget):
        share = max(_SMALL, SLACK * budget // len(items))
        return [_row(item, share // 2)[0] for item in items]
    return list(_leading(items, budget))


def _leading(rows: list[JSON], budget: int) -> Iterator[JSON]:
    """Where not even the ids of all rows have room: those in front, as `fit` chooses them."""
    room = budget - 2 - json_size(more(len(rows), left_out=True))
    need = max(least_of(row) for row in rows[:_FEW] if isinstance(row, dict))
    for number, row in enumerate(rows):
        kept, taken = _row(row, need)
        # and the comma
        room -= (taken or json_size(kept)) + 2
        if room < 0 and number:
            return
        yield kept


def _row(row: JSON, need: int) -> tuple[JSON, int]:
    """A row as it is where it is small beside what it needs, with its size where that is known;
    else cut to twice that."""
    most = WHOLE * need
    # plain rows have a quick size
    known = flat_size(row) if type(row) is dict else None
    if (size_up_to(row, most) if known is None else known) <= most:
        return row, known or 0
    plain = isinstance(row, dict) and 2 * need <= _SMALL
    kept = _plain(row, most) if plain else bounded(row, most)
    if not isinstance(kept, dict):
        return kept, 0
    return fit_row({k: v for k, v in kept.items() if k != TRUNCATED}, 2 * need - 2), 0


def _plain(row: JSONObject, most: int) -> JSONObject:
    """A row with room for little more than what selects it: without large lists and objects."""
    leading = list(row)[:most]
    return {
        k: bounded(v, most)
        for k in leading
        if not isinstance(v := row[k], dict | list | tuple) or size_up_to(v, most) <= most
    }
