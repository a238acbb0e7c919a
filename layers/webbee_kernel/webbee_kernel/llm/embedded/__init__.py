"""The model of the first run: deterministic, no network, and no language model.

It reads what any model would get, the rendered prompt and the catalogue, and nothing else. A
message near an example of an installed function is that command; what it does not understand it
says so, with the nearest examples, and it calls nothing. It has no words for results: what calls
gave is shown as the kernel shows data that no model tells.

- `prompt_reader`  the blocks of the prompt, the records and addresses that results hold
- `message`        a text in words, quotations, addresses; what a language lets stand beside them
- `examples`       authors' examples as patterns of literal words and slots; what fits one
- `reference_resolution` the record or the address that words point at or name
- `slots`          the value that a span of a message has for a parameter
- `commands`       the calls that a message asks for, what is near it, what it leaves open
- `multiple_calls` one call per item or record
- `questions`      what is asked for that is no command: a record, a list, what a search finds
- `lookups`        the list that is looked through for what nobody was shown
- `offers`         what is said and drawn where nothing is called: choices, forms, examples
"""

from __future__ import annotations

import re
from typing import Final

from ...text import cut, one_line
from ..options import trace_answer
from ..protocol import NO_TEXT, ModelRequest, ModelResponse

_SENTENCES: Final = r"(?:[^.!?…]{0,2000}(?:[.!?…]|$)){1,2}"
_EXTRACT: Final = 400


class EmbeddedModel:
    """Serves all roles; never raises `ModelUnavailable`."""

    name = "offline"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The answer, seen by who watches the turn."""
        return await trace_answer(self.name, request, self._answer(request))

    async def _answer(self, request: ModelRequest) -> ModelResponse:
        """Classify; no text for a narrator; for `ctx.ai` the first two sentences of the prompt,
        without judgement. `usage` is zero: no tokens were bought."""
        # the tables of examples are built on the first message
        # imported when asked: tool_dispatch has this model for `ctx.ai` only
        if request.role == "classifier":
            from .offers import classify

            return classify(request)
        if request.role == "narrator":
            return ModelResponse(stop_reason=NO_TEXT)
        first = re.match(_SENTENCES, request.prompt[: 5 * _EXTRACT])
        return ModelResponse(cut(one_line(first[0]), _EXTRACT) if first else "")
