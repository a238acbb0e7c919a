"""Containment: whatever extension code raises or leaves behind stays its own.

Only the kernel's own cancellation is a cancellation. A handler that ends with CancelledError (it
awaited a task that somebody cancelled), KeyboardInterrupt or SystemExit has failed like any other.
"""

from __future__ import annotations

import asyncio
import logging
import traceback
from collections.abc import Awaitable
from typing import Any, TypeVar

from .loader import app_of_module

T = TypeVar("T")

UNWIND_S = 0.5
"""Seconds that code whose time is over gets to clean up; less than the host's patience."""

_log = logging.getLogger("webbee.extensions")


class Escaped(Exception):
    """What extension code raised is no `Exception`; `error` is it."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(type(error).__name__)
        self.error = error


def raised(error: BaseException) -> BaseException:
    """What extension code itself raised."""
    return error.error if isinstance(error, Escaped) else error


async def contained(work: Awaitable[T]) -> T:
    """The result of extension code, run as a task of its own.

    Raises what it raised, as `Escaped` where that is no `Exception`.
    """
    task = asyncio.create_task(_sealed(work))
    task.add_done_callback(asked_for)
    try:
        await asyncio.wait({task})
    except asyncio.CancelledError:
        task.cancel()
        raise
    return await _ended(task)


async def apart(work: Awaitable[T], seconds: float | None = None) -> T:
    """The same where the kernel's own task waits, which nobody but extension code would cancel:
    `for task in asyncio.all_tasks(): task.cancel()` ends the handler that says it. TimeoutError
    when the seconds are over: it is cancelled then, and left alone where it does not heed that."""
    task = asyncio.create_task(_sealed(work))
    task.add_done_callback(asked_for)
    await settled(task, seconds)
    return await _ended(task)


async def settled(task: asyncio.Future[Any], seconds: float | None = None) -> None:
    """Wait until the task is done or the seconds are over, whoever cancels the waiting."""
    loop = asyncio.get_running_loop()
    deadline = None if seconds is None else loop.time() + seconds
    while True:
        left = None if deadline is None else max(0.0, deadline - loop.time())
        try:
            await asyncio.wait({task}, timeout=left)
            return
        except asyncio.CancelledError:
            if waiting := asyncio.current_task():
                waiting.uncancel()


async def _ended(task: asyncio.Task[T]) -> T:
    if not task.done():
        task.cancel()
        await asyncio.wait({task}, timeout=UNWIND_S)
        raise TimeoutError
    try:
        return task.result()
    except Exception:
        raise
    except BaseException as error:
        raise Escaped(error) from None


async def _sealed(work: Awaitable[T]) -> T:
    """The event loop lets these two through to whoever runs it: they end the call instead."""
    try:
        return await work
    except (KeyboardInterrupt, SystemExit) as error:
        raise Escaped(error) from None


def asked_for(task: asyncio.Future[Any]) -> None:
    """Nobody may want to know how it ended any more."""
    if not task.cancelled():
        task.exception()


def report(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """What nobody waits for failed, a task or a callback that a handler left on its loop: said with
    the app's name where its code was running."""
    error = context.get("exception")
    apps = (
        app_of_module(str(frame.f_globals.get("__name__", "")))
        for frame, _ in traceback.walk_tb(error.__traceback__ if error else None)
    )
    _log.warning(
        "app=%s error=%s | left on the loop: %s",
        next(filter(None, apps), ""),
        type(error).__name__,
        context.get("message", ""),
    )
