"""At most two tries of one model request, both inside its time limit; and what is the same in the
adapters of all model services."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from ..errors import ModelUnavailable
from .failures import MODEL_SETTING, Passing
from .options import Learnt, ModelOptions
from .pieces import Aloud
from .protocol import Hear, ModelRequest, ModelResponse

T = TypeVar("T")

TRIES: Final = 2
PAUSE_S: Final = 0.3
"""Shortest pause before the second try; up to twice as long, so that clients do not come back in
step."""

MAX_PAUSE_S: Final = 3.0
"""Longest pause that a user should wait for; a service that asks for more is not asked again in
this turn."""

WORTHWHILE_S: Final = 1.0
"""Seconds that must be left for a second try."""

LEAST_S: Final = 0.1
"""Seconds below which a model is not asked at all."""


async def attempts(ask: Callable[[float], Awaitable[T]], timeout_s: float) -> T:
    """Await `ask(seconds left)`, once more after a Passing failure if the pause is short and an
    answer fits into `timeout_s`.

    Never lasts longer than `timeout_s`. A request that was not answered in time is not repeated: it
    was, or will be, paid for. Raises ModelUnavailable.
    """
    if timeout_s < LEAST_S:
        raise ModelUnavailable(
            "The turn's time was used up before the model could be asked: try again, or ask for"
            " less at once.",
            cause="slow",
        )
    deadline = time.monotonic() + timeout_s
    try:
        async with asyncio.timeout(timeout_s):
            for tried in range(1, TRIES + 1):
                try:
                    return await ask(deadline - time.monotonic())
                except Passing as failure:
                    jitter = random.random()  # noqa: S311 - no secret
                    pause = max(failure.pause_s, PAUSE_S * (1 + jitter))
                    if (
                        tried == TRIES
                        or pause > MAX_PAUSE_S
                        or time.monotonic() + pause + WORTHWHILE_S > deadline
                    ):
                        raise failure.error from None
                await asyncio.sleep(pause)
    except TimeoutError:
        raise slow(timeout_s) from None
    raise AssertionError("unreachable")


class LearningModel:
    """An adapter of a model service, which learns from the answers what its model takes."""

    def __init__(self, name: str, options: ModelOptions) -> None:
        self.name = name
        self._options = options
        self.learnt = Learnt(name, options)

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer within `request.timeout_s` or raise ModelUnavailable."""
        return self.learnt.hear(
            await attempts(lambda left: self._ask(request, left), request.timeout_s)
        )

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """The same, heard while it comes, or whole where it came so: once anything was heard it is
        not asked for again, and nobody hears more when this has ended."""
        held = self.learnt.is_held
        heard = Aloud(hear, request.tools, held=held)

        async def once(left: float) -> ModelResponse:
            nonlocal heard
            heard = Aloud(hear, request.tools, held=held)
            try:
                return await self._ask(request, left, heard)
            except Passing as failure:
                raise failure.error if heard.anything else failure from None

        try:
            response = await attempts(once, request.timeout_s)
            heard.finish(response.text)
        finally:
            heard.closed = True
        return self.learnt.hear(response)

    async def _ask(
        self, request: ModelRequest, left: float, to: Aloud | None = None
    ) -> ModelResponse:
        """One try with so many seconds left, its text heard by `to` while it comes. Passing where
        another one may better it."""
        raise NotImplementedError


def slow(timeout_s: float) -> ModelUnavailable:
    """The model did not answer within the time that the turn had left."""
    return ModelUnavailable(
        f"The model did not answer within {max(timeout_s, 0):.1f} s: try again, or let the operator"
        f" choose a faster model, {MODEL_SETTING}, or give a turn more time (WEBBEE_TURN_SECONDS).",
        cause="slow",
    )


def pause_of(retry_after: object) -> float:
    """Seconds of a `retry-after` header; 0 where it is missing or a date."""
    try:
        return max(0.0, float(str(retry_after)))
    except ValueError:
        return 0.0
