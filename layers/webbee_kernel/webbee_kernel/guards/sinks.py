"""Sinks: the destinations of a call, and how each was recognised. Pure.

In this order, at any depth: the author's marker (`x-directs`), the schema's format, common
parameter names, the value's format, MCP's open-world hint. Names are identifiers, mostly English;
messages are not read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from ..catalogue import OPEN_WORLD, FunctionInfo
from ..types import JSON
from . import field_names as fields
from .addresses import addresses_in, header_recipients, is_moment, is_web_address
from .arguments import Leaf, all_leaves, is_content, is_known_key, leaves, parameters
from .field_names import Kind, has_word, is_count, is_id_name, kind_by_name, words_of

Effect = Literal["read", "opens", "write", "outward", "destructive"]
"""The effect of a call; `opens` is a read that opens a URL."""

_MIN_DIGITS = 5
"""Minimum digits for a number under a sink's name to be an address, not a count."""
_REMOTE = re.compile(r"(?i)(?:[\w-]+\.)+[a-z]{2,24}:\S+")
"""A path on another machine, as git and scp write it."""
_PLACE = re.compile(r"[/\\@]|\w:")
"""Characters that occur in paths and not in words."""


class Sink(NamedTuple):
    """A destination: the argument's path and name, its kind and whole value, and the reason
    (`marker`, `format`, `form`, `name`, `open world`, `function`)."""

    path: str
    name: str
    kind: Kind
    value: str
    reason: str


def sinks(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Sink, ...]:
    """The destinations of this call, each once; empty if it is not outward. For URLs that a read
    opens see `urls`."""
    if function.action_type == "read":
        found = all_leaves(function, arguments)
        # declared a read, and named by a verb of sending
        is_sent = not fields.SEND_VERBS.isdisjoint(words_of(function.fn_name)[:1])
        sent = (_app_sink("function", found),) if is_sent else ()
        return _read_sinks(function, found) or sent
    found = leaves(function, arguments)
    own = [s for leaf in found if (s := _effect_sink(function, leaf))]
    own += _flag_sinks(all_leaves(function, arguments))  # `notify_all: true` has no address
    own += _named_by_value(found)
    is_mail = any(s.kind == "recipient" for s in own)  # then `Cc:` in its text is a header
    own += [s for leaf in found for s in _injected(leaf, is_mail)]
    return tuple(own) or _implicit_sinks(function, found)


def _implicit_sinks(function: FunctionInfo, found: Sequence[Leaf]) -> tuple[Sink, ...]:
    """The destinations of an outward effect without a destination argument: the addresses in its
    texts, else the app itself with these arguments."""
    open_world = function.input_schema.get(OPEN_WORLD)
    if _is_sending(function) and open_world is not False:
        return tuple(_in_texts(found)) or (_app_sink("function", found),)
    return (_app_sink("open world", found),) if open_world is True else ()


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
    values = [leaf for leaf in found if words_of(leaf.name)[-1:] == ["value"]]
    names = (leaf for leaf in found if not fields.FIELDS.isdisjoint(words_of(leaf.name)[-1:]))
    for leaf in names:
        if kind := kind_by_name(str(leaf.value), fields.EFFECT, is_read=False):
            beside = (v for v in values if v.names[:-1] == leaf.names[:-1])
            yield from (Sink(v.path, str(leaf.value), kind, str(v.value), "name") for v in beside)


def _opens_access(leaf: Leaf) -> bool:
    """Whether a flag gives others access, also `private: false`."""
    words, leaves = words_of(leaf.name), has_word(leaf.name, fields.SEND | fields.SHARE)
    is_negated = words[:1] == ["no"]  # `no_email: true` sends nothing
    if leaf.is_set:
        reaches = leaves or words[:1] == ["to"] or _by_name(leaf, fields.EFFECT)
        return bool(reaches) and not (is_negated or fields.PRIVATE.issuperset(words[:1]))
    is_private = leaves if is_negated else not fields.PRIVATE.isdisjoint(words)
    return leaf.value is False and not leaf.is_default and is_private


def _by_name(leaf: Leaf, where: int) -> Kind | None:
    return kind_by_name(leaf.name, where, is_read=False)


def _is_send_time(leaf: Leaf) -> bool:
    """Whether it is a time of sending, or a truthy number: `send_at`, `publish: 1`."""
    leaves = not (fields.SEND - fields.PLACES.keys()).isdisjoint(words_of(leaf.name)[:1])
    has_value = is_moment(leaf.value) or (type(leaf.value) in (int, float) and bool(leaf.value))
    return leaves and has_value and not (leaf.is_default or is_id_name(leaf.name))


def _is_send_choice(leaf: Leaf) -> bool:
    """Whether a choice means sending or sharing: `mode: send`, `access: anyone_with_link`; if it is
    not the default, also by its name."""
    if has_word(value := str(leaf.value), fields.SEND.difference(fields.PLACES) | fields.SHARE):
        return True
    is_sharing = has_word(leaf.name, fields.CARRIES) or not fields.PLACES.keys().isdisjoint(
        words_of(value)
    )
    return not leaf.is_default and not is_content(leaf) and is_sharing


def _is_option(leaf: Leaf) -> bool:
    """Whether it is a text that the schema offers, or a single word under a name for one of a few
    (`status`, `send_updates`)."""
    if not isinstance(leaf.value, str) or leaf.is_key:
        return False
    is_state = not fields.STATES.isdisjoint(words_of(leaf.name)[-1:])
    # of a folder called Trash or a city called Live nothing is chosen
    may_be = is_state or has_word(leaf.name, fields.CARRIES)
    is_word = leaf.value.replace("_", "").isalpha() and not leaf.is_item
    return leaf.is_offered or (may_be and is_word)


def urls(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Sink, ...]:
    """The URLs that a read opens, of any scheme; a read that also sends something is outward
    (`sinks`)."""
    if function.action_type != "read":
        return ()
    found = all_leaves(function, arguments)
    given = [leaf for leaf in found if leaf.marker != "content" and _is_explicit(leaf)]
    web = tuple(s for s in _addresses(function, given) if s.kind == "url")  # people are looked up
    return () if web and _read_sinks(function, found) else web


def effect_of(function: FunctionInfo, arguments: Mapping[str, JSON]) -> Effect:
    """The effect of this call."""
    own = (leaf for leaf in all_leaves(function, arguments) if not (leaf.is_default or leaf.marker))
    is_read = function.action_type == "read"
    if _is_destructive(function) or any(_is_destroy_flag(x, is_read=is_read) for x in own):
        return "destructive"
    if sinks(function, arguments):
        return "outward"
    if function.action_type != "read":
        return "write"
    return "opens" if urls(function, arguments) else "read"


class Profile(NamedTuple):
    """A function's effect by its declaration, and its destinations as (path, kind, reason)."""

    effect: Effect
    sinks: tuple[tuple[str, Kind, str], ...] = ()


def classify_function(function: FunctionInfo) -> Profile:
    """Classify a function by its schema alone; a value's format may still make a call outward."""
    own = _static(function)
    if function.action_type == "read":
        urls = tuple(t for t in _static(function, fields.EFFECT) if t[1] == "url")
        return Profile("outward", own) if own else Profile("opens" if urls else "read", urls)
    own = own or tuple(("", s.kind, s.reason) for s in sinks(function, {}))
    effect: Effect = "outward" if own else "write"
    return Profile("destructive" if _is_destructive(function) else effect, own)


def _static(function: FunctionInfo, where: int | None = None) -> tuple[tuple[str, Kind, str], ...]:
    """The destination parameters of a schema; not the enums of a read."""
    is_read = function.action_type == "read"
    return tuple(
        (parameter.path, *kind)
        for parameter in parameters(function.input_schema)
        if not (parameter.is_secret or (is_read and parameter.is_offered))
        and (kind := _declaration(function, parameter, where))
    )


NO_ARGUMENTS: Final = "[]"
"""The value of an app sink for a call that has only content arguments."""


def _app_sink(why: str, found: Sequence[Leaf]) -> Sink:
    """The app as destination: a yes covers these arguments, except content under a single-word
    name: `chat_title` may be a destination, `title` is not."""
    own = (x for x in found if not (x.is_default or x.is_offered))
    telling = (x for x in own if not is_content(x) or len(words_of(x.name)) != 1)
    given = [(leaf.path, leaf.value) for leaf in telling]
    return Sink("", "", "app", json.dumps(given, default=str), why)


def _is_sending(function: FunctionInfo) -> bool:
    words = words_of(function.fn_name)
    return not (fields.SEND.isdisjoint(words) and fields.OUTWARD_VERBS.isdisjoint(words[:1]))


def _is_destructive(function: FunctionInfo) -> bool:
    """Whether a function is declared destructive, or has a destructive verb in its name
    (`delete_file`, `file_delete`); in a read only as first or last word."""
    words = words_of(function.fn_name)
    verbs = (*words[:1], *words[-1:]) if function.action_type == "read" else words
    return function.action_type == "destructive" or not fields.DESTRUCTIVE_VERBS.isdisjoint(verbs)


def _is_destroy_flag(leaf: Leaf, *, is_read: bool) -> bool:
    """Whether a flag, or in an effect a choice or time, destroys something: `overwrite: true`,
    `status: deleted`, `delete_on: 2026-05-15`."""
    # a read's `include_deleted` shows what is gone
    is_named = not fields.DESTROY.isdisjoint(words_of(leaf.name))
    is_named = is_named or (not is_read and has_word(leaf.name, fields.DESTROY))
    if leaf.is_set or (is_read and not _is_method(leaf)):
        return is_named and leaf.is_set
    if isinstance(leaf.value, str) and not leaf.is_key:
        says = (_is_option(leaf) or _is_method(leaf)) and has_word(leaf.value, fields.DESTROY)
        return says or (is_named and is_moment(leaf.value))
    return is_named and type(leaf.value) in (int, float)


def _is_method(leaf: Leaf) -> bool:
    """Whether it is the method of a call: `method: DELETE`."""
    return not fields.METHODS.isdisjoint(words_of(leaf.name)[-1:])


def _effect_sink(function: FunctionInfo, leaf: Leaf) -> Sink | None:
    found = None if is_known_key(leaf) else _declaration(function, leaf) or _by_form(leaf)
    if found is None or not _may_be_address(leaf, found[1]):
        return None
    return Sink(leaf.path, leaf.name, found[0], str(leaf.value), found[1])


def _read_sinks(function: FunctionInfo, found: Sequence[Leaf]) -> tuple[Sink, ...]:
    """The destinations of a read: names that only receive results, else addresses to which content
    is sent, else people next to a file or text."""
    plain = [leaf for leaf in found if _is_explicit(leaf)]
    given = [x for x in found if _is_explicit(x) or (x.value and not x.is_default)]
    forwarded = (
        Sink(x.path, x.name, "recipient", str(x.value), "name")
        for x in filter(_is_forwarding, given)
    )
    return (
        (*_sinks(function, given), *forwarded)
        or _address_sinks(function, plain)
        or tuple(_sinks(function, _beside_content(plain), fields.BESIDE))
    )


def _address_sinks(function: FunctionInfo, plain: Sequence[Leaf]) -> tuple[Sink, ...]:
    """The addresses of a read if content is sent with them, else those under a name that is unusual
    for a lookup."""
    found = _addresses(function, plain)
    places = {s.path for s in found}
    others = [leaf for leaf in plain if leaf.path not in places]
    is_opened = any(s.kind == "url" for s in found)
    if found and any(map(_reaches_server if is_opened else _is_payload, others)):
        return found
    return tuple(s for s in found if _is_unusual(s))


def _beside_content(plain: Sequence[Leaf]) -> list[Leaf]:
    """The other arguments next to a file or text, without ids."""
    others = [leaf for leaf in plain if not (_is_content(leaf) or is_id_name(leaf.name))]
    return others if any(map(_is_content, plain)) else []


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


def _sinks(
    function: FunctionInfo, found: Sequence[Leaf], where: int | None = None
) -> Iterator[Sink]:
    for leaf in found:
        if kind := _declaration(function, leaf, where):
            yield Sink(leaf.path, leaf.name, kind[0], str(leaf.value), kind[1])


def _is_forwarding(leaf: Leaf) -> bool:
    """Whether an argument of a read forwards its result, by its name: `share`."""
    words = words_of(leaf.name)
    return not fields.FORWARD.isdisjoint(words[:1]) and (len(words) == 1 or leaf.is_set)


def _addresses(function: FunctionInfo, found: Sequence[Leaf]) -> tuple[Sink, ...]:
    """The addresses among the arguments of a read, and the URLs inside other arguments that are not
    content: `command: curl https://…`."""
    whole = {leaf.path: s for leaf in found if (s := _address(function, leaf))}
    others = (leaf for leaf in found if leaf.path not in whole and not is_content(leaf))
    return (*whole.values(), *(s for s in _in_texts(others) if s.kind == "url"))


def _address(function: FunctionInfo, leaf: Leaf) -> Sink | None:
    """The sink for an address argument of a read, or None."""
    if not isinstance(leaf.value, str):
        return None
    named, why = _declaration(function, leaf, fields.EFFECT) or (None, "form")
    if leaf.is_secret and not leaf.form:
        return None
    is_opened = not fields.OPENED.isdisjoint(words_of(leaf.name))
    is_host = is_opened or _by_name(leaf, fields.CARRYING) == "url"
    is_host = is_host and bool(is_web_address(leaf.value) or _REMOTE.fullmatch(leaf.value))
    kind = "url" if named == "url" else leaf.form or ("url" if is_host else None)
    return Sink(leaf.path, leaf.name, kind, leaf.value, why) if kind else None


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
    return fields.ABOUT.isdisjoint(words_of(leaf.name)[-1:]) or len(leaf.names) > 1


def _by_form(leaf: Leaf) -> tuple[Kind, str] | None:
    """The kind of an unmarked or secret text by its format: an address, or a host or path under a
    name that may be a destination."""
    if type(leaf.value) is int and not fields.ACCOUNTS.isdisjoint(words_of(leaf.name)):
        return ("account", "form") if len(str(leaf.value)) >= _MIN_DIGITS else None
    if leaf.marker not in ("", "secret") or not isinstance(leaf.value, str):
        return None
    kind = leaf.form or (None if leaf.is_offered else _location(leaf.name, leaf.value))
    return (kind, "form") if kind else None


def _location(name: str, value: str) -> Kind | None:
    """The kind of a host or path under a name that may be a destination."""
    if is_id_name(name) or fields.WEAK.isdisjoint(words_of(name)):
        return None
    if is_web_address(value):
        return "url"
    return "path" if _PLACE.search(value) and " " not in value.strip() else None


def _declaration(
    function: FunctionInfo, leaf: Leaf, where: int | None = None
) -> tuple[Kind, str] | None:
    """The (kind, reason) of a parameter by marker, format or name. For a read formats and lookup
    markers do not count; `where` overrides the call's category."""
    is_read = function.action_type == "read" and where != fields.EFFECT
    if leaf.marker:
        is_lookup = is_read and (leaf.is_personal or leaf.marker in ("url", "path"))
        kind = None if is_lookup else fields.MARKERS.get(leaf.marker)
        return (kind, "marker") if kind else None
    if not is_read and (kind := fields.FORMATS.get(leaf.format)):
        return kind, "format"
    where = _where(function) if where is None else where
    for name in reversed(leaf.names):
        is_changed = not _carries(function) and not fields.CONTACTS.isdisjoint(fields.root_of(name))
        if kind := kind_by_name(name, where, is_read=is_read):
            return None if is_changed and is_id_name(name) else (kind, "name")
    return None


def _where(function: FunctionInfo) -> int:
    """The category of a call, in which parameter names are interpreted."""
    if function.action_type == "read":
        return fields.LEAVING if _is_sending(function) else fields.ANYWHERE
    return fields.CARRYING if _carries(function) or _takes_content(function) else fields.EFFECT


def _carries(function: FunctionInfo) -> bool:
    """Whether the function's name says that it sends or moves something."""
    return _is_sending(function) or not fields.CARRIES.isdisjoint(words_of(function.fn_name))


def _takes_content(function: FunctionInfo) -> bool:
    """Whether an effect takes a text or file that can be sent to someone."""
    properties = function.input_schema.get("properties")
    names = properties if isinstance(properties, dict) else {}
    return any(not fields.CONTENT.isdisjoint(words_of(str(name))) for name in names)


def _may_be_address(leaf: Leaf, why: str) -> bool:
    """Whether the value can be a destination: not `guests: 2` (a count), `to: 2026-05-15` (an end),
    nor a secret that is not an address."""
    if why in ("marker", "format"):
        return True
    if isinstance(leaf.value, str):
        is_end = words_of(leaf.name)[-1:] == ["to"] and is_moment(leaf.value)  # `from`, `to`
        return not is_end and not (fields.is_secret_name(leaf.name) and not leaf.form)
    is_long = len(str(leaf.value).lstrip("-").partition(".")[0]) >= _MIN_DIGITS
    is_one = leaf.is_item or is_id_name(leaf.name) or not is_count(leaf.name)
    return is_long or is_one or bool(_by_name(leaf, fields.ANYWHERE))


def _injected(leaf: Leaf, is_mail: bool) -> Iterator[Sink]:
    """Recipients that a text injects as a mail header, and the addresses in instructions."""
    if not fields.INSTRUCTIONS.isdisjoint(words_of(leaf.name)[-1:]):
        yield from _in_texts([leaf])
    if isinstance(leaf.value, str):
        is_body = words_of(leaf.name)[-1:] in ([word] for word in fields.PLAIN_TEXT)
        for value in header_recipients(leaf.value, is_body=is_body, is_mail=is_mail):
            yield Sink(leaf.path, leaf.name, "recipient", value, "form")


def _in_texts(found: Iterable[Leaf]) -> Iterator[Sink]:
    """The addresses in the texts of a call, without marked content."""
    for leaf in found:
        if isinstance(leaf.value, str) and leaf.marker != "content":
            for value in addresses_in(leaf.value):
                kind: Kind = "recipient" if "@" in value and "://" not in value else "url"
                yield Sink(leaf.path, leaf.name, kind, value, "form")
