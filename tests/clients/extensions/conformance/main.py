"""The tools that the conformance suite of the Model Context Protocol names, as chat functions."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("conformance", "1.0.0", display_name="Conformance")
chat = ChatExtension(ext)


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""The keywords of JSON Schema 2020-12 that the suite looks for."""


class Destroyed(BaseModel):
    """Nothing is needed to destroy nothing."""


@chat.function("test_simple_text", "Returns a text")
async def test_simple_text(ctx: Context) -> ActionResult:
    """Words alone."""
    return ActionResult.success({}, "This is a simple text response for testing.")


@chat.function("test_error_handling", "Fails")
async def test_error_handling(ctx: Context) -> ActionResult:
    """Words of a failure."""
    return ActionResult.error("This tool intentionally returns an error for testing")


@chat.function("json_schema_2020_12_tool", "Tool with whole schemas", params=SCHEMA)
async def json_schema_2020_12_tool(ctx: Context, **params: Any) -> ActionResult:
    """Its schema is the point."""
    return ActionResult.success({}, "ok")


@chat.function("test_tool_with_progress", "Takes its time")
async def test_tool_with_progress(ctx: Context) -> ActionResult:
    """Done at once."""
    return ActionResult.success({}, "done")


@chat.function("test_input_required_result_tampered_state", "Destroys", action_type="destructive")
async def tampered(ctx: Context, params: Destroyed) -> ActionResult:
    """Waits for a yes."""
    return ActionResult.success({}, "destroyed")


@chat.function("test_input_required_result_elicitation", "Destroys", action_type="destructive")
async def elicited(ctx: Context, params: Destroyed) -> ActionResult:
    """Waits for a yes."""
    return ActionResult.success({}, "destroyed")


@chat.function("test_input_required_result_capabilities", "Destroys", action_type="destructive")
async def capable(ctx: Context, params: Destroyed) -> ActionResult:
    """Waits for a yes."""
    return ActionResult.success({}, "destroyed")


@chat.function("test_input_required_result_request_state", "Destroys", action_type="destructive")
async def remembered(ctx: Context, params: Destroyed) -> ActionResult:
    """Waits for a yes."""
    return ActionResult.success({}, "destroyed")
