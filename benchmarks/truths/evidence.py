"""What a turn's calls and message hold, to be sure that a planted value is nowhere in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from itertools import combinations

from benchmarks.truths.model import JSON, Call


def text_of(calls: Iterable[Call], message: str) -> str:
    """Everything the narrator was shown, lower case."""
    shown = [
        json.dumps([c.fn_name, c.arguments, c.data, c.summary, c.error], ensure_ascii=False)
        for c in calls
    ]
    return " ".join([*shown, message]).lower()


def numbers_in(text: str) -> set[float]:
    """Every number of a text, grouping signs apart."""
    return {float(n) for n in re.findall(r"\d+(?:\.\d+)?", text)} | {
        float(n.replace(",", "")) for n in re.findall(r"\d{1,3}(?:,\d{3})+", text)
    }


def derivable(values: Sequence[float]) -> set[float]:
    """What shown values add up to: sums and differences of two, the sum and mean of all, ratios
    in percent, lengths.
    """
    found: set[float] = set(map(float, range(len(values) + 1)))
    for a, b in combinations(values, 2):
        found |= {
            a + b,
            abs(a - b),
            *((round(100 * x / y, d) for x, y in ((a, b), (b, a)) if y for d in (0, 1, 2))),
        }
    if total := sum(values):
        found |= {
            total,
            total / len(values),
            *(round(100 * v / total, d) for v in values for d in (0, 1, 2)),
        }
    return {round(v, 2) for v in found}


def numeric(value: JSON) -> float | None:
    """The number `value` is, if it is one."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
