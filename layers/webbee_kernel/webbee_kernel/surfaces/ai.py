"""ctx.ai: a plain completion by the deployment's model."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ..llm.protocol import Model, ModelRequest
from ..sdk.user import User

MAX_PROMPT = 100_000
MAX_TOKENS = 4_096


@dataclass(frozen=True, slots=True)
class CompletionResult:
    """What the model wrote."""

    text: str
    model: str = ""
    usage: dict[str, int] = field(default_factory=dict)
    stop_reason: str = ""
    tokens_used: int = 0


class AIClient:
    """`ctx.ai` of one call."""

    def __init__(self, model: Model, user: User) -> None:
        self._model = model
        self._user = user

    async def complete(self, prompt: str, model: str = "", **kwargs: Any) -> CompletionResult:
        """Complete a prompt of at most 100,000 characters; `system` and `max_tokens` (≤ 4,096) are
        understood.

        The deployment decides which model answers; `model` is accepted for compatibility and
        ignored. Raises ModelUnavailable when it does not answer.
        """
        if not isinstance(prompt, str) or not 1 <= len(prompt) <= MAX_PROMPT:
            raise ValueError(f"prompt must be text of 1 to {MAX_PROMPT} characters")
        request = ModelRequest(
            role="ai",
            system=str(kwargs.get("system", "")),
            prompt=prompt,
            max_tokens=min(int(kwargs.get("max_tokens", 1024)), MAX_TOKENS),
            language=self._user.language,
        )
        response = await self._model.complete(request)
        used = response.usage
        usage = {"input_tokens": used.input_tokens, "output_tokens": used.output_tokens}
        return CompletionResult(
            response.text,
            self._model.name,
            usage,
            response.stop_reason,
            used.input_tokens + used.output_tokens,
        )
