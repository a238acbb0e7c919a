"""What a user has used of a limit."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Used:
    """Requests of this minute and model tokens of this day, as they stand in the table."""

    requests: int = 0
    tokens: int = 0
