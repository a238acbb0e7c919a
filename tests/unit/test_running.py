"""Which requests run: a mark in the limits' item says so, a running turn keeps it fresh, and its frames
leave in order."""

import asyncio
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from webbee_kernel.api import turns
from webbee_kernel.api.sockets import Peer, Pusher
from webbee_kernel.background import LoopThread
from webbee_kernel.clock import FrozenClock
from webbee_kernel.errors import ModelUnavailable, TurnWorking
from webbee_kernel.sdk import User
from webbee_kernel.stores.rate_limits import (
    CONTINUES,
    LEASE_S,
    NO_RESULT,
    SOON_S,
    STARTED,
    is_running,
    mark,
)
from webbee_kernel.turn.messages import Reply
from webbee_kernel.turn.read import TurnRequest
from webbee_kernel.types import JSONObject, UserKey

NOW = 1_000.0


def at(seconds: float, what: str = STARTED, session: str = "s1") -> str:
    return mark(TurnWorking("r1", session), NOW + seconds, what)


@pytest.mark.parametrize(
    ("asked", "runs_then"),
    [(0.5, False), (SOON_S, True), (LEASE_S - 0.001, True), (LEASE_S, False), (-5, False)],
)
def test_a_request_runs_from_a_second_after_it_began_until_its_lease_ends(
    asked: float, runs_then: bool
) -> None:
    assert is_running(at(asked), [at(0)]) is runs_then


def test_a_request_that_left_nothing_runs_no_longer_one_that_goes_on_for_a_lease() -> None:
    marks = [at(0), at(3), at(4, NO_RESULT)]
    assert not is_running(at(5), marks)
    assert not is_running(at(0), [at(0), at(0, NO_RESULT)])  # at once
    assert is_running(at(7), [*marks, at(5)])  # begun anew
    assert not is_running(at(5), [at(0, session="s2"), at(5)])  # another's, and a lost answer
    marks = [at(0), at(5, CONTINUES), at(12)]
    assert is_running(at(5.5), marks[:2])
    assert is_running(at(14.9), marks)
    assert not is_running(at(15), marks)
    assert is_running(at(14.9), marks[1:])  # its first mark is forgotten


class Table:
    """A table of limits whose first write takes its time; and nobody wants to stop."""

    def __init__(self) -> None:
        self.begun, self.answers = asyncio.Event(), asyncio.Event()
        self.said: list[str] = []

    async def update_mark(self, user: User, working: TurnWorking, what: str) -> None:
        self.begun.set()
        await self.answers.wait()
        self.said.append(what)

    async def is_stopped(self, user: object, request_id: str, *, now: float) -> bool:
        return False


async def test_a_beat_on_its_way_when_its_turn_fails_does_not_have_the_last_word(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(turns, "BEAT_S", 0.001)
    clock, table = FrozenClock(NOW), Table()
    stores = SimpleNamespace(connections=table)
    settings = SimpleNamespace(answer_seconds=60.0, model_prices={})
    app: Any = SimpleNamespace(stores=stores, clock=clock, settings=settings)
    kernel: Any = SimpleNamespace(limits=table)

    async def work(ask: TurnRequest) -> Reply:
        await ask.follower.begin(ask.session_id)
        clock.advance(LEASE_S / 2)
        await table.begun.wait()
        asyncio.get_running_loop().call_later(0.01, table.answers.set)
        raise ModelUnavailable("away")

    ask = TurnRequest(User("alice"), "s", "hello", "r")
    with pytest.raises(ModelUnavailable):
        await turns.Turns(app, kernel).answer(ask, work, at_once=False)
    await asyncio.sleep(0.05)
    assert table.said == [CONTINUES, NO_RESULT]


class Noting(Pusher):
    """Notes what it sends, and on which loop."""

    def __init__(self) -> None:
        self.sent: list[JSONObject] = []
        self.loops: set[asyncio.AbstractEventLoop] = set()

    async def send(self, user: UserKey, connection_id: str, frames: Sequence[JSONObject]) -> bool:
        """Takes a while, as a connection does."""
        self.loops.add(asyncio.get_running_loop())
        await asyncio.sleep(0.01)
        self.sent += frames
        return True


def test_what_another_loop_puts_in_is_sent_on_the_turns_own() -> None:
    """A stretch of a call may end on the extensions' thread: sent from there, nobody woke the turn
    that waited for its frames to leave."""
    turn, extensions, pusher = LoopThread("turn"), LoopThread("extensions"), Noting()

    async def call(peer: Peer) -> None:
        for number in range(3):
            peer.put({"type": "trace", "name": number})
            await asyncio.sleep(0.02)

    async def run() -> asyncio.AbstractEventLoop:
        peer = Peer(pusher, "c1", User("alice", tenant_id="acme"))
        await asyncio.wrap_future(extensions.submit(call(peer)))
        peer.put({"type": "turn.ended"})
        await peer.sent()
        return asyncio.get_running_loop()

    assert pusher.loops == {turn.run(run(), 60)}
    assert [frame.get("name", "ended") for frame in pusher.sent] == [0, 1, 2, "ended"]
