"""Classifier: the model that decides. Reads the prompt and what came of its earlier answers, says
which functions to call with which arguments."""

from __future__ import annotations

from ..base.metrics import record, timed, tokens
from ..llm.protocol import Model, ModelRequest
from . import planner
from .state import TurnState

SHARE = 0.6
"""Part of the time left that one question to the classifier may take: calls and narrator need the
rest."""


class Classifier:
    """Asks a model and reads its answer."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @timed("ClassifyMs")
    async def ask(self, state: TurnState) -> TurnState:
        """The state with the model's next answer. A later round's prompt is the one before it with
        what came of the last answer appended. Raises ModelUnavailable."""
        opening = state.prompt.text
        request = ModelRequest(
            role="classifier",
            system=state.prompt.system,
            prompt="\n".join([opening, *(e.flat for e in state.exchanges)]),
            tools=state.tools,
            timeout_s=state.left() * SHARE,
            language=state.language,
            opening=opening,
            exchanges=state.exchanges,
        )
        record("PromptCharacters", len(request.prompt))
        record("ModelCalls")
        response = await self._model.complete(request)
        used = response.usage
        tokens(used.input_tokens, used.cached_tokens, used.output_tokens)
        answer = planner.read(response, state.functions, first=state.planned)
        return state.with_answer(answer, used.paid)
