"""Consent: the table of what runs at once and what is proposed. Pure.

- **outward** runs where this user has accepted this very destination for this function before, and
  each file or record that goes along is named by this message; what is under a name that does not
  say what it is for is in his own words
- **destructive** never does
- **any other write** runs where each of its texts is in the user's own words, and each id is that
  of the record which this message names, or of the only one of its kind that the last reply showed
- **a read that opens an address** runs where that was typed whole in this message, or its host was
  accepted before, by the user or the operator

Nothing here reads from a message whether it asks for an effect: a model may have been led by what
it has read, and whoever leads it knows what people say. A pressed button and a filled form do not
come this way at all (`POST /v1/extensions/{app_id}/call`, a card's yes).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, Literal, NamedTuple

from ..catalogue import OPEN_WORLD, FunctionInfo
from ..types import JSON
from .addresses import host_of, id_digits, is_date, is_networked, is_typed, key_of
from .arguments import Leaf, leaves, parameters, shown
from .field_names import (
    FILES,
    is_counted,
    kind_of,
    names_an_id,
    numbers_a_record,
    words_of,
)
from .references import References
from .sinks import NOTHING_GIVEN, Effect, Sink, effect_of, is_known_key, is_told, opened, sinks
from .user_words import Said, words_in

Given = Mapping[str, JSON]
Paths = tuple[str, ...]
Rule = Literal["bound", "all", "destructive"]
"""What an operator may set: the table, every effect asked about, or only what destroys."""


class Why(NamedTuple):
    """Why a call is proposed: what effect it is, and which of its arguments are not bound."""

    effect: Effect
    unbound: tuple[str, ...] = ()


class Moment(NamedTuple):
    """What a call's values are bound to: the message, the words and records of the conversation,
    and the destinations that were accepted, as `key_of` writes them."""

    message: str
    """What he typed, whole: nothing of a choice that he picked."""
    said: Said
    records: References
    own: References
    """The same records by his typed words alone: what goes along with an effect that leaves has to
    be named by this message."""
    accepted: Collection[str] = ()
    hosts: Collection[str] = ()
    """Hosts that the operator lets reads open."""
    rule: Rule = "bound"
    called: Collection[str] = ()
    """The values of the calls that this turn has made and plans."""
    knows_message: bool = True
    """False for a program that speaks for the user: what he told it is not known here."""
    schemes: Collection[str] = ()
    """Schemes of addresses that are the app's own, as it lists some."""


def why_asked(function: FunctionInfo, arguments: Given, moment: Moment) -> Why | None:
    """Why this call has to be proposed; None where it may run at once."""
    effect = effect_of(function, arguments)
    # a read of the user's own apps binds nothing
    if effect == "read" and function.input_schema.get(OPEN_WORLD) is not True:
        return None
    # whatever was said: typing a name is no consent to lose the thing
    if effect == "destructive":
        return Why(effect)
    if moment.rule == "destructive":
        return None
    if moment.rule == "all" and effect not in ("read", "opens"):
        return Why(effect)
    unbound = _UNBOUND[effect](function, arguments, moment)
    # what a search takes along leaves: the card says so
    return Why("outward" if effect == "read" else effect, unbound) if unbound else None


def may_be_asked(function: FunctionInfo, arguments: Given) -> bool:
    """Whether the table has a row for this call at all. Most reads have none."""
    outer = function.input_schema.get(OPEN_WORLD) is True
    return outer or effect_of(function, arguments) != "read"


def destinations(function: FunctionInfo, arguments: Given) -> tuple[tuple[Sink, str], ...]:
    """Each destination of a call, with the key under which a yes to it is remembered."""
    which = function.app_id, function.fn_name
    found = [(s, key_of(*which, s.kind, s.value, s.path)) for s in sinks(function, arguments)]
    found += [
        (s, key_of(*which, "host", host)) if (host := host_of(s.value)) else (s, "")
        for s in opened(function, arguments)
    ]
    is_open = function.input_schema.get(OPEN_WORLD) is True
    # no argument says where to: the search engine behind it is the destination
    if is_open and not found and function.action_type == "read":
        given = json.dumps([(x.path, x.value) for x in leaves(function, arguments)], default=str)
        found = [(Sink("", "", "app", given, "open world"), key_of(*which, "app", given))]
    return tuple({(s.path, s.value): (s, key) for s, key in found}.values())


def _unbound_written(function: FunctionInfo, arguments: Given, moment: Moment) -> Paths:
    """The arguments of a write that nothing of the user's binds."""
    # an MCP or OpenAI client speaks for the user: its host has shown him the call
    if not moment.knows_message:
        return ()
    known = partial(moment.records.of, app_id=function.app_id)
    told = leaves(function, arguments)
    given = [x for x in told if not (x.is_key and x.path == x.value) or known(id_digits(x.value))]
    meant = partial(_as_id, function=function, given=given, records=moment.records)
    found = [*map(meant, given)]
    unbound = [x.path for x in found if not _is_bound(x, function, moment, given)]
    if not unbound and _is_unasked(found, function, moment, given):
        unbound.append(function.fn_name)
    # an update to nothing is a deletion by another name
    return (*unbound, *_emptied(function, arguments, given))


def _is_unasked(
    found: list[Leaf], function: FunctionInfo, moment: Moment, given: list[Leaf]
) -> bool:
    """Whether no argument is a text or an id, and the message has nothing of the call."""
    bind = (x for x in found if not (x.offered or x.filled or _is_key(x, moment.records)))
    if any(
        _is_id(x, function) or (isinstance(x.value, str) and not is_date(x.value)) for x in bind
    ):
        return False
    return not _carries(moment.records.said, function, given)


def _emptied(function: FunctionInfo, arguments: Given, given: list[Leaf]) -> Iterator[str]:
    """What a change of a record leaves nothing of: a text or a list that the call empties, where
    that is not the same as to say nothing of it; where nothing else is said, of anything."""
    if not given or any(_is_id(leaf, function) for leaf in given):
        rules = parameters(function.input_schema)
        unsaid = {p.path: [s["default"] for s in p.shapes if "default" in s] for p in rules}
        told = _told(function, arguments)
        yield from (n for n, v in arguments.items() if n not in told and v not in unsaid.get(n, ()))


def _told(function: FunctionInfo, arguments: Given) -> set[str]:
    """The arguments that hold anything, at whatever depth."""
    return {x.names[0] for x in shown(function, arguments) if x.value != "" and not x.is_key}


def _as_id(leaf: Leaf, function: FunctionInfo, given: list[Leaf], records: References) -> Leaf:
    """A number that is the id of a record of this app as that id: under the name of its kind, or,
    unless it was said as a number, where nothing else of the call says which record, or beside the
    id of its like."""
    number, kind = id_digits(leaf.value), kind_of(leaf.name, "")
    known = records.of(number, "", function.app_id)
    is_one, name = bool(kind) and (leaf.is_item or not is_counted(leaf.name)), f"{leaf.name}_id"
    # `order: 7` is the order 7 where one is known, and a quantity elsewhere
    if is_one and any(r.kind for r in records.of(number, name, function.app_id)):
        return leaf._replace(value=number, names=(name,))
    is_said = bool(kind) and records.said.holds(number)
    is_id = known and not is_said and _chooses(leaf, function, given, records)
    return leaf._replace(value=number, names=("id",)) if is_id else leaf


def _chooses(leaf: Leaf, function: FunctionInfo, given: list[Leaf], records: References) -> bool:
    """Whether a call needs this argument, or has no other, and none that is an id; or it may be
    another record of the kind of one that the call gives."""
    top, needed = leaf.names[:1], function.input_schema.get("required") or ()
    is_needed = {*top} <= {*needed} or all(x.names[:1] == top for x in given)
    ids = [x for x in given if _is_id(x, function)]
    return _is_another(leaf, function.app_id, ids, records) if ids else is_needed


def _is_another(leaf: Leaf, app_id: str, ids: list[Leaf], records: References) -> bool:
    """Whether a number is the id of such a record as `ids` are, under a name that neither says how
    many nor is that of a field (`priority`)."""
    if leaf.name in records.keys or (is_counted(leaf.name) and not leaf.is_item):
        return False
    kinds = {r.kind for x in ids for r in records.of(x.value, x.name, app_id)}
    return any(r.kind in kinds for r in records.of(id_digits(leaf.value), "", app_id))


def _unbound_outward(function: FunctionInfo, arguments: Given, moment: Moment) -> Paths:
    """The destinations that were not accepted, the function where no argument names one, else what
    goes along unsaid."""
    found = destinations(function, arguments)
    # the destination first: where it is not accepted, nothing beside it matters
    missing = tuple(s.path or function.fn_name for s, key in found if key not in moment.accepted)
    return missing or tuple(_unsaid_beside(function, arguments, moment, found))


def _unsaid_beside(
    function: FunctionInfo, arguments: Given, moment: Moment, found: Sequence[tuple[Sink, str]]
) -> Iterator[str]:
    """What goes along with a call to accepted destinations, but for what was chosen with a yes to
    them, and is not said."""
    chosen = _choices(function, arguments, found)
    known = {s.path for s, _ in found} | {p for p, key in chosen if key in moment.accepted}
    # "send Anna's report to Anna" must not name a record called Anna by who gets it
    own = moment.own.without(s.value for s, _ in found)
    is_bare = any(s.value == NOTHING_GIVEN for s, _ in found)
    for leaf in shown(function, arguments):
        if leaf.path not in known and _goes_unsaid(leaf, function, own, is_bare):
            yield leaf.path


def accepted_by(function: FunctionInfo, arguments: Given) -> tuple[str, ...]:
    """What a yes to this call accepts: its destinations, and what was chosen beside them."""
    found = destinations(function, arguments)
    chosen = _choices(function, arguments, found)
    return tuple(key for _, key in (*found, *chosen) if key)


def _choices(
    function: FunctionInfo, arguments: Given, found: Sequence[tuple[Sink, str]]
) -> Iterator[tuple[str, str]]:
    """The places of what a call chooses from what its schema offers, with the key under which a yes
    to it beside these destinations is remembered."""
    beside, which = sorted(key for _, key in found), (function.app_id, function.fn_name)
    for leaf in shown(function, arguments) if found else ():
        if leaf.is_chosen:
            yield leaf.path, key_of(*which, "app", json.dumps([leaf.value, beside]), leaf.path)


def _goes_unsaid(leaf: Leaf, function: FunctionInfo, own: References, is_bare: bool) -> bool:
    """Whether something goes along that the message does not say: a file or a record that it does
    not name, a number, a flag that is set or taken back, a choice, or words of others under a name
    that does not say what they are for. Where nothing but a text leaves, to a place that nothing
    names, that has to be in it, too."""
    if not (leaf.value or leaf.is_taken_back):
        return leaf.is_item and leaf.value != ""
    if leaf.is_default:
        return False
    goes_along = _is_carried(function, leaf.name, leaf.value, own) and not leaf.offered
    if goes_along and not leaf.is_set:
        return not _is_named_whole(leaf, function, own)
    tells = not (goes_along or is_bare) and _says_what_for(leaf)
    return not (tells or own.said.wrote(leaf.said))


def _says_what_for(leaf: Leaf) -> bool:
    """Whether it is no number, and stands under a name that says what it is for."""
    if not leaf.is_set and (isinstance(leaf.value, int | float) or id_digits(leaf.value)):
        return False
    return is_told(leaf) or is_date(leaf.value) or is_known_key(leaf)


def _is_named_whole(leaf: Leaf, function: FunctionInfo, own: References) -> bool:
    """Whether the message names what goes along as it is called, with its ending; a word alone, as
    people say it anyhow, is no name."""
    which = leaf.value, leaf.name, function.app_id
    called = {r.label for r in own.of(*which) if r.label}
    whole = [label for label in called if not label.isalpha() and own.said.tells(label)]
    is_typed = not str(leaf.value).isdecimal() and own.said.tells(str(leaf.value))
    return own.is_named(*which, whole=True) and (is_typed or len(whole) == len(called))


def _is_carried(function: FunctionInfo, name: str, value: object, records: References) -> bool:
    """Whether an argument of an outward call is a file or a record that goes along: by its name, or
    because a result gives its value as a record's."""
    words = set(words_of(name))
    named = names_an_id(name) or name == function.id_projection or bool(words & _ALONG)
    return named or (isinstance(value, str) and records.is_known(value))


_ALONG = FILES | frozenset(
    "filename filenames doc docs image images photo photos picture media record records item items"
    " path paths folder".split()
)
"""Names of what goes along."""


def _unbound_opened(function: FunctionInfo, arguments: Given, moment: Moment) -> Paths:
    """The addresses that a read may not open. One that was typed opens with what was typed."""
    found = opened(function, arguments)
    places, beside = {s.path: s.value for s in found}, _unsaid(function, arguments, moment.own.said)
    # a link within a text takes the rest of that along
    bare = all(places[x.path] == x.value if x.path in places else _is_choice(x) for x in beside)
    return tuple(s.name for s in found if not _may_open(s, function, moment, bare))


def _is_choice(leaf: Leaf) -> bool:
    """Whether it says how to read, in a word or two without figures (`en-US`)."""
    words = words_in(str(leaf.value))
    # a language or a unit; more words could carry what the model has read
    is_short = len(words) < 3 and not any(map(str.isdecimal, "".join(words)))
    return is_short and not (leaf.is_key or leaf.is_item)


def _may_open(sink: Sink, function: FunctionInfo, moment: Moment, bare: bool) -> bool:
    # typed whole, and nothing else goes along
    if bare and moment.knows_message and is_typed(sink.value, moment.message):
        return True
    # `memo://…`: only this app can open it
    if not is_networked(sink.value):  # an app's own name of a thing
        own = sink.value.partition("://")[0] in moment.schemes
        return own or moment.records.gave(function.app_id, sink.value)
    # a host that is not plain is nobody's, and never accepted
    host = host_of(sink.value)
    if not host:
        return False
    key = key_of(function.app_id, function.fn_name, "host", host)
    return host in moment.hosts or key in moment.accepted


def _unbound_search(function: FunctionInfo, arguments: Given, moment: Moment) -> Paths:
    """What a read beyond the user's own apps takes along: words that are neither in his message nor
    what this app itself has given."""
    [(_, key)] = destinations(function, arguments)
    if key in moment.accepted:
        return ()
    # a schema that declares nothing takes anything: all of it counts
    if not any(parameters(function.input_schema)):
        return tuple(arguments)
    beside = _unsaid(function, arguments, moment.said)
    gave = partial(moment.records.gave, function.app_id)
    return tuple(leaf.path for leaf in beside if not gave(str(leaf.value)))


def _unsaid(function: FunctionInfo, arguments: Given, said: Said) -> Iterator[Leaf]:
    """What goes along with a read, but for what its schema offers and what was said."""
    given = [x for x in shown(function, arguments) if not x.filled]
    found = [x for x in given if x.is_item or not isinstance(x.value, bool)]
    counted = [x.path for x in found if _is_plain_number(x) and not x.offered][:_MOST_NUMBERS]
    for leaf in found:
        same = _like(leaf, found)
        # a choice repeated in a list could count out a secret
        plain = len({*same}) == len(same) if leaf.offered else _is_plain(leaf, counted)
        if not (plain or said.wrote(str(leaf.value), same)) and (leaf.value != "" or leaf.is_item):
            yield leaf


def _like(leaf: Leaf, found: Iterable[Leaf]) -> tuple[str, ...]:
    """All that a call gives under one name, as the items of a list are."""
    return tuple(str(x.value) for x in found if x.names == leaf.names and x.is_key == leaf.is_key)


_UNBOUND: Final = {
    "write": _unbound_written,
    "outward": _unbound_outward,
    "opens": _unbound_opened,
    "read": _unbound_search,
}


def _is_plain(leaf: Leaf, counted: Collection[str]) -> bool:
    """Whether it is a date, the usual name of a field, or one of the few numbers of a call that say
    how many, and hardly anything else."""
    if isinstance(leaf.value, int | float):
        return leaf.path in counted
    return (is_date(leaf.value) and not leaf.is_item) or is_known_key(leaf)


def _is_plain_number(leaf: Leaf) -> bool:
    """Whether it is a whole number of two digits at most."""
    if not isinstance(leaf.value, int | float) or leaf.is_item:
        return False
    return abs(leaf.value) < _SMALL and leaf.value == int(leaf.value)


_SMALL, _MOST_NUMBERS = 100, 2


def _is_bound(leaf: Leaf, function: FunctionInfo, moment: Moment, given: list[Leaf]) -> bool:
    """Whether an argument of a write that neither leaves nor destroys is the user's own, or binds
    nothing: what the schema offers, a number, a date."""
    # enumerations and defaults bind nothing (the contract's last line)
    if leaf.offered or leaf.filled or _is_key(leaf, moment.records):
        return True
    if _is_picked(leaf, function):
        return moment.said.wrote(leaf.said)
    if _is_id(leaf, function):
        return _is_his_record(leaf, function, moment, given)
    text = str(leaf.value)
    # quantities and dates of a write that stays here bind nothing
    if _is_number(leaf) or is_date(text):
        return True
    return moment.said.wrote(text, _like(leaf, given)) or (
        moment.records.is_known(text) and _is_his_record(leaf, function, moment, given)
    )


_SPARES = frozenset({"but", "except"})
_BY_PLACE = _SPARES | {"row", "index", "nth", "slice"}
"""Names by which records are picked that the call does not name: the number under one is said."""


def _is_picked(leaf: Leaf, function: FunctionInfo) -> bool:
    """Whether an argument picks records by their place, or by the one that is left out."""
    own = leaf.path.rstrip(".0123456789").rpartition(".")[2]
    return not (_SPARES if _is_id(leaf, function) else _BY_PLACE).isdisjoint(words_of(own))


def _is_key(leaf: Leaf, records: References) -> bool:
    """Whether it is the key of an object as the field or a result uses it."""
    return is_known_key(leaf) or (leaf.is_key and str(leaf.value) in records.keys)


def _is_number(leaf: Leaf) -> bool:
    """Whether it is a number, and no text by its schema, which may take one for its digits."""
    kinds = {shape.get("type") for shape in leaf.shapes} - {None, "null"}
    return not isinstance(leaf.value, str) and kinds != {"string"}


def _is_id(leaf: Leaf, function: FunctionInfo) -> bool:
    """Whether an argument says which record is meant."""
    if leaf.marker == "id" or leaf.name == function.id_projection or names_an_id(leaf.name):
        return True
    return not isinstance(leaf.value, str) and numbers_a_record(leaf.name)


def _is_his_record(leaf: Leaf, function: FunctionInfo, moment: Moment, given: list[Leaf]) -> bool:
    records, which = moment.records, (leaf.value, leaf.name, function.app_id)
    beside = [str(x.value) for x in given]
    # a yes does not answer "which one?"
    if records.is_left_open(leaf.value, beside) or records.is_elsewhere(*which, function.fn_name):
        return False
    if records.is_made(*which):
        return True
    if records.answered and not _carries(records.said, function, given):
        return False  # a yes answers what its question is about
    if records.is_named(*which, beside=beside):
        return not records.names_another(*which, moment.called)
    said = records.said if records.answered else moment.own.said
    # only one was shown, and the message is about it at all
    return records.is_only_one(*which) and _carries(said, function, given)


_TELLING: Final = 4
"""Letters of a word of a description or an example that says what a function does."""


def _carries(said: Said, function: FunctionInfo, given: list[Leaf]) -> bool:
    """Whether words have anything of a call: a word of what it does, or of what it writes."""
    # the author's own words for what it does
    told = words_in(" ".join((function.description, *function.examples)))
    named = f"{function.app_id}.{function.fn_name}"
    does = (named, *words_of(function.fn_name), *(w for w in told if len(w) >= _TELLING))
    written = [w for x in given if not _is_id(x, function) for w in words_in(x.said)]
    return any(map(said.has, (*does, *written)))
