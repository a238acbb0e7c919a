"""Kept outcomes: what became of an effect, left by whoever ran it where its caller looks when the
answer was lost or came too late.

They lie among the kernel's own cached values of the user, not in the trail: who runs extension code
may write here, and only the caller's side, which put the claim there, writes a record of it.
"""

from __future__ import annotations

from ..base.clock import Clock
from ..stores.codec import loads, outcome_text
from ..stores.deployment import KERNEL_APP
from ..stores.protocols import CacheStore
from ..values import CallOutcome, UserKey, outcome_from
from ..values.plain import fields_of

MODEL = "outcome"
SECONDS = 86_400
"""A day: a request that is repeated later is told that its first delivery has not reported back."""


class KeptOutcomes:
    """Reads and writes them."""

    def __init__(self, cache: CacheStore, clock: Clock) -> None:
        self._cache = cache
        self._clock = clock

    async def keep(self, user: UserKey, effect: str, outcome: CallOutcome) -> None:
        """Leave it; one over 300 KB loses its data and says so."""
        text = outcome_text(fields_of(outcome))
        at = self._clock.now() + SECONDS
        await self._cache.set(user, KERNEL_APP, MODEL, effect, text.encode(), expires_at=at)

    async def find(self, user: UserKey, effect: str) -> CallOutcome | None:
        """What was left, if anything was."""
        now = self._clock.now()
        raw = await self._cache.get(user, KERNEL_APP, MODEL, effect, now=now)
        return None if raw is None else outcome_from(loads(raw.decode()))
