"""Whole amounts of money that a reply tells as hundredths: 12900 as 129.00 euros.

Services keep amounts in minor units, and most say so in no key. Both readings of a whole amount are
possible; the reply's own amounts decide which one it is held against.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .. import language
from .evidence import Evidence, Flag
from .places import Number, is_whole_money


def in_hundredths(evidence: Evidence, flags: Sequence[Flag]) -> bool:
    """Whether a flagged amount is the hundredth of a whole amount of money in the data."""
    if evidence.minor:
        return False
    told = (v for f in flags if f.kind in ("money", "number") for v in _values(evidence, f.word))
    return any(
        is_whole_money(p.key, p.value)
        for v in told
        for p in evidence.index.numbers.get(round(v * 100), ())
    )


def _values(evidence: Evidence, word: str) -> Iterator[Number]:
    for mention in language.numbers(word, evidence.language):
        yield from (v for v in mention.readings if v and abs(100 * v - round(100 * v)) < 1e-6)
