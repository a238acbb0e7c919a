"""Sinks: where a call carries something, and by what that is known. Pure.

In this order: the author's marker (`x-directs`), a format of the schema, the form of the value,
MCP's open-world hint, and names of parameters as the field uses them, at any depth of objects and
lists. Names are identifiers of programs, English in all but a few; no word of a message is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Literal, NamedTuple

from ..catalogue import OPEN_WORLD, FunctionInfo
from ..types import JSON
from .addresses import form_of, is_linked, is_moment, web_address
from .arguments import Leaf, leaves, parameters, words_of
from .field_names import names_an_id

Kind = Literal["recipient", "account", "url", "path", "app"]
"""What a sink is; `app` where an effect goes out and no argument says where to."""

Effect = Literal["read", "opens", "write", "outward", "destructive"]
"""How a call is classed; `opens` is a read that opens an address."""

_MARKED: Mapping[str, Kind] = {
    "recipient": "recipient",
    "account": "account",
    "url": "url",
    "path": "path",
}
_FORMATS: Mapping[str, Kind] = {
    "email": "recipient",
    "idn-email": "recipient",
    "phone": "recipient",
    "iban": "account",
    "uri": "url",
    "url": "url",
    "uri-reference": "url",
    "iri": "url",
    "hostname": "url",
    "idn-hostname": "url",
    "ipv4": "url",
    "ipv6": "url",
    "path": "path",
    "file-path": "path",
    "directory-path": "path",
}
_WORDS: Mapping[Kind, str] = {
    "recipient": "to cc bcc recipient recipients receiver receivers addressee addressees attendee"
    " attendees participant participants invitee invitees guest guests email emails phone phones"
    " mobile tel msisdn fax address addresses member members collaborator collaborators subscriber"
    " subscribers audience assignee assignees reviewer reviewers viewers editors principal"
    " principals grantee grantees",
    "account": "iban account accounts bic swift payee payees beneficiary beneficiaries wallet",
    "url": "url urls uri uris href endpoint webhook webhooks callback host hosts hostname domain"
    " website link links",
    "path": "path paths",
}
_KIND_OF: Mapping[str, Kind] = {w: kind for kind, words in _WORDS.items() for w in words.split()}
"""Names that say where to in whatever function they stand."""

_WEAK: Mapping[str, Kind] = {
    **dict.fromkeys(
        "user users username usernames handle handles person people contact contacts viewer"
        " editor owner friend friends colleague colleagues customer customers number numbers"
        " group groups team teams channel"
        " channels room rooms chat chats thread"
        " conversation inbox mailbox sms target targets destination destinations dest with"
        " who whom".split(),
        "recipient",
    ),
    **dict.fromkeys("card bank".split(), "account"),
    **dict.fromkeys("site server remote origin ip feed".split(), "url"),
    **dict.fromkeys("folder directory dir bucket drive location printer".split(), "path"),
}
"""Names that say where to only in a function whose own name carries something, beside a text that
is handed over, or where the value has the form of a place."""

_CARRYING = frozenset(
    "send sends resend forward share invite publish post broadcast tweet notify email mail sms text"
    " message dm pay transfer wire remit donate deliver dispatch transmit upload export sync submit"
    " grant delegate reply announce fax call copy mirror assign push withdraw forwarding redirect"
    " subscribe member members collaborator collaborators participant participants attendee"
    " attendees guest guests access permission permissions sharing".split()
)
"""Words of functions' and parameters' names that carry what they act on somewhere."""

_PLACE = re.compile(r"[/\\@]|\w:")
"""What the name of a place has in it and a word has not."""

_LEAVING = frozenset(
    "send resend forward share invite publish public post broadcast tweet notify email sms reply"
    " announce export upload fax pay donate".split()
)
"""Words of functions' names whose effect leaves, also where no argument says where to."""

_ENDS = frozenset("target targets destination destinations dest".split())
"""Names of where something ends, in functions whose effect leaves."""

_DIRECTED = frozenset("cc bcc recipient recipients webhook callback notify mirror".split())
"""Parameters of a read that no look-up has: they say where its result goes."""

_CONTENT = frozenset(
    "body data payload content contents text message json form headers html markdown attachment"
    " attachments file files document documents fields cookies note caption".split()
)
"""Names of what is carried along."""

_ABOUT = frozenset(
    "subject body text title type kind format label status state count template language lang"
    " notification notifications preference preferences prefix signature".split()
)
"""Last words of names that say how, or what of it: `email_subject`, `url_title`."""

_NUMERIC = frozenset("iban account phone phones mobile tel msisdn fax wallet".split())
_LONG = 5
"""Digits from which on a number under the name of a sink is an address, not a count."""

APP_ITSELF = ""
"""The value of a sink that no argument names."""


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
    found = leaves(function, arguments)
    if function.action_type == "read":
        return _of_read(function, found)
    own = tuple(s for leaf in found if (s := _sink(function, leaf)))
    own += tuple(s for leaf in found for s in _in_header(leaf))
    if own:
        return own
    open_world = function.input_schema.get(OPEN_WORLD)
    carries = not _LEAVING.isdisjoint(words_of(function.fn_name))
    if carries and open_world is not False:
        return tuple(_in_texts(found)) or (_app_itself("function"),)
    return (_app_itself("open world"),) if open_world is True else ()


def _in_header(leaf: Leaf) -> Iterator[Sink]:
    """Recipients that a text of one line smuggles in as a header of a mail."""
    if isinstance(leaf.value, str) and _CONTENT.isdisjoint(words_of(leaf.name)):
        for match in _HEADER.finditer(leaf.value):
            yield Sink(leaf.path, leaf.name, "recipient", match[1].strip(), "form")


_HEADER = re.compile(r"(?i)[\r\n][ \t]*(?:resent-)?(?:to|b?cc)[ \t]*:([^\r\n]+)")


def _in_texts(found: tuple[Leaf, ...]) -> Iterator[Sink]:
    """The addresses that stand in the texts of a call, those of its contents left out."""
    for leaf in found:
        if isinstance(leaf.value, str) and leaf.marker != "content":
            for part, kind in _addresses_in(leaf.value):
                yield Sink(leaf.path, leaf.name, kind, part, "form")


def opened(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Sink, ...]:
    """The addresses that a read opens. One that also carries something is outward (`sinks`)."""
    if function.action_type != "read":
        return ()
    found = leaves(function, arguments)
    return () if _of_read(function, found) else tuple(_addresses(function, found))


def effect_of(function: FunctionInfo, arguments: Mapping[str, JSON]) -> Effect:
    """How this call is classed."""
    if function.action_type == "destructive":
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
    declared = [p for p in parameters(function) if not p.is_secret]
    if function.action_type == "read":
        return _classed_read(function, [p for p in declared if not p.offered])
    kinds = ((p, _chosen(p) if p.offered else _kind(function, p)) for p in declared)
    told = tuple((p.path, *k) for p, k in kinds if k)
    return _classed_effect(function, told)


def _classed_effect(function: FunctionInfo, told: tuple[tuple[str, Kind, str], ...]) -> Classed:
    if function.action_type == "destructive":
        return Classed("destructive", told)
    told = told or tuple(("", s.kind, s.why) for s in sinks(function, {}))
    return Classed("outward" if told else "write", told)


def _classed_read(function: FunctionInfo, declared: list[Leaf]) -> Classed:
    directed = tuple((p.path, *k) for p in declared if (k := _directed(function, p)))
    if directed:
        return Classed("outward", directed)
    urls = tuple((p.path, *k) for p in declared if (k := _kind(function, p)) and k[0] == "url")
    return Classed("opens" if urls else "read", urls)


def _app_itself(why: str) -> Sink:
    return Sink("", "", "app", APP_ITSELF, why)


def _sink(function: FunctionInfo, leaf: Leaf) -> Sink | None:
    """The sink that an argument of an effect is."""
    if leaf.is_secret or is_moment(leaf.value):
        return None
    found = _chosen(leaf) if leaf.offered else _kind(function, leaf) or _formed(leaf)
    if found is None or not _may_be_address(leaf, found[1]):
        return None
    return Sink(leaf.path, leaf.name, found[0], str(leaf.value), found[1])


def _chosen(leaf: Leaf) -> tuple[Kind, str] | None:
    """What a value directs that the schema itself offers: an address, or one of several places."""
    return _declared(leaf, carrying=False) or _formed(leaf)


def _formed(leaf: Leaf) -> tuple[Kind, str] | None:
    """What a text directs by its own form, where its author marked nothing: an address, or a host
    or place under a name that may say where to."""
    if leaf.marker or not isinstance(leaf.value, str):
        return None
    form = form_of(leaf.value) or _place(leaf.name, leaf.value)
    return (form, "form") if form else None


def _place(name: str, value: str) -> Kind | None:
    """A host or a path under a name that may say where to."""
    if _WEAK.keys().isdisjoint(words_of(name)) or names_an_id(name):
        return None
    if web_address(value):
        return "url"
    return "path" if _PLACE.search(value) and " " not in value.strip() else None


def _kind(function: FunctionInfo, leaf: Leaf) -> tuple[Kind, str] | None:
    """What a parameter directs, by what is declared of it."""
    carrying = not _CARRYING.isdisjoint(words_of(function.fn_name)) or _hands_over(function)
    return _declared(leaf, carrying=carrying)


def _declared(leaf: Leaf, *, carrying: bool) -> tuple[Kind, str] | None:
    """The same; `carrying` where names that say less count too."""
    if leaf.marker:
        kind = _MARKED.get(leaf.marker)
        return (kind, "marker") if kind else None
    if kind := _FORMATS.get(leaf.format):
        return kind, "format"
    for name in reversed(leaf.names):
        if kind := _named(name, carrying=carrying):
            return kind, "name"
    return None


def _hands_over(function: FunctionInfo) -> bool:
    """Whether an effect takes a text or a file that can be handed to somebody beside it."""
    properties = function.input_schema.get("properties")
    names = properties if isinstance(properties, dict) and function.action_type != "read" else {}
    return any(not _CONTENT.isdisjoint(words_of(str(name))) for name in names)


def _named(name: str, *, carrying: bool) -> Kind | None:
    """What a name directs. `email_id` names a mail and `account_type` says how, `recipient_id` and
    `member_ids` are people all the same."""
    words = words_of(name)
    if not words or (words[-1] in _ABOUT and len(words) > 1):
        return None
    weak = carrying or not _CARRYING.isdisjoint(words[:-1])
    kinds = (_kind_of(word, words, names_an_id(name), weak) for word in reversed(words))
    pairs = (_KIND_OF.get(a + b) for a, b in pairwise(words))  # `webHook`
    return next((kind for kind in (*kinds, *pairs) if kind), None)


def _kind_of(word: str, words: list[str], is_id: bool, weak: bool) -> Kind | None:
    """What one word of a name directs, `weak` where words that say less count too."""
    if word not in _KIND_OF:
        return _WEAK.get(word) if weak else None
    if is_id and (word in _MAILS or (word in _THINGS and not weak)):
        return None
    if word == "to" and len(words) > 1 and not weak:  # `due_to`, `related_to`
        return None
    return _KIND_OF[word]


_THINGS = frozenset("account accounts address addresses host url".split())
"""Names that with an id behind them may be a thing of the app's own."""
_MAILS = frozenset("email emails link links".split())
"""Those that with an id behind them always are: the id of a mail, whatever is done with it."""


def _may_be_address(leaf: Leaf, why: str) -> bool:
    """Whether the value can say where to: `guests: 2` counts them."""
    if isinstance(leaf.value, str) or why in ("marker", "format"):
        return True
    words = set(words_of(leaf.name))
    long = len(str(leaf.value).lstrip("-").partition(".")[0]) >= _LONG
    return long or names_an_id(leaf.name) or bool(words & _NUMERIC)


def _of_read(function: FunctionInfo, found: tuple[Leaf, ...]) -> tuple[Sink, ...]:
    """Where a read carries something: a place that only a result can go to, or one that it looks up
    by or opens, where it takes something along."""
    plain = [leaf for leaf in found if not leaf.offered and not is_moment(leaf.value)]
    directed = tuple(
        Sink(leaf.path, leaf.name, k[0], str(leaf.value), k[1])
        for leaf in plain
        if (k := _directed(function, leaf))
    )
    if directed:
        return directed
    return _with_something_along(function, plain)


def _with_something_along(function: FunctionInfo, plain: list[Leaf]) -> tuple[Sink, ...]:
    """The addresses and people among a read's arguments, where something goes along to them."""
    addressed = tuple(s for leaf in plain if (s := _address_in_read(function, leaf)))
    places = {s.path for s in addressed}
    others = [leaf for leaf in plain if leaf.path not in places]
    is_opened = any(s.kind == "url" for s in addressed)
    if addressed and any(map(_goes_along if is_opened else _is_carried, others)):
        return addressed
    return _people_beside_contents(others)


def _people_beside_contents(others: list[Leaf]) -> tuple[Sink, ...]:
    """The people among arguments that also hold a file or a document."""
    contents = [leaf for leaf in others if not _CONTENT.isdisjoint(words_of(leaf.name))]
    people = tuple(s for leaf in others if leaf not in contents and (s := _person(leaf)))
    return people if contents else ()


def _person(leaf: Leaf) -> Sink | None:
    """Somebody whom a read with a file or a document beside him may hand it to."""
    named = isinstance(leaf.value, str) and not names_an_id(leaf.name)
    kinds = {_KIND_OF.get(w) for w in words_of(leaf.name)}
    found = "recipient" in kinds and leaf.name != "to"
    if not named or not found or leaf.marker:
        return None
    return Sink(leaf.path, leaf.name, "recipient", str(leaf.value), "name")


def _goes_along(leaf: Leaf) -> bool:
    """Whether an argument beside an address that is opened reaches who answers there."""
    if _is_carried(leaf):
        return True
    if not isinstance(leaf.value, str) or leaf.value.upper() in ("GET", "HEAD"):
        return False
    return _ABOUT.isdisjoint(words_of(leaf.name)[-1:]) or len(leaf.names) > 1


def _directed(function: FunctionInfo, leaf: Leaf) -> tuple[Kind, str] | None:
    """A parameter of a read that no look-up has: `copy_to`, `bcc`, `share_with`."""
    if leaf.marker:
        looked_up = "x-pii" in leaf.rules or leaf.marker in ("url", "path")
        kind = None if looked_up else _MARKED.get(leaf.marker)
        return (kind, "marker") if kind else None
    leaving = not _LEAVING.isdisjoint(words_of(function.fn_name))
    kinds = (_kind_directed(name, leaving=leaving) for name in reversed(leaf.names))
    found = next((kind for kind in kinds if kind), None)
    return (found, "name") if found else None


def _kind_directed(name: str, *, leaving: bool) -> Kind | None:
    """What the name of a parameter of a read directs; `leaving` where the function's own name says
    that its effect leaves."""
    words = words_of(name)
    if not words:
        return None
    kind = next((_KIND_OF[w] for w in reversed(words) if w in _KIND_OF), None)
    if not _DIRECTED.isdisjoint(words):
        return kind or "recipient"
    if words[-1] in _ABOUT or names_an_id(name):
        return None
    if leaving and (kind != "url" or words[-1] in _ENDS):
        return kind or ("recipient" if words[-1] in _ENDS else None)
    sends = not _CARRYING.isdisjoint(words[:-1])
    return (kind or _WEAK.get(words[-1])) if sends else None


def _address_in_read(function: FunctionInfo, leaf: Leaf) -> Sink | None:
    """An address among the arguments of a read."""
    if leaf.offered or leaf.is_secret or not isinstance(leaf.value, str):
        return None
    named, why = _kind(function, leaf) or (None, "form")
    is_url = is_linked(leaf.value) or (named == "url" and web_address(leaf.value))
    kind = form_of(leaf.value) or ("url" if is_url else None)
    return Sink(leaf.path, leaf.name, kind, leaf.value, why) if kind else None


def _addresses(function: FunctionInfo, found: tuple[Leaf, ...]) -> Iterator[Sink]:
    """What a read opens: addresses of the web, by form or by the name of their parameter. Another
    scheme (`memo://notes/1`) is the app's own name of a thing."""
    for leaf in found:
        if leaf.marker == "content":
            continue
        sink = _address_in_read(function, leaf)
        if sink and sink.kind == "url" and web_address(sink.value):
            yield sink


def _is_carried(leaf: Leaf) -> bool:
    """Whether an argument beside an address is something that goes along with it."""
    words = {word for name in leaf.names for word in words_of(name)}
    return names_an_id(leaf.name) or not _CONTENT.isdisjoint(words)


_END = r"[^\s<>\"'«»“”]+"
_ADDRESS = re.compile(
    rf"(?i)[\w.+%'-]+@[\w-]+(?:\.[\w-]+)+|\b(?:https?|wss?|ftp)://{_END}|\bwww\.{_END}"
)


def _addresses_in(text: str) -> Iterator[tuple[str, Kind]]:
    for match in _ADDRESS.finditer(text):
        value = match[0].rstrip(".,;:!?)]}")
        yield value, "recipient" if "@" in value and "://" not in value else "url"
