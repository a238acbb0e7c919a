"""Which marks say that a request runs."""

from __future__ import annotations

import pytest

from webbee_kernel.errors import TurnWorking
from webbee_kernel.stores.rate_limits import (
    BEGUN,
    GOES_ON,
    LEASE_S,
    LEFT_NOTHING,
    SOON_S,
    mark,
    runs,
)

NOW = 1_000.0


def at(seconds: float, what: str = BEGUN, session: str = "s1") -> str:
    return mark(TurnWorking("r1", session), NOW + seconds, what)


@pytest.mark.parametrize(
    ("asked", "runs_then"),
    [(0.5, False), (SOON_S, True), (LEASE_S - 0.001, True), (LEASE_S, False), (-5, False)],
)
def test_a_request_runs_from_a_second_after_it_began_until_its_lease_ends(
    asked: float, runs_then: bool
) -> None:
    assert runs(at(asked), [at(0)]) is runs_then


def test_a_request_that_left_nothing_runs_no_longer_whoever_asked_meanwhile() -> None:
    marks = [at(0), at(3), at(4, LEFT_NOTHING)]
    assert not runs(at(5), marks)
    assert not runs(at(0), [at(0), at(0, LEFT_NOTHING)])  # at once
    assert runs(at(7), [*marks, at(5)])  # begun anew


def test_who_was_told_that_it_runs_does_not_keep_it_running() -> None:
    marks = [at(0), at(3), at(6), at(9)]
    assert not runs(at(11), marks)
    assert runs(at(13), [*marks, at(11)])  # the one that began anew


def test_a_turn_that_goes_on_runs_for_another_lease() -> None:
    marks = [at(0), at(5, GOES_ON), at(12)]
    assert runs(at(5.5), marks[:2])
    assert runs(at(14.9), marks)
    assert not runs(at(15), marks)
    assert runs(at(14.9), marks[1:])  # its first mark is forgotten


def test_other_requests_and_a_write_whose_answer_was_lost_are_not_this_one() -> None:
    assert not runs(at(5), [at(0, session="s2"), at(5)])
