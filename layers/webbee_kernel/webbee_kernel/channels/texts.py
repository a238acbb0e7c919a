"""The texts of a value, cut to a size each says it once had. Pure."""

from __future__ import annotations

from bisect import bisect_right

from ..base.cuts import tail
from ..base.text import head, json_size
from ..values.plain import JSON

_HOLDERS = frozenset({dict, list, tuple})


def fit_text(text: str, budget: int) -> str:
    """As much of its beginning as `budget` characters of JSON hold, its end included; of a text
    that they do not hold whole."""
    end = tail(text)
    if unescaped(text):
        return head(text, max(0, budget - json_size(end))) + end
    sizes = range(1, len(text))
    kept = bisect_right(sizes, budget, key=lambda n: json_size(head(text, n) + end))
    return head(text, kept) + end


def unescaped(text: str) -> bool:
    """Whether nothing in it is written escaped; then no part of it is."""
    return json_size(text) == len(text) + 2


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


def texts_in(value: JSON) -> list[str]:
    """All texts of a value, in any order."""
    return [one for one in leaves(value) if type(one) is str]


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
