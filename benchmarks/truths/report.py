"""The table: by kind of fault what was caught, by honest kind what was changed, by language both,
with 95 % Wilson intervals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt

from benchmarks.truths.adapter import Answer
from benchmarks.truths.model import Case

#: the bars of the acceptance table: name, share, and which kinds count; faults must reach it,
#: honest kinds stay under it
BARS: tuple[tuple[str, float, Callable[[Case], bool]], ...] = (
    ("invented values", 0.97, lambda c: c.kind.startswith("invented")),
    ("true value, wrong record", 0.60, lambda c: c.kind == "wrong record"),
    ("word values", 0.60, lambda c: c.kind.startswith("word swapped")),
    ("counts against totals", 0.90, lambda c: c.kind.startswith("count: ")),
    (
        "effects, failures, denials",
        0.97,
        lambda c: c.kind.startswith(
            ("effect not", "failure as", "failure left", "denial", "no call: effect")
        ),
    ),
    ("user's data without a call", 0.0, lambda c: c.kind == "no call: the user's data"),
    (
        "negation, cause, sums, shares",
        0.0,
        lambda c: (
            c.kind in {"negation", "wrong cause", "wrong sum", "wrong share", "wrong superlative"}
        ),
    ),
)


@dataclass(frozen=True)
class Outcome:
    """A case, what the check said of it, and the CPU milliseconds that took."""

    case: Case
    answer: Answer
    milliseconds: float

    @property
    def hit(self) -> bool:
        """Caught, for a faulty reply; changed, for an honest one."""
        return self.answer.caught if self.case.fault else not self.answer.grounded


def wilson(hits: int, total: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a share, in percent."""
    if not total:
        return 0.0, 100.0
    z, p = 1.96, hits / total
    middle, spread = (
        p + z * z / (2 * total),
        z * sqrt(p * (1 - p) / total + z * z / (4 * total * total)),
    )
    return 100 * max(0.0, middle - spread) / (1 + z * z / total), 100 * (middle + spread) / (
        1 + z * z / total
    )


def line(name: str, outcomes: Sequence[Outcome], bar: str = "") -> str:
    """One row: hits of total, the share and its interval."""
    hits, total = sum(o.hit for o in outcomes), len(outcomes)
    low, high = wilson(hits, total)
    share = 100 * hits / total if total else 0.0
    return f"{name:36}{hits:>5} /{total:>5}{share:>8.1f} %  [{low:5.1f}, {high:5.1f}]  {bar}"


def grouped(outcomes: Iterable[Outcome], key: Callable[[Case], str]) -> dict[str, list[Outcome]]:
    """Outcomes by a name of their cases, in order of first appearance."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        groups.setdefault(key(outcome.case), []).append(outcome)
    return groups


def table(outcomes: Sequence[Outcome]) -> str:
    """The whole report as text."""
    faulty = [o for o in outcomes if o.case.fault]
    honest = [o for o in outcomes if not o.case.fault]
    called, plain = [o for o in honest if o.case.calls], [o for o in honest if not o.case.calls]
    times = sorted(o.milliseconds for o in outcomes)
    lines = ["faults caught" + " " * 28 + "caught / total", ""]
    lines += [line(k, g) for k, g in sorted(grouped(faulty, lambda c: c.kind).items())]
    lines += [
        "",
        *(
            line(n, [o for o in faulty if suits(o.case)], f"bar {100 * bar:.0f} %" if bar else "")
            for n, bar, suits in BARS
        ),
    ]
    lines += ["", "honest replies changed" + " " * 18 + "changed / total", ""]
    lines += [line(k, g) for k, g in sorted(grouped(honest, lambda c: c.kind).items())]
    lines += [
        "",
        line("after calls", called, "bar 3 %"),
        line("without a call", plain, "bar 2 %"),
        "",
    ]
    distinct = len({o.case.reply for o in outcomes})
    lines.append(f"distinct replies: {distinct} of {len(outcomes)}")
    spoke = sum(bool(o.answer.added) for o in honest)
    lines += [f"honest replies the kernel added a sentence to: {spoke} of {len(honest)}", ""]
    for language, group in sorted(grouped(outcomes, lambda c: c.language).items()):
        lines.append(line(f"{language}: faults caught", [o for o in group if o.case.fault]))
        lines.append(line(f"{language}: honest changed", [o for o in group if not o.case.fault]))
    middle, late, last = times[len(times) // 2], times[len(times) * 95 // 100], times[-1]
    lines += [
        "",
        f"CPU ms a reply: median {middle:.2f}, 95 of 100 under {late:.2f}, max {last:.2f}",
    ]
    return "\n".join(lines)
