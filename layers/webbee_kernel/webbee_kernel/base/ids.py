"""Ids: UUID version 7, so they sort by time in a sort key."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import orjson
import uuid_utils


def new_id() -> str:
    """32 hex digits that sort by creation time."""
    return uuid_utils.uuid7().hex


def confirmation_id(*parts: Any) -> str:
    """`conf_` and 12 hex digits, the same for the same parts: a request delivered twice asks for
    one confirmation."""
    return f"conf_{digest(*parts)[:12]}"


def digest(*parts: Any) -> str:
    """A stable 32-digit hash of JSON values; dict keys in any order hash alike."""
    try:
        text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=str)
    except TypeError:  # integers over 64 bits, lone surrogates
        text = json.dumps(parts, sort_keys=True, default=str).encode()
    return hashlib.sha256(text).hexdigest()[:32]
