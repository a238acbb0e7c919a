"""Tool retrieval: which functions of a large catalogue a prompt shows, in full or brief form.
Deterministic.

For prompt caching the beginning of a request must stay the same. So the tools shown in one turn are
shown in the next in the same form and order, and new ones are appended. The list is stored with the
session's turns, a few bytes per function.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, NamedTuple

from ..catalogue import AppInfo, FunctionInfo, PerObject
from ..llm.protocol import ToolSpec
from ..llm.tools import characters, forms
from ..stores.types import HistoryItem
from .tool_search import Index, index_of

MAX_WHOLE = 40_000
"""Characters of a catalogue that is shown in full: about 10,000 tokens, cached from the second turn
on."""

BUDGET = 21_000
"""Characters of a session's first selection from a larger one: about 5,500 tokens."""

MAX_LISTED = 56_000
"""Characters up to which later messages add; beyond it the latest additions are dropped."""

IN_FULL = 3_000
"""Characters of the first selection for full forms of the nearest; the rest is for brief forms."""

ADDED_IN_FULL = 1_000
"""The same for later additions."""

MAX_FUNCTIONS = 124
"""Functions of a catalogue that is shown in full: services accept 128 tools, including the
kernel's own."""

MAX_CHOSEN = 90
"""Functions in the first selection from a larger one."""

MAX_GROWN = 114
"""Functions up to which later messages add; searches may add more."""

MAX_NEAR = 40
"""Nearest functions considered for a later message; added are those that score at least"""
MIN_SCORE = 0.6
"""this share of the best score, and others as far as"""
MAX_ADDED_SIZE = 3_500
"""these characters allow."""


class ListedTool(NamedTuple):
    """A function by its number in the catalogue of the installed apps, in full or brief form."""

    number: int
    is_whole: bool


class ToolList(NamedTuple):
    """The tools that a turn has shown, in order. The first `base` were selected for the session's
    first message and stay while the catalogue is unchanged; later additions may be dropped."""

    tools: tuple[ListedTool, ...]
    base: int


class Shortlist(NamedTuple):
    """The functions shown, as `tools` for the model; `ranked` are all, best first.

    The first `base` are in catalogue order and stay for the session, the first `unchanged` are as
    in the turn before. `limit` is the limit of a small window in characters, 0 for none.
    """

    shown: tuple[FunctionInfo, ...]
    ranked: tuple[FunctionInfo, ...]
    tools: tuple[ToolSpec, ...]
    base: int = 0
    unchanged: int = 0
    limit: int = 0

    @property
    def left_out(self) -> int:
        """Number of functions not shown."""
        return len(self.ranked) - len(self.shown)

    @property
    def room(self) -> int:
        """Maximum characters."""
        usual = BUDGET if self.base == len(self.shown) else MAX_LISTED
        return self.limit or (usual if self.left_out else MAX_WHOLE)

    @property
    def characters(self) -> int:
        return sum(map(characters, self.tools))


def shortlist(
    functions: Sequence[FunctionInfo],
    message: str,
    used: Collection[tuple[str, str]] = (),
    apps: Mapping[str, AppInfo] = MappingProxyType({}),
    before: ToolList | None = None,
    limit: int = 0,
) -> Shortlist:
    """All functions if they fit into a prompt, else those nearest to the message, or the list
    `before` with additions for this message; within `limit` characters for a small window.

    Functions used in the last five turns (`(app_id, fn_name)`) come first and always stay. Ties are
    broken by name.
    """
    if (tools := _whole(functions, limit)) is not None:
        return Shortlist(tuple(functions), tuple(functions), tools)
    index = index_of(functions, apps)
    near = _near(index, message)
    # an app may have been uninstalled since it was used
    needed = [n for n, _ in near if index.key(n) in used] if used else []
    if before and not limit:
        listed, steady = _extend(functions, before, needed, near[:MAX_NEAR])
    else:
        listed, steady = _first_list(functions, needed, near, limit), 0
    return Shortlist(
        tuple(functions[p.number] for p in listed.tools),
        tuple(functions[n] for n, _ in near),
        tuple(tool(functions[p.number], p) for p in listed.tools),
        listed.base,
        steady,
        limit,
    )


def notice(listed: Shortlist) -> str:
    """The prompt's note on functions that are not shown; empty if all are."""
    if not listed.left_out:
        return ""
    return (
        f"[CATALOGUE]\nNOTE: {len(listed.shown)} of {len(listed.ranked)} functions are shown, those"
        " nearest to what was said. Where none of them does what is needed, call kernel__search."
    )


def _whole(functions: Sequence[FunctionInfo], limit: int) -> tuple[ToolSpec, ...] | None:
    """The tools of a catalogue that is shown in full, or None, as for a small window; depends on
    nothing else, so it is the same in every turn."""
    if limit or len(functions) > MAX_FUNCTIONS:
        return None
    every = [forms(f) for f in functions]
    fits = sum(form.whole_characters for form in every) <= MAX_WHOLE
    return tuple(form.in_app for form in every) if fits else None


def _near(index: Index, message: str) -> list[tuple[int, float]]:
    """The ranking as (number, score)."""
    scores = index.scores(message)
    return sorted(((n, scores.get(n, 0.0)) for n in index.order), key=lambda pair: -pair[1])


def _first_list(
    functions: Sequence[FunctionInfo],
    needed: Sequence[int],
    near: Sequence[tuple[int, float]],
    limit: int,
) -> ToolList:
    """A session's first selection, in catalogue order: as many functions as fit in brief form,
    `needed` ones always (unless a window limits it), then the first ones in full."""
    budget, least = limit or BUDGET, 0 if limit else len(needed)
    order = dict.fromkeys((*needed, *(n for n, _ in near)))
    chosen: list[int] = []
    # of a small window's budget no more than a quarter goes to full words
    room = budget - min(IN_FULL, budget // 4)
    for number in order:
        room -= forms(functions[number]).brief_characters
        full = room < 0 or len(chosen) >= MAX_CHOSEN
        if full and chosen and len(chosen) >= least:
            break
        chosen.append(number)
    used = sum(forms(functions[n]).brief_characters for n in chosen)
    return ToolList(_list_tools(functions, chosen, budget - used), len(chosen))


def _list_tools(
    functions: Sequence[FunctionInfo], numbers: Sequence[int], room: int
) -> tuple[ListedTool, ...]:
    """These functions in catalogue order, the first ones in full while there is room."""
    whole: set[int] = set()
    for number in numbers:
        form = forms(functions[number])
        if 0 < (more := form.whole_characters - form.brief_characters) <= room:
            whole.add(number)
            room -= more
    return tuple(ListedTool(n, n in whole) for n in sorted(numbers))


def _extend(
    functions: Sequence[FunctionInfo],
    before: ToolList,
    needed: Sequence[int],
    near: Sequence[tuple[int, float]],
) -> tuple[ToolList, int]:
    """The previous list with needed and near functions appended, and the number of unchanged ones.
    If that is too much, the latest additions are dropped, down to the first selection, so that the
    cached beginning stays."""
    kept, more = before.tools, list[int]()
    for count in range(len(before.tools), before.base - 1, -1):
        kept = before.tools[:count]
        more = _additions(functions, kept, needed, near)
        listed = (*kept, *_list_tools(functions, more, ADDED_IN_FULL))
        size = sum(characters(tool(functions[p.number], p)) for p in listed)
        if len(listed) <= MAX_GROWN and size <= MAX_LISTED:
            return ToolList(listed, before.base), count
    # what was used of late stays, also beyond the limit
    room = max(MAX_GROWN - before.base, len(set(more) & set(needed)))
    listed = (*kept, *_list_tools(functions, more[:room], ADDED_IN_FULL))
    return ToolList(listed, before.base), before.base


def _additions(
    functions: Sequence[FunctionInfo],
    listed: Sequence[ListedTool],
    needed: Sequence[int],
    near: Sequence[tuple[int, float]],
) -> list[int]:
    """The functions to append to the list, needed ones first."""
    there = {p.number for p in listed}
    found = [n for n in needed if n not in there]
    there.update(needed)
    least, room = MIN_SCORE * near[0][1], MAX_ADDED_SIZE
    for number, score in near:
        if score > 0 and number not in there:
            room -= forms(functions[number]).brief_characters
            if score >= least or room >= 0:
                found.append(number)
    return found


_KEY_BYTES = 4


def key_of(apps: Iterable[AppInfo]) -> bytes:
    """A hash of the functions' names, in order."""
    return hashlib.sha256(b"".join(map(_name_hash, apps))).digest()[:_KEY_BYTES]


@PerObject
def _name_hash(app: AppInfo) -> bytes:
    names = "\n".join((app.app_id, *(f.fn_name for f in app.functions)))
    return hashlib.sha256(names.encode()).digest()


def tool(function: FunctionInfo, place: ListedTool) -> ToolSpec:
    """A function in its listed form."""
    return forms(function).whole if place.is_whole else forms(function).brief


def tool_list(tools: Iterable[ToolSpec], functions: Sequence[FunctionInfo], base: int) -> ToolList:
    numbers = {f.tool_name: n for n, f in enumerate(functions)}
    found = [numbers[t.name] for t in tools]
    whole = [t is not forms(functions[n]).brief for t, n in zip(tools, found, strict=True)]
    return ToolList(tuple(map(ListedTool, found, whole)), base)


def to_text(listed: ToolList, key: bytes) -> str:
    """The list as text: key, base size, and the numbers, with a `+` for full form."""
    numbers = ",".join(f"{p.number}{'+' * p.is_whole}" for p in listed.tools)
    return f"{key.hex()} {listed.base} {numbers}"


def from_text(text: str, key: bytes) -> ToolList | None:
    """The inverse of `to_text`; None for a list of another catalogue."""
    named, base, numbers = text.split(" ")
    if named != key.hex():
        return None
    places = (ListedTool(int(n.rstrip("+")), n.endswith("+")) for n in numbers.split(",") if n)
    return ToolList(tuple(places), int(base))


TEXT_BYTES: Final = 3.2
"""Bytes per token of text, for the small vocabularies of local models."""

TOOL_CHARACTERS: Final = 2.6
"""Characters per token of a tool, without the server's JSON around it."""

MIN_TOOLS: Final = 2_500
"""Minimum characters of tools, about ten in brief form, before facts are dropped."""


def tokens(text: str) -> int:
    """Upper estimate of a text's tokens."""
    return math.ceil(len(text.encode("utf-8", "replace")) / TEXT_BYTES)


def tool_tokens(tools: Iterable[ToolSpec]) -> int:
    """Upper estimate of the tokens of tools."""
    return math.ceil(sum(map(characters, tools)) / TOOL_CHARACTERS)


def shorter(items: tuple[HistoryItem, ...]) -> tuple[HistoryItem, ...]:
    """The turns without the facts of the oldest one that has any, else without the oldest turn."""
    for place, item in enumerate(items):
        if item.facts:
            return (*items[:place], item._replace(facts=()), *items[place + 1 :])
    return items[1:]
