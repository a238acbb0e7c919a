"""The port of the open connections: tickets to open one, who is behind each, turns to be
stopped."""

from __future__ import annotations

from typing import Protocol

from ..values import UserKey
from ..values.plain import JSONObject


class ConnectionStore(Protocol):
    """What the door knows of open WebSockets. Everything here expires within hours; a lost item
    costs a reconnection, never data."""

    async def issue(self, ticket: str, user: JSONObject, *, expires_at: int) -> None:
        """Keep who may open a connection with `ticket`. Only its hash is stored."""
        ...

    async def take(self, ticket: str, *, now: float) -> JSONObject | None:
        """Whose ticket it is, once: None for one that was taken, expired by `now` or never was."""
        ...

    async def open(self, connection_id: str, user: JSONObject, *, expires_at: int) -> None:
        """A connection is open, with the identity that it was opened with."""
        ...

    async def find(self, connection_id: str, *, now: float) -> JSONObject | None:
        """Who is behind a connection; None where it is not open."""
        ...

    async def of_user(self, user: UserKey, *, now: float) -> tuple[str, ...]:
        """The user's open connections, in one strongly consistent query."""
        ...

    async def close(self, user: UserKey, connection_id: str) -> None:
        """Forget a connection. Repeatable."""
        ...

    async def forget(self, user: UserKey) -> None:
        """Forget every connection and ticket of the user. Repeatable."""
        ...

    async def stop(self, user: UserKey, request_id: str, *, expires_at: int) -> None:
        """Ask the turn of this request to stop, wherever it runs. Repeatable."""
        ...

    async def stopped(self, user: UserKey, request_id: str, *, now: float) -> bool:
        """Whether the turn of this request was asked to stop."""
        ...
