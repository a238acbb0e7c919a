"""Recorder: a turn's one write, before its reply leaves, and what is told behind it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from ..base.metrics import turn_ended
from ..config import Settings
from ..refresh.asking import RefreshQueue
from ..stores.limiting import Limits
from ..stores.protocols import Stores
from ..stores.transcribing import Transcript
from ..values import PendingConfirmation, SessionMemory, Turn, TurnStatus
from . import replies
from .deciding import Taken, amend
from .memory import append
from .reader import Ask
from .recording import Told, amended, remembered, wanted
from .state import TurnState


class Recorder:
    """Records turns of one deployment."""

    def __init__(
        self, settings: Settings, stores: Stores, queue: RefreshQueue, limits: Limits
    ) -> None:
        self._settings = settings
        self._sessions = stores.sessions
        self._queue = queue
        self._limits = limits
        self._transcript = Transcript(stores.transcripts, settings)

    async def record(
        self,
        ask: Ask,
        state: TurnState,
        text: str,
        status: TurnStatus,
        held: Sequence[PendingConfirmation] = (),
        answered: Taken | None = None,
        sourced: replies.Sourced = replies.unsourced,
    ) -> Turn:
        """A slot of the turn's own, or the slot of the turn whose questions it answers. Then, side
        by side, what may fail and may take a second at most: requests for refreshes, transcript,
        tokens."""
        reply = state.masker.unmask_text(text)
        told = Told(ask.request_id, ask.message, status, reply, held, sourced)
        turn = await self._written(ask, state, told, answered)
        turn_ended(status, len(state.masker.vault))
        noted = bool(self._settings.absent_after_days)
        await asyncio.gather(
            self._queue.ask(ask.user, wanted(state, note_presence=noted)),
            self._transcript.keep(ask.key, turn, state.now),
            self._limits.spend(ask.user, state.tokens),
        )
        return turn

    async def _written(
        self, ask: Ask, state: TurnState, told: Told, answered: Taken | None
    ) -> Turn:
        store, expires = self._sessions, self.expires(state)

        def build(memory: SessionMemory) -> Turn:
            return remembered(state, memory, told)

        if answered is None or answered.turn is None:
            listed = partial(self._transcript.touch, ask.key, ask.message, state.now)
            return await append(
                store, ask.key, state.memory, build, listed, expires_at=expires, now=state.now
            )

        def rebuild(memory: SessionMemory, asked: Turn) -> Turn:
            return amended(state, memory, asked, told, answered)

        return await amend(
            store,
            ask.key,
            answered,
            rebuild,
            request_id=ask.request_id,
            expires_at=expires,
            now=state.now,
        )

    def expires(self, state: TurnState) -> int:
        """When what is recorded now is forgotten, in Unix seconds."""
        return int(state.now) + self._settings.session_days * 86_400
