"""The port of a person's own conversations: whole, titled, found again. No prompt reads them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ..values import JSONObject, SessionKey, SessionSummary, Turn, UserKey

Place = tuple[str, int]
"""Where a turn stands in a conversation: its time and number."""


class TranscriptStore(Protocol):
    """Turns of a session in order of time, and the list of a user's sessions."""

    async def append(self, key: SessionKey, turns: Sequence[Turn], *, seconds: int) -> None:
        """Keep turns, oldest first, as their user may read them, each for so long from its time
        on; the same turn (`at` and `seq`) is told once. One write."""
        ...

    async def read(
        self, key: SessionKey, *, limit: int = 50, before: Place | None = None, now: float
    ) -> tuple[JSONObject, ...]:
        """The newest `limit` turns that had not expired by `now`, or the newest of those before
        that place, oldest first."""
        ...

    async def touch(self, user: UserKey, touched: SessionSummary, *, expires_at: int) -> None:
        """List the session as touched then, with so many turns; the title stands only where it has
        none yet. One write."""
        ...

    async def list(
        self,
        user: UserKey,
        *,
        limit: int = 50,
        cursor: str | None = None,
        title: str = "",
        now: float,
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        """The user's sessions, most recently touched first, and the cursor of the next page. With
        `title`, those whose title holds it, whatever the case."""
        ...

    async def rename(self, key: SessionKey, title: str) -> SessionSummary | None:
        """Give the session this title; None where there is no such session."""
        ...

    async def delete(self, key: SessionKey) -> None:
        """Forget the session. Repeatable; of a long one, what it did not get to is left for the
        next try."""
        ...
