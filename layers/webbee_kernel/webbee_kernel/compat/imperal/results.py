"""What handlers of the SDK return, as the kernel takes it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from typing import Any

from pydantic import BaseModel

from ...sdk.result import ActionResult

CONTROL = ("status_code", "headers", "body")
"""Keys of a webhook's answer that shape the HTTP response itself."""


def action_result(value: Any) -> Any:
    """A function's return value: results and dicts pass, an `_ui` becomes the result's `ui`,
    everything else becomes data."""
    if (
        value is None
        or isinstance(value, BaseModel)
        or (hasattr(value, "to_dict") and hasattr(value, "status"))
    ):
        return value
    value = presentable(value)
    if isinstance(value, Mapping):
        if set(value) == {"type", "props"}:
            return ActionResult.success({}, "", ui=value)
        return _with_ui(value) if "_ui" in value or "declarative_ui" in value else value
    if isinstance(value, str):
        return ActionResult.success({"text": value}, value)
    if isinstance(value, list | tuple | set | frozenset):
        return ActionResult.success({"items": list(value)}, "")
    if isinstance(value, bool | int | float):
        return ActionResult.success({"value": value}, "")
    return value


def presentable(value: Any) -> Any:
    """Dataclasses and whatever renders itself as dicts; the rest untouched."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value


def alert_text(value: Any) -> Any:
    """An alert tool's answer: text, `{"response": text}`, or a result whose summary it is."""
    if hasattr(value, "to_dict") and hasattr(value, "summary"):
        return value.summary
    return value


def webhook_answer(value: Any) -> Any:
    """A webhook's answer with the SDK's rules: any control key shapes the response, the other keys
    are its body unless it has one."""
    value = presentable(value)
    if not isinstance(value, Mapping) or not any(key in value for key in CONTROL):
        return value
    rest = {k: v for k, v in value.items() if k not in CONTROL}
    headers = value.get("headers")
    return {
        "status_code": value.get("status_code") or 200,
        "headers": headers if isinstance(headers, Mapping) else {},
        "body": value.get("body", rest or ""),
    }


def _with_ui(value: Mapping[str, Any]) -> ActionResult:
    """A dict of an `App` tool: the SDK adds `_ui`, a flat description of a card or a table, which
    is no fact for a model."""
    data = {k: v for k, v in value.items() if k not in ("_ui", "declarative_ui")}
    summary = str(data.get("summary") or data.get("message") or "")
    if data.get("error"):
        return ActionResult(
            "error", data, "", str(data["error"]), error_code=str(data.get("code") or "")
        )
    return ActionResult.success(
        data, summary, ui=_node(value.get("_ui") or value.get("declarative_ui"))
    )


def _node(description: Any) -> Any:
    """The SDK's flat `{"type": "metric_card", …}` as nodes that every page draws; a real node
    passes."""
    if not isinstance(description, Mapping) or "props" in description:
        return description
    title = str(description.get("title") or "")
    if description.get("type") == "metric_card":
        details = description.get("details") or {}
        pairs = [
            {"key": str(k), "value": str(v)}
            for k, v in details.items()
            if isinstance(v, str | int | float | bool)
        ]
        stat = {
            "type": "Stat",
            "props": {
                "label": str(description.get("badge") or title),
                "value": str(description.get("metric") or ""),
            },
        }
        content = {
            "type": "Stack",
            "props": {
                "children": [stat, {"type": "KeyValue", "props": {"items": pairs}}],
                "direction": "v",
            },
        }
        return {"type": "Card", "props": {"title": title, "content": content}}
    if description.get("type") == "table":
        columns = [{"key": str(c), "label": str(c)} for c in description.get("columns") or ()]
        table = {
            "type": "DataTable",
            "props": {"columns": columns, "rows": description.get("rows") or []},
        }
        return {"type": "Section", "props": {"title": title, "children": [table]}}
    return {
        "type": str(description.get("type") or "Text"),
        "props": {k: v for k, v in description.items() if k != "type"},
    }
