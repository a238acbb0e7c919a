"""`model_broker`: asks the operator's model for `ctx.ai`. It has the model's key, which no process
that runs extension code has, and nothing else: no table, no user, no tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bootstrap import make_model
from ..clock import Clock
from ..config import Settings
from ..errors import KernelError
from ..extensions.context.services import MAX_PROMPT, MAX_TOKENS
from ..llm.protocol import Model, ModelRequest
from ..observability import count_request
from ..types import JSONObject


class BrokerService:
    """The invocation of `model_broker`, by the credentials that a call of `tool_dispatch` has."""

    def __init__(
        self, settings: Settings, clock: Clock | None = None, *, model: Model | None = None
    ) -> None:
        self._model = model or make_model(settings)

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """`{"text", "model", "usage", "stop"}` for `{"system", "prompt", "max_tokens",
        "language"}`; `{"unavailable"}` where no model answers. Whoever asks is extension code:
        every size is bounded here."""
        request = ModelRequest(
            role="ai",
            system=str(event.get("system", ""))[:MAX_PROMPT],
            prompt=str(event["prompt"])[:MAX_PROMPT],
            max_tokens=max(1, min(int(event.get("max_tokens", 1024)), MAX_TOKENS)),
            # as long as RFC 5646 expects a tag to be
            language=str(event.get("language", "en"))[:35],
        )
        try:
            response = await self._model.complete(request)
        except KernelError as error:
            count_request(failed=True)
            return {"unavailable": error.body()["error"]}
        count_request(failed=False)
        used = response.usage
        return {
            "text": response.text,
            "model": self._model.name,
            "usage": [used.input_tokens, used.output_tokens, used.cached_tokens],
            "stop": response.stop_reason,
        }
