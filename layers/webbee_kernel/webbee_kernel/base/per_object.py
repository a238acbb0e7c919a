"""Values computed once for an object and kept as long as it lives."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")
V = TypeVar("V")


class PerObject(Generic[T, V]):
    """A function of an object that never changes. By identity, for values that have no hash; what
    it keeps goes with the object, so it has no size at which it starts to forget."""

    def __init__(self, compute: Callable[[T], V]) -> None:
        self._compute = compute
        self._kept: dict[int, V] = {}

    def __call__(self, thing: T) -> V:
        """The value of `thing`, which must take weak references."""
        key = id(thing)
        try:
            return self._kept[key]
        except KeyError:
            value = self._kept[key] = self._compute(thing)
            weakref.finalize(thing, self._kept.pop, key, None).atexit = False
            return value

    def __len__(self) -> int:
        """How many it keeps."""
        return len(self._kept)
