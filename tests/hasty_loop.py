"""An event loop whose clock jumps to the next timer as soon as nothing happens: three minutes pass
at once, and exactly."""

import asyncio
import selectors
from collections.abc import Callable
from typing import Any

PATIENCE_S = 0.05  # in which sockets may still have something to say before the clock jumps


class _HastySelector(selectors.DefaultSelector):
    now = 0.0

    def __init__(self, may_jump: Callable[[], bool]) -> None:
        super().__init__()
        self._may_jump = may_jump

    def select(self, timeout: float | None = None) -> Any:
        ready = super().select(None if timeout is None else min(timeout, PATIENCE_S))
        if not ready and timeout is not None and timeout > 0 and self._may_jump():
            self.now += timeout
        return ready


class HastyLoop(asyncio.SelectorEventLoop):  # for `asyncio.Runner(loop_factory=HastyLoop)`
    def __init__(self, may_jump: Callable[[], bool] = lambda: True) -> None:
        """`may_jump`: whether what happens in other threads, which takes as long as it does, has
        gone so far that nothing is waited for but time."""
        self._clock = _HastySelector(may_jump)
        super().__init__(self._clock)

    def time(self) -> float:
        return self._clock.now
