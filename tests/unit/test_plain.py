"""Values on their way between functions are handed on as they are."""

from __future__ import annotations

import cProfile
from dataclasses import asdict

from benchmarks.work import RESULTS
from webbee_kernel.types import CallOutcome, to_dict


def test_an_outcome_of_a_megabyte_is_handed_on_without_a_look_at_its_parts() -> None:
    small, large = (
        CallOutcome("a", "f", "ok", data=RESULTS[name], panels=("p",))
        for name in ("1 KB of rows", "1 MB of rows")
    )
    assert to_dict(small) == asdict(small)
    assert to_dict(large)["data"] is large.data
    calls = []
    for outcome in (small, large):
        profile = cProfile.Profile()
        profile.runcall(to_dict, outcome)
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert calls[0] == calls[1]
