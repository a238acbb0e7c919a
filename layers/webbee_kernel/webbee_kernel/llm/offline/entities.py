"""Things in a message that have a shape: quotations, addresses, dates, numbers, ids."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Literal

Kind = Literal["quote", "email", "date", "id", "number"]

_QUOTE = re.compile(r"«([^«»]+)»|“([^“”]+)”|„([^„“”]+)[“”]|\"([^\"]+)\"|(?<!\w)'([^']+)'(?!\w)")
_EMAIL = re.compile(r"<EMAIL_\d+>|(?<![\w.+%-])[\w.+%'-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,8}")
_DATE = re.compile(
    r"\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:Z|[+-]\d{2}:?\d{2})?)?\b"
    r"|\b(?:today|tomorrow|сегодня|завтра|послезавтра)\b(?:\s+(?:(?:at|в)\s+)?\d{1,2}:\d{2}\b)?",
    re.IGNORECASE,
)
_ID = re.compile(
    r"#([\w-]{2,64})|(?<![\w-])(?=[\w-]{0,63}\d)(?=[\w-]{0,63}[A-Za-z])[A-Za-z0-9][A-Za-z0-9_-]{5,63}\b|\b[0-9a-f]{8,64}\b"
)
_NUMBER = re.compile(r"(?<![\w.:-])\d+(?:\.\d+)?(?![\w:-]|\.\d)")
_MOST = 100  # finds of a kind; no argument list is longer
_AHEAD = {"today": 0, "сегодня": 0, "tomorrow": 1, "завтра": 1, "послезавтра": 2}


@dataclass(frozen=True, slots=True)
class Entity:
    """A find: its place in the text and its value (a quotation without its marks)."""

    kind: Kind
    start: int
    end: int
    value: str


def find_entities(text: str) -> list[Entity]:
    """Everything found, in order, not overlapping; what stands inside a quotation is part of it."""
    found = [
        Entity("quote", m.start(), m.end(), next(g for g in m.groups() if g))
        for m in islice(_QUOTE.finditer(text), _MOST)
    ]
    kinds: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("email", _EMAIL),
        ("date", _DATE),
        ("id", _ID),
        ("number", _NUMBER),
    )
    for kind, pattern in kinds:
        for m in islice(pattern.finditer(text), _MOST):
            if all(m.end() <= e.start or m.start() >= e.end for e in found):
                value = m[1] if kind == "id" and m[1] else m[0]
                found.append(Entity(kind, m.start(), m.end(), value))
    return sorted(found, key=lambda e: e.start)


def as_date(value: str, at: str) -> str:
    """A day word as an ISO date, counted from `at` (the message's own time); everything else as it
    is."""
    ahead = _AHEAD.get(value.split()[0].casefold())
    try:
        return (
            value
            if ahead is None
            else (datetime.fromisoformat(at) + timedelta(days=ahead)).date().isoformat()
        )
    except ValueError:
        return value
