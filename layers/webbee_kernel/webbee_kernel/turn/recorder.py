"""Recorder: a turn's one write, before its reply leaves, and what goes beside it."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from ..base.beside import begin, settled
from ..base.metrics import turn_ended
from ..config import Settings
from ..refresh.refresh_queue import RefreshQueue
from ..stores.protocols import Stores
from ..stores.rate_limits import Limits
from ..stores.transcript_archive import Transcript
from ..values import JSONObject, PendingConfirmation, SessionMemory, Turn, TurnStatus
from . import replies
from .deciding import Taken, amend
from .details import recalled
from .memory import append, unmasked
from .reader import Ask
from .recording import Told, amended, remembered, wanted
from .replies import Reply
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
        self._transcript = Transcript(stores.transcripts, settings, recalled)

    async def record(
        self,
        ask: Ask,
        state: TurnState,
        text: str,
        status: TurnStatus,
        held: Sequence[PendingConfirmation] = (),
        answered: Taken | None = None,
        sourced: replies.Sourced = replies.unsourced,
        offer: JSONObject | None = None,
    ) -> Reply:
        """The reply, once the turn is written: to a slot of its own, or to that of the turn whose
        questions it answers, when all that went on beside the turn is done. With it go requests for
        refreshes and what the turn cost, which may fail and take half a second at most."""
        reply = state.masker.unmask_text(text)
        drawn = unmasked(offer, state.masker) if offer else None
        told = Told(ask.request_id, ask.message, status, reply, held, sourced, drawn)
        await settled()
        noted = bool(self._settings.absent_after_days)
        turn, _, _ = await asyncio.gather(
            self._written(ask, state, told, answered),
            self._queue.ask(ask.user, wanted(state, note_presence=noted)),
            self._limits.spend(ask.user, state.tokens),
        )
        turn_ended(status, len(state.masker.vault))
        return replies.replay(turn, ask.session_id, ui=replies.ui(state.told))

    async def _written(
        self, ask: Ask, state: TurnState, told: Told, answered: Taken | None
    ) -> Turn:
        store, expires = self._sessions, self.expires(state)

        def build(memory: SessionMemory) -> Turn:
            return remembered(state, memory, told)

        async def archive(memory: SessionMemory) -> int:
            await self._transcript.touch(ask.key, memory, ask.message, state.now)
            if memory is state.memory and state.archiving:
                return await state.archiving
            return await self._transcript.archive(ask.key, memory, state.now)

        if answered is None or answered.turn is None:
            return await append(
                store, ask.key, state.memory, build, archive, expires_at=expires, now=state.now
            )

        def rebuild(memory: SessionMemory, asked: Turn) -> Turn:
            return amended(state, memory, asked, told, answered)

        return await amend(
            store,
            ask.key,
            answered,
            rebuild,
            archive,
            request_id=ask.request_id,
            expires_at=expires,
            now=state.now,
        )

    def begin(self, ask: Ask, state: TurnState) -> TurnState:
        """Beside the turn: archive what it will overwrite, where that is not archived yet."""
        if not self._transcript.owes(state.memory, state.now):
            return state
        work = self._transcript.archive(ask.key, state.memory, state.now)
        return replace(state, archiving=begin(work))

    def expires(self, state: TurnState) -> int:
        """When the table may forget what is recorded now, in Unix seconds."""
        return int(state.now) + self._settings.kept_days * 86_400
