"""How a reply is laid out: which lines are items of a list, which are headings, and which numbers
only count the lines. Told by form alone, whatever signs a writer likes."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBERED = re.compile(
    r"^[ \t>]*([^\w\s|]{0,4})(\d{1,3})([^\w\s|]{0,3})(?=[ \t]+\S)"
    r"(?![ \t]*[|%\u20ac$\u00a3])",
    re.M,
)
"""A line that a number opens: 1. 1) (1) [1] #1 **1** 1: 1/ and a key cap."""
_SURE = re.compile(r"(?:\.|\)|[ ]\xb7)(?=\s)")
_BEFORE = ("", "**", "(", "**(")
"""What stands behind a number that numbers an item even alone, and before it."""
ITEM = re.compile(
    r"[ \t>]*(?:[^\w\s#>|+\u2026\[(`\"\u00ab\u201e\u201c]{1,2}(?=\s)"
    r"|[^\w\s|]{0,4}\d{1,3}(?:[^\w\s|]{1,3}|[ ]\xb7)(?=\s)|\|)[ \t*_]*"
)
"""What an item of a list or a row of a table opens with."""
FRAMED = re.compile(
    r"[ \t]*(?:#|([^\w\s|`\"(]{1,4}) ?[^\W_][^\n]* ?\1[ \t]*$|\[ ?[^\W_][^\n\]]*\][ \t]*$)"
)
"""A line between signs is a heading: ### X, **X**, --- X ---, [ X ]."""
_BEHIND_LABEL = re.compile(
    '[ *_`"\u00bb\u201c\u201d]{0,12}[:=\u2013\u2014\u2026\u25b8\u2192\u25b6]'
)
BARE = 3
"""Lines that bare numbers have to count until they are none of the data's."""


def markers(text: str) -> list[tuple[int, int]]:
    """Where the numbers stand that only count lines: with the sign of a list behind them, or one
    more than that of the line that was counted before."""
    found: list[tuple[int, int]] = []
    run: list[tuple[int, int]] = []
    signed = False
    for match in _NUMBERED.finditer(text):
        span, value = match.span(2), int(match[2])
        if _SURE.match(text, span[1]) and match[1] in _BEFORE:
            found.append(span)
        if value == 1:
            found += _counted(run, signed=signed)
            run, signed = [], bool(match[1] or match[3])
        if value == len(run) + 1:
            run.append(span)
    return sorted({*found, *_counted(run, signed=signed)})


def is_label(text: str, end: int) -> bool:
    """Whether the sign of a label stands behind a word: "Price: 40", "Price \u2192 40"."""
    return bool(_BEHIND_LABEL.match(text, end))


def _counted(run: Sequence[tuple[int, int]], *, signed: bool) -> Sequence[tuple[int, int]]:
    return run if len(run) >= (2 if signed else BARE) else ()
