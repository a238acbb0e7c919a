"""Strict schemas: arguments that a service writes by their schema alone. Pure.

A service takes few keywords in this mode. A schema that needs another one, or that leaves open what
an object may hold, stays as it is: nothing that tells a model what to write is lost for it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..types import JSON, JSONObject
from .options import ModelOptions
from .protocol import ToolCall, ToolSpec
from .tools import parameters

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
