"""Time, injected: production reads the system clock, tests move their own."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import Protocol


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
