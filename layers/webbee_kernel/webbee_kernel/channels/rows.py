"""What of a listed record tells it from the others: its id and its title."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cache, lru_cache

from ..arguments.names import names_an_id
from ..values.plain import JSONObject

_PLAIN = frozenset({str, int, float, bool})
"""What says something by itself."""

_FURTHER_TITLES = ("email", "address", "display_name", "text", "summary", "key")


def label_keys(item: JSONObject) -> tuple[str | None, str | None]:
    """The keys of a listed record by which it is selected, its title's and its id's; None where
    there is none. Without a title-like field the first scalar is the title."""
    values = item.values()
    if "" in values:
        return label_keys({k: v for k, v in item.items() if v != ""})
    return _of_shape(tuple(item), tuple(map(type, values)))


@lru_cache
def _of_shape(keys: tuple[str, ...], kinds: tuple[type, ...]) -> tuple[str | None, str | None]:
    """The same of rows with such fields: most rows of a list have them."""
    fields = zip(keys, kinds, strict=True)
    shown = [k for k, kind in fields if str(k)[:1] != "_" and kind in _PLAIN]
    ids = [k for k in shown if names_an_id(str(k))]
    ident = _first(("id", "uid", *ids), shown)
    rest = [k for k in shown if k != ident]
    return _first((*_titles(), *rest), shown), ident


def _first(wanted: Iterable[str], there: Collection[str]) -> str | None:
    return next((key for key in wanted if key in there), None)


@cache
def _titles() -> tuple[str, ...]:
    from ..language import title_keys  # only a prompt with lists needs the words of all languages

    return tuple(dict.fromkeys((*title_keys(), *_FURTHER_TITLES)))
