"""What `benchmarks.finding` measured, as a table and as figures for the bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from benchmarks.finding.measure import Found
from benchmarks.finding.sessions import Turn, shares

from . import tables


def table(found: Sequence[Found]) -> str:
    """By set and language."""
    rows: tables.Rows = []
    for name, part in tables.groups(found, lambda f: f"{f.said.set_name} ({f.said.language})"):
        if name == tables.ALL:
            continue
        searched = any(f.said.ask for f in part)
        rows.append(
            (
                name,
                _written(_share(part, lambda f: f.first)),
                _written(_share(part, lambda f: f.after)) if searched else "–",
                tables.mean(sum(f.functions for f in part), len(part)),
            )
        )
    head = ("messages", "function shown at once", "after a search", "functions shown")
    return tables.table("Finding: is the function in the prompt", head, rows)


def figures(found: Sequence[Found]) -> dict[str, Fraction]:
    """What the bars speak of."""
    ours = [f for f in found if f.said.ask]
    calls = [f for f in found if f.said.set_name == "BFCL, calls"]
    parts = {
        "shown at once, said in English": ([f for f in ours if f.said.language == "en"], False),
        "shown at once, said in Russian": ([f for f in ours if f.said.language == "ru"], False),
        "shown after a search": (ours, True),
        "calls of BFCL shown at once": (calls, False),
    }
    return {
        name: Fraction(*_share(part, lambda f: f.after if late else f.first))  # noqa: B023
        for name, (part, late) in parts.items()
        if part
    }


def sessions_table(turns: Sequence[Turn]) -> str:
    """By the turn's number in its session."""
    rows: tables.Rows = []
    for name, part in tables.groups(
        [t for t in turns if t.number > 1], lambda t: f"turn {t.number}"
    ):
        begun = shares(part)
        rows.append(
            (
                name,
                tables.mean(sum(t.sent for t in part), len(part)),
                *(f"{share:.1%}" for share in begun.values()),
                tables.share(sum(t.shown for t in part), sum(t.meant for t in part)),
            )
        )
    head = ("BFCL in 1,911 functions", "letters sent", *shares(turns), "functions shown at once")
    return tables.table("Sessions: what begins as in the turn before", head, rows)


def session_figures(turns: Sequence[Turn]) -> dict[str, Fraction]:
    """What the bar speaks of."""
    if not turns:
        return {}
    share = shares(turns)["system first"]
    return {"input that begins as in the turn before": Fraction(share).limit_denominator(10_000)}


def _share(found: Sequence[Found], count: Callable[[Found], int]) -> tuple[int, int]:
    return sum(map(count, found)), sum(len(f.said.calls) for f in found)


def _written(share: tuple[int, int]) -> str:
    return f"{share[0] / max(1, share[1]):.1%} ({tables.share(*share)})"
