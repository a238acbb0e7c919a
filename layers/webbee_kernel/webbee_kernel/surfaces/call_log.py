"""What the code of one call has said, for its author to read beside an error of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar

MOST = 20
"""Lines that are kept of a call, the newest."""

_lines: ContextVar[deque[str] | None] = ContextVar("webbee_call_log", default=None)


@contextmanager
def kept_lines() -> Iterator[None]:
    """What is said inside belongs to one call."""
    token = _lines.set(deque(maxlen=MOST))
    try:
        yield
    finally:
        with suppress(ValueError):  # a call whose loop was closed ends where the collector runs
            _lines.reset(token)


def keep(line: str) -> None:
    """Keep a line of the call that is running; nothing outside one."""
    if (lines := _lines.get()) is not None:
        lines.append(line)


def lines() -> tuple[str, ...]:
    """What this call has said so far."""
    return tuple(_lines.get() or ())
