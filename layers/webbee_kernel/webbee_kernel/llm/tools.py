"""What both real model services are told about a function, and JSON schemas of arguments as models
read them: everything that tells a model what to write, nothing that only the kernel needs. Pure.

- references are written out; `$defs`, titles and the kernel's own marks (`x-…`) go
- an argument that may be left out says so by not being required: `null` among its types and a
  default that is null, false, empty text or an empty list go with it
- lengths of texts and lists go, those of codes (up to 12 characters) and of short lists stay: a
  model does not count, and the refusal of what is too long names the limit
- what several functions of an app say of an argument in the same words goes where the app's line
  in the prompt says it (`ToolSpec.common_arguments`)
- a description that only repeats the argument's name goes
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

BRIEF: Final = 280
"""Characters of a function in few words, where that can be done: its name, the first sentence of
its description, names and types of its arguments."""

BRIEF_DESCRIPTION: Final = 120

MAX_DESCRIPTION: Final = 1024
"""Characters of a tool's description: what the strictest of the services accepts."""

SAID: Final = "E.g."
HARM: Final = {"write": "(write)", "destructive": "(destructive)"}
"""What is added for functions with an effect, by action type; the system part says once what it
means."""


def does(function: FunctionInfo | ToolSpec, tag: str) -> str:
    """What people read of what a function does: its title in their language, or its description."""
    return language.text_in(function.titles, tag) or function.description


def describe(tool: ToolSpec) -> str:
    """Description, effect and an example, at most 1,024 characters; an example that does not fit,
    or says nothing that name and description do not say, is left out."""
    text = " ".join(
        part
        for part in (
            clean(tool.description).strip() or tool.fn_name,
            HARM.get(tool.action_type, ""),
        )
        if part
    )
    examples: list[str] = []
    known = says(f"{tool.fn_name} {text}")
    for example in tool.examples[:PROMPT_EXAMPLES]:
        if says(SLOT.sub(" ", example)) <= known:
            continue
        more = [*examples, one_line(clean(example))]
        if len(f"{text} {SAID} {'; '.join(more)}") <= MAX_DESCRIPTION:
            examples = more
    return f"{text} {SAID} {'; '.join(examples)}" if examples else text[:MAX_DESCRIPTION]


def _parameters(tool: ToolSpec) -> JSONObject:
    found = compact(tool.input_schema)
    return undescribed(found, tool.told) if tool.told else found


parameters = PerObject(_parameters)
"""The arguments' JSON schema of a tool in its compact form."""


class Forms(NamedTuple):
    """A function as a model sees it, whole and in few words, and the characters of each: name,
    description, schema. `brief` is `whole` where that is no longer, `beside` is `whole` where its
    app's line stands in the prompt with all that several functions say of their arguments."""

    whole: ToolSpec
    brief: ToolSpec
    whole_characters: int
    brief_characters: int
    beside: ToolSpec


def _forms(function: FunctionInfo) -> Forms:
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
    beside = whole
    if function.common_arguments:
        beside = replace(whole, told=function.common_arguments)
        parameters.keep(beside, undescribed(parameters(whole), function.common_arguments))
    if size <= BRIEF:
        return Forms(whole, whole, size, size, beside)
    description = cut(clean(whole.description).strip().partition(". ")[0], BRIEF_DESCRIPTION)
    short = replace(whole, description=description, examples=function.examples[:1])
    room = BRIEF - len(short.name) - len(describe(short))
    arguments = parameters(whole)
    short = replace(short, input_schema=brief(arguments, room))
    if left_out := len(arguments["properties"]) - len(short.input_schema["properties"]):
        short = replace(short, description=f"{description} (+{left_out} arguments)")
    return Forms(whole, short, size, characters(short), beside)


forms = PerObject(_forms)


def tool_spec(function: FunctionInfo) -> ToolSpec:
    """The function as a model sees it, whole."""
    return forms(function).whole


def characters(tool: ToolSpec) -> int:
    """What a tool takes in a request, less what the service puts around it."""
    schema = json.dumps(parameters(tool), ensure_ascii=False, default=str)
    return len(tool.name) + len(describe(tool)) + len(schema)


_BARE: Final = ("type", "properties", "required", "items", "enum", "description")


def wire_schema(tool: ToolSpec, without: Collection[str]) -> JSONObject:
    """The schema of a tool's arguments as a service gets it. `without` holds `schema` where a
    service refused the less common of its keywords."""
    schema = parameters(tool)
    return bare(schema) if "schema" in without else schema


def bare(schema: Mapping[str, Any]) -> JSONObject:
    """The schema in the keywords that every service knows; of alternatives the first."""
    options = schema.get("anyOf")
    node = {**options[0], **schema} if options else schema
    made: JSONObject = {k: node[k] for k in _BARE if k in node}
    if isinstance(made.get("items"), Mapping):
        made["items"] = bare(made["items"])
    if "properties" in made:
        made["properties"] = {name: bare(one) for name, one in made["properties"].items()}
    return made


_TOP_LEVEL: Final = ("type", "properties", "required")
_DEPTH: Final = 8
_LEFT_OUT: Final = frozenset(
    {"$defs", "title", "properties", "additionalProperties", "discriminator"}
)
_CODE: Final = 12
_CHOICES: Final = 6
_NULL: Final = {"type": "null"}
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+|[^\W\d_]+")
_ARTICLES: Final = frozenset({"a", "an", "the", "of", "this", "your", "my"})


def compact(schema: Mapping[str, Any]) -> JSONObject:
    """The arguments' schema as a model reads it.

    The top level keeps `type`, `properties` and `required` only: some models of Bedrock refuse any
    other keyword there.
    """
    found = _plain(schema, schema.get("$defs", {}), _DEPTH)
    kept = {k: found[k] for k in _TOP_LEVEL if found.get(k)}
    return {"type": "object", "properties": {}, **kept}


def undescribed(schema: JSONObject, names: Collection[str]) -> JSONObject:
    """A compact schema without what it says of these arguments."""
    properties = {
        name: {k: v for k, v in given.items() if k != "description"} if name in names else given
        for name, given in schema["properties"].items()
    }
    return {**schema, "properties": properties}


def brief(schema: JSONObject, room: int) -> JSONObject:
    """A compact schema in at most `room` characters: where that is too little for all, arguments by
    name and type, without what they hold inside, and of the optional ones the first. What is
    required stays, whatever it takes."""
    if _length(schema) <= room:
        return schema
    given = {k: _outline(v) for k, v in schema["properties"].items()}
    kept = {k: given[k] for k in schema.get("required") or () if k in given}
    for name in given:
        more = {**kept, name: given[name]}
        if _length({**schema, "properties": more}) > room:
            break
        kept = more
    return {**schema, "properties": {k: kept[k] for k in given if k in kept}}


def _length(schema: Any) -> int:
    return len(json.dumps(schema, ensure_ascii=False, default=str))


def _plain(node: Any, definitions: Mapping[str, Any], depth: int) -> Any:
    if isinstance(node, list):
        return [_plain(n, definitions, depth) for n in node]
    if not isinstance(node, Mapping):
        return clean(node) if isinstance(node, str) else node
    name = str(node.get("$ref", "")).removeprefix("#/$defs/")
    if name not in definitions:
        return _object(node, definitions, depth)
    if not depth:  # a model that holds itself
        return {"type": "object"}
    beside = {k: v for k, v in node.items() if k != "$ref"}
    return _object({**definitions[name], **beside}, definitions, depth - 1)


def _object(node: Mapping[str, Any], definitions: Mapping[str, Any], depth: int) -> JSONObject:
    """A schema without what no model needs; the keys of its properties are arguments' names, and
    `title` may be one."""
    plain = {
        k: _plain(v, definitions, depth)
        for k, v in node.items()
        if k not in _LEFT_OUT and not k.startswith("x-") and not _is_idle(k, v)
    }
    named = node.get("properties")
    if isinstance(named, Mapping):
        needed = node.get("required") or ()
        plain["properties"] = {
            k: _argument(k, _plain(v, definitions, depth), k in needed) for k, v in named.items()
        }
    elif not isinstance(node.get("title", ""), str):
        plain["title"] = _plain(node["title"], definitions, depth)
    return plain


def _is_idle(keyword: str, value: Any) -> bool:
    """Whether a keyword says nothing to whoever writes the argument."""
    if not isinstance(value, int):
        return False
    if keyword in ("minLength", "minItems", "minimum"):
        return value in (0, 1)
    return keyword in ("maxLength", "maxItems") and value > _CODE


def _argument(name: str, schema: Any, required: bool) -> Any:
    """One argument: not null where it may be left out, no default that leaving it out means, no
    description that says its name again."""
    if not isinstance(schema, dict):
        return schema
    if not required:
        schema = _not_null(schema)
    default = schema.get("default", "")
    means_nothing = default is None or default is False or default in ("", [], {})
    says_nothing = _repeats(name, schema.get("description", ""))
    idle = {"default": means_nothing, "description": says_nothing}
    return {k: v for k, v in schema.items() if not idle.get(k)}


def _not_null(schema: JSONObject) -> JSONObject:
    """The schema without `null` among its alternatives; a single one left stands for itself."""
    if isinstance(schema.get("type"), list):
        types = [t for t in schema["type"] if t != "null"]
        return {**schema, "type": types[0] if len(types) == 1 else types}
    beside = dict(schema)
    others = [o for o in beside.pop("anyOf", ()) if o != _NULL]
    if not others or len(others) == len(schema["anyOf"]):
        return schema
    return {**others[0], **beside} if len(others) == 1 else {**beside, "anyOf": others}


def _repeats(name: str, description: Any) -> bool:
    """Whether a description has no word that the name does not have."""
    if not isinstance(description, str):
        return False
    return says(description) <= says(name)


def says(text: str) -> set[str]:
    """The words of a text, without those that say nothing of a matter."""
    return {w.lower() for w in _WORD.findall(text)} - _ARTICLES


def _outline(schema: Any) -> Any:
    """An argument's type; of a list also its items' type, of a text its choices where they are
    few."""
    if not isinstance(schema, Mapping):
        return schema
    kept = {k: schema[k] for k in ("type", "enum", "anyOf") if k in schema}
    if len(kept.get("enum", ())) > _CHOICES:
        del kept["enum"]
    if isinstance(schema.get("items"), Mapping):
        kept["items"] = _outline(schema["items"])
    return kept or dict(schema)


def clean(text: str) -> str:
    """Text that can be sent: half of a surrogate pair, which has no UTF-8, becomes `?`."""
    return text.encode("utf-8", "replace").decode()
