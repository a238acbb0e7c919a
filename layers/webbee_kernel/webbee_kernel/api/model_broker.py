"""`model_broker`: calls the operator's model for `ctx.ai`. It alone has the model's key: no process
that runs extension code does. It has no tables, users or tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..bootstrap import make_model
from ..clock import Clock
from ..config import Settings
from ..errors import KernelError
from ..llm.options import MAX_PROMPT, MAX_TOKENS
from ..llm.protocol import Model, ModelRequest
from ..observability import count_request
from ..types import JSONObject


class BrokerService:
    """Handles invocations of `model_broker`, which calls of `tool_dispatch` may make."""

    def __init__(
        self, settings: Settings, clock: Clock | None = None, *, model: Model | None = None
    ) -> None:
        self._model = model or make_model(settings)

    async def handle(self, event: Mapping[str, Any]) -> JSONObject:
        """`{"text", "model", "usage", "stop"}` for `{"system", "prompt", "max_tokens",
        "language"}`; `{"unavailable"}` where no model answers. The caller is extension code: all
        sizes are limited here."""
        request = ModelRequest(
            role="ai",
            system=str(event.get("system", ""))[:MAX_PROMPT],
            prompt=str(event["prompt"])[:MAX_PROMPT],
            max_tokens=max(1, min(int(event.get("max_tokens", 1024)), MAX_TOKENS)),
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
