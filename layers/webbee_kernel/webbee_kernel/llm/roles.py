"""One model per role, and what each request cost, as a log line and as CloudWatch metrics."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping

from ..errors import ModelUnavailable
from ..observability import measure_model
from .protocol import Model, ModelRequest, ModelResponse, ModelRole, Usage
from .streaming import Hear, streamed
from .watched import watched

_log = logging.getLogger("webbee.model")


class RoleModels:
    """Hands each request to its role's model and measures it."""

    def __init__(self, models: Mapping[ModelRole, Model]) -> None:
        self._models = dict(models)
        names = {role: model.name for role, model in self._models.items()}
        same = len(set(names.values())) == 1
        self.name = (
            next(iter(names.values()))
            if same
            else ", ".join(f"{role}={name}" for role, name in names.items())
        )

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Answer by the model of `request.role`."""
        return await self._measured(request, None)

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """The same, heard while it comes where that model can."""
        return await self._measured(request, hear)

    async def _measured(self, request: ModelRequest, hear: Hear | None) -> ModelResponse:
        model = self._models[request.role]
        started = time.perf_counter()
        try:
            response = await watched(model.name, request, streamed(model, request, hear))
        except ModelUnavailable:
            _measure(request.role, model.name, started, {"ModelErrors": 1})
            raise
        _measure(request.role, model.name, started, _tokens(response.usage), response.stop_reason)
        return response


def _tokens(usage: Usage) -> dict[str, int]:
    return {
        "InputTokens": usage.input_tokens,
        "CachedTokens": usage.cached_tokens,
        "OutputTokens": usage.output_tokens,
    }


def _measure(
    role: ModelRole, model: str, started: float, counts: Mapping[str, int], stop_reason: str = ""
) -> None:
    """One log line, and the invocation's figures by role and model."""
    values = {"ModelLatency": int((time.perf_counter() - started) * 1000), **counts}
    measure_model(role, model, values)
    level = logging.WARNING if "ModelErrors" in counts else logging.INFO
    _log.log(
        level,
        "role=%s model=%s stop=%s ms=%d in=%d cached=%d out=%d | model %s",
        role,
        model,
        stop_reason or "-",
        values["ModelLatency"],
        *(values.get(name, 0) for name in ("InputTokens", "CachedTokens", "OutputTokens")),
        "unavailable" if "ModelErrors" in counts else "answered",
    )
