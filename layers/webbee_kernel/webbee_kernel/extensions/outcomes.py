"""Results: whatever a handler returned or raised, as one `CallOutcome` of plain JSON. Pure."""

from __future__ import annotations

import inspect
import json
import math
import re
from collections import deque
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from dataclasses import replace
from datetime import date, time, timedelta
from decimal import Decimal
from pathlib import PurePath
from typing import Any
from uuid import UUID

import orjson
from pydantic import BaseModel, ValidationError

from ..errors import CallError, ResultError
from ..sdk.result import UNSTRUCTURED, ActionResult, plain, ui_dict
from ..text import cut
from ..types import JSON, MAX_ERROR, NO_UNDO, RAN, CallOutcome, CallRequest, JSONObject, failed

MAX_RESULT_BYTES = 1_000_000
"""Bytes of JSON a call may return; well under Lambda's 6 MB so that an answer always fits."""

MAX_SUMMARY = 2_000
MAX_CODE = 128
"""Characters of a result's texts; longer ones are cut."""

MAX_PANELS = 100
"""Panels that a result may name; those after are left out."""

MAX_DEPTH = 100
"""Levels a result may nest: whatever walks through it later does not run out of stack."""
_ORJSON_DEPTH = 254
_WRAPS = _ORJSON_DEPTH - MAX_DEPTH

TEXTS = (Decimal, PurePath, UUID, timedelta)
"""What is written as its text."""

_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9a-z-]+:[\t\x20-\x7e\x80-\xff]*")

MAX_UNDO_BYTES = 1_000
"""Bytes of the arguments of a call that takes an effect back: they stay in the session's memory."""

MAX_EVENT_BYTES = 200_000
"""Bytes of a result that an event carries; an item of the table holds 400 KB."""


def from_return(
    value: Any, request: CallRequest, panels: tuple[str, ...], action_type: str
) -> CallOutcome:
    """What a handler returned: an ActionResult (ours or one of the same shape), a Pydantic model or
    a plain dict."""
    result = _action_result(value)
    data = plain_json(result.data)
    if not result.ok:
        return CallOutcome(
            app_id=request.app_id,
            fn_name=request.name,
            status="error",
            data=data,
            error=clean(result.error or result.summary or "the call failed", MAX_ERROR),
            error_code=clean(result.error_code, MAX_CODE) or UNSTRUCTURED,
            retryable=bool(result.retryable),
            ui=plain_json(ui_dict(result.ui)),
            action_type=action_type,
            step=request.step,
        )
    named = result.refresh_panels if isinstance(result.refresh_panels, list | tuple) else None
    return CallOutcome(
        app_id=request.app_id,
        fn_name=request.name,
        status="ok",
        data=data,
        summary=clean(result.summary, MAX_SUMMARY),
        ui=plain_json(ui_dict(result.ui)),
        panels=panels if named is None else tuple(clean(p, MAX_CODE) for p in named[:MAX_PANELS]),
        panels_named=named is not None,
        action_type=action_type,
        step=request.step,
        undo=_undo(ui_dict(result.undo)) if action_type != "read" else {},
    )


def _undo(action: Any) -> JSONObject:
    """The call that takes an effect back, as `ui.Call` writes it; without a name where it is none,
    or its arguments are too long: a result is none the worse for it."""
    if action is None:
        return {}
    try:
        made = plain_json(action)
        size = len(json.dumps(made["params"]).encode())
        if size <= MAX_UNDO_BYTES and isinstance(made["params"], dict):
            return {"function": str(made["function"]), "params": made["params"]}
    except (ResultError, TypeError, KeyError):
        pass
    return NO_UNDO


def from_exception(
    error: BaseException, request: CallRequest, action_type: str = "read"
) -> CallOutcome:
    """INTERNAL with the error's class name, never its text; a CallError keeps its code and its own
    words. An effect whose result is none has happened, and says so."""
    if isinstance(error, ResultError) and action_type != "read":
        text = (
            f"{request.name} ran, and its result was refused: {error}; check what it did before"
            " asking again"
        )
        return replace(failed(request, error.code, text, action_type=action_type), fate=RAN)
    if isinstance(error, CallError):
        problems = ({"field": error.field, "problem": str(error)},) if error.field else ()
        return failed(request, error.code, str(error), action_type=action_type, problems=problems)
    if isinstance(error, TimeoutError):
        return failed(
            request,
            "BACKEND_TIMEOUT",
            f"{request.name} did not finish in time",
            action_type=action_type,
            retryable=True,
        )
    return failed(
        request,
        "INTERNAL",
        f"{request.name} failed: {type(error).__name__}",
        action_type=action_type,
    )


def mismatch(model: type | None, data: JSON) -> str:
    """The fields of a result that do not fit its declared model, `a, b.c`; empty where all do."""
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        return ""
    try:
        model.model_validate(data)
    except ValidationError as error:
        where = (".".join(map(str, e["loc"])) or "data" for e in error.errors()[:10])
        return ", ".join(dict.fromkeys(where))
    return ""


def webhook_answer(value: Any) -> JSONObject:
    """`status`, `headers` and `body` of whatever a webhook returned: None, text, a dict,
    `{"status_code", "body", "headers"}` or its like. CallError for what HTTP cannot carry."""
    status, headers, body = _parts(value.to_dict() if hasattr(value, "to_dict") else value)
    if not 200 <= status <= 599:
        raise CallError("INTERNAL", f"a webhook's status is 200 to 599, not {status}")
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


def told(data: JSON) -> JSON:
    """A result as an event carries it: whole, or that it is too large."""
    size = len(json.dumps(data).encode())
    if size <= MAX_EVENT_BYTES:
        return data
    return {"omitted": f"the result has {size} bytes; an event carries {MAX_EVENT_BYTES}"}


def asked_by(request: CallRequest | None) -> JSONObject:
    """Which call a result that comes after its turn belongs to; nothing where there is none."""
    if request is None or not request.session_id:
        return {}
    return {
        "fn_name": request.name,
        "session_id": request.session_id,
        "request_id": request.request_id,
    }


def background_result(value: Any, request: CallRequest) -> JSONObject:
    """What a background task returned, as an event tells it: an ActionResult is told as that of a
    call is, anything else is data."""
    if not (hasattr(value, "to_dict") and hasattr(value, "status")):
        return {"status": "ok", "data": told(plain_json(plain(value)))}
    outcome = from_return(value, request, (), "read")
    said = {"text": outcome.summary or outcome.error}
    return {"status": outcome.status, **said, "data": told(outcome.data)}


def plain_json(value: Any) -> Any:
    """The value as plain JSON: dates, UUIDs, Decimals, sets and models become what JSON has; more
    than 1 MB or 100 levels raises CallError."""
    if value is None:
        return None
    loads: Any = orjson.loads
    try:
        raw = orjson.dumps(_wrapped(value), default=_default, option=orjson.OPT_NON_STR_KEYS)
        raw = raw[_WRAPS : len(raw) - _WRAPS]
    except (
        TypeError,
        RecursionError,
    ) as error:  # also for integers beyond 64 bits, which the standard library takes
        loads = json.loads
        try:
            raw = json.dumps(_exact(value), ensure_ascii=False).encode()
        except (TypeError, ValueError, RecursionError):
            why = _foreign(value) or clean(error.__cause__ or error, 200)
            raise ResultError(f"the result is no JSON: {why}") from None
    if len(raw) > MAX_RESULT_BYTES:
        raise ResultError(
            f"the result has {len(raw)} bytes; the limit is {MAX_RESULT_BYTES}: return less, or"
            " page"
        )
    return loads(raw)


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
    said = value.get("message")
    if value.get("error") or value.get("RESULT") == "ERROR":
        error = str(value.get("error") or said or "the call failed")
        return ActionResult("error", {}, "", error, error_code=str(value.get("code") or ""))
    if value.get("status") in ("success", "error") and "data" in value:
        return ActionResult.from_dict(dict(value))
    return ActionResult("success", dict(value), str(value.get("summary") or said or ""))


def clean(value: Any, limit: int) -> str:
    """Whatever stands where a text should, as one that UTF-8 can hold; a cut one ends in `…`."""
    return cut(str(value or ""), limit).encode("utf-8", "replace").decode()


def _default(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json")
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    if isinstance(value, bytes | bytearray):
        return f"<{len(value)} bytes>"
    if isinstance(value, date | time):  # of a class of its own: orjson writes the plain ones
        return value.isoformat()
    if isinstance(value, TEXTS):
        return str(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, deque):
        return list(value)
    raise TypeError(f"{type(value).__name__} is no JSON")


def _inner(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """What stands in an object or a list, with the place of each."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield f"{path}.{key}" if path else str(key), part
    else:
        for number, part in enumerate(value):
            yield f"{path}[{number}]", part


def _foreign(value: Any, path: str = "", depth: int = 0) -> str:
    """The first part of a value that JSON does not have: where it is, of what type, and what to
    write instead, or what nests too deep; empty where there is neither."""
    if isinstance(value, BaseModel):
        value = dict(value)
    if value is None or isinstance(value, str | int | float):
        return ""
    if isinstance(value, Mapping | list | tuple | set | frozenset | deque):
        if depth >= MAX_DEPTH:
            return f"{cut(path, 80)} nests deeper than {MAX_DEPTH} levels"
        return next(filter(None, (_foreign(v, p, depth + 1) for p, v in _inner(value, path))), "")
    try:
        orjson.dumps(value, default=_default)
    except TypeError:
        return f"{cut(path, 200) or 'it'} is {_instead(value)}"
    return ""


def _instead(value: Any) -> str:
    """What a value is, and what to return in its place."""
    kind = type(value).__name__
    if inspect.iscoroutine(value):
        value.close()  # nobody awaits it any more
        return f"{value.__qualname__}(), which needs an await"
    if isinstance(value, Iterator | KeysView | ValuesView | ItemsView):
        return f"of type {kind}: put it in list(…)"
    if callable(value):
        name = getattr(value, "__qualname__", kind)
        return f"{name}, which is not called: write {name}(…)"
    return f"of type {kind}: return the fields that matter as a dict, or str(…) of it"


def _wrapped(value: Any) -> Any:
    """The value in so many lists that orjson, which counts levels, allows it 100 of its own."""
    for _ in range(_WRAPS):
        value = [value]
    return value


def _exact(value: Any, depth: int = 0) -> Any:
    """The value in the standard library's terms, integers of any size as they are, the rest as
    orjson would write it."""
    if depth > MAX_DEPTH:
        raise RecursionError
    if isinstance(value, str | int | None):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(k): _exact(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_exact(v, depth + 1) for v in value]
    if isinstance(value, BaseModel | set | frozenset):
        return _exact(_default(value), depth + 1)
    return orjson.loads(orjson.dumps(value, default=_default))
