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
    if value is None or isinstance(value, BaseModel) or _is_result(value):
        return value
    value = presentable(value)
    if isinstance(value, Mapping):
        return _of_dict(value)
    if isinstance(value, str):
        return ActionResult.success({"text": value}, value)
    if isinstance(value, list | tuple | set | frozenset):
        return ActionResult.success({"items": list(value)}, "")
    if isinstance(value, bool | int | float):
        return ActionResult.success({"value": value}, "")
    return value


def _of_dict(value: Mapping[str, Any]) -> Any:
    if set(value) == {"type", "props"}:
        return ActionResult.success({}, "", ui=value)
    return _with_ui(value) if "_ui" in value or "declarative_ui" in value else value


def _is_result(value: Any) -> bool:
    """Whether it is an `ActionResult`, whoever's."""
    return hasattr(value, "to_dict") and hasattr(value, "status")


def presentable(value: Any) -> Any:
    """Dataclasses and whatever renders itself as dicts; the rest untouched."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value


def snapshot(value: Any) -> Any:
    """A refresh handler's answer: a result stays one, so that a failed one keeps the last good
    snapshot and of a good one only the data is stored."""
    return value if _is_result(value) else presentable(value)


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
    if description.get("type") == "metric_card":
        return _card(description)
    if description.get("type") == "table":
        return _table(description)
    props = {k: v for k, v in description.items() if k != "type"}
    return _made(str(description.get("type") or "Text"), **props)


def _card(description: Mapping[str, Any]) -> dict[str, Any]:
    title = str(description.get("title") or "")
    details = (description.get("details") or {}).items()
    pairs = [
        {"key": str(k), "value": str(v)}
        for k, v in details
        if isinstance(v, str | int | float | bool)
    ]
    label, value = description.get("badge") or title, description.get("metric") or ""
    children = [_made("Stat", label=str(label), value=str(value)), _made("KeyValue", items=pairs)]
    return _made("Card", title=title, content=_made("Stack", children=children, direction="v"))


def _table(description: Mapping[str, Any]) -> dict[str, Any]:
    columns = [{"key": str(c), "label": str(c)} for c in description.get("columns") or ()]
    table = _made("DataTable", columns=columns, rows=description.get("rows") or [])
    return _made("Section", title=str(description.get("title") or ""), children=[table])


def _made(kind: str, /, **props: Any) -> dict[str, Any]:
    return {"type": kind, "props": props}
