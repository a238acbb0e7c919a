"""A total and the parts that are told right behind it: "27 singers: 8 sopranos, 9 altos, …"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from .figures import KINDS
from .reading import Claim, Reading, among

LEAST, MOST = 3, 12
"""Parts of a total: of two, too many numbers are the sum by chance."""
COLON, NEAR = 80, 400
"""Characters behind a total in which the colon before its parts stands, and behind its sentence in
which the third part does."""
_APART, _STOP = re.compile(r"[,;\n]"), re.compile(r"[.!?]\s|\n")


class Partition(NamedTuple):
    """`adds_up`: the parts are the total; else a colon says that they should be."""

    total: Claim
    parts: tuple[Claim, ...]
    adds_up: bool

    @property
    def sum(self) -> float:
        """What the parts add up to."""
        return float(round(sum(p.mention.value for p in self.parts), 2))


def partitions(reading: Reading) -> Iterator[Partition]:
    """The totals of a reply with their parts, of the same unit, in the total's sentence and the one
    behind it. Linear: of each figure a dozen others are looked at."""
    figures = [c for c in reading.claims if c.kind in KINDS and c.mention.value]
    for n, total in enumerate(figures[:-LEAST]):
        behind = figures[n + 1 : n + 2 + MOST]
        end = reading.sentence(total.start).end
        if not (_alike(behind[0], total) and behind[LEAST - 1].start < end + NEAR):
            continue
        if parts := _adding_up(total, behind, reading.sentence(end + 1).end):
            yield Partition(total, parts, True)
        elif listed := _listed(reading, total, behind):
            yield Partition(total, listed, False)


def _adding_up(total: Claim, behind: Sequence[Claim], until: int) -> tuple[Claim, ...]:
    """As many of the figures behind a total as add up to it."""
    near = tuple(c for c in behind if c.start < until and _alike(c, total))
    sums = [round(s, 2) for s in accumulate(c.mention.value for c in near)]
    value = round(total.mention.value, 2)
    return near[: sums.index(value) + 1] if value in sums[LEAST - 1 :] else ()


def _alike(one: Claim, other: Claim) -> bool:
    return one.kind == other.kind and one.mention.unit == other.mention.unit


def _listed(reading: Reading, total: Claim, behind: Sequence[Claim]) -> tuple[Claim, ...]:
    """The figures of an enumeration behind the colon of a total's sentence, one an item."""
    text, end = reading.text, reading.sentence(total.start).end
    colon = text.find(":", total.end, min(end, total.end + COLON))
    if colon < 0 or _STOP.search(text, total.end, colon):
        return ()
    until = reading.sentence(colon + 1).end
    parts = tuple(c for c in behind if c.start < until)
    whole = LEAST <= len(parts) <= MOST and parts[0].start > colon
    return parts if whole and _are_less(parts, total) and _is_enumerated(reading, parts) else ()


def _are_less(parts: Sequence[Claim], total: Claim) -> bool:
    return all(_alike(p, total) and p.mention.value < total.mention.value for p in parts)


def _is_enumerated(reading: Reading, parts: Sequence[Claim]) -> bool:
    """Whether a mark or an "and" stands between any two."""
    text, joins = reading.text, reading.language.words.and_
    between = [(a.end, b.start) for a, b in pairwise(parts)]
    joined = (_APART.search(text, *gap) or among(reading.stems(*gap), joins) for gap in between)
    return all(joined)
