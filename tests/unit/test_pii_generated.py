"""The PII gate on cases made of other libraries' data (`benchmarks/pii_generated.py`), one seed."""

from __future__ import annotations

import pytest

from benchmarks.pii_generated import evaluate

ROWS = evaluate(7, count=40)


@pytest.mark.parametrize(
    ("kind", "bar"),
    [
        ("international, prose", 1.0),
        ("national, behind a word", 1.0),
        ("national, phone key", 1.0),
        ("JSON number", 1.0),
        ("national, prose", 0.9),
        ("national, a zone tells", 0.9),
        ("national, another phone tells", 0.9),
        ("name of a place or thing, key", 0.95),
        ("name of a place or thing, prose", 0.98),
        ("id, date, version, amount", 0.98),
    ],
)
def test_the_gate_is_right_about_generated_cases(kind: str, bar: float) -> None:
    hits, total, wrong = ROWS[kind]
    assert hits / total >= bar, wrong
