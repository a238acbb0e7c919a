"""Kernel: the steps of a turn.

Read session and skeleton in parallel → rounds of classifier and calls, with guards and consent →
the narrator writes the reply from the results → record it before the reply is sent.
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
from ..llm.options import options_of
from ..llm.protocol import Model
from ..observability import record_duration
from ..refresh.refresh_queue import RefreshQueue
from ..sdk.result import User
from ..stores import Stores
from ..stores.codec import turn_from, turn_text
from ..stores.dynamodb.transcripts import Transcript
from ..stores.rate_limits import Limits
from ..stores.types import PendingConfirmation, SessionMemory, Turn, TurnStatus, UserState
from ..text import one_line
from ..types import JSON, CallOutcome, JSONObject, UserKey, from_dict
from . import cards, confirmation, messages
from .cards import card_answer, card_of, own_card
from .classify import CONFIRMED, HANDED_BACK, AgentLoop, Classifier, LoopResult, check_answer
from .confirmation import PLAIN_ANSWER, CardAnswer, is_asking, pick_choice
from .direct import DirectCalls
from .dispatch import Consent, StepRunner
from .messages import Reply
from .narrate import Narration, Narrator
from .pending_approvals import AcceptedDestinations, Proposals, gone_error
from .prompt import apps_block
from .read import Reader, TurnRequest
from .record import Output, Recorder, check_same_message
from .results_block import remembered_details
from .session_memory import is_side_request, regenerated_turn
from .tool_retrieval import shortlist
from .turn_context import TurnContext

__all__ = ["Kernel", "TurnRequest"]

LEASE_MARGIN_S = 10.0
"""Seconds by which a card's lease outlives the answer's time limit. It is renewed while the turn
runs, so a crashed process holds it for at most this long."""


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
        transcript = Transcript(stores.transcripts, settings, remembered_details)
        self._recorder = Recorder(settings, stores.sessions, queue, self.limits, transcript)
        policy, options = settings.policy_text(), options_of(settings, "classifier")
        self._reader = Reader(settings, stores, dispatch, clock, policy, options.prompt_tokens)
        self._narrator = Narrator(model, policy, settings)
        consent = Consent(stores.accepted, settings.confirm, settings.open_hosts)
        self._runner = StepRunner(dispatch, settings.call_seconds, consent)
        self._classifier = Classifier(model, options)
        self._rounds = AgentLoop(self._classifier, self._runner, settings)
        self.accepted = AcceptedDestinations(
            stores.accepted, stores.audit, clock, settings.audit_days
        )
        # longer than any answer that is waited for: one that is at work is not taken by another
        lease_s = min(settings.turn_seconds, settings.answer_seconds) + LEASE_MARGIN_S
        ttl_s = settings.ring_days * 86_400
        self._proposals = Proposals(stores.sessions, clock, self.accepted, lease_s, ttl_s)
        self.direct = DirectCalls(
            self._reader, self._runner, self._recorder, self._proposals, self.limits, queue
        )

    @record_duration("TurnMs")
    async def turn(self, ask: TurnRequest) -> Reply:
        """One message, one reply. A request id that was answered before gets the stored reply."""
        async with task_scope():
            state = await self._reader.read(ask, self.limits)
            # a client error, raised before anything runs
            check_same_message(state.memory, ask.request_id, ask.message)
            if earlier := state.memory.turn_of(ask.request_id):
                return await self._replay(state, earlier)
            # a client that sends the whole conversation again has no request id of its own
            if again := regenerated_turn(state.memory, ask.user_messages, ask.answer_id, state.now):
                return await self._replay(state, again)
            # a title, tags, follow-up questions: they quote the conversation in one message
            if ask.is_alone and is_side_request(state.memory, ask.message):
                return await self._side_reply(state)
            return await self._respond(await self._begin(state))

    async def _respond(self, state: TurnContext) -> Reply:
        """The reply to a message: an answer to the pending card, the choice of an option, or
        anything else."""
        ask = state.ask
        # the reply that this client shows last; another client may show another one
        last = messages.turn_before(state.memory, ask.previous_reply)
        state = replace(state, is_other_reply=last is not state.memory.last)
        if last:
            waits = cards.waiting(last, state.now)
            card = own_card(last, waits) if waits else None
            # a plain yes or no; anything longer is a message
            if card and (said := card_answer(card, ask.message, state.memory)) is not None:
                state = replace(state, ask=ask._replace(request_id=ask.answer_id))
                return await self._answer_card(state, card.confirmation_id, said)
            # "2", or a choice's own words
            offered = () if card else last.response.get("choices", ())
            choice = pick_choice(ask.message, offered) if offered else ""
            left, message = cards.left_by(ask.message, card), choice or state.message
            state = replace(state, is_choice=bool(choice), card_left=left, message=message)
            if choice and (one := cards.chosen(state, waits, choice)):
                return await self._recorder.record(state, Output("", card=one))
        return await self._finish(await self._rounds.run(state))

    async def _side_reply(self, state: TurnContext) -> Reply:
        """The answer to a request by the client itself (such as a title): text only, without
        functions or memory; nothing is recorded and pending cards stay."""
        if state.refusal:
            raise state.refusal
        # no function and no memory: such a request can neither act nor learn
        bare = replace(state, installed=frozenset(), memory=SessionMemory())
        bare = await self._classifier.ask(bare)
        await start_in_scope(self.limits.spend(state.ask.user, bare.tokens))
        said = state.masker.unmask_text(bare.last_answer.text)
        text = said or language.of(state.language).say("gave_up")
        body: JSONObject = {"reply": text, "session_id": state.ask.session_id, "status": "ok"}
        return Reply({**body, "turn": state.memory.last_seq, "calls": [], "refresh_panels": []})

    async def _replay(self, state: TurnContext, earlier: Turn) -> Reply:
        """The stored reply of a repeated request, which does not count against limits."""
        # what was refused was not counted
        if state.refusal is None:
            await start_in_scope(self.limits.give_back(state.ask.user))
        return messages.replay(earlier, state.ask.session_id)

    async def fail(self, ask: TurnRequest, text: str) -> Reply:
        """Record the failure of a detached turn, so that a repeated request is not run again."""
        async with task_scope():
            state = await self._reader.read(ask)
            if earlier := state.memory.turn_of(ask.request_id):
                return messages.replay(earlier, ask.session_id)
            return await self._recorder.record(state, Output(text, "error"))

    async def confirm(
        self, ask: TurnRequest, confirmation_id: str, accept: bool, how: CardAnswer = PLAIN_ANSWER
    ) -> Reply:
        """Accept or refuse a pending card; exactly once, however often it is requested."""
        # the user's message in the history when a button was pressed
        said = language.of(ask.user.language).say("said_yes" if accept else "said_no")
        ask = ask._replace(message=said, request_id=confirmation_id)
        async with task_scope():
            state = await self._reader.read(ask, self.limits)
            if earlier := state.memory.turn_of(confirmation_id):
                if accept:
                    how.check_same(earlier, confirmation_id)
                return await self._replay(state, earlier)
            if accept and cards.is_refused(state.memory, confirmation_id):
                raise gone_error()
            state = await self._begin(state)
            if accept:
                # the turn keeps this id: a later yes with other texts is told apart by it
                ask = ask._replace(request_id=how.request_id(confirmation_id))
            return await self._answer_card(replace(state, ask=ask), confirmation_id, accept, how)

    async def _begin(self, state: TurnContext) -> TurnContext:
        """Start a new request. Raises the limit that it exceeds, or TurnWorking if another delivery
        is in progress."""
        if state.refusal:
            raise state.refusal
        await state.ask.follower.begin(state.ask.session_id)
        return self._recorder.begin(state)

    async def view(self, ask: TurnRequest) -> TurnContext:
        """Everything a turn reads, before anything is called."""
        return await self._reader.read(ask)

    async def apps_of(self, user: User) -> tuple[Catalogue, UserState, frozenset[str]]:
        """The catalogue, the user's skeleton, and the ids of the user's apps."""
        catalogue, stored = await asyncio.gather(
            self.dispatch.catalogue(), self.stores.skeleton.read(UserKey.of(user))
        )
        return catalogue, stored, self._reader.installed(catalogue, stored)

    async def _finish(self, result: LoopResult) -> Reply:
        """Turn the loop's result into a reply; the narrator may hand back for more rounds."""
        while not result.state.proposed_calls and result.limit != "stopped":
            state = result.state
            if not state.outcomes or messages.is_question(result):
                return await self._record_answer(result)
            # not where no further round may begin
            may_hand_back = result.can_continue and not self._rounds.limit(state)
            say = messages.reply_sink(result)
            narration = await self._narrator.reply(state.narrator_input(), may_hand_back, say)
            if narration.is_stopped:
                return await self._record_stop(result, narration.text)
            if not narration.is_hand_back:
                return await self._record_narration(result, narration)
            # what handed back has cost as well, and counts towards the turn's limit
            state = state.with_tokens(narration.tokens)
            result = await self._rounds.run(state, HANDED_BACK)
        if result.limit == "stopped":
            return await self._record_stop(result)
        return await self._propose(result)

    async def _record_answer(self, result: LoopResult) -> Reply:
        """Record the classifier's own text, with unsourced values marked."""
        state = result.state
        last = None if state.proposal else state.memory.last
        if same := confirmation.same_choices(last, state.ask.message, result.text, result.offer):
            return await self._ask_which(state, same)
        text = result.text
        if state.plain_reply and state.plain_reply.shown:
            text = state.plain_reply.full_text(text).rstrip()
        said = check_answer(text, state)
        output = Output(said.text + messages.unloaded(state), narration=said, offer=result.offer)
        return await self._recorder.record(state, output)

    async def _record_stop(self, result: LoopResult, said: str = "") -> Reply:
        """Record a turn that the user stopped, with the results so far."""
        narration = Narration(messages.stopped_text(result, said), is_stopped=True)
        return await self._recorder.record(
            result.state, Output(narration.text, narration=narration)
        )

    async def _record_narration(self, result: LoopResult, narration: Narration) -> Reply:
        """Record the narrator's reply, preceded by the reason for an early end and followed by the
        classifier's question."""
        state = result.state.with_tokens(narration.tokens)
        text = messages.intro(result) + narration.text
        if is_asking(result.text):
            text = f"{text}\n\n{result.text}"
        # a turn of which something worked is no error
        status: TurnStatus = "ok" if any(o.ok for o in state.new_outcomes.values()) else "error"
        return await self._recorder.record(state, Output(text, status, narration=narration))

    async def _answer_card(
        self, state: TurnContext, name: str, accept: bool, how: CardAnswer = PLAIN_ANSWER
    ) -> Reply:
        """Answer a card: run exactly the pending calls, or drop them, and continue its turn."""
        async with self._proposals.answering(state, name, accept, how) as state:
            if state.proposal is None:  # a concurrent request gave the same answer
                earlier = state.memory.turn_of(state.ask.request_id) or state.memory.turn_of(name)
                if earlier is None:
                    raise gone_error()
                how.check_same(earlier, name)
                return messages.replay(earlier, state.ask.session_id)
            card = state.proposal.accepted
            if card is None:
                return await self._recorder.record(
                    state, Output(messages.refused_text(state.language))
                )
            # effects are claimed under the card: a repeated yes finds what has run
            state = replace(state, request_id=card.confirmation_id)
            state = await self._runner.run_confirmed(state, cards.steps(card))
            if state.ask.follower.is_stopped:
                return await self._record_stop(LoopResult(state, limit="stopped"))
            # the app itself says that several records fit: one card for each
            for number, outcome in reversed(state.new_outcomes.items()):
                if found := await self._alternatives(state, outcome, resume=card.resume):
                    choices = confirmation.labelled(str(p.asks["label"]) for p in found)
                    return await self._ask_which(state.without({number}), choices, found)
            if not card.resume:
                return await self._finish(LoopResult(state, can_continue=True))
            return await self._finish(await self._rounds.run(state, CONFIRMED))

    async def _alternatives(
        self, state: TurnContext, outcome: CallOutcome, *, resume: bool
    ) -> list[PendingConfirmation]:
        """A card for each record that the app reports as a match of an ambiguous call; empty unless
        at least two pass validation."""
        function = state.catalogue.function(outcome.app_id, outcome.fn_name)
        found = []
        for label, step in cards.alternatives(outcome, function):
            # only what the app would take as it is
            if (await self._runner.check(state, step)).ok:
                card = card_of(state, [step], resume=resume)
                asks = {**card.asks, "label": label}
                found.append(replace(card, request_id=cards.UNSHOWN, asks=asks))
        return found if len(found) >= confirmation.MIN_CHOICES else []

    async def _ask_which(
        self,
        state: TurnContext,
        choices: Sequence[JSONObject],
        found: Sequence[PendingConfirmation] = (),
    ) -> Reply:
        """Ask which of several options is meant, numbered; if the last reply asked the same,
        nothing is done, since a yes chooses none."""
        rows = ", ".join(f"{n}. {choice['label']}" for n, choice in enumerate(choices, 1))
        text = language.of(state.language).say("which_record", records=rows)
        if any(turn.reply == text for turn in state.memory.turns[-1:]):
            text, choices = messages.refused_text(state.language), ()
        if done := [o for o in state.new_outcomes.values() if o.ok]:
            text = f"{messages.outcome_text(state, done)}\n\n{text}"
        return await self._recorder.record(state, Output(text, choices=choices, choice_cards=found))

    async def _propose(self, result: LoopResult) -> Reply:
        """Record the card of the pending calls, with the effects done before them."""
        state = result.state
        card = card_of(state, state.proposed_calls, resume=result.resume)
        # what was only read is not told beside a card
        done = [o for o in state.new_outcomes.values() if o.has_changed]
        text = messages.outcome_text(state, done)
        text = "\n\n".join(filter(None, (text, messages.left_over(state))))
        return await self._recorder.record(state, Output(text, card=card))


_DATA: JSON = [
    {"id": "o-1", "title": "An order", "by": "ann@example.com", "name": "Ann Example", "n": 7},
    {"id": "o-2", "title": "Another", "phone": "+49 30 901820", "at": "2026-05-15T17:21:04Z"},
]
_REPLY = "There are 2 orders: An order for Ann Example, 7 pieces, and another of May 15, 2026."


def warm_up() -> None:
    """Run masking, detection, checking and parsing once during init, to load code and compile
    patterns before the first turn. Without I/O."""
    from ..grounding import check
    from ..grounding.aggregates import aggregates
    from ..grounding.evidence import Call
    from ..grounding.receipts import receipts
    from ..pii.masker import Masker  # first: a turn needs it before it asks a model

    message = f"show me all orders {language.detect('show me all orders of this week', 'en')}"
    masker = Masker()
    data = masker.mask(_DATA)
    masker.mask_text(one_line(f"[HISTORY] FACTS: {_REPLY}"))
    aggregates(_DATA)
    receipts([Call("orders", "cancel", "write", data=_DATA)])
    check(_REPLY, data=[data], message=message)
    turn_from(turn_text(Turn(1, iso(0.0), "ok", "", _REPLY, "")))
    from_dict(CallOutcome, {"app_id": "", "fn_name": "", "status": "ok"})


def warm_up_catalogue(catalogue: Catalogue) -> None:
    """Compute the catalogue's part of the prompt once."""
    shortlist(catalogue.functions(catalogue.apps), "orders", apps=catalogue.apps)
    apps_block(catalogue.apps.values())
