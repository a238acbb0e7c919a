"""Finding: the classifier's own search for functions that its catalogue does not show. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ..base.text import one_line
from ..catalogue import AppInfo, FunctionInfo
from ..llm.protocol import ToolSpec
from ..llm.tools import forms
from .planner import Answer
from .relevance import scores

MOST = 15
"""Functions that one search shows."""

ROOM = 8_000
"""Characters of what a search finds, in all its words; what does not fit is shown in few."""

MAX_ADDED = 30
"""Functions that the searches of a turn add to what is shown, fewer where a service would refuse so
many (shortlist.MAX_FUNCTIONS)."""

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
    shown: Mapping[str, ToolSpec],
    apps: Mapping[str, AppInfo],
) -> tuple[Answer, dict[str, ToolSpec]]:
    """The answer with what its searches found, and by name what is to be shown anew or in more
    words.

    `functions` are all that are installed, `shown` what the classifier saw of them. A function that
    it called by its right name without having seen it counts as found.
    """
    named = {f.tool_name: f for f in functions}
    called = (c.name for c in answer.response.tool_calls)
    hits = [named[name] for name in called if name in named and name not in shown]
    told: dict[int, str] = {}
    for place, query, app in answer.searches:
        found = search(functions, query, app, apps)
        hits += found
        told[place] = _told(query, found)
    new = _formed(hits, shown)
    problems = tuple(replace(p, problem=SHOWN) if p.call in new else p for p in answer.problems)
    return replace(answer, found=told, problems=problems), new


def _formed(hits: Sequence[FunctionInfo], shown: Mapping[str, ToolSpec]) -> dict[str, ToolSpec]:
    """What was found as a model is to see it: whole while there is room, else in few words."""
    new: dict[str, ToolSpec] = {}
    room = ROOM
    for function in hits:
        form, name = forms(function), function.tool_name
        whole = form.whole_characters <= room
        tool = form.whole if whole else form.brief
        if name in new or shown.get(name) in (form.whole, tool):
            continue
        new[name] = tool
        room -= form.whole_characters if whole else form.brief_characters
    return new


def _told(query: str, hits: Sequence[FunctionInfo]) -> str:
    names = ", ".join(f.tool_name for f in hits)
    asked = one_line(query, 80)
    if not names:
        return f"nothing has to do with {asked!r}: say it in other words of [APPS]"
    return f"for {asked!r} the catalogue shows {names}"
