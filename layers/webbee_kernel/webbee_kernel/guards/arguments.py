"""Leaves: every scalar among a call's arguments, with the part of the schema that describes it.

Nested objects and lists are walked to their end, and so is a text that holds a JSON object: what
stands in it reaches the handler all the same. Pure.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from ..catalogue import FunctionInfo
from ..types import JSON
from .addresses import form_of
from .field_names import names_a_secret, names_an_id

MARKER = "x-directs"
"""In a parameter's schema: what the author says that it directs (`webbee_kernel.sdk.directs`)."""

MAX_DEPTH = 24
"""Levels that are walked; what stands deeper is one text."""

_SPLIT = re.compile(r"[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_CHOICE = re.compile(r"[\"'`]([^\"'`]+)[\"'`]")


class Leaf(NamedTuple):
    """One scalar: where it stands (`attachments.0.file_id`), the names above it from the parameter
    down to its own, the rules of its schema, whether the schema itself offers the value, whether
    the call leaves it to its default, and whether it is the key of an object."""

    path: str
    names: tuple[str, ...]
    rules: Mapping[str, Any]
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
        return self._given(MARKER)

    @property
    def format(self) -> str:
        """The format that its schema gives."""
        return self._given("format")

    def _given(self, keyword: str) -> str:
        """What the schema says of itself, or in one of its options."""
        options = [self.rules, *_options(self.rules)]
        return next((str(o[keyword]) for o in options if o.get(keyword)), "")

    @property
    def is_secret(self) -> bool:
        """Whether it is to be shown to nobody."""
        return self.is_declared_secret or names_a_secret(self.name)

    @property
    def is_declared_secret(self) -> bool:
        """Whether its schema says so, and not its name alone."""
        declared = self.marker == "secret" or self.format == "password"
        return declared or self.rules.get("writeOnly") is True


def leaves(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Leaf, ...]:
    """Every scalar of these arguments in order, with the defaults of what they leave out; empty
    texts, booleans and nulls are none."""
    found = shown(function, arguments)
    return tuple(x for x in found if not isinstance(x.value, bool) and x.value != "")


def shown(function: FunctionInfo, arguments: Mapping[str, JSON]) -> tuple[Leaf, ...]:
    """The same with empty texts and what is true or false, which are worth reading."""
    schema = function.input_schema
    whole = _walk(dict(arguments), schema, schema, "", (), 0)
    return tuple(inner for leaf in whole for inner in _unfolded(leaf))


def scalars(
    arguments: Mapping[str, JSON], schema: Mapping[str, JSON] = MappingProxyType({})
) -> Iterator[Leaf]:
    """What a call gives itself, and the addresses that a default fills in; a text that holds JSON
    whole."""
    for leaf in _walk(dict(arguments), schema, schema, "", (), 0):
        if leaf.value != "" and (not leaf.filled or form_of(str(leaf.value))):
            yield leaf


def _unfolded(leaf: Leaf) -> Iterator[Leaf]:
    """The leaf, and behind it what stands in the JSON object or list that its text holds."""
    yield leaf
    held = _json_in(leaf.value) if isinstance(leaf.value, str) else None
    if held is not None:
        for inner in _walk(held, {}, {}, leaf.path, leaf.names, 0):
            yield from _unfolded(inner)


def words_of(name: str) -> list[str]:
    """The words of an identifier: `userEmail`, `user_email` → user, email."""
    return [w.lower() for w in _SPLIT.split(name) if w]


def parameters(function: FunctionInfo) -> Iterator[Leaf]:
    """Every parameter that the schema declares, nested ones behind what holds them, as a leaf
    without a value: what an author is told of his function goes by these."""
    schema = function.input_schema
    yield from _declared(schema, schema, "", (), 0)


def _declared(
    rules: Mapping[str, Any], root: Mapping[str, Any], path: str, names: tuple[str, ...], depth: int
) -> Iterator[Leaf]:
    rules = resolved(rules, root)
    options = [rules, *(resolved(o, root) for o in _options(rules))]
    if names:
        yield Leaf(path, names, rules, "", any("enum" in o or "const" in o for o in options))
    if depth < MAX_DEPTH:
        for option in options:
            yield from _members(option, root, path, names, depth + 1)


def _members(
    rules: Mapping[str, Any], root: Mapping[str, Any], path: str, names: tuple[str, ...], depth: int
) -> Iterator[Leaf]:
    """What stands inside of a parameter: the members of an object, of a list's items."""
    items = rules.get("items")
    inner = resolved(items, root) if isinstance(items, Mapping) else {}
    for holder in (rules, inner):
        properties = holder.get("properties")
        for key, item in (properties if isinstance(properties, dict) else {}).items():
            if isinstance(item, Mapping):
                below = _below(path, key)
                yield from _declared(item, root, below, (*names, str(key)), depth)


def _walk(
    value: JSON,
    rules: Mapping[str, Any],
    root: Mapping[str, Any],
    path: str,
    names: tuple[str, ...],
    depth: int,
) -> Iterator[Leaf]:
    rules = resolved(rules, root)
    if depth >= MAX_DEPTH and isinstance(value, Mapping | list):
        yield Leaf(path, names, {}, json.dumps(value, ensure_ascii=False, default=str))
    elif isinstance(value, Mapping):
        yield from _members_of(value, rules, root, path, names, depth)
    elif isinstance(value, list):
        for number, item in enumerate(value):
            items = _of_items(rules, number)
            yield from _walk(item, items, root, f"{path}.{number}", names, depth + 1)
    elif isinstance(value, str | int | float):
        is_id = bool(names) and names_an_id(names[-1])
        yield Leaf(path, names, rules, value, _offers(rules, value, is_id=is_id))


def _members_of(
    value: Mapping[str, Any],
    rules: Mapping[str, Any],
    root: Mapping[str, Any],
    path: str,
    names: tuple[str, ...],
    depth: int,
) -> Iterator[Leaf]:
    """What stands in an object: its members, the keys that its schema does not name, and the
    defaults of members which a call leaves out."""
    left = {k: v for k, v in (rules.get("properties") or {}).items() if k not in value}
    filled = {k: resolved(v, root).get("default") for k, v in left.items()}
    for key, item in (*value.items(), *filled.items()):
        below = _below(path, key)
        inner = _rules_of(rules, str(key), root)
        if names and inner is None and key in value:
            yield Leaf(below, names, _own(rules), str(key), is_key=True)
        for leaf in _walk(item, inner or {}, root, below, (*names, str(key)), depth + 1):
            yield leaf if key in value else leaf._replace(filled=True)


def _below(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _json_in(text: str) -> Any:
    """The object or list that a text holds; None where it is plain text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return held if isinstance(held, dict | list) and held else None


def _rules_of(
    rules: Mapping[str, Any], key: str, root: Mapping[str, Any]
) -> Mapping[str, Any] | None:
    """The rules of a member of an object, whichever of its options names it; None where none
    does."""
    for option in (rules, *(resolved(o, root) for o in _options(rules))):
        known = option.get("properties")
        if isinstance(known, Mapping) and isinstance(known.get(key), Mapping):
            found: Mapping[str, Any] = known[key]
            return found
    return None


def _options(rules: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    listed = [*(rules.get("anyOf") or ()), *(rules.get("oneOf") or ()), *(rules.get("allOf") or ())]
    return [o for o in listed if isinstance(o, Mapping)]


def _of_items(rules: Mapping[str, Any], number: int) -> Mapping[str, Any]:
    """The rules of an item of a list, which take over what the list itself is for."""
    for option in (rules, *_options(rules)):
        placed = option.get("prefixItems")
        if isinstance(placed, list) and number < len(placed) and isinstance(placed[number], dict):
            return {**_own(rules), **placed[number]}
        if isinstance(items := option.get("items"), Mapping):
            return {**_own(rules), **items}
    return _own(rules)


def _own(rules: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is said of a list or an object and holds for all that stands in it."""
    return {k: rules[k] for k in (MARKER, "format", "description") if k in rules}


def resolved(rules: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
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
        options = [o for o in _options(found) if o.get("type") != "null"]
        if len(options) != 1:
            return found
        kept = {k: v for k, v in found.items() if k not in ("anyOf", "oneOf", "allOf")}
        found = {**options[0], **kept}
    return found


def _offers(rules: Mapping[str, Any], value: object, *, is_id: bool) -> bool:
    """Whether the schema itself gives this value at this place: an enumeration, a constant, a
    default, of what is no id also an example, or a choice that its description lists."""
    if "default" in rules and rules["default"] == value:
        return True
    options = [rules, *_options(rules)]
    if any(value in (o.get("enum") or ()) or o.get("const", ...) == value for o in options):
        return True
    told = choices(str(rules.get("description", "")))
    return not is_id and (value in (rules.get("examples") or ()) or value in told)


def choices(description: str) -> frozenset[str]:
    """What a description offers between quotation marks, two or more, in brackets or not:
    `["driver", "passenger"]`, `either 'asc' or 'desc'`."""
    found = _CHOICE.findall(description)
    for inside in _BRACKETS.findall(description):
        bare = [part.strip(" \"'`") for part in re.split(r"[,|/]", inside)]
        found += [part for part in bare if part and " " not in part] if len(bare) > 1 else []
    return frozenset(found) if len(found) > 1 else frozenset()
