"""Direct calls: a single call without a message, by an MCP client that acts for the user, with a
turn's guards; or by the user through a form below a reply.

The user's message to that client is unknown, but by the protocol the user has seen the call. So an
effect runs unless it is destructive or outward to a destination not accepted: then consent is
requested by a card, stored as a turn of the session `SESSION`; a yes runs exactly this call, once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count
from typing import Final

from .. import language
from ..clock import digest
from ..errors import BadInput, Gone, RequestConflict
from ..guards import ids
from ..refresh.refresh_queue import RefreshQueue, after_effects
from ..sdk.result import ANSWERS
from ..stores.rate_limits import Limits
from ..stores.types import RING_SIZE, PendingConfirmation, Turn
from ..types import JSON, CallOutcome, JSONObject, Step
from . import cards, messages
from .cards import card_of
from .dispatch import StepRunner, conform_arguments, usable_function
from .pending_approvals import AnsweredProposal, Proposals, gone_error, reopen
from .read import Reader, TurnRequest
from .record import Output, Recorder
from .results_block import is_refused
from .session_memory import recall, undo_receipts
from .turn_context import TurnContext

SESSION: Final = "mcp"
"""The session that holds the cards of such calls."""


@dataclass(frozen=True)
class DirectCalls:
    """Guards, asks and runs single calls."""

    reader: Reader
    runner: StepRunner
    recorder: Recorder
    proposals: Proposals
    limits: Limits
    queue: RefreshQueue

    async def call(
        self, ask: TurnRequest, step: Step, *, schemes: Collection[str] = ()
    ) -> CallOutcome | PendingConfirmation:
        """The call's outcome, or the card that waits for approval. The same request id with the
        same call runs once, and gets the outcome after its card was answered. `schemes`: URL
        schemes that belong to the app.

        Raises CallError from the guards, LimitReached, and KernelError if nothing has run.
        """
        state = await self.reader.read(ask, self.limits)
        which = step.app_id, step.fn_name
        function = usable_function(state.catalogue, state.installed, *which)
        ids.check_placeholders(step.arguments)
        if state.refusal:
            raise state.refusal
        arguments = conform_arguments(state, step)
        step = replace(step, action_type=function.action_type, arguments=arguments)
        _check_same_call(state, step)
        if not await self.runner.consent(state, [step], has_message=False, schemes=schemes):
            state = await self.runner.run_confirmed(state, [step])
            [outcome] = state.outcomes.values()
            if outcome.has_changed:
                await self.queue.ask(state.ask.user, after_effects(state.catalogue, [step.app_id]))
            return outcome
        return await self._ask(state, step)

    async def _ask(self, state: TurnContext, step: Step) -> CallOutcome | PendingConfirmation:
        """The card of this call, or its outcome if it was answered."""
        # a client of this kind has no session for which a yes could accept a destination
        pending = replace(card_of(state, [step]), values=())
        if earlier := state.memory.turn_of(pending.confirmation_id):
            return _answer_of(earlier, state, step)
        # the question about the same call that waits already is not asked twice
        waiting = (p for t in state.memory.turns for p in cards.waiting(t, state.now))
        if same := next((p for p in waiting if _is_about(p, step)), None):
            return same
        # nobody is asked for a yes to a call that its app would refuse
        check = await self.runner.check(state, step)
        if check.ok:
            await self.recorder.record(state, Output("", card=pending))
        return pending if check.ok else check

    async def ask_question(self, ask: TurnRequest, step: Step, told: str) -> PendingConfirmation:
        """Record a question that a function asked during this call, as a card."""
        state = await self.reader.read(ask)
        asked = card_of(state, [step])
        pending = replace(asked, summary=told, asks={**asked.asks, "question": told, "ask": ""})
        await self.recorder.record(state, Output("", card=pending))
        return pending

    async def outcome_of(
        self, ask: TurnRequest, step: Step, confirmation_id: str
    ) -> CallOutcome | PendingConfirmation:
        """The outcome of an answered card, or the card while it is pending. Raises Gone if it is
        unknown or expired."""
        state = await self.reader.read(ask._replace(request_id=confirmation_id))
        if earlier := state.memory.turn_of(confirmation_id):
            return _answer_of(earlier, state, step)
        if asked := state.memory.question(confirmation_id):
            _, pending = asked
            if confirmation_id in state.memory.leases or pending.expires_at > state.now:
                return pending
        raise gone_error()

    async def submit_form(self, ask: TurnRequest, step: Step) -> CallOutcome:
        """Submit a form below a reply; `ask.request_id` is that of its turn. An undo offered by a
        receipt gets a card of its own instead.

        Form and outcome are one turn. The same values run once, and again only after a failure;
        they do not count as the user's words and accept no destination. Raises Gone if the turn has
        run something since or is forgotten, BadInput if it offered no such form.
        """
        state = await self.reader.read(ask)
        turn = state.memory.turn_of(ask.request_id)
        if turn is None:
            raise _closed_error()
        if any(turn is one for one, _ in undo_receipts(state.memory, step)):
            return await self._propose(replace(state, message=turn.message), step, turn)
        form = _form(turn)
        filled = digest(form, step.app_id, step.fn_name, step.arguments)
        ask = ask._replace(message=turn.message, request_id=filled)
        if any(call["status"] == "ok" for call in turn.response.get("calls", ())):
            if ask.request_id in turn.also:
                return _answer_of(turn, state, step)
            raise _closed_error()
        if not _has_form(turn.response.get("ui"), step):
            raise BadInput("this reply offers no form of this function", field="function")
        state = reopen(replace(state, ask=ask), AnsweredProposal(state.memory, turn))
        # One claim for the form, whatever stands in it: what is sent beside it is a conflict.
        state = replace(state, request_id=form)
        state = await self.runner.run_confirmed(state, [step])
        [outcome] = state.outcomes.values()
        if outcome.ok:
            text = messages.outcome_text(state, [outcome])
            await self.recorder.record(state, Output(text))
        elif not is_refused(outcome):  # the form stays, to be mended
            drawn = turn.response.get("ui")
            await self.recorder.record(state, Output(turn.reply, "error", offer=drawn))
        return outcome

    async def _propose(self, state: TurnContext, step: Step, turn: Turn) -> CallOutcome:
        """The card that undoes an effect, in the language of its turn; a single one, however often
        Undo is pressed."""
        names = map(partial(digest, "undo", turn.request_id, asdict(step)), count())
        while earlier := state.memory.turn_of(new := next(names)):
            if cards.waiting(earlier, state.now):
                return _outcome(step, "confirmation")
            if any(call["status"] == "ok" for call in earlier.response.get("calls", ())):
                return _answer_of(earlier, state, step)
        state = replace(state, request_id=new)
        # pressing Undo says nothing of where else things may go
        pending = replace(card_of(state, [step]), values=())
        message = language.of(state.language).say("undo_said", what=pending.asks["question"])
        ask = state.ask._replace(message=message, request_id=new)
        card = replace(pending, message=message)
        state = replace(state, ask=ask, message=message)
        await self.recorder.record(state, Output("", card=card))
        return _outcome(step, "confirmation")

    async def answer(
        self,
        ask: TurnRequest,
        step: Step | None,
        question: str,
        yes: bool,
        answers: JSONObject | None = None,
    ) -> CallOutcome:
        """Answer a question, exactly once; `question` is its name (`question_of`), `step` the call
        it must be about (None if unknown), `answers` are passed to the function. Raises Gone if it
        is unknown, expired, about another call, or only shown as a card."""
        confirmation_id = question.partition("-")[0]
        ask = ask._replace(request_id=confirmation_id)
        state = await self.reader.read(ask, self.limits)
        if state.refusal:
            raise state.refusal
        found = state.memory.question(confirmation_id)
        if step:
            step = replace(step, arguments=conform_arguments(state, step))
        elif found and len(own := cards.steps(found[1])) == 1:
            [step] = own
        else:  # a card of several calls was never put as a question
            raise gone_error()
        if earlier := state.memory.turn_of(confirmation_id):
            return _answer_of(earlier, state, step)
        if found is None or not _is_about(found[1], step) or question_of(found[1]) != question:
            raise gone_error()
        async with self.proposals.answering(state, confirmation_id, yes) as state:
            if state.proposal:
                return await self._run_answer(state, step, answers)
            return _answer_of(state.memory.turn_of(confirmation_id), state, step)

    async def _run_answer(
        self, state: TurnContext, step: Step, answers: JSONObject | None
    ) -> CallOutcome:
        """Run the call of the leased card, or drop it, and record."""
        card = state.proposal.accepted if state.proposal else None
        if card is None:
            await self.recorder.record(state, Output(messages.refused_text(state.language)))
            return _nothing_done(step, state)
        extra = {ANSWERS: answers} if answers else {}
        steps = [replace(s, arguments={**s.arguments, **extra}) for s in cards.steps(card)]
        state = replace(state, request_id=card.confirmation_id)
        state = await self.runner.run_confirmed(state, steps)
        outcomes = list(state.new_outcomes.values())
        text = messages.outcome_text(state, outcomes)
        await self.recorder.record(state, Output(text, "ok" if outcomes[-1].ok else "error"))
        return outcomes[-1]


def question_of(pending: PendingConfirmation) -> str:
    """The name of a question for a client that elicits the answer: the card's id and a mark that is
    not part of the displayed card."""
    mark = digest("elicited", pending.confirmation_id, pending.request_id)
    return f"{pending.confirmation_id}-{mark}"


def _form(turn: Turn) -> str:
    """The request id of a turn's form; it changes after a failed call."""
    failed = sum(r["status"] == "failed" for r in turn.response.get("receipts", ()))
    return digest("form", turn.request_id, failed)


def _has_form(ui: JSON, step: Step) -> bool:
    """Whether a UI tree calls the step's function."""
    if isinstance(ui, list):
        return any(_has_form(node, step) for node in ui)
    if not isinstance(ui, dict):
        return False
    called = (ui.get("action"), ui.get("app_id"), ui.get("function"))
    here = called == ("call", step.app_id, step.fn_name)
    return here or any(_has_form(node, step) for node in ui.values())


def _closed_error() -> Gone:
    return Gone(
        f"this was sent already, or is more than {RING_SIZE} turns ago: say what you want instead",
        field="turn",
    )


def _check_same_call(state: TurnContext, step: Step) -> None:
    """Raise RequestConflict if this request's card was about another call; answers to the
    function's questions are allowed."""
    if earlier := state.memory.turn_of(state.request_id):
        known = {*earlier.also, *(p.confirmation_id for p in earlier.waiting)}
        asked = replace(step, arguments={k: v for k, v in step.arguments.items() if k != ANSWERS})
        if known.isdisjoint(card_of(state, [s]).confirmation_id for s in (step, asked)):
            raise RequestConflict(
                "this request was used for another call: send a new one", field="request_id"
            )


def _is_about(pending: PendingConfirmation, step: Step) -> bool:
    which = (step.app_id, step.fn_name, step.arguments)
    return [(s.app_id, s.fn_name, s.arguments) for s in cards.steps(pending)] == [which]


def _answer_of(turn: Turn | None, state: TurnContext, step: Step) -> CallOutcome:
    """The remembered outcome of an answered card. Raises Gone if there is none."""
    if turn is None:
        raise gone_error()
    which, known = (step.app_id, step.fn_name), recall(turn, state.catalogue, state.masker)
    if made := [o for o in known if (o.app_id, o.fn_name) == which]:
        return replace(made[-1], repeated=True, summary=turn.reply)
    if not (ran := turn.response.get("calls", [])):
        return _nothing_done(step, state)
    if ran[-1]["status"] == "ok":  # it returned nothing to remember
        return _outcome(step, "ok", data={}, summary=turn.reply, repeated=True)
    return _outcome(step, "error", error=turn.reply, error_code=str(ran[-1].get("error_code", "")))


def _nothing_done(step: Step, state: TurnContext) -> CallOutcome:
    said = messages.refused_text(state.language)
    return _outcome(step, "error", error=said, error_code="PERMISSION_DENIED")


def _outcome(step: Step, status: str, **told: JSON) -> CallOutcome:
    return CallOutcome(
        step.app_id,
        step.fn_name,
        status,
        action_type=step.action_type,
        arguments=step.arguments,
        **told,
    )
