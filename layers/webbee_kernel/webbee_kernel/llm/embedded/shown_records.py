"""Records and addresses that results hold, and which of them words name."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from ... import language
from ...types import JSONObject

_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}|<EMAIL_\d{1,9}>")


def records(data: Any) -> list[JSONObject]:
    """The records that a result holds: the rows of its lists, else itself where it has an id."""
    if isinstance(data, list):
        return [row for row in data if isinstance(row, dict) and row.get("id")]
    if not isinstance(data, dict):
        return []
    if data.get("id") and not data.get("deleted"):
        return [data]
    return [row for value in data.values() if isinstance(value, list) for row in records(value)]


def holding(rows: Sequence[JSONObject], stems: Sequence[str]) -> list[JSONObject]:
    """The records whose texts hold all of these words."""
    found = []
    for row in rows:
        text = " ".join(str(v) for v in row.values() if isinstance(v, str))
        tags = language.tags()
        held = {language.stem(w.text, tag) for w in language.tokens(text) for tag in tags}
        if held.issuperset(stems):
            found.append(row)
    return found


def is_named(row: JSONObject, stems: Sequence[str], small: frozenset[str]) -> bool:
    """Whether every word of a record's name that says something is among these."""
    name = next((str(row[k]) for k in language.title_keys() if row.get(k)), "")
    tags = language.tags()
    words = [{language.stem(w.text, tag) for tag in tags} for w in language.tokens(name)]
    telling = [w for w in words if w.isdisjoint(small)]
    return bool(telling) and all(not w.isdisjoint(stems) for w in telling)


def addresses_of(data: Any) -> list[str]:
    """The addresses of a result in their order, without those of the accounts it was read from."""
    own, found = set(), []
    for key, text in _texts(data, ""):
        for address in _ADDRESS.findall(text):
            if key == "account":
                own.add(address)
            else:
                found.append(address)
    return list(dict.fromkeys(a for a in found if a not in own))


def _texts(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _texts(item, name)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item, key)
