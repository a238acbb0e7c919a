"""The offline model for the first run: deterministic, without network or language model.

It reads only the rendered prompt and the catalogue, like any model. A message that matches an
example of an installed function becomes that command; otherwise it offers the nearest examples and
calls nothing. It does not narrate: the kernel renders the data.

- `prompt_reader`  parses the prompt's blocks; records and addresses in results
- `message`        tokenises a message; words that may accompany a command
- `examples`       authors' examples as patterns of literal words and slots
- `reference_resolution` the record or the address that words point at or name
- `slots`          the value of a message span for a parameter
- `commands`       the calls that a message requests, and near matches
- `undo`           what a message takes back
- `waiting`        the answer to what is said of the calls that wait, on a card or in a form
- `questions`      questions: a record, a list, a search
- `offers`         choices, forms and examples for what is no whole command
- `answers`        the answer: calls, several calls, lookups, what comes behind them, else offers
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
        """The answer, with its trace."""
        return await trace_answer(self.name, request, self._answer(request))

    async def _answer(self, request: ModelRequest) -> ModelResponse:
        """Calls or offers for a classifier, no text for a narrator, the first two sentences of the
        prompt for `ctx.ai`. `usage` is zero."""
        # the tables of examples are built on the first message
        # imported when asked: tool_dispatch has this model for `ctx.ai` only
        if request.role == "classifier":
            from .answers import classify

            return classify(request)
        if request.role == "narrator":
            return ModelResponse(stop_reason=NO_TEXT)
        first = re.match(_SENTENCES, request.prompt[: 5 * _EXTRACT])
        return ModelResponse(cut(one_line(first[0]), _EXTRACT) if first else "")
