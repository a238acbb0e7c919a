"""A thread with an event loop: where coroutines of one kind run, apart from the caller's thread."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import threading
import weakref
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")
_log = logging.getLogger("webbee.loop")


class LoopThread:
    """One daemon thread, one event loop. A coroutine that blocks it can be abandoned: the next gets
    a new thread.

    The thread ends with this object, so whoever makes many leaves none behind.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop: asyncio.AbstractEventLoop | None = None
        self._homes: weakref.WeakKeyDictionary[
            concurrent.futures.Future[Any], asyncio.AbstractEventLoop
        ] = weakref.WeakKeyDictionary()
        self._lock = threading.Lock()
        self._end: weakref.finalize[Any, LoopThread] | None = None

    def submit(self, coro: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Start the coroutine there."""
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._serve, args=(self._loop,), name=self._name, daemon=True
                ).start()
                self._end = weakref.finalize(self, _stop, self._loop)
                self._end.atexit = False
            future = asyncio.run_coroutine_threadsafe(coro, self._loop)
            self._homes[future] = self._loop
            return future

    def run(self, coro: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Its result; TimeoutError when it takes longer than `timeout` seconds."""
        return self.submit(coro).result(timeout)

    def abandon(self, future: concurrent.futures.Future[Any]) -> None:
        """Give up on the loop that this work blocks; later work goes elsewhere.

        A loop that comes back to life finishes what else it had begun, then ends. One given up
        before stays so.
        """
        with self._lock:
            if self._loop is None or self._homes.get(future) is not self._loop:
                return
            asyncio.run_coroutine_threadsafe(_finish(), self._loop)
            self._loop = None
            if self._end:
                self._end.detach()

    @staticmethod
    def _serve(loop: asyncio.AbstractEventLoop) -> None:
        asyncio.set_event_loop(loop)
        while True:
            try:
                loop.run_forever()
                break
            except BaseException as error:
                # asyncio lets SystemExit through: one caller's exit must not end the others' loop
                _log.error("error=%s | work tried to end its loop", type(error).__name__)
        loop.close()


def _stop(loop: asyncio.AbstractEventLoop) -> None:
    """End a loop that nobody can give work to any more, after what it has begun."""
    with contextlib.suppress(RuntimeError):  # it ended by itself meanwhile
        loop.call_soon_threadsafe(lambda: loop.create_task(_finish()))


async def _finish() -> None:
    """Wait for the others on this loop, then stop it."""
    while others := asyncio.all_tasks() - {asyncio.current_task()}:
        await asyncio.wait(others)
    asyncio.get_running_loop().stop()
