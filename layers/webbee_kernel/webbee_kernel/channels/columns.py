"""Ranks the columns of a list for truncation: id and title first, then what users usually ask for.
Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from typing import Final

from ..guards.field_names import is_id_name
from ..types import JSON, JSONObject

_PLAIN = frozenset({str, int, float, bool})
"""Types of scalar values."""

_FURTHER_TITLES = ("email", "address", "display_name", "text", "summary", "key")


def label_keys(item: JSONObject) -> tuple[str | None, str | None]:
    """The keys of a record's title and id; None where there is none. Without a title-like field the
    title is a person's field, else the first scalar that is no id."""
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
    candidates = [k for k, kind in fields if str(k)[:1] != "_" and kind in _PLAIN]
    ids = [k for k in candidates if is_id_name(str(k))]
    ident = _first(("id", "uid", *ids), candidates)
    others = [k for k in candidates if k != ident]
    title = _first(_titles(), candidates) or _first(filter(_is_person, others), others)
    return title or _first((k for k in others if not _is_id(str(k))), others) or _first(
        others, others
    ), ident


def _is_person(key: str) -> bool:
    from ..language import people_keys

    return not _words(str(key)).isdisjoint(people_keys("roles"))


def _first(preferred: Iterable[str], keys: Collection[str]) -> str | None:
    # in the order of preference, not of the row
    return next((key for key in preferred if key in keys), None)


@cache
def _titles() -> tuple[str, ...]:
    from ..language import title_keys  # only a prompt with lists needs the words of all languages

    return tuple(dict.fromkeys((*title_keys(), *_FURTHER_TITLES)))


SAMPLE_ROWS: Final = 50
"""Rows that are sampled to rank columns."""
FEW: Final = 8
"""Different values up to which a column of texts sorts its rows: a state, a kind."""
LONG: Final = 60
"""Characters from which a text says more than its row needs."""
_WORDS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


def rank_columns(rows: Sequence[JSONObject]) -> list[JSONObject]:
    """The rows with columns in order of importance: id and title, people, amounts and dates,
    states, other short values, ids; then constant columns and long texts."""
    rank = _ranks(rows[:SAMPLE_ROWS])
    order = sorted(rank, key=lambda key: rank[key])
    return [
        {k: row[k] for k in order if k in row} | {k: v for k, v in row.items() if k not in rank}
        for row in rows
    ]


def _ranks(rows: Sequence[JSONObject]) -> dict[str, int]:
    """Each column's rank; 0 for id and title, higher ones are dropped sooner."""
    keys = dict.fromkeys(key for row in rows for key in row)
    # of the first row: rows of a list are alike
    labels = label_keys(rows[0])
    return {k: 0 if k in labels else _rank(str(k), [r[k] for r in rows if k in r]) for k in keys}


def _rank(key: str, column: Sequence[JSON]) -> int:
    """A column's rank: the higher, the sooner it is dropped."""
    texts = [value for value in column if isinstance(value, str)]
    if any(len(text) > LONG for text in texts):
        return 6
    # said once in words, it says nothing in a column
    if len(column) > 2 and len({repr(value) for value in column}) == 1:
        return 5
    is_state = len(texts) == len(column) > len(set(texts)) and len(set(texts)) <= FEW
    return _rank_by_name(key) or (2 if is_state else 4 if _is_id(key) else 3)


def _rank_by_name(key: str) -> int:
    """A rank by the column's name: 1 for people, amounts and dates, 4 for ids of people, else 0."""
    from ..language import key_roles, people_keys  # only what is too large pays for the words

    if not _words(key).isdisjoint(people_keys("roles") | people_keys("address_keys")):
        return 4 if _is_id(key) else 1
    return int(bool(key_roles(key) & ({"money", "minor"} | (set() if _is_id(key) else {"moment"}))))


def _words(key: str) -> set[str]:
    return {word.lower() for word in _WORDS.split(key)}


def _is_id(key: str) -> bool:
    from ..language import key_roles

    return "id" in key_roles(key)
