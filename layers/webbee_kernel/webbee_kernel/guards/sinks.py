"""Sinks: where a call carries something, and by what that is known. Pure.

In this order: the author's marker (`x-directs`), a format of the schema, names of parameters as the
field uses them, the form of the value, MCP's open-world hint, at any depth of objects and lists.
Names are identifiers of programs, English in all but a few; no word of a message is read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from ..catalogue import OPEN_WORLD, FunctionInfo
from ..types import JSON
from . import field_names as fields
from .addresses import (
    addresses_in,
    form_of,
    header_recipients,
    is_moment,
    web_address,
)
from .arguments import Leaf, leaves, parameters, shown
from .field_names import Kind, has_word, is_counted, kind_by_name, names_an_id, words_of

Effect = Literal["read", "opens", "write", "outward", "destructive"]
"""How a call is classed; `opens` is a read that opens an address."""

_MARKED: Mapping[str, Kind] = {k: k for k in ("recipient", "account", "url", "path")}
_FORMATS: Mapping[str, Kind] = {
    **dict.fromkeys(("email", "idn-email", "phone"), "recipient"),
    "iban": "account",
    **dict.fromkeys("uri url uri-reference iri hostname idn-hostname ipv4 ipv6".split(), "url"),
    **dict.fromkeys(("path", "file-path", "directory-path"), "path"),
}

_LONG = 5
"""Digits from which on a number under the name of a sink is an address, not a count."""
_PLACE = re.compile(r"[/\\@]|\w:")
"""What the name of a place has in it and a word has not."""


class Sink(NamedTuple):
    """Where a call carries something: the argument's place and name, what it is, its value whole,
    and by what it is known (`marker`, `format`, `form`, `name`, `open world`, `function`)."""

    path: str
    name: str
    kind: Kind
    value: str
    why: str


def sinks(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Sink, ...]:
    """Where this call carries something, each place once; empty where it carries nothing out. A
    read that only opens an address has none (`opened`)."""
    if function.action_type == "read":
        found = shown(function, arguments)
        return _of_read(function, found) or _of_misnamed(function, found)
    found = leaves(function, arguments)
    own = [s for leaf in found if (s := _of_effect(function, leaf))]
    own += _flags(shown(function, arguments))  # `notify_all: true` has no address
    is_mail = any(s.kind == "recipient" for s in own)  # then `Cc:` in its text is a header
    own += [s for leaf in found for s in _in_header(leaf, is_mail)]
    return tuple(own) or _unnamed(function, found)


def _unnamed(function: FunctionInfo, found: Sequence[Leaf]) -> tuple[Sink, ...]:
    """Where an effect goes that leaves and has no argument for a place: the addresses in its texts,
    else wherever its app sends it with these arguments."""
    open_world = function.input_schema.get(OPEN_WORLD)
    if _leaves(function) and open_world is not False:
        return tuple(_in_texts(found)) or (_app_itself("function", found),)
    return (_app_itself("open world", found),) if open_world is True else ()


def _flags(found: Sequence[Leaf]) -> Iterator[Sink]:
    """What is set, taken back or chosen and says by its name or by the choice that an effect
    reaches others: `reply_all`, `private: false`, `send_updates: all`, `status: published`."""
    for leaf in found:
        if leaf.marker:
            continue
        if _opens(leaf) or _is_time_of_leaving(leaf):
            yield Sink(leaf.path, leaf.name, "flag", leaf.name, "name")
        elif leaf.offered and isinstance(leaf.value, str) and _is_sent(leaf):
            yield Sink(leaf.path, leaf.name, "flag", f"{leaf.name}: {leaf.value}", "name")


def _opens(leaf: Leaf) -> bool:
    """Whether a flag opens something to others, also one that is not set and kept it from them."""
    words, leaves = words_of(leaf.name), has_word(leaf.name, fields.LEAVES | fields.OPENS)
    denies = words[:1] == ["no"]  # `no_email: true` sends nothing
    if leaf.is_set:
        reaches = leaves or words[:1] == ["to"] or _by_name(leaf, fields.EFFECT)
        return bool(reaches) and not (denies or fields.SHUTS.issuperset(words[:1]))
    shuts = leaves if denies else not fields.SHUTS.isdisjoint(words)
    return leaf.value is False and not leaf.is_default and shuts


def _by_name(leaf: Leaf, where: int) -> Kind | None:
    return kind_by_name(leaf.name, where, is_read=False)


def _is_time_of_leaving(leaf: Leaf) -> bool:
    """Whether it is when something leaves, or that it does: `send_at`, `publish: 1`."""
    leaves = not (fields.LEAVES - fields.PLACES.keys()).isdisjoint(words_of(leaf.name)[:1])
    is_told = is_moment(leaf.value) or (type(leaf.value) in (int, float) and bool(leaf.value))
    return leaves and is_told and not (leaf.is_default or names_an_id(leaf.name))


def _is_sent(leaf: Leaf) -> bool:
    """Whether a choice says that something leaves: `mode: send`, `access: anyone_with_link`; of one
    that is made against the default its name may say it, too."""
    if has_word(value := str(leaf.value), fields.LEAVES.difference(fields.PLACES) | fields.OPENS):
        return True
    tells = has_word(leaf.name, fields.CARRIES) or not fields.PLACES.keys().isdisjoint(
        words_of(value)
    )
    return leaf.is_chosen and not is_told(leaf) and tells


def opened(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Sink, ...]:
    """The addresses that a read opens, of whatever scheme. One that also carries something is
    outward (`sinks`)."""
    if function.action_type != "read":
        return ()
    found = shown(function, arguments)
    given = [leaf for leaf in found if leaf.marker != "content" and _is_given(leaf)]
    web = tuple(s for s in _addresses(function, given) if s.kind == "url")  # people are looked up
    return () if web and _of_read(function, found) else web


def effect_of(function: FunctionInfo, arguments: Mapping[str, JSON]) -> Effect:
    """How this call is classed."""
    if _is_destructive(function) or _destroys(function, arguments):
        return "destructive"
    if sinks(function, arguments):
        return "outward"
    if function.action_type != "read":
        return "write"
    return "opens" if opened(function, arguments) else "read"


class Classed(NamedTuple):
    """How a function is classed by what its author declares, and why: the parameters that say where
    to, each with the reason."""

    effect: Effect
    sinks: tuple[tuple[str, Kind, str], ...] = ()


def classed(function: FunctionInfo) -> Classed:
    """The same of a function, by its schema alone. A value's own form may still make one call of it
    outward."""
    told = _told(function)
    if function.action_type == "read":
        urls = tuple(t for t in _told(function, fields.EFFECT) if t[1] == "url")
        return Classed("outward", told) if told else Classed("opens" if urls else "read", urls)
    told = told or tuple(("", s.kind, s.why) for s in sinks(function, {}))
    effect: Effect = "outward" if told else "write"
    return Classed("destructive" if _is_destructive(function) else effect, told)


def _told(function: FunctionInfo, where: int | None = None) -> tuple[tuple[str, Kind, str], ...]:
    """The parameters that say where to; what a read's schema offers is none."""
    is_read = function.action_type == "read"
    return tuple(
        (parameter.path, *kind)
        for parameter in parameters(function.input_schema)
        if not (parameter.is_secret or (is_read and parameter.offered))
        and (kind := _declared(function, parameter, where))
    )


NOTHING_GIVEN: Final = "[]"
"""What the app itself is as a destination, where a call gives it nothing but what it tells."""


def _app_itself(why: str, found: Sequence[Leaf]) -> Sink:
    """A yes to it is one to these arguments, but for what they tell under one word: `chat_title`
    may say where to, `title` does not."""
    own = (x for x in found if not (x.is_default or x.offered))
    also = (x for x in own if not is_told(x) or len(words_of(x.name)) != 1)
    given = [(leaf.path, leaf.value) for leaf in also]
    return Sink("", "", "app", json.dumps(given, default=str), why)


def _leaves(function: FunctionInfo) -> bool:
    words = words_of(function.fn_name)
    return not (fields.LEAVES.isdisjoint(words) and fields.OUTWARD_VERBS.isdisjoint(words[:1]))


def _is_destructive(function: FunctionInfo) -> bool:
    """Whether a function destroys by what is declared, or by a verb in its name: `delete_file`,
    `file_delete`; in the middle of a read's it is what it asks about."""
    words = words_of(function.fn_name)
    verbs = (*words[:1], *words[-1:]) if function.action_type == "read" else words
    return function.action_type == "destructive" or not fields.DESTRUCTIVE_VERBS.isdisjoint(verbs)


def _destroys(function: FunctionInfo, arguments: Mapping[str, JSON]) -> bool:
    """Whether a call says by a flag that it sets, in an effect also by a choice or a time, that
    something is destroyed: `overwrite: true`, `status: deleted`, `delete_on: 2026-05-15`."""
    is_read = function.action_type == "read"
    given = (leaf for leaf in shown(function, arguments) if not (leaf.is_default or leaf.marker))
    return any(_is_to_destroy(leaf, is_read=is_read) for leaf in given)


def _is_to_destroy(leaf: Leaf, *, is_read: bool) -> bool:
    is_named = not fields.DESTROYS.isdisjoint(words_of(leaf.name))
    if leaf.is_set or (is_read and not _is_method(leaf)):
        return is_named and leaf.is_set
    if isinstance(leaf.value, str) and not leaf.is_key:
        says = (leaf.offered or _is_method(leaf)) and has_word(leaf.value, fields.DESTROYS)
        return says or (is_named and is_moment(leaf.value))
    return is_named and type(leaf.value) in (int, float)


def _is_method(leaf: Leaf) -> bool:
    """Whether it is what a read is to do with what it opens or finds: `method: DELETE`."""
    return words_of(leaf.name)[-1:] in (["method"], ["then"], ["action"])


def _of_effect(function: FunctionInfo, leaf: Leaf) -> Sink | None:
    """The sink that an argument of an effect is."""
    found = None if is_known_key(leaf) else _declared(function, leaf) or _formed(leaf)
    if found is None or not _may_be_address(leaf, found[1]):
        return None
    return Sink(leaf.path, leaf.name, found[0], str(leaf.value), found[1])


def _of_read(function: FunctionInfo, found: Sequence[Leaf]) -> tuple[Sink, ...]:
    """Where a read carries something: a place that only a result can go to, else an address that it
    takes something along to, else the people beside a file or a text."""
    plain = [leaf for leaf in found if _is_given(leaf)]
    told = [leaf for leaf in found if leaf in plain or not (leaf.is_default or not leaf.value)]
    return (
        tuple(_sinks(function, told, fields.ANYWHERE))
        or tuple(_sinks(function, plain))
        or _addressed(function, plain)
        or tuple(_sinks(function, _beside_content(plain), fields.BESIDE))
    )


def _of_misnamed(function: FunctionInfo, found: Sequence[Leaf]) -> tuple[Sink, ...]:
    """Where a function goes that is declared a read and whose verb says that it hands something on:
    what contradicts is taken carefully."""
    is_sent = not fields.SENDS.isdisjoint(words_of(function.fn_name)[:1])
    return (_app_itself("function", found),) if is_sent else ()


def _addressed(function: FunctionInfo, plain: Sequence[Leaf]) -> tuple[Sink, ...]:
    """The addresses that a read looks up by or opens where something goes along, else those under a
    name that nothing is looked up by."""
    found = _addresses(function, plain)
    places = {s.path for s in found}
    others = [leaf for leaf in plain if leaf.path not in places]
    is_opened = any(s.kind == "url" for s in found)
    if found and any(map(_reaches if is_opened else _goes_along, others)):
        return found
    return tuple(s for s in found if _is_odd(s))


def _beside_content(plain: Sequence[Leaf]) -> list[Leaf]:
    """What stands beside a file or a text and is neither an id nor an address."""
    others = [leaf for leaf in plain if not (_is_content(leaf) or names_an_id(leaf.name))]
    return others if any(map(_is_content, plain)) else []


def _is_given(leaf: Leaf) -> bool:
    """Whether an argument of a read is more than a choice that its schema offers, or a date; an
    address is one, whoever offers it."""
    if leaf.value == "" or (isinstance(leaf.value, bool) and not leaf.is_item):
        return False
    is_address = isinstance(leaf.value, str) and form_of(leaf.value)
    return bool(is_address) or not (leaf.offered or is_moment(leaf.value))


def _is_odd(sink: Sink) -> bool:
    """Whether it is an address under a name that nothing is looked up by: `replicate_to`, `remote`,
    and not `sender`, `email`, `to`."""
    words = words_of(sink.name)
    if sink.kind == "url" or not fields.LOOKED_UP.isdisjoint(words):
        return False
    places = (fields.PLACES.get(word, (fields.LEAVING, None)) for word in words)
    named = any(kind in ("recipient", "account") and at != fields.LEAVING for at, kind in places)
    return not named or (len(words) > 1 and words[-1] == "to")


def _sinks(
    function: FunctionInfo, found: Sequence[Leaf], where: int | None = None
) -> Iterator[Sink]:
    for leaf in found:
        if kind := _declared(function, leaf, where):
            yield Sink(leaf.path, leaf.name, kind[0], str(leaf.value), kind[1])
        elif where == fields.ANYWHERE and _hands_on(leaf):
            yield Sink(leaf.path, leaf.name, "recipient", str(leaf.value), "name")


def _hands_on(leaf: Leaf) -> bool:
    """Whether an argument of a read has a name that says what is done with its result: `share`."""
    words = words_of(leaf.name)
    return not fields.HANDS_ON.isdisjoint(words[:1]) and (len(words) == 1 or leaf.is_set)


def _addresses(function: FunctionInfo, found: Sequence[Leaf]) -> tuple[Sink, ...]:
    """The addresses among the arguments of a read, and the links that stand within those which are
    no mere text: `command: curl https://…`."""
    whole = {leaf.path: s for leaf in found if (s := _address(function, leaf))}
    others = (leaf for leaf in found if leaf.path not in whole and not is_told(leaf))
    return (*whole.values(), *(s for s in _in_texts(others) if s.kind == "url"))


def _address(function: FunctionInfo, leaf: Leaf) -> Sink | None:
    """An address among the arguments of a read."""
    if not isinstance(leaf.value, str):
        return None
    named, why = _declared(function, leaf, fields.EFFECT) or (None, "form")
    form = form_of(leaf.value)
    if leaf.is_secret and not form:
        return None
    is_host = _by_name(leaf, fields.CARRYING) == "url" and web_address(leaf.value)
    kind = "url" if named == "url" else form or ("url" if is_host else None)
    return Sink(leaf.path, leaf.name, kind, leaf.value, why) if kind else None


def is_told(leaf: Leaf) -> bool:
    """Whether an argument's own name says that it is what is told, or something about that."""
    words = words_of(leaf.name)
    return not (fields.CONTENT.isdisjoint(words) and fields.ABOUT.isdisjoint(words[-1:]))


def is_known_key(leaf: Leaf) -> bool:
    """Whether it is the key of an object, and the name of a field as the field uses them."""
    words = words_of(str(leaf.value)) if leaf.is_key else []
    known = fields.ABOUT | fields.CONTENT | fields.LOOKED_UP | fields.PLACES.keys()
    return len(words) == 1 and (not known.isdisjoint(words) or names_an_id(str(leaf.value)))


def _is_content(leaf: Leaf) -> bool:
    return any(not fields.CONTENT.isdisjoint(words_of(name)) for name in leaf.names)


def _goes_along(leaf: Leaf) -> bool:
    """Whether an argument beside an address is a record or a text that goes along with it."""
    return names_an_id(leaf.name) or _is_content(leaf)


def _reaches(leaf: Leaf) -> bool:
    """Whether an argument beside an address that is opened reaches who answers there."""
    if _goes_along(leaf):
        return True
    if not isinstance(leaf.value, str) or leaf.value.upper() in ("GET", "HEAD"):
        return False
    return fields.ABOUT.isdisjoint(words_of(leaf.name)[-1:]) or len(leaf.names) > 1


def _formed(leaf: Leaf) -> tuple[Kind, str] | None:
    """What a text directs by its own form, where its author marked nothing, or a secret, as one may
    be an address: an address, or a host or path under a name that may say where to."""
    if leaf.marker not in ("", "secret") or not isinstance(leaf.value, str):
        return None
    kind = form_of(leaf.value) or (None if leaf.offered else _place(leaf.name, leaf.value))
    return (kind, "form") if kind else None


def _place(name: str, value: str) -> Kind | None:
    """A host or a path under a name that may say where to."""
    if names_an_id(name) or fields.WEAK.isdisjoint(words_of(name)):
        return None
    if web_address(value):
        return "url"
    return "path" if _PLACE.search(value) and " " not in value.strip() else None


def _declared(
    function: FunctionInfo, leaf: Leaf, where: int | None = None
) -> tuple[Kind, str] | None:
    """What a parameter directs, by what is declared of it. A read's says so by its name alone, or a
    marker that is for no look-up; `where` is what the call is taken for."""
    is_read = function.action_type == "read" and where != fields.EFFECT
    if leaf.marker:
        looked_up = is_read and (leaf.is_personal or leaf.marker in ("url", "path"))
        kind = None if looked_up else _MARKED.get(leaf.marker)
        return (kind, "marker") if kind else None
    if not is_read and (kind := _FORMATS.get(leaf.format)):
        return kind, "format"
    where = _where(function, leaf) if where is None else where
    for name in reversed(leaf.names):
        is_changed = not _carries(function) and not fields.CONTACTS.isdisjoint(fields.root_of(name))
        if kind := kind_by_name(name, where, is_read=is_read):
            return None if is_changed and names_an_id(name) else (kind, "name")
    return None


def _where(function: FunctionInfo, leaf: Leaf) -> int:
    """For what a call counts where the names of its parameters are read."""
    if function.action_type == "read":
        return fields.LEAVING if _leaves(function) else fields.ANYWHERE
    return fields.CARRYING if _carries(function) or _hands_over(function) else fields.EFFECT


def _carries(function: FunctionInfo) -> bool:
    """Whether the name of a function says that it carries what it acts on somewhere."""
    return _leaves(function) or not fields.CARRIES.isdisjoint(words_of(function.fn_name))


def _hands_over(function: FunctionInfo) -> bool:
    """Whether an effect takes a text or a file that can be handed to somebody beside it."""
    properties = function.input_schema.get("properties")
    names = properties if isinstance(properties, dict) else {}
    return any(not fields.CONTENT.isdisjoint(words_of(str(name))) for name in names)


def _may_be_address(leaf: Leaf, why: str) -> bool:
    """Whether the value can say where to: `guests: 2` counts them, `to: 2026-05-15` ends something,
    and `password_reset_email` holds a secret unless it holds an address."""
    if why in ("marker", "format"):
        return True
    if isinstance(leaf.value, str):
        is_end = words_of(leaf.name)[-1:] == ["to"] and is_moment(leaf.value)  # `from`, `to`
        return not is_end and not (fields.names_a_secret(leaf.name) and not form_of(leaf.value))
    long = len(str(leaf.value).lstrip("-").partition(".")[0]) >= _LONG
    is_one = leaf.is_item or names_an_id(leaf.name) or not is_counted(leaf.name)
    return long or is_one or bool(_by_name(leaf, fields.ANYWHERE))


def _in_header(leaf: Leaf, is_mail: bool) -> Iterator[Sink]:
    """Recipients that a text smuggles in as a header of a mail."""
    if isinstance(leaf.value, str):
        is_body = words_of(leaf.name)[-1:] in ([word] for word in fields.PLAIN_TEXT)
        for value in header_recipients(leaf.value, is_body=is_body, is_mail=is_mail):
            yield Sink(leaf.path, leaf.name, "recipient", value, "form")


def _in_texts(found: Iterable[Leaf]) -> Iterator[Sink]:
    """The addresses that stand in the texts of a call, those of its contents left out."""
    for leaf in found:
        if isinstance(leaf.value, str) and leaf.marker != "content":
            for value in addresses_in(leaf.value):
                kind: Kind = "recipient" if "@" in value and "://" not in value else "url"
                yield Sink(leaf.path, leaf.name, kind, value, "form")
