"""The check of a reply is linear in it, whatever it is made of. Calls are counted, nothing is timed."""

from __future__ import annotations

import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from webbee_kernel.grounding import check

DATA = {
    "tasks": [
        {"id": n, "title": f"Task {n}", "hours": n * 1.5, "due": "2026-11-24"} for n in range(36)
    ]
}
EACH, DIFFERENT = 45, 60
"""Calls of functions for a character of a reply, at most, and of one without repeats."""


def calls_of(text: str) -> int:
    """How many functions are called, those written in C included, to check a reply."""
    made = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal made
        made += event in ("call", "c_call")

    check("warm 1", data=[DATA])
    before = sys.getprofile()
    sys.setprofile(count)
    try:
        check(text, data=[DATA], message="how many tasks")
    finally:
        sys.setprofile(before)
    return made


@pytest.mark.parametrize(
    "unit", ["1 ", "1% ", "1,", "1-", "10:00 ", "€5 ", "| 1 | 2 |\n", '"a" ', "seven ", "1. x\n"]
)
def test_a_value_told_over_and_over_costs_no_more_than_its_characters(unit: str) -> None:
    text = unit * (16_000 // len(unit))
    assert calls_of(text) < EACH * len(text)


@pytest.mark.parametrize(
    "form", ["{} ", "\u20ac{}.40 ", "{}.5% ", "AB-{} ", "Task {0}: {0}, ", "{} h 12 min "]
)
def test_thousands_of_different_values_cost_no_more_than_their_characters(form: str) -> None:
    text = "".join(form.format(1000 + 7 * n) for n in range(3_200))[:16_000]
    assert calls_of(text) < DIFFERENT * len(text)


@settings(max_examples=15, deadline=None)
@given(st.text(alphabet="aZя1٣0.,:;-/%€$#\"'*_|()\n é中🙂", min_size=1, max_size=5))
def test_twice_as_much_of_anything_costs_about_twice_as_much(unit: str) -> None:
    once = calls_of(unit * (1_500 // len(unit)))
    twice = calls_of(unit * (3_000 // len(unit)))
    assert twice < 2.6 * once + 20_000
