"""What travels on the refresh queue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple


class Wanted(NamedTuple):
    """A refresh that a turn or a call asks for; the reason is `stale` or `effect`, or `seen`, which
    is about no section: the user is noted."""

    app_id: str
    section: str
    reason: str


@dataclass(frozen=True, slots=True)
class RefreshMessage:
    """One section of one user to refresh. `reason` is due, stale or effect; with seen, the user is
    noted instead."""

    user: dict[str, Any]
    app_id: str
    section: str
    reason: str = "due"
    due_at: float = 0.0
    delay_s: int = 0
    correlation_id: str = ""
