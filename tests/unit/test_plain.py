"""Values on their way between functions are handed on as they are."""

from __future__ import annotations

import cProfile
from dataclasses import asdict

from benchmarks.work import RESULTS
from webbee_kernel.values import CallOutcome
from webbee_kernel.values.plain import fields_of


def test_an_outcome_of_a_megabyte_is_handed_on_without_a_look_at_its_parts() -> None:
    small, large = (
        CallOutcome("a", "f", "ok", data=RESULTS[name], panels=("p",))
        for name in ("1 KB of rows", "1 MB of rows")
    )
    assert fields_of(small) == asdict(small)
    assert fields_of(large)["data"] is large.data
    calls = []
    for outcome in (small, large):
        profile = cProfile.Profile()
        profile.runcall(fields_of, outcome)
        calls.append(sum(entry.callcount for entry in profile.getstats()))
    assert calls[0] == calls[1]
