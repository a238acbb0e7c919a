"""Authors' examples as patterns: literal words, and slots for the values of parameters.

    "weather in {city} tomorrow"                a slot: filled whole, or the example does not fit
    "move {title} to {due:date}"                a slot that takes a date, whatever its parameter is
    "show unread mail {unread_only=true}"       an argument that no word of the message tells

An example without marks has slots where it holds a quotation, an address, a link, a date or a
number, and what stands behind a colon; each goes to the one parameter that takes such a value.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final

from ... import language
from ...catalogue import SLOT, PerObject
from ...types import JSONObject
from ..protocol import ToolSpec
from .message import COLON, Lexicon, Message, lexicon

_UNQUOTED = str.maketrans(dict.fromkeys('"«»“”„', " "))
_IDENTITY: Final = re.compile(r"(?:^|_)(?:id|uid|uuid)(s?)$")
_TYPES: Final = {
    "integer": "number",
    "number": "number",
    "boolean": "flag",
    "array": "list",
    "object": "object",
}
DEEPEST: Final = 3
"""Levels of objects and lists in which a parameter has fields of its own."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function. `kind`: text, number, date, email, url, choice, flag, list,
    object, id or ids. `fields`: those of an object, or the one of a list's items, named `value`."""

    name: str
    kind: str
    schema: JSONObject
    required: bool = False
    fields: tuple[Parameter, ...] = ()

    @property
    def is_secret(self) -> bool:
        """Whether its value is to be shown to nobody."""
        told = self.schema.get
        return bool(
            told("format") == "password" or told("writeOnly") or told("x-directs") == "secret"
        )

    @property
    def choices(self) -> list[Any]:
        """The values of an enumeration."""
        return list(self.schema.get("enum", ()))


@dataclass(frozen=True, slots=True)
class Piece:
    """A literal word, with the form that its author wrote, or a slot."""

    stem: str = ""
    slot: str = ""
    kind: str = ""
    form: str = ""


@dataclass(frozen=True)
class Pattern:
    """One example of a function. `exact`: its author, or a value's own form, says where its slots
    are. `asked`: it begins as a question does, and so must the message."""

    tool: ToolSpec
    example: str
    tag: str
    pieces: tuple[Piece, ...]
    fixed: Mapping[str, Any]
    asked: bool
    exact: bool

    @cached_property
    def literals(self) -> frozenset[str]:
        """The stems of its literal words."""
        return frozenset(p.stem for p in self.pieces if p.stem)

    @property
    def unordered(self) -> frozenset[str]:
        """The words of a pattern that has no order: of a name or a description."""
        return frozenset() if self.example else self.literals

    @property
    def has_slots(self) -> bool:
        """Whether it takes any value from the message."""
        return any(p.slot for p in self.pieces)


def _parameters(tool: ToolSpec) -> dict[str, Parameter]:
    schema = tool.input_schema
    return {p.name: p for p in _properties(schema, schema.get("$defs", {}), DEEPEST)}


def _properties(
    schema: JSONObject, definitions: Mapping[str, Any], depth: int
) -> Iterator[Parameter]:
    required = schema.get("required", ())
    for name, given in schema.get("properties", {}).items():
        yield _parameter(name, given, definitions, name in required, depth)


def _parameter(
    name: str, given: Any, definitions: Mapping[str, Any], required: bool, depth: int
) -> Parameter:
    told = _resolved(given, definitions)
    kind = _kind(name, told)
    fields: tuple[Parameter, ...] = ()
    if kind == "object" and depth:
        fields = tuple(_properties(told, definitions, depth - 1))
    elif kind in ("list", "ids") and depth and isinstance(told.get("items"), dict):
        fields = (_parameter("value", told["items"], definitions, False, depth - 1),)
    return Parameter(name, kind, told, required, fields)


parameters = PerObject(_parameters)
"""A function's parameters by name."""


def _resolved(schema: Any, definitions: Mapping[str, Any]) -> JSONObject:
    """A parameter's schema without references and without the null of an optional one."""
    if not isinstance(schema, dict):
        return {}
    for key in ("anyOf", "oneOf", "allOf"):
        options = [s for s in schema.get(key, ()) if s != {"type": "null"}]
        if len(options) == 1:
            return {**_resolved(options[0], definitions), **_without(schema, key)}
    if "$ref" in schema:
        target = definitions.get(str(schema["$ref"]).rpartition("/")[2], {})
        return {**target, **_without(schema, "$ref")}
    return schema


def _without(schema: JSONObject, key: str) -> JSONObject:
    return {k: v for k, v in schema.items() if k != key}


def _kind(name: str, schema: JSONObject) -> str:
    if "enum" in schema:
        return "choice"
    identity = _IDENTITY.search(name)
    if identity or schema.get("x-directs") == "id":
        return "ids" if schema.get("type") == "array" else "id"
    if schema.get("type") in _TYPES:
        return _TYPES[str(schema["type"])]
    kind = {"date": "date", "date-time": "date", "email": "email", "uri": "url"}
    told = kind.get(str(schema.get("format", "")), "")
    return told or ("date" if schema.get("x-directs") == "when" else "text")


def _patterns(tool: ToolSpec) -> tuple[Pattern, ...]:
    found = (_pattern(tool, example) for example in tool.examples)
    return tuple(p for p in found if p is not None)


patterns = PerObject(_patterns)
"""A function's examples as patterns."""


def _pattern(tool: ToolSpec, example: str) -> Pattern | None:
    marks = list(SLOT.finditer(example))
    known = parameters(tool)
    if any(m[1] not in known for m in marks):
        return None
    fixed = {m[1]: _fixed(m[3], known[m[1]]) for m in marks if m[3] is not None}
    text = SLOT.sub(_marked, example)
    tag = language_of(SLOT.sub(" ", example))
    pieces, asked = _pieces(text, tool, tag)
    pattern = Pattern(tool, example, tag, tuple(pieces), fixed, asked, exact=True)
    if not any(p.slot for p in pieces):
        pattern = _unmarked(pattern, text)
    return pattern if pattern.literals else None


def _marked(mark: re.Match[str]) -> str:
    """A slot between characters that no example has; nothing of a value that is fixed."""
    return f" \0{mark[1]}\0{mark[2] or ''}\0 " if mark[3] is None else " "


def _pieces(text: str, tool: ToolSpec, tag: str) -> tuple[list[Piece], bool]:
    """The words and slots of a marked text, and whether it begins as a question does. A colon is
    passed over but between two slots and, of a write, behind its only word: "note: …" is a command
    and "the note was good" is none."""
    known = parameters(tool)
    parts = re.split(r"\0(\w+)\0(\w*)\0", text)
    read = tool.action_type == "read"
    pieces, asked = _literals(parts[0], tag, read=read, first=True)
    for name, kind, after in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        pieces.append(Piece(slot=name, kind=kind or known[name].kind))
        pieces += _literals(after, tag, read=read, first=False)[0]
    heads = not read and sum(bool(p.stem) and p.stem != COLON for p in pieces) == 1
    kept = [p for n, p in enumerate(pieces) if p.stem != COLON or heads or _parts_slots(pieces, n)]
    return kept, asked


def _parts_slots(pieces: list[Piece], at: int) -> bool:
    """Whether the colon at this place stands between two slots."""
    return 0 < at < len(pieces) - 1 and bool(pieces[at - 1].slot and pieces[at + 1].slot)


@lru_cache(maxsize=4_096)
def language_of(example: str) -> str:
    """The language of an example."""
    return language.detect(" ".join(example.split()))


def _fixed(text: str, parameter: Parameter) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if parameter.kind not in ("text", "choice") else text


def _literals(text: str, tag: str, *, read: bool, first: bool) -> tuple[list[Piece], bool]:
    """The literal words of a part of an example, and whether it begins as a question does."""
    message, known = Message.of(text.translate(_UNQUOTED)), lexicon(tag)
    if first:
        bounds = message.bounds(tag, ask=read)
        start, asked = bounds.first, bounds.asked
    else:
        start, asked = 0, False
    stems = message.stems(tag)[start:]
    tokens = message.tokens[start:]
    kept = [
        _literal(stem, token.text)
        for stem, token in zip(stems, tokens, strict=True)
        if not is_article(token.text, known)
    ]
    return kept, asked


def _literal(stem: str, text: str) -> Piece:
    form = language.fold(text)
    return Piece(stem or form, form=form)


def is_article(word: str, known: Lexicon) -> bool:
    """Whether a word may stand before any other and says nothing."""
    return language.fold(word) in known.articles


def _unmarked(pattern: Pattern, text: str) -> Pattern:
    """The pattern of an example without marks: its quotations, addresses, dates, numbers and what
    stands behind a colon are slots, where one parameter takes each."""
    message = Message.of(text)
    known = lexicon(pattern.tag)
    bounds = message.bounds(pattern.tag, ask=pattern.tool.action_type == "read")
    stems = message.stems(pattern.tag)
    dated = _dated(text, pattern.tag)
    pieces: list[Piece] = []
    for at in range(bounds.first, bounds.last):
        token = message.tokens[at]
        behind_colon = at > bounds.first and ":" in text[message.tokens[at - 1].end : token.start]
        kind = "rest" if behind_colon else _kind_of(token.text, token.kind, token.start, dated)
        slot = _taker(pattern.tool, kind, pieces)
        if slot:
            if pieces and pieces[-1] == slot:
                continue  # a date of several words
            pieces.append(slot)
            if kind == "rest":
                break
        elif not is_article(token.text, known) and token.kind != "colon":
            pieces.append(_literal(stems[at], token.text))
    return replace(pattern, pieces=tuple(pieces))


def _dated(text: str, tag: str) -> list[tuple[int, int]]:
    found = language.dates(text, tag, "2026-01-01T00:00:00+00:00")
    return [(m.start, m.end) for m in found if m.kind in ("date", "weekday", "moment", "time")]


def _kind_of(text: str, kind: str, start: int, dated: list[tuple[int, int]]) -> str:
    if kind != "word":
        return "rest" if kind == "quote" else kind
    if any(a <= start < b for a, b in dated):
        return "date"
    return "number" if text.isdigit() else ""


def _taker(tool: ToolSpec, kind: str, before: list[Piece]) -> Piece | None:
    """The slot of the one parameter that takes a value of this kind."""
    if not kind:
        return None
    taken = {p.slot for p in before[:-1]}
    wanted = "text" if kind == "rest" else kind
    mine = [p for p in parameters(tool).values() if p.kind == wanted and p.name not in taken]
    needed = [p for p in mine if p.required] or mine
    return Piece(slot=needed[0].name, kind=wanted) if len(needed) == 1 else None


def by_name(tool: ToolSpec) -> tuple[Pattern, ...]:
    """A pattern of a function without examples, for what is near it: its name and description."""
    text = f"{tool.fn_name.replace('_', ' ')} {tool.description}"[:400]
    tag = language.detect(tool.description)
    function = lexicon(tag).function
    stems = {language.stem(w.text, tag) for w in language.tokens(text)} - function
    pieces = tuple(Piece(s) for s in sorted(stems))
    return (Pattern(tool, "", tag, pieces, {}, asked=False, exact=False),) if pieces else ()


def text_wanted(tool: ToolSpec, arguments: JSONObject) -> str:
    """The parameter for a text that nothing fills yet, one that is required before others."""
    texts = [p for p in parameters(tool).values() if p.kind == "text" and p.name not in arguments]
    wanted = [p for p in texts if p.required] or texts
    return wanted[0].name if wanted else ""


def openings(tools: tuple[ToolSpec, ...]) -> Iterator[tuple[str, str]]:
    """The words that commands begin with: language and stem."""
    for tool in tools:
        for pattern in patterns(tool):
            if pattern.pieces[0].stem:
                yield pattern.tag, pattern.pieces[0].stem


def speech(tool: ToolSpec, tag: str) -> frozenset[str]:
    """The words of all of a function's examples in one language."""
    return frozenset().union(*(p.literals for p in patterns(tool) if p.tag == tag))
