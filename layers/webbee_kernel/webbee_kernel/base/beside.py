"""Beside: writes of a turn that have to be done before it is recorded, and that nobody needs
sooner. They are on their way while a model speaks, instead of before it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")

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
        if tasks:
            await asyncio.gather(*tasks, return_exceptions=True)


def begin(work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
    """Begin what the turn needs the result of when it ends."""
    task = asyncio.create_task(work)
    tasks = _begun.get()
    if tasks is not None:
        tasks.append(task)
    return task


async def start(work: Coroutine[Any, Any, object]) -> None:
    """Begin it and go on; outside of `beside` wait for its end."""
    task = begin(work)
    if _begun.get() is None:
        await task


async def settled() -> None:
    """Wait for all that was begun so far; raises the first error among them."""
    tasks = _begun.get()
    while tasks:
        done, tasks[:] = list(tasks), []
        ended = await asyncio.gather(*done, return_exceptions=True)
        for error in ended:
            if isinstance(error, BaseException):
                raise error
