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
    for table in (units, months):
        for line in table.splitlines():
            assert line in page or _is_near(line, page), line


def _is_near(line: str, page: str) -> bool:
    """Whether the page has the row with amounts a tenth or a thousandth off at most: what else the
    process does meanwhile moves a log line or half a read from one side of a step to the other."""
    name, *amounts = [cell.strip(" *") for cell in line.strip("|").split("|")]
    told = [r for r in page.splitlines() if r.strip("|").split("|")[0].strip(" *") == name]
    return any(_alike(amounts, row) for row in told)


def _alike(amounts: list[str], row: str) -> bool:
    cells = [cell.strip(" *") for cell in row.strip("|").split("|")][1:]
    pairs = [
        (a.lstrip("$").replace(",", ""), b.lstrip("$").replace(",", ""))
        for a, b in zip(amounts, cells, strict=False)
    ]
    return len(cells) == len(amounts) and all(
        a == b or abs(float(a) - float(b)) <= max(0.001, 0.1 * float(b)) for a, b in pairs
    )


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
