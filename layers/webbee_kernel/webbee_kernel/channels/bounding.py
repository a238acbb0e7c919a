"""Bounding: what of a value can ever come to stand in so many characters, found without a look at
the rest. Pure.

`fit` weighs all of a value to choose from it, which is right for what is a few times too large and
a waste for a megabyte. Here rows and fields behind those that could be chosen, and texts behind
their beginning, are left alone; what is left out is said in the words of `fit`, which goes on from
there.
"""

from __future__ import annotations

from ..text import TRUNCATED, head, json_size, more_fields, more_fields_of, size_up_to, tail
from ..types import JSON, JSONObject
from .truncate import LEAN, WHOLE, before, ended, fit, ids_stay, least_of

MAX_DATA = 12_000
"""Characters of the data of all results together, as models are shown it."""
SLACK = 2
"""Times the room up to which a value is left to `fit` as it is."""
_LEAST = len('"a": 0, ')
"""Characters below which there is room for no field and no row."""
_SAID = len('["\N{HORIZONTAL ELLIPSIS} 10000 more, fields left out"]')
_FEW = 4
_SMALL = 200  # characters: a field or a row this small is never in the way


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
    """The leading fields; large ones share the room."""
    earlier = more_fields_of(value)
    # the marker of an earlier cut is no field
    names = [n for n in value if not (earlier and n == TRUNCATED)]
    # more fields than this cannot fit, however small
    leading = names[: budget // _LEAST]
    large = sum(size_up_to(value[n], _SMALL) > _SMALL for n in leading)
    share = max(_SMALL, budget // max(1, large))
    kept = {n: bounded(value[n], share) for n in leading}
    gone = len(names) - len(kept) + earlier
    return {**kept, TRUNCATED: more_fields(gone)} if gone else kept


def _items(items: list[JSON], budget: int) -> list[JSON]:
    """The leading items, none much larger than its share."""
    items, known = before(items)
    leading = items[: _most(items, budget)]
    share = max(_SMALL, budget // len(leading))
    kept = [bounded(item, share // 2) for item in leading]
    # a row does not say that it lacks fields, its list does
    rows = [_bare(k) if k is not i else k for k, i in zip(kept, leading, strict=True)]
    return ended(rows, items, known)


def _most(items: list[JSON], budget: int) -> int:
    """How many leading items could be chosen, as the first ones tell."""
    few = items[:_FEW]
    rows = [item for item in few if isinstance(item, dict)]
    # every row keeps its id, as `fit` will want it
    if rows == few and ids_stay(
        len(items) * min(least_of(row, title=False) for row in rows), budget
    ):
        return len(items)
    if not rows:
        return max(1, budget // max(3, *(size_up_to(item, LEAN) for item in few)))
    return _whole(items, WHOLE * max(map(least_of, rows)), budget)


def _whole(items: list[JSON], most: int, budget: int) -> int:
    """How many leading rows have room, whole where that is little beside what selects them."""
    room = budget - _SAID
    for number, item in enumerate(items):
        size = size_up_to(item, most)
        room -= (json_size(item) if size <= most else most // WHOLE) + 2
        if room < 0:
            return number or 1
    return len(items)


def _bare(row: JSON) -> JSON:
    return {k: v for k, v in row.items() if k != TRUNCATED} if isinstance(row, dict) else row
