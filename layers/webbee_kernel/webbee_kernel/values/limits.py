"""What a user has used of a limit, and who asks beside him."""

from __future__ import annotations

from typing import NamedTuple


class Used(NamedTuple):
    """Requests of this minute and model tokens of this day, as they stand in the table."""

    requests: int = 0
    tokens: int = 0


class Counted(NamedTuple):
    """A request was counted, or `refused` for what was used. `beside` are the marks that stood
    with the counts of this minute and the one before."""

    refused: Used | None = None
    beside: frozenset[str] = frozenset()
