"""What both real model services are told about a function, and how their calls are read back.
Pure.

In strict mode a service writes arguments by their schema alone, and takes few keywords. A schema
that needs another one, or that leaves open what an object may hold, stays as it is: nothing that
tells a model what to write is lost for it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ..catalogue import EXAMPLES_SHOWN, SLOT, FunctionInfo, PerObject
from ..text import cut, one_line
from ..types import JSON, JSONObject
from .options import ModelOptions
from .protocol import ToolCall, ToolSpec
from .schemas import brief, clean, compact, says, undescribed

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
    for example in tool.examples[:EXAMPLES_SHOWN]:
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


def whole(calls: Sequence[ToolCall], stop_reason: str) -> tuple[ToolCall, ...]:
    """The calls, the last one as text where the answer was cut off: what may lack its end never
    runs, the model is asked again."""
    if stop_reason != "max_tokens" or not calls or isinstance(calls[-1].arguments, str):
        return tuple(calls)
    last = calls[-1]
    return (*calls[:-1], ToolCall(last.name, json.dumps(last.arguments, ensure_ascii=False)))


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
    )
    size = characters(whole)
    beside = whole
    if function.told:
        beside = replace(whole, told=function.told)
        parameters.keep(beside, undescribed(parameters(whole), function.told))
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


_KEYWORDS: Final = frozenset(
    {"type", "properties", "required", "items", "enum", "const", "anyOf", "description"}
)
_NULL: Final = {"type": "null"}


_BARE: Final = ("type", "properties", "required", "items", "enum", "description")


def wire_schema(
    tool: ToolSpec, options: ModelOptions, without: Collection[str], *, all_required: bool
) -> tuple[JSONObject, JSONObject]:
    """The schema of a tool's arguments as a service gets it, and what is said beside it. `without`
    holds `strict` or `schema` where a service refused such a schema, or the less common of its
    keywords."""
    schema = parameters(tool)
    if "schema" in without:
        return bare(schema), {}
    found = None
    if options.strict and "strict" not in without:
        found = strict(schema, all_required=all_required)
    return (found, {"strict": True}) if found else (schema, {})


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


class _Open(Exception):
    """The schema cannot be said strictly."""


def strict(schema: JSONObject, *, all_required: bool) -> JSONObject | None:
    """The schema with `additionalProperties: false` on every object; None where it cannot be said
    so. With `all_required`, as OpenAI wants it, an argument that may be left out is one that may be
    null."""
    try:
        return _object(schema, all_required)
    except _Open:
        return None


def _node(node: Any, all_required: bool) -> JSONObject:
    if not isinstance(node, Mapping) or not node.keys() <= _KEYWORDS:
        raise _Open
    if node.get("type") == "object":
        if not node.get("properties"):
            raise _Open
        return _object(node, all_required)
    found = dict(node)
    if node.get("type") == "array":
        found["items"] = _node(node.get("items"), all_required)
    elif "anyOf" in node:
        found["anyOf"] = [_node(option, all_required) for option in node["anyOf"]]
    elif not node.keys() & {"type", "enum", "const"}:
        raise _Open
    return found


def _object(node: Mapping[str, Any], all_required: bool) -> JSONObject:
    needed = node.get("required") or []
    properties: dict[str, JSONObject] = {}
    for name, given in (node.get("properties") or {}).items():
        argument = _node(given, all_required)
        may_lack = all_required and name not in needed
        properties[name] = {"anyOf": [argument, _NULL]} if may_lack else argument
    return {
        **node,
        "properties": properties,
        "required": list(properties) if all_required else list(needed),
        "additionalProperties": False,
    }


def without_nulls(calls: Sequence[ToolCall], tools: Sequence[ToolSpec]) -> tuple[ToolCall, ...]:
    """The calls without the nulls that stand for arguments left out."""
    schemas = {tool.name: parameters(tool) for tool in tools}
    return tuple(
        replace(call, arguments=_unset(call.arguments, schemas.get(call.name, {})))
        for call in calls
    )


def _unset(value: JSON, schema: Mapping[str, Any]) -> JSON:
    if isinstance(value, list):
        return [_unset(item, schema.get("items", {})) for item in value]
    known = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(known, Mapping):
        return value
    optional = known.keys() - set(schema.get("required") or ())
    left_out = {name for name in optional if value.get(name) is None}
    return {n: _unset(v, known.get(n, {})) for n, v in value.items() if n not in left_out}
