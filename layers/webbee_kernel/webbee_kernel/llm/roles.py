"""One model per role, and what each request cost, as a log line and as CloudWatch metrics."""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Mapping
from typing import Final

from ..config import Settings
from ..errors import ModelUnavailable
from ..observability import measure_model, stretch
from ..text import cut
from .options import PLAIN, ModelOptions
from .protocol import Hear, Model, ModelRequest, ModelResponse, ModelRole, Usage, streamed

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


SHOWN: Final = 8_000
"""Characters of a request's system text and of its answer that are told; of the prompt three times
as many. Together they fit into a frame."""


async def watched(
    model: str, request: ModelRequest, answering: Awaitable[ModelResponse]
) -> ModelResponse:
    """The answer; told with its request and its tokens where somebody watches."""
    with stretch("model", request.role) as told:
        response = await answering
        if told is not None:
            calls = [f"{call.name}({call.arguments})" for call in response.tool_calls]
            told.update(
                model=model,
                input_tokens=response.usage.input_tokens,
                cached_tokens=response.usage.cached_tokens,
                output_tokens=response.usage.output_tokens,
                stop_reason=response.stop_reason,
                system=cut(request.system, SHOWN),
                prompt=cut(request.prompt, 3 * SHOWN),
                answer=cut("\n".join([*calls, response.text]).strip(), SHOWN),
            )
    return response


def named(name: str, settings: Settings, options: ModelOptions = PLAIN) -> Model:
    """The model that `offline`, `bedrock:<id>` or `openai:<base-url>#<model>` names."""
    kind, _, rest = name.partition(":")
    if kind == "offline":
        from .embedded import EmbeddedModel

        return EmbeddedModel()
    if kind == "bedrock":
        from .bedrock import BedrockModel

        return BedrockModel(rest, options=options)
    from .openai_compatible import ModelKey, OpenAICompatibleModel

    base_url, _, model = rest.partition("#")
    key = ModelKey(settings.model_key.get_secret_value(), parameter=settings.model_key_secret)
    return OpenAICompatibleModel(base_url, model, key, options)
