"""docs/cost.md tells what a fresh count of units costs."""

from __future__ import annotations

import subprocess
import sys

import pytest

from benchmarks.cost import PRICES, Units, rounded
from tests.documents import ROOT


@pytest.fixture(scope="module")
def printed() -> str:
    """`make bench ARGS=cost`, in a process of its own: it takes the whole log."""
    command = [sys.executable, "-m", "benchmarks.cost"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return done.stdout


def test_both_tables_of_the_page_are_those_that_are_printed(printed: str) -> None:
    page = (ROOT / "docs" / "cost.md").read_text("utf-8")
    units, months = printed.strip().split("\n\n")
    assert units in page, units
    assert months in page, months


def test_everything_that_is_paid_by_use_is_counted(printed: str) -> None:
    [last] = [line for line in printed.splitlines() if line.startswith("| **a million")]
    assert last.count("$") == 4
    for words in ("WebSocket messages", "log MB", "SQS requests", "custom metrics", "alarms"):
        assert words in printed
    assert "900 minutes" in printed


def test_a_millions_price_is_the_sum_of_its_units() -> None:
    assert Units(http=2, messages=3, log_mb=0.001).dollars == pytest.approx(2 + 3 + 0.5)
    assert PRICES.keys() == set(Units.__dataclass_fields__)


def test_a_count_is_rounded_up_so_that_the_next_one_says_the_same() -> None:
    told = rounded(Units(writes=10.8, reads=6.5, log_mb=0.00143, gb_seconds=3.26))
    assert (told.writes, told.reads, told.log_mb, told.gb_seconds) == (11, 6.5, 0.002, 3.26)
