"""The embedded default model: deterministic, no network, standard library only.

It reads what any model would get, the system part, the rendered prompt and the catalogue, and
nothing else:

    reading      the blocks of the prompt words        stems and the small closed sets of words,
    English and Russian matching     which function a text means: words of names, descriptions and
    `examples`, weighted by rarity entities     quotations, addresses, dates, ids, numbers schema
    what kind of value an argument takes recall       "the same address", "the first one": values
    from the FACTS lines remainder    the content left when the command is taken away arguments
    all of these, for one function and one clause planning     clauses, calls, repair replies
    its own sentences narrating    the reply from results

It understands no language: a phrase unlike every example is declined, and what it cannot fill it
asks for.
"""

from __future__ import annotations

from dataclasses import replace

from ..protocol import ModelRequest, ModelResponse


class OfflineModel:
    """Serves all three roles. Stateless but for a cache of catalogue indexes; never raises
    `ModelUnavailable`."""

    name = "offline"

    async def complete(self, request: ModelRequest) -> ModelResponse:
        """Classify, narrate, or (`ai`) return the first sentences of the prompt. `usage` is zero:
        no tokens were bought."""
        if (
            request.role == "classifier"
        ):  # imported when asked: most functions only have the model for `ctx.ai`
            from .planning import classify

            own = tuple(t for t in request.tools if t.app_id != "kernel")
            return classify(replace(request, tools=own))
        from .narrating import extract, narrate

        return narrate(request) if request.role == "narrator" else extract(request)


__all__ = ["OfflineModel"]
