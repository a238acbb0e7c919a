"""Where the values of a reply come from, and which do not come from the data, as an answer carries
it. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..types import JSONObject

if TYPE_CHECKING:
    from ..grounding import Mark, Source

MOST = 100
"""Sources that an answer carries."""


def spans(
    sources: Sequence[Source], said: str, reply: str, unmask: Callable[[str], str], first: int = 0
) -> list[JSONObject]:
    """The sources of what the narrator said as spans of the reply that the user reads.

    `said` stands in the reply with real values in place of placeholders; `first` is the place of
    the narrator's first call among those of the answer.
    """
    if (place := _places(said, reply, unmask)) is None:
        return []
    return [_span(one, place(one.start), place(one.end), first) for one in sources[:MOST]]


def marks(
    found: Sequence[Mark], said: str, reply: str, unmask: Callable[[str], str]
) -> list[JSONObject]:
    """The marks of what the narrator said as spans of the reply that the user reads."""
    if (place := _places(said, reply, unmask)) is None:
        return []
    return [_mark(one, place(one.start), place(one.end), unmask) for one in found[:MOST]]


def _places(said: str, reply: str, unmask: Callable[[str], str]) -> Callable[[int], int] | None:
    """From an offset in what was said to that in the reply; None where it does not stand there."""
    before = reply.find(unmask(said))
    if before < 0:
        return None
    return lambda at: before + len(unmask(said[:at]))


def _mark(mark: Mark, start: int, end: int, unmask: Callable[[str], str]) -> JSONObject:
    span: JSONObject = {"start": start, "end": end, "reason": mark.reason}
    return span | ({"holds": unmask(mark.holds)} if mark.holds else {})


def _span(source: Source, start: int, end: int, first: int) -> JSONObject:
    span: JSONObject = {"start": start, "end": end, "how": source.how}
    if source.call >= 0:
        span["call"] = first + source.call
    told = {"path": source.path, "formula": source.formula}
    return span | {key: value for key, value in told.items() if value}
