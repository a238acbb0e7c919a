"""Bounding: pre-cutting large values before `fit`, in time that the budget bounds. Pure.

`fit` measures the whole value, which is too slow for a megabyte. Here rows, fields and text beyond
what could be chosen are dropped unread, with the same markers.
"""

from __future__ import annotations

from ..text import TRUNCATED, head, json_size, more_fields, more_fields_of, size_up_to, tail
from ..types import JSON, JSONObject
from .truncate import LEAN, WHOLE, fit, ids_stay, least_of, split_marker, with_marker

MAX_DATA = 12_000
"""Characters of the data of all results that a model is shown."""
SLACK = 2
"""A value up to this many times the budget is left to `fit`."""
_LEAST = len('"a": 0, ')
"""Characters below which there is room for no field and no row."""
_MARKER = len('["\N{HORIZONTAL ELLIPSIS} 10000 more, fields left out"]')
_FEW = 4
_SMALL = 200  # characters: a field or a row this small is never in the way


def fit_bounded(value: JSON, budget: int) -> JSON:
    """`fit`, in time bounded by the budget."""
    return fit(bound(value, budget), budget)


def bound(value: JSON, budget: int) -> JSON:
    """The value, cut to a few times `budget` characters."""
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
    kept = {n: bound(value[n], share) for n in leading}
    omitted = len(names) - len(kept) + earlier
    return {**kept, TRUNCATED: more_fields(omitted)} if omitted else kept


def _items(items: list[JSON], budget: int) -> list[JSON]:
    """The leading items, none much larger than its share."""
    items, earlier = split_marker(items)
    leading = items[: _most(items, budget)]
    share = max(_SMALL, budget // len(leading))
    kept = [bound(item, share // 2) for item in leading]
    # a row does not say that it lacks fields, its list does
    rows = [_without_marker(k) if k is not i else k for k, i in zip(kept, leading, strict=True)]
    return with_marker(rows, items, earlier)


def _most(items: list[JSON], budget: int) -> int:
    """How many leading items could fit, estimated from the first ones."""
    few = items[:_FEW]
    rows = [item for item in few if isinstance(item, dict)]
    # every row keeps its id, as `fit` will want it
    if rows == few and ids_stay(
        len(items) * min(least_of(row, title=False) for row in rows), budget
    ):
        return len(items)
    if not rows:
        return max(1, budget // max(3, *(size_up_to(item, LEAN) for item in few)))
    return _rows_with_room(items, WHOLE * max(map(least_of, rows)), budget)


def _rows_with_room(items: list[JSON], most: int, budget: int) -> int:
    """How many leading rows have room; small ones count whole."""
    room = budget - _MARKER
    for number, item in enumerate(items):
        size = size_up_to(item, most)
        room -= (json_size(item) if size <= most else most // WHOLE) + 2
        if room < 0:
            return number or 1
    return len(items)


def _without_marker(row: JSON) -> JSON:
    return {k: v for k, v in row.items() if k != TRUNCATED} if isinstance(row, dict) else row
