"""A value that somebody else knows."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, TypeVar

from . import background

T = TypeVar("T")

_log = logging.getLogger("webbee.asked")


class Kept(Protocol[T]):
    """Where the answer that another process got may be had sooner than from who knows it."""

    async def find(self) -> T | None:
        """The answer, where one is kept."""
        ...

    async def keep(self, value: T) -> None:
        """Leave it for the next process; what cannot be kept is not."""
        ...


class Asked(Generic[T]):
    """Asked for when it is first needed, then known: for good, or for `fresh_s` seconds where it
    may change. What cannot be had is asked for again by whoever needs it next.

    Where an answer is `kept`, nobody waits for who knows it: that answer serves at once, and a new
    one takes its place when it is there.
    """

    def __init__(
        self,
        ask: Callable[[], T | Awaitable[T]],
        fresh_s: float | None = None,
        kept: Kept[T] | None = None,
    ) -> None:
        self._ask = ask
        self._fresh_s = fresh_s
        self._kept = kept
        self._known: tuple[T, float] | None = None
        self._as_kept = False
        """Whether what is known was kept, and has not been asked for anew."""

    async def known(self) -> T | None:
        """The value as far as it is known or kept; nobody is asked."""
        if self._known is None and self._kept:
            found = await self._kept.find()
            if found is not None and self._known is None:
                self._known, self._as_kept = (found, time.monotonic()), True
        return self._known[0] if self._known else None

    async def __call__(self) -> T:
        """The value; the errors are those of asking."""
        await self.known()
        now = time.monotonic()
        if self._as_kept:
            self._as_kept = False
            background.start(self._renew(), "renew")
        if self._known is None or (self._fresh_s is not None and now >= self._known[1]):
            value = await self._asked()
            self._known = value, now + (self._fresh_s or 0.0)
            if self._kept:
                background.start(self._kept.keep(value), "keep")
        return self._known[0]

    async def _asked(self) -> T:
        found = self._ask()
        return await found if isinstance(found, Awaitable) else found

    async def _renew(self) -> None:
        """Ask behind what is served; where that cannot be, it serves on."""
        try:
            value = await self._asked()
        except Exception as error:
            _log.warning("error=%s | what is kept serves on", type(error).__name__)
            return
        if self._kept and self._known and value != self._known[0]:
            self._known = value, time.monotonic()
            await self._kept.keep(value)
