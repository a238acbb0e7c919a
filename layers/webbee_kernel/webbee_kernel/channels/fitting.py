"""Cutting JSON to a size so that what selects survives: long texts give way first, then further
columns of rows, then rows. Pure.

One idea at every level: siblings share the room fairly, and what one does not need goes to the
others. Whatever is cut stays valid JSON and says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..base.shares import fair_shares
from ..base.text import ELLIPSIS, dumps, head
from ..values.plain import JSON, JSONObject
from .rows import label_keys

TRUNCATED = "_truncated"
LEAN = 80
"""Characters that every text keeps before columns or rows are dropped for the sake of others."""

LABEL = 60
"""Characters of a row's title where there is room for little else, as in a skeleton section."""

_SHORT = 200  # characters; a field this short outlives longer ones
_FLOOR = 80  # characters below which a long field is not worth its key
_LEFT_OUT = "fields left out"


def fit(value: JSON, budget: int) -> JSON:
    """`value` cut so that its JSON holds at most `budget` characters.

    Texts are shortened evenly, to 80 characters at least, and end in `…[N chars]`. Where that is
    not enough, rows of a list keep ids and titles of all before further columns of any (the list's
    last item says `… fields left out`), and lose their end only then (`… N more`); objects keep
    short scalars before containers and count what went under `_truncated`. A budget below about 60
    characters may be exceeded by the marker alone.
    """
    if len(dumps(value)) <= budget:
        return value
    if isinstance(value, str):
        return _fit_text(value, budget)
    if not isinstance(value, dict | list | tuple):
        return ELLIPSIS  # a number of more digits than there is room for
    if (shortened := _shortened(value, budget)) is not None:
        return shortened
    if isinstance(value, dict):
        kept: JSON = _fit_dict(value, budget)
        return kept if len(dumps(kept)) <= budget else {TRUNCATED: f"{len(value)} fields"}
    kept = _fit_list(list(value), budget)
    return kept if len(dumps(kept)) <= budget else [_more(len(value))]


def _fit_text(text: str, budget: int) -> str:
    low, high = 0, len(text)
    tail = _tail(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if len(dumps(head(text, middle) + tail)) <= budget else (low, middle - 1)
        )
    return head(text, low) + tail


def _tail(text: str) -> str:
    return f"{ELLIPSIS}[{len(text)} chars]"


def _shortened(value: JSON, budget: int) -> JSON | None:
    """The value with its texts, and nothing else, cut to the largest even length that fits; None
    where 80 characters each are too many."""
    long = [t for t in _texts(value) if len(t) > LEAN]
    sizes = [len(dumps(t)) - 2 for t in long]
    room = budget - (len(dumps(value)) - sum(sizes))
    if not long or room < LEAN * len(long):
        return None
    shares = fair_shares(sizes, room - len(long) * len(_tail(" " * 999)))
    width = max(s * len(t) // size for s, t, size in zip(shares, long, sizes, strict=True))
    while True:
        kept = capped(value, max(width, LEAN))
        if len(dumps(kept)) <= budget:
            return kept
        if width <= LEAN:
            return None
        width = width * 9 // 10  # what is written escaped takes more room than was shared out


def _texts(value: JSON) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)


def capped(value: JSON, width: int) -> JSON:
    """The value with every text of more than `width` characters cut to them, marked."""
    if isinstance(value, str):
        cut = head(value, width) + _tail(value)
        return value if len(value) <= width or len(cut) >= len(value) else cut
    if isinstance(value, dict):
        return {k: capped(v, width) for k, v in value.items()}
    return [capped(v, width) for v in value] if isinstance(value, list | tuple) else value


def _fit_dict(value: JSONObject, budget: int, *, marked: bool = True) -> JSONObject:
    """What selects, then short scalars, short containers, and the rest by fair shares of what is
    left. Unmarked for a row, whose list says it."""
    room = budget - _entry(TRUNCATED, f"{len(value)} more fields") * marked
    entries = {str(k): v for k, v in value.items()}
    kept = _short_fields(entries, room)
    room -= _size_of(kept)
    kept |= _long_fields(_apart(entries, kept), room)
    ordered = {key: kept[key] for key in entries if key in kept}
    gone = len(entries) - len(ordered)
    return {**ordered, TRUNCATED: f"{gone} more fields"} if gone and marked else ordered


def _short_fields(entries: JSONObject, room: int) -> JSONObject:
    """What selects, cut to a label, then every short field that has room, scalars first; a label
    whole where that is short."""
    kept: JSONObject = {}
    short = {k: v for k, v in entries.items() if _entry(k, v) <= _SHORT}
    scalars_first = sorted(short.items(), key=lambda e: isinstance(e[1], dict | list | tuple))
    for key, item in (*_labels(entries).items(), *scalars_first):
        more = _entry(key, item) - _size_of({key: kept[key]} if key in kept else {})
        if more <= room:
            kept[key] = item
            room -= more
    return kept


def _apart(entries: JSONObject, kept: JSONObject) -> JSONObject:
    return {key: item for key, item in entries.items() if key not in kept}


def _size_of(fields: JSONObject) -> int:
    return sum(_entry(key, item) for key, item in fields.items())


def _long_fields(fields: JSONObject, room: int) -> JSONObject:
    """The leading fields, each cut to its fair share of the room."""
    kept: JSONObject = {}
    names = list(fields)[: max(1, room // _FLOOR)]
    for place, name in enumerate(names):
        wants = [_entry(n, fields[n]) for n in names[place:]]
        share = fair_shares(wants, room)[0]
        if wants[0] <= share:
            kept[name] = fields[name]
        elif share - len(dumps(name)) > LEAN // 2 and isinstance(
            fields[name], dict | list | tuple | str
        ):
            kept[name] = fit(fields[name], share - len(dumps(name)) - 4)
        else:
            continue
        room -= _entry(name, kept[name])
    return kept


def _fit_list(items: list[JSON], budget: int) -> list[JSON]:
    if items and all(isinstance(item, dict) for item in items):
        return _fit_rows(items, budget)
    kept: list[JSON] = []
    room = budget - 2
    marker = len(dumps(_more(len(items)))) + 2
    for lean in (capped(item, LEAN) for item in items):
        left = room - marker * (len(kept) < len(items) - 1)
        if len(dumps(lean)) + 2 > left:
            break
        kept.append(lean)
        room -= len(dumps(lean)) + 2
    if not kept and room - marker > LEAN:
        kept = [fit(items[0], room - marker - 2)]
    gone = len(items) - len(kept)
    return [*kept, _more(gone)] if gone else kept


def _fit_rows(rows: list[JSONObject], budget: int) -> list[JSON]:
    """Rows of a list: what selects of all of them, then further fields by fair shares. Where not
    even that fits: ids of all and titles of the leading ones, if ids take at most two thirds; else
    the leading rows, each with about as much again as what selects it."""
    room = budget - 4 - len(dumps(_more(len(rows), left_out=True)))
    sizes = [len(dumps(row)) + 2 for row in rows]
    least = _needs(rows, sizes, room)
    wants = [size - need for size, need in zip(sizes, least, strict=False)]
    extra = fair_shares(wants, room - sum(least))
    kept = [
        row if need + more >= len(dumps(row)) + 2 else _fit_dict(row, need + more - 2, marked=False)
        for row, need, more in zip(rows, least, extra, strict=False)
    ]
    while kept and not kept[-1]:
        kept.pop()
    gone = len(rows) - len(kept)
    left_out = any(len(k) < len(row) for k, row in zip(kept, rows, strict=False))
    return [*kept, _more(gone, left_out)] if gone or left_out else list(kept)


def _needs(rows: list[JSONObject], sizes: list[int], room: int) -> list[int]:
    """The least room of each row that stays, leading rows first."""
    least = [min(size, _least(row)) for row, size in zip(rows, sizes, strict=True)]
    if sum(least) <= room:
        return least
    bare = [_least(row, title=False) for row in rows]
    if all(label_keys(row)[1] is not None for row in rows) and 3 * sum(bare) <= 2 * room:
        return _titled(least, bare, room)
    least = [min(size, 2 * need) for size, need in zip(sizes, least, strict=True)]
    return least[: _leading(least, room)]


def _titled(least: list[int], bare: list[int], room: int) -> list[int]:
    """Room for every id, and for the titles of as many leading rows as it lasts."""
    left = room - sum(bare)
    for i, (full, small) in enumerate(zip(least, bare, strict=True)):
        if full - small > left:
            return [*least[:i], *bare[i:]]
        left -= full - small
    return least


def _leading(needs: list[int], room: int) -> int:
    """How many leading rows have room, at least one."""
    for count, need in enumerate(needs):
        if need > room:
            return max(1, count)
        room -= need
    return len(needs)


def _least(row: JSONObject, *, title: bool = True) -> int:
    """Characters of what selects a row, its comma included; of a row without, those of a floor."""
    labels = _labels({str(k): v for k, v in row.items()}, title=title)
    return len(dumps(labels)) + 2 if labels else _FLOOR


def _labels(row: JSONObject, *, title: bool = True) -> JSONObject:
    """The id and the title of a record, cut to what a label needs, in that order."""
    title_key, ident = label_keys(row)
    keys = [k for k in (ident, title_key if title else None) if k is not None]
    return {k: capped(row[k], LABEL) for k in keys}


def _more(count: int, left_out: bool = False) -> str:
    """`… 12 more`, `… fields left out`, or both."""
    parts = [f"{count} more"] * bool(count) + [_LEFT_OUT] * left_out
    return f"{ELLIPSIS} {', '.join(parts)}"


def _entry(key: str, item: JSON) -> int:
    return len(dumps(key)) + 2 + len(dumps(item)) + 2
