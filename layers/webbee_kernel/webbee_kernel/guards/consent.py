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
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Final, Literal, NamedTuple

from ..types import JSON
from .addresses import form_of, has_address, host_of, id_digits, is_date, is_network_url
from .arguments import Leaf, parameters
from .field_names import CONTENT, EXCEPT, INCLUDES, PAYLOADS, PROSE, is_id_name, kind_of, words_of
from .references import References
from .sinks import NO_ARGUMENTS, GuardedCall, Sink
from .user_words import UserWords, words_in

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


def needs_consent(call: GuardedCall, basis: Basis) -> bool:
    """Whether this call must be proposed; else it may run at once."""
    # a read of the user's own apps binds nothing
    if call.is_plain_read:
        return False
    effect = call.effect
    # whatever was said: typing a name is no consent to lose the thing
    if effect == "destructive" or basis.rule == "destructive":
        return effect == "destructive"
    is_effect = effect not in ("read", "opens")
    return (basis.rule == "all" and is_effect) or _UNBOUND[effect](call, basis)


def _is_unbound_write(call: GuardedCall, basis: Basis) -> bool:
    """Whether a write has an argument that is not bound to the user."""
    # an MCP or OpenAI client speaks for the user: its host has shown him the call
    if not basis.has_message:
        return False
    binding = [*_binding(call, basis.records)]
    if not all(_is_bound(x, call, basis) for x in binding):
        return True
    is_about = any(call.is_id(x) or _is_text(x) for x in binding)
    is_said = is_about or _mentions_call(basis.records.words, call)
    return not is_said or _is_emptied(call)


def _binding(call: GuardedCall, records: References) -> Iterator[Leaf]:
    """The arguments that have to be bound; enumerations and defaults bind nothing."""
    for leaf in call.leaves:
        is_key = leaf.is_known_key or (leaf.is_key and str(leaf.value) in records.keys)
        if not (leaf.is_offered or leaf.is_absent or is_key):
            yield _as_id(leaf, call, records)


def _is_emptied(call: GuardedCall) -> bool:
    """Whether an update empties a text or a list, unless empty is its default; an update to nothing
    is a deletion."""
    if call.leaves and not any(map(call.is_id, call.leaves)):
        return False
    known = {p.path: p.shapes for p in parameters(call.function.input_schema)}
    empty = _empty_members(call.arguments, "")
    defaults = (
        (value, (s.get("default", ...) for s in known.get(path, ()))) for path, value in empty
    )
    return any(value not in own for value, own in defaults)


def _empty_members(members: Mapping[str, JSON], path: str) -> Iterator[tuple[str, JSON]]:
    """The members without a value, at any depth, with their paths: `""`, `null`, or nothing but
    such."""
    for key, value in members.items():
        place = f"{path}.{key}" if path else key
        if isinstance(value, Mapping) and value:
            yield from _empty_members(value, place)
        elif value in ("", None, [], {}) or (isinstance(value, list) and not any(value)):
            yield place, value


def _as_id(leaf: Leaf, call: GuardedCall, records: References) -> Leaf:
    """A number that is a record's id as an id leaf: if its name is the record's kind (`order: 7`),
    or, unless the user said the number, if no other argument identifies the record or a sibling id
    is given."""
    number, kind, app_id = id_digits(leaf.value), kind_of(leaf.name, ""), call.function.app_id
    known = records.of(number, "", app_id)
    is_one, name = bool(kind) and not leaf.is_count, f"{leaf.name}_id"
    # `order: 7` is the order 7 where one is known, and a quantity elsewhere
    if is_one and any(r.kind for r in records.of(number, name, app_id)):
        return leaf._replace(value=number, names=(name,))
    is_in_words = bool(kind) and records.words.has_all(number)
    is_id = known and not is_in_words and _may_be_id(leaf, call, records)
    return leaf._replace(value=number, names=("id",)) if is_id else leaf


def _may_be_id(leaf: Leaf, call: GuardedCall, records: References) -> bool:
    """Whether a number may be an id: it is required or the only argument and there is no id, or it
    is a record of the same kind as a given id, under a name that is neither a count nor a field of
    results (`priority`)."""
    ids = [*filter(call.is_id, call.leaves)]
    if not ids:
        top, needed = leaf.names[:1], call.function.input_schema.get("required") or ()
        return {*top} <= {*needed} or all(x.names[:1] == top for x in call.leaves)
    if leaf.name in records.keys or leaf.is_count:
        return False
    app_id = call.function.app_id
    kinds = {r.kind for x in ids for r in records.of(x.value, x.name, app_id)}
    return any(r.kind in kinds for r in records.of(id_digits(leaf.value), "", app_id))


def _is_unbound_outward(call: GuardedCall, basis: Basis) -> bool:
    """Whether a destination is not accepted, or content for it was neither said nor accepted by the
    user."""
    found = call.destinations
    if not {key for _, key in found}.issubset(basis.accepted):
        return True
    left_out = call.function.input_schema.get("properties", {}).keys() - _terms(call)
    if not _term_keys(call, left_out).isdisjoint(basis.accepted):
        return True  # a default decides what goes along now
    known = {s.path for s, _ in found}
    known |= {path for path, key in _choices(call) if key in basis.accepted}
    # "send Anna's report to Anna" must not name a record called Anna by who gets it
    records = basis.typed.without(s.value for s, _ in found)
    content = [leaf for leaf in call.all_leaves if leaf.path not in known]
    # a date beside no text says which of many go along
    is_textless = not any(leaf.value and leaf.is_content for leaf in content)
    is_bare = is_textless or any(s.value == NO_ARGUMENTS for s, _ in found)
    return any(_is_unbound(leaf, call, records, is_bare) for leaf in content)


def consent_keys(call: GuardedCall) -> tuple[str, ...]:
    """The keys that a yes to this call accepts: its destinations, the choices made with them, and
    the names of what else was given."""
    found = (key for _, key in (*call.destinations, *_choices(call)) if key)
    return (*found, *sorted(_term_keys(call, _terms(call))))


def _choices(call: GuardedCall) -> Iterator[tuple[str, str]]:
    """The paths of enum values in a call, each with the key under which its acceptance for these
    destinations is stored."""
    targets = sorted(key for _, key in call.destinations)
    for leaf in call.all_leaves if targets else ():
        if leaf.is_choice:
            yield leaf.path, call.key("app", json.dumps([leaf.value, targets]), leaf.path)


def _terms(call: GuardedCall) -> set[str]:
    """The parameters of an outward call that are given, except addresses, texts, files and
    records: those that may say how much goes along."""
    own = (x for x in call.all_leaves if x.names and not (x.is_key or x.is_default))
    return {x.names[0] for x in own if x.value != "" and call.destinations and _is_term(x, call)}


def _is_term(leaf: Leaf, call: GuardedCall) -> bool:
    """Whether an argument may say how much goes along."""
    if isinstance(leaf.value, str) and (leaf.is_content or form_of(leaf.value)):
        return False
    if leaf.is_offered and not any(shape.get("default") for shape in leaf.shapes):
        return False  # without it nothing is chosen
    return not (call.is_id(leaf) or PAYLOADS & {*leaf.words})


def _term_keys(call: GuardedCall, names: Iterable[str]) -> set[str]:
    """The keys that remember that these parameters were given when a destination was accepted."""
    targets = sorted(key for _, key in call.destinations)[:_MAX_TARGETS]
    return {call.key("app", to, name) for name in names for to in targets}


_MAX_TARGETS: Final = 4
"""Destinations of a call for which the parameters given with them are remembered."""


def _is_unbound(leaf: Leaf, call: GuardedCall, records: References, is_bare: bool) -> bool:
    """Whether content is not in the message: a file or record that it does not name, a number, a
    flag, a choice, or foreign words under a name without a known purpose. `is_bare`: the call has
    no other argument or destination, so even known names must be in the message."""
    is_cleared = leaf.value is False and any(s.get("default") is True for s in leaf.shapes)
    if not (leaf.value or is_cleared):
        return leaf.is_item and leaf.value != ""
    if leaf.is_default:
        return False
    is_payload = not leaf.is_offered and _is_payload(leaf, call, records)
    if is_payload and not leaf.is_set:
        return not _is_named_whole(leaf, call, records)
    is_plain = not (is_payload or is_bare) and _has_purpose(leaf)
    return not is_plain and not records.words.has_text(leaf.phrase)


def _has_purpose(leaf: Leaf) -> bool:
    """Whether it is not a number and its name states its purpose."""
    words = {*leaf.words}
    if leaf.is_set:
        if words & INCLUDES:  # what it takes along has to be said
            return False
    elif isinstance(leaf.value, int | float) or id_digits(leaf.value):
        return False
    is_prose = not leaf.is_choice and (leaf.last in PROSE or words & CONTENT)
    return bool(is_prose) or is_date(leaf.value) or leaf.is_known_key


def _is_named_whole(leaf: Leaf, call: GuardedCall, records: References) -> bool:
    """Whether the message names a payload by its full label with file extension, or by its id; a
    label of a single word does not count."""
    which = leaf.value, leaf.name, call.function.app_id
    labels = {r.label for r in records.of(*which) if r.label}
    is_whole = all(not x.isalpha() and records.words.has_phrase(x) for x in labels)
    is_typed = not str(leaf.value).isdecimal() and records.words.has_phrase(str(leaf.value))
    return (is_typed or (bool(labels) and is_whole)) and records.is_named(*which)


def _is_payload(leaf: Leaf, call: GuardedCall, records: References) -> bool:
    """Whether an argument of an outward call is a file or record that is sent, by its name or
    because its value is a known record."""
    is_own = leaf.name == call.function.id_projection or is_id_name(leaf.name)
    is_named = is_own or not PAYLOADS.isdisjoint(leaf.words)
    return is_named or (isinstance(leaf.value, str) and records.is_known(leaf.value))


def _is_unbound_open(call: GuardedCall, basis: Basis) -> bool:
    """Whether a read has a URL that it may not open."""
    places = {s.path: s.value for s in call.urls}
    rest = _extras(call, basis.typed.words)
    # a link within a text takes the rest of that along
    is_bare = all(places[x.path] == x.value if x.path in places else _is_choice(x) for x in rest)
    return not all(_may_open(s, call, basis, is_bare) for s in call.urls)


def _is_choice(leaf: Leaf) -> bool:
    """Whether it is a short option such as `en-US`: one or two words without digits."""
    words = words_in(str(leaf.value))
    # a language or a unit; more words could carry what the model has read
    is_short = len(words) < 3 and not any(map(str.isdecimal, "".join(words)))
    return is_short and not (leaf.is_key or leaf.is_item)


def _may_open(sink: Sink, call: GuardedCall, basis: Basis, is_bare: bool) -> bool:
    # typed whole, and nothing else goes along
    if is_bare and basis.has_message and has_address(sink.value, basis.message):
        return True
    # `memo://…`: only this app can open it
    if not is_network_url(sink.value):  # an app's own name of a thing
        is_own_scheme = sink.value.partition("://")[0] in basis.schemes
        return is_own_scheme or basis.records.has_value(call.function.app_id, sink.value)
    # a host that is not plain is nobody's, and never accepted
    host = host_of(sink.value)
    return bool(host) and (host in basis.hosts or call.key("host", host) in basis.accepted)


def _is_unbound_search(call: GuardedCall, basis: Basis) -> bool:
    """Whether an open-world read has an argument from neither the user's words nor this app."""
    [(_, key)] = call.destinations
    if key in basis.accepted:
        return False
    # a schema that declares nothing takes anything: all of it counts
    if not any(parameters(call.function.input_schema)):
        return bool(call.arguments)
    query = _extras(call, basis.words)
    is_result = partial(basis.records.has_value, call.function.app_id)
    return not all(is_result(str(leaf.value)) for leaf in query)


def _extras(call: GuardedCall, words: UserWords) -> Iterator[Leaf]:
    """The arguments of a read that the user did not say and the schema does not offer."""
    given = (x for x in call.all_leaves if not x.is_absent)
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
    return (is_date(leaf.value) and not leaf.is_item) or leaf.is_known_key


def _is_plain_number(leaf: Leaf) -> bool:
    """Whether it is a whole number of at most two digits."""
    if not isinstance(leaf.value, int | float) or leaf.is_item:
        return False
    return abs(leaf.value) < _SMALL and leaf.value == int(leaf.value)


_SMALL, _MAX_NUMBERS = 100, 2


def _is_bound(leaf: Leaf, call: GuardedCall, basis: Basis) -> bool:
    """Whether an argument of a plain write is bound to the user, or needs no binding: numbers and
    dates."""
    words = basis.records.words
    if _is_row_selector(leaf, call):
        return words.has_text(leaf.phrase)
    if call.is_id(leaf):
        return _is_named_record(leaf, call, basis)
    # quantities and dates of a write that stays here bind nothing
    if not _is_text(leaf) or words.has_text(str(leaf.value), _siblings(leaf, call.leaves)):
        return True
    return basis.records.is_known(str(leaf.value)) and _is_named_record(leaf, call, basis)


_POSITIONS = EXCEPT | {"row", "index", "nth", "slice"}
"""Names of row selectors: their number must be in the user's words."""


def _is_row_selector(leaf: Leaf, call: GuardedCall) -> bool:
    """Whether an argument selects records by position or by exclusion."""
    own = leaf.path.rstrip(".0123456789").rpartition(".")[2]
    return not (EXCEPT if call.is_id(leaf) else _POSITIONS).isdisjoint(words_of(own))


def _is_text(leaf: Leaf) -> bool:
    """Whether it is a text other than a date, also a number that the schema takes as one."""
    kinds = {shape.get("type") for shape in leaf.shapes} - {None, "null"}
    return not is_date(leaf.value) and (isinstance(leaf.value, str) or kinds == {"string"})


def _is_named_record(leaf: Leaf, call: GuardedCall, basis: Basis) -> bool:
    records, which = basis.records, (leaf.value, leaf.name, call.function.app_id)
    values = [str(x.value) for x in call.leaves]
    if records.is_other_app(*which, call.function.fn_name):
        return False
    if records.is_new(*which):
        return True
    if records.question and not _mentions_call(records.words, call):
        return False  # a yes answers what its question is about
    if records.is_named(*which, values=values):
        return not records.names_other(*which, basis.turn_values)
    words = records.words if records.question else basis.typed.words
    # only one was shown, and the message is about it at all
    return records.is_only_one(*which) and _mentions_call(words, call)


_MIN_WORD: Final = 4
"""Minimum letters of a significant word in a description or example."""


def _mentions_call(words: UserWords, call: GuardedCall) -> bool:
    """Whether the user's words contain a word of the function's texts or of what it writes."""
    function = call.function
    text = words_in(" ".join((function.description, *function.examples)))
    name = f"{function.app_id}.{function.fn_name}"
    action = (name, *words_of(function.fn_name), *(w for w in text if len(w) >= _MIN_WORD))
    values = [x.phrase for x in call.leaves if not call.is_id(x)]
    # with a decimal comma, too: "71,4" is 71.4
    written = [w for v in values for w in (*words_in(v), v.replace(".", ","))]
    return any(map(words.has, (*action, *written)))
