"""Kernel: the life of a turn.

Read the session and the skeleton side by side → rounds of the classifier and its calls, guarded and
confirmed → let the narrator reply from what came of them → record, before the reply leaves, so that
the next turn sees this one.
"""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from ..base.clock import Clock
from ..base.metrics import timed, turn_ended
from ..catalogue import Catalogue
from ..config import Settings
from ..dispatch import Dispatch
from ..errors import Gone, StorageUnavailable
from ..llm.protocol import Model
from ..pii import Masker, beside_own, find_names, of_language
from ..refresh.asking import RefreshQueue
from ..sdk.context import User
from ..stores.protocols import Stores
from ..values import (
    CallOutcome,
    PendingConfirmation,
    SessionKey,
    SessionMemory,
    Turn,
    TurnStatus,
    UserKey,
    UserState,
)
from . import confirmation, replies
from .calls import Consent, EffectConsent, StepRunner
from .classifier import Classifier
from .evidence import of_calls
from .memory import append
from .narrator import Narrator
from .recording import remembered, wanted
from .replies import Reply
from .rounds import HANDED_BACK, Ended, Rounds, asks
from .state import TurnState, masker_for

POLL_S = 0.2
DECISION_WAIT_S = 10.0
"""Seconds a delivery waits for the turn of another one that has just taken the same
confirmation."""

RECORD_RESERVE_S = 2.0
"""Seconds kept back from models and calls so that a turn can still be recorded."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to the kernel, checked: who, where, what."""

    user: User
    session_id: str
    message: str
    request_id: str

    @property
    def key(self) -> SessionKey:
        """The session's key; identity comes from the authoriser only."""
        return SessionKey(UserKey.of(self.user), self.session_id)


class Kernel:
    """Turns messages into replies."""

    def __init__(
        self,
        settings: Settings,
        stores: Stores,
        model: Model,
        dispatch: Dispatch,
        queue: RefreshQueue,
        clock: Clock,
        consent: Consent | None = None,
    ) -> None:
        self.settings = settings
        self.stores = stores
        self.dispatch = dispatch
        self._queue = queue
        self._clock = clock
        self._policy = settings.policy_text()
        self._narrator = Narrator(model, policy=self._policy)
        consent = consent or EffectConsent(settings.confirm_writes)
        self._runner = StepRunner(dispatch, settings.call_seconds, consent)
        self._rounds = Rounds(
            Classifier(model),
            self._runner,
            max_rounds=settings.max_rounds,
            max_tokens=settings.turn_tokens,
        )

    def _gate(self, user: User) -> Masker:
        """What looks for personal data: the built-in detector, or beside it the deployment's
        own."""
        named = self.settings.name_detector
        return Masker(
            names=beside_own(named) if named else find_names,
            regions=of_language(user.language),
            kinds=re.findall(r"\w+", self.settings.mask_kinds),
        )

    @timed("TurnMs")
    async def turn(self, ask: Ask) -> Reply:
        """One message, one reply. A request id that was answered before gets the same reply and
        runs nothing."""
        state = await self.view(ask)
        yes = confirmation.answer(ask.message)
        if yes is not None:
            state = await self._after_decision(ask, state)
        if earlier := state.memory.answered(ask.request_id):
            return replies.replay(earlier, ask.session_id, ask.message)
        if (pending := state.waiting()) and yes is not None:
            return await self._decide(ask, state, pending, yes)
        return await self._finish(ask, await self._rounds.go(state))

    async def confirm(self, ask: Ask, confirmation_id: str, accept: bool) -> Reply:
        """Accept or refuse what waits; exactly once, however often it is asked."""
        ask = replace(
            ask, message=replies.decision(accept, ask.user.language), request_id=confirmation_id
        )
        state = await self._after_decision(ask, await self.view(ask))
        if earlier := state.memory.answered(confirmation_id):
            return replies.replay(earlier, ask.session_id)
        pending = state.waiting()
        if pending is None or pending.confirmation_id != confirmation_id:
            raise Gone(
                "this confirmation expired, was answered or never was: ask again",
                field="id",
                limit=confirmation.LIFETIME_S,
            )
        return await self._decide(ask, state, pending, accept)

    @timed("ReadMs")
    async def view(self, ask: Ask) -> TurnState:
        """Everything a turn reads: one parallel round trip, whatever the history."""
        started = time.monotonic()
        catalogue, memory, stored = await asyncio.gather(
            self.dispatch.catalogue(),
            self.stores.sessions.read(ask.key),
            self.stores.skeleton.read(ask.key.user),
        )
        return TurnState(
            user=ask.user,
            session_id=ask.session_id,
            request_id=ask.request_id,
            message=ask.message,
            now=self._clock.now(),
            memory=memory,
            stored=stored,
            catalogue=catalogue,
            installed=self.installed(catalogue, stored),
            expose_pii=self.settings.expose_pii,
            deadline=started + self.settings.turn_seconds - RECORD_RESERVE_S,
            masker=masker_for(memory, ask.message, self._gate(ask.user)),
            policy=self._policy,
        )

    async def _finish(self, ask: Ask, ended: Ended, about: str = "") -> Reply:
        """From the end of the rounds to the reply; the narrator may ask for more of them. `about`
        is the request that a confirmation belongs to."""
        while not ended.held:
            state = ended.state
            if not state.outcomes or _is_question(ended):
                text = ended.text or replies.gave_up(state.language)
                return await self._record(ask, state, text, "ok")
            narration = await self._narrator.reply(
                about or ask.message,
                state.told_shown,
                language=state.language,
                left=state.left,
                may_hand_back=ended.may_go_on and not self._rounds.limit(state),
                apps={a.app_id: a.display_name for a in state.catalogue.apps.values()},
                now=state.now,
            )
            if not narration.hand_back:
                return await self._narrated(ask, ended, narration.text)
            state = state.with_tokens(narration.tokens)
            ended = await self._rounds.go(state, HANDED_BACK)
        return await self._hold(ask, ended)

    async def _narrated(self, ask: Ask, ended: Ended, text: str) -> Reply:
        """Record what the narrator said, the classifier's question behind it, and before it that
        the turn ended early where it did."""
        state = ended.state
        if ended.limit:
            text = f"{replies.unfinished(ended.limit, state.language)}\n\n{text}"
        if asks(ended.text):
            text = f"{text}\n\n{ended.text}"
        worked = any(o.ok for o in state.told.values())
        return await self._record(ask, state, text, "ok" if worked else "error")

    async def _decide(
        self, ask: Ask, state: TurnState, pending: PendingConfirmation, yes: bool
    ) -> Reply:
        """The user answered: run exactly what waited, or forget it."""
        taken = await self.stores.sessions.take_pending(ask.key, pending.confirmation_id)
        if taken is None:
            state = await self._after_decision(ask, await self.view(ask))
            if earlier := state.memory.answered(ask.request_id):
                return replies.replay(earlier, ask.session_id)
            raise Gone("this confirmation was answered a moment ago", field="id")
        try:
            return await self._decided(ask, state, taken, yes)
        except StorageUnavailable:
            with suppress(StorageUnavailable):
                await self.stores.sessions.put_pending(
                    ask.key, taken
                )  # for the retry; the audit keeps effects from happening twice
            raise

    async def _decided(
        self, ask: Ask, state: TurnState, taken: PendingConfirmation, yes: bool
    ) -> Reply:
        """The calls are ours alone now."""
        if not yes:
            return await self._record(ask, state, replies.refused(state.language), "ok")
        state = replace(state, request_id=taken.confirmation_id)
        state = await self._runner.run_confirmed(state, confirmation.steps(taken))
        return await self._finish(ask, Ended(state, may_go_on=True), about=taken.message)

    async def _after_decision(self, ask: Ask, state: TurnState) -> TurnState:
        """The state once a decision that another delivery is carrying out has been recorded; at
        once where there is none."""
        until = time.monotonic() + DECISION_WAIT_S
        deadline = state.deadline
        while state.being_decided() and time.monotonic() < min(until, deadline):
            await asyncio.sleep(POLL_S)
            state = replace(await self.view(ask), deadline=deadline)
        return state

    async def _hold(self, ask: Ask, ended: Ended) -> Reply:
        """Calls wait for the user's yes; what was done before them is told with the question."""
        state = ended.state
        record = confirmation.pending(
            ended.held,
            session=str(ask.key),
            message=ask.message,
            request_id=ask.request_id,
            now=state.now,
            titles=state.titles(),
        )
        await self.stores.sessions.put_pending(ask.key, record)
        question = confirmation.question(record, state.language)
        done = {i: o for i, o in state.told.items() if o.ok and o.action_type != "read"}
        text = f"{_told(state, done.values())}\n\n{question}" if done else question
        return await self._record(ask, state, text, "confirmation", record)

    async def _record(
        self,
        ask: Ask,
        state: TurnState,
        text: str,
        status: TurnStatus,
        pending: PendingConfirmation | None = None,
    ) -> Reply:
        """The turn's one write, before the reply leaves; then the requests for refreshes, in one
        batch that may take half a second and may fail."""
        response = replies.response(state.told, pending)
        reply = state.masker.unmask_text(text)

        def build(memory: SessionMemory) -> Turn:
            return remembered(state, memory, ask.request_id, status, reply, response)

        expires = int(state.now) + self.settings.session_days * 86_400
        turn = await append(self.stores.sessions, ask.key, state.memory, build, expires_at=expires)
        turn_ended(status, len(state.masker.vault))
        noted = bool(self.settings.absent_after_days)
        await self._queue.ask(ask.user, wanted(state, note_presence=noted))
        return replies.replay(turn, ask.session_id, ui=replies.ui(state.told))

    def installed(self, catalogue: Catalogue, state: UserState) -> frozenset[str]:
        """The user's apps: what the deployment gives everyone, less what the user removed, plus
        what the user added."""
        decided = {i.app_id: i.installed for i in state.installations}
        return frozenset(
            a
            for a, app in catalogue.apps.items()
            if not app.error and decided.get(a, self.settings.installed_by_default(a))
        )


def _is_question(ended: Ended) -> bool:
    """Whether the classifier's question is the whole reply: nothing was changed and nothing failed
    that the user must hear of."""
    calls = ended.state.told.values()
    return asks(ended.text) and all(o.ok and o.action_type == "read" for o in calls)


def _told(state: TurnState, outcomes: Iterable[CallOutcome]) -> str:
    """What calls did, in their own words."""
    from ..grounding import render

    names = {a.app_id: a.display_name for a in state.catalogue.apps.values()}
    return render(of_calls(state.message, outcomes, apps=names, language=state.language))
