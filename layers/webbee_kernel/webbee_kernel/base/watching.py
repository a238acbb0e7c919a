"""Watching: what one turn spends its time on, told while it goes to a developer who follows it.

Where nobody watches, a stretch costs a look at a context variable.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Tell = Callable[[dict[str, Any]], None]

_watch: ContextVar[tuple[float, Tell] | None] = ContextVar("webbee_watch", default=None)


@contextmanager
def watched(tell: Tell) -> Iterator[None]:
    """Stretches of work that end inside are told: `{kind, name, at_ms, duration_ms, …}`, with the
    milliseconds since the beginning."""
    token = _watch.set((time.perf_counter(), tell))
    try:
        yield
    finally:
        _watch.reset(token)


@contextmanager
def stretch(kind: str, name: str) -> Iterator[dict[str, Any] | None]:
    """A piece of work, told at its end with what was put into the dict that this yields; None where
    nobody watches."""
    watch = _watch.get()
    if watch is None:
        yield None
        return
    begun, tell = watch
    more: dict[str, Any] = {}
    started = time.perf_counter()
    try:
        yield more
    finally:
        ended = time.perf_counter()
        at, took = round((started - begun) * 1000, 1), round((ended - started) * 1000, 1)
        tell({"kind": kind, "name": name, "at_ms": at, "duration_ms": took, **more})
