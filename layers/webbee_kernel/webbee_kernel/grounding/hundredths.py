"""Whole amounts of money that a reply tells as hundredths: 12900 as 129.00 euros.

Services keep amounts in minor units, and most say so in no key. Both readings of a whole amount are
possible; the reply's own amounts decide which one it is held against.
"""

from __future__ import annotations

from collections.abc import Sequence

from .evidence import Evidence, Flag
from .places import is_whole_money


def in_hundredths(evidence: Evidence, flags: Sequence[Flag]) -> bool:
    """Whether an amount is flagged beside data with whole amounts, which may be hundredths."""
    told = any(flag.kind == "money" for flag in flags)
    held = (p for p in evidence.index.figures if p.call >= 0)
    return told and not evidence.minor and any(is_whole_money(p.key, p.value) for p in held)
