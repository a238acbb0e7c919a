"""The wire format of Chat Completions: builds requests, parses answers, whole or streamed. Pure.

Servers expect reasoning back in three forms. OpenRouter's `reasoning_details` and Gemini's
`extra_content` (`thought_signature`) are signed or encrypted and always sent back.
`reasoning_content` is clear text: DeepSeek and Kimi require it, most others refuse it, so it is
sent only to a server that asked for it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final

from ..config import ModelOptions
from ..errors import ModelUnavailable
from ..types import JSONObject
from .adapter import Message, conversation, optional_parts, output_tokens
from .assembly import Assembly, count
from .failures import MODEL_SETTING, Retryable
from .protocol import ModelRequest, ModelResponse, Reasoning, ToolSpec, Usage
from .tools import describe, wire_schema

CHAT_PARTS: Final = frozenset(
    """output_tokens no_reasoning reasoning temperature max_tokens stream_options effort
    cache_ttl tool_choice schema stop null_content system tool_messages stream""".split()
)
"""Parts of a request that a server may refuse."""

EXTRA: Final = "extra_content"
DETAILS: Final = "reasoning_details"
CLEAR: Final = ("reasoning_content", "reasoning")
THOUGHTS: Final = frozenset((*CLEAR, DETAILS, "thinking", "thoughts", EXTRA))
"""Fields with a model's reasoning, which is never shown."""


def completion_request(
    model: str,
    request: ModelRequest,
    without: frozenset[str],
    *,
    is_streamed: bool,
    options: ModelOptions,
) -> JSONObject:
    """The body of one request. `without` holds any of CHAT_PARTS."""
    system, turns = conversation(request, without)
    messages = [m for message in turns for m in _message(message, without)]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    body: JSONObject = {"model": model, "messages": messages}
    limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
    body[limit] = output_tokens(request, without)
    if request.tools:
        body["tools"] = [_tool(t, without) for t in request.tools]
    if is_streamed:
        body["stream"] = True
    return body | optional_parts(
        {
            "temperature": ("temperature", options.temperature),
            "effort": ("reasoning_effort", options.effort),
            "cache_ttl": ("prompt_cache_retention", options.cache),
            "stop": ("stop", list(options.stop)),
            "tool_choice": ("tool_choice", options.tool_choice if request.tools else ""),
            "stream_options": ("stream_options", {"include_usage": True} if is_streamed else {}),
        },
        without,
    )


def _message(message: Message, without: frozenset[str]) -> Iterator[JSONObject]:
    """The wire messages of a message with its reasoning, followed by one per result."""
    fields, extras = _reasoning_fields(message.reasoning, len(message.calls), without)
    if not message.calls:
        yield {"role": message.role, "content": message.text, **fields}
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
    yield {"role": "assistant", "content": message.text or nothing, "tool_calls": calls, **fields}
    for c in message.calls:
        yield {"role": "tool", "tool_call_id": c.call_id, "content": c.result}


def _tool(tool: ToolSpec, without: frozenset[str]) -> JSONObject:
    schema = wire_schema(tool, without)
    spec = {"name": tool.name, "description": describe(tool), "parameters": schema}
    return {"type": "function", "function": spec}


def _reasoning_fields(
    reasoning: Reasoning | None, calls: int, without: Collection[str]
) -> tuple[JSONObject, Sequence[JSONObject]]:
    """The reasoning fields of a message and of each call. `without` holds `reasoning` where the
    server refuses it, `no_reasoning` where it requires clear-text reasoning."""
    nothing: Sequence[JSONObject] = [{}] * calls
    if reasoning is None:
        return {}, nothing
    plain = reasoning.plain if "no_reasoning" in without else {}
    if "reasoning" in without:
        return plain, nothing
    return {**plain, **reasoning.message}, reasoning.calls or nothing


class ChatAnswer:
    """An answer under construction, from stream lines or a whole body. `error` is the server's
    error, if it sent one."""

    def __init__(self, request: ModelRequest, hear: Callable[[str], object] | None = None) -> None:
        self.draft = Assembly(request, hear)
        self.is_done = False
        self.error: Any = None
        self._thoughts: JSONObject = {}
        self._refusal = ""
        self._lacks_choices = False
        self._is_error = False
        """Whether the current event is named `error`."""

    def line(self, line: str) -> None:
        """One line of Server-Sent Events, or of JSON alone."""
        line = line.strip("\ufeff\r\n")
        name, colon, value = line.partition(":")
        if name == "event":
            self._is_error = "error" in value
        # llama.cpp's server sends `error:` lines
        if name == "error" and colon:
            self._is_error, name = True, "data"
        data = value.strip() if name == "data" else line.strip()
        if data.upper() == "[DONE]":
            self.is_done = True
        if data.startswith("{"):
            self._chunk(data)
        # words instead of JSON behind an error's name
        elif self._is_error and data and not data.startswith(("[", "event:")):
            self.error = {"error": {"message": data}}

    def _chunk(self, data: str) -> None:
        try:
            chunk = json.loads(data)
        except (ValueError, RecursionError):
            why = "The model server sent an event that is no JSON: try again."
            raise Retryable(ModelUnavailable(why, cause="server_error")) from None
        self.error = error_in(chunk) or ({"error": chunk} if self._is_error else None)
        if self.error is None:
            self._add(chunk)

    def read_body(self, content: bytes, status: int) -> None:
        """A whole body: JSON, or an event stream without its content type."""
        self.draft.hear = None  # it is heard when it is known to be an answer
        text = content.decode("utf-8", "replace").strip("\0\ufeff \t\r\n")
        try:
            body = json.loads(text)
        except (ValueError, RecursionError):
            if status == 200 and text.startswith(("data:", ":", "event:", "{")):
                return self._lines(text)
            body = text
        error = error_in(body)
        if error or status >= 300:
            self.error = error or body or {}
            body = _failed_generation(self.error)
            self.error = self.error if body is None else None
        self.is_done = True
        return self._add(body) if body else None

    def _lines(self, text: str) -> None:
        for line in text.splitlines():
            if self.error is None:
                self.line(line)

    def _add(self, body: Any) -> None:
        """An answer, or a piece of one."""
        try:
            # most send it with the last chunk only
            self.draft.usage = _usage(body["usage"]) if body.get("usage") else self.draft.usage
            choice = next((c for c in body.get("choices") or () if not c.get("index")), None)
            self._lacks_choices = choice is None and "choices" not in body
            if choice is not None:
                self._choice(choice)
        except (ValueError, AttributeError, TypeError, KeyError):
            raise no_completion() from None

    def _choice(self, choice: JSONObject) -> None:
        message = choice.get("delta") or {}
        if not message and self.draft.is_empty:  # some send a whole message as the one piece
            message = choice.get("message") or {}
        finish = str(choice.get("finish_reason") or "")
        # which some servers say as a word
        self.draft.stop = self.draft.stop if finish.lower() in ("", "null", "none") else finish
        _merge_thoughts(self._thoughts, message)
        text, parts = _content(message.get("content", choice.get("text")))
        self.draft.add_text(text)
        self._refusal += _content(message.get("refusal"))[0]
        for n, call in enumerate([*_calls(message), *parts]):
            self._call(call, n)

    def _call(self, call: JSONObject, n: int) -> None:
        """A call or a piece of one, the n-th of its chunk, however it is nested."""
        inner = call["function"] if isinstance(call.get("function"), dict) else call
        arguments = inner.get("arguments", inner.get("parameters", inner.get("input")))
        extra = {EXTRA: call[EXTRA]} if call.get(EXTRA) else None
        index, name = call.get("index"), inner.get("name") or ""
        place = n if index is None else index
        self.draft.add_call(place, str(call.get("id") or ""), name, arguments, extra)

    @property
    def is_complete(self) -> bool:
        """Whether the answer is whole."""
        return bool(self.draft.stop) or (self.is_done and not self._is_silent)

    @property
    def _is_silent(self) -> bool:
        return self.draft.is_empty and not self._refusal

    def response(self) -> ModelResponse:
        """The answer; a refusal becomes its text. Raises ModelUnavailable or Retryable if it is
        empty, truncated or not a completion."""
        if not self.is_complete:
            raise self._empty_error()
        if self._refusal and not self.draft.has_text:
            self.draft.add_text(self._refusal)
            self.draft.stop = "refusal" if self.draft.stop in ("", "stop") else self.draft.stop
        thoughts = self._thoughts
        self.draft.has_thoughts = bool(thoughts)
        encrypted: JSONObject = {k: thoughts[k] for k in (DETAILS, EXTRA) if k in thoughts}
        clear: JSONObject = {k: thoughts[k] for k in CLEAR if isinstance(thoughts.get(k), str)}
        return self.draft.response(encrypted, clear)

    def _empty_error(self) -> Exception:
        """The error for an answer that is empty, truncated or not a completion."""
        if not self._is_silent:
            why = "The model server broke off its answer: try again."
            return Retryable(ModelUnavailable(why, cause="server_error"))
        why = "The model server gave an empty answer: try again, or choose another model."
        empty = Retryable(ModelUnavailable(why, cause="empty"))
        return no_completion() if self._lacks_choices else empty


def _calls(message: Mapping[str, Any]) -> list[JSONObject]:
    """The calls of a message or a piece of one: a list, a single one, or nothing."""
    calls = message.get("tool_calls") or []
    calls = json.loads(calls) if isinstance(calls, str) else calls
    return [call for call in ([calls] if isinstance(calls, dict) else calls) if call]


def no_completion() -> ModelUnavailable:
    return ModelUnavailable(
        f"The model server's answer is no chat completion: check the base URL in {MODEL_SETTING}.",
        cause="no_completion",
    )


def _failed_generation(error: Any) -> JSONObject | None:
    """The model's text in an error: some servers reject calls that they cannot parse."""
    inner = error.get("error") if isinstance(error, dict) else None
    text = inner.get("failed_generation") if isinstance(inner, dict) else None
    return {"choices": [{"message": {"content": text}}]} if isinstance(text, str) and text else None


def error_in(body: Any) -> JSONObject | None:
    """The error in a 200 response or event, from any of the fields that servers use."""
    if not isinstance(body, dict):
        return None
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else choices
    for part in (body, first):
        if isinstance(part, dict) and part.get("error"):
            return {"error": part["error"]}
    names = () if choices else ("errors", "detail")
    is_error = body.get("success") is False or "error" in (body.get("type"), body.get("object"))
    return dict(body) if is_error or any(body.get(name) for name in names) else None


def _content(content: Any) -> tuple[str, list[JSONObject]]:
    """The text and the calls of a content: text, a list of parts, or nothing. Reasoning parts are
    left out."""
    if not isinstance(content, dict | list):
        return ("" if content is None else str(content)), []
    parts = [content] if isinstance(content, dict) else content
    calls = [p for p in parts if isinstance(p, dict) and p.get("type") in ("tool_use", "tool_call")]
    return "".join(_text_of(part) for part in parts), calls


def _text_of(part: Any) -> str:
    """The text of a content part; empty for reasoning and other types."""
    if not isinstance(part, dict) or "thought" in part:
        return ""
    is_text = part.get("type") in (None, "", "text", "output_text")
    return part["text"] if is_text and isinstance(part.get("text"), str) else ""


def _usage(usage: Any) -> Usage:
    """The service's input tokens hold those from its cache, as ours do."""
    if not isinstance(usage, dict):
        return Usage()
    details = usage.get("prompt_tokens_details")
    cached = count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    return Usage(count(usage.get("prompt_tokens")), count(usage.get("completion_tokens")), cached)


def _merge_thoughts(total: JSONObject, message: Mapping[str, Any]) -> None:
    """Merge the reasoning fields of a message or chunk into `total`."""
    for name in message.keys() & THOUGHTS:
        piece, before = message.get(name), total.get(name)
        if isinstance(piece, str) and isinstance(before, str):
            total[name] = before + piece
        elif isinstance(piece, list) and isinstance(before, list | None):
            for detail in piece:
                _merge_detail(total.setdefault(name, []), detail)
        elif piece:
            total[name] = piece


def _merge_detail(details: list[Any], piece: Any) -> None:
    """Append a reasoning detail: text continues the last one of the same type and index; encrypted
    ones are never split."""
    if not (details and _is_continuation(details[-1], piece)):
        details.append(dict(piece) if isinstance(piece, dict) else piece)
        return
    last = details[-1]
    for name, value in piece.items():
        if name in ("text", "summary") and isinstance(last.get(name), str):
            last[name] += value or ""
        elif value is not None:
            last[name] = value


def _is_continuation(last: Any, piece: Any) -> bool:
    if not (isinstance(piece, dict) and isinstance(last, dict)) or "data" in piece:
        return False
    return all(last.get(name) == piece.get(name) for name in ("type", "index"))
