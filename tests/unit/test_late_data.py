"""Large data travels as text and is read when somebody asks for all of it."""

from __future__ import annotations

import cProfile
import json
from dataclasses import asdict
from datetime import date
from typing import Any

import pytest

from benchmarks.work import RESULTS
from webbee_kernel.channels.bounding import MAX_DATA, bounded
from webbee_kernel.extensions.outcomes import from_return
from webbee_kernel.sdk import ActionResult
from webbee_kernel.turn.results_block import near
from webbee_kernel.types import CallOutcome, CallRequest, outcome_from, to_dict, to_wire

REQUEST = CallRequest("function", {}, "mail", "list")
ROWS = [{"id": f"o-{n}", "by": f"buyer{n}@example.com", "paid": n % 2 == 0} for n in range(4_000)]
LARGE = {"count": len(ROWS), "orders": ROWS}
SMALL = {"count": 1, "orders": ROWS[:1]}


def outcome(data: Any) -> CallOutcome:
    return from_return(ActionResult.success(data, "Here."), REQUEST, (), "read")


def test_large_data_is_unread_until_it_is_asked_for_and_is_then_what_was_returned() -> None:
    o = outcome(LARGE)
    assert o.unread
    assert o.data == LARGE
    assert not o.unread
    assert o.data is o.data


def test_small_data_is_there_at_once() -> None:
    assert not outcome(SMALL).unread
    assert outcome(SMALL).data == SMALL


def test_what_a_model_could_be_shown_is_found_without_reading_the_rest() -> None:
    o = outcome(LARGE)
    shown = near(o)
    assert o.unread
    assert shown == bounded(LARGE, MAX_DATA)
    assert near(outcome(SMALL)) == SMALL


def test_a_changed_outcome_keeps_its_data_unread() -> None:
    changed = outcome(LARGE).but(step=4, summary="Other.")
    assert (changed.step, changed.summary) == (4, "Other.")
    assert changed.unread
    assert changed.data == LARGE
    assert outcome(LARGE).but(data=SMALL).data == SMALL


def test_what_the_handler_changes_later_changes_nothing_here() -> None:
    rows = [dict(row) for row in ROWS]
    o = outcome({"orders": rows})
    for row in rows:
        row.clear()
    assert near(o) == bounded({"orders": ROWS}, MAX_DATA)
    assert o.data == {"orders": ROWS}


@pytest.mark.parametrize(
    "data",
    [
        {"rows": [{"id": n, "on": date(2026, 11, 23)} for n in range(5_000)]},
        {"rows": [{n: "text", "of": (n, None)} for n in range(5_000)]},
        {"text": "Some words. " * 20_000},
        [{"id": n, "note": "\u0451\u2026\x01" * 9} for n in range(5_000)],
        {"rows": [{"id": 2**70 + n} for n in range(9_000)]},
    ],
    ids=["dates", "keys that are numbers", "text", "a list", "large integers"],
)
def test_whatever_was_returned_is_the_same_read_late_and_read_at_once(data: Any) -> None:
    o = outcome(data)
    plain = json.loads(json.dumps(data, default=str))
    assert near(o) == bounded(plain, MAX_DATA)
    assert o.data == plain


@pytest.mark.parametrize("data", [LARGE, SMALL, None, []], ids=["large", "small", "none", "empty"])
def test_an_outcome_comes_over_the_wire_as_it_was(data: Any) -> None:
    o = outcome(data)
    wire = json.loads(json.dumps(to_wire(o)))
    there = outcome_from(wire)
    assert bool(there.unread) is (data is LARGE)
    assert near(there) == near(o)
    assert there == o


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
