"""Titles of the records on a card, as their apps gave them. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..catalogue import FunctionInfo
from ..text import one_line
from .addresses import form_of, with_code_points
from .arguments import Leaf, is_id
from .field_names import EXCLUSIONS, root_of, same_kind

MAX_NAME: Final = 40
"""Maximum characters of a name, and of a value that may be one."""


_UUID: Final = re.compile(r"[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}", re.IGNORECASE)


def is_unreadable(ident: str) -> bool:
    """Whether an id is a UUID, which no user reads."""
    return _UUID.fullmatch(ident) is not None


def _read_id(ident: str) -> str:
    return "" if is_unreadable(ident) else f" ({ident})"


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
        text = " / ".join(texts) + _read_id(value) * (len(texts) > 1)
        from_ = dict.fromkeys(with_code_points(t.address) for t in own if t.address)
        return Title(app_id, "", text, ", ".join(from_))

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
        known = self.by_id.get(value) or self._nearly(value)
        own = [t for t in known if t.app_id == app_id]  # two apps may count from 1
        found = own or [t for t in known if t.kind and root]
        return [t for t in found if same_kind(t.kind, root)]

    def _nearly(self, value: str) -> tuple[Title, ...]:
        """The titles of an id that an app may take for this one: `#T2`, ` t2`."""
        bare = value.strip(" #").casefold()
        return next((own for ident, own in self.by_id.items() if ident.casefold() == bare), ())


class RecordNaming(NamedTuple):
    """Finds the titles of the records in a call's arguments. `is_open`: it is outward without a
    destination argument; `values` are its argument values."""

    function: FunctionInfo
    titles: Titles
    is_open: bool
    values: frozenset[object]

    def title(self, leaf: Leaf, is_destination: bool) -> str:
        """The title of an argument's record, or empty; with the record's address if the call has no
        other destination."""
        function, value = self.function, str(leaf.value)
        if is_destination:
            return one_line(self.titles.of_destination(function.app_id, leaf.name, value))
        is_plain = isinstance(leaf.value, str | int) and not isinstance(leaf.value, bool)
        may_be_name = is_plain and len(value) <= MAX_NAME and root_of(leaf.name)
        if not (may_be_name or is_id(leaf, function)):
            return ""
        name = "" if leaf.name == function.id_projection else leaf.name
        title = self.titles.of(function.app_id, name, value, self.values)
        text = one_line(title.text)
        return f"{text} – {title.address}" if text and self.is_open and title.address else text
