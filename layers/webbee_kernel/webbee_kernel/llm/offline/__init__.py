"""The embedded default model: deterministic, no network, no language model.

It reads what any model would get, the system part, the rendered prompt and the catalogue, and
nothing else. First what a sentence does, then which function it means, then the arguments:

- `reading`    the blocks of the prompt
- `words`      a text in words, and what each of them is in its language
- `entities`   quotations, addresses, links, ids; dates and numbers
- `speech`     command, request, question, prohibition, supposition, remark, courtesies
- `matching`   how near a text is to each function's name, description and examples
- `choosing`   the function that a sentence means; `certainty`: whether just that is meant
- `schema`     what kind of value an argument takes
- `recall`     "the same address", "the first one", names in any case: values out of the facts
- `content`    what is left when the command is taken away
- `filling`    all of these, for one function and one sentence
- `answering`  questions answered from overview and facts
- `planning`   the message as a whole, and repairs
- `replies`    its own sentences
- `narrating`  the reply from results

It understands no language: a sentence unlike every example is declined, what it cannot fill it asks
for, and only a plain command has an effect.
"""

from __future__ import annotations

from ..protocol import ModelRequest, ModelResponse
from ..watched import watched


class OfflineModel:
    """Serves all three roles. Stateless but for a cache of catalogue indexes; never raises
    `ModelUnavailable`."""

    name = "offline"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """The answer, seen by who watches the turn."""
        return await watched(self.name, request, self._answer(request))

    async def _answer(self, request: ModelRequest) -> ModelResponse:
        """Classify, narrate, or (`ai`) return the first sentences of the prompt. `usage` is zero:
        no tokens were bought."""
        if request.role == "classifier":  # imported when asked: the cell has it for `ctx.ai` only
            from .planning import classify

            return classify(request)
        from .narrating import extract, narrate

        return narrate(request) if request.role == "narrator" else extract(request)


__all__ = ["OfflineModel"]
