"""Truncation: cutting JSON to a size. Long texts are cut first, then columns of rows, then rows;
ids and titles go last. Pure.

At every level siblings share the room fairly (`fair_shares`). The result is valid JSON with markers
where something was cut. `fit` measures the whole value, which is too slow for a megabyte: `bound`
drops, unread, the rows, fields and text beyond what could be chosen.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from functools import lru_cache

from ..text import (
    ELLIPSIS,
    TRUNCATED,
    More,
    dumps,
    fair_shares,
    head,
    json_size,
    more,
    more_fields,
    more_fields_of,
    more_of,
    size_up_to,
    tail,
)
from ..types import JSON, JSONObject
from .columns import label_keys, rank_columns

_HOLDERS = frozenset({dict, list, tuple})


def fit_text(text: str, budget: int) -> str:
    """The beginning of a too long text and its marker, in `budget` characters of JSON."""
    end = tail(text)
    # escapes make characters wide: the width that fits is searched for
    sizes = range(1, len(text))
    kept = bisect_right(sizes, budget, key=lambda n: json_size(head(text, n) + end))
    return head(text, kept) + end


def leaves(value: JSON) -> list[JSON]:
    """All scalars of a value, in any order."""
    found, pending = [], [value]
    for item in pending:  # which grows
        if isinstance(item, dict | list | tuple):
            below = list(item.values()) if isinstance(item, dict) else item
            found += [v for v in below if type(v) not in _HOLDERS]
            pending += [v for v in below if type(v) in _HOLDERS]
        else:
            found.append(item)
    return found


def cap_texts(value: JSON, width: int) -> JSON:
    """The value with every text cut to `width` characters, with a marker."""
    if isinstance(value, str):
        if len(value) <= width:
            return value
        cut = head(value, width) + tail(value)
        return value if len(cut) >= len(value) else cut
    if isinstance(value, dict):
        return {k: cap_texts(v, width) for k, v in value.items()}
    return [cap_texts(v, width) for v in value] if isinstance(value, list | tuple) else value


LABEL = 60
"""Characters of a row's title where there is room for little else, as in a skeleton section."""

WHOLE = 3  # times what selects it: so small a row is not worth cutting
FLOOR = 80  # characters below which a long field is not worth its key


def needs(rows: list[JSONObject], sizes: list[int], room: int) -> list[int]:
    """The least room of each row that is kept, its comma included, leading rows first."""
    labels = [_label_sizes(row) for row in rows]
    least = [
        min(size, ident + title + 2 if ident or title else FLOOR)
        for size, (ident, title) in zip(sizes, labels, strict=True)
    ]
    if sum(least) <= room:
        return least
    # the id alone
    ids = [ident + 2 for ident, _ in labels]
    # every row has an id, and titles still get a third
    if 2 not in ids and 3 * sum(ids) <= 2 * room:
        return _with_titles(least, ids, room - sum(ids))
    return list(_leading_rows(least, sizes, room))


def _with_titles(least: list[int], ids: list[int], room: int) -> list[int]:
    """Room for every id, and for titles of as many leading rows as fit."""
    for i, (full, small) in enumerate(zip(least, ids, strict=True)):
        if full - small > room:
            return [*least[:i], *ids[i:]]
        room -= full - small
    return least


def _leading_rows(least: list[int], sizes: list[int], room: int) -> Iterator[int]:
    """As many leading rows as fit, at least one: small ones whole, others twice their least."""
    for number, (need, size) in enumerate(zip(least, sizes, strict=True)):
        want = size if size <= WHOLE * need else 2 * need
        if number and want > room:
            return
        room -= want
        yield want


def _label_sizes(row: JSONObject) -> tuple[int, int]:
    """Characters of a row's id and of its title; 0 where there is none."""
    title, ident = label_keys(row)
    return (
        0 if ident is None else entry(ident, _label(row[ident])),
        0 if title is None else entry(title, _label(row[title])),
    )


def _labels(row: JSONObject) -> JSONObject:
    """The id and the title of a record, cut to what a label needs, in that order."""
    title_key, ident = label_keys(row)
    return {k: _label(row[k]) for k in (ident, title_key) if k is not None}


def _label(value: JSON) -> JSON:
    # most are short, and looked at for every row
    return cap_texts(value, LABEL) if type(value) is str and len(value) > LABEL else value


def entry(key: str, item: JSON) -> int:
    """Characters of a field, its comma included."""
    return key_size(key) + json_size(item) + 4


key_size = lru_cache(json_size)
"""Rows of a list have the same keys."""


LEAN = 80
"""Characters that every text keeps before columns or rows are dropped."""

_SHORT = 200  # characters; a field this short outlives longer ones
_LEAST = len('"": 1, ')  # characters below which there is room for no field


def fit(value: JSON, budget: int) -> JSON:
    """`value` cut so that its JSON holds at most `budget` characters.

    Texts are shortened evenly, to 80 characters at least, and end in `…[N chars]`. Where that is
    not enough, rows of a list keep ids and titles of all before further columns of any (the list's
    last item says `… fields left out`), and lose their end only then (`… N more`); objects keep
    short scalars before containers and count what went under `_truncated`. A budget below about 60
    characters may be exceeded by the marker alone.
    """
    if isinstance(value, str):
        return value if json_size(value) <= budget else fit_text(value, budget)
    # one pass of the JSON writer is cheaper than adding up sizes
    text = dumps(value)
    if len(text) <= budget:
        return value
    if not isinstance(value, dict | list | tuple):
        return ELLIPSIS  # a number of more digits than there is room for
    # long texts give way before any row or column
    # no text is longer than what stands between two quotation marks
    has_long = "\\" in text or len(max(text.split('"'), key=len)) > LEAN
    if has_long and (result := _shorten_texts(value, budget)) is not None:
        return result
    if isinstance(value, dict):
        return _fit_dict(value, budget)
    kept = _fit_list(list(value), budget)
    if json_size(kept) <= budget:
        return kept
    marker = more_of(value)
    return [more(len(value) - 1 + marker.omitted if marker else len(value))]


def _shorten_texts(value: JSON, budget: int) -> JSON | None:
    """The value with only its texts cut, to the largest common length that fits; None where 80
    characters each are too many."""
    long = [one for one in leaves(value) if type(one) is str and len(one) > LEAN]
    if not long or json_size(cap_texts(value, LEAN)) > budget:
        return None
    # size grows with the width, so it is bisected
    widths = range(LEAN + 1, max(map(len, long)))
    largest = bisect_right(widths, budget, key=lambda width: json_size(cap_texts(value, width)))
    return cap_texts(value, LEAN + largest)


def fit_row(row: JSONObject, budget: int) -> JSONObject:
    """A row of a list: id and title, then what fits; its list carries the marker."""
    return _fit_dict(row, budget, has_marker=False)


def _fit_dict(value: JSONObject, budget: int, *, has_marker: bool = True) -> JSONObject:
    """The fields that fit, and a marker with the count of the others unless it is a row."""
    # counts of earlier cuts are added up
    split_marker = more_fields_of(value) if has_marker else 0
    room = budget - (entry(TRUNCATED, more_fields(len(value) + split_marker)) if has_marker else 0)
    entries = {str(k): v for k, v in value.items() if not (split_marker and k == TRUNCATED)}
    kept = _choose_fields(entries, room)
    omitted = len(entries) - len(kept) + split_marker
    return {**kept, TRUNCATED: more_fields(omitted)} if omitted and has_marker else kept


def _choose_fields(entries: JSONObject, room: int) -> JSONObject:
    """In their order: id and title, short scalars, short containers, the rest by fair shares."""
    kept: JSONObject = {}
    for key, label in _labels(entries).items():
        if (size := entry(key, label)) <= room:
            kept[key] = label
            room -= size
    if room >= _LEAST or not kept.items() <= entries.items():
        sizes = {k: entry(k, v) for k, v in entries.items()}
        room = _short_fields(entries, sizes, kept, room)
        kept |= _long_fields({k: v for k, v in entries.items() if k not in kept}, sizes, room)
    return {key: kept[key] for key in entries if key in kept}


def _short_fields(entries: JSONObject, sizes: dict[str, int], kept: JSONObject, room: int) -> int:
    """Add short fields that fit to `kept`, scalars first, and short labels whole; the room left."""
    short = [key for key in entries if sizes[key] <= _SHORT]
    for key in sorted(short, key=lambda key: type(entries[key]) in _HOLDERS):
        more_room = sizes[key] - (entry(key, kept[key]) if key in kept else 0)
        if more_room <= room:
            kept[key] = entries[key]
            room -= more_room
    return room


def _long_fields(fields: JSONObject, sizes: dict[str, int], room: int) -> JSONObject:
    """The leading fields, each cut to its fair share of the room."""
    if room <= LEAN // 2:
        return {}
    kept: JSONObject = {}
    names = list(fields)[: max(1, room // FLOOR)]
    for place, name in enumerate(names):
        wants = [sizes[n] for n in names[place:]]
        share = fair_shares(wants, room)[0]
        if wants[0] <= share:
            kept[name] = fields[name]
        elif share - json_size(name) > LEAN // 2 and isinstance(
            fields[name], dict | list | tuple | str
        ):
            kept[name] = fit(fields[name], share - json_size(name) - 4)
        else:
            continue
        room -= entry(name, kept[name])
    return kept


def _fit_list(items: list[JSON], budget: int) -> list[JSON]:
    items, earlier = split_marker(items)
    if items and all(isinstance(item, dict) for item in items):
        return _fit_rows(items, budget, earlier)
    return with_marker(_leading_items(items, budget - 2, earlier), items, earlier)


def split_marker(items: list[JSON]) -> tuple[list[JSON], More]:
    """The items of a list, and the marker of an earlier cut."""
    earlier = more_of(items)
    return (items, More()) if earlier is None else (items[:-1], earlier)


def with_marker(kept: list[JSON], items: list[JSON], earlier: More) -> list[JSON]:
    """The kept leading items with a marker: how many were omitted, and whether rows lack fields."""
    omitted = len(items) - len(kept) + earlier.omitted
    left_out = earlier.lacks_fields or any(
        k is not i and isinstance(k, dict) and len(k) < len(i)
        for k, i in zip(kept, items, strict=False)
    )
    return [*kept, more(omitted, left_out)] if omitted or left_out else kept


def _leading_items(items: list[JSON], room: int, earlier: More) -> list[JSON]:
    """As many leading items as fit, with long texts cut; of a too long first one its start."""
    kept: list[JSON] = []
    room -= json_size(more(len(items) + earlier.omitted, earlier.lacks_fields))
    for lean in (cap_texts(item, LEAN) for item in items):
        if json_size(lean) + 2 > room:
            break
        kept.append(lean)
        room -= json_size(lean) + 2
    return kept if kept or room <= LEAN else [fit(items[0], room - 2)]


def _fit_rows(rows: list[JSONObject], budget: int, earlier: More) -> list[JSON]:
    """Ids and titles of all rows, then further fields by rank and fair shares. Where not even that
    fits: all ids with the leading titles, if ids take at most two thirds; else the leading rows."""
    room = budget - 2 - json_size(more(len(rows) + earlier.omitted, lacks_fields=True))
    rows = rank_columns(rows)
    sizes = [json_size(row) + 2 for row in rows]
    least = needs(rows, sizes, room)
    wants = [size - need for size, need in zip(sizes, least, strict=False)]
    extra = fair_shares(wants, room - sum(least))
    kept: list[JSON] = [
        row if need + more_room >= size else fit_row(row, need - 2 + more_room)
        for row, size, need, more_room in zip(rows, sizes, least, extra, strict=False)
    ]
    # a row of which nothing stayed is counted as gone
    while kept and not kept[-1]:
        kept.pop()
    return with_marker(kept, list(rows), earlier)


MAX_DATA = 12_000
"""Characters of the data of all results that a model is shown."""
SLACK = 2
"""A value up to this many times the budget is left to `fit`."""


def fit_bounded(value: JSON, budget: int) -> JSON:
    """`fit`, in time bounded by the budget."""
    return fit(bound(value, budget), budget)


def bound(value: JSON, budget: int) -> JSON:
    """The value, cut to a few times `budget` characters, with the markers of `fit`."""
    if size_up_to(value, SLACK * budget) <= SLACK * budget:
        return value
    if isinstance(value, str):
        return head(value, budget) + tail(value)
    if isinstance(value, dict):
        return _bound_fields(value, budget)
    return _bound_items(list(value), budget) if isinstance(value, list | tuple) else value


def _bound_fields(value: JSONObject, budget: int) -> JSONObject:
    """The leading fields; large ones share the room."""
    earlier = more_fields_of(value)
    # the marker of an earlier cut is no field
    names = [n for n in value if not (earlier and n == TRUNCATED)]
    # more fields than this cannot fit, however small
    leading = names[: budget // _LEAST]
    large = sum(size_up_to(value[n], _SHORT) > _SHORT for n in leading)
    share = max(_SHORT, budget // max(1, large))
    kept = {n: bound(value[n], share) for n in leading}
    omitted = len(names) - len(kept) + earlier
    return {**kept, TRUNCATED: more_fields(omitted)} if omitted else kept


def _bound_items(items: list[JSON], budget: int) -> list[JSON]:
    """The leading items, none much larger than its share."""
    items, earlier = split_marker(items)
    leading = items[: _most(items, budget)]
    share = max(_SHORT, budget // len(leading)) // 2
    kept = [bound(item, share) for item in leading]
    # a row does not say that it lacks fields, its list does
    rows = [
        {n: v for n, v in k.items() if n != TRUNCATED} if k is not i and isinstance(k, dict) else k
        for k, i in zip(kept, leading, strict=True)
    ]
    return with_marker(rows, items, earlier)


def _most(items: list[JSON], room: int) -> int:
    """How many leading items could fit: small ones count whole, large ones as much as the first
    has to keep."""
    labels = sum(_label_sizes(items[0])) if isinstance(items[0], dict) else 0
    least = labels or LEAN
    for number, item in enumerate(items):
        size = size_up_to(item, WHOLE * least)
        room -= (size if size <= WHOLE * least else least) + 2
        if room < 0:
            return number or 1
    return len(items)
