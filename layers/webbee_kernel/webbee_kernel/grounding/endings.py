"""What a code is known by: the end of its digits and capitals, however they are grouped."""

from __future__ import annotations

import re

from .index import Index
from .places import DATE, Place

SHORT_RUN, LONGEST_ENDING = 6, 10
"""Digits that grouped otherwise are still no amount; digits by which a code's end is compared."""
LEAST = 4
"""Digits that an end has at least."""
LONGEST = 60
"""Characters of a text that is a code, and around a value that is a part of one."""
ZONE = 6
"""Characters of a moment's zone: "+02:00"."""
_DIGITS = re.compile(r"\d+")
_RUN = re.compile(r"(?<![^\W_])[A-Z\d]{1,20}(?:[ \u00a0()./-]{1,3}[A-Z\d]{1,20}){1,9}(?![^\W_])")
_BREAKS = re.compile(r"[ \u00a0()./-]+")


def ending(index: Index, code: str) -> list[Place]:
    """The fields whose digits and capitals end so: a phone, a card's last four, `order_70412`."""
    return index.once("endings", lambda: _endings(index)).get(code[-LONGEST_ENDING:], [])


def grouped(index: Index, text: str, start: int, end: int) -> list[Place]:
    """The fields of the digits and capitals around a value of a text, however they are grouped: a
    card, an account."""
    for run in _RUN.finditer(text, max(0, start - LONGEST), end + LONGEST):
        if run.start() <= start < run.end():
            whole = _BREAKS.sub("", run.group())
            return ending(index, whole.lstrip("0")) if len(whole) > SHORT_RUN else []
    return []


def _endings(index: Index) -> dict[str, list[Place]]:
    """The fields with more than three digits, by the ends of these, and of what they stand in."""
    found: dict[str, list[Place]] = {}
    long = (p for p in index.figures if p.value == int(p.value) > 10**SHORT_RUN)
    for place in (*index.strings, *long):
        text = str(place.value)
        if (stamp := DATE.match(text)) and len(text) <= stamp.end() + ZONE:
            continue  # "5550" is no end of 09:55:50
        digits = "".join(_DIGITS.findall(text))
        for size in range(LEAST, min(len(digits), LONGEST_ENDING) + 1):
            found.setdefault(digits[-size:], []).append(place)
        if len(digits) >= LEAST and len(text) <= LONGEST:
            found.setdefault(_BREAKS.sub("", text)[-LONGEST_ENDING:], []).append(place)
    return found
