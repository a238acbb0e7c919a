"""Chat functions as tools, outcomes as their results, skeleton sections as resources. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Final
from urllib.parse import quote, unquote

from ..catalogue import OPEN_WORLD, AppInfo, FunctionInfo
from ..values import CallOutcome, Section
from ..values.plain import JSON, JSONObject

PAGE: Final = 100
"""Tools of one answer."""

_SCHEME: Final = "webbee://skeleton/"


def tool(function: FunctionInfo, app: AppInfo) -> JSONObject:
    """A function as a tool: its schema as it is, its effect as annotations."""
    title = f"{app.display_name or app.app_id}: {function.fn_name.replace('_', ' ')}"
    return {
        "name": function.tool_name,
        "title": title,
        "description": function.description or title,
        "inputSchema": {**function.input_schema, "type": "object"},
        "annotations": {"title": title, **_hints(function)},
    }


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
        return refusal(outcome.error, outcome.error_code, _failure(outcome))
    data = outcome.data
    body: JSONObject = {"content": [text(outcome.summary)] if outcome.summary else []}
    if data not in (None, {}, []):
        body["content"].append(text(_json(data)))
        body["structuredContent"] = data if isinstance(data, dict) else {"result": data}
    body["content"] = body["content"] or [text("Done.")]
    return {**body, "isError": False}


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


def resource(section: Section) -> JSONObject:
    """A section of the skeleton as a resource."""
    return {
        "uri": _SCHEME + quote(section.app_id, safe="") + "/" + quote(section.section, safe=""),
        "name": f"{section.app_id}.{section.section}",
        "description": "A snapshot as the classifier knows it, before it is compressed",
        "mimeType": "application/json",
    }


def contents(sections: Sequence[Section], uri: str) -> JSONObject | None:
    """What a resource holds, with the time at which it was true; None where there is none."""
    app_id, _, name = uri.removeprefix(_SCHEME).partition("/")
    wanted = (unquote(app_id), unquote(name))
    if not uri.startswith(_SCHEME):
        return None
    found = next((s for s in sections if (s.app_id, s.section) == wanted), None)
    if found is None or found.data is None:
        return None
    held = {**found.data, "_refreshed_at": found.refreshed_at, "_ttl": found.ttl}
    return {"uri": uri, "mimeType": "application/json", "text": _json(held)}


def _json(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)
