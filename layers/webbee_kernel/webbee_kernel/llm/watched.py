"""The very request to a model and its answer, for a developer who watches the turn."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Final

from ..observability import stretch
from ..text import cut
from .protocol import ModelRequest, ModelResponse

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
