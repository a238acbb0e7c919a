"""Records in the results of calls, the values that identify them, and the titles that a card shows
of them, as their apps gave them. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, NamedTuple

from . import field_names
from .addresses import form_of, is_moment, normal, with_code_points
from .field_names import EXCLUSIONS, is_id_name, kind_of, root_of, same_kind, words_of

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
    if isinstance(value, list):
        for item in value:
            yield from records_in(item, key, source, depth + 1, is_nested)
    if not isinstance(value, Mapping):
        return
    if record := _record(value, key, source):
        yield replace(record, is_nested=is_nested)
        is_nested |= bool(record.label)  # an author inside of a book is no book
    for name, item in value.items():
        is_keyed = _is_keyed(str(name), item)
        if is_keyed and not _has_id(item):
            yield replace(_of({**item}, str(name), key, source), is_nested=is_nested)
        # of `methods: {"card_7": {"id": "card_7"}}` the kind is the outer key's
        within = key if is_keyed else str(name)
        yield from records_in(item, within, source, depth + 1, is_nested)


def _is_keyed(name: str, item: Any) -> bool:
    """Whether an object stands under its id rather than a field name."""
    is_ident = any(c.isdigit() for c in name) or not name.isidentifier()
    return is_ident and isinstance(item, Mapping)


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
            if _is_keyed(str(name), item):
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


MAX_NAME: Final = 40
"""Maximum characters of a name, and of a value that may be one."""


_UUID: Final = re.compile(r"[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}", re.IGNORECASE)


def is_unreadable(ident: str) -> bool:
    """Whether an id is a UUID, which no user reads."""
    return _UUID.fullmatch(ident) is not None


class Title(NamedTuple):
    """The title of a record, its kind and an address in it (a mail's sender is who a reply goes
    to). `is_nested`: it was inside another record with a title."""

    app_id: str
    kind: str
    text: str
    address: str = ""
    is_nested: bool = False


@dataclass(frozen=True)
class Titles:
    """Titles by id, the earliest first; app and kind must match, so that another app's record with
    the same id does not lend its title."""

    by_id: Mapping[str, tuple[Title, ...]] = field(default_factory=dict)

    def of(self, app_id: str, name: str, value: str, shown: Collection[object] = ()) -> Title:
        """The title of the id in an argument, or empty.

        Several titles are all shown with a readable id, since a stranger may have written one;
        except those in `shown`, which the card has anyway, and those of later nested records.
        """
        own = [
            t for n, t in enumerate(self._matches(app_id, name, value)) if not (n and t.is_nested)
        ]
        texts = dict.fromkeys(t.text for t in own)
        texts = dict.fromkeys(t for t in texts if t not in shown) or texts
        ident = "" if is_unreadable(value) else f" ({value})"
        from_ = dict.fromkeys(with_code_points(t.address) for t in own if t.address)
        return Title(app_id, "", " / ".join(texts) + ident * (len(texts) > 1), ", ".join(from_))

    def of_destination(self, app_id: str, name: str, value: str) -> str:
        """The title of a destination that is an id, with the id; empty if unknown or an address.
        Names such as `to` imply no kind, so any record of the app may match."""
        if form_of(value):
            return ""
        title = self.of(app_id, name, value).text or self.of(app_id, "", value).text
        return title and title.removesuffix(f" ({value})") + f" ({value})"

    def _matches(self, app_id: str, name: str, value: str) -> Sequence[Title]:
        root = "".join(root_of(name)[-1:])
        root = "" if root in EXCLUSIONS else root
        known = self._by_ident(value)
        own = [t for t in known if t.app_id == app_id]  # two apps may count from 1
        found = own or [t for t in known if t.kind and root]
        return [t for t in found if same_kind(t.kind, root)]

    def _by_ident(self, value: str) -> tuple[Title, ...]:
        """The titles of an id, or of one that an app may take for it: `#T2`, ` t2`."""
        bare = value.strip(" #").casefold()
        alike = (own for ident, own in self.by_id.items() if ident.casefold() == bare)
        return self.by_id.get(value) or next(alike, ())
