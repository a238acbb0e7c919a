"""What the check of replies catches and marks wrongly: `python -m benchmarks.truths`.

The set, `replies.json`, are 240 replies that people wrote as a narrator would, over results of some
25 kinds of apps; in two of five they planted one fault. It was read while the check was built, so
its figures are no measure: the floors below keep the check from getting worse. `FILE` runs a file
of the same shape: an object with `results` by name and `replies`, each with `language`, `message`,
`calls` (names of results), `reply`, `label` and, where it is faulty, `fault`.

`--missed` and `--marked` print replies.

A faulty reply is caught by a mark on it or, where the fault is about an effect, by a receipt: the
kernel's own line says what was done, whatever the reply says. Exit 1 below a floor.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.tables import grouped
from webbee_kernel.grounding import Call, Evidence, Mark, check
from webbee_kernel.grounding.receipts import receipts, work

SET = Path(__file__).with_name("replies.json")
CAUGHT = 0.62  #: of the faulty replies marked, or contradicted by a receipt, at least
MARKED = 0.04  #: of the honest replies marked, at most
STATUSES = {"success": "ok", "pending": "waits"}


@dataclass(frozen=True)
class Outcome:
    """One reply: its label, the words that are wrong if any, what was marked, and whether a receipt
    or the line on the turn's work tells of the effects in it."""

    label: str
    reply: str
    fault: str
    marks: tuple[Mark, ...]
    is_receipted: bool
    message: str = ""

    @property
    def is_caught(self) -> bool:
        """Whether a person sees that something is wrong."""
        return bool(self.marks) or self.is_receipted


def outcomes(path: Path = SET) -> Iterator[Outcome]:
    """The replies of a file, each held against its results."""
    document = json.loads(path.read_text("utf-8"))
    for entry in document["replies"]:
        results = [document["results"][name] for name in entry.get("calls", ())]
        calls = tuple(map(_call, results))
        evidence = Evidence(
            calls,
            entry["message"],
            entry.get("policy", ""),
            language=entry["language"],
            now=entry.get("now", document["now"]),
        )
        fault = entry.get("fault") or ""
        label = entry["label"]
        told = any(r.status != "done" for r in receipts(calls)) or not work(calls).changed
        effect = label == "effect" and (told or bool(receipts(calls)))
        marks = check(entry["reply"], evidence=evidence).marks
        span = fault if isinstance(fault, str) else fault["span"]
        yield Outcome(label, entry["reply"], span, marks, effect, entry["message"])


def _call(entry: Mapping[str, Any]) -> Call:
    said = {name: value for name, value in entry.items() if value is not None}
    said["status"] = STATUSES.get(said.get("status", "ok"), said.get("status", "ok"))
    return Call(**said)


def shares(found: list[Outcome]) -> tuple[float, float]:
    """The share of the faulty replies that was caught, and of the honest ones that was marked."""
    faulty = [one for one in found if one.fault]
    honest = [one for one in found if not one.fault]
    caught = sum(one.is_caught for one in faulty) / max(1, len(faulty))
    return caught, sum(bool(one.marks) for one in honest) / max(1, len(honest))


def main() -> int:
    """Print what was caught by label, and what was marked wrongly with `--marked`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, default=SET)
    parser.add_argument("--marked", action="store_true", help="print the honest replies marked")
    parser.add_argument("--missed", action="store_true", help="print the faulty replies missed")
    asked = parser.parse_args()
    found = list(outcomes(asked.file))
    columns = {
        "replies": len,
        "marked": lambda part: sum(bool(one.marks) for one in part),
        "by receipt": lambda part: sum(one.is_receipted for one in part),
    }
    print(grouped("Replies", found, ("label", lambda one: one.label), columns))
    caught, marked_share = shares(found)
    print(f"faulty caught {caught:.1%} (floor {CAUGHT:.0%}), honest marked {marked_share:.1%}")
    for one in found:
        shown = one.reply.replace("\n", " ")[:400]
        if asked.marked and one.marks and not one.fault:
            print("-", [(m.word, m.reason) for m in one.marks], shown)
        if asked.missed and one.fault and not one.is_caught:
            print("-", one.label, [one.fault], one.message, "=>", shown)
    return 0 if asked.file != SET or (caught >= CAUGHT and marked_share <= MARKED) else 1


if __name__ == "__main__":
    sys.exit(main())
