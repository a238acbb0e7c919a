"""The outbox: frames leave in order, on the loop of the turn, whoever puts them in."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from webbee_kernel.api.socket_sender import Outbox, Pusher
from webbee_kernel.background import LoopThread
from webbee_kernel.types import JSONObject, UserKey


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

    async def call(outbox: Outbox) -> None:
        for number in range(3):
            outbox.put({"type": "trace", "name": number})
            await asyncio.sleep(0.02)

    async def run() -> asyncio.AbstractEventLoop:
        outbox = Outbox(pusher, UserKey("acme", "alice"), "c1")
        await asyncio.wrap_future(extensions.submit(call(outbox)))
        outbox.put({"type": "turn.ended"})
        await outbox.sent()
        return asyncio.get_running_loop()

    own = turn.run(run(), 60)
    assert pusher.loops == {own}
    assert [frame.get("name", "ended") for frame in pusher.sent] == [0, 1, 2, "ended"]
