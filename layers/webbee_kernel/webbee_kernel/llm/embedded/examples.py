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
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final, NamedTuple

from ... import language
from ...catalogue import SLOT, PerObject
from ...language import key_fold
from ...types import JSONObject
from ..protocol import ToolSpec
from .message import COLON, Message, lexicon, sense, tokenized, trimmed

_BEHIND = "0"
_UNQUOTED = str.maketrans(dict.fromkeys('"«»“”„', " "))
_IDENTITY: Final = re.compile(r"(?:^|_)(?:id|uid|uuid)(s?)$")
_KINDS: Final = {
    "integer": "number",
    "number": "number",
    "boolean": "flag",
    "array": "list",
    "object": "object",
    "date": "date",
    "date-time": "date",
    "email": "email",
    "uri": "url",
}
"""By a schema's type or format."""
MOST_MIXED: Final = 3
"""Languages that the words of one example may seem to be of; of more they tell none."""
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


class Piece(NamedTuple):
    """A literal word, with the form that its author wrote, or a slot."""

    stem: str = ""
    slot: str = ""
    kind: str = ""
    form: str = ""


@dataclass(frozen=True)
class Pattern:
    """One example of a function. `asked`: it begins as a question does, and so must the message.
    Without an `example` it is the function's name and description, which have no order."""

    tool: ToolSpec
    example: str
    tag: str
    pieces: tuple[Piece, ...]
    fixed: Mapping[str, Any]
    asked: bool = False

    @cached_property
    def literals(self) -> frozenset[str]:
        """The stems of its literal words."""
        return frozenset(p.stem for p in self.pieces if p.stem)

    @property
    def first(self) -> frozenset[str]:
        """The words that it may begin with."""
        return frozenset({self.pieces[0].stem}) if self.example else self.literals


def _parameters(tool: ToolSpec) -> dict[str, Parameter]:
    schema = tool.input_schema
    return {p.name: p for p in _properties(schema, schema.get("$defs", {}), DEEPEST)}


parameters = PerObject(_parameters)
"""A function's parameters by name."""


def _properties(
    schema: JSONObject, definitions: Mapping[str, Any], depth: int
) -> Iterator[Parameter]:
    required = schema.get("required", ())
    for name, given in schema.get("properties", {}).items():
        yield _parameter(name, given, definitions, name in required, depth)


def _parameter(
    name: str, given: Any, definitions: Mapping[str, Any], required: bool, depth: int
) -> Parameter:
    schema = _resolved(given, definitions)
    kind = _kind(name, schema)
    fields: tuple[Parameter, ...] = ()
    if kind == "object" and depth:
        fields = tuple(_properties(schema, definitions, depth - 1))
    elif kind in ("list", "ids") and depth and isinstance(schema.get("items"), dict):
        fields = (_parameter("value", schema["items"], definitions, False, depth - 1),)
    return Parameter(name, kind, schema, required, fields)


def _resolved(schema: Any, definitions: Mapping[str, Any]) -> JSONObject:
    """A parameter's schema without references and without the null of an optional one."""
    if not isinstance(schema, dict):
        return {}
    beside = {k: v for k, v in schema.items() if k not in ("$ref", "anyOf", "oneOf", "allOf")}
    if "$ref" in schema:
        return {**definitions.get(str(schema["$ref"]).rpartition("/")[2], {}), **beside}
    for key in ("anyOf", "oneOf", "allOf"):
        options = [s for s in schema.get(key, ()) if s != {"type": "null"}]
        if len(options) == 1:
            return {**_resolved(options[0], definitions), **beside}
    return schema


def _kind(name: str, schema: JSONObject) -> str:
    if "enum" in schema:
        return "choice"
    if _IDENTITY.search(name) or schema.get("x-directs") == "id":
        return "ids" if schema.get("type") == "array" else "id"
    told = _KINDS.get(str(schema.get("type"))) or _KINDS.get(str(schema.get("format")))
    return told or ("date" if schema.get("x-directs") == "when" else "text")


# Examples


def patterns(tool: ToolSpec, tag: str) -> Sequence[Pattern]:
    """A function's examples in a language as patterns, read when they are first asked for."""
    read = _read(tool)
    if tag not in read:
        read[tag] = _patterns(tool, tag)
    return read[tag]


_read: PerObject[ToolSpec, dict[str, Sequence[Pattern]]] = PerObject(lambda tool: {})


def _patterns(tool: ToolSpec, tag: str) -> Sequence[Pattern]:
    """What a record is called may also be which one it is: "it", "the first one", its id."""
    mine = (e for e in tool.examples if tag in languages_of(SLOT.sub(" ", e)))
    found = [p for p in (_pattern(tool, example, tag) for example in mine) if p is not None]
    ids = [Piece(slot=p.name, kind=p.kind) for p in parameters(tool).values() if p.kind == "id"]
    titles = frozenset(language.title_keys()) if len(ids) == 1 else frozenset()
    named = [p for p in found if any(q.slot in titles for q in p.pieces) and ids[0] not in p.pieces]
    by_id = (tuple(ids[0] if q.slot in titles else q for q in p.pieces) for p in named)
    return (*found, *(replace(p, pieces=q) for p, q in zip(named, by_id, strict=True)))


def _pattern(tool: ToolSpec, example: str, tag: str) -> Pattern | None:
    """None for an example that marks what is no parameter, or has no literal word."""
    marks, known = list(SLOT.finditer(example)), parameters(tool)
    if any(m[1] not in known for m in marks):
        return None
    fixed = {m[1]: _fixed(m[3], known[m[1]]) for m in marks if m[3] is not None}
    text = SLOT.sub(lambda m: m[0] if m[3] is None else " ", example) if fixed else example
    if len(fixed) == len(marks):
        text = _marked(text, tool, tag)
    pieces, asked = _pieces(text, tool, tag)
    pattern = Pattern(tool, example, tag, tuple(pieces), fixed, asked)
    points = asked and [p.kind for p in pieces] in (["id"], ["ids"])  # "what is {id}?"
    return pattern if pattern.literals or points else None


def languages_of(example: str) -> frozenset[str]:
    """The languages that an example is read in: its own, or all where no word tells it."""
    likely = language.likely(example)
    return likely if len(likely) > MOST_MIXED else frozenset({language_of(example)})


@lru_cache(maxsize=4_096)
def language_of(example: str) -> str:
    """The language of an example."""
    likely = language.likely(example)
    usual = language.tag_for_script(language.script_of(example))  # one word in it tells no more
    found = language.detect(example, usual or "en") if len(likely) != 1 else min(likely)
    return found if found in likely else min(likely, default=found)


def _fixed(text: str, parameter: Parameter) -> Any:
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return value if parameter.kind not in ("text", "choice") else text


def _marked(text: str, tool: ToolSpec, tag: str) -> str:
    """An example without marks with a slot for each value that one parameter takes."""
    made, at, taken = "", 0, set[str]()
    for start, end, kind in _values(text, tool, tag):
        names = unfilled(tool, kind, taken)
        if start >= at and len(names) == 1:
            made, at = f"{made}{text[at:start]}{{{names[0]}:{kind}}}", end
            taken.add(names[0])
    return made + text[at:]


def unfilled(tool: ToolSpec, kind: str, taken: Collection[str]) -> list[str]:
    """The parameters of a kind that have no value yet: those that are required, or else all."""
    free = [p for p in parameters(tool).values() if p.kind == kind and p.name not in taken]
    return [p.name for p in free if p.required] or [p.name for p in free]


def _values(text: str, tool: ToolSpec, tag: str) -> list[tuple[int, int, str]]:
    """Where values stand in an example, and of what kind they are."""
    tokens = list(tokenized(text))
    dated = any(p.kind == "date" for p in parameters(tool).values())
    dates = language.dates(text, tag, "2026-01-01T00:00:00Z") if dated else ()
    spans = [(m.start, m.end, "date") for m in dates]
    for token in tokens:
        kind = "number" if token.text.isdigit() else token.kind
        spans += [(token.start, token.end, {"quote": "text"}.get(kind, kind))]
    spans += [(t.end, len(text), "text") for t in tokens[1:-1] if t.kind == "colon"][:1]
    return sorted(spans, key=lambda s: (s[0], -s[1]))


def _pieces(text: str, tool: ToolSpec, tag: str) -> tuple[list[Piece], bool]:
    """The words and slots of a marked text, and whether it begins as a question does. A colon is
    passed over but between two slots and, of a write, behind its only word: "note: …" is a command
    and "the note was good" is none."""
    parts, known, read = SLOT.split(text), parameters(tool), tool.action_type == "read"
    pieces = _literals(parts[0], tag)
    forms = [*(p.form for p in pieces), _BEHIND]
    start, _, asked = trimmed(forms, lexicon(tag), ask=read)
    del pieces[:start]
    for name, kind, after in zip(parts[1::4], parts[2::4], parts[4::4], strict=True):
        pieces += [Piece(slot=name, kind=kind or known[name].kind), *_literals(after, tag)]
    articles = lexicon(tag).articles
    pieces = [p for p in pieces if p.slot or p.form not in articles]
    heads = not read and sum(p.stem not in ("", COLON) for p in pieces) == 1
    shown = frozenset() if read else lexicon(tag).reference  # "note this: …" and no "note this"
    kept = [
        p
        for n, p in enumerate(pieces)
        if p.stem != COLON or heads or _parts_slots(pieces, n) or pieces[n - 1].stem in shown
    ]
    return kept, asked


def _literals(text: str, tag: str) -> list[Piece]:
    """The words and colons of a part of an example."""
    return [
        Piece(COLON) if t.kind == "colon" else Piece(sense(t.text, tag), form=key_fold(t.text))
        for t in tokenized(text.translate(_UNQUOTED))
    ]


def _parts_slots(pieces: list[Piece], at: int) -> bool:
    """Whether the colon at this place stands between two slots."""
    return 0 < at < len(pieces) - 1 and bool(pieces[at - 1].slot and pieces[at + 1].slot)


def by_name(tool: ToolSpec) -> tuple[Pattern, ...]:
    """A pattern of a function without examples, for what is near it: its name and description."""
    text = f"{tool.fn_name.replace('_', ' ')} {tool.description}"[:400]
    tag = language.detect(tool.description)
    stems = frozenset(Message.of(text).stems(tag)) - lexicon(tag).function - {"", COLON}
    pieces = tuple(Piece(s) for s in sorted(stems))
    return (Pattern(tool, "", tag, pieces, {}),) if pieces else ()


def speech(tool: ToolSpec, tag: str) -> frozenset[str]:
    """The words of all of a function's examples in one language."""
    return frozenset().union(*(p.literals for p in patterns(tool, tag)))


def dated(tool: ToolSpec) -> frozenset[str]:
    """The parameters that take a date, by their types or by an example."""
    marks = (m for example in tool.examples for m in SLOT.finditer(example))
    own = (p.name for p in parameters(tool).values() if p.kind == "date")
    return frozenset(own).union(m[1] for m in marks if m[2] == "date")
