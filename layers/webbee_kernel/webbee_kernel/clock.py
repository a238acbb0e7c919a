"""Injected time: production reads the system clock, tests set their own; ids that sort by time."""

from __future__ import annotations

import hashlib
import json
import time
from datetime import UTC, datetime
from typing import Any, Protocol

import orjson
import uuid_utils


class Clock(Protocol):
    """Unix seconds with a fraction."""

    def now(self) -> float: ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Unix seconds."""
        return time.time()


class FrozenClock:
    """A clock that moves only when a test says so."""

    def __init__(self, at: str | float = "2026-05-15T17:21:04Z") -> None:
        self._now = parse_iso(at) if isinstance(at, str) else float(at)

    def now(self) -> float:
        """Unix seconds."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move forward."""
        self._now += seconds

    def set(self, at: str | float) -> None:
        """Jump to a time."""
        self._now = parse_iso(at) if isinstance(at, str) else float(at)


def iso(timestamp: float) -> str:
    """`2026-05-15T17:21:04Z`, the form of every time in the prompt and in the tables."""
    return datetime.fromtimestamp(int(timestamp), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_iso(text: str) -> float:
    """The inverse of `iso`; any ISO 8601 time with an offset is accepted."""
    return datetime.fromisoformat(text).timestamp()


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
    # the two write differently, but the same parts always go the same way
    except TypeError:  # integers over 64 bits, lone surrogates
        text = json.dumps(parts, sort_keys=True, default=str).encode()
    return hashlib.sha256(text).hexdigest()[:32]
