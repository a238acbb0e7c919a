"""The port of a person's own conversations: whole, titled, found again. No prompt reads them."""

from __future__ import annotations

from typing import Protocol

from ..values import JSONObject, SessionKey, SessionSummary, Turn, UserKey


class TranscriptStore(Protocol):
    """Turns of a session in order of time, and the list of a user's sessions."""

    async def append(self, key: SessionKey, turn: Turn, *, expires_at: int) -> None:
        """Keep a turn as its user may read it; the same turn (`at` and `seq`) is written anew. One
        write."""
        ...

    async def read(
        self, key: SessionKey, *, limit: int = 50, cursor: str | None = None, now: float
    ) -> tuple[tuple[JSONObject, ...], str | None]:
        """The newest `limit` turns that had not expired by `now`, oldest first, and the cursor of
        the page before them."""
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
