"""Rounds: ask the classifier, run what it plans, tell it what came of it, ask again – until it is
done, asks the user, or rounds, tokens or time end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..errors import ModelUnavailable
from ..language.causes import sentence
from ..llm.completions import CUT_OFF
from ..values import JSONObject, Step
from .calls import Ran, StepRunner
from .classifier import Classifier
from .confirmation import asks
from .following import TurnStopped
from .planner import Answer
from .prompt import Problem
from .results_block import refused
from .state import TurnState
from .unfounded import unfounded

MAX_REPAIRS = 2
"""Answers in a row that may bring nothing to run, told back each time, before the turn gives up."""

LEAST_S = 4.0
"""Seconds that another round and the reply need: with less left no further round begins."""

HANDED_BACK = (
    "the results do not answer the message yet: call what is missing, or say that nothing is"
)

CONFIRMED = (
    "the user has said yes, and these are the results: do what is left of the message, or say that"
    " nothing is"
)

Limit = Literal["", "rounds", "tokens", "time", "model", "stopped"]


@dataclass(frozen=True, slots=True)
class Ended:
    """How far a turn's rounds came.

    `text` are the classifier's own words where it had nothing more to call; `resume` says that
    more is to be done behind what waits for a yes; `limit` what ended the rounds before the
    classifier did; `may_go_on` says that the classifier expects its calls to answer the
    message, so that the narrator may hand back; `offer` is what is drawn below its words.
    """

    state: TurnState
    text: str = ""
    resume: bool = False
    limit: Limit = ""
    may_go_on: bool = False
    offer: JSONObject | None = None

    @property
    def held(self) -> tuple[Step, ...]:
        """The steps that wait for a yes, all on one card."""
        return self.state.proposed


class Rounds:
    """The loop of a turn."""

    def __init__(
        self, classifier: Classifier, runner: StepRunner, *, max_rounds: int, max_tokens: int
    ) -> None:
        self._classifier = classifier
        self._runner = runner
        self._max_rounds = max_rounds
        self._max_tokens = max_tokens

    async def go(self, state: TurnState, note: str = "") -> Ended:
        """Rounds from here to their end; `note` is said to the classifier first, with the results
        it has not seen. Raises ModelUnavailable while nothing has happened."""
        if note:
            state = state.with_said(note)
        fruitless, behind = 0, False
        while not (limit := self.limit(state)):
            round_ = await self._round(state)
            state, behind = round_.state, behind or round_.behind
            if state.follower.stopped:
                return Ended(state, limit="stopped")
            if round_.ended:
                return replace(round_.ended, resume=behind or round_.ended.resume)
            fruitless = 0 if round_.progress else fruitless + 1
            if fruitless > MAX_REPAIRS:
                return Ended(state, resume=True)
            state = state.with_said()
        return Ended(state, limit=limit, resume=True)

    async def _round(self, state: TurnState) -> _Round:
        """The classifier's next answer, run."""
        try:
            state = await self._classifier.ask(state)
        except TurnStopped:
            return _Round(state)
        except ModelUnavailable:
            if not state.ran:  # the whole request can be retried
                raise
            return _Round(state, Ended(state, limit="model"))
        return await self._run(state)

    def limit(self, state: TurnState) -> Limit:
        """What forbids another round; empty where nothing does. A turn's first round always may."""
        if not state.rounds:
            return ""
        if state.rounds >= self._max_rounds:
            return "rounds"
        if state.tokens >= self._max_tokens:
            return "tokens"
        return "time" if state.deadline - time.monotonic() < LEAST_S else ""

    async def _run(self, state: TurnState) -> _Round:
        """Run the classifier's last answer."""
        answer = state.unsaid
        assert answer is not None
        plan = answer.plan
        if answer.searches or answer.problems:
            before = state.found
            state, answer = state.with_searches()
            if not plan.steps:
                return _Round(state, progress=state.found != before)
        if not plan.steps:
            if wrong := _wrong(state, plan.text):
                return _Round(state.with_problems(wrong))
            text = plan.text
            if answer.response.stop_reason == CUT_OFF:  # never delivered as whole
                text = f"{text} …\n\n{sentence('cut_off', state.language)}"
            return _Round(state, Ended(state, text=text, resume=True, offer=answer.response.offer))
        waiting = len(state.proposed)
        return _read(await self._runner.run(state, plan.steps), answer, waiting)


def _read(ran: Ran, answer: Answer, waiting: int) -> _Round:
    """What a plan's calls mean for the rounds. Those that wait for a yes are asked about together
    when nothing more can be planned; `waiting` is how many did before."""
    state, plan = ran.state, answer.plan
    numbers = sorted({s.index for s in plan.steps} & state.outcomes.keys())
    mine = [state.outcomes[n] for n in numbers]
    unmended = bool(answer.problems) or any(map(refused, mine))
    failed = not all(o.ok for o in mine)
    progress = _is_new(state, numbers) or len(state.proposed) > waiting
    more = unmended or plan.go_on or (progress and failed)
    if more and (progress or not state.held):
        return _Round(state, progress=progress, behind=ran.behind)
    return _Round(state, Ended(state, may_go_on=progress, resume=more), behind=ran.behind)


def _is_new(state: TurnState, numbers: Sequence[int]) -> bool:
    """Whether any of these calls ran, rather than being refused or answered from an earlier one."""
    return any(not refused(state.outcomes[n]) for n in numbers if n not in state.echoes)


@dataclass(frozen=True, slots=True)
class _Round:
    """The state after one answer, how the rounds ended if they did, whether anything new ran or
    waits, and whether a call needs the result of one that waits."""

    state: TurnState
    ended: Ended | None = None
    progress: bool = False
    behind: bool = False


def _wrong(state: TurnState, text: str) -> tuple[Problem, ...]:
    """What is wrong with the classifier's words where the user would read them: as the only answer,
    or as a question."""
    return unfounded(text, state) if asks(text) or not state.ran else ()
