"""What the two model services accept, checked: Converse against botocore's service model, chat
completions against the published shape."""

import functools
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

import botocore.session
from botocore.validate import ParamValidator
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

MAX_CACHE_POINTS = 4


# ---- Converse


@functools.cache
def _converse() -> Any:
    service = botocore.session.get_session().get_service_model("bedrock-runtime")
    return service.operation_model("Converse")


def error_status(code: str) -> int:
    """The HTTP status that the service model gives this error of Converse; 400 for errors every AWS
    service has."""
    known = {s.name: s.metadata["error"] for s in _converse().error_shapes}
    return int(known.get(code, {}).get("httpStatusCode", 400))


def converse_problems(model_id: str, body: Mapping[str, Any]) -> list[str]:
    """What is wrong with a Converse request: shapes, patterns and limits of the service model, then
    the rules it only documents."""
    value = {**body, "modelId": model_id}
    if problems := _against(_converse().input_shape, value):
        return problems
    messages = body.get("messages") or []
    return [*_message_problems(messages), *_result_problems(messages), *_tool_problems(body)]


def answer_problems(answer: Mapping[str, Any]) -> list[str]:
    """What is wrong with our own Converse answer: the stand-in is held to the service model too."""
    return _against(_converse().output_shape, answer)


def _against(shape: Any, value: Mapping[str, Any]) -> list[str]:
    report = ParamValidator().validate(dict(value), shape)
    return [report.generate_report()] if report.has_errors() else list(_limits(shape, value, ""))


def _limits(shape: Any, value: Any, path: str) -> Iterator[str]:
    """Patterns, enums and upper limits, which botocore's validator leaves to the service."""
    meta = shape.metadata
    if shape.type_name == "string":
        if "pattern" in meta and not re.fullmatch(meta["pattern"], value):
            yield f"{path} does not match {meta['pattern']}"
        if "enum" in meta and value not in meta["enum"]:
            yield f"{path} is none of {meta['enum']}"
    size = len(value) if isinstance(value, str | list | dict) else value
    if "max" in meta and size > meta["max"]:
        yield f"{path} is over {meta['max']}"
    if shape.type_name == "structure" and not getattr(shape, "is_document_type", False):
        for name, item in value.items():
            yield from _limits(shape.members[name], item, f"{path}.{name}")
    elif shape.type_name == "list":
        for n, item in enumerate(value):
            yield from _limits(shape.member, item, f"{path}[{n}]")


def _message_problems(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    roles = [m["role"] for m in messages]
    if not roles or roles[0] != "user" or roles[-1] != "user":
        yield "a conversation must start and end with a user message"
    if any(a == b for a, b in itertools.pairwise(roles)):
        yield "roles must alternate between user and assistant"
    for message in messages:
        if not message["content"]:
            yield "content must not be empty"
        if any("text" in block and not block["text"].strip() for block in message["content"]):
            yield "the text field in a content block is blank"


def _result_problems(messages: list[Mapping[str, Any]]) -> Iterator[str]:
    """Every call of an answer needs its result in the very next message, and no other."""
    for n, message in enumerate(messages):
        asked = [b["toolUse"]["toolUseId"] for b in message["content"] if "toolUse" in b]
        behind = messages[n + 1]["content"] if n + 1 < len(messages) else []
        given = [b["toolResult"]["toolUseId"] for b in behind if "toolResult" in b]
        if message["role"] == "assistant" and sorted(asked) != sorted(given):
            yield f"the results {given} do not answer the calls {asked}"
    used = [b["toolUse"]["toolUseId"] for m in messages for b in m["content"] if "toolUse" in b]
    if len(set(used)) < len(used):
        yield "the ids of tool calls must be unique"


def _tool_problems(body: Mapping[str, Any]) -> Iterator[str]:
    tools = (body.get("toolConfig") or {}).get("tools") or []
    specs = [t["toolSpec"] for t in tools if "toolSpec" in t]
    names = [s["name"] for s in specs]
    if tools and "toolSpec" not in tools[0]:
        yield "toolConfig.tools must start with a toolSpec"
    if len(set(names)) < len(names):
        yield "tool names must be unique"
    for spec in specs:
        yield from schema_problems(spec["name"], spec["inputSchema"].get("json"))
    said = (b for m in body.get("messages") or [] for b in m["content"])
    blocks = [*(body.get("system") or []), *tools, *said]
    if sum("cachePoint" in b for b in blocks) > MAX_CACHE_POINTS:
        yield f"more than {MAX_CACHE_POINTS} cache points"
    if body.get("system") and "text" not in body["system"][0]:
        yield "system must start with text"
    if not tools and any("toolUse" in b or "toolResult" in b for b in blocks):
        yield "toolConfig must be defined when messages hold toolUse or toolResult"


def schema_problems(name: str, schema: Any) -> Iterator[str]:
    """What is wrong with the JSON schema of a tool's arguments, for every model that Converse
    serves."""
    if not isinstance(schema, dict) or schema.get("type") != "object":
        yield f"{name}: the schema's type must be object"
        return
    if extra := set(schema) - {"type", "properties", "required"}:
        yield f"{name}: some models take no {sorted(extra)} at the top level"
    if missing := set(schema.get("required", [])) - set(schema.get("properties", {})):
        yield f"{name}: required names no property: {sorted(missing)}"
    if "$ref" in str(schema):
        yield f"{name}: the schema holds references"


# ---- chat completions


class _Strict(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid")


_Name = Annotated[str, Field(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]


class TextPart(_Strict):
    type: Literal["text"]
    text: str


_Content = str | list[TextPart]


class CalledFunction(_Strict):
    name: _Name
    arguments: str


class AssistantCall(_Strict):
    id: Annotated[str, Field(min_length=1)]
    type: Literal["function"]
    function: CalledFunction
    extra_content: dict[str, Any] | None = None  # Gemini's; OpenAI sends and takes none


class PlainMessage(_Strict):
    role: Literal["system", "developer", "user"]
    content: _Content
    name: str | None = None


class AssistantMessage(_Strict):
    role: Literal["assistant"]
    content: _Content | None = None
    refusal: str | None = None
    tool_calls: list[AssistantCall] | None = None
    reasoning_details: list[dict[str, Any]] | None = None  # OpenRouter's
    reasoning_content: str | None = None  # DeepSeek's


class ToolMessage(_Strict):
    role: Literal["tool"]
    content: _Content
    tool_call_id: str


class FunctionObject(_Strict):
    name: _Name
    description: Annotated[str, Field(max_length=1024)] | None = None
    parameters: dict[str, Any] | None = None


class ChatTool(_Strict):
    type: Literal["function"]
    function: FunctionObject


_Message = Annotated[PlainMessage | AssistantMessage | ToolMessage, Field(discriminator="role")]


class StreamOptions(_Strict):
    include_usage: bool | None = None


class ChatRequest(_Strict):
    """The published shape of `POST /chat/completions`, as far as a client that sends text and tools
    can touch it."""

    model: Annotated[str, Field(min_length=1)]
    messages: Annotated[list[_Message], Field(min_length=1)]
    tools: Annotated[list[ChatTool], Field(min_length=1, max_length=128)] | None = None
    tool_choice: Literal["none", "auto", "required"] | None = None
    temperature: Annotated[float, Field(ge=0, le=2)] | None = None
    max_tokens: Annotated[int, Field(ge=1)] | None = None
    max_completion_tokens: Annotated[int, Field(ge=1)] | None = None
    stop: str | list[str] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"] | None = (
        None
    )
    prompt_cache_retention: str | None = None

    @model_validator(mode="after")
    def _documented_rules(self) -> Self:
        if self.stream_options is not None and not self.stream:
            raise ValueError("stream_options is only allowed when stream is true")
        if self.tool_choice is not None and not self.tools:
            raise ValueError("tool_choice is only allowed when tools are specified")
        if self.max_tokens is not None and self.max_completion_tokens is not None:
            raise ValueError("max_tokens and max_completion_tokens cannot both be set")
        names = [t.function.name for t in self.tools or []]
        if len(set(names)) < len(names):
            raise ValueError("tool names must be unique")
        schemas = (
            schema_problems(t.function.name, t.function.parameters) for t in self.tools or []
        )
        problems = [*itertools.chain(*schemas), *_unanswered(self.messages)]
        if problems:
            raise ValueError("; ".join(problems))
        return self


def _unanswered(messages: list[_Message]) -> Iterator[str]:
    """Every call of an answer needs its result right behind it, before anything else is said."""
    waiting: list[str] = []
    for message in messages:
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in waiting:
                yield f"{message.tool_call_id} answers no call"
            else:
                waiting.remove(message.tool_call_id)
            continue
        if waiting:
            yield f"the calls {waiting} were not answered"
        calls = message.tool_calls or [] if isinstance(message, AssistantMessage) else []
        waiting = [c.id for c in calls]
    if waiting:
        yield f"the calls {waiting} were not answered"


def chat_problems(body: Any) -> list[str]:
    """What is wrong with a chat completions request."""
    try:
        ChatRequest.model_validate(body)
    except ValidationError as error:
        return [f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
    return []
