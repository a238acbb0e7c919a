"""Leaves: every scalar among a call's arguments, with the parts of the schema that describe it.

Nested objects and lists are walked to their end, and so is a text that holds a JSON object: what
stands in it reaches the handler all the same. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain, islice
from types import MappingProxyType
from typing import Any, NamedTuple

from .. import language
from ..catalogue import GOES_TO, FunctionInfo, Shapes, shapes_of
from ..types import JSON, CallOutcome, JSONObject, Step
from .addresses import form_of
from .field_names import names_a_secret, names_an_id, words_of

MARKER = "x-directs"
"""In a parameter's schema: what the author says that it directs (`webbee_kernel.sdk.directs`)."""
TITLES, CHOICES = "x-titles", "x-choices"
"""There, too: what its author calls it, by language (`webbee_kernel.sdk.titled`)."""

_OTHERS = ("additionalProperties", "unevaluatedProperties")
MAX_DECLARED = 2_000
"""Parameters of a schema that are looked at."""
MAX_DEPTH = 24
"""Levels that are walked; what stands deeper is one text."""

Schema = Mapping[str, Any]

_IDENTIFIER = re.compile(r"[^\W\d]+")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_CHOICE = re.compile(r"[\"'`]([^\"'`]+)[\"'`]")
_INHERITED = (MARKER, "format", "description")
"""What is said of a list or an object and holds for all that stands in it."""


class Leaf(NamedTuple):
    """One scalar: where it stands (`attachments.0.file_id`), the names above it from the parameter
    down to its own, the shapes that its schema gives it, whether the schema itself offers the
    value, whether the call leaves it to its default, and whether it is the key of an object."""

    path: str
    names: tuple[str, ...]
    shapes: Shapes
    value: str | int | float | bool
    offered: bool = False
    filled: bool = False
    is_key: bool = False

    @property
    def name(self) -> str:
        """Its own name; the nearest one above for an item of a list."""
        return self.names[-1] if self.names else ""

    @property
    def marker(self) -> str:
        """What the author says that it directs; empty where he says nothing."""
        return _given(self.shapes, MARKER)

    @property
    def titles(self) -> Mapping[str, str]:
        """What its author calls it, by language."""
        return next((s[TITLES] for s in self.shapes if isinstance(s.get(TITLES), Mapping)), {})

    @property
    def choices(self) -> Mapping[str, Mapping[str, str]]:
        """What its author calls values that it may have, each by language."""
        return next((s[CHOICES] for s in self.shapes if isinstance(s.get(CHOICES), Mapping)), {})

    @property
    def format(self) -> str:
        """The format that its schema gives."""
        return _given(self.shapes, "format")

    @property
    def is_item(self) -> bool:
        """Whether it stands in a list, where what is true or false, or how many, tells as well."""
        return not (self.is_key or self.path.endswith(self.name))

    @property
    def said(self) -> str:
        """What a message says that means it: its value, or what a flag is called."""
        if (self.is_set or self.value is False) and not self.is_item:
            return " ".join(words_of(self.name))
        is_whole = isinstance(self.value, float) and self.value.is_integer()
        return str(int(self.value) if is_whole else self.value)

    @property
    def is_set(self) -> bool:
        """Whether it is a flag that is set, also by a number or a word that is taken for true."""
        is_flag = any(shape.get("type") == "boolean" for shape in self.shapes)
        return self.value is True or (is_flag and bool(self.value))

    @property
    def is_taken_back(self) -> bool:
        """Whether it is a flag that is set for who says nothing."""
        return self.value is False and any(s.get("default") is True for s in self.shapes)

    @property
    def is_chosen(self) -> bool:
        """Whether it is one of the texts or numbers that the schema offers, and not the one for who
        says nothing."""
        return self.offered and not isinstance(self.value, bool) and not self.is_default

    @property
    def is_default(self) -> bool:
        """Whether to leave it out says the same."""
        given = (s["default"] for s in self.shapes if "default" in s)
        return self.filled or any(d == self.value and type(d) is type(self.value) for d in given)

    @property
    def tells_by_default(self) -> bool:
        """Whether it says how much or which, to who leaves it to its default."""
        return not (isinstance(self.value, bool) or self.is_key) and bool(self.value)

    @property
    def is_personal(self) -> bool:
        """Whether its author says that it is personal data."""
        return bool(_given(self.shapes, "x-pii"))

    @property
    def is_secret(self) -> bool:
        """Whether it is to be shown to nobody."""
        return self.is_declared_secret or names_a_secret(self.name)

    @property
    def is_declared_secret(self) -> bool:
        """Whether its schema says so, and not its name alone."""
        declared = self.marker == "secret" or self.format == "password"
        return declared or any(shape.get("writeOnly") is True for shape in self.shapes)


def _given(shapes: Shapes, keyword: str) -> str:
    """What a schema says first under a keyword."""
    return next((str(shape[keyword]) for shape in shapes if shape.get(keyword)), "")


def leaves(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Leaf, ...]:
    """Every scalar of these arguments in order, with the defaults of what they leave out; empty
    texts, nulls, and booleans but those of a list are none."""
    found = shown(function, arguments)
    return tuple(x for x in found if x.value != "" and (x.is_item or not isinstance(x.value, bool)))


def shown(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Leaf, ...]:
    """The same with empty texts and what is true or false, which are worth reading."""
    schema = function.input_schema
    whole = _walk(dict(arguments), shapes_of(schema, schema), schema, "", (), 0)
    return tuple(inner for leaf in whole for inner in _unfolded(leaf))


def scalars(
    arguments: Mapping[str, JSON], schema: Mapping[str, JSON] = MappingProxyType({})
) -> Iterator[Leaf]:
    """What a call gives itself, and the addresses that a default fills in; a text that holds JSON
    whole."""
    for leaf in _walk(dict(arguments), shapes_of(schema, schema), schema, "", (), 0):
        # a default address is a destination that nobody chose: it has to be seen
        if leaf.value != "" and (not leaf.filled or form_of(str(leaf.value))):
            yield leaf


def values_of(calls: Iterable[Step | CallOutcome]) -> frozenset[str]:
    """The values that some calls give themselves."""
    return frozenset(str(leaf.value) for one in calls for leaf in scalars(one.arguments))


def _unfolded(leaf: Leaf) -> Iterator[Leaf]:
    """The leaf, and behind it what stands in the JSON object or list that its text holds."""
    yield leaf
    # `payload: '{"to": "…"}'` would hide a destination in a text
    held = _json_in(leaf.value) if isinstance(leaf.value, str) else None
    if held is not None:
        for inner in _walk(held, (), {}, leaf.path, leaf.names, 0):
            yield from _unfolded(inner)


def parameters(schema: Mapping[str, Any]) -> Iterator[Leaf]:
    """Every parameter that a schema declares, nested ones behind what holds them, as a leaf without
    a value: what an author is told of his function goes by these."""
    yield from islice(_declared(shapes_of(schema, schema), schema, "", (), ()), MAX_DECLARED)


def offered(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The values that the enumerations of a schema offer."""
    for parameter in parameters(schema):
        yield from (v for shape in parameter.shapes for v in shape.get("enum") or ())


def _declared(
    shapes: Shapes, root: Schema, path: str, names: tuple[str, ...], above: Shapes
) -> Iterator[Leaf]:
    # a list of objects declares what its items hold
    items = [inner for s in shapes for inner in shapes_of(s.get("items"), root)]
    every, offered = (*shapes, *items), any("enum" in s or "const" in s for s in shapes)
    if names:
        yield Leaf(path, names, every, "", offered)
    for shape in every:
        # what stands within itself was told where it begins
        is_new = not any(shape is one for one in above)
        for key, rules in _named(shape) if is_new else ():
            inner, below = shapes_of(rules, root), _below(path, key)
            yield from _declared(inner, root, below, (*names, str(key)), (*above, shape))


def _named(shape: Schema) -> Iterator[tuple[str, Any]]:
    """The members that a shape declares, those without a name of their own as `*`."""
    yield from _properties(shape).items()
    yield from (("*", rule) for rule in _of_others((shape,)))


def _properties(shape: Mapping[str, Any]) -> Mapping[str, Any]:
    found = shape.get("properties")
    return found if isinstance(found, Mapping) else {}


def without_secrets(arguments: JSONObject, schema: JSONObject) -> JSONObject:
    """The arguments at any depth, less those whose name or schema (`format: password`, `writeOnly`)
    says that they are secret."""
    members = (m for part in _parts(schema) for m in _properties(part).items())
    declared = (
        next(_declared(shapes_of(rule, schema), schema, "", (str(key),), ()))
        for key, rule in members
    )
    # by name at any depth: what is a secret in one object is none less in another
    hidden = frozenset(p.name for p in declared if p.is_declared_secret)
    found: JSONObject = _open(arguments, hidden)
    return found


def _parts(schema: object) -> Iterator[Schema]:
    """Every object of a schema as it is written."""
    if isinstance(schema, Mapping):
        yield schema
    held = schema.values() if isinstance(schema, Mapping) else schema
    for part in held if isinstance(held, Iterable) and not isinstance(held, str) else ():
        yield from _parts(part)


def _open(value: JSON, hidden: frozenset[str]) -> JSON:
    if isinstance(value, dict):
        shown = {str(k): v for k, v in value.items() if k not in hidden}
        return {k: _open(v, hidden) for k, v in shown.items() if not names_a_secret(k)}
    return [_open(v, hidden) for v in value] if isinstance(value, list) else value


def declared(arguments: JSONObject, schema: JSONObject, tag: str, now: float) -> JSONObject:
    """The arguments as a function takes them: without what an object of its schema does not name
    (an app drops that, or knows it under another name), and each text under a parameter that takes
    a day or a moment (`format: date`, `directs("when")`) as the ISO date that it says, in the
    language of its writer or another; what says none stays as it is. `now` in Unix seconds: days
    are those of UTC."""
    # the user's language first: 03/04 is a different day in the next one
    tags = tuple(dict.fromkeys((language.of(tag).tag, *language.tags())))
    read = partial(language.date_of, now=datetime.fromtimestamp(now, UTC), tags=tags)
    found: JSONObject = _taken(arguments, shapes_of(schema, schema), schema, read, 0)
    return found


def _taken(
    value: JSON, shapes: Shapes, root: JSONObject, read: Callable[[str], str], depth: int
) -> JSON:
    if isinstance(value, str):
        return _date_in(value, shapes, read)
    depth += 1
    if depth > MAX_DEPTH or not isinstance(value, list | dict):
        return value
    if isinstance(value, list):
        items = enumerate(value)
        return [_taken(v, _of_item(shapes, n, root), root, read, depth) for n, v in items]
    kept = _declared_members(value, shapes)
    rules = {key: shapes_of(rule, root) for key, rule in _rules(shapes).items()}
    return {k: _taken(v, rules.get(k, ()), root, read, depth) for k, v in kept}


def _declared_members(value: JSONObject, shapes: Shapes) -> Iterator[tuple[str, JSON]]:
    """The members of an object that its schema names; all, where it names none or allows others."""
    others = (*_OTHERS, "patternProperties")
    # `additionalProperties: true` or a schema: the function takes any member
    is_open = any(shape.get(rule, False) is not False for shape in shapes for rule in others)
    names = _rules(shapes)
    if is_open or not any("properties" in shape for shape in shapes):
        names = value
    return ((k, v) for k, v in value.items() if k in names)


def _date_in(text: str, shapes: Shapes, read: Callable[[str], str]) -> str:
    kind = _given(shapes, "format")
    if kind not in ("date", "date-time") and _given(shapes, MARKER) != "when":
        return text
    with suppress(ValueError):
        datetime.fromisoformat(text.strip())
        return text
    said = read(text)
    return text if not said or (kind == "date" and "T" in said) else said


def _walk(
    value: JSON, shapes: Shapes, root: Schema, path: str, names: tuple[str, ...], depth: int
) -> Iterator[Leaf]:
    # what is nested deeper than anybody reads is compared as one text
    if depth >= MAX_DEPTH and isinstance(value, Mapping | list):
        yield Leaf(path, names, (), json.dumps(value, ensure_ascii=False, default=str))
    elif isinstance(value, Mapping):
        yield from _members(value, shapes, root, path, names, depth + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            items = _of_item(shapes, number, root)
            yield from _walk(item, items, root, f"{path}.{number}", names, depth + 1)
    elif isinstance(value, str | int | float):
        is_id = bool(names) and names_an_id(names[-1])
        yield Leaf(path, names, shapes, value, _offers(shapes, value, is_id=is_id))


def _members(
    value: Schema, shapes: Shapes, root: Schema, path: str, names: tuple[str, ...], depth: int
) -> Iterator[Leaf]:
    """What stands in an object: its members, the keys that its schema does not name (of a call's
    own parameters, where it names any), and the defaults of members which a call leaves out, of
    whichever form."""
    rules, others = _rules(shapes), _of_others(shapes)
    for key, item in value.items():
        below = _below(path, key)
        # a model can tell things in keys as well as in values
        if key not in rules and (names or rules or not _IDENTIFIER.fullmatch(str(key))):
            yield Leaf(below, names or ("also",), _inherited(shapes), str(key), is_key=True)
        said = [rules[key]] if key in rules else others
        inner = tuple(chain.from_iterable(shapes_of(rule, root) for rule in said))
        yield from _walk(item, inner, root, below, (*names, str(key)), depth)
    # members that the call leaves out take their default
    for key in rules.keys() - value.keys():
        yield from _filled(key, rules[key], root, _below(path, key), names, depth)


def _filled(
    key: str, rule: Any, root: Schema, path: str, names: tuple[str, ...], depth: int
) -> Iterator[Leaf]:
    """What a member that a call leaves out is by its default."""
    inner = shapes_of(rule, root)
    # pydantic fills it in before the handler sees it, so it is judged too
    told = (s[word] for word in (GOES_TO, "default") for s in inner if word in s)
    for leaf in _walk(next(told, None), inner, root, path, (*names, key), depth):
        yield leaf._replace(filled=True)


def _of_others(shapes: Shapes) -> list[Schema]:
    """What is said of members that have no name of their own, whichever pattern theirs meets: a
    stranger's is not tried."""
    found = [s.get(word) for s in shapes for word in _OTHERS]
    held = (s.get("patternProperties") for s in shapes)
    found += [rule for by in held if isinstance(by, Mapping) for rule in by.values()]
    return [rule for rule in found if isinstance(rule, Mapping)]


def _rules(shapes: Shapes) -> Mapping[str, Any]:
    """What the forms of an object say of its members, the first form first."""
    return {k: rule for s in reversed(shapes) for k, rule in _properties(s).items()}


def _below(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _json_in(text: str) -> Any:
    """The object or list that a text holds; None where it is plain text."""
    # cheap: most texts are no JSON
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict | list) and held else None


def _of_item(shapes: Shapes, number: int, root: Mapping[str, Any]) -> Shapes:
    """The shapes of an item of a list, which takes over what the list itself is for."""
    for shape in shapes:
        placed = list(shape.get("prefixItems") or ())[number : number + 1]
        if isinstance(rules := (placed or [shape.get("items")])[0], Mapping):
            return (*shapes_of(rules, root), *_inherited(shapes))
    return _inherited(shapes)


def _inherited(shapes: Shapes) -> Shapes:
    return ({keyword: _given(shapes, keyword) for keyword in _INHERITED},)


def _offers(shapes: Shapes, value: object, *, is_id: bool) -> bool:
    """Whether the schema itself gives this value at this place: an enumeration, a constant, a
    default, of what is no id also an example, or a choice that its description lists."""
    for shape in shapes:
        # `...` equals no value: an absent keyword offers nothing
        constants = (shape.get("const", ...), shape.get("default", ...))
        if value in constants or value in (shape.get("enum") or ()):
            return True
    examples = [e for shape in shapes for e in shape.get("examples") or ()]
    return not is_id and (value in examples or value in choices(_given(shapes, "description")))


def choices(description: str) -> frozenset[str]:
    """What a description offers between quotation marks, two or more, in brackets or not:
    `["driver", "passenger"]`, `either 'asc' or 'desc'`."""
    found = _CHOICE.findall(description)
    for inside in _BRACKETS.findall(description):
        # "[asc, desc]" offers two, "[optional]" none
        bare = [part.strip(" \"'`") for part in re.split(r"[,|/]", inside)]
        found += [part for part in bare if part and " " not in part] if len(bare) > 1 else []
    return frozenset(found) if len(found) > 1 else frozenset()
