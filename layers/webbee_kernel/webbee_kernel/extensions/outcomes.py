"""Converts what a handler takes and what it gave: its named parameters to a Pydantic model, what it
returned or raised to a `CallOutcome` of plain JSON. Pure."""

from __future__ import annotations

import inspect
import json
import math
import re
import typing
from collections import deque
from collections.abc import Callable, Collection, ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import fields, is_dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from enum import Enum
from pathlib import PurePath
from types import NoneType
from typing import Any, Final
from uuid import UUID

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from ..errors import CallError, ResultError
from ..sdk.result import ActionResult, plain, ui_dict
from ..text import cut
from ..types import (
    JSON,
    MAX_ERROR,
    NO_UNDO,
    RAN,
    CallOutcome,
    CallRequest,
    JSONObject,
    failed_outcome,
    ok_outcome,
)

_KEYWORDS = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


def hints_of(func: Callable[..., Any]) -> dict[str, Any]:
    """Annotations as types, as written where they cannot be resolved."""
    plain = inspect.unwrap(func)
    try:
        return typing.get_type_hints(plain, include_extras=True)
    except Exception:  # whatever an annotation's code raises, it is only an annotation
        return dict(getattr(plain, "__annotations__", {}))


def keywords_model(
    func: Callable[..., Any], descriptions: Mapping[str, Any], excluded: Collection[str]
) -> type[BaseModel] | None:
    """A model of the handler's named parameters but those `excluded`, as the context is; None
    where it names none. `descriptions` is the decorator's `params`."""
    hints = hints_of(func)
    parameters = inspect.signature(func).parameters.values()
    included = [p for p in parameters if p.kind in _KEYWORDS and p.name not in excluded]
    fields: dict[str, Any] = {
        f"p{number}": _field(p, hints.get(p.name, Any), descriptions.get(p.name))
        for number, p in enumerate(included)
    }
    if not fields:
        return None
    takes_more = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters)
    options = ConfigDict(
        extra="allow" if takes_more else "ignore",
        arbitrary_types_allowed=True,
        validate_default=False,
    )
    try:
        model: type[BaseModel] = create_model(
            f"{func.__name__}_params", __config__=options, **fields
        )
        # tried now: the catalogue would fail at it, and take the whole app along
        model.model_json_schema()
    except Exception:  # a type no schema can describe: the handler gets what was sent
        return None
    return model


def _field(parameter: inspect.Parameter, hint: Any, description: Any) -> tuple[Any, Any]:
    """Type and field of one parameter. The alias is the name: a field may not be called `schema`,
    `copy` or `_x`, a parameter may."""
    name = parameter.name
    text = description.get("description") if isinstance(description, Mapping) else ""
    default = ... if parameter.default is inspect.Parameter.empty else parameter.default
    field = Field(default, alias=name, title=name, description=str(text) if text else None)
    # still a text: it could not be resolved, so nothing is checked
    return (Any if isinstance(hint, str) else hint, field)


def keywords(params: BaseModel) -> dict[str, Any]:
    """A checked model of `keywords_model` as keyword arguments; what was not sent keeps the
    handler's own default."""
    fields = type(params).model_fields
    return {
        str(fields[name].alias): getattr(params, name)
        for name in params.model_fields_set & set(fields)
    } | (params.model_extra or {})


MAX_RESULT_BYTES = 1_000_000
"""Bytes of JSON a call may return; well under Lambda's 6 MB so that an answer always fits."""

MAX_SUMMARY = 2_000
MAX_CODE = 128
"""Characters of a result's texts; longer ones are cut."""

MAX_PANELS = 100
"""Panels that a result may name; those after are left out."""

MAX_DEPTH = 100
"""Levels a result may nest, so that later recursion does not overflow."""

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+:[\t\x20-\x7e\x80-\xff]*")

MAX_UNDO_BYTES = 1_000
"""Bytes of the arguments of an undo call: they stay in the session's memory."""

MAX_EVENT_BYTES = 200_000
"""Bytes of a result that an event carries; an item of the table holds 400 KB."""


def from_return(
    value: Any, request: CallRequest, panels: tuple[str, ...], action_type: str
) -> CallOutcome:
    """What a handler returned: an ActionResult (ours or one of the same shape), a Pydantic model or
    a plain dict."""
    result = _action_result(value)
    data, ui = plain_json(result.data), plain_json(ui_dict(result.ui))
    more = {"ui": ui, "action_type": action_type}
    if not result.ok:
        error = clean(result.error or result.summary or "the call failed", MAX_ERROR)
        code, retryable = clean(result.error_code, MAX_CODE), bool(result.retryable)
        return failed_outcome(request, code, error, data=data, retryable=retryable, **more)
    panel_ids = result.refresh_panels if isinstance(result.refresh_panels, list | tuple) else None
    return ok_outcome(
        request,
        data,
        summary=clean(result.summary, MAX_SUMMARY),
        panels=panels
        if panel_ids is None
        else tuple(clean(p, MAX_CODE) for p in panel_ids[:MAX_PANELS]),
        panels_named=panel_ids is not None,
        undo=_undo(ui_dict(result.undo)) if action_type != "read" else {},
        **more,
    )


def _undo(action: Any) -> JSONObject:
    """The undo call from `ui.Call`; `NO_UNDO` where it is invalid or its arguments are too long."""
    if action is None:
        return {}
    try:
        call = plain_json(action)
        size = len(json.dumps(call["params"]).encode())
        if size <= MAX_UNDO_BYTES and isinstance(call["params"], dict):
            return {"function": str(call["function"]), "params": call["params"]}
    except (ResultError, TypeError, KeyError):
        pass
    return NO_UNDO


def from_exception(
    error: BaseException, request: CallRequest, action_type: str = "read"
) -> CallOutcome:
    """INTERNAL with the error's class name, never its text; a CallError keeps code and text. An
    effect with an invalid result ran, and the error says so."""
    more: dict[str, Any] = {"action_type": action_type}
    code, text = "INTERNAL", f"{request.name} failed: {type(error).__name__}"
    if isinstance(error, ResultError) and action_type != "read":
        text = (
            f"{request.name} ran, and its result was refused: {error}; check what it did before"
            " asking again"
        )
        more["fate"] = RAN
    elif isinstance(error, CallError):
        code, text = error.code, str(error)
        if error.field:
            more["problems"] = ({"field": error.field, "problem": text},)
    elif isinstance(error, TimeoutError):
        code, text = "BACKEND_TIMEOUT", f"{request.name} did not finish in time"
        more["retryable"] = True
    return failed_outcome(request, code, text, **more)


def mismatch(model: type | None, data: JSON) -> str:
    """The fields of a result that do not fit its declared model, `a, b.c`; what the model's own
    checks raise; empty where all fits."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return ""
    try:
        model.model_validate(data)
    except ValidationError as error:
        where = (".".join(map(str, e["loc"])) or "data" for e in error.errors()[:10])
        return ", ".join(dict.fromkeys(where))
    except Exception as error:
        return type(error).__name__
    return ""


def webhook_answer(value: Any) -> JSONObject:
    """`status`, `headers` and `body` of whatever a webhook returned: None, text, a dict,
    `{"status_code", "body", "headers"}` or its like. CallError for what HTTP cannot carry."""
    status, headers, body = _parts(value.to_dict() if hasattr(value, "to_dict") else value)
    if not 200 <= status <= 599:
        raise CallError("INTERNAL", f"a webhook's status is 200 to 599, not {status}")
    # no line break gets through: it would begin a header of its own
    if not all(_HEADER.fullmatch(f"{name}:{text}") for name, text in headers.items()):
        raise CallError("INTERNAL", "a webhook's header is no header")
    answer: JSONObject = plain_json({"status": status, "headers": headers, "body": body})
    return answer


def _parts(value: Any) -> tuple[int, dict[str, str], Any]:
    """Status, headers and body."""
    if isinstance(value, Mapping) and "status_code" in value:
        headers = {str(k).lower(): str(v) for k, v in (value.get("headers") or {}).items()}
        return int(value["status_code"]), headers, value.get("body", "")
    if value is None:
        return 200, {}, {"ok": True}
    if isinstance(value, str | Mapping | list | tuple | BaseModel):
        return 200, {}, value
    raise CallError(
        "INTERNAL", f"a webhook returns text, a dict or a list, not {type(value).__name__}"
    )


def event_data(data: JSON) -> JSON:
    """A result for an event; a note where it is too large."""
    size = len(json.dumps(data).encode())
    if size <= MAX_EVENT_BYTES:
        return data
    return {"omitted": f"the result has {size} bytes; an event carries {MAX_EVENT_BYTES}"}


def request_fields(request: CallRequest | None) -> JSONObject:
    """The fields that link a late result to its call; empty without one."""
    if request is None or not request.session_id:
        return {}
    return {
        "fn_name": request.name,
        "session_id": request.session_id,
        "request_id": request.request_id,
    }


def background_result(value: Any, request: CallRequest) -> JSONObject:
    """Event data for what a background task returned: an ActionResult, or any other data."""
    if not (hasattr(value, "to_dict") and hasattr(value, "status")):
        return {"status": "ok", "data": event_data(plain_json(plain(value)))}
    outcome = from_return(value, request, (), "read")
    text = {"text": outcome.summary or outcome.error}
    return {"status": outcome.status, **text, "data": event_data(outcome.data)}


def plain_json(value: Any) -> Any:
    """The value as plain JSON, with dates, UUIDs, Decimals and models converted; ResultError
    for other types, over 1 MB or over 100 levels."""
    plain = _plain(value)
    try:
        size = _size(plain)
    except ValueError as error:  # half a character, or an integer of thousands of digits
        raise ResultError(f"the result is no JSON: {clean(error, 200)}") from None
    if size > MAX_RESULT_BYTES:
        raise ResultError(
            f"the result has {size} bytes; the limit is {MAX_RESULT_BYTES}: return less, or page"
        )
    return plain


def _size(plain: Any) -> int:
    """Bytes of its compact JSON; ValueError for what JSON's text cannot hold."""
    try:
        return len(orjson.dumps(plain))
    except TypeError:  # an integer beyond 64 bits is JSON all the same
        return len(json.dumps(plain, ensure_ascii=False, separators=(",", ":")).encode())


def _action_result(value: Any) -> ActionResult:
    if isinstance(value, ActionResult):
        return value
    if hasattr(value, "to_dict") and hasattr(value, "status"):
        return ActionResult.from_dict(value.to_dict())
    if isinstance(value, BaseModel):
        return ActionResult("success", value)
    if isinstance(value, Mapping):
        return _of_dict(value)
    if value is None:
        return ActionResult("success", {})
    raise ResultError(
        f"a handler returns an ActionResult or a dict, not {type(value).__name__}:"
        " ActionResult.success(data, summary)"
    )


def _of_dict(value: Mapping[str, Any]) -> ActionResult:
    """A plain dict: `error`, or `RESULT` saying so, means failure."""
    message = value.get("message")
    if value.get("error") or value.get("RESULT") == "ERROR":
        error = str(value.get("error") or message or "the call failed")
        return ActionResult("error", {}, "", error, error_code=str(value.get("code") or ""))
    # both keys: a handler's own data may well have a `status`
    if value.get("status") in ("success", "error") and "data" in value:
        return ActionResult.from_dict(dict(value))
    return ActionResult("success", dict(value), str(value.get("summary") or message or ""))


def clean(value: Any, limit: int) -> str:
    """Any value as text that UTF-8 can hold, cut with `…`."""
    return cut(str(value or ""), limit).encode("utf-8", "replace").decode()


_CONVERTERS: Final[tuple[tuple[Any, Callable[[Any], Any]], ...]] = (
    # before text and numbers: an enum may be one of these as well
    (Enum, lambda value: value.value),
    (float, lambda value: value if math.isfinite(value) else None),
    (BaseModel, lambda value: value.model_dump(mode="json")),
    (Mapping, lambda value: {k if type(k) is str else str(_plain(k)): v for k, v in value.items()}),
    (list | tuple | deque, list),
    (date | time, lambda value: value.isoformat()),
    (Decimal | PurePath | UUID | timedelta, str),
    (str, str),
    (int, int),
)
"""Converters by type; the first match applies."""


def _plain(value: Any, path: str = "", depth: int = 0) -> Any:
    """The value as plain JSON; ResultError with the path of what has none, and advice."""
    # the exact types, as nearly all values are: subclasses go through the table
    kind = type(value)
    if kind in (str, int, bool, NoneType) or (kind is float and math.isfinite(value)):
        return value
    found = _converted(value, path)
    if not isinstance(found, dict | list):
        return found
    if depth >= MAX_DEPTH:
        where = cut(path, 80)
        raise ResultError(f"the result is no JSON: {where} nests deeper than {MAX_DEPTH} levels")
    if isinstance(found, list):
        return [_plain(v, f"{path}[{n}]", depth + 1) for n, v in enumerate(found)]
    return {k: _plain(v, f"{path}.{k}" if path else k, depth + 1) for k, v in found.items()}


def _converted(value: Any, path: str) -> Any:
    """The converted value, with members still unconverted."""
    # nearly all are JSON already
    if type(value) is list or (type(value) is dict and {*map(type, value)} <= {str}):
        return value
    for kind, form in _CONVERTERS:
        if isinstance(value, kind):
            return form(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    where = cut(path, 200) or "it"
    raise ResultError(f"the result is no JSON: {where} is {_advice(value)}", path)


def _advice(value: Any) -> str:
    """What a value is, and what to return instead."""
    kind = type(value).__name__
    if inspect.iscoroutine(value):
        value.close()  # nobody awaits it any more
        return f"{value.__qualname__}(), which needs an await"
    if isinstance(value, Iterator | KeysView | ValuesView | ItemsView):
        return f"of type {kind}: put it in list(…)"
    if isinstance(value, set | frozenset):  # often a dict of which a key was forgotten
        return f"of type {kind}: return sorted(…) of it, or a dict, {{name: value}}"
    if isinstance(value, bytes | bytearray):
        return f"of type {kind}: return base64.b64encode(…).decode() of it, or its text"
    if callable(value):
        name = getattr(value, "__qualname__", kind)
        return f"{name}, which is not called: write {name}(…)"
    return f"of type {kind}: return the fields that matter as a dict, or str(…) of it"
