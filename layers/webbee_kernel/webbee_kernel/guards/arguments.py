"""Leaves: every scalar argument of a call, with the schemas that describe it. Pure.

Nested objects and lists are walked, and so are strings that hold JSON, since the handler may parse
them.
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
from ..catalogue import GOES_TO, FunctionInfo, PerObject, Shapes, shapes_of
from ..sdk.result import ANSWERS
from ..types import JSON, CallOutcome, JSONObject, Step
from .addresses import Form, form_of
from .field_names import (
    ABOUT,
    CONTENT,
    LOOKUP,
    PLACES,
    is_count,
    is_id_name,
    is_record_number,
    is_secret_name,
    words_of,
)

MARKER = "x-directs"
"""Schema keyword for what a parameter directs (`webbee_kernel.sdk.directs`)."""
TITLES, CHOICES = "x-titles", "x-choices"
"""Schema keywords for titles by language (`webbee_kernel.sdk.titled`)."""

_OPEN_KEYWORDS = ("additionalProperties", "unevaluatedProperties")
MAX_PARAMETERS = 2_000
"""Maximum parameters of a schema that are inspected."""
MAX_DEPTH = 24
"""Maximum depth; deeper values are one text."""

Schema = Mapping[str, Any]

_IDENTIFIER = re.compile(r"[^\W\d]+")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_CHOICE = re.compile(r"[\"'`]([^\"'`]+)[\"'`]")
_INHERITED = (MARKER, "format", "description")
"""Keywords that items inherit from their list or object."""


class Leaf(NamedTuple):
    """One scalar argument: its path (`attachments.0.file_id`), the names from the parameter down to
    its own, and its schemas. `is_offered`: the schema itself contains the value; `is_absent`: the
    call omits it and the default applies; `is_key`: it is a key of an object."""

    path: str
    names: tuple[str, ...]
    shapes: Shapes
    value: str | int | float | bool
    is_offered: bool = False
    is_absent: bool = False
    is_key: bool = False

    @property
    def name(self) -> str:
        """Its own name; for a list item that of the list."""
        return self.names[-1] if self.names else ""

    @property
    def words(self) -> list[str]:
        """The words of its name."""
        return words_of(self.name)

    @property
    def last(self) -> str:
        """The last word of its name."""
        return "".join(self.words[-1:])

    @property
    def marker(self) -> str:
        """The author's `x-directs` marker, or empty."""
        return keyword_of(self.shapes, MARKER)

    def by_language(self, keyword: str) -> Mapping[str, Any]:
        """The author's titles by language (`TITLES`), or those of its values (`CHOICES`)."""
        return next((s[keyword] for s in self.shapes if isinstance(s.get(keyword), Mapping)), {})

    @property
    def format(self) -> str:
        """The schema's `format`, or empty."""
        return keyword_of(self.shapes, "format")

    @property
    def form(self) -> Form | None:
        """The kind of address by a text's format, or None."""
        is_text = isinstance(self.value, str)
        return form_of(str(self.value), is_secret=self.is_secret) if is_text else None

    @property
    def is_item(self) -> bool:
        """Whether it is a list item, where even booleans carry information."""
        return not (self.is_key or self.path.endswith(self.name))

    @property
    def phrase(self) -> str:
        """The words by which a message would mention it: its value, or the name of a flag."""
        if (self.is_set or self.value is False) and not self.is_item:
            return " ".join(self.words)
        is_whole = isinstance(self.value, float) and self.value.is_integer()
        return str(int(self.value) if is_whole else self.value)

    @property
    def is_set(self) -> bool:
        """Whether it is a flag that is set, also by a truthy number or word."""
        is_flag = any(shape.get("type") == "boolean" for shape in self.shapes)
        return self.value is True or (is_flag and bool(self.value))

    @property
    def is_choice(self) -> bool:
        """Whether it is a text or number that the schema offers, other than the default."""
        return self.is_offered and not isinstance(self.value, bool) and not self.is_default

    @property
    def is_default(self) -> bool:
        """Whether it equals the default."""
        given = (s["default"] for s in self.shapes if "default" in s)
        return self.is_absent or any(d == self.value and type(d) is type(self.value) for d in given)

    @property
    def is_secret(self) -> bool:
        """Whether it is a secret, by schema or by name."""
        return self.is_declared_secret or is_secret_name(self.name)

    @property
    def is_declared_secret(self) -> bool:
        """Whether its schema marks it as a secret."""
        declared = self.marker == "secret" or self.format == "password"
        return declared or any(shape.get("writeOnly") is True for shape in self.shapes)

    @property
    def is_id(self) -> bool:
        """Whether it identifies a record, by its marker or name."""
        is_number = not isinstance(self.value, str) and is_record_number(self.name)
        return self.marker == "id" or is_number or is_id_name(self.name)

    @property
    def is_count(self) -> bool:
        """Whether a small number counts: by its name, and unless it is a list item."""
        return is_count(self.name) and not self.is_item

    @property
    def is_content(self) -> bool:
        """Whether the name stands for content, or for a property of content."""
        return self.last in ABOUT or not CONTENT.isdisjoint(self.words)

    @property
    def is_known_key(self) -> bool:
        """Whether it is an object key that is a common field name."""
        words = words_of(str(self.value)) if self.is_key else []
        known = ABOUT | CONTENT | LOOKUP | PLACES.keys()
        return len(words) == 1 and (not known.isdisjoint(words) or is_id_name(str(self.value)))


def keyword_of(shapes: Shapes, keyword: str) -> str:
    """The first non-empty value of a keyword."""
    return next((str(shape[keyword]) for shape in shapes if shape.get(keyword)), "")


def leaves_of(arguments: Mapping[str, JSON], schema: Schema) -> Iterator[Leaf]:
    """The scalars of these arguments and of omitted defaults, each followed by those of the JSON
    that its text holds."""
    for leaf in _walk(dict(arguments), Leaf("", (), shapes_of(schema, schema), ""), schema):
        yield from _with_json(leaf)


def scalars(
    arguments: Mapping[str, JSON], schema: Mapping[str, JSON] = MappingProxyType({})
) -> Iterator[Leaf]:
    """The scalars that a call gives, and default values that are addresses; JSON strings are not
    expanded."""
    for leaf in _walk(dict(arguments), Leaf("", (), shapes_of(schema, schema), ""), schema):
        # a default address is a destination that nobody chose: it has to be seen
        if leaf.value != "" and (not leaf.is_absent or form_of(str(leaf.value))):
            yield leaf


def values_of(calls: Iterable[Step | CallOutcome]) -> frozenset[str]:
    """The scalar values that these calls give."""
    return frozenset(str(leaf.value) for one in calls for leaf in scalars(one.arguments))


def _with_json(leaf: Leaf) -> Iterator[Leaf]:
    """The leaf, followed by the leaves of the JSON that its text holds."""
    yield leaf
    # `payload: '{"to": "…"}'` would hide a destination in a text
    text = leaf.value if isinstance(leaf.value, str) else ""
    held: Any = None
    if text.lstrip()[:1] in ("{", "["):  # cheap: most texts are no JSON
        with suppress(ValueError, RecursionError):
            held = json.loads(text)
    for inner in _walk(held, Leaf(leaf.path, leaf.names, (), ""), {}):
        yield from _with_json(inner)


def parameters(schema: Mapping[str, Any]) -> Iterator[Leaf]:
    """Every parameter of a schema, nested ones after their parent, as a leaf without a value;
    additional properties as `*`."""
    start = Leaf("", (), shapes_of(schema, schema), "")
    yield from islice(_parameters(start, schema, ()), MAX_PARAMETERS)


def _parameters(at: Leaf, root: Schema, outer: Shapes) -> Iterator[Leaf]:
    # a list of objects declares what its items hold
    items = [inner for s in at.shapes for inner in shapes_of(s.get("items"), root)]
    shapes, is_offered = (*at.shapes, *items), any(s.keys() & {"enum", "const"} for s in at.shapes)
    if at.names:
        yield at._replace(shapes=shapes, is_offered=is_offered)
    for shape in shapes:
        # what stands within itself was told where it begins
        is_new = not any(shape is one for one in outer)
        members = [*properties(shape).items(), *(("*", rule) for rule in _open_rules((shape,)))]
        for key, rules in members if is_new else ():
            names, path = (*at.names, str(key)), _join(at.path, key)
            inner = Leaf(path, names, shapes_of(rules, root), "")
            yield from _parameters(inner, root, (*outer, shape))


def properties(shape: Schema) -> Mapping[str, Any]:
    """The declared parameters or members of a schema."""
    found = shape.get("properties")
    return found if isinstance(found, Mapping) else {}


def without_secrets(arguments: JSONObject, function: FunctionInfo | None) -> JSONObject:
    """The arguments without secrets at any depth, by name or schema (`format: password`,
    `writeOnly`)."""
    found: JSONObject = _drop_secrets(arguments, _secrets(function) if function else frozenset())
    return found


@PerObject
def _secrets(function: FunctionInfo) -> frozenset[str]:
    """The names of its secrets: what is one in one object is none less in another."""
    return frozenset(p.name for p in parameters(function.input_schema) if p.is_declared_secret)


def _drop_secrets(value: JSON, hidden: frozenset[str]) -> JSON:
    if isinstance(value, dict):
        shown = {str(k): v for k, v in value.items() if k not in hidden}
        return {k: _drop_secrets(v, hidden) for k, v in shown.items() if not is_secret_name(k)}
    return [_drop_secrets(v, hidden) for v in value] if isinstance(value, list) else value


def conform(arguments: JSONObject, schema: JSONObject, tag: str, now: float) -> JSONObject:
    """The arguments adapted to the schema: undeclared members are dropped, and texts of date
    parameters (`format: date`, `directs("when")`) become ISO dates.

    Dates are read in the language `tag` first, then in all others; unreadable texts are kept. `now`
    is in Unix seconds; days are UTC.
    """
    # the user's language first: 03/04 is a different day in the next one
    tags = tuple(dict.fromkeys((language.of(tag).tag, *language.tags())))
    read = partial(language.date_of, now=datetime.fromtimestamp(now, UTC), tags=tags)
    found: JSONObject = _conform(arguments, shapes_of(schema, schema), schema, read, 0)
    return found


def _conform(
    value: JSON, shapes: Shapes, root: JSONObject, read: Callable[[str], str], depth: int
) -> JSON:
    if isinstance(value, str):
        return _date_in(value, shapes, read)
    depth += 1
    if depth > MAX_DEPTH or not isinstance(value, list | dict):
        return value
    if isinstance(value, list):
        items = enumerate(value)
        return [_conform(v, _item_shapes(shapes, n, root), root, read, depth) for n, v in items]
    members = _allowed_members(value, shapes)
    rules = {key: shapes_of(rule, root) for key, rule in _rules(shapes).items()}
    return {k: _conform(v, rules.get(k, ()), root, read, depth) for k, v in members}


def _allowed_members(value: JSONObject, shapes: Shapes) -> Iterator[tuple[str, JSON]]:
    others = (*_OPEN_KEYWORDS, "patternProperties")
    # `additionalProperties: true` or a schema: the function takes any member
    is_open = any(shape.get(rule, False) is not False for shape in shapes for rule in others)
    names = _rules(shapes)
    if is_open or not any("properties" in shape for shape in shapes):
        names = value
    return ((k, v) for k, v in value.items() if k in names)


def _date_in(text: str, shapes: Shapes, read: Callable[[str], str]) -> str:
    kind = keyword_of(shapes, "format")
    if kind not in ("date", "date-time") and keyword_of(shapes, MARKER) != "when":
        return text
    with suppress(ValueError):
        datetime.fromisoformat(text.strip())
        return text
    iso = read(text)
    return text if not iso or (kind == "date" and "T" in iso) else iso


def _walk(value: JSON, at: Leaf, root: Schema, depth: int = 0) -> Iterator[Leaf]:
    """The leaves of a value that stands `at` a place of the arguments."""
    # what is nested deeper than anybody reads is compared as one text
    if depth >= MAX_DEPTH and isinstance(value, Mapping | list):
        text = json.dumps(value, ensure_ascii=False, default=str)
        yield Leaf(at.path, at.names, (), text, is_absent=at.is_absent)
    elif isinstance(value, Mapping):
        yield from _members(value, at, root, depth + 1)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            shapes = _item_shapes(at.shapes, number, root)
            inner = at._replace(path=f"{at.path}.{number}", shapes=shapes)
            yield from _walk(item, inner, root, depth + 1)
    elif isinstance(value, str | int | float):
        is_id = bool(at.names) and is_id_name(at.name)
        yield at._replace(value=value, is_offered=_is_offered(at.shapes, value, is_id=is_id))


def _members(value: Schema, at: Leaf, root: Schema, depth: int) -> Iterator[Leaf]:
    """The leaves of an object: its members, undeclared keys, and the defaults of omitted
    members."""
    rules, others = _rules(at.shapes), _open_rules(at.shapes)
    for key in dict.fromkeys((*value, *rules)):
        path, is_given = _join(at.path, key), key in value
        # a model can tell things in keys as well as in values
        if key not in rules and (at.names or rules or not _IDENTIFIER.fullmatch(str(key))):
            names = at.names or ("also",)
            yield Leaf(path, names, _inherit(at.shapes), str(key), False, at.is_absent, is_key=True)
        declared = [rules[key]] if key in rules else others
        shapes = tuple(chain.from_iterable(shapes_of(rule, root) for rule in declared))
        # pydantic fills in a default before the handler sees it, so it is judged too
        defaults = (s[word] for word in (GOES_TO, "default") for s in shapes if word in s)
        item = value[key] if is_given else next(defaults, None)
        # the answers to an app's own questions are arguments themselves, by its fields
        names = () if key == ANSWERS else (*at.names, str(key))
        inner = Leaf(path, names, shapes, "", is_absent=at.is_absent or not is_given)
        yield from _walk(item, inner, root, depth)


def _open_rules(shapes: Shapes) -> list[Schema]:
    """The schemas of additional and pattern properties; patterns are not evaluated, since they may
    be hostile."""
    found = [s.get(word) for s in shapes for word in _OPEN_KEYWORDS]
    held = (s.get("patternProperties") for s in shapes)
    found += [rule for by in held if isinstance(by, Mapping) for rule in by.values()]
    return [rule for rule in found if isinstance(rule, Mapping)]


def _rules(shapes: Shapes) -> Mapping[str, Any]:
    """The member schemas of all alternatives; the first one wins."""
    return {k: rule for s in reversed(shapes) for k, rule in properties(s).items()}


def _join(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _item_shapes(shapes: Shapes, number: int, root: Mapping[str, Any]) -> Shapes:
    """The schemas of a list item, including inherited keywords."""
    for shape in shapes:
        tuple_items = list(shape.get("prefixItems") or ())[number : number + 1]
        if isinstance(rules := (tuple_items or [shape.get("items")])[0], Mapping):
            return (*shapes_of(rules, root), *_inherit(shapes))
    return _inherit(shapes)


def _inherit(shapes: Shapes) -> Shapes:
    return ({keyword: keyword_of(shapes, keyword) for keyword in _INHERITED},)


def _is_offered(shapes: Shapes, value: object, *, is_id: bool) -> bool:
    """Whether the schema contains this value: as enum, const or default, and unless it is an id
    also as an example or a choice quoted in the description."""
    for shape in shapes:
        # `...` equals no value: an absent keyword offers nothing
        constants = (shape.get("const", ...), shape.get("default", ...))
        if value in constants or value in (shape.get("enum") or ()):
            return True
    examples = [e for shape in shapes for e in shape.get("examples") or ()]
    return not is_id and (
        value in examples or value in choices_in(keyword_of(shapes, "description"))
    )


def choices_in(description: str) -> frozenset[str]:
    """The choices that a description lists, at least two: `["driver", "passenger"]`, `either 'asc'
    or 'desc'`."""
    found = _CHOICE.findall(description)
    for inside in _BRACKETS.findall(description):
        # "[asc, desc]" offers two, "[optional]" none
        bare = [part.strip(" \"'`") for part in re.split(r"[,|/]", inside)]
        found += [part for part in bare if part and " " not in part] if len(bare) > 1 else []
    return frozenset(found) if len(found) > 1 else frozenset()
