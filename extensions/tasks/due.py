"""Due dates: what is stored, and where a task stands against now.

Stored form: `2026-05-16` for a whole day, `2026-05-16T15:00:00Z` for a moment. Days are UTC days.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Literal

TaskState = Literal["open", "today", "overdue", "done"]

ACCEPTED = "a day like 2026-05-16, a moment like 2026-05-16T15:00, or words: tomorrow at 10"
NO_DATE = ("none", "no date")


def parse_due(text: str) -> str:
    """The stored form of an ISO date, in which the kernel brings what a user wrote; empty for no
    date. Raises ValueError naming what is accepted."""
    if text.casefold() in NO_DATE:
        return ""
    try:
        moment = datetime.fromisoformat(text)
        if len(text) <= len("2026-05-16"):
            return moment.date().isoformat()
        return _moment(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no due date: give {ACCEPTED}") from None


def _moment(value: datetime) -> str:
    return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def state_of(state: str, due: str, now: datetime) -> TaskState:
    """`done`; else `overdue` (its day, or its moment, is past), `today` (still ahead today), or
    `open`."""
    if state == "done":
        return "done"
    if not due:
        return "open"
    today = now.astimezone(UTC).date().isoformat()
    if due < today or ("T" in due and due < _moment(now)):
        return "overdue"
    return "today" if due[:10] == today else "open"


def within_week(due: str, now: datetime) -> bool:
    """Whether it is due from tomorrow to seven days from today."""
    today: date = now.astimezone(UTC).date()
    return bool(due) and today.isoformat() < due[:10] <= (today + timedelta(days=7)).isoformat()
