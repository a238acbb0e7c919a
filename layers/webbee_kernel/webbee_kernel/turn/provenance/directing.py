"""Directing: the values of a call that send its effect somewhere or name what it changes. Pure.

An author says it with a marker (`webbee_kernel.sdk`: `Recipient`, `Account`, …, in the JSON schema
`x-directs`); where nothing is said, a format of the schema, the form of the value itself, the
parameter's name and the function's name tell it, in this order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ... import language
from ...arguments.names import names_a_secret
from ...catalogue import FunctionInfo
from ...values import JSON

MARKER = "x-directs"

KINDS = ("recipient", "account", "url", "amount", "path", "id", "name", "secret", "when", "content")
"""What a value may direct. `content` is a marker's way to say: this one directs nothing."""

LONGEST_NAME = 120
"""Characters of a value that can name something; what is longer is text."""

_FORMATS = {
    "email": "recipient",
    "idn-email": "recipient",
    "phone": "recipient",
    "iban": "account",
    "uri": "url",
    "url": "url",
    "uri-reference": "url",
    "iri": "url",
    "path": "path",
    "file-path": "path",
    "directory-path": "path",
    "uuid": "id",
    "password": "secret",
    "date": "when",
    "date-time": "when",
}
# Parameter names are identifiers of programs: English words in all but a few.
_WORDS = {
    "recipient": "recipient recipients to cc bcc receiver addressee attendee attendees participant"
    " participants invitee invitees guest guests email emails mail phone mobile tel msisdn address"
    " addresses",
    "account": "iban account card wallet bic swift payee beneficiary",
    "url": "url urls uri link links href endpoint webhook callback website domain host",
    "amount": "amount amounts price sum fee tip",
    "path": "path paths file files filename folder directory dir bucket",
    "id": "id ids uid uuid guid",
    "secret": "password passwd passcode pin secret token apikey",
    "name": "user users username usernames member members assignee contact person channel channels"
    " group room chat company vendor merchant supplier owner team",
    "when": "date day time start end due deadline until",
}
_KIND_OF = {word: kind for kind, words in _WORDS.items() for word in words.split()}
_CONTENT = frozenset(
    "title subject body text content contents message note notes comment description summary"
    " caption topic reason query label task item event name value data html markdown".split()
)
"""Names of what an effect carries: never taken for what it is about because the function is called
after it (`add_task(task=…)`)."""

_MANNER = frozenset(
    "type kind mode status level class category priority format method unit".split()
)
"""Last words of names whose values say how, not what: `order_type` is no name of an order."""
_ADDRESSING = frozenset({"send", "pay", "move"})
"""Concepts of what goes "to" somebody: `send_to`, `transfer_to`; `travel_to` is a place."""

_EMAIL = re.compile(r"[\w.+%'-]+@[\w-]+(?:\.[\w-]+)+")
_URL = re.compile(r"(?i)\b(?:[a-z][a-z0-9+.-]*://|www\.)[^\s<>\"'«»“”]+")
_IBAN = re.compile(r"(?i)[a-z]{2}\d{2}(?: ?[a-z0-9]{3,4}){3,8}(?: ?[a-z0-9]{1,4})?")
_PHONE = re.compile(r"\+[\d\s().-]{7,20}\d")
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_CHOICE = re.compile(r"[\"']([^\"']+)[\"']")
_SPLIT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])")


@dataclass(frozen=True, slots=True)
class Directing:
    """One such value: where it stands in the arguments (`attachments.0.file_id`), the name of its
    parameter and what it directs. `inside` says that it is a part of a longer text."""

    path: str
    name: str
    kind: str
    value: str | int | float
    inside: bool = False


def directing(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Directing, ...]:
    """The directing values of these arguments, in order. Booleans, empty values and what the schema
    itself offers (enum, const, default) direct nothing."""
    schema = function.input_schema
    found: list[Directing] = []
    for path, name, rules, value in _leaves(arguments, schema, schema):
        kind = "" if _offered(rules, value) else _kind(function, name, rules, value)
        if kind and kind != "content":
            found.append(Directing(path, name, kind, value))
        elif isinstance(value, str):
            links = {m[0].rstrip(".,;:!?)]}") for m in _URL.finditer(value)}
            found += [Directing(path, name, "url", url, inside=True) for url in sorted(links)]
    return tuple(found)


def form_of(value: object) -> str:
    """The kind that the value's own form tells, or nothing."""
    text = value.strip() if isinstance(value, str) else ""
    if _EMAIL.fullmatch(text) or _PHONE.fullmatch(text):
        return "recipient"
    if _URL.fullmatch(text):
        return "url"
    return "account" if _IBAN.fullmatch(text) and sum(c.isdigit() for c in text) >= 8 else ""


def words_of(name: str) -> list[str]:
    """The words of an identifier: `userEmail`, `user_email` → user, email."""
    return [w.lower() for w in _SPLIT.split(name) if w]


def named_kind(name: str) -> str:
    """The kind that a parameter's name tells, its last word first, or nothing."""
    return next((_KIND_OF[w] for w in reversed(words_of(name)) if w in _KIND_OF), "")


def _kind(function: FunctionInfo, name: str, rules: Mapping[str, Any], value: object) -> str:
    kind = _told(name, rules) or form_of(value)
    kind = kind or _kind_by_name(function, name)
    if kind == "when":
        return kind if _is_day(value) else ""
    if _is_text(value) and MARKER not in rules:
        return kind if kind in ("path", "url", "secret") else ""
    return kind or ("name" if _called_after(function, name, rules, value) else "")


def _is_text(value: object) -> bool:
    """Whether it is too long to name anything."""
    return isinstance(value, str) and len(value) > LONGEST_NAME


def _told(name: str, rules: Mapping[str, Any]) -> str:
    """The kind that the schema tells, or that the name of a secret does."""
    marked = rules.get(MARKER)
    if marked in KINDS:
        return str(marked)
    if names_a_secret(name) or rules.get("writeOnly") is True:
        return "secret"
    return _FORMATS.get(str(rules.get("format", "")), "")


def _kind_by_name(function: FunctionInfo, name: str) -> str:
    """The kind that the parameter's name tells; "to" behind another word only where the name or
    the function speaks of sending."""
    kind, words = named_kind(name), words_of(name)
    if kind != "recipient" or words[-1] != "to" or len(words) == 1:
        return kind
    if named_kind("_".join(w for w in words if w != "to")):
        return kind
    effects = language.of("en").words.effects
    said = {effects.get(language.stem(w, "en"), "") for w in (*words, *words_of(function.fn_name))}
    return kind if said & _ADDRESSING else ""


def _called_after(
    function: FunctionInfo, name: str, rules: Mapping[str, Any], value: object
) -> bool:
    """Whether the function is named after this parameter: `reserve_hotel(hotel)`. Its manner
    (`order_type`) and the choices that its description lists are no names."""
    words = words_of(name)
    if not isinstance(value, str) or not words or words[-1] in _MANNER:
        return False
    if _CONTENT.intersection(words) or value in _listed(str(rules.get("description", ""))):
        return False
    return bool(_singular(words) & _singular(words_of(function.fn_name)))


def _listed(description: str) -> frozenset[str]:
    """The choices that a description lists in brackets: `["driver", "passenger"]`."""
    return frozenset(
        choice
        for inside in _BRACKETS.findall(description)
        if len(choices := _CHOICE.findall(inside)) > 1
        for choice in choices
    )


def _singular(words: list[str]) -> set[str]:
    return {w.rstrip("s") for w in words}


def _is_day(value: object) -> bool:
    return isinstance(value, str) and bool(_DAY.match(value))


def _offered(rules: Mapping[str, Any], value: object) -> bool:
    """Whether the schema itself gives this value, at this parameter."""
    if "default" in rules and rules["default"] == value:
        return True
    options = [rules, *rules.get("anyOf", ()), *rules.get("oneOf", ())]
    return any(value in o.get("enum", ()) or o.get("const", ...) == value for o in options)


def _leaves(
    value: JSON, rules: Mapping[str, Any], root: Mapping[str, Any], path: str = "", name: str = ""
) -> Iterator[tuple[str, str, Mapping[str, Any], str | int | float]]:
    """Every scalar with its path, its parameter's name and that parameter's rules."""
    rules = _resolved(rules, root)
    if isinstance(value, Mapping):
        known = rules.get("properties", {})
        for key, item in value.items():
            below = f"{path}.{key}" if path else str(key)
            yield from _leaves(item, known.get(key, {}), root, below, str(key))
    elif isinstance(value, list):
        item_rules = _of_items(rules)
        for number, item in enumerate(value):
            yield from _leaves(item, item_rules, root, f"{path}.{number}", name)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and value != "":
        yield path, name, rules, value


def _of_items(rules: Mapping[str, Any]) -> Mapping[str, Any]:
    """The rules of a list's items, which take over what the list itself is for."""
    items = rules.get("items", {})
    inherited = {k: rules[k] for k in (MARKER, "format", "description") if k in rules}
    return {**inherited, **items} if isinstance(items, Mapping) else inherited


def _resolved(rules: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The rules with `$ref` followed and the one option of `X | None` taken in."""
    found = dict(rules)
    for _ in range(8):  # a schema that refers to itself ends here
        reference = found.pop("$ref", None)
        if isinstance(reference, str):
            target: Any = root
            for part in reference.removeprefix("#/").split("/"):
                target = target.get(part, {}) if isinstance(target, Mapping) else {}
            found = {**target, **found}
            continue
        options = [o for o in found.get("anyOf", ()) if o.get("type") != "null"]
        if len(options) != 1:
            return found
        found = {**options[0], **{k: v for k, v in found.items() if k != "anyOf"}}
    return found
