"""Truncation: cutting JSON to a size so that what selects survives: long texts give way first, then
further columns of rows, then rows. Pure.

One idea at every level: siblings share the room fairly, and what one does not need goes to the
others. Whatever is cut stays valid JSON and says so. In order: texts, what rows need at least, and
`fit`.
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
    tail,
)
from ..types import JSON, JSONObject
from .columns import label_keys, ranked

_HOLDERS = frozenset({dict, list, tuple})


def fit_text(text: str, budget: int) -> str:
    """As much of its beginning as `budget` characters of JSON hold, its end included; of a text
    that they do not hold whole."""
    end = tail(text)
    # escapes make characters wide: the width that fits is searched for
    sizes = range(1, len(text))
    kept = bisect_right(sizes, budget, key=lambda n: json_size(head(text, n) + end))
    return head(text, kept) + end


def leaves(value: JSON) -> list[JSON]:
    """All scalars of a value, in any order."""
    found, left = [], [value]
    for one in left:  # which grows
        if isinstance(one, dict | list | tuple):
            below = list(one.values()) if isinstance(one, dict) else one
            found += [v for v in below if type(v) not in _HOLDERS]
            left += [v for v in below if type(v) in _HOLDERS]
        else:
            found.append(one)
    return found


def longest(written: str) -> int:
    """The characters of the longest text in this JSON, or more: its escapes are not read."""
    return len(written) if "\\" in written else len(max(written.split('"'), key=len))


def capped(value: JSON, width: int) -> JSON:
    """The value with every text of more than `width` characters cut to them, marked."""
    if isinstance(value, str):
        if len(value) <= width:
            return value
        cut = head(value, width) + tail(value)
        return value if len(cut) >= len(value) else cut
    if isinstance(value, dict):
        return {k: capped(v, width) for k, v in value.items()}
    return [capped(v, width) for v in value] if isinstance(value, list | tuple) else value


LABEL = 60
"""Characters of a row's title where there is room for little else, as in a skeleton section."""

WHOLE = 3  # times what selects it: so small a row is not worth cutting
FLOOR = 80  # characters below which a long field is not worth its key


def needs(rows: list[JSONObject], sizes: list[int], room: int) -> list[int]:
    """The least room of each row that stays, its comma included, leading rows first."""
    labels = [_label_sizes(row) for row in rows]
    least = [
        min(size, ident + title + 2 if ident or title else FLOOR)
        for size, (ident, title) in zip(sizes, labels, strict=True)
    ]
    if sum(least) <= room:
        return least
    # the id alone
    bare = [ident + 2 for ident, _ in labels]
    # every row has an id, and titles still get a third
    if 2 not in bare and ids_stay(sum(bare), room):
        return _titled(least, bare, room - sum(bare))
    return list(_leading(least, sizes, room))


def ids_stay(ids: int, room: int) -> bool:
    """Whether the ids of all rows, so many characters, come before any title: they leave a third of
    the room."""
    return 3 * ids <= 2 * room


def _titled(least: list[int], bare: list[int], left: int) -> list[int]:
    """Room for every id, and for the titles of as many leading rows as what is left lasts."""
    for i, (full, small) in enumerate(zip(least, bare, strict=True)):
        if full - small > left:
            return [*least[:i], *bare[i:]]
        left -= full - small
    return least


def _leading(least: list[int], sizes: list[int], room: int) -> Iterator[int]:
    """As many rows as have room, at least one: small ones whole, twice what selects the others."""
    for number, (need, size) in enumerate(zip(least, sizes, strict=True)):
        want = size if size <= WHOLE * need else 2 * need
        if number and want > room:
            return
        room -= want
        yield want


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


LEAN = 80
"""Characters that every text keeps before columns or rows are dropped for the sake of others."""

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
    written = dumps(value)
    if len(written) <= budget:
        return value
    if not isinstance(value, dict | list | tuple):
        return ELLIPSIS  # a number of more digits than there is room for
    # long texts give way before any row or column
    if longest(written) > LEAN and (shortened := _shortened(value, budget)) is not None:
        return shortened
    if isinstance(value, dict):
        return _fit_dict(value, budget)
    kept = _fit_list(list(value), budget)
    if json_size(kept) <= budget:
        return kept
    said = more_of(value)
    return [more(len(value) - 1 + said.omitted if said else len(value))]


def _shortened(value: JSON, budget: int) -> JSON | None:
    """The value with its texts, and nothing else, cut to the largest even length that fits; None
    where 80 characters each are too many."""
    long = [one for one in leaves(value) if type(one) is str and len(one) > LEAN]
    if not long or json_size(capped(value, LEAN)) > budget:
        return None
    # size grows with the width, so it is bisected
    widths = range(LEAN + 1, max(map(len, long)))
    largest = bisect_right(widths, budget, key=lambda width: json_size(capped(value, width)))
    return capped(value, LEAN + largest)


def fit_row(row: JSONObject, budget: int) -> JSONObject:
    """A row of a list: what selects it, then what has room; its list says that more was there."""
    return _fit_dict(row, budget, marked=False)


def _fit_dict(value: JSONObject, budget: int, *, marked: bool = True) -> JSONObject:
    """The fields that stay, and how many went; a row does not say it, its list does."""
    # what an earlier cut said is added up, not said twice
    before = more_fields_of(value) if marked else 0
    room = budget - (entry(TRUNCATED, more_fields(len(value) + before)) if marked else 0)
    entries = {str(k): v for k, v in value.items() if not (before and k == TRUNCATED)}
    kept = _chosen(entries, room)
    gone = len(entries) - len(kept) + before
    return {**kept, TRUNCATED: more_fields(gone)} if gone and marked else kept


def _chosen(entries: JSONObject, room: int) -> JSONObject:
    """What selects, cut to a label, then short scalars, short containers, and the rest by fair
    shares of what is left; in their order."""
    kept, taken = _labels(entries, room)
    room -= sum(taken.values())
    if room >= _LEAST or any(label is not entries[key] for key, label in kept.items()):
        sizes = {k: entry(k, v) for k, v in entries.items()}
        room = _short_fields(entries, sizes, kept, taken, room)
        kept |= _long_fields({k: v for k, v in entries.items() if k not in kept}, sizes, room)
    return {key: kept[key] for key in entries if key in kept}


def _labels(entries: JSONObject, room: int) -> tuple[JSONObject, dict[str, int]]:
    """What selects, as far as there is room, and how much of it each takes."""
    kept: JSONObject = {}
    taken: dict[str, int] = {}
    for key, label in labels_of(entries).items():
        if (size := entry(key, label)) <= room:
            kept[key], taken[key] = label, size
            room -= size
    return kept, taken


def _short_fields(
    entries: JSONObject,
    sizes: dict[str, int],
    kept: JSONObject,
    taken: dict[str, int],
    room: int,
) -> int:
    """Add every short field that has room, scalars first, to what is kept and takes so much of it;
    a label whole where that is short. What room is left."""
    scalars: list[str] = []
    holders: list[str] = []
    for key, item in entries.items():
        if sizes[key] <= _SHORT:
            (holders if type(item) in _HOLDERS else scalars).append(key)
    for key in (*scalars, *holders):
        more_room = sizes[key] - taken.get(key, 0)
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
    items, known = before(items)
    if items and all(isinstance(item, dict) for item in items):
        return _fit_rows(items, budget, known)
    kept = _leading_items(items, budget - 2, known)
    gone = len(items) - len(kept) + known.omitted
    return [*kept, more(gone, known.lacks_fields)] if gone or known.lacks_fields else kept


def before(items: list[JSON]) -> tuple[list[JSON], More]:
    """The items of a list, and what it says of those that an earlier cut took."""
    known = more_of(items)
    return (items, More()) if known is None else (items[:-1], known)


def ended(kept: list[JSON], items: list[JSON], known: More) -> list[JSON]:
    """The leading items, and what is to be said of the others: how many went, and whether rows lack
    fields."""
    gone = len(items) - len(kept) + known.omitted
    left_out = known.lacks_fields or any(
        k is not i and isinstance(k, dict) and len(k) < len(i)
        for k, i in zip(kept, items, strict=False)
    )
    return [*kept, more(gone, left_out)] if gone or left_out else kept


def _leading_items(items: list[JSON], room: int, known: More) -> list[JSON]:
    """As many as there is room for, long texts cut; of a first one that is too long, its start."""
    kept: list[JSON] = []
    room -= json_size(more(len(items) + known.omitted, known.lacks_fields))
    for lean in (capped(item, LEAN) for item in items):
        if json_size(lean) + 2 > room:
            break
        kept.append(lean)
        room -= json_size(lean) + 2
    return kept if kept or room <= LEAN else [fit(items[0], room - 2)]


def _fit_rows(rows: list[JSONObject], budget: int, known: More) -> list[JSON]:
    """Rows of a list: what selects of all of them, then further fields by fair shares, those that
    people ask about next before others. Where not
    even that fits: ids of all and titles of the leading ones, if ids take at most two thirds; else
    the leading rows, each with about as much again as what selects it; a small one whole."""
    room = budget - 2 - json_size(more(len(rows) + known.omitted, lacks_fields=True))
    rows = ranked(rows)
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
    return ended(kept, list(rows), known)
