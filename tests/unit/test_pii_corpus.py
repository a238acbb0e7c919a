"""The bars of the PII gate, on the labelled corpus of `benchmarks/pii.py`."""

from typing import Any

import pytest

from benchmarks import pii as benchmark


@pytest.fixture(scope="module")
def rows() -> dict[str, dict[str, Any]]:
    evaluated: dict[str, dict[str, Any]] = benchmark.evaluate()
    return evaluated


def test_the_corpus_is_large_and_in_both_scripts() -> None:
    entries = benchmark.load()
    assert len(entries) >= 300
    assert sum(1 for e in entries if any("а" <= c <= "я" for c in e["text"].lower())) >= 80
    assert all(value in e["text"] for e in entries for value in e["expect"])


@pytest.mark.parametrize(
    ("kind", "bar"), [("email", 0.98), ("phone_intl", 0.98), ("name_key", 0.85)]
)
def test_what_must_be_masked_is(rows: dict[str, dict[str, Any]], kind: str, bar: float) -> None:
    assert rows[kind]["recall"] >= bar, rows[kind]["failures"]


def test_look_alikes_stay(rows: dict[str, dict[str, Any]]) -> None:
    assert rows["lookalike"]["precision"] >= 0.99, rows["lookalike"]["failures"]


@pytest.mark.parametrize("kind", ["email", "phone_intl", "phone_national", "name_key", "name_text"])
def test_little_else_is_masked_beside_them(rows: dict[str, dict[str, Any]], kind: str) -> None:
    assert rows[kind]["precision"] >= 0.95, rows[kind]["failures"]


def test_the_table_is_printed_and_the_bars_hold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["pii.py"])
    assert benchmark.main() == 0
    printed = capsys.readouterr().out
    assert "lookalike" in printed and "ms warm" in printed


def test_a_missed_bar_is_reported() -> None:
    rows = benchmark.evaluate(
        [
            *benchmark.load(),
            *({"kind": "email", "text": "nothing", "expect": ["nothing"]} for _ in range(9)),
        ]
    )
    assert benchmark.below_bars(rows) == [
        f"recall of email is {rows['email']['recall']:.3f}, the bar 0.98"
    ]
