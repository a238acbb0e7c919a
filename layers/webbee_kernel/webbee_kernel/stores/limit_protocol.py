"""The port of what is counted against limits."""

from __future__ import annotations

from typing import Protocol

from ..values import Counted, UserKey


class LimitStore(Protocol):
    """Requests a minute and tokens a day, of users and tenants. A day is one item, which expires;
    days and minutes are UTC's, counted since 1970."""

    async def take(
        self,
        user: UserKey,
        *,
        minute: int,
        requests: int,
        tokens: int,
        spent: int = 0,
        mark: str = "",
    ) -> Counted:
        """Count one request of this minute, and tokens `spent` before it on the minute's day,
        unless the minute has `requests` already or its day, with those, `tokens` (0: no limit):
        then nothing is counted and what stands there is returned. A `mark` is left with the count
        and forgotten with it, a minute later at the earliest.

        One conditional write, however many race: of a limit of ten, ten get through.
        """
        ...

    async def give_back(self, user: UserKey, *, minute: int) -> None:
        """A request that was counted in this minute asked for nothing new. One write."""
        ...

    async def mark(self, user: UserKey, mark: str, *, minute: int) -> None:
        """Leave another mark in this minute. One write."""
        ...

    async def spend(self, whose: UserKey | str, *, day: int, tokens: int) -> int:
        """Add tokens to the day of a user, or of a tenant by its id; what it has now. One write."""
        ...

    async def together(self, tenant_id: str, *, day: int) -> int:
        """What a tenant's day has. One read."""
        ...
