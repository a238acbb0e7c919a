"""A running turn says that it runs; one that failed says so last."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from webbee_kernel.api import turns
from webbee_kernel.base.clock import FrozenClock
from webbee_kernel.errors import ModelUnavailable
from webbee_kernel.sdk import User
from webbee_kernel.turn.reader import Ask
from webbee_kernel.turn.replies import Reply

NOW = 1_000.0


class Sessions:
    """A table whose first write takes its time."""

    def __init__(self) -> None:
        self.begun, self.answers = asyncio.Event(), asyncio.Event()
        self.until: list[float] = []

    async def work(self, key: object, request_id: str, *, until: float) -> None:
        self.begun.set()
        await self.answers.wait()
        self.until.append(until)


class Connections:
    async def stopped(self, user: object, request_id: str, *, now: float) -> bool:
        return False


def test_a_beat_on_its_way_when_its_turn_fails_does_not_have_the_last_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "BEAT_S", 0.001)

    async def failing() -> list[float]:
        sessions = Sessions()
        app: Any = SimpleNamespace(
            stores=SimpleNamespace(sessions=sessions, connections=Connections()),
            clock=FrozenClock(NOW),
            settings=SimpleNamespace(answer_seconds=60.0, model_prices={}),
        )

        async def work(ask: Ask) -> Reply:
            await ask.follower.begin(ask.session_id)
            await sessions.begun.wait()
            asyncio.get_running_loop().call_later(0.01, sessions.answers.set)
            raise ModelUnavailable("away")

        ask = Ask(User("alice"), "s", "hello", "r")
        with pytest.raises(ModelUnavailable):
            await turns.Turns(app).answer(ask, work, at_once=False)
        await asyncio.sleep(0.05)
        return sessions.until

    assert asyncio.run(failing()) == [NOW + turns.LEASE_S, NOW]
