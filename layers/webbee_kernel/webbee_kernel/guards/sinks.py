"""Sinks: what a call does, its destinations, and how each was recognised. Pure.

In this order, at any depth: the author's marker (`x-directs`), the schema's format, common
parameter names, the value's format, MCP's open-world hint. Names are identifiers, mostly English;
messages are not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import filterfalse
from typing import Final, Literal, NamedTuple

from ..catalogue import OPEN_WORLD, FunctionInfo
from ..types import JSON
from . import field_names as fields
from .addresses import addresses_in, header_recipients, host_of, is_moment, is_web_address, key_of
from .arguments import Leaf, keyword_of, leaves_of, parameters, properties
from .field_names import Kind, has_word, is_id_name, kind_by_name, words_of

Effect = Literal["read", "opens", "write", "outward", "destructive"]
"""The effect of a call; `opens` is a read that opens a URL."""

_MIN_DIGITS = 5
"""Minimum digits for a number under a sink's name to be an address, not a count."""
_REMOTE = re.compile(r"(?i)(?:[\w-]+\.)+[a-z]{2,24}:\S+")
"""A path on another machine, as git and scp write it."""
_PLACE = re.compile(r"[/\\@]|\w:")
"""Characters that occur in paths and not in words."""
NO_ARGUMENTS: Final = "[]"
"""The value of an app sink for a call that has only content arguments."""


class Sink(NamedTuple):
    """A destination: the argument's path and name, its kind and whole value, and the reason
    (`marker`, `format`, `form`, `name`, `open world`, `function`)."""

    path: str
    name: str
    kind: Kind
    value: str
    reason: str


class GuardedCall:
    """What one call does: its arguments, its effect and its destinations, each computed once."""

    def __init__(self, function: FunctionInfo, arguments: Mapping[str, JSON]) -> None:
        self.function, self.arguments = function, arguments
        self.is_read = function.action_type == "read"
        self.open_world = function.input_schema.get(OPEN_WORLD)
        self._words = words_of(function.fn_name)

    @cached_property
    def all_leaves(self) -> tuple[Leaf, ...]:
        """As `leaves`, with empty texts and booleans."""
        return tuple(leaves_of(self.arguments, self.function.input_schema))

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """The scalars of the arguments and of omitted defaults, in order, without empty texts,
        nulls and booleans (except in lists)."""
        found = self.all_leaves
        return tuple(
            x for x in found if x.value != "" and (x.is_item or not isinstance(x.value, bool))
        )

    def is_id(self, leaf: Leaf) -> bool:
        """Whether an argument identifies a record."""
        return leaf.name == self.function.id_projection or leaf.is_id

    @cached_property
    def effect(self) -> Effect:
        """The effect of this call."""
        own = (leaf for leaf in self.all_leaves if not (leaf.is_default or leaf.marker))
        if self.is_destructive or any(_is_destroy_flag(x, is_read=self.is_read) for x in own):
            return "destructive"
        if self.sinks:
            return "outward"
        return ("opens" if self.urls else "read") if self.is_read else "write"

    @property
    def is_plain_read(self) -> bool:
        """Whether it is a read of the user's own apps, to which the policy does not apply."""
        return self.effect == "read" and self.open_world is not True

    @cached_property
    def destinations(self) -> tuple[tuple[Sink, str], ...]:
        """The destinations of a call, each with the key under which its acceptance is stored."""
        found = [(s, self.key(s.kind, s.value, s.path)) for s in self.sinks]
        hosts = ((s, host_of(s.value)) for s in self.urls)
        found += [(s, self.key("host", host) if host else "") for s, host in hosts]
        # no argument says where to: the search engine behind it is the destination
        if self.open_world is True and not found and self.is_read:
            given = json.dumps([(x.path, x.value) for x in self.leaves], default=str)
            found = [(Sink("", "", "app", given, "open world"), self.key("app", given))]
        return tuple({(s.path, s.value): (s, key) for s, key in found}.values())

    def key(self, kind: str, value: str, place: str = "") -> str:
        """The key under which an acceptance is stored for this function (`key_of`)."""
        return key_of(self.function.app_id, self.function.fn_name, kind, value, place)

    @cached_property
    def sinks(self) -> tuple[Sink, ...]:
        """The destinations of this call, each once; empty if it is not outward. For URLs that a
        read opens see `urls`."""
        if self.is_read:
            # declared a read, and named by a verb of sending
            sent = (_app_sink("function", self.all_leaves),) if self._is_sent_read else ()
            return self._read_sinks or sent
        own = [s for leaf in self.leaves if (s := self._effect_sink(leaf))]
        own += _flag_sinks(self.all_leaves)  # `notify_all: true` has no address
        own += _named_by_value(self.leaves)
        is_mail = any(s.kind == "recipient" for s in own)  # then `Cc:` in its text is a header
        own += [s for leaf in self.leaves for s in _injected(leaf, is_mail)]
        return tuple(own or self._implicit_sinks())

    @property
    def _is_sent_read(self) -> bool:
        """Whether a read is named by a verb of sending: `send_draft`, `drafts_send`, with a text
        anywhere (`chat_postMessage`), but not behind a verb of reading (`get_share`)."""
        verbs, words = fields.SEND_VERBS, self._words
        if not verbs.isdisjoint(words[:1]):
            return True
        is_read = not fields.READ_VERBS.isdisjoint(words[:1])
        has_text = any(_is_content(leaf) for leaf in self.all_leaves if _is_explicit(leaf))
        told = words if has_text else words[-1:]
        return not (is_read or (verbs | fields.ENDING_VERBS).isdisjoint(told))

    def _implicit_sinks(self) -> Iterator[Sink]:
        """The destinations of an outward effect without a destination argument: the addresses in
        its texts, else the app itself with these arguments."""
        if self._is_sending and self.open_world is not False:
            found = tuple(_in_texts(self.leaves))
            yield from found or (_app_sink("function", self.leaves),)
        elif self.open_world is True:
            yield _app_sink("open world", self.leaves)

    @cached_property
    def urls(self) -> tuple[Sink, ...]:
        """The URLs that a read opens, of any scheme; a read that also sends something is outward
        (`sinks`)."""
        if not self.is_read:
            return ()
        given = [x for x in self.all_leaves if x.marker != "content" and _is_explicit(x)]
        web = tuple(s for s in self._addresses(given) if s.kind == "url")  # people are looked up
        return () if web and self._read_sinks else web

    @cached_property
    def _read_sinks(self) -> tuple[Sink, ...]:
        """The destinations of a read: names that only receive results, else addresses to which
        content is sent, else people next to a file or text."""
        found = self.all_leaves
        plain = [*filter(_is_explicit, found)]
        given = [x for x in found if _is_explicit(x) or (x.value and not x.is_default)]
        shared = filter(_forwards, given)
        forwarded = (Sink(x.path, x.name, "recipient", str(x.value), "name") for x in shared)
        named = [*self.declared(given), *forwarded]
        if named or (named := self._address_sinks(plain)) or not any(map(_is_content, plain)):
            return tuple(named)
        return tuple(self.declared(filterfalse(_is_payload, plain), fields.BESIDE))

    def _address_sinks(self, plain: Sequence[Leaf]) -> list[Sink]:
        """The addresses of a read if content is sent with them, else those under a name that is
        unusual for a lookup."""
        found = self._addresses(plain)
        places = {s.path for s in found}
        others = [leaf for leaf in plain if leaf.path not in places]
        is_opened = any(s.kind == "url" for s in found)
        if any(map(_reaches_server if is_opened else _is_payload, others)):
            return found
        return [s for s in found if _is_unusual(s)]

    def _addresses(self, found: Sequence[Leaf]) -> list[Sink]:
        """The addresses among the arguments of a read, and the URLs inside other arguments that are
        not content: `command: curl https://…`."""
        whole = {leaf.path: s for leaf in found if (s := self._address(leaf))}
        others = (leaf for leaf in found if leaf.path not in whole and not leaf.is_content)
        return [*whole.values(), *(s for s in _in_texts(others) if s.kind == "url")]

    def _address(self, leaf: Leaf) -> Sink | None:
        """The sink for an address argument of a read, or None."""
        if not isinstance(leaf.value, str) or (leaf.is_secret and not leaf.form):
            return None
        named, why = self._declaration(leaf, fields.EFFECT) or (None, "form")
        is_opened = not fields.OPENED.isdisjoint(leaf.words)
        is_host = is_opened or kind_by_name(leaf.name, fields.CARRYING) == "url"
        is_host |= leaf.value.count(".") > 1  # `report.pdf` is no host, `a.b.example` may be one
        is_host = is_host and bool(is_web_address(leaf.value) or _REMOTE.fullmatch(leaf.value))
        kind = "url" if named == "url" else leaf.form or ("url" if is_host else None)
        return Sink(leaf.path, leaf.name, kind, leaf.value, why) if kind else None

    def _effect_sink(self, leaf: Leaf) -> Sink | None:
        found = None if leaf.is_known_key else self._declaration(leaf) or _by_form(leaf)
        if found is None or not _may_be_address(leaf, found[1]):
            return None
        return Sink(leaf.path, leaf.name, found[0], str(leaf.value), found[1])

    def declared(self, found: Iterable[Leaf], where: int | None = None) -> Iterator[Sink]:
        for leaf in found:
            if kind := self._declaration(leaf, where):
                yield Sink(leaf.path, leaf.name, kind[0], str(leaf.value), kind[1])

    def _declaration(self, leaf: Leaf, where: int | None = None) -> tuple[Kind, str] | None:
        """The (kind, reason) of a parameter by marker, format or name. For a read formats and
        lookup markers do not count; `where` overrides the call's category."""
        is_read = self.is_read and where != fields.EFFECT
        if leaf.marker:
            is_personal = bool(keyword_of(leaf.shapes, "x-pii"))
            is_lookup = is_read and (is_personal or leaf.marker in ("url", "path"))
            kind = None if is_lookup else fields.MARKERS.get(leaf.marker)
            return (kind, "marker") if kind else None
        if not is_read and (kind := fields.FORMATS.get(leaf.format)):
            return kind, "format"
        for name in reversed(leaf.names):
            if kind := kind_by_name(name, self._where if where is None else where, is_read=is_read):
                is_contact = not fields.CONTACTS.isdisjoint(fields.root_of(name))
                is_changed = is_contact and not self._carries and is_id_name(name)
                return None if is_changed else (kind, "name")
        return None

    @cached_property
    def _where(self) -> int:
        """The category of this call, in which parameter names are interpreted."""
        if self.is_read:
            return fields.LEAVING if self._is_sending else fields.ANYWHERE
        # an effect that takes a text or file can send it to someone
        taken = {w for name in properties(self.function.input_schema) for w in words_of(name)}
        is_carrying = self._carries or not fields.CONTENT.isdisjoint(taken)
        return fields.CARRYING if is_carrying else fields.EFFECT

    @property
    def _carries(self) -> bool:
        """Whether the function's name says that it sends or moves something."""
        return self._is_sending or not fields.CARRIES.isdisjoint(self._words)

    @property
    def _is_sending(self) -> bool:
        is_outward = not fields.OUTWARD_VERBS.isdisjoint(self._words[:1])
        return is_outward or not fields.SEND.isdisjoint(self._words)

    @property
    def is_destructive(self) -> bool:
        """Whether the function is declared destructive, or has a destructive verb in its name
        (`delete_file`, `file_delete`); in a read only as first or last word."""
        verbs = (*self._words[:1], *self._words[-1:]) if self.is_read else self._words
        is_declared = self.function.action_type == "destructive"
        return is_declared or not fields.DESTRUCTIVE_VERBS.isdisjoint(verbs)


class Profile(NamedTuple):
    """A function's effect by its declaration, and its destinations, without a value."""

    effect: Effect
    sinks: tuple[Sink, ...] = ()


def classify_function(function: FunctionInfo) -> Profile:
    """Classify a function by its schema alone; a value's format may still make a call outward."""
    call = GuardedCall(function, {})
    known = (p for p in parameters(function.input_schema) if not p.is_secret)
    given = [p for p in known if not (call.is_read and p.is_offered)]  # enums of a read are choices
    own = tuple(call.declared(given))
    if call.is_read:
        opened = tuple(s for s in call.declared(given, fields.EFFECT) if s.kind == "url")
        return Profile("outward" if own else "opens" if opened else "read", own or opened)
    own = own or tuple(s._replace(path="") for s in call.sinks)
    return Profile("destructive" if call.is_destructive else "outward" if own else "write", own)


def _flag_sinks(found: Sequence[Leaf]) -> Iterator[Sink]:
    """Flags and choices by which an effect reaches others: `reply_all`, `private: false`,
    `send_updates: all`, `status: published`."""
    for leaf in found:
        if leaf.marker:
            continue
        if _opens_access(leaf) or _is_send_time(leaf):
            yield Sink(leaf.path, leaf.name, "flag", leaf.name, "name")
        elif _is_option(leaf) and _is_send_choice(leaf):
            yield Sink(leaf.path, leaf.name, "flag", f"{leaf.name}: {leaf.value}", "name")


def _named_by_value(found: Sequence[Leaf]) -> Iterator[Sink]:
    """The destinations whose name is the value of another argument: `field: email, value: …`."""
    for leaf in found:
        name = str(leaf.value)
        if leaf.last in fields.FIELDS and (kind := kind_by_name(name, fields.EFFECT)):
            for v in found:
                if v.last == "value" and v.names[:-1] == leaf.names[:-1]:
                    yield Sink(v.path, name, kind, str(v.value), "name")


def _opens_access(leaf: Leaf) -> bool:
    """Whether a flag gives others access, also `private: false`."""
    words, leaves = leaf.words, has_word(leaf.name, fields.SEND | fields.SHARE)
    is_negated = words[:1] == ["no"]  # `no_email: true` sends nothing
    if leaf.is_set:
        reaches = leaves or words[:1] == ["to"] or kind_by_name(leaf.name, fields.EFFECT)
        return bool(reaches) and not (is_negated or fields.PRIVATE.issuperset(words[:1]))
    is_private = leaves if is_negated else not fields.PRIVATE.isdisjoint(words)
    return leaf.value is False and not leaf.is_default and is_private


def _is_send_time(leaf: Leaf) -> bool:
    """Whether it is a time of sending, or a truthy number: `send_at`, `publish: 1`."""
    leaves = not (fields.SEND - fields.PLACES.keys()).isdisjoint(leaf.words[:1])
    has_value = is_moment(leaf.value) or (type(leaf.value) in (int, float) and bool(leaf.value))
    return leaves and has_value and not (leaf.is_default or is_id_name(leaf.name))


def _is_send_choice(leaf: Leaf) -> bool:
    """Whether a choice means sending or sharing: `mode: send`, `access: anyone_with_link`; if it is
    not the default, also by its name."""
    if has_word(value := str(leaf.value), fields.SEND.difference(fields.PLACES) | fields.SHARE):
        return True
    is_place = not fields.PLACES.keys().isdisjoint(words_of(value))
    is_sharing = is_place or has_word(leaf.name, fields.CARRIES)
    return is_sharing and not (leaf.is_default or leaf.is_content)


def _is_option(leaf: Leaf) -> bool:
    """Whether it is a text that the schema offers, or a single word under a name for one of a few
    (`status`, `send_updates`)."""
    if not isinstance(leaf.value, str) or leaf.is_key:
        return False
    # of a folder called Trash or a city called Live nothing is chosen
    may_be = leaf.last in fields.STATES or has_word(leaf.name, fields.CARRIES)
    is_word = leaf.value.replace("_", "").isalpha() and not leaf.is_item
    return leaf.is_offered or (may_be and is_word)


def _app_sink(why: str, found: Sequence[Leaf]) -> Sink:
    """The app as destination: a yes covers these arguments, except content under a single-word
    name: `chat_title` may be a destination, `title` is not."""
    own = (x for x in found if not (x.is_default or x.is_offered))
    given = [(x.path, x.value) for x in own if not x.is_content or len(x.words) != 1]
    return Sink("", "", "app", json.dumps(given, default=str), why)


def _is_destroy_flag(leaf: Leaf, *, is_read: bool) -> bool:
    """Whether a flag, or in an effect a choice or time, destroys something: `overwrite: true`,
    `status: deleted`, `delete_on: 2026-05-15`."""
    # a read's `include_deleted` shows what is gone
    is_named = not fields.DESTROY.isdisjoint(leaf.words)
    is_named = is_named or (not is_read and has_word(leaf.name, fields.DESTROY))
    is_method = leaf.last in fields.METHODS  # `method: DELETE`
    if leaf.is_set or (is_read and not is_method):
        return is_named and leaf.is_set
    if isinstance(leaf.value, str) and not leaf.is_key:
        says = (is_method or _is_option(leaf)) and has_word(leaf.value, fields.DESTROY)
        return says or (is_named and is_moment(leaf.value))
    return is_named and type(leaf.value) in (int, float)


def _is_explicit(leaf: Leaf) -> bool:
    """Whether an argument of a read is more than a choice or a date; addresses always are."""
    if leaf.value == "" or (isinstance(leaf.value, bool) and not leaf.is_item):
        return False
    return bool(leaf.form) or not (leaf.is_offered or is_moment(leaf.value))


def _is_unusual(sink: Sink) -> bool:
    """Whether the address has a name that is unusual for a lookup: `replicate_to`, `remote`, not
    `sender`, `email`, `to`."""
    words = words_of(sink.name)
    if sink.kind == "url" or not fields.LOOKUP.isdisjoint(words):
        return False
    places = (fields.PLACES.get(word, (fields.LEAVING, None)) for word in words)
    is_user = any(kind in ("recipient", "account") and at != fields.LEAVING for at, kind in places)
    return not is_user or (len(words) > 1 and words[-1] == "to")


def _forwards(leaf: Leaf) -> bool:
    """Whether an argument of a read forwards its result, by its name: `share`."""
    words = leaf.words
    return not fields.FORWARD.isdisjoint(words[:1]) and (len(words) == 1 or leaf.is_set)


def _is_content(leaf: Leaf) -> bool:
    return any(not fields.CONTENT.isdisjoint(words_of(name)) for name in leaf.names)


def _is_payload(leaf: Leaf) -> bool:
    """Whether an argument is a record or text that is sent with an address."""
    return is_id_name(leaf.name) or _is_content(leaf)


def _reaches_server(leaf: Leaf) -> bool:
    """Whether an argument next to an opened URL reaches its server."""
    if _is_payload(leaf):
        return True
    if not isinstance(leaf.value, str) or leaf.value.upper() in ("GET", "HEAD"):
        return False
    return leaf.last not in fields.ABOUT or len(leaf.names) > 1


def _by_form(leaf: Leaf) -> tuple[Kind, str] | None:
    """The kind of an unmarked or secret text by its format: an address, or a host or path under a
    name that may be a destination."""
    if type(leaf.value) is int and not fields.ACCOUNTS.isdisjoint(leaf.words):
        return ("account", "form") if len(str(leaf.value)) >= _MIN_DIGITS else None
    if leaf.marker not in ("", "secret") or not isinstance(leaf.value, str):
        return None
    kind: Kind | None = leaf.form
    may_be = not (leaf.is_offered or is_id_name(leaf.name) or fields.WEAK.isdisjoint(leaf.words))
    if may_be and not kind:
        is_path = _PLACE.search(leaf.value) and " " not in leaf.value.strip()
        kind = "url" if is_web_address(leaf.value) else "path" if is_path else None
    return (kind, "form") if kind else None


def _may_be_address(leaf: Leaf, why: str) -> bool:
    """Whether the value can be a destination: not `guests: 2` (a count), `to: 2026-05-15` (an end),
    nor a secret that is not an address."""
    if why in ("marker", "format"):
        return True
    if isinstance(leaf.value, str):
        is_end = leaf.last == "to" and is_moment(leaf.value)  # `from`, `to`
        return not is_end and not (fields.is_secret_name(leaf.name) and not leaf.form)
    is_long = len(str(leaf.value).lstrip("-").partition(".")[0]) >= _MIN_DIGITS
    may_be_one = is_long or is_id_name(leaf.name) or not leaf.is_count
    return may_be_one or bool(kind_by_name(leaf.name, fields.ANYWHERE))


def _injected(leaf: Leaf, is_mail: bool) -> Iterator[Sink]:
    """Recipients that a text injects as a mail header, and the addresses in instructions."""
    if leaf.last in fields.INSTRUCTIONS:
        yield from _in_texts([leaf])
    if isinstance(leaf.value, str):
        is_body = leaf.last in fields.PLAIN_TEXT
        for value in header_recipients(leaf.value, is_body=is_body, is_mail=is_mail):
            yield Sink(leaf.path, leaf.name, "recipient", value, "form")


def _in_texts(found: Iterable[Leaf]) -> Iterator[Sink]:
    """The addresses in the texts of a call, without marked content."""
    for leaf in found:
        if isinstance(leaf.value, str) and leaf.marker != "content":
            for value in addresses_in(leaf.value):
                kind: Kind = "recipient" if "@" in value and "://" not in value else "url"
                yield Sink(leaf.path, leaf.name, kind, value, "form")
