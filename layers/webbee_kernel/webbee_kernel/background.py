"""Background tasks of this process: kept alive, and waited for before the process may sleep."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

_running: set[asyncio.Task[None]] = set()


def start(work: Coroutine[Any, Any, None], name: str) -> None:
    """Run on after the caller returned; the set keeps the task from being collected."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    _running.add(task)
    task.add_done_callback(_running.discard)


async def idle() -> None:
    """Return when no task of this loop runs any more, those started meanwhile included."""
    loop = asyncio.get_running_loop()
    while mine := [t for t in _running if t.get_loop() is loop]:
        await asyncio.wait(mine)
