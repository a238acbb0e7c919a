"""The tools that the conformance suite of the Model Context Protocol names, as chat functions."""

from __future__ import annotations

import re
from typing import Any, Literal

from pydantic import BaseModel, Field

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension, ui

ext = Extension("conformance", "1.0.0", display_name="Conformance")
chat = ChatExtension(ext)

TEXT: dict[str, Any] = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": TEXT, "city": TEXT},
        }
    },
    "properties": {
        **dict.fromkeys(("name", "phone", "email"), TEXT),
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {**TEXT, "enum": ["phone", "email"]},
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
SOUND = ui.Audio(f"data:audio/wav;base64,{WAV}", "silence")
NOTE = ui.Link("note.txt", "data:text/plain,This%20is%20an%20embedded%20resource%20content.")

SAYS: dict[str, tuple[str, Any]] = {
    "test_simple_text": ("This is a simple text response for testing.", None),
    "test_simple_prompt": ("This is a simple prompt for testing.", None),
    "test_image_content": ("", PICTURE),
    "test_audio_content": ("", SOUND),
    "test_embedded_resource": ("", NOTE),
    "test_multiple_content_types": ("Multiple content types test:", ui.Stack([PICTURE, NOTE])),
    "test_prompt_with_image": ("Please analyze the image above.", PICTURE),
}
"""What a tool says and shows, whatever is asked."""

OPTIONS = ["option1", "option2", "option3"]
TITLED = [{"const": f"value{n}", "title": f"Option {n}"} for n in (1, 2, 3)]
NAMED = {"enum": ["opt1", "opt2", "opt3"], "enumNames": ["One", "Two", "Three"]}
STATUSES = ["active", "inactive", "pending"]
NAME = {"name": TEXT}
ASKS: dict[str, tuple[str, dict[str, Any], str]] = {
    "test_elicitation_sep1034_defaults": (
        "Who are you?",
        {
            "name": {**TEXT, "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {**TEXT, "enum": STATUSES, "default": "active"},
            "verified": {"type": "boolean", "default": True},
        },
        "",
    ),
    "test_elicitation_sep1330_enums": (
        "Which ones?",
        {
            "untitledSingle": {**TEXT, "enum": OPTIONS},
            "titledSingle": {**TEXT, "oneOf": TITLED},
            "legacyEnum": {**TEXT, **NAMED},
            "untitledMulti": {"type": "array", "items": {**TEXT, "enum": OPTIONS}},
            "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
        },
        "",
    ),
    "test_input_required_result_elicitation": ("What is your name?", NAME, "user_name"),
    "test_input_required_result_prompt": ("What is it about?", {"context": TEXT}, "user_context"),
    "test_streaming_elicitation": ("What is your name?", NAME, ""),
}
"""What a tool asks before it answers: the question, its fields, its name."""

DESTROYS = ("tampered_state", "capabilities", "request_state")
"""What is asked about before it runs."""


class Pair(BaseModel):
    arg1: str
    arg2: str


class Counted(BaseModel):
    kind: Literal["apple", "apricot", "grape"]
    number: int = 1


class Named(BaseModel):
    resourceUri: str  # noqa: N815 - the suite's name


class Address(BaseModel):
    uri: str


class Answers(BaseModel):
    """What the user has answered so far."""

    answers: dict[str, Any] = Field({}, alias="_answers")


class Asking(Answers):
    message: str


def asked(params: Answers, message: str, fields: dict[str, Any], name: str = "") -> ActionResult:
    """What was answered; the question where it was not, or a named one not wholly."""
    if params.answers and (not name or fields.keys() <= params.answers.keys()):
        return ActionResult.success(params.answers, "answered")
    return ActionResult.ask(message, fields, **({"name": name} if name else {}))


def says(text: str, shown: Any) -> Any:
    async def tool(ctx: Context) -> ActionResult:
        return ActionResult.success({}, text, ui=shown)

    return tool


def asks(*question: Any) -> Any:
    async def tool(ctx: Context, params: Answers) -> ActionResult:
        return asked(params, *question)

    return tool


for name, told in SAYS.items():
    chat.function(name, "Says always the same")(says(*told))
for name, question in ASKS.items():
    chat.function(name, "Asks first")(asks(*question))
for name in DESTROYS:
    name = f"test_input_required_result_{name}"
    chat.function(name, "Destroys", action_type="destructive")(says("destroyed", None))


@ext.skeleton("state", ttl=300)
async def state(ctx: Context) -> dict[str, Any]:
    return {"response": {"tools": "many"}}


@chat.function("test_error_handling", "Fails")
async def test_error_handling(ctx: Context) -> ActionResult:
    return ActionResult.error("This tool intentionally returns an error for testing")


@chat.function("json_schema_2020_12_tool", "Tool with whole schemas", params=SCHEMA)
async def json_schema_2020_12_tool(ctx: Context, **params: Any) -> ActionResult:
    return ActionResult.success({}, "ok")


@chat.function("test_tool_with_progress", "Takes its time")
async def test_tool_with_progress(ctx: Context) -> ActionResult:
    for percent in (0, 50, 100):
        await ctx.progress(percent, "on the way")
    return ActionResult.success({}, "done")


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
    return asked(params, params.message, {"username": TEXT, "email": TEXT})


@chat.function("test_input_required_result_multi_round", "Asks twice")
async def twice(ctx: Context, params: Answers) -> ActionResult:
    if "name" not in params.answers:
        return ActionResult.ask("Step 1: What is your name?", NAME, name="step1")
    if "color" not in params.answers:
        return ActionResult.ask("Step 2: Your favorite color?", {"color": TEXT}, name="step2")
    return ActionResult.success(params.answers, "")


@chat.function("test_logging_tool", "Tells its log, which is its operator's")
async def test_logging_tool(ctx: Context) -> ActionResult:
    ctx.log("executed")
    return ActionResult.success({}, "done")
