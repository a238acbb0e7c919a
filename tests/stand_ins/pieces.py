"""Answers of the two services in pieces, as they stream them."""

import json
import re
import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import Any

EVENT_STREAM = "application/vnd.amazon.eventstream"
SSE = "text/event-stream"


def tokens_of(text: str) -> list[str]:
    """The text in pieces of about a token: four characters, a word's end with its space."""
    return re.findall(r"\s*\S{1,4}\s?|\s+", text)


def converse_events(body: Mapping[str, Any]) -> Iterator[bytes]:
    """ConverseStream's messages of a Converse answer, tokens of text one by one."""
    yield _message("messageStart", {"role": "assistant"})
    for index, block in enumerate(body["output"]["message"]["content"]):
        at = {"contentBlockIndex": index}
        if "text" in block:
            for piece in tokens_of(block["text"]):
                yield _message("contentBlockDelta", {"delta": {"text": piece}, **at})
        elif "reasoningContent" in block:
            for thought in _thoughts(block["reasoningContent"]):
                delta = {"reasoningContent": thought}
                yield _message("contentBlockDelta", {"delta": delta, **at})
        else:
            tool = block["toolUse"]
            named = {"toolUseId": tool["toolUseId"], "name": tool["name"]}
            yield _message("contentBlockStart", {"start": {"toolUse": named}, **at})
            given = tool["input"]
            text = given if isinstance(given, str) else json.dumps(given)
            for part in (text[:5], text[5:]):
                yield _message("contentBlockDelta", {"delta": {"toolUse": {"input": part}}, **at})
        yield _message("contentBlockStop", at)
    yield _message("messageStop", {"stopReason": body["stopReason"]})
    yield _message("metadata", {"usage": body["usage"], "metrics": body["metrics"]})


def _thoughts(block: Mapping[str, Any]) -> Iterator[Mapping[str, str]]:
    """A block of reasoning: its text token by token, then its signature; what is encrypted whole."""
    if "redactedContent" in block:
        yield {"redactedContent": block["redactedContent"]}
        return
    told = block["reasoningText"]
    yield from ({"text": piece} for piece in tokens_of(told["text"]))
    if "signature" in told:
        yield {"signature": told["signature"]}


def _message(kind: str, payload: Mapping[str, Any]) -> bytes:
    """One message of the event stream encoding: lengths, headers, payload, each with its sum."""
    headers = b"".join(
        bytes([len(name)]) + name + b"\x07" + struct.pack("!H", len(value)) + value
        for name, value in (
            (b":event-type", kind.encode()),
            (b":content-type", b"application/json"),
            (b":message-type", b"event"),
        )
    )
    content = json.dumps(payload).encode()
    prelude = struct.pack("!II", 16 + len(headers) + len(content), len(headers))
    message = prelude + struct.pack("!I", zlib.crc32(prelude)) + headers + content
    return message + struct.pack("!I", zlib.crc32(message))


def chat_chunks(body: Mapping[str, Any], *, usage: bool) -> Iterator[bytes]:
    """The chunks of a chat completion, tokens of text one by one; its usage where it was asked
    for."""
    choice = body["choices"][0]
    message = choice["message"]
    yield _chunk(body, {"role": "assistant", "content": ""})
    for key in message.keys() - {"role", "content", "refusal", "tool_calls"}:
        for thought in _grown(message[key]):
            yield _chunk(body, {key: thought})
    for key in ("content", "refusal"):
        for piece in tokens_of(message[key] or ""):
            yield _chunk(body, {key: piece})
    for index, call in enumerate(message.get("tool_calls") or []):
        given = call["function"]["arguments"]
        first = {"name": call["function"]["name"], "arguments": given[:5]}
        head = {**call, "index": index, "function": first}
        yield _chunk(body, {"tool_calls": [head]})
        yield _chunk(body, {"tool_calls": [{"index": index, "function": {"arguments": given[5:]}}]})
    yield _chunk(body, {}, choice["finish_reason"])
    if usage:
        yield _data({**_head(body), "choices": [], "usage": body["usage"]})
    yield b"data: [DONE]\n\n"


def _grown(thought: Any) -> Iterator[Any]:
    """A field of thoughts in pieces: text token by token, and so the text of details."""
    if isinstance(thought, str):
        yield from tokens_of(thought)
    elif isinstance(thought, list):
        for detail in thought:
            pieces = tokens_of(detail.get("text", ""))
            rest = {k: v for k, v in detail.items() if k not in ("text", "signature")}
            yield from ([{**rest, "text": piece}] for piece in pieces)
            if "signature" in detail or not pieces:
                yield [{k: v for k, v in detail.items() if k != "text"}]
    else:
        yield thought


def _chunk(body: Mapping[str, Any], delta: Mapping[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return _data({**_head(body), "choices": [choice]})


def _head(body: Mapping[str, Any]) -> dict[str, Any]:
    return {k: body[k] for k in ("id", "created", "model")} | {"object": "chat.completion.chunk"}


def _data(value: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"
