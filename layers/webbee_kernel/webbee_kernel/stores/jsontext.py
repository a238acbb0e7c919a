"""JSON text of stored values: numbers come back exactly as they went in, at orjson's speed.

orjson refuses integers beyond 64 bits when writing and turns them into floats when reading. Such
values go through the standard library instead, and their text starts with a space: still valid
JSON, and the mark by which `loads` knows which of the two wrote it.
"""

from __future__ import annotations

import json
import math
from typing import Any

import orjson

_STRICT = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_EXACT = " "


def document_text(data: Any) -> str:
    """A document's JSON; TypeError for what is no object."""
    if not isinstance(data, dict):
        raise TypeError(f"a document's data is a dict, not {type(data).__name__}")
    return dumps(data)


def dumps(value: Any) -> str:
    """Compact JSON. NaN, Infinity and nesting beyond the interpreter's stack are a ValueError; what
    JSON cannot hold, a TypeError."""
    try:
        text = orjson.dumps(value, option=_STRICT)
    except TypeError:
        # also integers over 64 bits, lone surrogates and more than 254 levels, which the standard
        # library takes
        return _exact(value)
    if b"null" in text:  # orjson writes NaN as null
        _refuse_nan(value)
    return text.decode()


def loads(text: str) -> Any:
    """The value that `dumps` was given; tuples come back as lists."""
    return json.loads(text) if text.startswith(_EXACT) else orjson.loads(text)


def equal(left: Any, right: Any) -> bool:
    """Equality of JSON values: 1 is 1.0, but True is not 1, at any depth."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            equal(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


def _exact(value: Any) -> str:
    try:
        _refuse_foreign(value)
        return _EXACT + json.dumps(value, allow_nan=False, separators=(",", ":"))
    except RecursionError:
        raise ValueError("the value is nested too deeply, or holds itself") from None


def _refuse_nan(value: Any) -> None:
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not JSON: a stored number must be finite")
    elif isinstance(value, dict):
        for item in value.values():
            _refuse_nan(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_nan(item)


def _refuse_foreign(value: Any) -> None:
    """What the standard library would bend into JSON: keys that are not strings."""
    if isinstance(value, dict):
        for key, item in value.items():
            if not isinstance(key, str):
                raise TypeError(f"{key!r} is not a JSON key: keys are strings")
            _refuse_foreign(item)
    elif isinstance(value, (list, tuple)):
        for item in value:
            _refuse_foreign(item)
    elif value is not None and not isinstance(value, (str, int, float)):
        raise TypeError(
            f"{type(value).__name__} is not JSON: use dict, list, str, int, float, bool or None"
        )
