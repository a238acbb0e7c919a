"""Which columns of a list stay where there is no room for all: those that tell a record from the
others, its id and its title, and those that people ask about next. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from ..guards.field_names import names_an_id
from ..types import JSON, JSONObject

_PLAIN = frozenset({str, int, float, bool})
"""What says something by itself."""

_FURTHER_TITLES = ("email", "address", "display_name", "text", "summary", "key")


def label_keys(item: JSONObject) -> tuple[str | None, str | None]:
    """The keys of a listed record by which it is selected, its title's and its id's; None where
    there is none. Without a title-like field it is who the record is of, or else the first scalar
    that is no further id."""
    values = item.values()
    # an empty title names nothing
    if "" in values:
        return label_keys({k: v for k, v in item.items() if v != ""})
    return _of_shape(tuple(item), tuple(map(type, values)))


@lru_cache
def _of_shape(keys: tuple[str, ...], kinds: tuple[type, ...]) -> tuple[str | None, str | None]:
    """The same of rows with such fields: most rows of a list have them."""
    fields = zip(keys, kinds, strict=True)
    # what begins with _ is the app's own
    shown = [k for k, kind in fields if str(k)[:1] != "_" and kind in _PLAIN]
    ids = [k for k in shown if names_an_id(str(k))]
    ident = _first(("id", "uid", *ids), shown)
    rest = [k for k in shown if k != ident]
    title = _first(_titles(), shown) or _first(filter(_is_person, rest), rest)
    return title or _first((k for k in rest if not _is_id(str(k))), rest) or _first(
        rest, rest
    ), ident


def _is_person(key: str) -> bool:
    from ..language import people_keys

    return not _words(str(key)).isdisjoint(people_keys("roles"))


def _first(wanted: Iterable[str], there: Collection[str]) -> str | None:
    # in the order of preference, not of the row
    return next((key for key in wanted if key in there), None)


@cache
def _titles() -> tuple[str, ...]:
    from ..language import title_keys  # only a prompt with lists needs the words of all languages

    return tuple(dict.fromkeys((*title_keys(), *_FURTHER_TITLES)))


LOOKED_AT: Final = 50
"""Rows by which the columns of a list are told."""
FEW: Final = 8
"""Different values up to which a column of texts sorts its rows: a state, a kind."""
LONG: Final = 60
"""Characters from which a text says more than its row needs."""
_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


def ranked(rows: Sequence[JSONObject]) -> list[JSONObject]:
    """The rows with their columns in the order in which they stay: what names the record, people,
    amounts and dates, states, other short values and ids; then what says the same in every row, and
    long texts."""
    rank = _ranks(rows[:LOOKED_AT])
    order = sorted(rank, key=lambda key: rank[key])
    return [
        {k: row[k] for k in order if k in row} | {k: v for k, v in row.items() if k not in rank}
        for row in rows
    ]


def _ranks(rows: Sequence[JSONObject]) -> dict[str, int]:
    """How soon each column goes; what names the record last."""
    keys = dict.fromkeys(key for row in rows for key in row)
    # of the first row: rows of a list are alike
    named = label_keys(rows[0])
    return {k: 0 if k in named else _rank(str(k), [r[k] for r in rows if k in r]) for k in keys}


def _rank(key: str, column: Sequence[JSON]) -> int:
    """How soon a column goes: the higher, the sooner."""
    texts = [value for value in column if isinstance(value, str)]
    if any(len(text) > LONG for text in texts):
        return 6
    # said once in words, it says nothing in a column
    if len(column) > 2 and len({repr(value) for value in column}) == 1:
        return 5
    is_state = len(texts) == len(column) > len(set(texts)) and len(set(texts)) <= FEW
    return _rank_by_name(key) or (2 if is_state else 4 if _is_id(key) else 3)


def _rank_by_name(key: str) -> int:
    """What its name makes of a column, if anything: people, amounts and dates are soon asked about,
    ids are not."""
    from ..language import key_roles, people_keys  # only what is too large pays for the words

    if not _words(key).isdisjoint(people_keys("roles") | people_keys("address_keys")):
        return 4 if _is_id(key) else 1
    return int(bool(key_roles(key) & ({"money", "minor"} | (set() if _is_id(key) else {"moment"}))))


def _words(key: str) -> set[str]:
    return {word.lower() for word in _WORDS.split(key)}


def _is_id(key: str) -> bool:
    from ..language import key_roles

    return "id" in key_roles(key)
