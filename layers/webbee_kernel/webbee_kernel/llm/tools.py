"""What both real model services are told about a function. Pure."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from ..catalogue import EXAMPLES_SHOWN, SLOT, FunctionInfo, PerObject
from ..text import cut, one_line
from ..types import JSONObject
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
