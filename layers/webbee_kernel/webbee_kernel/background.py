"""Work apart from its caller: background tasks, loops in threads of their own, cached values."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import logging
import math
import sys
import threading
import time
import weakref
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Hashable, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, Final, Generic, Protocol, TypeVar

POLL_S: Final = 0.1
"""Seconds between two looks at whether the loops of what is waited for still run."""


_running: dict[concurrent.futures.Future[Any], asyncio.Task[object] | None] = {}
"""Running work with its task, where an event loop runs it. Any thread may change this at any time,
so iterate over a copy."""


def start(work: Coroutine[Any, Any, object], name: str) -> None:
    """Run a coroutine in the background on the running loop, and keep a reference to its task."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    future: concurrent.futures.Future[Any] = concurrent.futures.Future()
    track(future, task)
    task.add_done_callback(lambda _: future.set_result(None))


def track(work: concurrent.futures.Future[Any], task: asyncio.Task[object] | None = None) -> None:
    """Count work that runs elsewhere; its owner must always complete the future."""
    for dead, task_ in list(_running.items()):
        # tasks of a closed loop never call back: here is where they are taken out
        if task_ and task_.get_loop().is_closed():
            _running.pop(dead, None)
    _running[work] = task
    work.add_done_callback(lambda future: _running.pop(future, None))


def _can_end(task: asyncio.Task[object] | None) -> bool:
    """Whether work can still end: its loop runs, or is a kernel loop that is about to."""
    loop = task.get_loop() if task else None
    return loop is None or loop.is_running() or (isinstance(loop, _Loop) and not loop.ending)


def wait(timeout: float | None = None) -> bool:
    """Block until no background work runs, at most `timeout` seconds; whether all of it ended.
    Work whose loop has ended is ignored."""
    end = time.monotonic() + (math.inf if timeout is None else timeout)
    while running := [work for work, task in list(_running.items()) if _can_end(task)]:
        timeout_s = min(POLL_S, end - time.monotonic())
        if timeout_s <= 0:
            return False
        concurrent.futures.wait(running, timeout_s)
    return True


T = TypeVar("T")

_log = logging.getLogger("webbee.asked")


class ValueStore(Protocol[T]):
    """A shared store for a value that is slow to fetch, filled by other processes."""

    async def find(self) -> T | None:
        """The stored value, or None."""
        ...

    async def put(self, value: T) -> None:
        """Store it for other processes; failures are ignored."""
        ...


class CachedValue(Generic[T]):
    """A value fetched on first use and cached for the process, or for `fresh_s` seconds. Errors are
    not cached: the next caller fetches again.

    A value found in `store` is served at once and renewed in the background.
    """

    def __init__(
        self,
        fetch: Callable[[], Awaitable[T]],
        fresh_s: float | None = None,
        store: ValueStore[T] | None = None,
    ) -> None:
        self._fetch = fetch
        self._fresh_s = fresh_s
        self._store = store
        self._entry: tuple[T, float] | None = None
        self._is_from_store = False
        """Whether the cached value came from the store and was not fetched since."""

    async def peek(self) -> T | None:
        """The cached or stored value, or None; never fetches."""
        if self._entry is None and self._store:
            value = await self._store.find()
            # another caller may have got it while this one waited for the store
            if value is not None and self._entry is None:
                self._entry, self._is_from_store = (value, time.monotonic()), True
        return self._entry[0] if self._entry else None

    async def __call__(self) -> T:
        """The value; raises what fetching raises."""
        await self.peek()
        now = time.monotonic()
        if self._is_from_store:
            self._is_from_store = False
            # the mark is taken away first: one renewal, however many ask meanwhile
            start(self._renew(), "renew")
        if self._entry is None or (self._fresh_s is not None and now >= self._entry[1]):
            value = await self._fetch()
            self._entry = value, now + (self._fresh_s or 0.0)
            if self._store:
                start(self._store.put(value), "keep")
        return self._entry[0]

    async def _renew(self) -> None:
        """Fetch again in the background; on an error the cached value stays."""
        try:
            value = await self._fetch()
        except Exception as error:
            _log.warning("error=%s | what is kept serves on", type(error).__name__)
            return
        if self._store and self._entry and value != self._entry[0]:
            self._entry = value, time.monotonic()
            await self._store.put(value)


if sys.platform == "win32":
    from asyncio import ProactorEventLoop as _PlatformLoop
else:
    from asyncio import SelectorEventLoop as _PlatformLoop

_loop_log = logging.getLogger("webbee.loop")


class _Loop(_PlatformLoop):
    """An event loop that code running on it cannot stop."""

    def __init__(self, *, eager: bool = False) -> None:
        super().__init__()
        if eager and (factory := getattr(asyncio, "eager_task_factory", None)):
            self.set_task_factory(factory)
        self.ending = False
        self.work: weakref.WeakSet[concurrent.futures.Future[Any]] = weakref.WeakSet()

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

    def fail(self) -> None:
        """Mark it as broken and fail its futures. It is never closed: that would close, by number,
        file descriptors that others have opened since."""
        self.ending = True
        _broken_loops.add(self)
        for future in list(self.work):
            with contextlib.suppress(concurrent.futures.InvalidStateError):  # it has ended
                future.set_exception(RuntimeError("work beside it broke the event loop"))


_broken_loops: set[_Loop] = set()


class LoopThread:
    """One daemon thread with one event loop; it ends with this object. A coroutine that blocks it
    can be abandoned: the next one gets a new thread."""

    def __init__(self, name: str, *, eager: bool = False) -> None:
        """`eager`: a task runs to its first wait when it is created (Python 3.12 on), which saves a
        tenth of a turn's CPU. For the kernel's own coroutines only."""
        self._name = name
        self._eager = eager
        self._loop: _Loop | None = None
        self._lock = threading.Lock()
        self._end: weakref.finalize[Any, LoopThread] | None = None

    def submit(self, coro: Coroutine[Any, Any, T]) -> concurrent.futures.Future[T]:
        """Start the coroutine there."""
        with self._lock:
            if self._loop is None or self._loop.ending:
                if self._end:
                    self._end.detach()
                self._loop = _Loop(eager=self._eager)
                threading.Thread(
                    target=self._serve, args=(self._loop,), name=self._name, daemon=True
                ).start()
                self._end = weakref.finalize(self, _stop, self._loop)
                # not when Python ends: that stops daemon threads anyway
                self._end.atexit = False
            future = asyncio.run_coroutine_threadsafe(coro, self._loop)
            self._loop.work.add(future)
            if self._loop.ending:  # it broke this moment
                self._loop.fail()
            return future

    def run(self, coro: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
        """Its result; TimeoutError when it takes longer than `timeout` seconds."""
        return self.submit(coro).result(timeout)

    def abandon(self, future: concurrent.futures.Future[Any]) -> None:
        """Give up on the loop that this work blocks; later work gets a new one. The old loop, if it
        ever continues, finishes its other tasks and ends."""
        with self._lock:
            if self._loop is None or future not in self._loop.work:
                return
            asyncio.run_coroutine_threadsafe(_finish(self._loop), self._loop)
            self._loop = None
            if self._end:
                # that loop ends itself now; the finalizer belongs to the one that comes next
                self._end.detach()

    @staticmethod
    def _serve(loop: _Loop) -> None:
        asyncio.set_event_loop(loop)
        while not loop.ending:
            try:
                loop.run_forever()
            except Exception as error:
                # the loop's own, where code has closed what it waits on: each try would raise
                _loop_log.error("error=%s | a loop broke; a new one follows", type(error).__name__)
                loop.fail()
                return
            except BaseException as error:
                # asyncio lets SystemExit through: one caller's exit must not end the others' loop
                _loop_log.error("error=%s | work tried to end its loop", type(error).__name__)
        loop.close()


class LoopThreads:
    """A pool of loop threads, one for each concurrent owner."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._lock = threading.Lock()
        self._idle: list[LoopThread] = []
        self._busy: dict[Hashable, tuple[LoopThread, int]] = {}

    @contextlib.contextmanager
    def of(self, owner: Hashable) -> Iterator[LoopThread]:
        """A thread that only this owner uses meanwhile. The one returned last is taken first, so
        sequential callers always get the same."""
        with self._lock:
            thread, users = self._busy.get(owner) or (None, 0)
            thread = thread or (self._idle.pop() if self._idle else LoopThread(self._name))
            self._busy[owner] = thread, users + 1
        try:
            yield thread
        finally:
            with self._lock:
                thread, users = self._busy.pop(owner)
                if users > 1:
                    self._busy[owner] = thread, users - 1
                else:
                    self._idle.append(thread)


def _stop(loop: _Loop) -> None:
    """End a loop that gets no more work, after its running tasks."""
    with contextlib.suppress(RuntimeError):  # it ended by itself meanwhile
        # made over there: where the loop is closed, no coroutine is left unawaited
        loop.call_soon_threadsafe(lambda: loop.create_task(_finish(loop)))


async def _finish(loop: _Loop) -> None:
    """Wait for all other tasks of this loop and their callbacks, then stop it."""
    for _ in range(2):  # a task that ended just now has yet to tell whoever waits for it
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
        await asyncio.sleep(0)
    loop.end()


_scope_tasks: ContextVar[list[asyncio.Task[Any]] | None] = ContextVar("webbee_beside", default=None)


@asynccontextmanager
async def task_scope() -> AsyncIterator[None]:
    """A scope for tasks: those started in the block have ended when it exits, also on errors."""
    tasks: list[asyncio.Task[Any]] = []
    token = _scope_tasks.set(tasks)
    try:
        yield
    finally:
        _scope_tasks.reset(token)
        await _wait_for(tasks)


async def _wait_for(tasks: list[asyncio.Task[Any]]) -> list[object]:
    """The results or errors of these tasks and of those they start; empties the list."""
    results: list[object] = []
    while tasks:
        # emptied in place: it is where they put what they begin, which the next round waits for
        batch, tasks[:] = list(tasks), []
        results += await asyncio.gather(*batch, return_exceptions=True)
    return results


def start_task(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Start a task that the surrounding `task_scope` waits for."""
    task = asyncio.create_task(work)
    tasks = _scope_tasks.get()
    if tasks is not None:
        tasks.append(task)
    return task


async def start_in_scope(work: Coroutine[Any, Any, object]) -> None:
    """Start it in the surrounding `task_scope`; without one, wait for its end."""
    task = start_task(work)
    if _scope_tasks.get() is None:
        await task


async def wait_for_tasks() -> None:
    """Wait for all tasks of the scope so far; raises the first error among them."""
    for error in await _wait_for(_scope_tasks.get() or []):
        if isinstance(error, BaseException):
            raise error
