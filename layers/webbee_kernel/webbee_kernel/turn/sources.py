"""Where the values of a reply come from, as an answer carries it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..values.plain import JSONObject

if TYPE_CHECKING:
    from ..grounding import Source

MOST = 100
"""Sources that an answer carries."""


def spans(
    sources: Sequence[Source], said: str, reply: str, unmask: Callable[[str], str], first: int = 0
) -> list[JSONObject]:
    """The sources of what the narrator said as spans of the reply that the user reads.

    `said` stands in the reply with real values in place of placeholders; `first` is the place of
    the narrator's first call among those of the answer.
    """
    before = reply.find(unmask(said))
    if before < 0:
        return []

    def place(at: int) -> int:
        return before + len(unmask(said[:at]))

    return [_span(one, place(one.start), place(one.end), first) for one in sources[:MOST]]


def _span(source: Source, start: int, end: int, first: int) -> JSONObject:
    span: JSONObject = {"start": start, "end": end, "how": source.how}
    if source.call >= 0:
        span["call"] = first + source.call
    told = {"path": source.path, "formula": source.formula}
    return span | {key: value for key, value in told.items() if value}
