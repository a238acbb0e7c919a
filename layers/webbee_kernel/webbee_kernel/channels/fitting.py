"""Cutting JSON to a size so that what selects survives: long texts give way first, then further
columns of rows, then rows. Pure.

One idea at every level: siblings share the room fairly, and what one does not need goes to the
others. Whatever is cut stays valid JSON and says so.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from ..base.cuts import TRUNCATED, More, more, more_fields, more_fields_of, more_of
from ..base.shares import fair_shares
from ..base.text import ELLIPSIS, dumps, json_size
from ..values.plain import JSON, JSONObject
from .columns import ranked
from .needs import FLOOR, entry, labels_of, needs, room_of
from .texts import capped, fit_text, longest, texts_in, unescaped

LEAN = 80
"""Characters that every text keeps before columns or rows are dropped for the sake of others."""

_HOLDERS = frozenset({dict, list, tuple})
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
    written = dumps(value)
    if len(written) <= budget:
        return value
    if not isinstance(value, dict | list | tuple):
        return ELLIPSIS  # a number of more digits than there is room for
    if longest(written) > LEAN and (shortened := _shortened(value, budget)) is not None:
        return shortened
    if isinstance(value, dict):
        return _fit_dict(value, budget)
    kept = _fit_list(list(value), budget)
    if json_size(kept) <= budget:
        return kept
    said = more_of(value)
    return [more(len(value) - 1 + said.gone if said else len(value))]


def _shortened(value: JSON, budget: int) -> JSON | None:
    """The value with its texts, and nothing else, cut to the largest even length that fits; None
    where 80 characters each are too many."""
    long = [text for text in texts_in(value) if len(text) > LEAN]
    if not long or (least := json_size(capped(value, LEAN))) > budget:
        return None
    size = _sizes(value, long, least)
    widths = range(LEAN + 1, max(map(len, long)))
    return capped(value, LEAN + bisect_right(widths, budget, key=size))


def _sizes(value: JSON, long: list[str], least: int) -> Callable[[int], int]:
    """How large the value is with its long texts cut to a width; `least` of them cut to 80. Where
    none of them is written escaped, the rest is weighed once and not for every width."""
    if not all(map(unescaped, long)):
        return lambda width: json_size(capped(value, width))
    rest = least - sum(len(capped(text, LEAN)) for text in long)
    return lambda width: rest + sum(len(capped(text, width)) for text in long)


def fit_row(row: JSONObject, budget: int) -> JSONObject:
    """A row of a list: what selects it, then what has room; its list says that more was there."""
    return _fit_dict(row, budget, marked=False)


def _row(row: JSONObject, least: int, labels: int, room: int) -> JSONObject:
    """The same; most rows of a list that was cut far have room for their labels alone."""
    if room or not labels:
        return fit_row(row, least + room)
    ident, *title = labels_of(row).items()
    return dict((ident, *title[: labels - 1]))


def _fit_dict(value: JSONObject, budget: int, *, marked: bool = True) -> JSONObject:
    """The fields that stay, and how many went; a row does not say it, its list does."""
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
    gone = len(items) - len(kept) + known.gone
    return [*kept, more(gone, known.left_out)] if gone or known.left_out else kept


def before(items: list[JSON]) -> tuple[list[JSON], More]:
    """The items of a list, and what it says of those that an earlier cut took."""
    known = more_of(items)
    return (items, More()) if known is None else (items[:-1], known)


def ended(kept: list[JSON], items: list[JSON], known: More) -> list[JSON]:
    """The leading items, and what is to be said of the others: how many went, and whether rows lack
    fields."""
    gone = len(items) - len(kept) + known.gone
    left_out = known.left_out or any(
        k is not i and isinstance(k, dict) and len(k) < len(i)
        for k, i in zip(kept, items, strict=False)
    )
    return [*kept, more(gone, left_out)] if gone or left_out else kept


def _leading_items(items: list[JSON], room: int, known: More) -> list[JSON]:
    """As many as there is room for, long texts cut; of a first one that is too long, its start."""
    kept: list[JSON] = []
    room -= json_size(more(len(items) + known.gone, known.left_out))
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
    room = budget - 2 - json_size(more(len(rows) + known.gone, left_out=True))
    rows = ranked(rows)
    sizes = [json_size(row) + 2 for row in rows]
    least = needs(rows, sizes, room)
    wants = [size - need for size, (need, _) in zip(sizes, least, strict=False)]
    extra = fair_shares(wants, room - room_of(least))
    kept: list[JSON] = [
        row if need + room_more >= size else _row(row, need - 2, labels, room_more)
        for row, size, (need, labels), room_more in zip(rows, sizes, least, extra, strict=False)
    ]
    while kept and not kept[-1]:
        kept.pop()
    return ended(kept, list(rows), known)
