"""The bodies of chat completions: a request written, an answer read. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

from ..errors import ModelUnavailable
from ..values.plain import JSONObject
from .conversation import Message, conversation
from .manner import PLAIN, Manner
from .protocol import ModelRequest, ModelResponse, ToolSpec, Usage
from .schemas import clean
from .strict import strict
from .tools import call, describe, parameters, whole

STOP_REASONS: Final = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filtered",
}
"""Finish reasons in the words of the protocol that the kernel speaks; others stay as they are."""

_THOUGHTS: Final = re.compile(r"\s*<think>.*?</think>\s*", re.DOTALL)


def completion_request(
    model: str,
    request: ModelRequest,
    without: frozenset[str] = frozenset(),
    *,
    streamed: bool = False,
    manner: Manner = PLAIN,
) -> JSONObject:
    """The body of one request, the answer to which is to be `streamed` or not. `without` holds any
    of temperature, max_tokens, stream_options, effort, cache_ttl, strict."""
    messages = [m for message in conversation(request) for m in _message(message)]
    if request.system.strip():
        messages.insert(0, {"role": "system", "content": clean(request.system)})
    body: JSONObject = {"model": model, "messages": messages}
    if request.tools:
        strictly = manner.strict and "strict" not in without
        body["tools"] = [_tool(t, strictly) for t in request.tools]
    body["max_completion_tokens" if "max_tokens" in without else "max_tokens"] = request.max_tokens
    optional = {"temperature": {"temperature": 0}, **_wished(manner)}
    if streamed:
        body["stream"] = True
        optional["stream_options"] = {"stream_options": {"include_usage": True}}
    return body | _taken(optional, without)


def _taken(optional: dict[str, JSONObject], without: frozenset[str]) -> JSONObject:
    """The optional parts that the server has not refused, together."""
    return {k: v for part, told in optional.items() if part not in without for k, v in told.items()}


def _wished(manner: Manner) -> dict[str, JSONObject]:
    """What the operator asks for, by the part that a server may refuse."""
    told = {
        "effort": {"reasoning_effort": manner.effort},
        "cache_ttl": {"prompt_cache_retention": manner.cache},
    }
    return {part: body for part, body in told.items() if all(body.values())}


def _message(message: Message) -> Iterator[JSONObject]:
    """A message; calls are followed by one for each with what it returned."""
    if not message.calls:
        yield {"role": message.role, "content": message.text}
        return
    calls = [
        {
            "id": c.call_id,
            "type": "function",
            "function": {"name": c.name, "arguments": json.dumps(c.arguments, ensure_ascii=False)},
        }
        for c in message.calls
    ]
    yield {"role": "assistant", "content": message.text or None, "tool_calls": calls}
    for c in message.calls:
        yield {"role": "tool", "tool_call_id": c.call_id, "content": c.result}


def _tool(tool: ToolSpec, strictly: bool) -> JSONObject:
    schema = strict(parameters(tool), all_required=True) if strictly else None
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": describe(tool),
            "parameters": schema or parameters(tool),
            **({"strict": True} if schema else {}),
        },
    }


def read(body: Any) -> ModelResponse:
    """A chat completion; ModelUnavailable for anything else. A refusal is the text, thoughts before
    the answer are left out."""
    try:
        choice = body["choices"][0]
        message = choice["message"]
        asked = [c["function"] for c in message.get("tool_calls") or []]
        calls = [call(a["name"], a.get("arguments") or "") for a in asked]
        refusal = message.get("refusal") or ""
        text = _text(message.get("content")) or refusal
        spent = _usage(body.get("usage") or {})
    except (KeyError, IndexError, TypeError, AttributeError):
        raise ModelUnavailable(
            "The model server's answer is no chat completion: check the base URL in WEBBEE_MODEL."
        ) from None
    stop_reason = _stop_reason(str(choice.get("finish_reason") or "stop"), refusal)
    return ModelResponse(text, whole(calls, stop_reason), spent, stop_reason)


def _stop_reason(finish: str, refusal: str) -> str:
    return "refusal" if refusal and finish == "stop" else STOP_REASONS.get(finish, finish)


def _usage(usage: JSONObject) -> Usage:
    """The service's input tokens hold those from its cache, as ours do."""
    cached = (usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
    return Usage(usage.get("prompt_tokens") or 0, usage.get("completion_tokens") or 0, cached)


def _text(content: Any) -> str:
    """Content is text, or a list of parts."""
    text = (
        "".join(part.get("text") or "" for part in content)
        if isinstance(content, list)
        else content or ""
    )
    thoughts = _THOUGHTS.match(text)
    return text[thoughts.end() :] if thoughts else text
