"""What both real model services are told about a function, and how their calls are read back.
Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ..catalogue import EXAMPLES_SHOWN, FunctionInfo
from ..values.plain import JSONObject
from .protocol import ToolCall, ToolSpec

MAX_DESCRIPTION: Final = 1024
"""Characters of a tool's description: what the strictest of the services accepts."""

SAID: Final = "Users say:"
HARM: Final = {
    "write": "Changes data.",
    "destructive": "Destructive; the user is asked to confirm it first.",
}
"""What is added for functions with an effect, by action type."""

_TOP_LEVEL: Final = ("type", "properties", "required")
_DEPTH: Final = 8


def describe(tool: ToolSpec) -> str:
    """Description, effect and a few examples, at most 1,024 characters; examples that do not fit
    are left out."""
    text = " ".join(
        part
        for part in (
            clean(tool.description).strip() or tool.fn_name,
            HARM.get(tool.action_type, ""),
        )
        if part
    )
    examples: list[str] = []
    for example in tool.examples[:EXAMPLES_SHOWN]:
        more = [*examples, json.dumps(clean(example), ensure_ascii=False)]
        if len(f"{text} {SAID} {'; '.join(more)}") <= MAX_DESCRIPTION:
            examples = more
    return f"{text} {SAID} {'; '.join(examples)}" if examples else text[:MAX_DESCRIPTION]


def parameters(tool: ToolSpec) -> JSONObject:
    """The arguments' JSON schema with references written out and titles left out.

    The top level keeps `type`, `properties` and `required` only: some models of Bedrock refuse any
    other keyword there.
    """
    found = _plain(tool.input_schema, tool.input_schema.get("$defs", {}), _DEPTH)
    schema = {k: found[k] for k in _TOP_LEVEL if found.get(k)}
    return {"properties": {}, **schema, "type": "object"}


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
    """A schema without titles; the keys of its properties are arguments' names, and `title` may be
    one."""
    plain = {
        k: _plain(v, definitions, depth)
        for k, v in node.items()
        if k not in ("$defs", "title", "properties")
    }
    named = node.get("properties")
    if isinstance(named, Mapping):
        plain["properties"] = {k: _plain(v, definitions, depth) for k, v in named.items()}
    elif not isinstance(node.get("title", ""), str):
        plain["title"] = _plain(node["title"], definitions, depth)
    return plain


def call(name: Any, arguments: Any) -> ToolCall:
    """A call as the service wrote it: an object, the text of one, or text that is none and stays as
    it came."""
    if isinstance(arguments, str):
        try:
            parsed = json.loads(arguments) if arguments.strip() else {}
        except (ValueError, RecursionError):
            parsed = None
        return ToolCall(str(name), parsed if isinstance(parsed, dict) else arguments)
    return ToolCall(
        str(name),
        (
            arguments
            if isinstance(arguments, dict)
            else json.dumps(arguments, ensure_ascii=False, default=str)
        ),
    )


def whole(calls: Sequence[ToolCall], stop_reason: str) -> tuple[ToolCall, ...]:
    """The calls, the last one as text where the answer was cut off: what may lack its end never
    runs, the model is asked again."""
    if stop_reason != "max_tokens" or not calls or isinstance(calls[-1].arguments, str):
        return tuple(calls)
    last = calls[-1]
    return (*calls[:-1], ToolCall(last.name, json.dumps(last.arguments, ensure_ascii=False)))


def clean(text: str) -> str:
    """Text that can be sent: half of a surrogate pair, which has no UTF-8, becomes `?`."""
    return text.encode("utf-8", "replace").decode()


def tool_spec(function: FunctionInfo) -> ToolSpec:
    """The function as a model sees it."""
    return ToolSpec(
        name=function.tool_name,
        app_id=function.app_id,
        fn_name=function.fn_name,
        description=function.description,
        input_schema=function.input_schema,
        action_type=function.action_type,
        examples=function.examples,
    )
