"""What the facts hold: things with ids, addresses, texts; and which of them a reference means,
newest first."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ... import language
from ...values.plain import JSONObject
from .matching import name_stems
from .reading import Fact
from .schema import keys, parts
from .words import KEPT, Word, any_has, has, is_thing, near, ordinals, points_back, words

_EMAIL = re.compile(r"<EMAIL_\d+>|[^@\s<>]+@[^@\s<>]+\.[^@\s<>]+")
_ALIKE = 3
_FEW = 3  # words of which a number at the end is a place
_SLIPS = 5  # letters that a word has at least in which a slip of the hand is read over
_ENDING = 3  # letters by which forms of a name may differ


@dataclass(frozen=True, slots=True)
class Reference:
    """How a text points back: `position` in a list if it names one, `recent` for "the one I just
    created", `toward` for a person or a place ("to her")."""

    position: int | None = None
    recent: bool = False
    toward: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """One thing in a fact: its id, the dict that holds it, whether it is an item of a list, and the
    key it stands under."""

    id: Any
    fields: JSONObject
    listed: bool
    container: str


def reference(said: Sequence[Word], tag: str) -> Reference | None:
    """The reference these words make, if any."""
    position = _position(said, tag)
    toward = any_has(said, tag, "toward")
    if position is None and not toward and not any_has(said, tag, "reference"):
        return None
    recent = sum(has(w, tag, "recency") for w in said) > 1
    return Reference(position, recent, toward)


def _position(said: Sequence[Word], tag: str) -> int | None:
    """`the second`, or a number at the end: `task 2`, not `2 tasks`."""
    listed = ordinals(tag)
    position = next((listed[w.stem] for w in said if w.stem in listed), None)
    last = said[-1].text if said and (len(said) < _FEW or is_thing(said[-2], tag)) else ""
    if position is None and last.isdecimal() and 0 < len(last) < 3 and int(last):
        return int(last) - 1
    return position


def records(fact: Fact, name: str) -> list[Record]:
    """What has an id in a fact; of several kinds, those whose list is named like the argument
    (`message_id`: messages)."""
    found = list(_walk(fact.data, name, False, ""))
    thing = name_stems("_".join(p for p in parts(name) if p not in keys("id_keys")))
    return [r for r in found if r.container and thing & name_stems(r.container)] or found


def _walk(value: Any, name: str, listed: bool, container: str) -> Iterator[Record]:
    if isinstance(value, dict):
        spare = next((v for k, v in value.items() if listed and k.endswith("_id")), None)
        own = value.get(name, value.get("id", spare))
        if isinstance(own, str | int) and not isinstance(own, bool):
            yield Record(own, value, listed, container)
        for key, item in value.items():
            yield from _walk(item, name, False, str(key))
    elif isinstance(value, list):
        for item in value:
            yield from _walk(item, name, True, container)


def pointed_at(facts: Sequence[Fact], name: str, ref: Reference) -> Any | None:
    """The id that is meant among these facts, None when there is none or it is not clear which.

    A position counts in the newest list that has it, in the order shown. Anything else means the
    newest thing, if it is the only one that came with it.
    """
    if ref.position is None or ref.recent:
        return _newest(facts, name, ref)
    for fact in facts:
        listed = [r for r in records(fact, name) if r.listed]
        if len(listed) > 1 and -len(listed) <= ref.position < len(listed):
            return listed[ref.position].id
    return _newest(facts, name, ref) if ref.position in (0, -1) else None


def _newest(facts: Sequence[Fact], name: str, ref: Reference) -> Any | None:
    for fact in facts:
        found = records(fact, name)
        single = [r for r in found if not r.listed] or found
        if len(single) == 1:
            return single[0].id
        if single and not ref.recent:
            return None
    return None


def listed_ids(
    facts: Sequence[Fact], name: str, count: int | None, which: Collection[Word] = ()
) -> list[Any]:
    """The first `count` ids of the newest list, or all of them; only things whose text holds the
    words of `which`."""
    for fact in facts:
        if listed := [r for r in records(fact, name) if r.listed]:
            return [r.id for r in listed if holds(r.fields, which)][:count]
    return []


def named(facts: Sequence[Fact], name: str, said: Sequence[Word]) -> Record | None:
    """The only thing of the newest facts whose text holds all the words."""
    for fact in facts if said else ():
        found = [r for r in records(fact, name) if holds(r.fields, said)]
        if found:
            return found[0] if len({str(r.id) for r in found}) == 1 else None
    return None


def titled(facts: Sequence[Fact], name: str, stems: Collection[str], tag: str) -> list[Any]:
    """The ids of the things of the newest facts all of whose title stands among these stems."""
    for fact in facts:
        found = [
            r.id
            for r in records(fact, name)
            if (title := words(text_of(r.fields, language.title_keys()), tag))
            and all(w.stem in stems for w in title)
        ]
        if found:
            return list(dict.fromkeys(found))
    return []


def label_of(facts: Sequence[Fact], name: str, value: Any) -> str:
    """What the thing with this id is called, empty when no fact tells it."""
    found = (r for f in facts for r in records(f, name) if r.id == value)
    return next((t for r in found if (t := text_of(r.fields, language.title_keys()))), "")


def container_of(facts: Sequence[Fact], fn_name: str, name: str) -> str:
    """The key under which the function's last list stood, empty when there was none."""
    return next(
        (r.container for f in facts if f.fn_name == fn_name for r in records(f, name) if r.listed),
        "",
    )


def holds(fields: JSONObject, said: Collection[Word]) -> bool:
    """Whether every word, whatever its ending, stands in one of the texts of a thing."""
    text = {w for value in fields.values() if isinstance(value, str) for w in _spelled(value)}
    return all(any(_same(word, other) for other in text) for word in said)


def literal(fields: JSONObject, said: Collection[Word]) -> bool:
    """Whether the words stand in the title of a thing just as they were said."""
    title = {text for text, _ in _spelled(text_of(fields, language.title_keys()))}
    return title.issuperset(w.text for w in said)


def _spelled(text: str) -> list[tuple[str, str]]:
    return [(w.text, w.stem) for w in words(text[:KEPT], language.detect(text[:200]))]


def _same(word: Word, other: tuple[str, str]) -> bool:
    same = word.stem == other[1] or word.text == other[0] or alike(word.text, other[0])
    return same or (len(word.text) >= _SLIPS and near(word.text, other[0]))


def shared(name: str, tag: str) -> str:
    """What all forms of a name share: whoever searches by it finds them all."""
    if not language.of(tag).cases or name.isascii():
        return name
    kept = []
    for part in name.split():
        stem = language.stem(part, tag)
        kept.append(part if stem == part.casefold() else part[: max(len(stem), len(part) - 1)])
    return " ".join(kept)


def alike(a: str, b: str) -> bool:
    """Whether two words of a language with cases can be forms of one name: all but a short ending
    is equal."""
    if min(len(a), len(b)) < _ALIKE or a.isascii() or b.isascii():
        return False
    shared = next(
        (i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b))
    )
    return (
        shared >= _ALIKE
        and max(len(a), len(b)) - shared < _ENDING
        and shared >= min(len(a), len(b)) - 1
    )


def address_of(facts: Sequence[Fact], said: Sequence[Word], tag: str) -> tuple[str, Word] | None:
    """The newest address of somebody who is named, and the word that names: in its local part or in
    a text beside it."""
    naming = [w for w in said if len(w.text) > 2 and not points_back(w, tag)]
    for address, names in _addressed(facts) if naming else ():
        if hit := next((w for w in naming if holds(names, [w])), None):
            return address, hit
    return None


def _addressed(facts: Sequence[Fact]) -> Iterator[tuple[str, dict[str, str]]]:
    """Every address, newest first, with what it is called."""
    for fact in facts:
        for holder in _dicts(fact.data) or [fact.data]:
            for address in addresses(holder, ""):
                yield address, _names_beside(address, holder)


def sought_address(facts: Sequence[Fact]) -> str:
    """The one address of whom the newest search for somebody found; empty where it found several
    or nobody."""
    for fact in facts:
        if any(_is_party(k) and v for k, v in fact.arguments.items()):
            found = {address for row in _dicts(fact.data) for address in addresses(row, "")[:1]}
            if found:
                return found.pop() if len(found) == 1 else ""
    return ""


def _is_party(key: str) -> bool:
    return not keys("party_keys").isdisjoint(parts(key))


def _names_beside(address: str, holder: Any) -> dict[str, str]:
    """What an address is called: its local part, and the text it stands in."""
    texts = holder.values() if isinstance(holder, dict) else ()
    beside = " ".join(t for t in texts if isinstance(t, str) and address in t)
    return {"local": address.partition("@")[0].replace(".", " "), "text": beside}


def recall_address(facts: Sequence[Fact], fn_name: str, name: str, ref: Reference) -> str | None:
    """The newest fact's address, at the position in its list if one is named. Whom something came
    from goes first; in a fact of the same function, the key that is named like the argument."""
    for fact in facts:
        first = name if fact.fn_name == fn_name else ""
        rows = _dicts(fact.data)
        at = rows if ref.position is None else rows[ref.position :][:1]
        for holder in [*at, *([] if rows and ref.position is not None else [fact.data])]:
            if found := addresses(holder, first):
                return found[0]
    return None


def addresses(value: Any, first: str) -> list[str]:
    """Addresses in the value: under the key `first`, then under keys of senders, then of addresses,
    then others, each in order."""
    ranks = ({first}, keys("party_keys"), keys("address_keys"))

    def rank(leaf: tuple[str, str]) -> int:
        return next(
            (n for n, group in enumerate(ranks) if leaf[0] in group and leaf[0]), len(ranks)
        )

    return [text for _, text in sorted(_leaves(value, ""), key=rank)]


def text_of(fields: JSONObject, names: Sequence[str]) -> str:
    """The text of a thing: under one of the names, else under a key for texts, else its title."""
    for wanted in (names, keys("body_keys"), language.title_keys()):
        for key, value in fields.items():
            if key in wanted and isinstance(value, str) and value and not _EMAIL.fullmatch(value):
                return value
    return ""


def _dicts(value: Any) -> list[JSONObject]:
    """The items of the first list of dicts in the value."""
    if isinstance(value, dict):
        return next(filter(None, map(_dicts, value.values())), [])
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


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
