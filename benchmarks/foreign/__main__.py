"""`python -m benchmarks.foreign`: AgentDojo's tasks and attacks and BFCL's conversations on the
kernel. What is measured and what it does not show stands in docs/measures.md.

--sample 3      every third case, the same ones each time: what CI runs
--suite slack   one of AgentDojo's suites; may be given again
--only attack   utility, attack, bfcl or finding; may be given again
--enforce       exit 1 where a bar of `tables.py` is missed
--why FILE      write each case as a line of JSON: what ran, what was asked, why it failed
--model NAME    play AgentDojo with a real model instead of the obedient planner
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")  # read when powertools is imported

from . import bfcl, drive, finding, packages, tables, tasks

T = TypeVar("T")

PARTS = ("utility", "attack", "bfcl", "finding")
PROGRESS_S = 5.0


def main(given: list[str] | None = None) -> int:
    """Measure, print, and say whether the bars hold."""
    assert __doc__
    parser = argparse.ArgumentParser(
        "benchmarks.foreign", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument(
        "--suite", action="append", choices=("workspace", "travel", "banking", "slack")
    )
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--enforce", action="store_true")
    parser.add_argument("--why", type=Path)
    parser.add_argument("--model", default="")
    options = parser.parse_args(given)
    logging.disable(logging.CRITICAL)
    names = options.suite or list(packages.dojo())
    wanted = options.only or PARTS
    sample = options.sample
    if options.model:
        cases = tasks.user_tasks(names, sample)
        if "attack" in wanted:
            cases += tasks.attack_cases(names, sample, with_effect=False)
        _print([tables.real(options.model, _all("cases", tasks.play(cases, options.model)))])
        return 0

    def played(part: str, what: str, results: Callable[[], Iterable[T]]) -> list[T]:
        return _all(what, results()) if part in wanted else []

    done = played("utility", "user tasks", lambda: tasks.play(tasks.user_tasks(names, sample)))
    attacked = played("attack", "attacks", lambda: tasks.play(tasks.attack_cases(names, sample)))
    talks = played("bfcl", "conversations", lambda: bfcl.play(bfcl.SETS, sample))
    found = played("finding", "messages", lambda: finding.play(sample))
    turns = played("finding", "turns", lambda: finding.sessions(sample))
    figures = tables.figures(done, attacked, talks) | finding.figures(found, turns)
    verdicts = tables.verdicts(figures)
    own = [tables.utility(done), tables.attacks(attacked), tables.bfcl(talks), finding.table(found)]
    _print([*own, tables.bars(verdicts) if verdicts else ""])
    if options.why:
        cases: list[Any] = [*done, *attacked, *talks]
        lines = (json.dumps(asdict(case), ensure_ascii=False, default=str) for case in cases)
        options.why.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    missed = bool(drive.raised) or not all(met for _, _, met in verdicts)
    return 1 if options.enforce and missed else 0


def _print(printed: Iterable[str]) -> None:
    raised = (f"{count} turns raised {error}" for error, count in drive.raised.most_common())
    print("\n\n".join(filter(None, (*printed, *raised))))


def _all(what: str, results: Iterable[T]) -> list[T]:
    """All of them, with a line of progress now and then."""
    started = told = time.monotonic()
    found: list[T] = []
    for result in results:
        found.append(result)
        if time.monotonic() - told > PROGRESS_S:
            told = time.monotonic()
            print(f"{what}: {len(found)} after {told - started:.0f} s", file=sys.stderr, flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main())
