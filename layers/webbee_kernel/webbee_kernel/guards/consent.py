"""Consent policy: which calls run at once and which are proposed. Pure.

- **outward**: runs if the user has accepted this destination for this function, the message names
  each file or record that is sent, and other undeclared content is in the user's own words
- **destructive**: always proposed
- **other writes**: run if each text is in the user's own words and each id is of the record that
  the message names, or of the only one of its kind that the last reply showed
- **reads that open a URL**: run if it was typed whole in this message, or its host was accepted by
  the user or the operator

Whether a message requests an effect is never inferred from its words: prompt injection could
imitate them. Buttons and forms do not come here (`POST /v1/extensions/{app_id}/call`, a card's
yes).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple

from ..catalogue import OPEN_WORLD, FunctionInfo
from ..types import JSON
from .addresses import form_of, has_address, host_of, id_digits, is_date, is_network_url, key_of
from .arguments import Leaf, all_leaves, is_content, is_id, is_known_key, leaves, parameters
from .field_names import (
    ABOUT,
    CONTENT,
    EXCEPT,
    INCLUDES,
    PAYLOADS,
    is_count,
    is_id_name,
    kind_of,
    words_of,
)
from .references import References
from .sinks import NO_ARGUMENTS, Sink, effect_of, sinks, urls
from .user_words import UserWords, words_in

Given = Mapping[str, JSON]
Rule = Literal["bound", "all", "destructive"]
"""The operator's setting: this policy, propose every effect, or only destructive ones."""


class Basis(NamedTuple):
    """What a call's values are checked against: the message, the words and records of the
    conversation, and the accepted destinations (`key_of`)."""

    message: str
    """The user's typed text, without the text of a button."""
    words: UserWords
    """The message and, for a plain yes, the question in which the reply ends: what a search takes
    along."""
    records: References
    """With the words of all of the reply that a plain yes answers, for plain writes."""
    typed: References
    """The records by the typed words only: content of outward effects must be named by this
    message."""
    accepted: Collection[str] = ()
    hosts: Collection[str] = ()
    """Hosts that the operator allows reads to open."""
    rule: Rule = "bound"
    turn_values: Collection[str] = ()
    """The argument values of this turn's calls, finished and planned."""
    has_message: bool = True
    """False for a client that acts for the user, whose message is unknown."""
    schemes: Collection[str] = ()
    """URL schemes that belong to the app."""


def needs_consent(function: FunctionInfo, arguments: Given, basis: Basis) -> bool:
    """Whether this call must be proposed; else it may run at once."""
    effect = effect_of(function, arguments)
    # a read of the user's own apps binds nothing
    if effect == "read" and function.input_schema.get(OPEN_WORLD) is not True:
        return False
    # whatever was said: typing a name is no consent to lose the thing
    if effect == "destructive" or basis.rule == "destructive":
        return effect == "destructive"
    is_effect = effect not in ("read", "opens")
    return (basis.rule == "all" and is_effect) or _UNBOUND[effect](function, arguments, basis)


def may_need_consent(function: FunctionInfo, arguments: Given) -> bool:
    """Whether the policy applies to this call; not to most reads."""
    outer = function.input_schema.get(OPEN_WORLD) is True
    return outer or effect_of(function, arguments) != "read"


def destinations(function: FunctionInfo, arguments: Given) -> tuple[tuple[Sink, str], ...]:
    """The destinations of a call, each with the key under which its acceptance is stored."""
    which = function.app_id, function.fn_name
    found = [(s, key_of(*which, s.kind, s.value, s.path)) for s in sinks(function, arguments)]
    found += [
        (s, key_of(*which, "host", host)) if (host := host_of(s.value)) else (s, "")
        for s in urls(function, arguments)
    ]
    is_open = function.input_schema.get(OPEN_WORLD) is True
    # no argument says where to: the search engine behind it is the destination
    if is_open and not found and function.action_type == "read":
        given = json.dumps([(x.path, x.value) for x in leaves(function, arguments)], default=str)
        found = [(Sink("", "", "app", given, "open world"), key_of(*which, "app", given))]
    return tuple({(s.path, s.value): (s, key) for s, key in found}.values())


def _is_unbound_write(function: FunctionInfo, arguments: Given, basis: Basis) -> bool:
    """Whether a write has an argument that is not bound to the user."""
    # an MCP or OpenAI client speaks for the user: its host has shown him the call
    if not basis.has_message:
        return False
    given = [*leaves(function, arguments)]
    binding = [*_binding(function, given, basis.records)]
    if not all(_is_bound(x, function, basis, given) for x in binding):
        return True
    is_about = any(is_id(x, function) or _is_text(x) for x in binding)
    is_said = is_about or _mentions_call(basis.records.words, function, given)
    return not is_said or _is_emptied(function, arguments, given)


def _binding(function: FunctionInfo, given: list[Leaf], records: References) -> Iterator[Leaf]:
    """The arguments that have to be bound; enumerations and defaults bind nothing."""
    for leaf in given:
        if not (leaf.is_offered or leaf.is_absent or _is_key(leaf, records)):
            yield _as_id(leaf, function, given, records)


def _is_emptied(function: FunctionInfo, arguments: Given, given: list[Leaf]) -> bool:
    """Whether an update empties a text or a list, unless empty is its default; an update to nothing
    is a deletion."""
    if given and not any(is_id(leaf, function) for leaf in given):
        return False
    rules = function.input_schema.get("properties") or {}
    found = (x for x in all_leaves(function, arguments) if x.value != "" and not x.is_key)
    empty = arguments.keys() - {x.names[0] for x in found}
    return any(rules.get(name, {}).get("default", ...) != arguments[name] for name in empty)


def _as_id(leaf: Leaf, function: FunctionInfo, given: list[Leaf], records: References) -> Leaf:
    """A number that is a record's id as an id leaf: if its name is the record's kind (`order: 7`),
    or, unless the user said the number, if no other argument identifies the record or a sibling id
    is given."""
    number, kind = id_digits(leaf.value), kind_of(leaf.name, "")
    known = records.of(number, "", function.app_id)
    is_one, name = (bool(kind) and (leaf.is_item or not is_count(leaf.name)), f"{leaf.name}_id")
    # `order: 7` is the order 7 where one is known, and a quantity elsewhere
    if is_one and any(r.kind for r in records.of(number, name, function.app_id)):
        return leaf._replace(value=number, names=(name,))
    is_in_words = bool(kind) and records.words.has_all(number)
    is_id = known and not is_in_words and _may_be_id(leaf, function, given, records)
    return leaf._replace(value=number, names=("id",)) if is_id else leaf


def _may_be_id(leaf: Leaf, function: FunctionInfo, given: list[Leaf], records: References) -> bool:
    """Whether a number may be an id: it is required or the only argument and there is no id, or it
    is a record of the same kind as a given id."""
    top, needed = leaf.names[:1], function.input_schema.get("required") or ()
    is_needed = {*top} <= {*needed} or all(x.names[:1] == top for x in given)
    ids = [x for x in given if is_id(x, function)]
    return _is_sibling(leaf, function.app_id, ids, records) if ids else is_needed


def _is_sibling(leaf: Leaf, app_id: str, ids: list[Leaf], records: References) -> bool:
    """Whether a number is the id of a record of the same kind as `ids`, under a name that is
    neither a count nor a field of results (`priority`)."""
    if leaf.name in records.keys or (is_count(leaf.name) and not leaf.is_item):
        return False
    kinds = {r.kind for x in ids for r in records.of(x.value, x.name, app_id)}
    return any(r.kind in kinds for r in records.of(id_digits(leaf.value), "", app_id))


def _is_unbound_outward(function: FunctionInfo, arguments: Given, basis: Basis) -> bool:
    """Whether a destination is not accepted, or content for it was neither said nor accepted by the
    user."""
    found = destinations(function, arguments)
    if not {key for _, key in found}.issubset(basis.accepted):
        return True
    choices = _choices(function, arguments, found)
    given = _terms(function, arguments, found)
    left_out = function.input_schema.get("properties", {}).keys() - given
    if not _term_keys(function, left_out, found).isdisjoint(basis.accepted):
        return True  # a default decides what goes along now
    known = {s.path for s, _ in found} | {p for p, key in choices if key in basis.accepted}
    # "send Anna's report to Anna" must not name a record called Anna by who gets it
    records = basis.typed.without(s.value for s, _ in found)
    content = [leaf for leaf in all_leaves(function, arguments) if leaf.path not in known]
    # a date beside no text says which of many go along
    is_textless = not any(leaf.value and is_content(leaf) for leaf in content)
    is_bare = is_textless or any(s.value == NO_ARGUMENTS for s, _ in found)
    return any(_is_unbound(leaf, function, records, is_bare) for leaf in content)


def consent_keys(function: FunctionInfo, arguments: Given) -> tuple[str, ...]:
    """The keys that a yes to this call accepts: its destinations, the choices made with them, and
    the names of what else was given."""
    found = destinations(function, arguments)
    choices = _choices(function, arguments, found)
    terms = sorted(_term_keys(function, _terms(function, arguments, found), found))
    return (*(key for _, key in (*found, *choices) if key), *terms)


def _choices(
    function: FunctionInfo, arguments: Given, found: Sequence[tuple[Sink, str]]
) -> Iterator[tuple[str, str]]:
    """The paths of enum values in a call, each with the key under which its acceptance for these
    destinations is stored."""
    targets, which = sorted(key for _, key in found), (function.app_id, function.fn_name)
    for leaf in all_leaves(function, arguments) if found else ():
        if leaf.is_choice:
            yield leaf.path, key_of(*which, "app", json.dumps([leaf.value, targets]), leaf.path)


def _terms(function: FunctionInfo, arguments: Given, found: Sequence[tuple[Sink, str]]) -> set[str]:
    """The parameters of an outward call that are given, except addresses, texts, files and
    records."""
    given = [x for x in all_leaves(function, arguments) if found and x.names and not x.is_key]
    own = (x for x in given if not (x.is_default or x.value == ""))
    return {x.names[0] for x in own if _is_term(x, function)}


def _is_term(leaf: Leaf, function: FunctionInfo) -> bool:
    """Whether an argument may say how much goes along."""
    if isinstance(leaf.value, str) and (is_content(leaf) or form_of(leaf.value)):
        return False
    if leaf.is_offered and not any(shape.get("default") for shape in leaf.shapes):
        return False  # without it nothing is chosen
    return not (is_id(leaf, function) or PAYLOADS & {*words_of(leaf.name)})


def _term_keys(
    function: FunctionInfo, names: Iterable[str], found: Sequence[tuple[Sink, str]]
) -> set[str]:
    """The keys that remember that these parameters were given when a destination was accepted."""
    which, targets = (function.app_id, function.fn_name, "app"), sorted(key for _, key in found)
    return {key_of(*which, to, name) for name in names for to in targets[:_MAX_TARGETS]}


_MAX_TARGETS: Final = 4
"""Destinations of a call for which the parameters given with them are remembered."""


def _is_unbound(leaf: Leaf, function: FunctionInfo, records: References, is_bare: bool) -> bool:
    """Whether content is not in the message: a file or record that it does not name, a number, a
    flag, a choice, or foreign words under a name without a known purpose. `is_bare`: the call has
    no other argument or destination, so even known names must be in the message."""
    if not (leaf.value or leaf.is_cleared):
        return leaf.is_item and leaf.value != ""
    if leaf.is_default:
        return False
    is_payload = not leaf.is_offered and _is_payload(function, leaf.name, leaf.value, records)
    if is_payload and not leaf.is_set:
        return not _is_named_whole(leaf, function, records)
    is_plain = not (is_payload or is_bare) and _has_purpose(leaf)
    return not is_plain and not records.words.has_text(leaf.phrase)


def _has_purpose(leaf: Leaf) -> bool:
    """Whether it is not a number and its name states its purpose."""
    if not leaf.is_set and (isinstance(leaf.value, int | float) or id_digits(leaf.value)):
        return False
    words = words_of(leaf.name)
    if leaf.is_set and not INCLUDES.isdisjoint(words):  # what it takes along has to be said
        return False
    if leaf.is_choice and not CONTENT.isdisjoint(words) and ABOUT.isdisjoint(words[-1:]):
        return False
    return is_content(leaf) or is_date(leaf.value) or is_known_key(leaf)


def _is_named_whole(leaf: Leaf, function: FunctionInfo, records: References) -> bool:
    """Whether the message names a payload by its full label with file extension, or by its id; a
    label of a single word does not count."""
    which = leaf.value, leaf.name, function.app_id
    labels = {r.label for r in records.of(*which) if r.label}
    is_whole = all(not x.isalpha() and records.words.has_phrase(x) for x in labels)
    is_typed = not str(leaf.value).isdecimal() and records.words.has_phrase(str(leaf.value))
    return (is_typed or (bool(labels) and is_whole)) and records.is_named(*which)


def _is_payload(function: FunctionInfo, name: str, value: object, records: References) -> bool:
    """Whether an argument of an outward call is a file or record that is sent, by its name or
    because its value is a known record."""
    words = set(words_of(name))
    is_named = is_id_name(name) or name == function.id_projection or bool(words & PAYLOADS)
    return is_named or (isinstance(value, str) and records.is_known(value))


def _is_unbound_open(function: FunctionInfo, arguments: Given, basis: Basis) -> bool:
    """Whether a read has a URL that it may not open."""
    found = urls(function, arguments)
    places = {s.path: s.value for s in found}
    rest = _extras(function, arguments, basis.typed.words)
    # a link within a text takes the rest of that along
    is_bare = all(places[x.path] == x.value if x.path in places else _is_choice(x) for x in rest)
    return not all(_may_open(s, function, basis, is_bare) for s in found)


def _is_choice(leaf: Leaf) -> bool:
    """Whether it is a short option such as `en-US`: one or two words without digits."""
    words = words_in(str(leaf.value))
    # a language or a unit; more words could carry what the model has read
    is_short = len(words) < 3 and not any(map(str.isdecimal, "".join(words)))
    return is_short and not (leaf.is_key or leaf.is_item)


def _may_open(sink: Sink, function: FunctionInfo, basis: Basis, is_bare: bool) -> bool:
    # typed whole, and nothing else goes along
    if is_bare and basis.has_message and has_address(sink.value, basis.message):
        return True
    # `memo://…`: only this app can open it
    if not is_network_url(sink.value):  # an app's own name of a thing
        is_own_scheme = sink.value.partition("://")[0] in basis.schemes
        return is_own_scheme or basis.records.has_value(function.app_id, sink.value)
    # a host that is not plain is nobody's, and never accepted
    host = host_of(sink.value)
    if not host:
        return False
    key = key_of(function.app_id, function.fn_name, "host", host)
    return host in basis.hosts or key in basis.accepted


def _is_unbound_search(function: FunctionInfo, arguments: Given, basis: Basis) -> bool:
    """Whether an open-world read has an argument from neither the user's words nor this app."""
    [(_, key)] = destinations(function, arguments)
    if key in basis.accepted:
        return False
    # a schema that declares nothing takes anything: all of it counts
    if not any(parameters(function.input_schema)):
        return bool(arguments)
    query = _extras(function, arguments, basis.words)
    is_result = partial(basis.records.has_value, function.app_id)
    return not all(is_result(str(leaf.value)) for leaf in query)


def _extras(function: FunctionInfo, arguments: Given, words: UserWords) -> Iterator[Leaf]:
    """The arguments of a read that the user did not say and the schema does not offer."""
    given = (x for x in all_leaves(function, arguments) if not x.is_absent)
    found = [x for x in given if x.is_item or not isinstance(x.value, bool)]
    numbers = [x.path for x in found if _is_plain_number(x)][:_MAX_NUMBERS]
    for leaf in found:
        group = _siblings(leaf, found)
        # a choice repeated in a list could count out a secret
        is_plain = len({*group}) == len(group) if leaf.is_offered else _is_plain(leaf, numbers)
        if not (is_plain or words.has_text(str(leaf.value), group)) and (
            leaf.value != "" or leaf.is_item
        ):
            yield leaf


def _siblings(leaf: Leaf, found: Iterable[Leaf]) -> tuple[str, ...]:
    """All values of a call under the same name, such as the items of a list."""
    return tuple(str(x.value) for x in found if x.names == leaf.names and x.is_key == leaf.is_key)


_UNBOUND: Final = {
    "write": _is_unbound_write,
    "outward": _is_unbound_outward,
    "opens": _is_unbound_open,
    "read": _is_unbound_search,
}


def _is_plain(leaf: Leaf, numbers: Collection[str]) -> bool:
    """Whether it carries little information: a date, a common field name, or one of the first two
    small numbers."""
    if isinstance(leaf.value, int | float):
        return leaf.path in numbers
    return (is_date(leaf.value) and not leaf.is_item) or is_known_key(leaf)


def _is_plain_number(leaf: Leaf) -> bool:
    """Whether it is a whole number of at most two digits."""
    if not isinstance(leaf.value, int | float) or leaf.is_item:
        return False
    return abs(leaf.value) < _SMALL and leaf.value == int(leaf.value)


_SMALL, _MAX_NUMBERS = 100, 2


def _is_bound(leaf: Leaf, function: FunctionInfo, basis: Basis, given: list[Leaf]) -> bool:
    """Whether an argument of a plain write is bound to the user, or needs no binding: numbers and
    dates."""
    words = basis.records.words
    if _is_row_selector(leaf, function):
        return words.has_text(leaf.phrase)
    if is_id(leaf, function):
        return _is_named_record(leaf, function, basis, given)
    text = str(leaf.value)
    # quantities and dates of a write that stays here bind nothing
    if not _is_text(leaf):
        return True
    return words.has_text(text, _siblings(leaf, given)) or (
        basis.records.is_known(text) and _is_named_record(leaf, function, basis, given)
    )


_POSITIONS = EXCEPT | {"row", "index", "nth", "slice"}
"""Names of row selectors: their number must be in the user's words."""


def _is_row_selector(leaf: Leaf, function: FunctionInfo) -> bool:
    """Whether an argument selects records by position or by exclusion."""
    own = leaf.path.rstrip(".0123456789").rpartition(".")[2]
    return not (EXCEPT if is_id(leaf, function) else _POSITIONS).isdisjoint(words_of(own))


def _is_key(leaf: Leaf, records: References) -> bool:
    """Whether it is a common object key, or one from a result."""
    return is_known_key(leaf) or (leaf.is_key and str(leaf.value) in records.keys)


def _is_text(leaf: Leaf) -> bool:
    """Whether it is a text other than a date, also a number that the schema takes as one."""
    kinds = {shape.get("type") for shape in leaf.shapes} - {None, "null"}
    return not is_date(leaf.value) and (isinstance(leaf.value, str) or kinds == {"string"})


def _is_named_record(leaf: Leaf, function: FunctionInfo, basis: Basis, given: list[Leaf]) -> bool:
    records, which = basis.records, (leaf.value, leaf.name, function.app_id)
    values = [str(x.value) for x in given]
    if records.is_other_app(*which, function.fn_name):
        return False
    if records.is_new(*which):
        return True
    if records.question and not _mentions_call(records.words, function, given):
        return False  # a yes answers what its question is about
    if records.is_named(*which, values=values):
        return not records.names_other(*which, basis.turn_values)
    words = records.words if records.question else basis.typed.words
    # only one was shown, and the message is about it at all
    return records.is_only_one(*which) and _mentions_call(words, function, given)


_MIN_WORD: Final = 4
"""Minimum letters of a significant word in a description or example."""


def _mentions_call(words: UserWords, function: FunctionInfo, given: list[Leaf]) -> bool:
    """Whether the user's words contain a word of the function's texts or of what it writes."""
    text = words_in(" ".join((function.description, *function.examples)))
    name = f"{function.app_id}.{function.fn_name}"
    action = (name, *words_of(function.fn_name), *(w for w in text if len(w) >= _MIN_WORD))
    values = [x.phrase for x in given if not is_id(x, function)]
    # with a decimal comma, too: "71,4" is 71.4
    written = [w for v in values for w in (*words_in(v), v.replace(".", ","))]
    return any(map(words.has, (*action, *written)))
