"""Dispatch: the calls of a turn, checked by the guards and the consent policy, sent, and repeated
only if an earlier outcome cannot be reused."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from .. import language
from ..catalogue import Catalogue, Dispatch, FunctionInfo, PerObject
from ..errors import CallError, DispatchUnanswered, KernelError, RequestConflict, no_app
from ..guards import ids
from ..guards.arguments import conform, values_of
from ..guards.consent import Basis, Rule, needs_consent
from ..guards.references import References
from ..guards.result_records import CallData
from ..guards.sinks import GuardedCall
from ..guards.user_words import QUESTION_MARKS, UserWords, without_files
from ..observability import correlation_id, record_duration, span
from ..stores.types import RING_SIZE
from ..types import (
    NOT_RUN,
    CallOutcome,
    CallRequest,
    JSONObject,
    Step,
    UserKey,
    failed_outcome,
    user_dict,
)
from . import confirmation
from .plan import UnresolvedReference, next_wave, references, resolve_refs
from .results_block import MISSING, REFUSED, TIMEOUT, is_refused, shown_arguments, shown_result
from .session_memory import resolve, unmask
from .turn_context import TurnContext

if TYPE_CHECKING:
    from ..stores.dynamodb.sessions import AcceptedStore

NOT_PLANNED = "another call of the same answer was refused: mend that, then plan this one again"


@dataclass(frozen=True)
class StepRunner:
    """Guards, binds and runs steps."""

    dispatch: Dispatch
    call_seconds: float
    consent: Consent

    @record_duration("CallsMs")
    async def run(self, state: TurnContext, steps: Sequence[Step]) -> TurnContext:
        """Run steps in order, independent reads concurrently; a failed one stops only its
        dependents. A step that needs consent is validated with real arguments and becomes pending,
        with its dependents and all later effects, so that the planned order is kept.

        After a step that the guards refuse, later effects wait for a corrected plan; reads run.
        """
        state = state.with_outcomes(self._refusals(state, steps))
        while not state.ask.follower.is_stopped and (
            wave := next_wave(steps, state.outcomes, state.pending)
        ):
            state = await self._run_wave(state, wave, steps)
        # what has neither ended nor waits itself refers to what waits
        behind = [s for s in steps if s.index not in {*state.outcomes, *state.pending}]
        if state.pending and not state.ask.follower.is_stopped:
            return state.with_pending(after=behind)
        return state

    async def _run_wave(
        self, state: TurnContext, wave: Sequence[Step], plan: Sequence[Step]
    ) -> TurnContext:
        """Run these steps of a plan concurrently; those that need consent become pending."""
        bound = [self._bind(state, step) for step in wave]
        ready = [b for b in bound if isinstance(b, Step)]
        known = [b for b in bound if isinstance(b, CallOutcome)]
        waits = await self._need_consent(state, ready, plan)
        ended = await asyncio.gather(*[self._send(state, s) for s in ready if s.index not in waits])
        state = state.with_outcomes(known, are_known=True).with_outcomes(ended)
        return await self._add_pending(state, [s for s in ready if s.index in waits])

    async def _add_pending(self, state: TurnContext, steps: Sequence[Step]) -> TurnContext:
        """Make these steps pending; those that fail validation are finished with an error."""
        if not steps:
            return state
        checks = await asyncio.gather(*(self.check(state, step) for step in steps))
        wrong = {outcome.step: outcome for outcome in checks if not outcome.ok}
        state = state.with_outcomes(wrong.values())
        return state.with_pending([step for step in steps if step.index not in wrong])

    async def run_confirmed(self, state: TurnContext, steps: Sequence[Step]) -> TurnContext:
        """Run exactly these approved calls, without a model. Each keeps the claim of its number in
        the turn that planned it, and takes a free number in this one."""
        for step in steps:
            if state.ask.follower.is_stopped:
                return state
            given = conform_arguments(state, step)
            outcome = await self._send(state, replace(step, arguments=given), planned=False)
            free = step.index if step.index not in state.outcomes else state.planned
            state = state.with_outcomes([replace(outcome, step=free)])
        return state

    async def check(self, state: TurnContext, step: Step) -> CallOutcome:
        """Validate a call's arguments without running it."""
        request = replace(self._request(state, step), kind="check")
        return await self._outcome(state, step, request)

    def _refusals(self, state: TurnContext, steps: Sequence[Step]) -> list[CallOutcome]:
        """Steps that the guards refuse, and effects after one that a better plan can correct."""
        found: list[CallOutcome] = []
        # a call that could not be read may have belonged before the effects that could
        waits = bool(state.last_answer.problems)
        for step in steps:
            try:
                check_guards(state, step)
            except CallError as error:
                found.append(self._not_called(state, step, error))
                waits = waits or error.code in REFUSED
            else:
                if waits and step.has_effect:
                    found.append(self._not_called(state, step, NOT_PLANNED))
        return found

    async def _need_consent(
        self, state: TurnContext, ready: Sequence[Step], plan: Sequence[Step]
    ) -> frozenset[int]:
        """The numbers of the calls that need consent."""
        waits = await self.consent(state, ready, planned=plan)
        if state.pending or waits:  # what is planned behind an effect that waits, waits with it
            waits |= {s.index for s in ready if s.has_effect}
        return waits

    def _bind(self, state: TurnContext, step: Step) -> Step | CallOutcome:
        """The step with placeholders and references resolved, or an outcome: that of an earlier
        identical call, or an error.

        Placeholders first: text in results that looks like one must not be replaced.
        """
        try:
            given = step.arguments
            bound = resolve_refs(resolve(given, state.masker), state.outcomes) if given else {}
        except (CallError, UnresolvedReference) as error:
            return self._not_called(state, step, error)
        step = replace(step, arguments=bound)
        step = replace(step, arguments=conform_arguments(state, step))
        first = previous_outcome(state, step)
        return replace(first, step=step.index, repeated=True) if first else step

    def _not_called(
        self, state: TurnContext, step: Step, why: CallError | UnresolvedReference | str
    ) -> CallOutcome:
        """The outcome of a call that was not made, with its problem if a guard refuses it."""
        request, kind = self._request(state, step), step.action_type
        if isinstance(why, CallError):
            problems = ({"field": why.field, "problem": str(why), "limit": ""},)
            return failed_outcome(request, why.code, str(why), action_type=kind, problems=problems)
        text = f"{step.fn_name} was not called: {why}"
        given = {k: v for k, v in step.arguments.items() if not references(v)}
        outcome = failed_outcome(request, MISSING, text, action_type=kind, fate=NOT_RUN)
        return replace(outcome, arguments=unmask(given, state.masker))

    def _request(self, state: TurnContext, step: Step, *, planned: bool = True) -> CallRequest:
        return CallRequest(
            kind="function",
            user=user_dict(replace(state.ask.user, language=state.language)),
            app_id=step.app_id,
            name=step.fn_name,
            arguments=step.arguments,
            session_id=state.ask.session_id,
            request_id=state.request_id,
            step=step.index,
            deadline_s=min(self.call_seconds, state.seconds_left()),
            correlation_id=correlation_id(),
            # a model asked again may word arguments otherwise: its calls are claimed by count
            nth=len(_runs_of(state, step)) if planned else None,
        )

    async def _send(self, state: TurnContext, step: Step, *, planned: bool = True) -> CallOutcome:
        """The call's outcome, reported to the follower."""
        request = self._request(state, step, planned=planned)
        if not state.ask.follower.has_reader:
            return await self._outcome(state, step, request)
        app = state.catalogue.name(step.app_id, state.language)
        function = state.catalogue.function(step.app_id, step.fn_name)
        given = shown_arguments(function, request.arguments)
        state.ask.follower.call("call.started", step, app, given)
        outcome = await self._outcome(state, step, request)
        state.ask.follower.call("call.ended", step, app, shown_result(outcome))
        return outcome

    async def _outcome(self, state: TurnContext, step: Step, request: CallRequest) -> CallOutcome:
        """The call's outcome with its arguments. Raises KernelError if nothing has run yet, so that
        the whole request can be retried."""
        try:
            with span("call", f"{request.app_id}.{request.name}"):
                outcome = await self.dispatch.call(request)
        except RequestConflict:
            raise
        except KernelError as error:
            is_lost = step.has_effect and isinstance(error, DispatchUnanswered)
            # nothing has happened in this turn: whoever asked may try all of it again
            if not state.has_run and not is_lost:
                raise
            text = (
                "did not report back: check whether it was done before asking again"
                if is_lost
                else "was not run: retry later"
            )
            outcome = failed_outcome(
                request, "BACKEND_5XX", f"{step.fn_name} {text}", retryable=not is_lost
            )
        # an effect whose time was up may have happened: nobody is told to repeat it
        is_retryable = outcome.retryable and not (step.has_effect and outcome.error_code == TIMEOUT)
        return replace(
            outcome,
            action_type=step.action_type,
            arguments=request.arguments,
            step=step.index,
            retryable=is_retryable,
        )


def conform_arguments(state: TurnContext, step: Step) -> JSONObject:
    """The step's arguments as shown on the card and sent to the app: declared ones only, dates in
    words ("tomorrow at 10") as ISO 8601."""
    given = step.arguments
    function = state.catalogue.function(step.app_id, step.fn_name) if given else None
    if function is None:
        return given
    return conform(given, function.input_schema, state.language, state.now)


def check_guards(state: TurnContext, step: Step) -> None:
    """Run all guards on a planned step: known, installed, permitted, real ids, no placeholders.
    Raises CallError."""
    function = usable_function(state.catalogue, state.installed, step.app_id, step.fn_name)
    if given := {k: v for k, v in step.arguments.items() if not references(v)}:
        literal, others = resolve(given, state.masker), state.catalogue.functions([step.app_id])
        ids.check_ids(literal, function, state.known_ids, others)
        ids.check_placeholders(literal)


MAX_TRIES = 3
"""Maximum runs of a transiently failing call in one turn."""


def previous_outcome(state: TurnContext, step: Step) -> CallOutcome | None:
    """The outcome of an earlier identical call that can be reused, or None.

    A read is repeated after any change. Effects and failures are repeated only if a later answer of
    the model changed something. A retryable failure is repeated up to three times, but not a
    timeout.
    """
    normal = state.catalogue.explicit
    given = normal(step)
    same = [(number, o) for number, o in _runs_of(state, step) if normal(o) == given]
    if not same:
        return None
    number, outcome = same[-1]
    is_transient = outcome.retryable and outcome.error_code != TIMEOUT
    if (is_transient and len(same) < MAX_TRIES) or _changed_since(state, number, outcome):
        return None
    return outcome


def _runs_of(state: TurnContext, step: Step) -> list[tuple[int, CallOutcome]]:
    """The earlier calls of the step's function in this turn, in order."""
    return [
        (number, o)
        for number, o in state.own_outcomes.items()
        if (o.app_id, o.fn_name) == (step.app_id, step.fn_name)
        and number != step.index
        and not is_refused(o)
    ]


def _changed_since(state: TurnContext, number: int, outcome: CallOutcome) -> bool:
    """Whether a relevant later call has changed something."""
    effects = [i for i, o in state.own_outcomes.items() if i > number and o.has_changed]
    if outcome.ok and outcome.action_type == "read":
        return bool(effects)
    return any(state.round_of[i] > state.round_of[number] for i in effects)


def usable_function(
    catalogue: Catalogue, apps: Collection[str], app_id: str, fn_name: str
) -> FunctionInfo:
    """The function, if its app is installed. Raises CallError UNKNOWN_TOOL, UNKNOWN_SUB_FUNCTION or
    PERMISSION_DENIED. Scopes are checked where the call runs."""
    app = catalogue.apps.get(app_id)
    if app is None or app.error:
        raise no_app(app_id, is_broken=app is not None)
    function = catalogue.function(app_id, fn_name)
    if function is None:
        why = app.withdrawn.get(fn_name, "")
        told = f"{app_id} has no function {fn_name!r}{why and f': {why}'}"
        raise CallError("UNKNOWN_SUB_FUNCTION", told)
    if app_id not in apps:
        raise CallError("PERMISSION_DENIED", f"{app_id} is not installed for this user")
    return function


@dataclass(frozen=True)
class Consent:
    """Decides which calls need consent. `hosts` may be opened by reads without it."""

    accepted: AcceptedStore
    rule: Rule
    hosts: Sequence[str]

    async def __call__(
        self,
        state: TurnContext,
        calls: Sequence[Step],
        *,
        planned: Sequence[Step] = (),
        has_message: bool = True,
        schemes: Collection[str] = (),
    ) -> frozenset[int]:
        """The numbers of the steps that need consent; `planned` is the whole plan."""
        found = [pair for step in calls for pair in _concerned(state.catalogue, step)]
        if not found:
            return frozenset()
        records = replace(references_of(state), functions=[call.function for _, call in found])
        basis = self._basis(state, records, planned, has_message, schemes)
        waits = [(s, call) for s, call in found if needs_consent(call, basis)]
        if not waits:
            return frozenset()
        # what was accepted for good is only read if needed
        stored = await self._stored(state.ask.key.user, waits)
        basis = basis._replace(accepted=stored.union(basis.accepted))
        return frozenset(s.index for s, call in waits if needs_consent(call, basis))

    def _basis(
        self,
        state: TurnContext,
        records: References,
        planned: Sequence[Step],
        has_message: bool,
        schemes: Collection[str],
    ) -> Basis:
        # a choice's text was written by a model or an app, not by who picked it
        typed = "" if state.is_choice else records.words.texts[0]
        return Basis(
            message=typed,
            words=UserWords([records.words.texts[0], records.question], records.words.tag),
            records=records,
            typed=records.for_message(typed),
            # of earlier turns: a yes does not cover what is added behind it
            accepted={key for turn in state.memory.turns for key in turn.accepted},
            hosts=self.hosts,
            rule=self.rule,
            turn_values=values_of(state.outcomes.values()) | values_of(planned),
            has_message=has_message,
            schemes=schemes,
        )

    async def _stored(
        self, user: UserKey, calls: Iterable[tuple[Step, GuardedCall]]
    ) -> frozenset[str]:
        """The keys of destinations that were accepted permanently for these functions."""
        names = {f"{step.app_id}.{step.fn_name}" for step, _ in calls}
        read = (self.accepted.list(user, function=name) for name in names)
        return frozenset(one.key for found in await asyncio.gather(*read) for one in found)


def _concerned(catalogue: Catalogue, step: Step) -> Iterator[tuple[Step, GuardedCall]]:
    """The step with what it does, if the consent policy applies to it."""
    function = catalogue.function(step.app_id, step.fn_name)
    if function is None:
        return
    if step.has_effect or step.arguments or not _is_plain(function):
        call = GuardedCall(function, step.arguments)
        if step.has_effect or not call.is_plain_read:
            yield step, call


_is_plain: PerObject[FunctionInfo, bool] = PerObject(lambda f: GuardedCall(f, {}).is_plain_read)
"""Whether a call without arguments is a plain read: most reads are such."""


def references_of(state: TurnContext) -> References:
    """The records of results and facts, unmasked, with the user's words: the message, and the reply
    that a plain yes answers. The last reply's records do not count if the client shows another
    reply, or the message leaves a question open or is a plain no."""
    last = None if state.is_other_reply else state.memory.last
    texts, question, reply = [message := without_files(state.message)], "", ""
    if last and confirmation.is_agreement(state.message, last.reply):
        question = confirmation.question_of(last.reply)
        texts.append(last.reply)
    # a question, or a plain no, leaves open what the reply has shown
    is_asked = last and any(mark in message + last.reply for mark in QUESTION_MARKS)
    is_left_open = is_asked or confirmation.answer(message) is False
    if last and (question or not is_left_open):
        reply = "\n".join((last.reply, *last.shown))
    tag = language.detect(state.message, language.of(state.language).tag)
    return References(tuple(_call_data(state)), UserWords(texts, tag), reply, question)


def _call_data(state: TurnContext) -> Iterator[CallData]:
    for o in reversed(state.outcomes.values()):
        if o.ok:
            yield CallData(o.app_id, o.fn_name, o.data, 0, o.action_type)
    for ago, o in reversed(state.recalled):
        yield CallData(o.app_id, o.fn_name, o.data, ago, o.action_type)
        yield CallData(o.app_id, o.fn_name, o.arguments, ago, "")
    for section in state.sections:
        yield CallData(section.app_id, section.section, section.data, RING_SIZE)
