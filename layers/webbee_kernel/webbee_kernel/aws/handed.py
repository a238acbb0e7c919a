"""Credentials that come with a call: whoever runs it signs with them for its time, in its tasks and
threads, and for as long as those go on.

They hang on the context, so work of one tenant never signs with another's. It is order, not a wall:
extension code can find what is in this process's memory. What the credentials allow is the wall.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from .signing import Credentials

_current: ContextVar[Credentials | None] = ContextVar("credentials", default=None)


@contextmanager
def acting(given: Mapping[str, str] | None) -> Iterator[None]:
    """Sign with `{"key", "secret", "token"}` in here; None stands for the process's own."""
    token = _current.set(Credentials(**given) if given else None)
    try:
        yield
    finally:
        _current.reset(token)


def handed() -> Credentials | None:
    """The credentials of the call at hand."""
    return _current.get()
