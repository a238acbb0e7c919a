"""What "the same address" and "the first one" mean: values out of the FACTS lines, newest first, by
the argument's type."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..protocol import ToolSpec
from .reading import Fact
from .words import ORDINALS, RECENCY, REFERENCES, Token, stem, tokens

_EMAIL = re.compile(r"<EMAIL_\d+>|[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+")
_ADDRESS_KEYS = ("from", "sender", "reply_to", "email", "address", "to", "recipient")


@dataclass(frozen=True, slots=True)
class Reference:
    """How a text points back: `position` in a list if it names one, `recent` for "the one I just
    created"."""

    position: int | None = None
    recent: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """One thing in a fact: its id, the dict that holds it, and whether it is an item of a list."""

    id: Any
    fields: dict[str, Any]
    listed: bool
    container: str


def reference(words: Sequence[Token]) -> Reference | None:
    """The reference these words make, if any."""
    position = next((ORDINALS[t.word] for t in words if t.word in ORDINALS), None)
    pointing = [t for t in words if t.word in REFERENCES and t.word != "что"]
    if position is None and not pointing:
        return None
    return Reference(
        position,
        any(t.word in ("just", "только") for t in words) and any(t.word in RECENCY for t in words),
    )


def points_back(token: Token) -> bool:
    """Whether the word can be part of a reference and so is never content on its own."""
    return token.word in REFERENCES or token.word in ORDINALS or token.word in RECENCY


def recall_email(facts: Sequence[Fact], fn_name: str, name: str, ref: Reference) -> str | None:
    """The newest fact's address, at the position in its list if one is named.

    `from` and its like go first; in a fact of the same function, the key that is named like the
    argument does.
    """
    for fact in facts:
        first = name if fact.fn_name == fn_name else ""
        rows = _dicts(fact.data)
        for holder in [
            *_at(rows, ref),
            *([] if rows and ref.position is not None else [fact.data]),
        ]:
            if found := _emails(holder, first):
                return found[0]
    return None


def email_of(facts: Sequence[Fact], words: Sequence[Token]) -> tuple[str, Token] | None:
    """The newest address of somebody who is named, and the word that names: in its local part or in
    a name beside it."""
    named = {t.word: t for t in words if len(t.word) > 2 and not points_back(t)}
    for fact in facts if named else ():
        for holder in _dicts(fact.data) or [fact.data]:
            names = (
                [v for k, v in holder.items() if "name" in str(k) and isinstance(v, str)]
                if isinstance(holder, dict)
                else []
            )
            for address in _emails(holder, ""):
                said = {
                    t.word for text in (address.partition("@")[0], *names) for t in tokens(text)
                }
                if hit := next((token for word, token in named.items() if word in said), None):
                    return address, hit
    return None


def recall_ids(
    facts: Sequence[Fact], app_id: str, name: str, count: int | None, which: Collection[str] = ()
) -> list[Any]:
    """The first `count` ids of the newest list among the facts of this app, or all of them; only
    records whose text holds `which` stems."""
    for fact in facts:
        if listed := [r for r in _records(fact, app_id, name) if r.listed]:
            return [r.id for r in listed if set(which) <= _stems(r.fields)][:count]
    return []


def recall_id(facts: Sequence[Fact], app_id: str, name: str, ref: Reference) -> Any | None:
    """The id that is meant among the facts of this app, None when there is none or it is not clear
    which."""
    for fact in facts:
        records = _records(fact, app_id, name)
        if ref.recent or ref.position is None:
            records = [r for r in records if not r.listed] or records
            if len(records) == 1:
                return records[0].id
            if records and not ref.recent:
                return None
        elif listed := [r for r in records if r.listed]:
            return listed[ref.position].id if -len(listed) <= ref.position < len(listed) else None
    if ref.position in (0, -1):  # of what came singly, the first and the last are the same
        return recall_id(facts, app_id, name, Reference())
    return None


def id_path(facts: Sequence[Fact], tool: ToolSpec, name: str, ref: Reference) -> str:
    """Where a result of `tool` that is yet to come will hold the id, empty when it is not clear
    which is meant.

    A write, or a read of one thing, tells `id`. A list is laid out as its last result was; without
    one, under the app's name.
    """
    if tool.action_type != "read" or any(
        key == "id" or key.endswith(("_id", "ids"))
        for key in tool.input_schema.get("properties", {})
    ):
        return "id"
    if ref.position is None or ref.position < 0:
        return ""
    known = (
        r
        for f in facts
        if f.fn_name == tool.fn_name
        for r in _records(f, tool.app_id, name)
        if r.listed
    )
    container = next((r.container for r in known), tool.app_id)
    return f"{container}.{ref.position}.id"


def named_record(
    facts: Sequence[Fact], app_id: str, name: str, words: Sequence[Token]
) -> Record | None:
    """The only record of the newest facts of this app whose text holds all the words (their
    stems)."""
    wanted = {t.stem for t in words if not points_back(t)}
    for fact in facts if wanted else ():
        found = [r for r in _records(fact, app_id, name) if wanted <= _stems(r.fields)]
        if found:
            return found[0] if len({str(r.id) for r in found}) == 1 else None
    return None


def _records(fact: Fact, app_id: str, name: str) -> list[Record]:
    """What has an id in a fact of this app; of several kinds, those whose list is named like the
    argument (`message_id`: messages)."""
    if fact.app_id != app_id:
        return []
    found = [r for r in _walk(fact.data, name, False, "") if not r.fields.get("deleted")]
    thing = stem(name.removesuffix("_ids").removesuffix("_id").rpartition("_")[2])
    return [r for r in found if r.container and stem(r.container.casefold()) == thing] or found


def _walk(value: Any, name: str, listed: bool, container: str) -> Iterator[Record]:
    if isinstance(value, dict):
        own = value.get(name, value.get("id"))
        if isinstance(own, str | int) and not isinstance(own, bool):
            yield Record(own, value, listed, container)
        for key, item in value.items():
            yield from _walk(item, name, False, str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, name, True, container)


def _stems(fields: dict[str, Any]) -> set[str]:
    return {t.stem for value in fields.values() if isinstance(value, str) for t in tokens(value)}


def _at(records: list[dict[str, Any]], ref: Reference) -> list[dict[str, Any]]:
    """The one record at the position, or all when none is named."""
    if ref.position is None:
        return records
    return records[ref.position :][:1] if -len(records) <= ref.position < len(records) else []


def _dicts(value: Any) -> list[dict[str, Any]]:
    """The items of the first list of dicts in the value."""
    if isinstance(value, list):
        return [item for item in value if isinstance(item, dict)]
    if isinstance(value, dict):
        return next((found for item in value.values() if (found := _dicts(item))), [])
    return []


def _emails(value: Any, first: str) -> list[str]:
    """Addresses in the value: those under the key `first`, then under address-like keys, then
    others, each in order."""
    order = {key: n for n, key in enumerate((first, *_ADDRESS_KEYS)) if key}
    return [
        text
        for _, text in sorted(
            _leaves(value, ""), key=lambda leaf: order.get(leaf[0], len(_ADDRESS_KEYS) + 1)
        )
    ]


def _leaves(value: Any, key: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        if match := _EMAIL.search(value):
            yield key, match[0].rstrip(".,;:)")
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _leaves(item, str(name).casefold())
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item, key)
