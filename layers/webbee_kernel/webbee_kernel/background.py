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
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

LOOK_S: Final = 0.1
"""Seconds between two looks at whether the loops of what is waited for still run."""


class _Began(NamedTuple):
    """When work began, and the task that does it where that hangs on a loop of anybody's."""

    at: float
    task: asyncio.Task[object] | None = None

    def goes_on(self) -> bool:
        """Whether it may still end: its loop runs, or is about to as the kernel's own are."""
        loop = self.task.get_loop() if self.task else None
        return loop is None or loop.is_running() or (isinstance(loop, _Loop) and not loop.ending)


_running: dict[concurrent.futures.Future[Any], _Began] = {}
"""What any thread may add to and take from at any time: each look is at a copy."""


def start(work: Coroutine[Any, Any, object], name: str) -> None:
    """Run on after the caller returned, on the running loop; what is kept of it keeps the task from
    being collected."""
    task = asyncio.get_running_loop().create_task(work, name=name)
    done: concurrent.futures.Future[Any] = concurrent.futures.Future()
    _count(done, task)
    task.add_done_callback(lambda _: done.set_result(None))


def hold(work: concurrent.futures.Future[Any]) -> None:
    """Count work that runs elsewhere: whoever runs it ends the future, whatever happens."""
    _count(work)


def oldest_s() -> float:
    """Seconds for which the oldest of it has run; 0 where nothing does."""
    now = time.monotonic()
    return now - min((work.at for work in list(_running.values()) if work.goes_on()), default=now)


def wait(timeout: float | None = None) -> bool:
    """Block until nothing runs any more, what was started meanwhile included, or for `timeout`
    seconds; whether nothing does. Work whose loop has ended never ends, and is not waited for."""
    end = time.monotonic() + (math.inf if timeout is None else timeout)
    while running := [work for work, began in list(_running.items()) if began.goes_on()]:
        left = min(LOOK_S, end - time.monotonic())
        if left <= 0:
            return False
        concurrent.futures.wait(running, left)
    return True


def _count(work: concurrent.futures.Future[Any], task: asyncio.Task[object] | None = None) -> None:
    for lost, began in list(_running.items()):
        # tasks of a closed loop never call back: here is where they are taken out
        if began.task and began.task.get_loop().is_closed():
            _running.pop(lost, None)
    _running[work] = _Began(time.monotonic(), task)
    work.add_done_callback(lambda ended: _running.pop(ended, None))


T = TypeVar("T")

_log = logging.getLogger("webbee.asked")


class ValueStore(Protocol[T]):
    """Where the answer that another process got may be had sooner than from who knows it."""

    async def find(self) -> T | None:
        """The answer, where one is kept."""
        ...

    async def keep(self, value: T) -> None:
        """Leave it for the next process; what cannot be kept is not."""
        ...


class CachedValue(Generic[T]):
    """Asked for when it is first needed, then known: for good, or for `fresh_s` seconds where it
    may change. What cannot be had is asked for again by whoever needs it next.

    Where an answer is `kept`, nobody waits for who knows it: that answer serves at once, and a new
    one takes its place when it is there.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[T]],
        fresh_s: float | None = None,
        kept: ValueStore[T] | None = None,
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
            # another caller may have got it while this one waited for the store
            if found is not None and self._known is None:
                self._known, self._as_kept = (found, time.monotonic()), True
        return self._known[0] if self._known else None

    async def __call__(self) -> T:
        """The value; the errors are those of asking."""
        await self.known()
        now = time.monotonic()
        if self._as_kept:
            self._as_kept = False
            # the mark is taken away first: one renewal, however many ask meanwhile
            start(self._renew(), "renew")
        if self._known is None or (self._fresh_s is not None and now >= self._known[1]):
            value = await self._ask()
            self._known = value, now + (self._fresh_s or 0.0)
            if self._kept:
                start(self._kept.keep(value), "keep")
        return self._known[0]

    async def _renew(self) -> None:
        """Ask behind what is served; where that cannot be, it serves on."""
        try:
            value = await self._ask()
        except Exception as error:
            _log.warning("error=%s | what is kept serves on", type(error).__name__)
            return
        if self._kept and self._known and value != self._known[0]:
            self._known = value, time.monotonic()
            await self._kept.keep(value)


if sys.platform == "win32":
    from asyncio import ProactorEventLoop as _PlatformLoop
else:
    from asyncio import SelectorEventLoop as _PlatformLoop

_loop_log = logging.getLogger("webbee.loop")


class _Loop(_PlatformLoop):
    """A loop that only whoever made it can end."""

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

    def lose(self) -> None:
        """It cannot run any more: whoever waits for its work is told. It is kept, since closing it
        would close by their numbers what others have opened since."""
        self.ending = True
        _broken.add(self)
        for future in list(self.work):
            with contextlib.suppress(concurrent.futures.InvalidStateError):  # it has ended
                future.set_exception(RuntimeError("work beside it broke the event loop"))


_broken: set[_Loop] = set()


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
                self._loop.lose()
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
                loop.lose()
                return
            except BaseException as error:
                # asyncio lets SystemExit through: one caller's exit must not end the others' loop
                _loop_log.error("error=%s | work tried to end its loop", type(error).__name__)
        loop.close()


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
            thread, users = self._busy.get(whose) or (None, 0)
            thread = thread or (self._idle.pop() if self._idle else LoopThread(self._name))
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


def _stop(loop: _Loop) -> None:
    """End a loop that nobody can give work to any more, after what it has begun."""
    with contextlib.suppress(RuntimeError):  # it ended by itself meanwhile
        # made over there: where the loop is closed, no coroutine is left unawaited
        loop.call_soon_threadsafe(lambda: loop.create_task(_finish(loop)))


async def _finish(loop: _Loop) -> None:
    """Wait for the others on this loop and for what their ends call, then stop it."""
    for _ in range(2):  # a task that ended just now has yet to tell whoever waits for it
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            await asyncio.wait(others)
        await asyncio.sleep(0)
    loop.end()


_begun: ContextVar[list[asyncio.Task[Any]] | None] = ContextVar("webbee_beside", default=None)


@asynccontextmanager
async def beside() -> AsyncIterator[None]:
    """What `start` begins within the block goes on beside it, and has ended with it, however that
    ends."""
    tasks: list[asyncio.Task[Any]] = []
    token = _begun.set(tasks)
    try:
        yield
    finally:
        _begun.reset(token)
        await _ended(tasks)


async def _ended(tasks: list[asyncio.Task[Any]]) -> list[object]:
    """What these came to, and what they begin on their way; none is left in the list."""
    ended: list[object] = []
    while tasks:
        # emptied in place: it is where they put what they begin, which the next round waits for
        done, tasks[:] = list(tasks), []
        ended += await asyncio.gather(*done, return_exceptions=True)
    return ended


def begin(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Begin what the turn needs the result of when it ends."""
    task = asyncio.create_task(work)
    tasks = _begun.get()
    if tasks is not None:
        tasks.append(task)
    return task


async def start_beside(work: Coroutine[Any, Any, object]) -> None:
    """Begin it and go on; outside of `beside` wait for its end."""
    task = begin(work)
    if _begun.get() is None:
        await task


async def settled() -> None:
    """Wait for all that was begun so far; raises the first error among them."""
    for error in await _ended(_begun.get() or []):
        if isinstance(error, BaseException):
            raise error
