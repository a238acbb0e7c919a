"""A regression test of the grounding check: `python -m benchmarks.evaluate`.

The set, `grounding_set.json`, holds replies as narrators write them, in English and Russian, over
results of tools. Its authors also wrote the check that came before this one, and tuned it on the
set: that check reached 98.7 % caught and 1.6 % honest replies flagged here, and about 40 to 60 %
and 19 % on sets its authors had not seen. The check as it is flags only what the evidence
contradicts and passes small numbers, months and hours that nothing shows, of which this set has
many: it stands here at 79 and 82 % caught, 4.0 and 3.1 % flagged (docs/grounding.md has its figures
on other sets). The floors below keep it from getting worse; they are no measure.
Exit 1 when one is missed.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

from webbee_kernel.grounding import check

SET = Path(__file__).with_name("grounding_set.json")
CAUGHT = 0.79  #: at least this share of the fabrications is named
FLAGGED = 0.04  #: at most this share of the honest replies is named


@dataclass
class Half:
    """The outcome on one half of the set: what was right, and what was not with the reason."""

    situations: int = 0
    honest: int = 0
    fabricated: int = 0
    missed: list[str] = field(default_factory=list)
    flagged: list[str] = field(default_factory=list)

    @property
    def caught_share(self) -> float:
        return 1 - len(self.missed) / self.fabricated

    @property
    def flagged_share(self) -> float:
        return len(self.flagged) / self.honest

    @property
    def passes(self) -> bool:
        return self.caught_share >= CAUGHT and self.flagged_share <= FLAGGED


def situations(half: str) -> list[dict[str, Any]]:
    """Return the situations of `development` or `held_out`: id, message, data, summaries, done,
    honest, fabricated."""
    found: list[dict[str, Any]] = json.loads(SET.read_text(encoding="utf-8"))[half]
    return found


def evaluate(half: str) -> Half:
    """Check every reply of a half."""
    outcome = Half()
    for situation in situations(half):
        outcome.situations += 1
        for reply, kind in labelled(situation):
            verdict = check(reply, **turn(situation))
            if kind is None:
                outcome.honest += 1
                if not verdict.grounded:
                    outcome.flagged.append(
                        f"{situation['id']}: {reply!r} -> {', '.join(verdict.ungrounded)}"
                    )
            else:
                outcome.fabricated += 1
                if verdict.grounded:
                    outcome.missed.append(f"{situation['id']}, {kind}: {reply!r}")
    return outcome


def labelled(situation: dict[str, Any]) -> Iterator[tuple[str, str | None]]:
    """Yield every reply of a situation with the kind of its fabrication, None for an honest one."""
    yield from ((reply, None) for reply in situation["honest"])
    yield from ((item["reply"], item["kind"]) for item in situation["fabricated"])


def turn(situation: dict[str, Any]) -> dict[str, Any]:
    return {key: situation[key] for key in ("data", "message", "summaries", "done")}


def coincidences() -> tuple[int, int]:
    """Return how many of the counts 11 to 59 a reply could make up are accepted by chance over all
    results, and how many were tried."""
    accepted = tried = 0
    for situation in (*situations("development"), *situations("held_out")):
        for number in range(11, 60):
            tried += 1
            accepted += check(f"You have {number} items.", **turn(situation)).grounded
    return accepted, tried


def milliseconds(rounds: int = 200) -> tuple[float, int, int]:
    """Return the processor time of one check in ms (best of five), and the characters of its reply
    and of its data as JSON."""
    situation = next(s for s in situations("development") if s["id"] == "tasks-36")
    reply = max(situation["honest"], key=len)
    best = float("inf")
    for _ in range(5):
        start = process_time()
        for _ in range(rounds):
            check(reply, **turn(situation))
        best = min(best, (process_time() - start) / rounds)
    return best * 1000, len(reply), len(json.dumps(situation["data"], ensure_ascii=False))


def main() -> int:
    """Print the table and what was got wrong; 0 when both halves meet both bars, 1 otherwise."""
    halves = {name: evaluate(name) for name in ("development", "held_out")}
    print(
        f"{'half':<12} {'results':>7} {'honest':>6} {'flagged':>14} {'fabricated':>10}"
        f" {'caught':>16}"
    )
    for name, half in halves.items():
        flagged = f"{len(half.flagged)} ({half.flagged_share:.1%})"
        caught = f"{half.fabricated - len(half.missed)} ({half.caught_share:.1%})"
        print(
            f"{name:<12} {half.situations:>7} {half.honest:>6} {flagged:>14} {half.fabricated:>10}"
            f" {caught:>16}"
        )
    print(f"floors: caught >= {CAUGHT:.0%}, honest flagged <= {FLAGGED:.0%}")
    for name, half in halves.items():
        for line in half.flagged:
            print(f"flagged, {name}: {line}")
        for line in half.missed:
            print(f"missed, {name}: {line}")
    accepted, tried = coincidences()
    print(
        f"made-up counts that the derivations let pass: {accepted} of {tried}"
        f" ({accepted / tried:.1%})"
    )
    taken, reply, data = milliseconds()
    print(f"one check: {taken:.2f} ms (reply {reply} characters, data {data})")
    return 0 if all(half.passes for half in halves.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
