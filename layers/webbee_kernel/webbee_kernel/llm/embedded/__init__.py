"""The model of the first run: deterministic, no network, and no language model.

It reads what any model would get, the rendered prompt and the catalogue, and nothing else. A
message near an example of an installed function is that command; what it does not understand it
says so, with the nearest examples, and it calls nothing.

- `prompt_reader`  the blocks of the prompt
- `message`        a text in words, quotations, addresses; what a language lets stand beside them
- `examples`       authors' examples as patterns of literal words and slots
- `records`        the records and addresses that results hold, and which of them words name
- `slots`          the value that a span of a message has for a parameter
- `commands`       the calls that a message asks for, what is near it, what it leaves open
- `offers`         what is said and drawn where nothing is called: choices, forms, examples
- `narration`      the reply from results
"""

from __future__ import annotations

from ..protocol import ModelRequest, ModelResponse
from ..roles import watched


class EmbeddedModel:
    """Serves all roles; never raises `ModelUnavailable`."""

    name = "offline"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The answer, seen by who watches the turn."""
        return await watched(self.name, request, self._answer(request))

    async def _answer(self, request: ModelRequest) -> ModelResponse:
        """Classify, narrate, or (`ai`) the first sentences of the prompt. `usage` is zero: no
        tokens were bought."""
        if (
            request.role == "classifier"
        ):  # imported when asked: tool_dispatch has it for `ctx.ai` only
            from .offers import classify

            return classify(request)
        from .narration import extract, narrate

        return narrate(request) if request.role == "narrator" else extract(request)


__all__ = ["EmbeddedModel"]
