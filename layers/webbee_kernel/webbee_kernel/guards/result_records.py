"""Records: the objects with an id in what calls gave, and what tells each from its like. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from . import field_names
from .addresses import is_moment, normal
from .field_names import kind_of, names_an_id, root_of, words_of

LONGEST_VALUE = 60
"""Characters of a value that may tell a record from its like."""
MOST_VALUES = 24
DEPTH, DEEPEST = 2, 24
"""Levels of objects whose values tell a record, and those that are walked."""
_OWN = ("id", "id_", "uid", "uuid", "_id", "guid")


class Found(NamedTuple):
    """The data of a call: `ago` turns back, 0 in this one. `action` is the kind of its function;
    empty for what a call was given: a model's words are no app's."""

    app_id: str
    fn_name: str
    data: Any
    ago: int = 0
    action: str = "read"


@dataclass(frozen=True, eq=False)
class Record:
    """One object with an id: of which app and kind, what the app calls it and what may be a label
    beside that, its short values, and whether it stands in another one that has a label."""

    app_id: str
    kind: str
    ident: str
    label: str
    labels: tuple[str, ...]
    values: tuple[str, ...]
    inner: tuple[tuple[str, str], ...]
    """Ids that stand in it or below it, with their keys."""
    source: Found
    inside: bool = False


def records_in(
    value: Any, key: str, source: Found, depth: int = 0, inside: bool = False
) -> Iterator[Record]:
    if depth > DEEPEST:
        return
    if isinstance(value, Mapping):
        if record := _record(value, key, source):
            yield replace(record, inside=inside)
            inside |= bool(record.label)  # an author inside of a book is no book
        for name, item in value.items():
            if isinstance(item, Mapping) and not _has_id(item) and _is_key(str(name)):
                yield replace(_of({**item}, str(name), key, source), inside=inside)
            yield from records_in(item, str(name), source, depth + 1, inside)
    elif isinstance(value, list):
        for item in value:
            yield from records_in(item, key, source, depth + 1, inside)


def _is_key(name: str) -> bool:
    """Whether a key of an object is an id, not the name of a field."""
    return any(c.isdigit() for c in name) or not name.isidentifier()


def _has_id(value: Any) -> bool:
    return isinstance(value, Mapping) and any(_is_ident(value.get(k)) for k in _OWN)


def _record(value: Mapping[str, Any], key: str, source: Found) -> Record | None:
    own = next((k for k in _OWN if _is_ident(value.get(k))), "")  # `id` before `author_id`
    if not own:
        ids = [k for k in value if names_an_id(str(k)) and _is_ident(value[k])]  # `order_id`
        roots = {*words_of(key), *words_of(source.fn_name)}
        ids.sort(key=lambda k: not roots & {*root_of(k), *(r + "s" for r in root_of(k))})
        own = ids[0] if ids else ""
    return _of(value, str(value[own]), key, source, own) if own else None


def _of(value: Mapping[str, Any], ident: str, key: str, source: Found, own: str = "") -> Record:
    called = tuple(field_names.labels(value))
    label = next(iter(called), "")
    scalars = [(k, str(v), depth) for k, v, depth in scalars_in(value) if str(v) != ident]
    short = [v for _, v, depth in scalars if depth <= DEPTH and v != label and _may_tell(v)]
    kind = kind_of(own if own not in _OWN else "", key)
    told, inner = tuple(short[:MOST_VALUES]), tuple((k, v) for k, v, _ in scalars if names_an_id(k))
    return Record(source.app_id, kind, ident, label, called, told, inner, source)


def _may_tell(text: str) -> bool:
    return len(text) <= LONGEST_VALUE and "\n" not in text and not is_moment(text)


def _is_ident(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""  # no bool


def scalars_in(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, Any, int]]:
    """Every scalar of a result with the name above it and how deep it stands, in a list and in
    another record deeper than what tells a record from its like. Ids that objects are keyed by are
    among them."""
    if depth > DEEPEST:
        return
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, Mapping) and _is_key(str(name)):
                yield f"{key}_id", name, DEEPEST
            yield from scalars_in(item, str(name), depth + 1 + DEPTH * _has_id(item))
    elif isinstance(value, list):
        for item in value:
            yield from scalars_in(item, key, depth + DEPTH)
    elif type(value) in (str, int, float) and value != "":
        yield key, value, depth


def ids_inside(record: Record, name: str) -> set[str]:
    """The ids in a record that are of what the argument of this name is."""
    root = root_of(name)[-1:]
    return {normal(i) for key, i in record.inner if root and root_of(key)[-1:] == root}
