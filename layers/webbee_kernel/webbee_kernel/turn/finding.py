"""Finding: the classifier's own search for functions that its catalogue does not show. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..base.text import one_line
from ..catalogue import AppInfo, FunctionInfo
from .planner import Answer
from .relevance import scores

MOST = 15
"""Functions that one search shows."""

MAX_ADDED = 30
"""Functions that the searches of a turn add to what is shown, so that no service refuses the
catalogue (shortlist.MAX_CHOSEN)."""

SHOWN = "it was not shown: its arguments stand in the catalogue now, call it again"


def search(
    functions: Sequence[FunctionInfo], query: str, app: str, apps: Mapping[str, AppInfo]
) -> list[FunctionInfo]:
    """At most 15 functions that have to do with the query, the nearest first; of one app where
    there is one of that id."""
    mine = [f for f in functions if f.app_id == app.strip()] or list(functions)
    near = scores(mine, query, (), apps)
    order = sorted(range(len(mine)), key=lambda i: (-near[i], mine[i].tool_name))
    return [mine[i] for i in order[:MOST] if near[i] > 0]


def looked_up(
    answer: Answer,
    functions: Sequence[FunctionInfo],
    offered: Sequence[FunctionInfo],
    apps: Mapping[str, AppInfo],
    room: int,
) -> tuple[Answer, tuple[FunctionInfo, ...]]:
    """The answer with what its searches found, and the functions that have to be shown from now on.

    `functions` are all that are installed, `offered` those that it saw, `room` how many more may be
    shown. A function that it called by its right name without having seen it counts as found.
    """
    seen = {f.tool_name for f in offered}
    hidden = {f.tool_name: f for f in functions if f.tool_name not in seen}
    added = {c.name: hidden[c.name] for c in answer.response.tool_calls if c.name in hidden}
    told: dict[int, str] = {}
    for place, query, app in answer.searches:
        hits = search(functions, query, app, apps)
        added |= {f.tool_name: f for f in hits if f.tool_name in hidden}
        told[place] = _told(query, hits)
    new = tuple(added.values())[:room]
    shown = {f.tool_name for f in new}
    problems = tuple(replace(p, problem=SHOWN) if p.call in shown else p for p in answer.problems)
    return replace(answer, found=told, problems=problems), new


def _told(query: str, hits: Sequence[FunctionInfo]) -> str:
    names = ", ".join(f.tool_name for f in hits)
    asked = one_line(query, 80)
    if not names:
        return f"nothing has to do with {asked!r}: say it in other words of [APPS]"
    return f"for {asked!r} the catalogue shows {names}"
