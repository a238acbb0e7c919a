"""Arguments without what is to be shown to nobody."""

from __future__ import annotations

from ..types import JSON, JSONObject
from .names import names_a_secret


def without_secrets(arguments: JSONObject, schema: JSONObject) -> JSONObject:
    """The arguments at any depth, less those whose name or schema (`format: password`, `writeOnly`)
    says that they are secret."""
    hidden = set(_hidden(schema))
    return {str(k): _open(v, hidden) for k, v in arguments.items() if _may_show(str(k), hidden)}


def _open(value: JSON, hidden: set[str]) -> JSON:
    if isinstance(value, dict):
        return {k: _open(v, hidden) for k, v in value.items() if _may_show(str(k), hidden)}
    return [_open(v, hidden) for v in value] if isinstance(value, list) else value


def _may_show(name: str, hidden: set[str]) -> bool:
    return name not in hidden and not names_a_secret(name)


def _hidden(schema: JSON) -> list[str]:
    """Names of the properties that a schema marks as secret, wherever they stand."""
    if isinstance(schema, list):
        return [name for item in schema for name in _hidden(item)]
    if not isinstance(schema, dict):
        return []
    properties = schema.get("properties")
    marked = [
        str(name)
        for name, spec in (properties.items() if isinstance(properties, dict) else ())
        if _is_marked(spec)
    ]
    return [*marked, *(name for item in schema.values() for name in _hidden(item))]


def _is_marked(spec: JSON) -> bool:
    if isinstance(spec, list):
        return any(_is_marked(s) for s in spec)
    return isinstance(spec, dict) and (
        spec.get("format") == "password"
        or spec.get("writeOnly") is True
        or _is_marked(spec.get("anyOf"))
        or _is_marked(spec.get("items"))
    )
