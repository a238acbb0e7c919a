"""`python -m benchmarks.foreign`: AgentDojo's tasks and attacks and BFCL's conversations on the
kernel.

--sample 3 every third case, the same ones each time: what CI runs --suite slack one of AgentDojo's
suites; may be given again --only attack utility, attack, adaptive, bfcl or finding; may be given
again --enforce exit 1 where a bar of `bars.py` is missed --why FILE write why each task failed and
how each attack came through --model NAME play AgentDojo with a real model instead of the obedient
planner
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")  # read when powertools is imported

from benchmarks.finding import measure

from . import (
    adaptive,
    attacks,
    bars,
    bfcl,
    drive,
    finding,
    packages,
    real,
    reasons,
    stories,
    tables,
    utility,
)

T = TypeVar("T")

PARTS = ("utility", "attack", "adaptive", "bfcl", "finding")
PROGRESS_S = 5.0


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    assert __doc__
    parser = argparse.ArgumentParser(
        prog="benchmarks.foreign",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--sample", type=int, default=1)
    parser.add_argument(
        "--suite", action="append", choices=("workspace", "travel", "banking", "slack")
    )
    parser.add_argument("--only", action="append", choices=PARTS)
    parser.add_argument("--enforce", action="store_true")
    parser.add_argument("--why", type=Path)
    parser.add_argument("--model", default="")
    return parser.parse_args(given)


def main(given: list[str] | None = None) -> int:
    """Measure, print, and say whether the bars hold."""
    options = arguments(given)
    logging.disable(logging.CRITICAL)
    names = options.suite or list(packages.dojo())
    if options.model:
        return _real(options, names)
    wanted = options.only or PARTS
    tasks = _all("user tasks", utility.play(names, options.sample)) if "utility" in wanted else []
    told = _all("stories", stories.play()) if "utility" in wanted else []
    attacked = _all("attacks", attacks.play(names, options.sample)) if "attack" in wanted else []
    adapted = _all("adaptive", adaptive.play(names, options.sample)) if "adaptive" in wanted else []
    talks = _all("conversations", bfcl.play(bfcl.SETS, options.sample)) if "bfcl" in wanted else []
    found = _all("messages", measure.play(options.sample)) if "finding" in wanted else []
    turns = _all("turns", measure.sessions(options.sample)) if "finding" in wanted else []
    figures = tables.figures(tasks, attacked, adapted, talks)
    figures |= finding.figures(found) | finding.session_figures(turns)
    verdicts = list(bars.verdicts(figures))
    printed = [
        tables.utility(tasks) if tasks else "",
        tables.stories(told) if told else "",
        tables.attacks(attacked) if attacked else "",
        tables.adaptive(adapted) if adapted else "",
        tables.bfcl(talks) if talks else "",
        finding.table(found) if found else "",
        finding.sessions_table(turns) if turns else "",
        tables.bars(verdicts) if verdicts else "",
        *(f"{count} turns raised {error}" for error, count in drive.raised.most_common()),
    ]
    print("\n\n".join(part for part in printed if part))
    if options.why:
        options.why.write_text(
            reasons.page(tasks, attacked, adapted, talks) + "\n", encoding="utf-8"
        )
    missed = bool(drive.raised) or not all(met for _, _, met in verdicts)
    return 1 if options.enforce and missed else 0


def _real(options: argparse.Namespace, names: list[str]) -> int:
    wanted = options.only or PARTS
    plain = _all("user tasks", real.play(options.model, names, options.sample, attacked=False))
    under = (
        _all("attacks", real.play(options.model, names, options.sample, attacked=True))
        if "attack" in wanted
        else []
    )
    print(real.report(options.model, plain, under))
    return 0


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
    try:
        sys.exit(main())
    except packages.MissingPackage as missing:
        sys.exit(str(missing))
