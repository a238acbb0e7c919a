"""What a check costs in function calls, which no busy machine changes."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from benchmarks.truths.adapter import prepared
from benchmarks.truths.model import Case

STEPS = 5150
"""Function calls of a check, the mean of the replies of the fourth hand, on Python 3.11; what takes
5 % more fails the suite. Later Pythons make fewer."""


def steps(cases: Sequence[Case]) -> float:
    """The mean number of function calls of a check, the evidence's index included. Each reply is
    checked twice: what is read once a process does not count."""
    counted = 0

    def note(frame: object, event: str, arg: object) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    for case in cases:
        prepared(case)()
    runs = [prepared(case) for case in cases]
    sys.setprofile(note)
    try:
        for run in runs:
            run()
    finally:
        sys.setprofile(None)
    return counted / len(cases)
