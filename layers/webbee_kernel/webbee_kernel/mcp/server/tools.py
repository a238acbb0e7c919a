"""Chat functions as tools, outcomes as their results. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from ...catalogue import OPEN_WORLD, AppInfo, FunctionInfo
from ...sdk.result import ANSWERING, NEEDS_ANSWER
from ...types import JSON, CallOutcome, JSONObject
from .content import blocks

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
