"""Tokens of a piece of work, for whoever has to tell its caller."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass


@dataclass(slots=True)
class Usage:
    """Tokens that models read (`cached` of them from the service's cache) and wrote."""

    read: int = 0
    cached: int = 0
    written: int = 0


_usage: ContextVar[Usage | None] = ContextVar("webbee_usage", default=None)


@contextmanager
def used() -> Iterator[Usage]:
    """What the models of this block read and wrote, also in tasks it starts."""
    usage = Usage()
    token = _usage.set(usage)
    try:
        yield usage
    finally:
        _usage.reset(token)


def add(read: int, cached: int, written: int) -> None:
    """A model answered."""
    if (usage := _usage.get()) is not None:
        usage.read += read
        usage.cached += cached
        usage.written += written
