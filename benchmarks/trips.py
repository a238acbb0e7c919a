"""How many AWS requests a turn waits for one after the other.

Requests that overlap are one trip, and what goes on while a model speaks is none. Each request is
held for a moment, so that those that leave together are seen together; a model speaks longer than
any of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from benchmarks.meter import Call, Meter
from webbee_kernel.llm.protocol import ModelRequest, ModelResponse
from webbee_kernel.llm.scripted import Answer

HELD_S = 0.1


@dataclass(slots=True)
class Trips(Meter):
    """A meter that counts trips too."""

    trips: int = 0
    _speaking: int = 0
    _waited_for: bool = False

    def leaves(self) -> None:
        """Held where another client's answer would take its time."""
        with self._lock:
            if not self.in_flight:
                self._waited_for = not self._speaking
                self.trips += self._waited_for
        Meter.leaves(self)
        time.sleep(HELD_S)

    @contextmanager
    def other(self, operation: str) -> Iterator[None]:
        """A request to something that is no table, as to a function."""
        self.leaves()
        try:
            yield
        finally:
            with self._lock:
                self.in_flight -= 1
                self.calls.append(Call(operation, ()))

    def model(self, answer: Answer) -> SlowModel:
        """A model that speaks for longer than a request takes."""
        return SlowModel(self, answer)

    @contextmanager
    def speaking(self) -> Iterator[None]:
        """While a model speaks; what is on its way when it begins, nobody waits for."""
        with self._lock:
            if self.in_flight and self._waited_for:
                self._waited_for = False
                self.trips -= 1
        self._speaking += 1
        try:
            yield
        finally:
            self._speaking -= 1


@dataclass
class SlowModel:
    """Answers by a function, in its own time."""

    meter: Trips
    answer: Answer
    name: str = "slow"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """As a model answers."""
        with self.meter.speaking():
            await asyncio.sleep(5 * HELD_S)
        return self.answer(request)
