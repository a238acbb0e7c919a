"""Classifier: the model that decides. Reads the prompt and what came of its earlier answers, says
which functions to call with which arguments."""

from __future__ import annotations

from ..base.metrics import measure, timed, tokens
from ..llm.protocol import Model, ModelRequest
from ..llm.streaming import streamed
from . import planner
from .state import TurnState

RESERVE_S = 10.0
"""Seconds of the time left that one question to the classifier leaves to calls and narrator, and
the most of a short time that it leaves."""

SHARE = 0.6
"""Part of the time left that it may take where that is more."""


class Classifier:
    """Asks a model and reads its answer."""

    def __init__(self, model: Model, output_tokens: int) -> None:
        self._model = model
        self._output_tokens = output_tokens

    @timed("ClassifyMs")
    async def ask(self, state: TurnState) -> TurnState:
        """The state with the model's next answer. A later round's prompt is the one before it with
        what came of the last answer appended. Raises ModelUnavailable, TurnStopped."""
        opening = state.prompt.text
        request = ModelRequest(
            role="classifier",
            system=state.prompt.system,
            prompt="\n".join([opening, *(e.flat for e in state.exchanges)]),
            tools=state.offered_tools,
            max_tokens=self._output_tokens,
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
        tokens(used.input_tokens, used.cached_tokens, used.output_tokens)
        answer = planner.read(response, state.offered, first=state.planned)
        return state.with_answer(answer, used.paid)


def _patience(left: float) -> float:
    """Seconds a question may take: all that the turn has left, but for what calls and reply
    need."""
    return max(left * SHARE, left - RESERVE_S)
