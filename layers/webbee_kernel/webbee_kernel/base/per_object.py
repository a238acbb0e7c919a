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
        try:
            return self._kept[id(thing)]
        except KeyError:
            return self.keep(thing, self._compute(thing))

    def keep(self, thing: T, value: V) -> V:
        """The value, which is that of `thing`."""
        weakref.finalize(thing, self._kept.pop, id(thing), None).atexit = False
        self._kept[id(thing)] = value
        return value

    def __len__(self) -> int:
        """How many it keeps."""
        return len(self._kept)
