"""Kernel: the life of a turn.

Read the session and the skeleton side by side → rounds of the classifier and its calls, guarded and
confirmed → let the narrator reply from what came of them → record, before the reply leaves, so that
the next turn sees this one.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace

from .. import language
from ..background import start_in_scope, task_scope
from ..catalogue import Catalogue, Dispatch
from ..clock import Clock, iso
from ..config import Settings
from ..errors import TurnWorking
from ..llm.options import options_of
from ..llm.protocol import Model
from ..observability import record_duration
from ..refresh.refresh_queue import RefreshQueue
from ..sdk.records import User
from ..stores.codec import turn_from, turn_text
from ..stores.protocols import Stores
from ..stores.rate_limits import Limits
from ..stores.types import PendingConfirmation, SessionMemory, Turn, TurnStatus, UserState
from ..text import one_line
from ..types import JSON, CallOutcome, UserKey, from_dict
from . import cards, confirmation, messages
from .cards import card_answer, card_of, own_card, shown_now
from .classify import CONFIRMED, HANDED_BACK, AgentLoop, Classifier, LoopResult
from .confirmation import PLAINLY, Answered, asks, picked
from .direct import DirectCalls
from .dispatch import Consent, StepRunner
from .messages import Reply
from .narrate import Narration, Narrator
from .pending_approvals import AcceptedDestinations, Proposals, gone
from .plain_answer import looked_up
from .read import Reader, TurnRequest
from .record import Recorder, Told, refuse_another_message
from .rules import apps_block
from .session_memory import repeated_effect, repeats_conversation
from .tool_retrieval import shortlist
from .turn_context import TurnContext

__all__ = ["Kernel", "TurnRequest"]

LEASE_EXTRA_S = 10.0
"""Seconds by which the lease of a question outlives an answer that is waited for. It is renewed for
as long as the turn runs: whoever dies leaves it for so long at most."""


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
        self.limits = Limits(stores.limits, settings, clock)
        self._recorder = Recorder(settings, stores, queue, self.limits)
        policy = settings.policy_text()
        self._reader = Reader(settings, stores, dispatch, clock, policy)
        self._narrator = Narrator(model, policy, settings)
        consent = Consent(stores.accepted, settings.confirm, settings.open_hosts)
        self._runner = StepRunner(dispatch, settings.call_seconds, consent)
        self._classifier = Classifier(model, options_of(settings, "classifier"))
        self._rounds = AgentLoop(self._classifier, self._runner, settings)
        self.accepted = AcceptedDestinations(
            stores.accepted, stores.audit, clock, settings.audit_days
        )
        # longer than any answer that is waited for: one that is at work is not taken by another
        lease_s = min(settings.turn_seconds, settings.answer_seconds) + LEASE_EXTRA_S
        kept_s = settings.ring_days * 86_400
        self._decisions = Proposals(
            stores.sessions, clock, self.accepted, lease_s=lease_s, turn_s=kept_s
        )
        self.direct = DirectCalls(
            self._reader,
            self._runner,
            self._recorder,
            self._decisions,
            self.limits,
            queue,
            consent,
        )

    @record_duration("TurnMs")
    async def turn(self, ask: TurnRequest) -> Reply:
        """One message, one reply. A request id that was answered before gets the same reply and
        runs nothing."""
        async with task_scope():
            state = await self._reader.read(ask, self.limits)
            # a client's mistake, told before anything runs
            refuse_another_message(state.memory, ask.request_id, ask.message)
            if earlier := state.memory.answered(ask.request_id):
                return await self._again(ask, earlier)
            # a client that sends the whole conversation again has no request id of its own
            if again := repeated_effect(state.memory, ask.shown, ask.answer_id, state.now):
                return await self._again(ask, again)
            # a title, tags, follow-up questions: they quote the conversation in one message
            if ask.alone and repeats_conversation(state.memory, ask.message):
                return await self._aside(state)
            return await self._said(await self._begin(state))

    async def _said(self, state: TurnContext) -> Reply:
        """The reply to what a person says: a yes or no to the card of the turn that he is shown
        before it, a pick of one of its choices, or anything else."""
        ask = state.ask
        # which of our replies the person has before them: of two clients each shows its own
        last = messages.shown_before(state.memory, ask.before)
        state = replace(state, is_beside=last is not state.memory.last)
        if last:
            waits = cards.waiting(last, state.now)
            card = own_card(last, waits) if waits else None
            # a plain yes or no; whatever says more is a message
            if card and (said := card_answer(card, ask.message)) is not None:
                state = replace(state, ask=ask._replace(request_id=ask.answer_id))
                return await self._decide(state, card.confirmation_id, said)
            # "2", or a choice's own words
            choice = "" if card else picked(ask.message, last.response.get("choices", ()))
            state = replace(state, message=choice or state.message, is_picked=bool(choice))
            if choice and (one := cards.chosen(waits, choice)):
                return await self._recorder.record(state, Told("", held=shown_now(state, one)))
        return await self._finish(await self._rounds.go(state))

    async def _aside(self, state: TurnContext) -> Reply:
        """The answer to a request of the client's own, in words: no function, no memory, nothing
        recorded, so that what waits in this session goes on waiting."""
        if state.over:
            raise state.over
        # no function and no memory: such a request can neither act nor learn
        bare = replace(state, installed=frozenset(), memory=SessionMemory())
        answer = (await self._classifier.ask(bare)).unsaid
        text = answer.text if answer else ""
        text = state.masker.unmask_text(text) or language.of(state.language).say("gave_up")
        return messages.aside(state, text)

    async def _again(self, ask: TurnRequest, earlier: Turn) -> Reply:
        """The reply to a request that was answered before, which counts against no limit."""
        await start_in_scope(self.limits.give_back(ask.user))
        return messages.replay(earlier, ask.session_id)

    async def fail(self, ask: TurnRequest, text: str) -> Reply:
        """Record that a turn nobody waits for has failed: asked for again, it is told and not run
        once more."""
        async with task_scope():
            state = await self._reader.read(ask)
            if earlier := state.memory.answered(ask.request_id):
                return messages.replay(earlier, ask.session_id)
            # counted when it was asked for: only what its slot overwrites is still owed
            return await self._recorder.record(self._recorder.begin(state), Told(text, "error"))

    async def confirm(
        self, ask: TurnRequest, confirmation_id: str, accept: bool, how: Answered = PLAINLY
    ) -> Reply:
        """Accept or refuse what waits; exactly once, however often it is asked."""
        # what stands in the history when the user pressed a button instead of writing
        said = language.of(ask.user.language).say("said_yes" if accept else "said_no")
        ask = ask._replace(message=said, request_id=confirmation_id)
        async with task_scope():
            state = await self._reader.read(ask, self.limits)
            if earlier := state.memory.answered(confirmation_id):
                if accept:
                    how.refuse_another(earlier, confirmation_id)
                return await self._again(ask, earlier)
            state = await self._begin(state)
            if accept:
                # the turn keeps this id: a later yes with other texts is told apart by it
                ask = ask._replace(request_id=how.request_id(confirmation_id))
            return await self._decide(replace(state, ask=ask), confirmation_id, accept, how)

    async def _begin(self, state: TurnContext) -> TurnContext:
        """The request is no repetition. Raises the limit that it meets, or TurnWorking where
        another delivery of it is at work."""
        # another delivery of this request was counted already
        if isinstance(state.over, TurnWorking):
            await start_in_scope(self.limits.give_back(state.user))
        if state.over:
            raise state.over
        await state.follower.begin(state.ask.session_id)
        return self._recorder.begin(state)

    async def view(self, ask: TurnRequest) -> TurnContext:
        """Everything a turn reads, before anything is called."""
        return await self._reader.read(ask)

    async def apps_of(self, user: User) -> tuple[Catalogue, UserState, frozenset[str]]:
        """What is deployed, what the skeleton holds of a user, and the user's apps."""
        catalogue, stored = await asyncio.gather(
            self.dispatch.catalogue(), self.stores.skeleton.read(UserKey.of(user))
        )
        return catalogue, stored, self._reader.installed(catalogue, stored)

    async def _finish(self, ended: LoopResult) -> Reply:
        """From the end of the rounds to the reply; the narrator may ask for more of them."""
        while not ended.state.proposed and ended.limit != "stopped":
            state = ended.state
            if not state.outcomes or messages.is_question(ended):
                return await self._answered(ended)
            # not where no further round may begin
            may_hand_back = ended.may_go_on and not self._rounds.limit(state)
            say = messages.reading_along(ended)
            narration = await self._narrator.reply(state.narrated(), may_hand_back, say)
            if narration.stopped:
                return await self._stopped(ended, narration.text)
            if not narration.hand_back:
                return await self._narrated(ended, narration)
            # what handed back has cost as well, and counts towards the turn's limit
            state = state.with_tokens(narration.tokens)
            ended = await self._rounds.go(state, HANDED_BACK)
        if ended.limit == "stopped":
            return await self._stopped(ended)
        return await self._hold(ended)

    async def _answered(self, ended: LoopResult) -> Reply:
        """Record the classifier's own words, what has no source in the prompt marked."""
        state = ended.state
        last = None if state.answered else state.memory.last
        if labels := confirmation.asks_again(last, state.ask.message, ended.text, ended.offer):
            return await self._which(state, labels)
        text = ended.text
        if state.plain and state.plain.said:
            text = state.plain.whole(text).rstrip()
        # words without a call rest on the prompt alone
        said = (
            looked_up(text, state)
            if text
            else Narration(language.of(state.language).say("gave_up"))
        )
        return await self._recorder.record(
            state, Told(said.text + messages.unloaded(state), narration=said, offer=ended.offer)
        )

    async def _stopped(self, ended: LoopResult, said: str = "") -> Reply:
        """The user stopped the turn: what ran is told in its own words, and recorded."""
        narration = Narration(messages.stopped(ended, said), stopped=True)
        return await self._recorder.record(ended.state, Told(narration.text, narration=narration))

    async def _narrated(self, ended: LoopResult, narration: Narration) -> Reply:
        """Record what the narrator said, the classifier's question behind it, and before it that
        the turn ended early where it did."""
        state = ended.state.with_tokens(narration.tokens)
        text = messages.before(ended) + narration.text
        if asks(ended.text):
            text = f"{text}\n\n{ended.text}"
        # a turn of which something worked is no error
        status: TurnStatus = "ok" if any(o.ok for o in state.fresh.values()) else "error"
        return await self._recorder.record(state, Told(text, status, narration=narration))

    async def _decide(
        self, state: TurnContext, name: str, accept: bool, how: Answered = PLAINLY
    ) -> Reply:
        """The user answered the card of this id: run exactly what waited, or forget it, and go on
        with the turn that asked."""
        async with self._decisions.answering(state, name, accept, how) as state:
            if state.answered is None:
                return _told_before(state, name, accept, how)
            card = state.answered.accepted
            if card is None:
                return await self._recorder.record(state, Told(messages.refused(state.language)))
            # effects are claimed under the card: a repeated yes finds what has run
            state = replace(state, request_id=card.confirmation_id)
            state = await self._runner.run_confirmed(state, cards.steps(card))
            if state.follower.stopped:
                return await self._stopped(LoopResult(state, limit="stopped"))
            # the app itself says that several records fit: one card for each
            for number, outcome in reversed(state.fresh.items()):
                if found := await self._alternatives(state, outcome, resume=card.resume):
                    labels = [str(p.asks["label"]) for p in found]
                    return await self._which(state.without({number}), labels, found)
            if not card.resume:
                return await self._finish(LoopResult(state, may_go_on=True))
            return await self._finish(await self._rounds.go(state, CONFIRMED))

    async def _alternatives(
        self, state: TurnContext, outcome: CallOutcome, *, resume: bool
    ) -> list[PendingConfirmation]:
        """For each record that fits a call, by its app's own word, the card that picking it comes
        to; none where there are not two that the call would take."""
        function = state.catalogue.function(outcome.app_id, outcome.fn_name)
        found = []
        for label, step in cards.alternatives(outcome, function):
            # only what the app would take as it is
            if (await self._runner.check(state, step)).ok:
                card = card_of(state, [step], resume=resume)
                asks = {**card.asks, "label": label}
                found.append(replace(card, request_id=cards.UNSHOWN, asks=asks))
        return found if len(found) >= confirmation.FEWEST else []

    async def _which(
        self, state: TurnContext, labels: Sequence[str], found: Sequence[PendingConfirmation] = ()
    ) -> Reply:
        """Ask which of several is meant, each with its number; where that was asked just now in the
        same words, nothing is done: a yes answers neither."""
        rows = ", ".join(f"{n}. {label}" for n, label in enumerate(labels, 1))
        text = language.of(state.language).say("which_record", records=rows)
        if any(turn.reply == text for turn in state.memory.turns[-1:]):
            text, labels = messages.refused(state.language), ()
        choices = [{"label": label, "message": label} for label in labels]
        if done := [o for o in state.fresh.values() if o.ok]:
            text = f"{messages.told(state, done)}\n\n{text}"
        return await self._recorder.record(state, Told(text, choices=choices, unshown=found))

    async def _hold(self, ended: LoopResult) -> Reply:
        """Calls wait for the user's yes; what was done before them is told with the question."""
        state = ended.state
        card = card_of(state, state.proposed, resume=ended.resume)
        # what was only read is not told beside a card
        done = {i: o for i, o in state.fresh.items() if o.ok and o.action_type != "read"}
        text = messages.told(state, done.values()) if done else ""
        return await self._recorder.record(state, Told(text, held=card))


def _told_before(state: TurnContext, name: str, accept: bool, how: Answered) -> Reply:
    """The reply to the same yes that was faster."""
    # the request itself first: the same yes once more is no conflict
    earlier = state.memory.answered(state.ask.request_id)
    if earlier is None and (earlier := state.memory.answered(name)) and accept:
        how.refuse_another(earlier, name)
    if earlier is None:
        raise gone()
    return messages.replay(earlier, state.ask.session_id)


_DATA: JSON = {
    "orders": [
        {"id": "o-1", "title": "An order", "by": "ann@example.com", "name": "Ann Example", "n": 7},
        {"id": "o-2", "title": "Another", "phone": "+49 30 901820", "at": "2026-05-15T17:21:04Z"},
    ],
    "count": 2,
}
_REPLY = "There are 2 orders: An order for Ann Example, 7 pieces, and another of May 15, 2026."


def make_ready() -> None:
    """Mask, detect, check and read once what a turn might hold, before the first one: a function's
    init has a whole processor and no one who waits. Nothing is asked or kept."""
    from ..grounding import check
    from ..grounding.aggregates import aggregates
    from ..grounding.evidence import Call
    from ..grounding.receipts import receipts
    from ..pii import Masker  # first: a turn needs it before it asks a model

    message = f"show me all orders {language.detect('show me all orders of this week', 'en')}"
    masker = Masker()
    data = masker.mask(_DATA)
    masker.mask_text(one_line(f"[HISTORY] FACTS: {_REPLY}"))
    aggregates(_DATA)
    receipts([Call("orders", "cancel", "write", data=_DATA)])
    check(_REPLY, data=[data], message=message)
    check("There are no orders.", data=[{"orders": [], "count": 0}], message=message)
    turn_from(turn_text(Turn(1, iso(0.0), "ok", "", _REPLY, "")))
    from_dict(CallOutcome, {"app_id": "", "fn_name": "", "status": "ok"})


def make_known(catalogue: Catalogue) -> None:
    """Write once what every prompt says of these functions."""
    shortlist(catalogue.functions(catalogue.apps), "orders", apps=catalogue.apps)
    apps_block(catalogue.apps.values())
