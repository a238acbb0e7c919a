"""Work of this process that outlives its caller: kept alive, and waited for before the process may
sleep. Safe from any thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import threading
import time
from collections.abc import Coroutine
from typing import Any

_running: dict[concurrent.futures.Future[Any], float] = {}
_tasks: set[asyncio.Task[None]] = set()
_lock = threading.Lock()


def start(work: Coroutine[Any, Any, None], name: str) -> None:
    """Run on after the caller returned, on the running loop; the set keeps the task from being
    collected."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    done: concurrent.futures.Future[Any] = concurrent.futures.Future()
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    task.add_done_callback(lambda _: done.set_result(None))
    hold(done)


def hold(work: concurrent.futures.Future[Any]) -> None:
    """Count work that runs elsewhere."""
    with _lock:
        _running[work] = time.monotonic()
    work.add_done_callback(_forget)


def oldest_s() -> float:
    """Seconds for which the oldest of it has run; 0 where nothing does."""
    with _lock:
        began = min(_running.values(), default=None)
    return 0.0 if began is None else time.monotonic() - began


def wait(timeout: float | None = None) -> bool:
    """Block until nothing runs any more, what was started meanwhile included, or for `timeout`
    seconds; whether nothing does."""
    deadline = None if timeout is None else time.monotonic() + timeout
    while True:
        with _lock:
            running = tuple(_running)
        if not running:
            return True
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            return False
        concurrent.futures.wait(running, left)


def _forget(work: concurrent.futures.Future[Any]) -> None:
    with _lock:
        _running.pop(work, None)
