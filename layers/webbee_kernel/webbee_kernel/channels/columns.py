"""Ranks the columns of a list for truncation: id and title first, then what users usually ask for.
Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Final

from ..guards.field_names import is_id_name, words_of
from ..language import key_roles, people_keys, title_keys
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
    ident = _first(("id", "uid", *(k for k in candidates if is_id_name(str(k)))), candidates)
    others = [k for k in candidates if k != ident]
    return _first(_titles(), candidates) or _next_best(others), ident


def _first(names: Iterable[str], keys: Sequence[str]) -> str | None:
    return next((name for name in names if name in keys), None)


def _next_best(keys: Sequence[str]) -> str | None:
    """A person's field, else the first that is no id, else the first."""
    people = (k for k in keys if not people_keys("roles").isdisjoint(words_of(str(k))))
    plain = (k for k in keys if not _is_id(str(k)))
    return next(chain(people, plain, keys), None)


@cache
def _titles() -> tuple[str, ...]:
    return tuple(dict.fromkeys((*title_keys(), *_FURTHER_TITLES)))


SAMPLE_ROWS: Final = 50
"""Rows that are sampled to rank columns."""
FEW: Final = 8
"""Different values up to which a column of texts sorts its rows: a state, a kind."""
LONG: Final = 60
"""Characters from which a text says more than its row needs."""


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
    if max(map(len, texts), default=0) > LONG:
        return 6
    # said once in words, it says nothing in a column
    if len(column) > 2 and len(set(map(repr, column))) == 1:
        return 5
    is_state = len(texts) == len(column) > len(set(texts)) and len(set(texts)) <= FEW
    return _rank_by_name(key) or (2 if is_state else 4 if _is_id(key) else 3)


def _rank_by_name(key: str) -> int:
    """A rank by the column's name: 1 for people, amounts and dates, 4 for ids of people, else 0."""
    if not (people_keys("roles") | people_keys("address_keys")).isdisjoint(words_of(key)):
        return 4 if _is_id(key) else 1
    return int(bool(key_roles(key) & ({"money", "minor"} | (set() if _is_id(key) else {"moment"}))))


def _is_id(key: str) -> bool:
    return "id" in key_roles(key)
