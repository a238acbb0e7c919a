"""Chat completions: a request written; an answer read, whole or in the events of its stream.

Servers want reasoning back in three forms. OpenRouter's `reasoning_details` and Gemini's
`extra_content` with a `thought_signature` are signed or encrypted, and go back wherever they came
from. `reasoning_content` is clear text: DeepSeek and Kimi refuse a request without it, most others
one that has it, so it goes back to a server that has asked for it. Pure.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from ..errors import ModelUnavailable
from ..types import JSONObject
from .adapter import output_tokens, wished
from .assembly import Assembly, count
from .conversation import Message, conversation
from .failures import MODEL_SETTING, Passing
from .options import PLAIN, ModelOptions
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
THOUGHTS: Final = (*CLEAR, DETAILS, "thinking", "thoughts")
"""Fields in which servers send a model's thoughts, which nobody is shown."""


def completion_request(
    model: str,
    request: ModelRequest,
    without: frozenset[str] = frozenset(),
    *,
    streamed: bool = False,
    options: ModelOptions = PLAIN,
) -> JSONObject:
    """The body of one request, the answer to which is to be `streamed` or not. `without` holds any
    of CHAT_PARTS."""
    system, told = conversation(request, without)
    messages = [m for message in told for m in _message(message, without)]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    body: JSONObject = {"model": model, "messages": messages}
    limit = "max_completion_tokens" if "max_tokens" in without else "max_tokens"
    body[limit] = output_tokens(request, without)
    if request.tools:
        body["tools"] = [_tool(t, without) for t in request.tools]
    if streamed:
        body["stream"] = True
    return body | wished(
        {
            "temperature": ("temperature", options.temperature),
            "effort": ("reasoning_effort", options.effort),
            "cache_ttl": ("prompt_cache_retention", options.cache),
            "stop": ("stop", list(options.stop)),
            "tool_choice": ("tool_choice", options.tool_choice if request.tools else ""),
            "stream_options": ("stream_options", {"include_usage": True} if streamed else {}),
        },
        without,
    )


def _message(message: Message, without: frozenset[str]) -> Iterator[JSONObject]:
    """A message with the reasoning it came with; calls are followed by one for each with what it
    returned."""
    carried, extras = _returned(message.reasoning, len(message.calls), without)
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


def _returned(
    reasoning: Reasoning | None, calls: int, without: Collection[str]
) -> tuple[JSONObject, Sequence[JSONObject]]:
    """What goes back with a message and with each of its calls. `without` holds `reasoning` where
    the server refuses it, `no_reasoning` where it refuses to have clear thoughts left out."""
    nothing: Sequence[JSONObject] = [{}] * calls
    if reasoning is None:
        return {}, nothing
    plain = reasoning.plain if "no_reasoning" in without else {}
    if "reasoning" in without:
        return plain, nothing
    return {**plain, **reasoning.message}, reasoning.calls or nothing


class ChatAnswer:
    """An answer as far as it came, by `line` of a stream or `whole`. `error` is what the server
    told instead of one."""

    def __init__(self, request: ModelRequest, hear: Callable[[str], None] | None = None) -> None:
        self.made = Assembly(request, hear)
        self.done = False
        self.error: Any = None
        self._thoughts: JSONObject = {}
        self._refusal = ""
        self._is_foreign = False
        self._is_error = False
        """Whether the event that comes was named as an error."""

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
            self.done = True
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
            raise Passing(ModelUnavailable(why, cause="server_error")) from None
        self.error = error_in(chunk) or ({"error": chunk} if self._is_error else None)
        if self.error is None:
            self._take(chunk)

    def whole(self, content: bytes, status: int) -> None:
        """All of a body: JSON, or the events of a stream that nobody announced."""
        self.made.hear = None  # it is heard when it is known to be an answer
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
            body = _generated(self.error)
            self.error = self.error if body is None else None
        self.done = True
        return self._take(body) if body else None

    def _lines(self, text: str) -> None:
        for line in text.splitlines():
            if self.error is None:
                self.line(line)

    def _take(self, body: Any) -> None:
        """An answer, or a piece of one."""
        try:
            # most send it with the last chunk only
            self.made.usage = _usage(body["usage"]) if body.get("usage") else self.made.usage
            choice = next((c for c in body.get("choices") or () if not c.get("index")), None)
            self._is_foreign = choice is None and "choices" not in body
            if choice is not None:
                self._choice(choice)
        except (ValueError, AttributeError, TypeError, KeyError):
            raise no_completion() from None

    def _choice(self, choice: JSONObject) -> None:
        message = choice.get("delta") or {}
        if not message and self.made.is_empty:  # some send a whole message as the one piece
            message = choice.get("message") or {}
        finish = str(choice.get("finish_reason") or "")
        # which some servers say as a word
        self.made.stop = self.made.stop if finish.lower() in ("", "null", "none") else finish
        _gather(self._thoughts, message)
        text, parts = _content(message.get("content", choice.get("text")))
        self.made.say(text)
        self._refusal += _content(message.get("refusal"))[0]
        for n, call in enumerate([*_calls(message), *parts]):
            self._call(call, n)

    def _call(self, call: JSONObject, n: int) -> None:
        """A piece of a call, the n-th of those that came together, whichever way it is nested."""
        inner = call["function"] if isinstance(call.get("function"), dict) else call
        arguments = inner.get("arguments", inner.get("parameters", inner.get("input")))
        extra = {EXTRA: call[EXTRA]} if call.get(EXTRA) else None
        index, name = call.get("index"), inner.get("name") or ""
        place = n if index is None else index
        self.made.call(place, str(call.get("id") or ""), name, arguments, extra)

    @property
    def ended(self) -> bool:
        """Whether the answer is whole."""
        return bool(self.made.stop) or (self.done and not self._is_silent)

    @property
    def _is_silent(self) -> bool:
        return self.made.is_empty and not self._refusal

    def response(self) -> ModelResponse:
        """The answer. A refusal is its text. Raises ModelUnavailable, or Passing, where it is
        none, or has no end."""
        if not self.ended:
            raise self._nothing()
        if self._refusal and not self.made.has_text:
            self.made.say(self._refusal)
            self.made.stop = "refusal" if self.made.stop in ("", "stop") else self.made.stop
        thoughts = self._thoughts
        self.made.thought = bool(thoughts)
        answer = self.made.response()
        sealed: JSONObject = {k: thoughts[k] for k in (DETAILS, EXTRA) if k in thoughts}
        clear: JSONObject = {k: thoughts[k] for k in CLEAR if isinstance(thoughts.get(k), str)}
        own = self.made.reasoning(sealed, clear, len(answer.tool_calls))
        return replace(answer, reasoning=own)

    def _nothing(self) -> Exception:
        """Why this is no answer: it is something else, empty, or without its end."""
        if not self._is_silent:
            why = "The model server broke off its answer: try again."
            return Passing(ModelUnavailable(why, cause="server_error"))
        why = "The model server gave an empty answer: try again, or choose another model."
        empty = Passing(ModelUnavailable(why, cause="empty"))
        return no_completion() if self._is_foreign else empty


def _calls(message: Mapping[str, Any]) -> list[JSONObject]:
    """The calls of a message or a piece of one: a list, a single one, or nothing."""
    asked = message.get("tool_calls") or []
    asked = json.loads(asked) if isinstance(asked, str) else asked
    return [call for call in ([asked] if isinstance(asked, dict) else asked) if call]


def no_completion() -> ModelUnavailable:
    return ModelUnavailable(
        f"The model server's answer is no chat completion: check the base URL in {MODEL_SETTING}.",
        cause="no_completion",
    )


def _generated(error: Any) -> JSONObject | None:
    """The answer that an error holds: of a model whose calls its server could not read."""
    told = error.get("error") if isinstance(error, dict) else None
    text = told.get("failed_generation") if isinstance(told, dict) else None
    return {"choices": [{"message": {"content": text}}]} if isinstance(text, str) and text else None


def error_in(body: Any) -> JSONObject | None:
    """The error that an answer of 200, or an event of one, tells in any of the fields that servers
    tell it in."""
    if not isinstance(body, dict):
        return None
    choices = body.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else choices
    for told in (body, first):
        if isinstance(told, dict) and told.get("error"):
            return {"error": told["error"]}
    names = () if choices else ("errors", "detail")
    is_error = body.get("success") is False or "error" in (body.get("type"), body.get("object"))
    return dict(body) if is_error or any(body.get(name) for name in names) else None


def _content(content: Any) -> tuple[str, list[JSONObject]]:
    """The text, and the calls that stand among its parts; content is text, a list of parts, or
    nothing. Parts with thoughts are left out."""
    if not isinstance(content, dict | list):
        return ("" if content is None else str(content)), []
    parts = [content] if isinstance(content, dict) else content
    calls = [p for p in parts if isinstance(p, dict) and p.get("type") in ("tool_use", "tool_call")]
    return "".join(_text_of(part) for part in parts), calls


def _text_of(part: Any) -> str:
    """What a part says; nothing of one that is a thought or no text."""
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


def _gather(made: JSONObject, message: Mapping[str, Any]) -> None:
    """The thoughts of an answer, or of a piece of one, put to what there is of them."""
    for name in (*THOUGHTS, EXTRA):
        piece, before = message.get(name), made.get(name)
        if isinstance(piece, str) and isinstance(before, str):
            made[name] = before + piece
        elif isinstance(piece, list) and isinstance(before, list | None):
            for detail in piece:
                _detail(made.setdefault(name, []), detail)
        elif piece:
            made[name] = piece


def _detail(made: list[Any], piece: Any) -> None:
    """Details grow by text; another kind or place begins another one, and what is encrypted comes
    whole."""
    if not (made and _goes_on(made[-1], piece)):
        made.append(dict(piece) if isinstance(piece, dict) else piece)
        return
    last = made[-1]
    for name, value in piece.items():
        if name in ("text", "summary") and isinstance(last.get(name), str):
            last[name] += value or ""
        elif value is not None:
            last[name] = value


def _goes_on(last: Any, piece: Any) -> bool:
    if not (isinstance(piece, dict) and isinstance(last, dict)) or "data" in piece:
        return False
    return all(last.get(name) == piece.get(name) for name in ("type", "index"))
