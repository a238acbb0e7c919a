"""The bodies of chat completions: a request written, an answer read. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ..errors import ModelUnavailable
from ..types import JSONObject
from .completions import (
    THOUGHTS,
    Message,
    completion,
    conversation,
    number,
    output_tokens,
    reasoning_of,
    returned,
)
from .failures import MODEL_SETTING
from .options import PLAIN, ModelOptions
from .protocol import ModelRequest, ModelResponse, ToolSpec, Usage
from .tools import clean, describe, wire_schema


def completion_request(
    model: str,
    request: ModelRequest,
    without: frozenset[str] = frozenset(),
    *,
    streamed: bool = False,
    options: ModelOptions = PLAIN,
) -> JSONObject:
    """The body of one request, the answer to which is to be `streamed` or not. `without` holds any
    of temperature, max_tokens, limit, schema, stream_options, effort, cache_ttl, strict,
    null_content, system, tool_messages, stop, output_tokens, reasoning, no_reasoning,
    tool_choice."""
    body: JSONObject = {"model": model, "messages": _messages(request, without)}
    if request.tools:
        body["tools"] = [_tool(t, without) for t in request.tools]
        if options.tool_choice and "tool_choice" not in without:
            body["tool_choice"] = options.tool_choice
    if "limit" not in without:
        limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
        body[limit] = output_tokens(request, without)
    optional = {"temperature": {"temperature": options.temperature}, **_wished(options)}
    if streamed:
        body["stream"] = True
        optional["stream_options"] = {"stream_options": {"include_usage": True}}
    return body | _taken(optional, without)


def _messages(request: ModelRequest, without: frozenset[str]) -> list[JSONObject]:
    """The conversation, the system prompt in a message of its own or before the first."""
    flat = "tool_messages" in without
    told = [Message("user", clean(request.prompt))] if flat else conversation(request)
    messages = [m for message in told for m in _message(message, without)]
    if system := clean(request.system).strip():
        if "system" in without:
            messages[0] = {**messages[0], "content": f"{system}\n\n{messages[0]['content']}"}
        else:
            messages.insert(0, {"role": "system", "content": system})
    return messages


def _taken(optional: dict[str, JSONObject], without: frozenset[str]) -> JSONObject:
    """The optional parts that the server has not refused, together."""
    return {k: v for part, told in optional.items() if part not in without for k, v in told.items()}


def _wished(options: ModelOptions) -> dict[str, JSONObject]:
    """What the operator asks for, by the part that a server may refuse."""
    told: dict[str, JSONObject] = {
        "effort": {"reasoning_effort": options.effort},
        "cache_ttl": {"prompt_cache_retention": options.cache},
        "stop": {"stop": list(options.stop)},
    }
    return {part: body for part, body in told.items() if all(body.values())}


def _message(message: Message, without: frozenset[str]) -> Iterator[JSONObject]:
    """A message with the reasoning it came with; calls are followed by one for each with what it
    returned."""
    carried, extras = returned(message.reasoning, len(message.calls), without)
    if not message.calls:
        yield {"role": message.role, "content": message.text, **carried}
        return
    calls = [
        {
            "id": c.call_id,
            "type": "function",
            "function": {"name": c.name, "arguments": json.dumps(c.arguments, ensure_ascii=False)},
            **extra,
        }
        for c, extra in zip(message.calls, extras, strict=True)
    ]
    nothing = "" if "null_content" in without else None
    yield {
        "role": "assistant",
        "content": message.text or nothing,
        "tool_calls": calls,
        **carried,
    }
    for c in message.calls:
        yield {"role": "tool", "tool_call_id": c.call_id, "content": c.result}


def _tool(tool: ToolSpec, without: frozenset[str]) -> JSONObject:
    schema = wire_schema(tool, without)
    told = {"name": tool.name, "description": describe(tool), "parameters": schema}
    return {"type": "function", "function": told}


def read(body: Any, request: ModelRequest) -> ModelResponse:
    """A chat completion; ModelUnavailable for anything else. A refusal is the text."""
    try:
        choice = choice_of(body)
        message = choice.get("message") or choice.get("delta") or {"content": choice.get("text")}
        calls = _calls(message)
        text, parts = content_of(message.get("content"))
        refusal = content_of(message.get("refusal"))[0]
    except (ValueError, KeyError, IndexError, TypeError, AttributeError):
        raise no_completion() from None
    finish = finish_of(choice)
    if refusal and finish in ("", "stop"):
        finish = "refusal"
    reasoned = any(message.get(field) for field in THOUGHTS)
    spent = _usage(body.get("usage"))
    found = completion(text or refusal, [*calls, *parts], request, spent, finish, reasoned=reasoned)
    return replace(found, reasoning=reasoning_of(message, len(found.tool_calls)))


def no_completion() -> ModelUnavailable:
    return ModelUnavailable(
        f"The model server's answer is no chat completion: check the base URL in {MODEL_SETTING}.",
        cause="no_completion",
    )


def served(status: int, body: Any) -> Any:
    """The answer in a body: its own, or the one that an error holds; None where it tells of
    nothing but an error."""
    error = error_in(body)
    return generated(error or body) if error or status >= 300 else body or {}


def generated(error: Any) -> JSONObject | None:
    """The answer that an error holds: of a model whose calls its server could not read."""
    told = error.get("error") if isinstance(error, dict) else None
    text = told.get("failed_generation") if isinstance(told, dict) else None
    return {"choices": [{"message": {"content": text}}]} if isinstance(text, str) and text else None


def choice_of(body: Any) -> Any:
    """The first choice of an answer or of a piece of one; None where it has none."""
    return next((c for c in body.get("choices") or () if not c.get("index")), None)


def finish_of(choice: Any) -> str:
    """Why an answer ended; empty where it has not, which some servers say as a word."""
    finish = str(choice.get("finish_reason") or "")
    return "" if finish.lower() in ("null", "none") else finish


def error_in(body: Any) -> JSONObject | None:
    """The error that an answer of 200, or an event of one, tells in any of the fields that servers
    tell it in."""
    if not isinstance(body, dict) or body.get("error"):
        return {"error": body["error"]} if isinstance(body, dict) else None
    if choices := body.get("choices"):
        first = choices[0] if isinstance(choices, list) else choices
        is_error = isinstance(first, dict) and bool(first.get("error"))
        return {"error": first["error"]} if is_error else None
    told = any(body.get(name) for name in ("errors", "detail"))
    is_error = body.get("success") is False or "error" in (body.get("type"), body.get("object"))
    return dict(body) if told or is_error else None


def asked_of(message: Any) -> list[Any]:
    """The calls of a message or a piece of one: a list, a single one, or nothing."""
    asked = message.get("tool_calls") or []
    if isinstance(asked, str):
        asked = json.loads(asked)
    return [call for call in ([asked] if isinstance(asked, dict) else asked) if call]


def _calls(message: Any) -> list[tuple[Any, Any]]:
    """The names and arguments of a message's calls, the older single form behind the others."""
    calls = [_asked(c) for c in asked_of(message)]
    if isinstance(older := message.get("function_call"), dict):
        calls.append((older.get("name"), older.get("arguments")))
    return calls


def _asked(call: Any) -> tuple[Any, Any]:
    """A call's name and arguments, whichever way the server nests them."""
    if not isinstance(call, dict):
        return None, None
    inner = inner_of(call)
    name = inner.get("name") or call.get("name")
    return name, inner.get("arguments", inner.get("parameters", inner.get("input")))


def inner_of(call: JSONObject) -> JSONObject:
    """Where a call's name and arguments stand: in `function`, or in the call itself."""
    inner = call.get("function")
    return inner if isinstance(inner, dict) else call


def content_of(content: Any) -> tuple[str, list[tuple[Any, Any]]]:
    """The text, and the calls that stand among its parts; content is text, a list of parts, or
    nothing. Parts with thoughts are left out."""
    if isinstance(content, dict):
        content = [content]
    if not isinstance(content, list):
        return ("" if content is None else str(content)), []
    calls = [_asked(part) for part in content if _is_call(part)]
    return "".join(_text_of(part) for part in content if not _is_call(part)), calls


def _is_call(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") in ("tool_use", "tool_call", "function_call")


def _text_of(part: Any) -> str:
    """What a part says; nothing of one that is a thought or no text."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict) or "thought" in part:
        return ""
    is_text = part.get("type") in (None, "", "text", "output_text")
    return part["text"] if is_text and isinstance(part.get("text"), str) else ""


def _usage(usage: Any) -> Usage:
    """The service's input tokens hold those from its cache, as ours do."""
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = number(details.get("cached_tokens")) if isinstance(details, dict) else 0
    asked = usage.get("prompt_tokens", usage.get("input_tokens"))
    wrote = usage.get("completion_tokens", usage.get("output_tokens"))
    return Usage(number(asked), number(wrote), cached)
