"""Due dates: what a user may write, what is stored, and where a task stands against now.

Stored form: `2026-05-16` for a whole day, `2026-05-16T15:00:00Z` for a moment. Days are UTC days.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

TaskState = Literal["open", "today", "overdue", "done"]

ACCEPTED = (
    "a date like 2026-05-16, a moment like 2026-05-16T15:00, or today / tomorrow / сегодня / завтра"
    " (with a time: tomorrow 15:00)"
)
DAYS_AHEAD = {"today": 0, "tomorrow": 1, "сегодня": 0, "завтра": 1, "послезавтра": 2}
WORD = re.compile(
    rf"({'|'.join(DAYS_AHEAD)})(?:\s+(?:at\s+|в\s+)?(\d{{1,2}}):(\d{{2}}))?", re.IGNORECASE
)


def parse_due(text: str, now: datetime) -> str:
    """The stored form of what the user wrote. Raises ValueError naming what is accepted."""
    try:
        if match := WORD.fullmatch(text.strip()):
            day = now.astimezone(UTC).date() + timedelta(days=DAYS_AHEAD[match[1].casefold()])
            return (
                _moment(datetime.combine(day, time(int(match[2]), int(match[3]), tzinfo=UTC)))
                if match[2]
                else day.isoformat()
            )
        moment = datetime.fromisoformat(text.strip())
        if len(text.strip()) <= len("2026-05-16"):
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
