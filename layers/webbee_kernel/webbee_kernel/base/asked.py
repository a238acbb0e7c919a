"""A value that somebody else knows."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Asked(Generic[T]):
    """Asked for when it is first needed, then known: for good, or for `fresh_s` seconds where it
    may change. What cannot be had is asked for again by whoever needs it next."""

    def __init__(self, ask: Callable[[], T | Awaitable[T]], fresh_s: float | None = None) -> None:
        self._ask = ask
        self._fresh_s = fresh_s
        self._known: tuple[T, float] | None = None

    async def __call__(self) -> T:
        """The value; the errors are those of asking."""
        now = time.monotonic()
        if self._known is None or (self._fresh_s is not None and now >= self._known[1]):
            found = self._ask()
            value = await found if isinstance(found, Awaitable) else found
            self._known = value, now + (self._fresh_s or 0.0)
        return self._known[0]
