"""The tools that the conformance suite of the Model Context Protocol names, as chat functions."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

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


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA=="
PICTURE = ui.Image(f"data:image/png;base64,{PIXEL}", "a red pixel")
NOTE = ui.Link("note.txt", "data:text/plain,This%20is%20an%20embedded%20resource%20content.")
NAME: dict[str, Any] = {"name": {"type": "string"}}


class Pair(BaseModel):
    """Two texts."""

    arg1: str
    arg2: str


class Counted(BaseModel):
    """Arguments that are no texts."""

    kind: Literal["apple", "apricot", "grape"]
    number: int = 1


class Named(BaseModel):
    """The address of something."""

    resourceUri: str  # noqa: N815 - the suite's name


class Address(BaseModel):
    """The address of a resource."""

    uri: str


class Answers(BaseModel):
    """What the user has answered so far."""

    answers: dict[str, Any] = Field({}, alias="_answers")

    def answered(self, *names: str) -> ActionResult | None:
        """What was answered; None where something is missing."""
        whole = self.answers and all(name in self.answers for name in names)
        return ActionResult.success(self.answers, "answered") if whole else None


class Asking(Answers):
    """What to ask."""

    message: str


class Destroyed(BaseModel):
    """Nothing is needed to destroy nothing."""


@ext.skeleton("state", ttl=300)
async def state(ctx: Context) -> dict[str, Any]:
    return {"response": {"tools": "many"}}


@chat.function("test_simple_text", "Returns a text")
async def test_simple_text(ctx: Context) -> ActionResult:
    return ActionResult.success({}, "This is a simple text response for testing.")


@chat.function("test_error_handling", "Fails")
async def test_error_handling(ctx: Context) -> ActionResult:
    return ActionResult.error("This tool intentionally returns an error for testing")


@chat.function("json_schema_2020_12_tool", "Tool with whole schemas", params=SCHEMA)
async def json_schema_2020_12_tool(ctx: Context, **params: Any) -> ActionResult:
    """Its schema is the point."""
    return ActionResult.success({}, "ok")


@chat.function("test_tool_with_progress", "Takes its time")
async def test_tool_with_progress(ctx: Context) -> ActionResult:
    for percent in (0, 50, 100):
        await ctx.progress(percent, "on the way")
    return ActionResult.success({}, "done")


@chat.function("test_image_content", "Returns a picture")
async def test_image_content(ctx: Context) -> ActionResult:
    return ActionResult.success({}, "", ui=PICTURE)


@chat.function("test_audio_content", "Returns a sound")
async def test_audio_content(ctx: Context) -> ActionResult:
    return ActionResult.success({}, "", ui=ui.Audio(f"data:audio/wav;base64,{WAV}", "silence"))


@chat.function("test_embedded_resource", "Returns a file")
async def test_embedded_resource(ctx: Context) -> ActionResult:
    return ActionResult.success({}, "", ui=NOTE)


@chat.function("test_multiple_content_types", "Returns all of them")
async def test_multiple_content_types(ctx: Context) -> ActionResult:
    return ActionResult.success({}, "Multiple content types test:", ui=ui.Stack([PICTURE, NOTE]))


@chat.function("test_simple_prompt", "Says something")
async def test_simple_prompt(ctx: Context) -> ActionResult:
    return ActionResult.success({}, "This is a simple prompt for testing.")


@chat.function("test_prompt_with_arguments", "Says what it is given")
async def test_prompt_with_arguments(ctx: Context, params: Pair) -> ActionResult:
    told = f"Prompt with arguments: arg1={params.arg1!r}, arg2={params.arg2!r}"
    return ActionResult.success({}, told)


@chat.function("test_counted_prompt", "Counts fruit")
async def test_counted_prompt(ctx: Context, params: Counted) -> ActionResult:
    return ActionResult.success({"fruit": params.kind, "twice": params.number * 2}, "")


@chat.function("test_prompt_with_embedded_resource", "Reads a file aloud")
async def test_prompt_with_embedded_resource(ctx: Context, params: Named) -> ActionResult:
    return ActionResult.success({}, f"Please process {params.resourceUri}.", ui=NOTE)


@chat.function("test_prompt_with_image", "Shows a picture")
async def test_prompt_with_image(ctx: Context) -> ActionResult:
    return ActionResult.success({}, "Please analyze the image above.", ui=PICTURE)


@chat.function("list_resources", "Lists what may be read")
async def list_resources(ctx: Context) -> ActionResult:
    rows = [{"uri": uri, "name": uri} for uri in ("test://static-text", "test://static-binary")]
    templates = [{"uriTemplate": "test://template/{id}/data", "name": "data"}]
    return ActionResult.success({"resources": rows, "templates": templates}, "")


@chat.function("read_resource", "Reads one")
async def read_resource(ctx: Context, params: Address) -> ActionResult:
    if params.uri == "test://static-binary":
        return ActionResult.success({}, "", ui=PICTURE)
    texts = {"test://static-text": "This is the content of the static text resource."}
    if found := re.fullmatch(r"test://template/(\w+)/data", params.uri):
        texts[params.uri] = f'{{"id": "{found.group(1)}"}}'
    if params.uri not in texts:
        return ActionResult.error("there is no such resource", code="NOT_FOUND")
    part = {"uri": params.uri, "mimeType": "text/plain", "text": texts[params.uri]}
    return ActionResult.success({"uri": params.uri, "contents": [part]}, "")


@chat.function("test_elicitation", "Asks for a name and an address")
async def test_elicitation(ctx: Context, params: Asking) -> ActionResult:
    fields = {"username": {"type": "string"}, "email": {"type": "string"}}
    return params.answered() or ActionResult.ask(params.message, fields)


@chat.function("test_elicitation_sep1034_defaults", "Asks with defaults")
async def test_elicitation_sep1034_defaults(ctx: Context, params: Answers) -> ActionResult:
    statuses = ["active", "inactive", "pending"]
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": statuses, "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    return params.answered() or ActionResult.ask("Who are you?", fields)


@chat.function("test_elicitation_sep1330_enums", "Asks for choices")
async def test_elicitation_sep1330_enums(ctx: Context, params: Answers) -> ActionResult:
    titled = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
    named = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]}
    options = ["option1", "option2", "option3"]
    fields = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", **named},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    return params.answered() or ActionResult.ask("Which ones?", fields)


@chat.function("test_input_required_result_elicitation", "Asks for a name")
async def elicited(ctx: Context, params: Answers) -> ActionResult:
    return params.answered("name") or ActionResult.ask("What is your name?", NAME, name="user_name")


@chat.function("test_input_required_result_multi_round", "Asks twice")
async def twice(ctx: Context, params: Answers) -> ActionResult:
    if "name" not in params.answers:
        return ActionResult.ask("Step 1: What is your name?", NAME, name="step1")
    if "color" not in params.answers:
        color = {"color": {"type": "string"}}
        return ActionResult.ask("Step 2: What is your favorite color?", color, name="step2")
    return ActionResult.success(params.answers, "")


@chat.function("test_input_required_result_prompt", "Asks what it is about")
async def asking_prompt(ctx: Context, params: Answers) -> ActionResult:
    context = {"context": {"type": "string"}}
    asked = ActionResult.ask("What context should the prompt use?", context, name="user_context")
    return params.answered() or asked


@chat.function("test_streaming_elicitation", "Asks for a name")
async def streaming(ctx: Context, params: Answers) -> ActionResult:
    return params.answered() or ActionResult.ask("What is your name?", NAME)


@chat.function("test_logging_tool", "Tells its log and nobody else")
async def test_logging_tool(ctx: Context) -> ActionResult:
    """What it logs is its operator's."""
    ctx.log("executed")
    return ActionResult.success({}, "done")


@chat.function("test_input_required_result_tampered_state", "Destroys", action_type="destructive")
async def tampered(ctx: Context, params: Destroyed) -> ActionResult:
    return ActionResult.success({}, "destroyed")


@chat.function("test_input_required_result_capabilities", "Destroys", action_type="destructive")
async def capable(ctx: Context, params: Destroyed) -> ActionResult:
    return ActionResult.success({}, "destroyed")


@chat.function("test_input_required_result_request_state", "Destroys", action_type="destructive")
async def remembered(ctx: Context, params: Destroyed) -> ActionResult:
    return ActionResult.success({}, "destroyed")
