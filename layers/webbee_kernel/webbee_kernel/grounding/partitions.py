"""A total and the parts that are told right behind it: "27 singers: 8 sopranos, 9 altos, …"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import NamedTuple

from .reading import Claim, Reading, Sentence, among

LEAST, MOST = 3, 12
"""Parts of a total: of two, too many numbers are the sum by chance."""
COLON = 80
"""Characters behind a total in which the colon before its parts stands."""
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
    figures = [c for c in reading.claims if c.kind in ("number", "money") and c.mention.value]
    for n, total in enumerate(figures):
        until = reading.sentence(reading.sentence(total.start).end + 1).end
        near = (c for c in figures[n + 1 : n + 1 + MOST] if c.start < until and _alike(c, total))
        parts = tuple(near)
        sums = [round(s, 2) for s in accumulate(p.mention.value for p in parts)]
        if (value := round(total.mention.value, 2)) in sums[LEAST - 1 :]:
            yield Partition(total, parts[: sums.index(value) + 1], True)
        elif listed := _listed(reading, total):
            yield Partition(total, listed, False)


def _alike(one: Claim, other: Claim) -> bool:
    return one.kind == other.kind and one.mention.unit == other.mention.unit


def _listed(reading: Reading, total: Claim) -> tuple[Claim, ...]:
    """The figures of an enumeration behind the colon of a total's sentence, one an item."""
    text, end = reading.text, reading.sentence(total.start).end
    colon = text.find(":", total.end, min(end, total.end + COLON))
    if colon < 0 or _STOP.search(text, total.end, colon):
        return ()
    until = reading.sentence(colon + 1).end
    told = reading.inside(Sentence(total.end, until, ""))
    parts = [c for c in told if c.kind in ("number", "money", "percent")]
    joins = reading.language.words.and_
    apart = all(
        _APART.search(text, a.end, b.start)
        or any(among([s], joins) for s in reading.stems(a.end, b.start))
        for a, b in pairwise(parts)
    )
    less = all(_alike(p, total) and p.mention.value < total.mention.value for p in parts)
    whole = LEAST <= len(parts) <= MOST and less
    return tuple(parts) if whole and apart and parts[0].start > colon else ()
