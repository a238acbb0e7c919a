"""Records: the objects with an id in results, with the values that identify them. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from . import field_names
from .addresses import is_moment, normal
from .field_names import is_id_name, kind_of, root_of, words_of

MAX_VALUE = 60
"""Maximum characters of an identifying value."""
MAX_VALUES = 24
VALUE_DEPTH, MAX_DEPTH = 2, 24
"""Levels of objects whose values identify a record, and levels that are walked."""
_OWN = ("id", "id_", "uid", "uuid", "_id", "guid")


class CallData(NamedTuple):
    """The result of a call, `age` turns ago (0 in this turn). `action` is the function's
    action_type, empty for the arguments of a call, which are a model's words."""

    app_id: str
    fn_name: str
    data: Any
    age: int = 0
    action: str = "read"


@dataclass(frozen=True, eq=False)
class Record:
    """One object with an id: app, kind, labels (its title first) and short values. `is_nested`: it
    is inside another record with a label; `is_own_id`: its id is not that of another record."""

    app_id: str
    kind: str
    ident: str
    labels: tuple[str, ...]
    values: tuple[str, ...]
    inner: tuple[tuple[str, str], ...]
    """Ids in it or below it, as (key, id)."""
    source: CallData
    fields: Mapping[str, Any]
    is_own_id: bool
    is_nested: bool = False

    @property
    def label(self) -> str:
        """Its title, or empty."""
        return self.labels[0] if self.labels else ""


def records_in(
    value: Any, key: str, source: CallData, depth: int = 0, is_nested: bool = False
) -> Iterator[Record]:
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        if record := _record(value, key, source):
            yield replace(record, is_nested=is_nested)
            is_nested |= bool(record.label)  # an author inside of a book is no book
        for name, item in value.items():
            if isinstance(item, Mapping) and not _has_id(item) and _is_key(str(name)):
                yield replace(_of({**item}, str(name), key, source), is_nested=is_nested)
            yield from records_in(item, str(name), source, depth + 1, is_nested)
    elif isinstance(value, list):
        for item in value:
            yield from records_in(item, key, source, depth + 1, is_nested)


def _is_key(name: str) -> bool:
    """Whether an object key is an id rather than a field name."""
    return any(c.isdigit() for c in name) or not name.isidentifier()


def _has_id(value: Any) -> bool:
    return isinstance(value, Mapping) and any(_is_ident(value.get(k)) for k in _OWN)


def _record(value: Mapping[str, Any], key: str, source: CallData) -> Record | None:
    own = next((k for k in _OWN if _is_ident(value.get(k))), "")  # `id` before `author_id`
    if not own:
        ids = [k for k in value if is_id_name(str(k)) and _is_ident(value[k])]  # `order_id`
        roots = {*words_of(key), *words_of(source.fn_name)}
        ids.sort(key=lambda k: not roots & {*root_of(k), *(r + "s" for r in root_of(k))})
        own = ids[0] if ids else ""
    return _of(value, str(value[own]), key, source, own) if own else None


def _of(value: Mapping[str, Any], ident: str, key: str, source: CallData, own: str = "") -> Record:
    labels = tuple(field_names.labels(value))
    scalars = [(k, str(v), depth) for k, v, depth in scalars_in(value) if str(v) != ident]
    near = (v for _, v, depth in scalars if depth <= VALUE_DEPTH and v not in labels[:1])
    values = tuple(filter(_is_telling, near))[:MAX_VALUES]
    inner = tuple((k, v) for k, v, _ in scalars if is_id_name(k))
    name = "" if own in _OWN else own
    is_own_id = not name or root_of(name) == root_of(key)
    app_id, kind = source.app_id, kind_of(name, key)
    return Record(app_id, kind, ident, labels, values, inner, source, value, is_own_id)


def _is_telling(text: str) -> bool:
    return len(text) <= MAX_VALUE and "\n" not in text and not is_moment(text)


def _is_ident(value: Any) -> bool:
    return isinstance(value, str | int) and not isinstance(value, bool) and value != ""  # no bool


def scalars_in(value: Any, key: str = "", depth: int = 0) -> Iterator[tuple[str, Any, int]]:
    """Every scalar of a result as (key, value, depth); lists and nested records add more than
    VALUE_DEPTH. Object keys that are ids are included."""
    if depth > MAX_DEPTH:
        return
    if isinstance(value, Mapping):
        for name, item in value.items():
            if isinstance(item, Mapping) and _is_key(str(name)):
                yield f"{key}_id", name, MAX_DEPTH
            yield from scalars_in(item, str(name), depth + 1 + VALUE_DEPTH * _has_id(item))
    elif isinstance(value, list):
        for item in value:
            yield from scalars_in(item, key, depth + VALUE_DEPTH)
    elif type(value) in (str, int, float) and value != "":
        yield key, value, depth


def ids_inside(record: Record, name: str) -> set[str]:
    """The ids in a record of the kind that the argument names."""
    root = root_of(name)[-1:]
    return {normal(i) for key, i in record.inner if root and root_of(key)[-1:] == root}
