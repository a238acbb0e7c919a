"""The model of `ctx.ai` where extensions run: another function asks it, which has the operator's
key and nothing else.

What this process holds is the right to invoke that function, by the credentials of the call.
"""

from __future__ import annotations

import asyncio

from ..aws.clients import failure_kind
from ..aws.invoke import Invoked
from ..errors import DispatchUnanswered, ModelUnavailable
from .protocol import ModelRequest, ModelResponse, Usage

GRACE_S = 5.0
"""Seconds past a request's own limit in which the function may say that it is over."""


class BrokerModel:
    """Completes requests of the role `ai`: a prompt in, text out."""

    def __init__(self, function: Invoked) -> None:
        self._function = function
        self.name = ""

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """What the model wrote; ModelUnavailable where it, or the function, does not answer."""
        asked = {
            "system": request.system,
            "prompt": request.prompt,
            "max_tokens": request.max_tokens,
            "language": request.language,
        }
        try:
            async with asyncio.timeout(request.timeout_s + GRACE_S):
                answer = await self._function.invoke(asked)
        except Exception as error:
            name = type(error).__name__
            if isinstance(error, DispatchUnanswered | TimeoutError) or failure_kind(error):
                raise ModelUnavailable(f"The model could not be asked ({name}).") from error
            raise
        if refused := answer.get("unavailable"):
            raise ModelUnavailable(str(refused["message"]))
        self.name = str(answer["model"])
        return ModelResponse(
            str(answer["text"]), usage=Usage(*answer["usage"]), stop_reason=str(answer["stop"])
        )
