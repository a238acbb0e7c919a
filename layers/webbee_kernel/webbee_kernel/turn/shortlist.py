"""Shortlist: which functions of a large catalogue a prompt shows, and in how many words.
Deterministic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from ..catalogue import AppInfo, FunctionInfo
from ..llm.protocol import ToolSpec
from ..llm.tools import characters, forms
from .relevance import scores

WHOLE = 40_000
"""Characters of a catalogue that is shown whole: about 10,000 tokens, which a service reads from
its cache from the second turn on, because they are the same in every turn."""

BUDGET = 24_000
"""Characters of what is chosen out of a larger one: about 6,000 tokens, read anew in every turn."""

IN_FULL = 4_000
"""Characters of these for what is nearest, in all its words; the rest holds as many as it can in
few."""

MAX_FUNCTIONS = 124
"""Functions of a catalogue that is shown whole: chat-completion services take at most 128, and the
kernel has its own."""

MAX_CHOSEN = 96
"""Functions chosen out of a larger one: searches may add some (finding.MAX_ADDED)."""

QUOTA = 30
"""Functions of one app among those chosen, while others are near: what one app says in many ways
leaves room for the rest."""


@dataclass(frozen=True, slots=True)
class Shortlist:
    """What is shown, in catalogue order, and `tools`, the same as a model sees them; `ranked` holds
    all, best first; `kept` were used in the last turns."""

    shown: tuple[FunctionInfo, ...]
    ranked: tuple[FunctionInfo, ...]
    tools: tuple[ToolSpec, ...]
    kept: frozenset[tuple[str, str]] = frozenset()

    @property
    def left_out(self) -> int:
        """How many are not shown."""
        return len(self.ranked) - len(self.shown)

    @property
    def characters(self) -> int:
        """Characters of what is shown."""
        return sum(map(characters, self.tools))


def shortlist(
    functions: Sequence[FunctionInfo],
    message: str,
    recent: Sequence[str] = (),
    used: Collection[tuple[str, str]] = (),
    apps: Mapping[str, AppInfo] | None = None,
) -> Shortlist:
    """All functions where they fit into a prompt, else those nearest to the message.

    Those used in the last five turns (`(app_id, fn_name)`) come first and always stay. Ties go by
    name, so the same input gives the same list.
    """
    if fits(functions):
        tools = tuple(forms(f).whole for f in functions)
        return Shortlist(tuple(functions), tuple(functions), tools, frozenset(used))
    near = ranked(functions, message, recent, apps)
    near.sort(key=lambda f: (f.app_id, f.fn_name) not in used)
    chosen = _chosen(near, used)
    shown = tuple(f for f in functions if f.tool_name in chosen)
    tools = tuple(chosen[f.tool_name] for f in shown)
    return Shortlist(shown, tuple(near), tools, frozenset(used))


def notice(listed: Shortlist) -> str:
    """What the prompt says about functions that are not shown; empty where all are."""
    if not listed.left_out:
        return ""
    shown = f"{len(listed.shown)} of {len(listed.ranked)} functions are shown, those nearest to the"
    return (
        f"[CATALOGUE]\nNOTE: {shown} message. Where none of them does what is needed, call"
        " kernel__search."
    )


def fits(functions: Sequence[FunctionInfo]) -> bool:
    """Whether a catalogue is shown whole. It depends on nothing but the functions: the same apps
    give the same catalogue in every turn."""
    few = len(functions) <= MAX_FUNCTIONS
    return few and sum(forms(f).whole_characters for f in functions) <= WHOLE


def ranked(
    functions: Sequence[FunctionInfo],
    message: str,
    recent: Sequence[str] = (),
    apps: Mapping[str, AppInfo] | None = None,
) -> list[FunctionInfo]:
    """All functions, those nearest to the message first: of one app 30, then the others that have
    to do with it, then the rest."""
    named = sorted(
        zip(scores(functions, message, recent, apps), functions, strict=True), key=_place
    )
    near: list[FunctionInfo] = []
    beyond: list[FunctionInfo] = []
    of_app: Counter[str] = Counter()
    for score, function in named:
        of_app[function.app_id] += 1
        crowded = of_app[function.app_id] > QUOTA and score > 0
        (beyond if crowded else near).append(function)
    some = sum(score > 0 for score, _ in named) - len(beyond)
    return [*near[:some], *beyond, *near[some:]]


def _place(scored: tuple[float, FunctionInfo]) -> tuple[float, str, str]:
    score, function = scored
    return -score, function.app_id, function.fn_name


def _chosen(near: Sequence[FunctionInfo], used: Collection[tuple[str, str]]) -> dict[str, ToolSpec]:
    """The leading functions by name: as many as fit in few words, then the first of them whole."""
    places: list[FunctionInfo] = []
    room = BUDGET - IN_FULL
    for function in near:
        kept = (function.app_id, function.fn_name) in used
        room -= forms(function).brief_characters
        full = room < 0 or len(places) >= MAX_CHOSEN
        if full and places and not kept:
            break
        places.append(function)
    chosen = {f.tool_name: forms(f).brief for f in places}
    room = BUDGET - sum(forms(f).brief_characters for f in places)
    for function in places:
        form = forms(function)
        if (more := form.whole_characters - form.brief_characters) <= room:
            chosen[function.tool_name] = form.whole
            room -= more
    return chosen
