"""Direct calls: one call that no message of this conversation asked for, by a program that speaks
for the user (an MCP client), with a turn's guards; or by the user, who filled a form below a reply.

What the user told that program is not known here: its user has seen the call, or so the protocol
says. So an effect runs, unless it destroys, or carries something to where this user has not
accepted that it goes: then he is asked, as in a turn. The question is a turn of the session
`SESSION`, where the page shows it too; its answer runs exactly the call that was asked about, once.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, replace
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
from .dispatch import Consent, StepRunner, conform_arguments, usable_function
from .pending_approvals import AnsweredProposal, Proposals, gone_error, reopen
from .read import Reader, TurnRequest
from .record import Output, Recorder
from .results_block import is_refused
from .session_memory import recall, undo_receipts
from .turn_context import TurnContext

SESSION: Final = "mcp"
"""The conversation in which such calls wait for the user's yes."""


class DirectCalls:
    """Guards, asks and runs single calls."""

    def __init__(
        self,
        reader: Reader,
        runner: StepRunner,
        recorder: Recorder,
        proposals: Proposals,
        limits: Limits,
        queue: RefreshQueue,
        consent: Consent,
    ) -> None:
        self._reader = reader
        self._runner = runner
        self._recorder = recorder
        self._proposals = proposals
        self._limits = limits
        self._queue = queue
        self._consent = consent

    async def call(
        self, ask: TurnRequest, step: Step, *, schemes: Collection[str] = ()
    ) -> CallOutcome | PendingConfirmation:
        """The call's outcome, or the question that waits for the user's yes. The same request id
        with the same call runs once, and gets the outcome of its question once that is answered.
        `schemes`: those of the addresses that its app lists, which are the app's own.

        Raises CallError where the guards refuse it, LimitReached, and KernelError where nothing
        happened.
        """
        state = await self._reader.read(ask, self._limits)
        which = step.app_id, step.fn_name
        function = usable_function(state.catalogue, state.installed, *which)
        ids.check_placeholders(step.arguments)
        if state.refusal:
            raise state.refusal
        arguments = conform_arguments(state, step, step.arguments)
        step = replace(step, action_type=function.action_type, arguments=arguments)
        _check_same_call(state, step)
        calls = [(step, step.arguments)]
        if not await self._consent(state, calls, has_message=False, schemes=schemes):
            state = await self._runner.run_confirmed(state, [step])
            [outcome] = state.outcomes.values()
            if outcome.ok and outcome.action_type != "read":
                await self._queue.ask(state.user, after_effects(state.catalogue, [step.app_id]))
            return outcome
        return await self._ask(state, step)

    async def _ask(self, state: TurnContext, step: Step) -> CallOutcome | PendingConfirmation:
        """The question about this call, or what came of it."""
        # a client of this kind has no session for which a yes could accept a destination
        pending = replace(card_of(state, [step]), values=())
        if earlier := state.memory.answered(pending.confirmation_id):
            return _answer_of(earlier, state, step)
        # the question about the same call that waits already is not asked twice
        waiting = (p for t in state.memory.turns for p in cards.waiting(t, state.now))
        if same := next((p for p in waiting if _is_about(p, step)), None):
            return same
        # nobody is asked for a yes to a call that its app would refuse
        check = await self._runner.check(state, step)
        if check.ok:
            await self._recorder.record(state, Output("", card=pending))
        return pending if check.ok else check

    async def ask_question(self, ask: TurnRequest, step: Step, told: str) -> PendingConfirmation:
        """What a function asked in the middle of this call, as a question that waits for its
        answers."""
        state = await self._reader.read(ask)
        asked = card_of(state, [step])
        pending = replace(asked, summary=told, asks={**asked.asks, "question": told, "ask": ""})
        await self._recorder.record(state, Output("", card=pending))
        return pending

    async def outcome_of(
        self, ask: TurnRequest, step: Step, confirmation_id: str
    ) -> CallOutcome | PendingConfirmation:
        """What came of a question about a call of this function, or the question while it waits.
        Raises Gone where nobody waits for it any more."""
        state = await self._reader.read(ask._replace(request_id=confirmation_id))
        if earlier := state.memory.answered(confirmation_id):
            return _answer_of(earlier, state, step)
        if asked := state.memory.asked(confirmation_id):
            _, pending = asked
            if confirmation_id in state.memory.taken or pending.expires_at > state.now:
                return pending
        raise gone_error()

    async def submit_form(self, ask: TurnRequest, step: Step) -> CallOutcome:
        """What came of a form that the user filled below a reply; `ask.request_id` is its turn's.
        What a receipt of the turn offers is proposed instead, by a card of its own.

        The form and what came of it are one turn, as a question and its answer are. The same values
        run once, and again only after a failure. Nothing in them counts as what he said, and no
        destination is accepted by them. Raises Gone where the turn has run something else since, or
        is not remembered any more, and BadInput where it offered no such function.
        """
        state = await self._reader.read(ask)
        turn = state.memory.answered(ask.request_id)
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
        state = await self._runner.run_confirmed(state, [step])
        [outcome] = state.outcomes.values()
        if outcome.ok:
            text = messages.outcome_text(state, [outcome])
            await self._recorder.record(state, Output(text))
        elif not is_refused(outcome):  # the form stays, to be mended
            drawn = turn.response.get("ui")
            await self._recorder.record(state, Output(turn.reply, "error", offer=drawn))
        return outcome

    async def _propose(self, state: TurnContext, step: Step, turn: Turn) -> CallOutcome:
        """The card of what takes a turn's effect back, in the language of that turn's message. It
        has one while that waits and once it is done, however often Undo is pressed."""
        names = map(partial(digest, "undo", turn.request_id, asdict(step)), count())
        while earlier := state.memory.answered(new := next(names)):
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
        await self._recorder.record(state, Output("", card=card))
        return _outcome(step, "confirmation")

    async def answer(
        self,
        ask: TurnRequest,
        step: Step | None,
        question: str,
        yes: bool,
        answers: JSONObject | None = None,
    ) -> CallOutcome:
        """What came of a question, exactly once; `question` is the name under which it was put,
        `step` the very call that it has to be about, None for whoever knows its name alone;
        `answers` are what the function is told. Raises Gone where nobody waits for it, it asked
        about another call, or its card was shown and never put as a question."""
        confirmation_id = question.partition("-")[0]
        ask = ask._replace(request_id=confirmation_id)
        state = await self._reader.read(ask, self._limits)
        if state.refusal:
            raise state.refusal
        found = state.memory.asked(confirmation_id)
        if step:
            step = replace(step, arguments=conform_arguments(state, step, step.arguments))
        elif found and len(own := cards.steps(found[1])) == 1:
            [step] = own
        else:  # a card of several calls was never put as a question
            raise gone_error()
        if earlier := state.memory.answered(confirmation_id):
            return _answer_of(earlier, state, step)
        if found is None or not _is_about(found[1], step) or question_of(found[1]) != question:
            raise gone_error()
        async with self._proposals.answering(state, confirmation_id, yes) as state:
            if state.proposal is None:
                if earlier := state.memory.answered(confirmation_id):
                    return _answer_of(earlier, state, step)
                raise gone_error()
            return await self._run_answer(state, step, answers)

    async def _run_answer(
        self, state: TurnContext, step: Step, answers: JSONObject | None
    ) -> CallOutcome:
        """The question is ours alone now: run what it asked about, or forget it, and record."""
        card = state.proposal.accepted if state.proposal else None
        if card is None:
            await self._recorder.record(state, Output(messages.refused_text(state.language)))
            return _nothing_done(step, state)
        extra = {ANSWERS: answers} if answers else {}
        steps = [replace(s, arguments={**s.arguments, **extra}) for s in cards.steps(card)]
        state = replace(state, request_id=card.confirmation_id)
        state = await self._runner.run_confirmed(state, steps)
        outcomes = list(state.new_outcomes.values())
        text = messages.outcome_text(state, outcomes)
        await self._recorder.record(state, Output(text, "ok" if outcomes[-1].ok else "error"))
        return outcomes[-1]


def question_of(pending: PendingConfirmation) -> str:
    """The name of a question for a client that is to put it to its user: the card's id, and a mark
    that nobody knows who was only shown the card."""
    mark = digest("elicited", pending.confirmation_id, pending.request_id)
    return f"{pending.confirmation_id}-{mark}"


def _form(turn: Turn) -> str:
    """The request id of a turn's form: until a call of it has failed, the same."""
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
    """RequestConflict where the question of this request was about another call; what its function
    asked may be answered with this one."""
    if earlier := state.memory.answered(state.request_id):
        known = {*earlier.also, *(p.confirmation_id for p in earlier.waiting)}
        asked = replace(step, arguments={k: v for k, v in step.arguments.items() if k != ANSWERS})
        if known.isdisjoint(card_of(state, [s]).confirmation_id for s in (step, asked)):
            raise RequestConflict(
                "this request was used for another call: send a new one", field="request_id"
            )


def _is_about(pending: PendingConfirmation, step: Step) -> bool:
    which = (step.app_id, step.fn_name, step.arguments)
    return [(s.app_id, s.fn_name, s.arguments) for s in cards.steps(pending)] == [which]


def _answer_of(turn: Turn, state: TurnContext, step: Step) -> CallOutcome:
    """What a question that was answered came to, as its turn remembers it."""
    which, known = (step.app_id, step.fn_name), recall(turn, state.catalogue, state.masker)
    if made := [o for o in known if (o.app_id, o.fn_name) == which]:
        return replace(made[-1], repeated=True, summary=turn.reply)
    if not (ran := turn.response.get("calls", [])):
        return _nothing_done(step, state)
    if ran[-1]["status"] == "ok":  # it returned nothing to remember
        return _outcome(step, "ok", data={}, summary=turn.reply, repeated=True)
    code = str(ran[-1].get("error_code", ""))
    return _outcome(step, "error", error=turn.reply, error_code=code)


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
