"""Record titles: what ids stand for in what apps have told. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from ..channels.columns import label_keys
from ..guards.addresses import form_of
from ..guards.field_names import kind_of, names_an_id, root_of
from ..guards.proposals import Title, Titles
from ..guards.references import labels
from ..text import disambiguate, one_line
from ..types import JSONObject

LONGEST: Final = 120
"""Characters of a value that tells of a record without a title."""


def titles_of(facts: Iterable[tuple[str, Any]]) -> Titles:
    """The titles in these data of apps, the earliest first."""
    found: dict[str, list[Title]] = {}
    for app_id, data in facts:
        for ident, title in _titled([data]).items():
            found.setdefault(ident, []).append(title._replace(app_id=app_id))
    return Titles({ident: tuple(titles) for ident, titles in found.items()})


def titles_in(facts: Iterable[Any]) -> dict[str, str]:
    """What ids stand for in these facts: a record's title-like field, else its id with the first
    field that tells of it. What has one title with others is told apart from them."""
    return {ident: title.text for ident, title in _titled(facts).items()}


def _titled(facts: Iterable[Any]) -> dict[str, Title]:
    found = {ident: (title, record, kind) for ident, title, record, kind in _named(facts, "")}
    own = disambiguate([(title, record) for title, record, _ in found.values()])
    return {
        ident: Title("", kind, title + more, _address(record))
        for (ident, (title, record, kind)), more in zip(found.items(), own, strict=True)
    }


def _address(record: JSONObject) -> str:
    """The first address of a person that a record holds; empty where it has none."""
    texts = (v for v in record.values() if isinstance(v, str))
    return next((text for text in texts if form_of(text) == "recipient"), "")


def _named(facts: Iterable[Any], key: str) -> Iterator[tuple[str, str, JSONObject, str]]:
    """Every record with its id, its title and its kind, those inside it behind it; `key` is what
    they stand under."""
    for value in facts:
        if isinstance(value, dict):
            for name, ident in value.items():
                if _is_id(str(name), key) and isinstance(ident, str | int):
                    if title := next(labels(value), "") or _telling(value, str(ident)):
                        yield str(ident), title, value, kind_of(str(name), key)
            for name, item in value.items():
                yield from _named([item], str(name))
        elif isinstance(value, list):
            yield from _named(value, key)


def _is_id(name: str, key: str) -> bool:
    """Whether a field holds the id of the record it stands in: `id`, `order_id` of `orders`."""
    return name in ("id", "id_", "uid") or (names_an_id(name) and root_of(name) == root_of(key))


def _telling(record: JSONObject, ident: str) -> str:
    """An id with the first field that tells of its record: `#W1 (customer: Ann)`."""
    name = label_keys(record)[0]
    value = record.get(name) if name else None
    if not name or names_an_id(name) or not isinstance(value, str | int | float):
        return ""
    text = one_line(str(value))
    return f"{ident} ({name.replace('_', ' ')}: {text})" if len(text) <= LONGEST else ""
