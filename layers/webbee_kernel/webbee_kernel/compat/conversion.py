"""Converts what the SDK's handlers take, return and raise. Pure."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from typing import Any, Final

from pydantic import BaseModel

from .. import compat as sdk
from ..errors import CallError, ModelUnavailable
from ..extensions.outcomes import hints_of, keywords_model
from ..sdk import exceptions as ours
from ..sdk.result import ActionResult

CONTEXT_NAMES = ("ctx", "context", "self")


def context_name(func: Callable[..., Any]) -> str:
    """The parameter that takes the context, by annotation or name; empty without one."""
    hints = hints_of(func)
    for name in inspect.signature(func).parameters:
        hint = hints.get(name)
        # without `self`: that is no argument, and no context either
        if name in CONTEXT_NAMES[:2] or hint is sdk.Context or sdk.Context in typing.get_args(hint):
            return name
    return ""


def arguments_model(
    func: Callable[..., Any], described: Mapping[str, Any]
) -> type[BaseModel] | None:
    """A model of the handler's named parameters but the context."""
    return keywords_model(func, described, {context_name(func), *CONTEXT_NAMES})


def model_parameter(func: Callable[..., Any]) -> tuple[str, type[BaseModel] | None]:
    """The first parameter that is annotated with a Pydantic model, and the model."""
    hints = hints_of(func)
    for name in inspect.signature(func).parameters:
        hint = hints.get(name)
        if isinstance(hint, type) and issubclass(hint, BaseModel):
            return name, hint
    return "", None


def accepted(func: Callable[..., Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Those keyword arguments the handler takes."""
    parameters = inspect.signature(func).parameters
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values()):
        return dict(given)
    return {name: value for name, value in given.items() if name in parameters}


CONTROL = ("status_code", "headers", "body")
"""Keys of a webhook's answer that shape the HTTP response itself."""


def action_result(value: Any) -> Any:
    """A function's return value: results and dicts pass, an `_ui` becomes the result's `ui`,
    everything else becomes data."""
    if _is_result(value):
        return _with_lists(value)
    if value is None or isinstance(value, BaseModel):
        return value
    value = _without_sets(presentable(value))
    if isinstance(value, Mapping):
        return _of_dict(value)
    if isinstance(value, str):
        return ActionResult.success({"text": value}, value)
    if isinstance(value, list):
        return ActionResult.success({"items": value}, "")
    if isinstance(value, bool | int | float):
        return ActionResult.success({"value": value}, "")
    return value


def _of_dict(value: Mapping[str, Any]) -> Any:
    # a bare node of a UI: it is drawn, and no model reads it
    if set(value) == {"type", "props"}:
        return ActionResult.success({}, "", ui=value)
    return _with_ui(value) if "_ui" in value or "declarative_ui" in value else value


def _is_result(value: Any) -> bool:
    """Whether it is an `ActionResult`, the kernel's or the SDK's."""
    return hasattr(value, "to_dict") and hasattr(value, "status")


def _with_lists(result: Any) -> Any:
    result.data = _without_sets(result.data)
    return result


def _without_sets(value: Any) -> Any:
    """Sets and tuples inside of dicts and lists as lists: the SDK takes them, the kernel's own
    results may hold no set."""
    if isinstance(value, Mapping):
        return {key: _without_sets(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return [*map(_without_sets, value)] if isinstance(value, list | tuple) else value


def presentable(value: Any) -> Any:
    """Dataclasses and objects with `to_dict` as dicts; other values unchanged."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    return value


def snapshot(value: Any) -> Any:
    """What a refresh handler returned. A result stays one: a failed one keeps the last good
    snapshot, and of a good one only the data is stored."""
    return _with_lists(value) if _is_result(value) else _without_sets(presentable(value))


def alert_text(value: Any) -> Any:
    """An alert tool's answer: text, `{"response": text}`, or a result whose summary it is."""
    if hasattr(value, "to_dict") and hasattr(value, "summary"):
        return value.summary
    return value


def webhook_answer(value: Any) -> Any:
    """A webhook's answer with the SDK's rules: any control key shapes the response, the other keys
    are its body unless it has one."""
    value = _without_sets(presentable(value))
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
    """A dict of an `App` tool: the SDK adds `_ui`, the flat description of a card, which is no fact
    for a model."""
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
    """The SDK's flat `{"type": "metric_card", …}` as nodes that every page draws; a real node stays
    as it is."""
    if not isinstance(description, Mapping) or "props" in description:
        return description
    if description.get("type") == "metric_card":
        return _card(description)
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


def _made(kind: str, /, **props: Any) -> dict[str, Any]:
    return {"type": kind, "props": props}


@contextmanager
def in_their_words(app_id: str) -> Iterator[None]:
    """Translate errors that leave the block to the SDK's; those that `translate` does not list stay
    as they are."""
    try:
        yield
    except Exception as error:
        if (translated := translate(error, app_id)) is None:
            raise
        raise translated from None


_SAME_WORDS: Final[tuple[tuple[type[Exception], type[Exception]], ...]] = (
    (ours.SkeletonAccessForbidden, sdk.SkeletonAccessForbidden),
    (ours.SystemContextRequired, RuntimeError),
    (ours.SecretNotDeclaredError, sdk.SecretNotDeclaredError),
    (ours.SecretTooLargeError, sdk.SecretValueTooLarge),
)
"""The kernel's error and the SDK's that takes its text."""


def translate(error: Exception, app_id: str) -> Exception | None:
    """The SDK's error of the same meaning; None where the kernel's own error stays."""
    same = (made(str(error)) for kind, made in _SAME_WORDS if isinstance(error, kind))
    if (found := next(same, None)) is not None:
        return found
    # the narrow ones first: each error of the store is an ExtensionError, too
    match error:
        case ours.StoreConflict():
            found = sdk.StoreConflict(
                doc_id=error.doc_id,
                expected_etag=error.expected_etag,
                current_etag=error.current_etag,
            )
        case ours.StoreUnavailable():
            found = sdk.StoreUnavailable(retry_after=error.retry_after)
        case ours.CircularCallError():
            found = sdk.CircularCallError(error.call_stack)
        case ours.ExtensionError():
            found = sdk.ExtensionError(app_id, str(error))
        case ModelUnavailable():
            found = sdk.APIError(str(error), 503, "model_unavailable")
        case CallError(code="PERMISSION_DENIED"):
            found = sdk.AuthError(str(error))
    return found
