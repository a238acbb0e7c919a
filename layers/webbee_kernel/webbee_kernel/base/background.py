"""Work of this process that outlives its caller: kept alive, and waited for before the process may
sleep. Safe from any thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Coroutine
from typing import Any, Final, NamedTuple

_lock = threading.Lock()

LOOK_S: Final = 0.1
"""Seconds between two looks at whether the loops of what is waited for still run."""


class _Began(NamedTuple):
    """When work began, and the task that does it where that hangs on a loop of anybody's."""

    at: float
    task: asyncio.Task[None] | None = None

    def halted(self) -> bool:
        """Whether its loop does not run: it has ended, or is about to go on."""
        return self.task is not None and not self.task.get_loop().is_running()


_running: dict[concurrent.futures.Future[Any], _Began] = {}


def start(work: Coroutine[Any, Any, None], name: str) -> None:
    """Run on after the caller returned, on the running loop; what is kept of it keeps the task from
    being collected."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    done: concurrent.futures.Future[Any] = concurrent.futures.Future()
    _count(done, _Began(time.monotonic(), task))
    task.add_done_callback(lambda _: done.set_result(None))


def hold(work: concurrent.futures.Future[Any]) -> None:
    """Count work that runs elsewhere: whoever runs it ends the future, whatever happens."""
    _count(work, _Began(time.monotonic()))


def oldest_s() -> float:
    """Seconds for which the oldest of it has run; 0 where nothing does."""
    with _lock:
        began = min((work.at for work in _running.values() if not work.halted()), default=None)
    return 0.0 if began is None else time.monotonic() - began


def wait(timeout: float | None = None) -> bool:
    """Block until nothing runs any more, what was started meanwhile included, or for `timeout`
    seconds; whether nothing does. Work whose loop has ended never ends, and is not waited for: a
    loop that does not run at two looks, since one may halt and go on."""
    deadline = None if timeout is None else time.monotonic() + timeout
    halted: set[concurrent.futures.Future[Any]] = set()
    while True:
        with _lock:
            now_halted = {work for work, began in _running.items() if began.halted()}
            running = [work for work in _running if work not in halted & now_halted]
        if not running:
            return True
        left = LOOK_S if deadline is None else min(LOOK_S, deadline - time.monotonic())
        if left <= 0:
            return False
        halted = now_halted
        concurrent.futures.wait(running, left)


def _count(work: concurrent.futures.Future[Any], began: _Began) -> None:
    with _lock:
        lost = {w: b for w, b in _running.items() if b.task and b.task.get_loop().is_closed()}
        for gone in lost:
            del _running[gone]
        _running[work] = began
    lost.clear()  # not under the lock: what a coroutine's end calls may come here again
    work.add_done_callback(_forget)


def _forget(work: concurrent.futures.Future[Any]) -> None:
    with _lock:
        _running.pop(work, None)
