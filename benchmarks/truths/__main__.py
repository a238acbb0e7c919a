"""`python -m benchmarks.truths`: check every case and print the table."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from time import process_time

from benchmarks.truths.adapter import judge, prepared
from benchmarks.truths.flagged import flags_table
from benchmarks.truths.generate import SEALED_SEED, TUNING_SEED, generate
from benchmarks.truths.model import Case
from benchmarks.truths.plain_words import plain_words
from benchmarks.truths.report import Outcome, table
from benchmarks.truths.steps import steps
from benchmarks.truths.words import use

MOST = 200
"""Replies whose function calls are counted."""


def measure(cases: Sequence[Case]) -> list[Outcome]:
    """Check every case; the first is checked once before, so that no import is timed."""
    judge(cases[0])
    outcomes = []
    for case in cases:
        run = prepared(case)
        start = process_time()
        answer = run()
        outcomes.append(Outcome(case, answer, 1000 * (process_time() - start)))
    return outcomes


def show(outcomes: Sequence[Outcome], kind: str, most: int = 40) -> None:
    """Print the wrong outcomes of a kind: faults missed, honest replies changed."""
    wrong = [o for o in outcomes if o.case.kind.startswith(kind) and o.hit != bool(o.case.fault)]
    for outcome in wrong[:most]:
        case = outcome.case
        print(f"\n{case.id} [{case.language}] {case.kind}\n  message: {case.message}")
        print(f"  reply:   {case.reply}")
        print(f"  calls:   {[(c.fn_name, c.status, c.error or c.data) for c in case.calls]}"[:600])
        print(
            f"  planted: {case.fault.span!r} for {case.fault.right!r}"
            if case.fault
            else f"  named:   {outcome.answer.named}, as {outcome.answer.kinds}"
        )
    print(f"\n{len(wrong)} wrong of this kind\n")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.truths",
        description="Measure the grounding check on foreign results.",
    )
    parser.add_argument("--seed", type=int, help="another seed than the half's own")
    parser.add_argument("--n", type=int, default=2000, help="how many cases")
    parser.add_argument(
        "--sealed", action="store_true", help="the held-out templates and apps; to be run once"
    )
    parser.add_argument(
        "--words",
        default="words",
        metavar="FOLDER",
        help="words_other, words_third, … words_seventh: those of other hands",
    )
    parser.add_argument(
        "--plain",
        nargs="?",
        const="plain_words",
        metavar="FILE",
        help="replies written by hand: a file or plain_words, …_third to …_twentysecond",
    )
    parser.add_argument(
        "--flags", action="store_true", help="print what each kind of flag is worth"
    )
    parser.add_argument("--now", default="", help="when those replies were written, ISO 8601")
    parser.add_argument(
        "--show", metavar="KIND", help="print what went wrong with kinds that start so"
    )
    return parser.parse_args()


def main() -> None:
    """Run one half, or the replies written by hand."""
    asked = arguments()
    use(asked.words)
    seed = asked.seed if asked.seed is not None else SEALED_SEED if asked.sealed else TUNING_SEED
    outcomes = measure(
        plain_words(asked.plain, asked.now)
        if asked.plain
        else generate(seed, asked.n, sealed=asked.sealed)
    )
    if asked.show is not None:
        show(outcomes, asked.show)
    if asked.flags:
        print(flags_table(outcomes))
        return
    print(table(outcomes))
    calls = steps([o.case for o in outcomes][:MOST])
    print(f"function calls a reply: {calls:.0f}")


if __name__ == "__main__":
    main()
