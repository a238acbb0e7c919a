"""Pusher: sends a user's events to the user's open connections, and forgets those that are gone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from ..aws.connections import Sockets
from ..clock import Clock
from ..stores.protocols import ConnectionStore
from ..types import JSONObject, UserKey
from .frames import packed


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
