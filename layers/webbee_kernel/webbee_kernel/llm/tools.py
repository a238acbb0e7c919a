"""Tool descriptions and JSON schemas as sent to models, without what only the kernel needs. Pure.

- references are resolved; `$defs`, titles and the kernel's own keywords (`x-…`) are dropped
- of optional arguments the `null` type and null, false or empty defaults are dropped
- lengths of texts and lists over 12 are dropped: models do not count, and validation errors name
  the limit
- argument descriptions shared by several functions of an app are dropped where the app's line in
  the prompt has them (`ToolSpec.told`)
- descriptions that only repeat the argument's name are dropped
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final, NamedTuple

from .. import language
from ..catalogue import PROMPT_EXAMPLES, SLOT, FunctionInfo, PerObject
from ..text import cut, one_line
from ..types import JSONObject
from .protocol import ToolSpec

MAX_BRIEF: Final = 280
"""Target size in characters of a brief tool: name, first sentence, names and types of its
arguments."""

BRIEF_DESCRIPTION: Final = 120

MAX_DESCRIPTION: Final = 1024
"""Characters of a tool's description: what the strictest of the services accepts."""

EXAMPLE_PREFIX: Final = "E.g."
EFFECT_NOTES: Final = {"write": "(write)", "destructive": "(destructive)"}
"""Suffix by action type; the system part explains it once."""


def summary_of(function: FunctionInfo | ToolSpec, tag: str) -> str:
    """A function's summary for users: its title in their language, or its description."""
    return language.text_in(function.titles, tag) or function.description


@PerObject
def describe(tool: ToolSpec) -> str:
    """Description, effect and examples, at most 1,024 characters; examples that do not fit, or add
    no word to name and description, are left out."""
    effect = EFFECT_NOTES.get(tool.action_type, "")
    text = f"{clean(tool.description).strip() or tool.fn_name} {effect}".rstrip()
    examples: list[str] = []
    words = content_words(f"{tool.fn_name} {text}")
    for example in tool.examples[:PROMPT_EXAMPLES]:
        if content_words(SLOT.sub(" ", example)) <= words:
            continue
        longer = [*examples, one_line(clean(example))]
        if len(f"{text} {EXAMPLE_PREFIX} {'; '.join(longer)}") <= MAX_DESCRIPTION:
            examples = longer
    return f"{text} {EXAMPLE_PREFIX} {'; '.join(examples)}" if examples else text[:MAX_DESCRIPTION]


@PerObject
def parameters(tool: ToolSpec) -> JSONObject:
    """The arguments' JSON schema of a tool in its compact form."""
    found = compact(tool.input_schema)
    return drop_descriptions(found, tool.told) if tool.told else found


class Forms(NamedTuple):
    """A function as a full and a brief tool, with the characters of each. `brief` is `whole` where
    that is short enough; `in_app` is `whole` without the argument descriptions that the app's line
    in the prompt has."""

    whole: ToolSpec
    brief: ToolSpec
    whole_characters: int
    brief_characters: int
    in_app: ToolSpec


@PerObject
def forms(function: FunctionInfo) -> Forms:
    whole = ToolSpec(
        name=function.tool_name,
        app_id=function.app_id,
        fn_name=function.fn_name,
        description=function.description[function.lead :],
        input_schema=function.input_schema,
        action_type=function.action_type,
        examples=function.examples,
        titles=function.titles,
    )
    size = characters(whole)
    in_app = whole
    if function.common_arguments:
        in_app = replace(whole, told=function.common_arguments)
        parameters.keep(in_app, drop_descriptions(parameters(whole), function.common_arguments))
    if size <= MAX_BRIEF:
        return Forms(whole, whole, size, size, in_app)
    description = cut(clean(whole.description).strip().partition(". ")[0], BRIEF_DESCRIPTION)
    short = replace(whole, description=description, examples=function.examples[:1])
    limit = MAX_BRIEF - len(short.name) - len(describe(short))
    arguments = parameters(whole)
    short = replace(short, input_schema=brief(arguments, limit))
    if omitted := len(arguments["properties"]) - len(short.input_schema["properties"]):
        short = replace(short, description=f"{description} (+{omitted} arguments)")
    return Forms(whole, short, size, characters(short), in_app)


def tool_spec(function: FunctionInfo) -> ToolSpec:
    """The function as a model sees it, whole."""
    return forms(function).whole


def characters(tool: ToolSpec) -> int:
    """The size of a tool in a request: name, description and schema."""
    schema = json.dumps(parameters(tool), ensure_ascii=False, default=str)
    return len(tool.name) + len(describe(tool)) + len(schema)


_BASIC_KEYWORDS: Final = ("type", "properties", "required", "items", "enum", "description")


def wire_schema(tool: ToolSpec, without: Collection[str]) -> JSONObject:
    """The arguments' schema for a service; if `without` holds `schema`, in basic keywords only."""
    schema = parameters(tool)
    return basic_schema(schema) if "schema" in without else schema


def basic_schema(schema: Mapping[str, Any]) -> JSONObject:
    """The schema in keywords that every service supports; of alternatives the first."""
    options = schema.get("anyOf")
    node = {**options[0], **schema} if options else schema
    basic: JSONObject = {k: node[k] for k in _BASIC_KEYWORDS if k in node}
    if isinstance(basic.get("items"), Mapping):
        basic["items"] = basic_schema(basic["items"])
    if "properties" in basic:
        basic["properties"] = {name: basic_schema(one) for name, one in basic["properties"].items()}
    return basic


_DEPTH: Final = 8
_DROPPED_KEYWORDS: Final = frozenset(
    {"$defs", "title", "properties", "additionalProperties", "discriminator"}
)
_MAX_CODE: Final = 12
_MAX_CHOICES: Final = 6
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")
_ARTICLES: Final = frozenset({"a", "an", "the", "of", "this", "your", "my"})


def compact(schema: Mapping[str, Any]) -> JSONObject:
    """The arguments' schema as a model reads it.

    The top level keeps `type`, `properties` and `required` only: some models of Bedrock refuse any
    other keyword there.
    """
    found = _reduce(schema, schema.get("$defs", {}), _DEPTH)
    kept = {k: found[k] for k in ("type", "properties", "required") if found.get(k)}
    return {"type": "object", "properties": {}, **kept}


def drop_descriptions(schema: JSONObject, names: Collection[str]) -> JSONObject:
    """A compact schema without the descriptions of these arguments."""
    properties = {
        name: {k: v for k, v in given.items() if k != "description"} if name in names else given
        for name, given in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def brief(schema: JSONObject, limit: int) -> JSONObject:
    """A compact schema in at most `limit` characters: arguments by name and type, all required ones
    (even beyond the limit) and as many optional ones as fit."""
    if _length(schema) <= limit:
        return schema
    outlines = {k: _outline(v) for k, v in schema["properties"].items()}
    kept = {k: outlines[k] for k in schema.get("required") or () if k in outlines}
    for name in outlines:
        longer = {**kept, name: outlines[name]}
        if _length({**schema, "properties": longer}) > limit:
            break
        kept = longer
    return {**schema, "properties": {k: kept[k] for k in outlines if k in kept}}


def _length(schema: Any) -> int:
    return len(json.dumps(schema, ensure_ascii=False, default=str))


def _reduce(node: Any, definitions: Mapping[str, Any], depth: int) -> Any:
    if isinstance(node, list):
        return [_reduce(n, definitions, depth) for n in node]
    if not isinstance(node, Mapping):
        return clean(node) if isinstance(node, str) else node
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    if name not in definitions:
        return _object(node, definitions, depth)
    if not depth:  # a model that holds itself
        return {"type": "object"}
    siblings = {k: v for k, v in node.items() if k != "$ref"}
    return _object({**definitions[name], **siblings}, definitions, depth - 1)


def _object(node: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> JSONObject:
    """A schema node without dropped keywords; an argument may itself be called `title`."""
    plain = {
        k: _reduce(v, definitions, depth)
        for k, v in node.items()
        if k not in _DROPPED_KEYWORDS and not k.startswith("x-") and not _is_irrelevant(k, v)
    }
    props = node.get("properties")
    if isinstance(props, Mapping):
        needed = node.get("required") or ()
        plain["properties"] = {
            k: _argument(k, _reduce(v, definitions, depth), k in needed) for k, v in props.items()
        }
    elif not isinstance(node.get("title", ""), str):
        plain["title"] = _reduce(node["title"], definitions, depth)
    return plain


def _is_irrelevant(keyword: str, value: Any) -> bool:
    """Whether a length or range keyword is of no use to a model."""
    if not isinstance(value, int):
        return False
    if keyword in ("minLength", "minItems", "minimum"):
        return value in (0, 1)
    return keyword in ("maxLength", "maxItems") and value > _MAX_CODE


def _argument(name: str, schema: Any, required: bool) -> Any:
    """An argument's schema without null type, empty default and redundant description."""
    if not isinstance(schema, dict):
        return schema
    if not required:
        schema = _not_null(schema)
    default, description = schema.get("default", ""), schema.get("description", "")
    is_empty = default is None or default is False or default in ("", [], {})
    is_redundant = content_words(str(description)) <= content_words(name)
    idle = {"default": is_empty, "description": is_redundant}
    return {k: v for k, v in schema.items() if not idle.get(k)}


def _not_null(schema: JSONObject) -> JSONObject:
    """The schema without the `null` alternative; a single remaining one is inlined."""
    if isinstance(schema.get("type"), list):
        types = [t for t in schema["type"] if t != "null"]
        return {**schema, "type": types[0] if len(types) == 1 else types}
    siblings = dict(schema)
    others = [o for o in siblings.pop("anyOf", ()) if o != {"type": "null"}]
    if not others or len(others) == len(schema["anyOf"]):
        return schema
    return {**others[0], **siblings} if len(others) == 1 else {**siblings, "anyOf": others}


def content_words(text: str) -> set[str]:
    """The words of a text without articles."""
    return {w.lower() for w in _WORD.findall(text)} - _ARTICLES


def _outline(schema: Any) -> Any:
    """An argument's type; of a list also its items' type, of a text its choices where they are
    few."""
    if not isinstance(schema, Mapping):
        return schema
    kept = {k: schema[k] for k in ("type", "enum", "anyOf") if k in schema}
    if len(kept.get("enum", ())) > _MAX_CHOICES:
        del kept["enum"]
    if isinstance(schema.get("items"), Mapping):
        kept["items"] = _outline(schema["items"])
    return kept or dict(schema)


def clean(text: str) -> str:
    """Text that can be encoded as UTF-8: lone surrogates become `?`."""
    return text.encode("utf-8", "replace").decode()
