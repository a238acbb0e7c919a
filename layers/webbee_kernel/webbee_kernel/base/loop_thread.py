"""A thread with an event loop: where coroutines of one kind run, apart from the caller's thread.

Nothing that runs there can end the loop: its `stop` answers with an error, and a loop that came to
a halt all the same goes on, or hands back what was running on it.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import sys
import threading
import weakref
from collections.abc import Coroutine, Hashable, Iterator
from typing import Any, TypeVar

if sys.platform == "win32":
    from asyncio import ProactorEventLoop as _PlatformLoop
else:
    from asyncio import SelectorEventLoop as _PlatformLoop

T = TypeVar("T")
_log = logging.getLogger("webbee.loop")


class _Loop(_PlatformLoop):
    """A loop that only whoever made it can end."""

    def __init__(self, *, eager: bool = False) -> None:
        super().__init__()
        if eager and (factory := getattr(asyncio, "eager_task_factory", None)):
            self.set_task_factory(factory)
        self.ending = False
        self.work: weakref.WeakSet[concurrent.futures.Future[Any]] = weakref.WeakSet()
        self._working = threading.Lock()

    def took(self, future: concurrent.futures.Future[Any]) -> None:
        """Remember work it was given; work that already closed the loop is handed back here, since
        its thread may have looked before."""
        with self._working:
            self.work.add(future)
        if self.is_closed():
            self.hand_back()

    def hand_back(self) -> None:
        """End what waits for a closed loop with an error."""
        with self._working:
            lost = [future for future in self.work if not future.done()]
        for future in lost:
            with contextlib.suppress(concurrent.futures.InvalidStateError):
                future.set_exception(RuntimeError("the event loop was closed under it"))

    def stop(self) -> None:
        """RuntimeError for code that runs on the loop."""
        if not self.ending:
            raise RuntimeError(
                "this event loop is the kernel's: code that runs on it cannot stop it"
            )
        super().stop()

    def end(self) -> None:
        """Stop it for good."""
        self.ending = True
        self.stop()


class LoopThread:
    """One daemon thread, one event loop. A coroutine that blocks it can be abandoned: the next gets
    a new thread.

    The thread ends with this object, so whoever makes many leaves none behind.
    """

    def __init__(self, name: str, *, eager: bool = False) -> None:
        """`eager`: a task runs to its first wait where it is made, and needs no turn of the loop if
        there is none (Python 3.12 on): a tenth of a turn's CPU. For the kernel's own coroutines;
        an extension's may count on being started later."""
        self._name = name
        self._eager = eager
        self._loop: _Loop | None = None
        self._lock = threading.Lock()
        self._end: weakref.finalize[Any, LoopThread] | None = None

    def submit(self, coro: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Start the coroutine there."""
        with self._lock:
            if self._loop is None or self._loop.is_closed():
                self._loop = _Loop(eager=self._eager)
                threading.Thread(
                    target=self._serve, args=(self._loop,), name=self._name, daemon=True
                ).start()
                self._end = weakref.finalize(self, _stop, self._loop)
                self._end.atexit = False
            future = asyncio.run_coroutine_threadsafe(coro, self._loop)
            self._loop.took(future)
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
            if self._loop is None or future not in self._loop.work:
                return
            asyncio.run_coroutine_threadsafe(_finish(self._loop), self._loop)
            self._loop = None
            if self._end:
                self._end.detach()

    @staticmethod
    def owns(thread: threading.Thread) -> bool:
        """Whether it is the thread of a loop made here."""
        return getattr(thread, "_target", None) is LoopThread._serve

    @staticmethod
    def _serve(loop: _Loop) -> None:
        asyncio.set_event_loop(loop)
        while not loop.ending and not loop.is_closed():
            try:
                loop.run_forever()
            except BaseException as error:
                # asyncio lets SystemExit through: one caller's exit must not end the others' loop
                _log.error("error=%s | work tried to end its loop", type(error).__name__)
        loop.close()
        loop.hand_back()


class LoopThreads:
    """Loop threads for whoever needs one at the same time as others, each their own."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._idle: list[LoopThread] = []
        self._busy: dict[Hashable, tuple[LoopThread, int]] = {}

    @contextlib.contextmanager
    def of(self, whose: Hashable) -> Iterator[LoopThread]:
        """A thread that nobody else uses meanwhile; work of one owner shares it. The one given back
        last is taken first, so one caller at a time always has the same."""
        with self._lock:
            thread, users = self._busy.get(whose) or (self._taken(), 0)
            self._busy[whose] = thread, users + 1
        try:
            yield thread
        finally:
            with self._lock:
                thread, users = self._busy.pop(whose)
                if users > 1:
                    self._busy[whose] = thread, users - 1
                else:
                    self._idle.append(thread)

    def _taken(self) -> LoopThread:
        return self._idle.pop() if self._idle else LoopThread(self._name)


def _stop(loop: _Loop) -> None:
    """End a loop that nobody can give work to any more, after what it has begun."""
    with contextlib.suppress(RuntimeError):  # it ended by itself meanwhile
        loop.call_soon_threadsafe(lambda: loop.create_task(_finish(loop)))


async def _finish(loop: _Loop) -> None:
    """Wait for the others on this loop and for what their ends call, then stop it."""
    while await _waited() or _others():
        pass
    loop.end()


async def _waited() -> bool:
    """Wait for the others, and where there are none for one turn of the loop: a task that ended
    just now has yet to tell whoever waits for it. Whether there were any."""
    others = _others()
    await (asyncio.wait(others) if others else asyncio.sleep(0))
    return bool(others)


def _others() -> set[asyncio.Task[Any]]:
    return {task for task in asyncio.all_tasks() if task is not asyncio.current_task()}
