"""Classifier: the first model call of a turn. Reads the prompt, decides which functions to call
with which arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..base.metrics import record, timed, tokens
from ..catalogue import FunctionInfo
from ..llm.protocol import Model, ModelRequest, ModelResponse
from ..llm.tools import tool_spec
from ..values import CallOutcome, Plan
from . import planner
from .prompt import Problem, Prompt, problems_block
from .results_block import results_block

MAX_ROUNDS = 3
"""Times the classifier is asked in one turn: once, and at most twice to repair or to go on."""


class Classifier:
    """Asks a model and reads its answer."""

    def __init__(self, model: Model) -> None:
        self._model = model

    @timed("ClassifyMs")
    async def decide(
        self,
        prompt: Prompt,
        functions: Sequence[FunctionInfo],
        *,
        language: str,
        timeout_s: float,
        problems: Sequence[Problem] = (),
        outcomes: Mapping[int, CallOutcome] | None = None,
    ) -> tuple[Plan, tuple[Problem, ...], ModelResponse]:
        """A plan, what is wrong with it, and the raw answer. Later rounds add the problems and the
        results so far (as models may see them)."""
        outcomes = outcomes or {}
        blocks = [prompt.text]
        if outcomes:
            blocks.append(results_block(outcomes))
        if problems:
            blocks.append(problems_block(problems))
        request = ModelRequest(
            role="classifier",
            system=prompt.system,
            prompt="\n".join(blocks),
            tools=tuple(tool_spec(f) for f in functions),
            timeout_s=timeout_s,
            language=language,
        )
        record("PromptCharacters", len(request.prompt))
        response = await self._model.complete(request)
        tokens(
            response.usage.input_tokens, response.usage.cached_tokens, response.usage.output_tokens
        )
        plan, found = planner.plan(response, functions, first=max(outcomes, default=-1) + 1)
        return plan, found, response
