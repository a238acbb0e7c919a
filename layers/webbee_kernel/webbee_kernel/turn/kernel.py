"""Kernel: the life of a turn.

Read the session and the skeleton side by side → let the classifier decide → guard, confirm, run →
let the narrator reply from the results → record, before the reply leaves, so that the next turn
sees this one.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from dataclasses import dataclass, replace

from ..base.clock import Clock
from ..base.metrics import timed, turn_ended
from ..catalogue import Catalogue
from ..config import Settings
from ..dispatch import Dispatch
from ..errors import Gone, ModelUnavailable, StorageUnavailable
from ..llm.protocol import Model
from ..refresh.asking import SEEN, RefreshQueue, stale, touched, unnoticed
from ..sdk.context import User
from ..stores.protocols import Stores
from ..values import (
    PendingConfirmation,
    SessionKey,
    SessionMemory,
    Step,
    Turn,
    TurnStatus,
    UserKey,
    UserState,
)
from . import confirmation, replies
from .calls import Calls, StepRunner
from .classifier import MAX_ROUNDS, Classifier
from .memory import append
from .narrator import Narrator
from .prompt import Problem
from .replies import Reply
from .view import TurnView

POLL_S = 0.2
DECISION_WAIT_S = 10.0
"""Seconds a delivery waits for the turn of another one that has just taken the same
confirmation."""
CLASSIFIER_SHARE = 0.6
"""Part of the time left that one question to the classifier may take: calls and narrator need the
rest."""

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
    ) -> None:
        self.settings = settings
        self.stores = stores
        self.dispatch = dispatch
        self._queue = queue
        self._clock = clock
        self._classifier = Classifier(model)
        self._policy = settings.policy_text()
        self._narrator = Narrator(model, policy=self._policy)
        self._runner = StepRunner(
            dispatch, settings.call_seconds, confirm_writes=settings.confirm_writes
        )

    @timed("TurnMs")
    async def turn(self, ask: Ask) -> Reply:
        """One message, one reply. A request id that was answered before gets the same reply and
        runs nothing."""
        view = await self.view(ask)
        yes = confirmation.answer(ask.message)
        if yes is not None:
            view = await self._after_decision(ask, view)
        if earlier := view.memory.answered(ask.request_id):
            return replies.replay(earlier, ask.session_id, ask.message)
        if (pending := view.waiting()) and yes is not None:
            return await self._decide(ask, view, pending, yes)
        return await self._answer(ask, view)

    async def confirm(self, ask: Ask, confirmation_id: str, accept: bool) -> Reply:
        """Accept or refuse what waits; exactly once, however often it is asked."""
        ask = replace(
            ask, message=replies.decision(accept, ask.user.language), request_id=confirmation_id
        )
        view = await self._after_decision(ask, await self.view(ask))
        if earlier := view.memory.answered(confirmation_id):
            return replies.replay(earlier, ask.session_id)
        pending = view.waiting()
        if pending is None or pending.confirmation_id != confirmation_id:
            raise Gone(
                "this confirmation expired, was answered or never was: ask again",
                field="id",
                limit=confirmation.LIFETIME_S,
            )
        return await self._decide(ask, view, pending, accept)

    @timed("ReadMs")
    async def view(self, ask: Ask) -> TurnView:
        """Everything a turn reads: one parallel round trip, whatever the history."""
        started = time.monotonic()
        catalogue, memory, state = await asyncio.gather(
            self.dispatch.catalogue(),
            self.stores.sessions.read(ask.key),
            self.stores.skeleton.read(ask.key.user),
        )
        deadline = started + self.settings.turn_seconds - RECORD_RESERVE_S
        return TurnView(
            user=ask.user,
            message=ask.message,
            now=self._clock.now(),
            memory=memory,
            state=state,
            catalogue=catalogue,
            installed=self.installed(catalogue, state),
            expose_pii=self.settings.expose_pii,
            deadline=deadline,
            policy=self._policy,
        )

    async def _answer(self, ask: Ask, view: TurnView) -> Reply:
        """Classify, run, narrate, record."""
        calls = self._calls(ask, view)
        text, held = await self._work(view, calls)
        if held:
            return await self._hold(ask, view, calls, held)
        if not calls.outcomes:
            return await self._record(ask, view, calls, text, "ok")
        return await self._narrate(ask, view, calls)

    async def _work(self, view: TurnView, calls: Calls) -> tuple[str, tuple[Step, ...]]:
        """Ask the classifier, at most three times, and run what it plans. Returns its plain answer
        and steps that wait for a yes."""
        problems: tuple[Problem, ...] = ()
        for attempt in range(MAX_ROUNDS):
            last = attempt == MAX_ROUNDS - 1
            try:
                plan, problems, _ = await self._classifier.decide(
                    view.prompt,
                    view.functions,
                    language=view.language,
                    timeout_s=calls.left() * CLASSIFIER_SHARE,
                    problems=problems,
                    outcomes=view.shown(calls.outcomes),
                )
            except ModelUnavailable:
                if not calls.outcomes:
                    raise  # nothing happened yet: the whole request can be retried
                return "", ()
            if not plan.steps and not problems and calls.outcomes:
                return "", ()  # nothing more to call: the narrator tells what came of it
            if not plan.steps and not problems:
                problems = view.ungrounded(plan.text)
                if not problems:
                    return plan.text, ()
            problems = problems or self._runner.check(calls, plan.steps)
            if problems and not last:
                continue
            problems, held = await self._runner.run(calls, plan.steps)
            if held or not problems or last:
                return ("" if calls.outcomes else replies.gave_up(view.language)), held
            calls.forget_rejected()
        return replies.gave_up(view.language), ()

    async def _decide(
        self, ask: Ask, view: TurnView, pending: PendingConfirmation, yes: bool
    ) -> Reply:
        """The user answered: run exactly what waited, or forget it."""
        taken = await self.stores.sessions.take_pending(ask.key, pending.confirmation_id)
        if taken is None:
            view = await self._after_decision(ask, await self.view(ask))
            if earlier := view.memory.answered(ask.request_id):
                return replies.replay(earlier, ask.session_id)
            raise Gone("this confirmation was answered a moment ago", field="id")
        try:
            return await self._decided(ask, view, taken, yes)
        except StorageUnavailable:
            with suppress(StorageUnavailable):
                await self.stores.sessions.put_pending(
                    ask.key, taken
                )  # for the retry; the audit keeps effects from happening twice
            raise

    async def _decided(
        self, ask: Ask, view: TurnView, taken: PendingConfirmation, yes: bool
    ) -> Reply:
        """The calls are ours alone now."""
        calls = self._calls(replace(ask, request_id=taken.confirmation_id), view)
        if not yes:
            return await self._record(ask, view, calls, replies.refused(view.language), "ok")
        await self._runner.run_confirmed(calls, confirmation.steps(taken))
        return await self._narrate(ask, view, calls, about=taken.message)

    async def _after_decision(self, ask: Ask, view: TurnView) -> TurnView:
        """The view once a decision that another delivery is carrying out has been recorded; at once
        where there is none."""
        until = time.monotonic() + DECISION_WAIT_S
        deadline = view.deadline
        while view.being_decided() and time.monotonic() < min(until, deadline):
            await asyncio.sleep(POLL_S)
            view = replace(await self.view(ask), deadline=deadline)
        return view

    async def _hold(self, ask: Ask, view: TurnView, calls: Calls, held: tuple[Step, ...]) -> Reply:
        """Destructive calls wait for the user's yes."""
        titles = view.titles(calls.outcomes)
        record = confirmation.pending(
            held,
            session=str(ask.key),
            message=ask.message,
            request_id=ask.request_id,
            now=view.now,
            titles=titles,
        )
        await self.stores.sessions.put_pending(ask.key, record)
        return await self._record(
            ask, view, calls, confirmation.question(record, view.language), "confirmation", record
        )

    async def _narrate(self, ask: Ask, view: TurnView, calls: Calls, about: str = "") -> Reply:
        """Reply from the results to what the user asked (`about`: the request a confirmation
        belongs to)."""
        text, _ = await self._narrator.reply(
            about or ask.message,
            view.shown(calls.outcomes),
            language=view.language,
            left=calls.left,
        )
        status: TurnStatus = "ok" if any(o.ok for o in calls.outcomes.values()) else "error"
        return await self._record(ask, view, calls, text, status)

    async def _record(
        self,
        ask: Ask,
        view: TurnView,
        calls: Calls,
        text: str,
        status: TurnStatus,
        pending: PendingConfirmation | None = None,
    ) -> Reply:
        """The turn's one write, before the reply leaves; then requests for refreshes, which nobody
        waits for."""
        response = replies.response(calls.outcomes, pending)
        reply = view.masker.unmask_text(text)

        def build(memory: SessionMemory) -> Turn:
            return view.turn(ask.request_id, status, reply, calls.outcomes, response, memory)

        expires = int(view.now) + self.settings.session_days * 86_400
        turn = await append(self.stores.sessions, ask.key, view.memory, build, expires_at=expires)
        turn_ended(status, len(view.masker.vault))
        changed = touched(
            view.catalogue,
            (o.app_id for o in calls.outcomes.values() if o.ok and o.action_type != "read"),
        )
        await self._queue.ask(ask.user, changed, "effect")
        await self._queue.ask(
            ask.user,
            [
                s
                for s in stale(view.catalogue, view.installed, view.state, view.now)
                if s not in changed
            ],
            "stale",
        )
        if self.settings.absent_after_days and unnoticed(view.state, view.now):
            await self._queue.ask(ask.user, [SEEN], "seen")
        return replies.replay(turn, ask.session_id, ui=replies.ui(calls.outcomes))

    def _calls(self, ask: Ask, view: TurnView) -> Calls:
        return Calls(
            user=ask.user,
            session_id=ask.session_id,
            request_id=ask.request_id,
            catalogue=view.catalogue,
            installed=view.installed,
            masker=view.masker,
            known=view.known(),
            deadline=view.deadline,
        )

    def installed(self, catalogue: Catalogue, state: UserState) -> frozenset[str]:
        """The user's apps: what the deployment gives everyone, less what the user removed, plus
        what the user added."""
        decided = {i.app_id: i.installed for i in state.installations}
        return frozenset(
            a
            for a, app in catalogue.apps.items()
            if not app.error and decided.get(a, self.settings.installed_by_default(a))
        )
