"""What a JSON schema says an argument is: types and formats first, markers, then its name in the
words that `language` has for keys."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from ... import language
from ...language import fold
from ...values.plain import JSONObject
from .words import concepts, words

ArgumentKind = Literal[
    "email", "url", "party", "id", "date", "bool", "enum", "number", "text", "other"
]

_SAYS = re.compile(r"([\w-]+)\s*\(([^()]*)\)")
_BRACKETS = re.compile(r"\(([^()]*)\)")
_FALSE = re.compile(r"\bfalse\b[^.]*?([\w-]*)\s*\(([^()]*)\)", re.IGNORECASE)
_PART = re.compile(r"[A-Za-z][a-z]*|[^\W_]+")
_DIRECTED: Mapping[str, ArgumentKind] = {
    "url": "url",
    "id": "id",
    "account": "id",
    "amount": "number",
}
_KEPT = 1024


@dataclass(frozen=True, slots=True)
class Argument:
    """One property.

    `values` are those of an enum (or True and False), each with the words, and their stems,
    that mean it. `said` are the stems a user names it with ("subject"). `is_title`: a short
    text that names a thing; `is_body`: what a function is mainly about; `holds_address`: may be an
    address.
    """

    name: str
    kind: ArgumentKind
    required: bool
    many: bool
    description: str
    values: tuple[tuple[Any, frozenset[str]], ...] = ()
    iso: bool = False
    minimum: float | None = None
    maximum: float | None = None
    default: Any = None
    said: frozenset[str] = frozenset()
    is_title: bool = False
    is_body: bool = False
    holds_address: bool = False


_read: dict[int, tuple[JSONObject, tuple[Argument, ...]]] = {}


def arguments_of(schema: JSONObject) -> tuple[Argument, ...]:
    """The properties in order. Read once per schema object: a catalogue outlives its requests."""
    known = _read.get(id(schema))
    if known is None or known[0] is not schema:
        if len(_read) >= _KEPT:
            _read.clear()
        known = _read[id(schema)] = (schema, _arguments(schema))
    return known[1]


def takes(schema: JSONObject, kind: ArgumentKind, *, required: bool = False) -> bool:
    """Whether a call takes a value of this kind, or must."""
    return any(a.kind == kind and (a.required or not required) for a in arguments_of(schema))


def takes_address(schema: JSONObject) -> bool:
    """Whether an address may be an argument, or stand in one."""
    kinds = ("email", "party")
    return any(a.kind in kinds or a.holds_address or a.is_body for a in arguments_of(schema))


def is_directed(schema: JSONObject) -> bool:
    """Whether a call tells somebody something: a text, to an address or in answer to a thing."""
    told = takes(schema, "text", required=True)
    return told and (takes(schema, "email", required=True) or takes(schema, "id", required=True))


@lru_cache(maxsize=16)
def keys(role: str) -> frozenset[str]:
    """The words of a role of keys, in all languages."""
    found = (language.of(tag).words.forms(role) for tag in language.tags())
    return frozenset(fold(w) for forms in found for w in forms)


def parts(name: str) -> tuple[str, ...]:
    """`fromAddress`, `from_address` → from, address."""
    return tuple(p.casefold() for p in _PART.findall(name))


def _arguments(schema: JSONObject) -> tuple[Argument, ...]:
    required = set(schema.get("required", ()))
    definitions = schema.get("$defs", {})
    properties = schema.get("properties", {})
    return tuple(
        _argument(str(name), _resolved(p, definitions), name in required, definitions)
        for name, p in properties.items()
    )


def _resolved(prop: JSONObject, definitions: JSONObject) -> JSONObject:
    """The property with its `$ref`, `allOf` and "or null" followed."""
    for choice in (prop, *prop.get("allOf", ()), *prop.get("anyOf", ()), *prop.get("oneOf", ())):
        ref = str(choice.get("$ref", ""))
        target = definitions.get(ref.rpartition("/")[2], {}) if ref else choice
        if target.get("type") not in (None, "null") or "enum" in target or "const" in target:
            kept = {k: v for k, v in prop.items() if k in ("description", "default", "x-directs")}
            return {**target, **kept}
    return prop


def _argument(name: str, prop: JSONObject, required: bool, definitions: JSONObject) -> Argument:
    many = prop.get("type") == "array"
    inner = _resolved(prop.get("items") or {}, definitions) if many else prop
    description = str(prop.get("description", ""))
    kind = _kind(name, inner)
    own = parts(name)
    return Argument(
        name=name,
        kind=kind,
        required=required,
        many=many,
        description=description,
        values=_values(own, inner, description, kind),
        iso=inner.get("format") == "date",
        minimum=inner.get("minimum", inner.get("exclusiveMinimum")),
        maximum=inner.get("maximum", inner.get("exclusiveMaximum")),
        default=prop.get("default"),
        said=_stems(*own, *(_BRACKETS.findall(description))),
        is_title=kind == "text" and bool(set(own) & set(language.title_keys())),
        is_body=kind == "text" and bool(set(own) & keys("body_keys")),
        holds_address=kind == "text" and not required and _speaks_of_address(own, description),
    )


def _kind(name: str, prop: JSONObject) -> ArgumentKind:
    kind, form = prop.get("type"), prop.get("format")
    if "enum" in prop or "const" in prop:
        return "enum"
    if kind == "boolean":
        return "bool"
    directed = _DIRECTED.get(str(prop.get("x-directs")))
    if directed:
        return directed
    own = parts(name)
    if own and own[-1] in keys("id_keys"):
        return "id"
    if kind in ("integer", "number"):
        return "number"
    if kind != "string":
        return "other"
    return _text_kind(own, str(form or ""), prop)


def _text_kind(own: tuple[str, ...], form: str, prop: JSONObject) -> ArgumentKind:
    if form in ("uri", "url"):
        return "url"
    if form in ("date", "date-time") or set(own) & keys("date_keys"):
        return "date"
    if form == "email" or prop.get("x-pii") == "email":
        return "email"
    if set(own) & keys("party_keys"):
        return "party"
    addressed = bool(own) and own[-1] in keys("address_keys")
    return (
        "email"
        if addressed and _speaks_of_address((), str(prop.get("description", own[-1])))
        else "text"
    )


def _speaks_of_address(own: tuple[str, ...], description: str) -> bool:
    told = [*own, *(w.text for w in words(description.partition(";")[0], "en"))]
    return any(c in ("#address", "#account") for text in told for c in concepts(text, "en"))


def _values(
    own: tuple[str, ...], prop: JSONObject, description: str, kind: ArgumentKind
) -> tuple[tuple[Any, frozenset[str]], ...]:
    """Words for each value: its own, those that languages have for it, and those the description
    gives in brackets after it.

    `done (finished, ready)` for an enum, `False to unpin (release)` for a boolean.
    """
    said = {fold(m[1]): m[2] for m in _SAYS.finditer(description)}
    if kind == "enum":
        options = prop.get("enum", [prop.get("const")])
        return tuple((v, _stems(str(v), said.get(fold(str(v)), ""))) for v in options)
    if kind != "bool":
        return ()
    telling = [p for p in own if p not in keys("flag_words")]
    no = _FALSE.search(description)
    false = _stems(no[1], no[2]) if no else frozenset()
    yes = _stems(*telling, *(said.get(p, "") for p in telling), said.get("true", ""))
    return (False, false), (True, yes - false)


def _stems(*texts: str) -> frozenset[str]:
    """Stems of one-word descriptions (a phrase would match by any of its words), and of what
    languages say for them."""
    phrases = [p.strip() for text in texts for p in re.split(r"[,;/]", text.replace("_", " "))]
    single = [p for p in phrases if p and len(p.split()) == 1]
    found: set[str] = set()
    for word in single:
        found |= {w.stem for w in words(word, "en")} | {fold(word)} | _means(fold(word))
    return frozenset(found)


@lru_cache(maxsize=_KEPT)
def _means(value: str) -> frozenset[str]:
    """The stems that languages have for a value such as `unread`."""
    listed = [(tag, language.of(tag).words.meanings("values")) for tag in language.tags()]
    meant = {value, *(c for _, values in listed for c in values.get(value, ()))}
    said = [(w, tag) for tag, values in listed for w, c in values.items() if c & meant]
    return frozenset(f for w, tag in said for f in (w, language.stem(w, tag)))
