"""Outbox: what a running turn tells one connection, in order, while the turn goes on."""

from __future__ import annotations

import asyncio
import logging
import threading

from ..background import start
from ..errors import KernelError
from ..types import JSONObject, UserKey
from .pushing import Pusher

_log = logging.getLogger("webbee.live")


class Outbox:
    """Frames wait here for the one before them; the turn waits for none. Pieces of text that wait
    together are sent together, so a slow connection gets fewer frames and not later ones.

    It sends on the event loop it is made on, whoever puts a frame in.
    """

    def __init__(self, pusher: Pusher, user: UserKey, connection_id: str) -> None:
        self._pusher = pusher
        self._to = user, connection_id
        self._loop, self._thread = asyncio.get_running_loop(), threading.get_ident()
        self._waiting: list[JSONObject] = []
        self._idle = asyncio.Event()
        self._idle.set()
        self._there = True

    def put(self, frame: JSONObject) -> None:
        """Send this after what was put before. Safe from any thread: what code on another loop puts
        in takes its place at this loop's next turn."""
        if threading.get_ident() == self._thread:
            self._add(frame)
        else:
            self._loop.call_soon_threadsafe(self._add, frame)

    def _add(self, frame: JSONObject) -> None:
        if not self._there:
            return
        if not _joined(self._waiting, frame):
            self._waiting.append(frame)
        if self._idle.is_set():
            self._idle.clear()
            start(self._send(), "outbox")

    async def sent(self) -> None:
        """Wait until everything put so far has left, or the connection is gone."""
        await self._idle.wait()

    async def _send(self) -> None:
        try:
            while self._waiting and self._there:
                now, self._waiting = self._waiting, []
                self._there = await self._pusher.send(*self._to, now)
        except KernelError as error:  # the turn is worth more than its frames
            _log.warning("code=%s | frames of a turn not sent", error.code)
            self._there = False
        finally:
            self._idle.set()


def _joined(waiting: list[JSONObject], frame: JSONObject) -> bool:
    """Whether the frame went into the one before it: both are text of the same turn."""
    last = waiting[-1] if waiting else {}
    if not last.get("type") == frame["type"] == "text":
        return False
    waiting[-1] = {**last, "text": last["text"] + frame["text"]}
    return True
