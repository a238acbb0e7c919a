"""Pusher: sends a user's events to the user's open connections, and forgets those that are gone."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import orjson

from ..aws.api_gateway import MAX_FRAME_BYTES, Sockets
from ..background import start
from ..clock import Clock
from ..errors import KernelError
from ..sdk.records import User
from ..types import Event, JSONObject, UserKey

if TYPE_CHECKING:
    from ..stores.dynamodb.user_items import ConnectionStore


class Pusher:
    """Sends frames to connections. Nothing here raises for a connection that is gone."""

    def __init__(self, sockets: Sockets, connections: ConnectionStore, clock: Clock) -> None:
        self._sockets = sockets
        self._connections = connections
        self._clock = clock

    async def push(self, user: UserKey, frames: Sequence[JSONObject]) -> None:
        """The frames, in order, to each of the user's open connections, side by side."""
        found = await self._connections.of_user(user, now=self._clock.now())
        await asyncio.gather(*(self.send(user, connection, frames) for connection in found))

    async def end(self, connection_id: str) -> bool:
        """End a connection; False where that failed and it may still be open."""
        return await self._sockets.end(connection_id)

    async def send(self, user: UserKey, connection_id: str, frames: Sequence[JSONObject]) -> bool:
        """The frames, in order, to one connection; whether it is still there."""
        for frame in frames:
            if not await self._sockets.post(connection_id, packed(frame)):
                await self._connections.close(user, connection_id)
                return False
        return True


_log = logging.getLogger("webbee.live")


class Peer:
    """The page at the other end of a connection."""

    def __init__(self, pusher: Pusher, connection_id: str, user: User) -> None:
        self.pusher = pusher
        self.connection_id = connection_id
        self.user = user
        self.key = UserKey.of(user)

    async def tell(self, *told: JSONObject) -> bool:
        """Send frames; whether it is still there."""
        return await self.pusher.send(self.key, self.connection_id, told)


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


PONG: Final[JSONObject] = {"type": "pong"}


def event(told: Event) -> JSONObject:
    """An event of the user's: what `GET /v1/events` tells, over the socket."""
    return {
        "type": "event",
        "id": told.event_id,
        "at": told.at,
        "kind": told.kind,
        "data": told.data,
    }


def ready(last_event_id: str) -> JSONObject:
    """All that was missed has been sent; from here on events come by themselves."""
    return {"type": "ready", "last_event_id": last_event_id}


def refused(error: JSONObject, asked: JSONObject) -> JSONObject:
    """A frame of the page that could not be served; `error` is an API error's body."""
    request_id = asked.get("request_id")
    told = {"request_id": request_id[:128]} if isinstance(request_id, str) else {}
    return {"type": "error", **told, **error}


def packed(frame: JSONObject) -> bytes:
    """The frame as it is sent. One that is larger than a message may be loses what makes it so,
    and says that it has to be fetched: a turn by its session, an event by `GET /v1/events`."""
    raw = _json(frame)
    if len(raw) <= MAX_FRAME_BYTES:
        return raw
    kept = ("type", "id", "at", "kind", "request_id", "session_id", "turn", "status")
    return _json({**{k: frame[k] for k in kept if k in frame}, "fetch": True})


def _json(frame: JSONObject) -> bytes:
    return orjson.dumps(frame)
