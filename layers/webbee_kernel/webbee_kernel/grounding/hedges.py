"""What the words around a figure make of it: a rounded one, a bound, or an exact one."""

from __future__ import annotations

from itertools import repeat

from .reading import Claim, Reading, among

NEAR, MARKS = 24, ':=,;|()_\n\u2026\u2013\u2014\u2192\u25b8\u279c"\u201c\u201d\u00bb'
"""Characters around a figure in which it is hedged, and what no bound reaches over."""
_ABOUT = ("~", "\u2248")


def is_rough(reading: Reading, claim: Claim) -> bool:
    """Whether a figure is said to be rounded."""
    about = reading.language.words.about
    marked = reading.text[max(0, claim.start - 2) : claim.start].strip()[-1:] in _ABOUT
    if marked or claim.mention.about or among(reading.near(claim), about):
        return True
    return among(reading.stems(claim.end, claim.end + NEAR)[:3], about)


def bound(reading: Reading, claim: Claim) -> int:
    """Whether a figure is a lower bound (1), an upper one (-1) or none: words beyond another value
    or the sign of a label bound nothing."""
    words, last = reading.language.words, reading.before(claim)
    first = max(claim.start - NEAR, last.end if last else 0)
    mark = max(map(reading.text.rfind, MARKS, repeat(first), repeat(claim.start)))
    near = reading.stems(max(first, mark), claim.start)[-3:]
    side = among(near, words.more) - among(near, words.less)
    return -side if among(near, words.negation) else side  # "no more than"
