"""The table of what both dialects share, in `docs/compatibility.md`, from one run of its tests.

Run `python -m tests.authors.conformance`; exit status 1 where a sentence does not hold.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "compatibility.md"
SUITE = Path(__file__).with_name("test_both_dialects.py")
DIALECTS = {"ours": "`webbee_kernel.sdk`", "theirs": "`imperal-sdk`"}
BLOCK = re.compile(r"(<!-- both -->\n)(.*?)(<!-- /both -->)", re.DOTALL)

Outcomes = dict[str, dict[str, str]]
"""Sentence to dialect to what came of it: holds, failed, skipped."""


class Run:
    """A pytest plugin that keeps the outcomes of the tests that ran in both dialects."""

    def __init__(self) -> None:
        self.outcomes: Outcomes = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Called by pytest after each phase; a failure in any of them is one."""
        named = re.search(r"::test_(\w+)\[(\w+)\]", report.nodeid)
        if named and (report.when == "call" or not report.passed):
            held = "holds" if report.passed else report.outcome
            self.outcomes.setdefault(spoken(named[1]), {})[named[2]] = held


def spoken(test: str) -> str:
    """A test's name as a sentence."""
    return test.replace("_", " ").capitalize()


def page() -> str:
    """The page as it is."""
    return PAGE.read_text("utf-8")


def sentences() -> list[str]:
    """What the suite promises of each dialect, in its order."""
    source = SUITE.read_text("utf-8")
    named = re.findall(r"^def test_(\w+)\(\s*harness: ExtensionHarness", source, re.MULTILINE)
    return [spoken(n) for n in named]


def told_of(text: str) -> list[str]:
    """The sentences of the page's table that hold in both dialects, in its order."""
    block = BLOCK.search(text)
    rows = re.findall(r"^\| (.+?) \| holds \| holds \|$", block[2] if block else "", re.MULTILINE)
    return list(rows)


def table(outcomes: Outcomes) -> str:
    """The rows as Markdown."""
    head = ["| " + " | ".join(["", *DIALECTS.values()]) + " |", "|---|---|---|"]
    rows = (
        "| "
        + " | ".join([told, *(outcomes.get(told, {}).get(d, "not run") for d in DIALECTS)])
        + " |"
        for told in sentences()
    )
    return "\n".join([*head, *rows]) + "\n"


def main() -> int:
    """Run the suite, write the page."""
    run = Run()
    status = pytest.main(["-q", "-n", "0", "-p", "no:cacheprovider", str(SUITE)], plugins=[run])
    written = BLOCK.sub(lambda m: m[1] + table(run.outcomes) + m[3], page())
    PAGE.write_text(written, "utf-8")
    held = told_of(written) == sentences()
    return 0 if held else int(status) or 1


if __name__ == "__main__":
    sys.exit(main())
