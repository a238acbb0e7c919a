"""Transcript: the person's own conversation, kept beside the model's memory and never in a turn's
way."""

from __future__ import annotations

import asyncio
import logging

from ..base.clock import iso, parse_iso
from ..config import Settings
from ..errors import KernelError
from ..values import RING_SIZE, SessionKey, SessionMemory, SessionSummary, Turn
from .records import title_of
from .transcript_protocol import TranscriptStore

DAY_S = 86_400
PATIENCE_S = 1.0
"""Seconds that a reply may wait for its transcript."""
SPARE_DAYS = RING_SIZE
"""Days by which a session's row outlives what it leads to: turns less than a day apart touch it
every fifth time only."""

_log = logging.getLogger("webbee.transcript")


class Transcript:
    """Lists sessions and keeps their turns: `days` after a turn it is gone; 0 keeps none."""

    def __init__(self, store: TranscriptStore, settings: Settings) -> None:
        self._store = store
        self._days = settings.transcript_days
        self._listed_days = max(settings.session_days, settings.transcript_days) + SPARE_DAYS

    async def touch(self, key: SessionKey, message: str, now: float, memory: SessionMemory) -> None:
        """List the session before its turn is recorded: nothing a person said is ever where the
        list does not lead. One write, for turns 1, 6, 11 … and after a day's pause."""
        seq = memory.last_seq + 1
        last = parse_iso(memory.turns[-1].at) if memory.turns else 0.0
        if seq % RING_SIZE != 1 and now - last < DAY_S:
            return
        touched = SessionSummary(key.session_id, title_of(message), iso(now), seq)
        await self._store.touch(key.user, touched, expires_at=int(now) + self._listed_days * DAY_S)

    async def keep(self, key: SessionKey, turn: Turn, now: float) -> None:
        """Keep a recorded turn; one that cannot be kept within a second costs a log line, and the
        model's memory still has it."""
        if not self._days:
            return
        expires_at = int(now) + self._days * DAY_S
        try:
            async with asyncio.timeout(PATIENCE_S):
                await self._store.append(key, turn, expires_at=expires_at)
        except (KernelError, TimeoutError) as error:
            _log.error("error=%s | a turn is missing in its transcript", type(error).__name__)
