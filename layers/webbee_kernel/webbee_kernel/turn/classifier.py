"""Classifier: the model that decides. Reads the prompt and what came of its earlier answers, says
which functions to call with which arguments."""

from __future__ import annotations

from dataclasses import replace

from ..base import metrics
from ..base.metrics import measure, timed
from ..errors import ModelUnavailable
from ..llm.options import PLAIN, ModelOptions
from ..llm.protocol import Model, ModelRequest
from ..llm.streaming import streamed
from . import planner
from .state import TurnState
from .window import refused_at, tokens, tool_tokens

TRIES = 3
"""Times a prompt that is too long is sent, ever shorter."""

LEAST_WINDOW = 1_500
"""Tokens below which no prompt of the kernel makes sense."""

RESERVE_S = 10.0
"""Seconds of the time left that one question to the classifier leaves to calls and narrator, and
the most of a short time that it leaves."""

SHARE = 0.6
"""Part of the time left that it may take where that is more."""


class Classifier:
    """Asks a model and reads its answer."""

    def __init__(self, model: Model, options: ModelOptions = PLAIN) -> None:
        self._model = model
        self._output_tokens = options.answer_tokens
        self._window = 0
        """What refusals have told of the window; 0 while there was none."""

    @timed("ClassifyMs")
    async def ask(self, state: TurnState) -> TurnState:
        """The state with the model's next answer. A later round's prompt is the one before it with
        what came of the last answer appended. A model that refuses a prompt as too long is asked
        again with what it can read. Raises ModelUnavailable, TurnStopped."""
        for left in reversed(range(TRIES)):
            state = self._within(state)
            try:
                return await self._ask(state)
            except ModelUnavailable as error:
                if error.cause != "window" or not left:
                    raise
                self._window = refused_at(error.words, _sent(state))
                if self._window < LEAST_WINDOW:
                    raise
        raise AssertionError("unreachable")

    def _within(self, state: TurnState) -> TurnState:
        """The state whose prompt goes into what the model has been found to read, beside an answer
        and what the turn has said already."""
        told = sum(tokens(e.flat) for e in state.exchanges)
        room = self._window - self._answer_tokens - told
        if not self._window or (state.window and state.window <= room):
            return state
        return replace(state, window=max(1, room))

    @property
    def _answer_tokens(self) -> int:
        small = self._window // 4
        return min(self._output_tokens, small) if self._window else self._output_tokens

    async def _ask(self, state: TurnState) -> TurnState:
        opening = state.prompt.text
        request = ModelRequest(
            role="classifier",
            system=state.prompt.system,
            prompt="\n".join([opening, *(e.flat for e in state.exchanges)]),
            tools=state.offered_tools,
            max_tokens=self._answer_tokens,
            timeout_s=_patience(state.left()),
            language=state.language,
            opening=opening,
            exchanges=state.exchanges,
            growing=state.growing,
        )
        measure("PromptCharacters", len(request.prompt))
        measure("ModelCalls")
        hear = None
        if state.follower.reads_along and not state.ran:  # behind calls the narrator speaks
            state.plain.begin(state)
            hear = state.plain.hear
        asked = streamed(self._model, request, hear)
        response = await state.follower.unless_stopped(asked)
        used = response.usage
        metrics.tokens(used.input_tokens, used.cached_tokens, used.output_tokens)
        answer = planner.read(response, state.offered, first=state.planned)
        return state.with_answer(answer, used.paid)


def _sent(state: TurnState) -> int:
    """About how many tokens were sent."""
    said = "".join([state.prompt.system, state.prompt.text, *(e.flat for e in state.exchanges)])
    return tokens(said) + tool_tokens(state.offered_tools)


def _patience(left: float) -> float:
    """Seconds a question may take: all that the turn has left, but for what calls and reply
    need."""
    return max(left * SHARE, left - RESERVE_S)
