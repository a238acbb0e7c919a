"""Due dates: what a user may write, what is stored, and where a task stands against now.

Stored form: `2026-05-16` for a whole day, `2026-05-16T15:00:00Z` for a moment. Days are UTC days.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from typing import Literal

TaskState = Literal["open", "today", "overdue", "done"]

ACCEPTED = (
    "a date like 2026-05-16, a moment like 2026-05-16T15:00, or words: today, tomorrow at 10,"
    " monday 15:00"
)
NO_DATE = ("none", "no date", "без срока", "ohne termin", "sans échéance", "sin fecha")
DAYS_AHEAD = {
    word: number
    for number, words in enumerate(
        (
            "today, сегодня, heute, aujourd'hui, hoy",
            "tomorrow, завтра, morgen, demain, mañana",
            "послезавтра, übermorgen, après-demain, pasado mañana",
        )
    )
    for word in words.split(", ")
}
WEEKDAYS = {
    word: number
    for number, words in enumerate(
        (
            "monday понедельник montag lundi lunes",
            "tuesday вторник dienstag mardi martes",
            "wednesday среда среду mittwoch mercredi miércoles",
            "thursday четверг donnerstag jeudi jueves",
            "friday пятница пятницу freitag vendredi viernes",
            "saturday суббота субботу samstag samedi sábado",
            "sunday воскресенье sonntag dimanche domingo",
        )
    )
    for word in words.split()
}
WORD = re.compile(
    rf"(?:(?:on|next|by|в|во|на|к|am|bis|le|el)\s+)?({'|'.join((*DAYS_AHEAD, *WEEKDAYS))})"
    r"(?:\s+(?!\d+$)(?:(?:at|в|um|à|a\s+las?)\s+)?(\d{1,2})(?:[:h](\d{2})|\s?h)?(?:\s?uhr)?)?",
    re.IGNORECASE,
)


def parse_due(text: str, now: datetime) -> str:
    """The stored form of what the user wrote, empty for no date. Raises ValueError naming what is
    accepted."""
    if text.strip().casefold() in NO_DATE:
        return ""
    try:
        if match := WORD.fullmatch(text.strip().replace("’", "'")):
            today = now.astimezone(UTC).date()
            day = today + timedelta(days=_days_ahead(match[1].casefold(), today))
            return (
                _moment(datetime.combine(day, time(int(match[2]), int(match[3] or 0), tzinfo=UTC)))
                if match[2]
                else day.isoformat()
            )
        moment = datetime.fromisoformat(text.strip())
        if len(text.strip()) <= len("2026-05-16"):
            return moment.date().isoformat()
        return _moment(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, OverflowError):
        raise ValueError(f"{text!r} is no due date: give {ACCEPTED}") from None


def _days_ahead(word: str, today: date) -> int:
    """Days from today; a weekday is the next one that is not today."""
    if word in DAYS_AHEAD:
        return DAYS_AHEAD[word]
    return (WEEKDAYS[word] - today.weekday() - 1) % 7 + 1


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
