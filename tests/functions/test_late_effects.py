"""The record of an effect that outlived its turn is written when it has ended or is lost, whether
or not anybody asks again."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from local.stack import Stack
from tests.functions.support import ALICE, Person, deployed, rows
from webbee_kernel import background
from webbee_kernel.clock import FrozenClock
from webbee_kernel.refresh.refresh_queue import OPEN_S
from webbee_kernel.stores.audit_trail import LOST_S

MAIN = """
import asyncio
from pathlib import Path

from webbee_kernel.sdk import ActionResult, ChatExtension, Context, Extension

ext = Extension("slow")
chat = ChatExtension(ext)


@chat.function("order", "Order a report", action_type="write")
async def order(ctx: Context) -> ActionResult:
    while not Path(__file__).with_name("released").exists():
        await asyncio.sleep(0.01)
    return ActionResult.success({"report": "r-7"}, "Ready.")
"""


@dataclass
class Slow:
    """A deployment with a write that ends when the test says so."""

    stack: Stack
    clock: FrozenClock
    folder: Path

    @property
    def person(self) -> Person:
        return Person(self.stack, ALICE)

    def begin(self) -> None:
        assert self.person.call("slow", "order")["error_code"] == "BACKEND_TIMEOUT"
        assert self.records() == []

    def end(self) -> None:
        """Let it end, and wait until it has."""
        (self.folder / "released").touch()
        for _ in range(3000):
            if self.person.events("result"):
                assert background.wait(60)  # its outcome is kept beside the event
                return
            time.sleep(0.01)
        raise AssertionError("the late result never arrived")

    def look(self) -> int:
        """Time passes until the clock looks; how many messages it had."""
        self.clock.advance(OPEN_S)
        self.stack.hasten(OPEN_S)
        return self.stack.drain()

    def records(self) -> list[dict[str, Any]]:
        return [r for r in rows(self.stack, "audit") if r["sk"].startswith("call#")]

    def told(self) -> list[tuple[str, str]]:
        calls = self.person.send("chat_turn", "GET", "/v1/me/audit")["records"]
        return [(c["fn_name"], c["status"]) for c in calls]


@pytest.fixture
def slow(tmp_path: Path) -> Iterator[Slow]:
    folder = tmp_path / "slow"
    folder.mkdir()
    (folder / "main.py").write_text(MAIN)
    clock = FrozenClock(time.time())
    env = {"WEBBEE_CALL_SECONDS": "0.3"}
    with deployed(extensions=tmp_path, env=env, clock=clock) as stack:
        made = Slow(stack, clock, folder)
        yield made
        (folder / "released").touch()
        assert background.wait(60)  # while there is a store that it can end in


def test_an_effect_that_ends_late_is_recorded_without_anybody_asking_again(slow: Slow) -> None:
    slow.begin()
    slow.end()
    assert slow.look() >= 1
    assert slow.told() == [("order", "ok")]
    slow.stack.hasten(10 * OPEN_S)
    while slow.stack.drain():
        pass
    assert len(slow.records()) == 1


def test_one_that_still_runs_is_looked_at_again_and_one_that_never_ends_is_recorded_as_lost(
    slow: Slow,
) -> None:
    slow.begin()
    looks = 0
    while not slow.records():
        assert slow.look() >= 1
        looks += 1
    assert looks == -(-LOST_S // OPEN_S)
    assert slow.told() == [("order", "error")]
