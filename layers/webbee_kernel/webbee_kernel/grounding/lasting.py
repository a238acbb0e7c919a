"""A length of time in parts: 7428 seconds as 2:03:48, 24 minutes and 37 seconds, 4 min 25."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .reading import Claim

PARTS = {"hour": 3600, "minute": 60, "second": 1}
"""The parts of a length of time, from the largest, in seconds."""
GAP = 16
"""Characters between two parts."""
AROUND = 48
"""Characters around a number in which the other parts stand."""
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d\d)")
_MINUTES = re.compile(r"(?<![\d:])\d{1,3}:\d\d(?![\d:])")


def of_clock(token: str) -> list[int]:
    """The seconds that a token like a time of day may stand for: 4:05 is minutes and seconds, or
    hours and minutes."""
    found = _CLOCK.fullmatch(token)
    if not found:
        return []
    first, middle, last = (int(part or 0) for part in found.groups())
    seconds = 3600 * first + 60 * middle + last
    return [seconds] if found[1] else [seconds, 60 * seconds]


def of_parts(claim: Claim, near: Sequence[Claim], unit: Callable[[Claim], str]) -> int:
    """The seconds of the length of time of which a number is a part; 0 where it is none. `near`:
    the numbers around it; `unit`: the unit behind one; what has none behind minutes is seconds."""
    chains: list[list[tuple[Claim, int]]] = [[]]
    for one in near:
        last, behind = chains[-1][-1] if chains[-1] else (one, 0)
        joined = behind > 0 and one.start - last.end <= GAP
        size = PARTS.get(unit(one), 1 if joined and behind == PARTS["minute"] else 0)
        if not (joined and 0 < size < behind):
            chains.append([])
        chains[-1].append((one, size))
    own = next(chain for chain in chains if any(one is claim for one, _ in chain))
    return int(sum(one.mention.value * size for one, size in own)) if len(own) > 1 else 0


def clock_around(text: str, claim: Claim) -> str:
    """The minutes and seconds of which a number is one: of "42:12" the 42."""
    found = _MINUTES.finditer(text, max(0, claim.start - 4), claim.end + 4)
    return next((m[0] for m in found if m.start() <= claim.start < m.end()), "")
