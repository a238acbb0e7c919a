"""Pictures, sounds and files of a result, as blocks of content. Pure.

What a function draws for people (its `ui`) is what a client may show: a picture, a sound or a link
that carries its bytes in its own address (`data:`) travels as such, one that lies elsewhere as a
link to it.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from ...catalogue import OPEN_WORLD, AppInfo, FunctionInfo
from ...sdk.result import ANSWERING, NEEDS_ANSWER
from ...types import JSON, CallOutcome, JSONObject

MAX_BLOCKS: Final = 20
"""Blocks of one result, after its texts."""

_KINDS: Final = {"Image": "image", "Audio": "audio", "Video": "resource", "Link": "resource"}
_ADDRESS: Final = {"Link": "href"}
_NAME: Final = {"Image": "alt", "Audio": "title", "Video": "title", "Link": "label"}


def blocks(drawn: JSON) -> list[JSONObject]:
    """What a UI tree shows besides words, in its order: `image`, `audio`, `resource` and
    `resource_link` blocks."""
    found: list[JSONObject] = []
    for node in _nodes(drawn):
        if len(found) < MAX_BLOCKS and (block := _block(node)):
            found.append(block)
    return found


def _nodes(drawn: JSON) -> Iterator[JSONObject]:
    """All nodes, each before its children."""
    waiting = [drawn]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            if value.get("type") in _KINDS and isinstance(value.get("props"), dict):
                yield value
            waiting.extend(reversed(list(value.values())))


def _block(node: JSONObject) -> JSONObject | None:
    kind, props = str(node["type"]), node["props"]
    address = props.get(_ADDRESS.get(kind, "src"))
    name = str(props.get(_NAME[kind]) or kind)
    if not isinstance(address, str):
        return None
    if address.startswith("https://"):
        return {"type": "resource_link", "uri": address, "name": name}
    held = _of_data_url(address)
    return _carrying(_KINDS[kind], name, *held) if held else None


def _carrying(kind: str, name: str, mime: str, raw: bytes) -> JSONObject:
    encoded = base64.b64encode(raw).decode()
    if kind != "resource":
        return {"type": kind, "data": encoded, "mimeType": mime}
    resource: JSONObject = {"uri": f"webbee://file/{quote(name, safe='')}", "mimeType": mime}
    try:
        resource |= {"text": raw.decode()}
    except UnicodeDecodeError:
        resource |= {"blob": encoded}
    return {"type": "resource", "resource": resource}


def _of_data_url(address: str) -> tuple[str, bytes] | None:
    """Media type and bytes of a `data:` address (RFC 2397); None for what is none."""
    head, comma, held = address.partition(",")
    if not comma or not head.startswith("data:"):
        return None
    mime, *more = head.removeprefix("data:").split(";")
    try:
        raw = unquote_to_bytes(held)
        if "base64" in more:
            raw = base64.b64decode(raw, validate=True)
    except (ValueError, binascii.Error):
        return None
    return mime or "text/plain", raw


PAGE: Final = 100
"""Tools of one answer."""

_NOTHING: Final[tuple[JSON, ...]] = (None, {}, [])


def tool(function: FunctionInfo, app: AppInfo) -> JSONObject:
    """A function as a tool: its schema as it is, its effect as annotations."""
    title = titled(function, app)
    return {
        "name": function.tool_name,
        "title": title,
        "description": function.description or title,
        "inputSchema": {**function.input_schema, "type": "object"},
        "annotations": {"title": title, **_hints(function)},
    }


def titled(function: FunctionInfo, app: AppInfo) -> str:
    """What a person reads in place of a function's name."""
    return f"{app.display_name or app.app_id}: {function.fn_name.replace('_', ' ')}"


def _hints(function: FunctionInfo) -> JSONObject:
    """What the effect is; whether it reaches the world outside only where that is known."""
    read = function.action_type == "read"
    hints: JSONObject = {"readOnlyHint": read}
    if not read:
        hints["destructiveHint"] = function.action_type == "destructive"
    if OPEN_WORLD in function.input_schema:
        hints["openWorldHint"] = bool(function.input_schema[OPEN_WORLD])
    return hints


def page(functions: Iterable[FunctionInfo], cursor: str) -> tuple[list[FunctionInfo], str] | None:
    """At most `PAGE` functions behind the one that the cursor names, by tool name, and the next
    cursor, empty at the end; None for a cursor that names none."""
    ordered = sorted(functions, key=lambda f: f.tool_name)
    first = 0
    if cursor:
        at = next((n for n, f in enumerate(ordered) if f.tool_name == cursor), None)
        if at is None:
            return None
        first = at + 1
    shown = ordered[first : first + PAGE]
    more = first + PAGE < len(ordered)
    return shown, shown[-1].tool_name if more else ""


def result(outcome: CallOutcome) -> JSONObject:
    """How a call ended, for the client's model: in words, and as data."""
    if not outcome.ok:
        asks = outcome.error_code == NEEDS_ANSWER
        why = f"{outcome.error} Now {ANSWERING}." if asks else outcome.error
        return refusal(why, outcome.error_code, _failure(outcome))
    data = outcome.data
    body: JSONObject = {"content": told(outcome) or [text("Done.")], "isError": False}
    if data not in _NOTHING:
        body["structuredContent"] = data if isinstance(data, dict) else {"result": data}
    return body


def told(outcome: CallOutcome) -> list[JSONObject]:
    """A successful call as blocks of content: its words, its data as text, what it shows."""
    words = [outcome.summary] if outcome.summary else []
    data = [_json(outcome.data)] if outcome.data not in _NOTHING else []
    return [*map(text, words + data), *blocks(outcome.ui)]


def refusal(why: str, code: str, more: JSONObject | None = None) -> JSONObject:
    """A call that failed or did not run: the client's model is told why and can mend it."""
    told = {"error_code": code, **(more or {})}
    return {
        "content": [text(f"{why} ({code})" if code else why)],
        "structuredContent": told,
        "isError": True,
    }


def _failure(outcome: CallOutcome) -> JSONObject:
    told: JSONObject = {"retryable": outcome.retryable}
    if outcome.problems:
        told["problems"] = list(outcome.problems)
    if outcome.incident:
        told["incident"] = outcome.incident
    return told


def text(value: str) -> JSONObject:
    """A block of text."""
    return {"type": "text", "text": value}


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
