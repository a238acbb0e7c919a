"""Classify: the agent loop. The classifier is asked again with the results of its calls until it
calls nothing more, or a limit of rounds, time or tokens is reached.

Its text answers are streamed sentence by sentence as far as they are sourced. Shown text stays,
even if calls follow. Unsourced claims are reported back to the model.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from typing import TYPE_CHECKING, Literal, NamedTuple, cast

from .. import observability
from ..channels import skeleton
from ..clock import iso
from ..config import ModelOptions, Settings
from ..errors import ModelUnavailable
from ..language import of
from ..llm.offered_forms import form_call, forms_in
from ..llm.protocol import NO_TEXT, Growing, Hear, Model, ModelRequest, streamed
from ..observability import measure, record_duration
from ..types import JSON, JSONObject
from .cards import own_card, steps, waiting
from .confirmation import is_asking
from .dispatch import StepRunner
from .narrate import Narration, unsourced, verdict_of
from .plan import Answer, Problem, read_answer
from .results_block import is_refused
from .session_memory import undoable
from .stream import StreamingReply, TurnStopped
from .turn_context import TurnContext

if TYPE_CHECKING:
    from ..grounding import Evidence, Mark
    from ..stores.types import PendingConfirmation

RESERVE_S = 10.0
"""Seconds of the remaining time that a classifier request leaves for calls and narrator."""

SHARE = 0.6
"""Share of the remaining time that it may take, if that is more."""


@dataclass(frozen=True)
class Classifier:
    """Sends classifier requests and parses the answers."""

    model: Model
    options: ModelOptions

    @record_duration("ClassifyMs")
    async def ask(self, state: TurnContext) -> TurnContext:
        """The state with the model's next answer. A later round's prompt is the previous one with
        the last answer's results appended. Raises ModelUnavailable, TurnStopped."""
        opening = state.opening.prompt.text
        card = _open_card(state)
        request = ModelRequest(
            role="classifier",
            system=state.opening.prompt.system,
            prompt="\n".join([opening, *(e.flat for e in state.exchanges)]),
            max_tokens=self.options.answer_tokens,
            tools=state.visible_tools,
            timeout_s=max((left := state.seconds_left()) * SHARE, left - RESERVE_S),
            language=state.language,
            opening=opening,
            exchanges=state.exchanges,
            growing=_growing(state),
            undo=tuple(undoable(state.memory)),
            waiting=_waiting(state, card),
            on_card=card is not None,
        )
        measure("PromptCharacters", len(request.prompt))
        measure("ModelCalls")
        asked = streamed(self.model, request, answer_sink(state))
        response = await state.ask.follower.unless_stopped(asked)
        used = response.usage
        observability.count_tokens(used.input_tokens, used.cached_tokens, used.output_tokens)
        answer = read_answer(response, state.visible_functions, first=state.planned)
        return state.with_answer(answer, used.paid)


def _open_card(state: TurnContext) -> PendingConfirmation | None:
    """The last turn's card, if it is pending and the message does not answer it."""
    last = None if state.proposal else state.memory.last
    return own_card(last, waiting(last, state.now)) if last else None


def _waiting(
    state: TurnContext, card: PendingConfirmation | None
) -> tuple[tuple[str, JSONObject], ...]:
    """The calls of the last turn's card, or the call of its form; those of a larger card are not
    masked, since words may leave out one by its address."""
    last = state.memory.last
    if state.proposal or not last:
        return ()
    if card:
        calls = [(f"{s.app_id}__{s.fn_name}", s.arguments) for s in steps(card)]
    else:
        tree = None if state.is_other_reply else last.response.get("ui")
        calls = [*map(form_call, forms_in(tree))]
    if len(calls) > 1:
        return tuple(calls)
    return tuple((name, cast("JSONObject", state.masker.mask(given))) for name, given in calls)


def _growing(state: TurnContext) -> Growing | None:
    """How the tool list changes between the session's requests; None if it does not."""
    if not (opening := state.opening).shortlist.left_out:
        return None
    pairs = zip(opening.tools, state.visible_tools, strict=False)
    same = sum(1 for _ in takewhile(lambda pair: pair[0] is pair[1], pairs))
    before = same if state.rounds else opening.own + opening.shortlist.unchanged
    return Growing(opening.own, before, opening.prompt.apps)


MAX_REPAIRS = 2
"""Maximum consecutive answers without progress, each reported back to the model."""

LEAST_S = 4.0
"""Minimum remaining seconds for another round and the reply."""

HANDED_BACK = (
    "the results do not answer the message yet: call what is missing, or say that nothing is"
)

CONFIRMED = (
    "the user has said yes, and these are the results: do what is left of the message, or say that"
    " nothing is"
)

Limit = Literal["", "rounds", "tokens", "time", "model", "stopped"]


class LoopResult(NamedTuple):
    """The result of a turn's rounds.

    `text` is the classifier's text if it had nothing more to call; `resume`: more is planned after
    the pending approval; `limit`: what ended the rounds early; `can_continue`: the narrator may
    hand back; `offer`: the UI tree below the text; `is_open`: another round follows.
    """

    state: TurnContext
    text: str = ""
    resume: bool = False
    limit: Limit = ""
    can_continue: bool = False
    offer: JSONObject | None = None
    is_open: bool = False


@dataclass(frozen=True)
class AgentLoop:
    """The loop of a turn."""

    classifier: Classifier
    runner: StepRunner
    settings: Settings

    async def run(self, state: TurnContext, note: str = "") -> LoopResult:
        """Run rounds until they end; `note` is appended for the classifier with the results that it
        has not seen. Raises ModelUnavailable if no call has run."""
        if note:
            state = state.with_results(note)
        if state.ask.follower.has_reader and state.plain_reply is None:
            state = replace(state, plain_reply=StreamingReply(None, state.say))
        fruitless = 0  # consecutive answers without progress
        while not (limit := self.limit(state)):
            before = _progress(state)
            result = await self._round(state)
            state = result.state
            if state.ask.follower.is_stopped:
                return LoopResult(state, limit="stopped")
            if not result.is_open:
                # dependents of a pending call can only be planned after its approval
                return result._replace(resume=bool(state.dependent) or result.resume)
            fruitless = 0 if _progress(state) != before else fruitless + 1
            if fruitless > MAX_REPAIRS:
                return LoopResult(state, _cut_off_text(state), resume=True)
            state = state.with_results()
        return LoopResult(state, limit=limit, resume=True)

    async def _round(self, state: TurnContext) -> LoopResult:
        """Get the classifier's next answer and do what it says."""
        try:
            state = await self.classifier.ask(state)
        except TurnStopped:
            return LoopResult(state, limit="stopped")
        except ModelUnavailable:
            if not state.has_run:  # the whole request can be retried
                raise
            return LoopResult(state, limit="model")
        return await self._follow(state)

    def limit(self, state: TurnContext) -> Limit:
        """The limit that forbids another round, or empty. The first round is always allowed."""
        # also with no time left: the turn then ends with a sentence that says so
        if not state.rounds:
            return ""
        if state.rounds >= self.settings.max_rounds:
            return "rounds"
        if state.tokens >= self.settings.turn_tokens:
            return "tokens"
        return "time" if state.deadline - time.monotonic() < LEAST_S else ""

    async def _follow(self, state: TurnContext) -> LoopResult:
        """Do what the last answer says: searches, calls, or nothing more."""
        answer = state.last_answer
        if answer.searches or answer.problems:
            state, answer = state.with_searches()
            if not answer.steps:
                return LoopResult(state, is_open=True)
        if answer.steps:
            before = _progress(state)
            return _result_of(await self.runner.run(state, answer.steps), answer, before)
        text = answer.text
        # after calls the narrator writes the reply
        if is_asking(text) or not state.has_run:  # the user would read this text
            if wrong := reply_problems(text, state):
                return LoopResult(state.with_problems(wrong), is_open=True)
        if answer.is_cut_off:  # the user is told that it is incomplete
            text = f"{text} …\n\n{_cut_off_text(state)}"
        return LoopResult(state, text=text, resume=True, offer=answer.response.offer)


def _cut_off_text(state: TurnContext) -> str:
    """The reason that the last answer was unusable, if it was cut off; else empty."""
    return of(state.language).cause("cut_off") if state.last_answer.is_cut_off else ""


def _progress(state: TurnContext) -> tuple[object, ...]:
    """What a turn has reached: calls that ran, calls to propose, tools found. A repeated call
    counts for nothing, or a model could repeat itself until the limit."""
    ran = sum(not is_refused(o) for o in state.own_outcomes.values())
    return ran, state.pending and len(state.proposed_calls), state.found_tools


def _result_of(state: TurnContext, answer: Answer, before: tuple[object, ...]) -> LoopResult:
    """How the loop continues after a plan's calls. Pending ones are proposed together when nothing
    more can be planned; `before` is the progress before this plan."""
    own = [o for n, o in state.outcomes.items() if n in answer.numbers]
    progress = _progress(state) != before
    # refused by a guard: the model may correct it
    has_refusals = bool(answer.problems) or any(map(is_refused, own))
    failed = not all(o.ok for o in own)
    more = has_refusals or None in answer.numbers or (progress and failed)
    # without progress, pending calls are proposed instead
    is_open = more and (progress or not state.pending)
    return LoopResult(state, can_continue=progress, resume=more, is_open=is_open)


def answer_sink(state: TurnContext) -> Hear | None:
    """The sink for the classifier's next answer, which may be the reply itself; None without a
    reader, or after calls. Evidence is built at the first piece."""
    plain = state.plain_reply
    if plain is None or state.has_run:
        return None
    plain.begin()

    def hear(piece: str) -> None:
        plain.evidence = plain.evidence or evidence_of(state)
        plain.hear(piece)

    return hear


def reply_problems(text: str, state: TurnContext) -> tuple[Problem, ...]:
    """The unsourced values of a text answer, as a problem for the model; once a turn, later ones
    are marked."""
    marks = () if state.is_rechecked else _marks(text, state)
    if not marks:
        return ()
    return (Problem("", "reply", f"not in the data: {', '.join(unsourced(marks))}"),)


def check_answer(text: str, state: TurnContext) -> Narration:
    """A text answer, which rests on the prompt alone, with its unsourced values marked, and the
    kernel's additions; its own sentence for an empty one."""
    # a first answer without calls was looked up already, and told back where it has no source
    is_new = state.is_rechecked or state.has_run or text != state.last_answer.text
    marks = _marks(text, state) if is_new else ()
    is_silent = state.last_answer.response.stop_reason == NO_TEXT
    text = text or of(state.language).say("nothing_asked" if is_silent else "gave_up")
    return Narration(text, marks=marks).with_list_sizes(state.language)


def _marks(text: str, state: TurnContext) -> tuple[Mark, ...]:
    return verdict_of(text, evidence_of(state)).marks if text else ()


def evidence_of(state: TurnContext) -> Evidence:
    """The evidence for a text answer: skeleton, facts, results, the user's messages and the apps'
    texts."""
    from ..grounding import Call, Evidence

    data: list[JSON] = [skeleton.visible(s.data) for s in state.sections if s.data]
    digests = chain.from_iterable(turn.digests for turn in state.memory.turns)
    data += [json.loads(d.data_facts_json) for d in digests if d.data_facts_json]
    # the answer speaks in placeholders, so what it is held against has to as well
    if state.gate:
        data = [state.gate.mask(one) for one in data]
    return Evidence(
        (*(Call(data=one) for one in data), *state.masked_calls()),
        state.message,
        "\n".join([state.policy, *_app_texts(state), state.opening.prompt.skeleton]),
        identities=tuple(t.message for t in state.memory.turns),
        language=state.language,
        now=iso(state.now),
        mode=state.grounding,
    )


def _app_texts(state: TurnContext) -> Iterator[str]:
    """The descriptions of apps and functions."""
    for app in state.catalogue.apps.values():
        yield f"{app.app_id} {app.display_name} {app.description} {app.rules}"
    for function in state.visible_functions:
        yield from (function.description, *function.examples)
