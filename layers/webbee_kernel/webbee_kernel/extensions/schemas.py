"""Schemas: what a function takes and returns, as JSON Schema."""

from __future__ import annotations

import json

from pydantic import TypeAdapter
from pydantic.errors import PydanticSchemaGenerationError, PydanticUserError

from ..sdk import FunctionDef
from ..types import JSONObject


def pii_of(function: FunctionDef) -> dict[str, str]:
    """What the author declares of arguments and data (`x-pii`); the room that reads it is imported
    only where something is declared."""
    kinds: dict[str, str] = {}
    for schema in (input_schema(function), _data_schema(function)):
        if '"x-pii"' in json.dumps(schema, default=str):
            from ..pii.declared import declared

            kinds |= declared(schema)
    return kinds


def _data_schema(function: FunctionDef) -> JSONObject:
    """The JSON schema of the data a function declares to return; empty where it declares none, or
    what Pydantic has no schema for."""
    if function.data_model is None:
        return {}
    try:
        return TypeAdapter(function.data_model).json_schema(mode="serialization")
    except (PydanticUserError, PydanticSchemaGenerationError):
        return {}


def input_schema(function: FunctionDef) -> JSONObject:
    """The JSON schema of a function's arguments; `params` of the decorator where there is no
    Pydantic model."""
    if function.params_model:
        schema = function.params_model.model_json_schema()
        return {k: v for k, v in schema.items() if k not in ("title", "description")}
    params = function.params or {}
    if params.get("type") == "object":
        return params
    properties = {
        k: dict(v) if isinstance(v, dict) else {"type": str(v)} for k, v in params.items()
    }
    required = [k for k, v in properties.items() if v.pop("required", False) is True]
    return {"type": "object", "properties": properties, "required": required}
