"""Answers that are heard while they are written. A model that can has a second method, `stream`;
others are heard at their end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from .protocol import Model, ModelRequest, ModelResponse

Hear = Callable[[str], None]
"""Takes the next piece of the text, on the event loop that asked."""


@runtime_checkable
class StreamingModel(Protocol):
    """A model whose answer can be heard while it comes."""

    async def stream(self, request: ModelRequest, hear: Hear) -> ModelResponse:
        """As `complete`; the pieces that `hear` is given make up the response's text. Once one was
        heard, a failure is not tried again."""
        ...


async def streamed(model: Model, request: ModelRequest, hear: Hear | None) -> ModelResponse:
    """The model's answer, heard while it comes where anybody wants to and the model can. Raises
    ModelUnavailable."""
    if hear is not None and isinstance(model, StreamingModel):
        return await model.stream(request, hear)
    return await model.complete(request)
