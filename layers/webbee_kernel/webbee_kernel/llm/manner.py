"""Manner: what an operator asks of the model services beyond the request itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Manner:
    """`effort` is how long a reasoning model thinks, in the service's own word; `cache` how long a
    prompt's stable part is kept (`1h` at Bedrock, `24h` at OpenAI), the service's own time where
    empty; `strict` has arguments written by their schema where the schema can be said so; `stop`
    are words that end an answer, which then does not hold them. `tool_choice` is `auto`, for
    servers that want it said, or `required`: a call whatever was asked, which `webbee models check`
    tries."""

    effort: str = ""
    cache: str = ""
    strict: bool = False
    temperature: float = 0.0
    stop: tuple[str, ...] = ()
    tool_choice: str = ""


PLAIN = Manner()
"""Nothing beyond."""
