"""Taking up: how a user's words point at a value that he did not write. Pure.

- He points back: "the same address", "him", "the second one" – at a value that a reply has shown.
- He names a thing, and the call needs its id: "the note Standup"; or a search for his own words has
  found one thing only ("move Boris to where Anna is").
- He names a thing and a field of it: "the same participants as in 'Introductory meeting'".
- He changes what he has just made: the id that a call with an effect gave back, where no other
  thing of that kind was made, or he points back and it is the newest; and he names none beside it.
- He leaves the choice among an app's own names: "a channel with the fewest members", and nothing
  else of the call is copied from a result.

Addresses, accounts, links and amounts are taken up in the first and the third way only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from ... import language
from ...catalogue import FunctionInfo
from .directing import Directing, form_of, named_kind, words_of
from .places import Field, Places, Source, normal, stands_in, walk
from .wish import Wish, stems

_SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,5}$")
LONGEST_LABEL = 120
"""Characters of what an app calls a thing; what is longer is its text."""


def taken_up(
    d: Directing,
    function: FunctionInfo,
    fields: Sequence[Field],
    places: Places,
    wish: Wish,
    replies: Sequence[str],
    arguments: Mapping[str, Any],
) -> bool:
    """Whether the user's words point at the value in one of these fields."""
    if not fields or d.kind == "secret":
        return _own_token(d, function, fields)
    if _pointed_at(d, fields, wish, replies) or _same_field(d, fields, wish):
        return True
    if d.kind in ("id", "name") and _only_find(d, fields, places):
        return True
    if d.kind == "id":
        return _named(d, fields, places, wish) or _own_making(d, function, fields, places, wish)
    if d.kind not in ("name", "recipient") or _dictated(arguments, places):
        return False
    return _left_open(d, function, fields, places, wish)


def _pointed_at(d: Directing, fields: Sequence[Field], wish: Wish, replies: Sequence[str]) -> bool:
    """The user points back, or names a part of it, and a reply has shown it; of an id, the thing
    it belongs to."""
    if not any(f.turn for f in fields) or not _points(d, wish):
        return False
    shown = [str(d.value)]
    if d.kind == "id":
        shown += [label for f in fields for label in labels(f.record)]
    return any(stands_in(text, reply, "", wish.tag) for text in shown for reply in replies)


def _points(d: Directing, wish: Wish) -> bool:
    """Whether the words point back, name a part that somebody plays, or a part of the value."""
    if wish.points_back or wish.names_a_role:
        return True
    return any(
        len(p) > 2 and p.isalpha() and p in wish.stems for p in stems(str(d.value), wish.tag)
    )


def _named(d: Directing, fields: Sequence[Field], places: Places, wish: Wish) -> bool:
    """The record of this id bears a name that stands in the user's words, and no other record of
    the same result does."""
    for f in fields:
        if named_kind(f.key) != "id" or not _is_named(f.record, wish):
            continue
        rivals = {
            normal(other.value)
            for source in (places.fields, places.skeleton)
            for others in source.values()
            for other in others
            if (other.fn_name, other.turn, other.key) == (f.fn_name, f.turn, f.key)
            and _is_named(other.record, wish)
        }
        if rivals == {normal(d.value)}:
            return True
    return False


def _own_token(d: Directing, function: FunctionInfo, fields: Sequence[Field]) -> bool:
    """An app gets the token back that it gave out itself, under the same name."""
    return bool({"token", "session"}.intersection(words_of(d.name))) and any(
        f.app_id == function.app_id and f.key == d.name for f in fields
    )


def _own_making(
    d: Directing, function: FunctionInfo, fields: Sequence[Field], places: Places, wish: Wish
) -> bool:
    """The id of what a call with an effect has made in the same app: the only one of its key, or
    the newest where he points back; and he names no other thing that bears such an id."""
    mine = (f for f in fields if f.made and f.app_id == function.app_id)
    return any(named_kind(f.key) == "id" and _is_meant(d, f, places, wish) for f in mine)


def _is_meant(d: Directing, f: Field, places: Places, wish: Wish) -> bool:
    """Whether of all things with such an id this one was made last, or alone, and none is named."""
    alike = [o for o in places.ids if (o.app_id, o.key) == (f.app_id, f.key)]
    if any(normal(o.value) != normal(d.value) and _is_named(o.record, wish) for o in alike):
        return False
    made = [normal(o.value) for o in alike if o.made]  # the newest first
    return set(made) == {normal(d.value)} or (wish.points_back and made[0] == normal(d.value))


def _only_find(d: Directing, fields: Sequence[Field], places: Places) -> bool:
    """The id, or the field called like the parameter, of the one record that this turn's search for
    the user's own words has found."""
    return any(_is_only(d, f, places) for f in fields if not f.turn and _fits(d, f))


def _is_only(d: Directing, f: Field, places: Places) -> bool:
    source = next((s for s in places.results if s.is_of(f)), None)
    if source is None or not _by_own_words(source, places):
        return False
    return {normal(v) for key, _, v in walk(source.data) if key == f.key} == {normal(d.value)}


def _fits(d: Directing, f: Field) -> bool:
    """Whether the field is an id, or called like the parameter."""
    if d.kind == "id":
        return named_kind(f.key) == "id"
    return _stems(words_of(d.name)) <= _stems(words_of(f.key))


def _by_own_words(source: Source, places: Places) -> bool:
    """Whether a read was given nothing but the user's own words."""
    asked = [v for v in source.arguments.values() if isinstance(v, str) and v]
    return bool(asked) and all(places.said(v) for v in asked)


def _same_field(d: Directing, fields: Sequence[Field], wish: Wish) -> bool:
    """ "The same participants as …": he points back, says the field and names the record."""
    name = _stems(words_of(d.name))
    if not wish.points_back or not name & wish.stems:
        return False
    return any(name & _stems(words_of(f.key)) and _is_named(f.record, wish) for f in fields)


def _left_open(
    d: Directing, function: FunctionInfo, fields: Sequence[Field], places: Places, wish: Wish
) -> bool:
    """He names the class ("a channel", "all users"), none of its members, and the value is a member
    that the app itself lists under that name."""
    if form_of(str(d.value)):
        return False
    own = words_of(d.name)
    classes = _stems([*own, *_PERSONS] if d.kind == "recipient" else own) & wish.stems
    return any(
        f.app_id == function.app_id
        and classes & _listed_as(d, f)
        and not _names_a_member(f, places, wish)
        for f in fields
    )


def _listed_as(d: Directing, f: Field) -> set[str]:
    """The classes that a field's own name and its function's say it belongs to."""
    listed = _stems([*words_of(f.fn_name), *words_of(f.key)])
    people = d.kind == "recipient" and listed & _stems(_SENDERS)
    return listed | _stems(_PERSONS) if people else listed


def _names_a_member(f: Field, places: Places, wish: Wish) -> bool:
    """Whether the words name one of those that are listed beside the value."""
    beside = (o for others in places.fields.values() for o in others)
    members = {str(o.value) for o in beside if (o.fn_name, o.key) == (f.fn_name, f.key)}
    return any(stands_in(m, t, "name", wish.tag) for m in members for t in wish.texts)


_PERSONS = ("user", "member", "person")
_SENDERS = ("sender", "author", "user", "member")
"""Words of identifiers, as `directing` has them."""
_COPIED = 12
"""Characters of a text that, found in a result word for word, was copied from there."""


def _dictated(arguments: Mapping[str, Any], places: Places) -> bool:
    """Whether another text of the call stands in a result word for word."""
    texts = (v for _, _, v in walk(dict(arguments)) if isinstance(v, str))
    return any(len(t) >= _COPIED and not places.said(t) and places.in_text(t) for t in texts)


def _stems(words: Sequence[str]) -> set[str]:
    return {language.stem(w, "en") for w in words}


def agrees_on_the_day(d: Directing, wish: Wish, now: str) -> bool:
    """Whether a day of the call is one the user named, lies between two that he named, or he named
    none: dates are asked about only where they are not what he said."""
    spans = _spans(wish.texts, wish.tag, now)
    day = int(str(d.value)[5:7]), int(str(d.value)[8:10])
    return not spans or any(first <= day <= last for first, last in spans)


_Day = tuple[int, int]


@lru_cache(maxsize=64)
def _spans(texts: tuple[str, ...], tag: str, now: str) -> tuple[tuple[_Day, _Day], ...]:
    """The days and periods that the texts name, as `(month, day)` of their ends, and what lies
    between the dates of one text; none where a text names a time that is no day at all."""
    found: list[tuple[_Day, _Day]] = []
    for text in texts:
        dates: list[_Day] = []
        for mention in language.dates(text, tag, now or None):
            if mention.kind in ("month", "weekday"):
                return ()
            for reading in mention.readings or (mention.value,):
                if mention.kind == "period":
                    found.append((_day(reading[0]), _day(reading[1])))
                elif mention.kind in ("date", "moment"):
                    dates.append(_day(reading))
        found += [(min(dates), max(dates))] if dates else []
    return tuple(found)


def _day(end: Any) -> _Day:
    return (end.month, end.day) if hasattr(end, "month") else (end[1], end[2])


def labels(record: Mapping[str, Any]) -> Iterator[str]:
    """What an app calls the thing that a record describes: its title, subject, file name."""
    titles = set(language.title_keys()) | {"filename"}
    for key, value in record.items():
        if isinstance(value, str) and 0 < len(value) <= LONGEST_LABEL and "\n" not in value:
            if titles.intersection(words_of(key.casefold())) or key.casefold() in titles:
                yield value


def label_of(record: Mapping[str, Any], value: object) -> str:
    """The title of the record a value stands in, and whom it is from; empty where it says none."""
    found = [label for label in labels(record) if normal(label) != normal(value)][:1]
    senders = ("from", "sender", "author")
    found += [str(record[k]) for k in senders if isinstance(record.get(k), str)][:1]
    return " · ".join(text for text in found if text and normal(text) != normal(value))


def _is_named(record: Mapping[str, Any], wish: Wish) -> bool:
    return any(_label_in(label, wish) for label in labels(record))


def _label_in(label: str, wish: Wish) -> bool:
    """Whether every telling word of a label stands in the user's words."""
    words = language.of(wish.tag).words
    bare = _SUFFIX.sub("", label) if " " not in label else label
    wanted: set[str] = set()
    for token in language.tokens(bare):
        parts = re.split(r"[-_.'’]", token.text)
        whole = language.stem(token.text, wish.tag)
        if whole not in wish.stems:
            wanted |= {language.stem(p, wish.tag) for p in parts if p}
        else:
            wanted.add(whole)
    telling = wanted - words.function
    return bool(telling) and telling <= wish.stems and sum(map(len, telling)) > 2
