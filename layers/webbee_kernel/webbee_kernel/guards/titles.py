"""What the records that a card names are called: by the titles that their apps gave them. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..catalogue import FunctionInfo
from ..text import one_line
from .addresses import form_of, spelled
from .arguments import Leaf
from .field_names import names_an_id, root_of, same_kind

LONGEST_NAME: Final = 40
"""Characters of a name, and of a value that may be one."""


_UUID: Final = re.compile(r"[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}", re.IGNORECASE)


def is_unreadable(ident: str) -> bool:
    """Whether an id was made for machines: nobody knows a record by it."""
    return _UUID.fullmatch(ident) is not None


def _read_id(ident: str) -> str:
    return "" if is_unreadable(ident) else f" ({ident})"


class Title(NamedTuple):
    """What a record of an app is called, of which kind it is, an address in it (who wrote a mail is
    who is answered), and whether it stood in another one that has a title."""

    app_id: str
    kind: str
    text: str
    address: str = ""
    inside: bool = False


@dataclass(frozen=True)
class Titles:
    """What ids stand for, by the app that gave them and the kind of record, the earliest first:
    another app's record of the same number lends a card no title."""

    by_id: Mapping[str, tuple[Title, ...]] = field(default_factory=dict)

    def of(self, app_id: str, name: str, value: str, beside: Collection[object] = ()) -> Title:
        """What the id under an argument of an app's function stands for, empty where that is not
        known; of several titles all, and an id that people read, as one may be what a stranger
        wrote, but for what the card shows `beside` it: "rename it back to …". What stood in another
        record changes none."""
        fit = [t for n, t in enumerate(self._fitting(app_id, name, value)) if not (n and t.inside)]
        texts = dict.fromkeys(t.text for t in fit)
        texts = dict.fromkeys(t for t in texts if t not in beside) or texts
        told = " / ".join(texts) + _read_id(value) * (len(texts) > 1)
        from_ = dict.fromkeys(spelled(t.address) for t in fit if t.address)
        return Title(app_id, "", told, ", ".join(from_))

    def of_who_gets_it(self, app_id: str, name: str, value: str) -> str:
        """What a destination that is an id stands for, with the id behind it; empty where that is
        not known. An address says itself whose it is, and `to` no kind: any record of the app's
        counts where none is of the kind that the argument names."""
        if form_of(value):
            return ""
        title = self.of(app_id, name, value).text or self.of(app_id, "", value).text
        return title and title.removesuffix(f" ({value})") + f" ({value})"

    def _fitting(self, app_id: str, name: str, value: str) -> Sequence[Title]:
        root = "".join(root_of(name)[-1:])
        known = self.by_id.get(value, ())
        own = [t for t in known if t.app_id == app_id]  # two apps may count from 1
        found = own or [t for t in known if t.kind and root]
        return [t for t in found if same_kind(t.kind, root)]


class Naming(NamedTuple):
    """What the records are called that a call's arguments name: `unsaid` where it leaves and does
    not say where to, `values` are those of its arguments."""

    function: FunctionInfo
    titles: Titles
    unsaid: bool
    values: frozenset[object]

    def title(self, leaf: Leaf, is_destination: bool) -> str:
        """What the record of one argument is called, empty for one that names none; with the
        address in it where nothing else says where the call goes."""
        function, value = self.function, str(leaf.value)
        if is_destination:
            return one_line(self.titles.of_who_gets_it(function.app_id, leaf.name, value))
        named = leaf.marker == "id" or leaf.name == function.id_projection or names_an_id(leaf.name)
        if not named and (not isinstance(leaf.value, str) or len(value) > LONGEST_NAME):
            return ""
        name = "" if leaf.name == function.id_projection else leaf.name
        title = self.titles.of(function.app_id, name, value, self.values)
        if not (named or root_of(leaf.name)):
            return ""
        text = one_line(title.text)
        return f"{text} – {title.address}" if text and self.unsaid and title.address else text
