"""Tool retrieval: which functions of a large catalogue a prompt shows, and in how many words.
Deterministic.

Services read a request's beginning from their cache where it is the same bytes as before. So what a
turn has shown stands in the next one too, in the same words and order, and what the next message
needs besides is added behind it. A session keeps its list in its turns, as a few bytes a function:
another request of the same session, wherever it is served, shows the same.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from ..catalogue import AppInfo, FunctionInfo, PerObject
from ..llm.protocol import ToolSpec
from ..llm.tools import characters, forms
from ..stores.types import RING_SIZE, HistoryItem, Turn
from .tool_search import Index, index_of

MAX_WHOLE = 40_000
"""Characters of a catalogue that is shown whole: about 10,000 tokens, which a service reads from
its cache from the second turn on, because they are the same in every turn."""

BUDGET = 21_000
"""Characters of what a session's first message chooses out of a larger one: about 5,500 tokens."""

MAX_LISTED = 56_000
"""Characters up to which later messages add to that; beyond it what was added last makes room."""

IN_FULL = 3_000
"""Characters of the first choice for what is nearest, in all its words; the rest holds as many as
it can in few."""

ADDED_IN_FULL = 1_000
"""The same of what a later message adds."""

MAX_FUNCTIONS = 124
"""Functions of a catalogue that is shown whole: chat-completion services take at most 128, and the
kernel has its own."""

MAX_CHOSEN = 90
"""Functions chosen out of a larger one."""

MAX_GROWN = 114
"""Functions up to which later messages add: searches may add some more."""

QUOTA = 30
"""Functions of one app among those chosen, while others are near: what one app says in many ways
leaves room for the rest."""

MAX_NEAR = 40
"""Functions that a later message brings, the nearest; of them it adds those that score"""
MIN_SCORE = 0.6
"""so much of what the best one does, and others as"""
MAX_ADDED_SIZE = 3_500
"""characters permit."""


class ListedTool(NamedTuple):
    """A function by its number in the catalogue of the installed apps; whole, or in few words."""

    number: int
    is_whole: bool


class ToolList(NamedTuple):
    """What a turn has shown, in its order. The first `base` were chosen for the session's first
    message and stay for as long as its catalogue does; what was added behind them may make room."""

    tools: tuple[ListedTool, ...]
    base: int


class Shortlist(NamedTuple):
    """What is shown, and `tools`, the same as a model sees them; `ranked` holds all, best first;
    `kept` were used in the last turns.

    The first `base` are in catalogue order and stay for the session, the first `steady` stand as
    they did in the turn before. `limit` are the characters that a small window leaves for it, 0
    where there is no such limit.
    """

    shown: tuple[FunctionInfo, ...]
    ranked: tuple[FunctionInfo, ...]
    tools: tuple[ToolSpec, ...]
    recent: frozenset[tuple[str, str]] = frozenset()
    base: int = 0
    unchanged: int = 0
    limit: int = 0

    @property
    def left_out(self) -> int:
        """How many are not shown."""
        return len(self.ranked) - len(self.shown)

    @property
    def room(self) -> int:
        """Characters that it may take."""
        usual = BUDGET if self.base == len(self.shown) else MAX_LISTED
        return self.limit or (usual if self.left_out else MAX_WHOLE)

    @property
    def characters(self) -> int:
        return sum(map(characters, self.tools))


def shortlist(
    functions: Sequence[FunctionInfo],
    message: str,
    used: Collection[tuple[str, str]] = (),
    apps: Mapping[str, AppInfo] | None = None,
    before: ToolList | None = None,
    limit: int = 0,
) -> Shortlist:
    """All functions where they fit into a prompt, else those nearest to the message, or what the
    session has shown `before` and behind it what this message needs besides; within `limit`
    characters where a window leaves no more.

    Those used in the last five turns (`(app_id, fn_name)`) come first and always stay. Ties go by
    name, so the same input gives the same list.
    """
    if not limit and (tools := _whole(functions)) is not None:
        return Shortlist(tuple(functions), tuple(functions), tools, frozenset(used))
    index = index_of(functions, apps or {})
    near = _near(index, message)
    needed = _used_numbers(index, near, used) if used else []
    if before and not limit:
        listed, steady = _extend(functions, before, needed, near[:MAX_NEAR])
    else:
        listed, steady = _first_list(functions, needed, near, limit), 0
    return Shortlist(
        tuple(functions[p.number] for p in listed.tools),
        tuple(functions[n] for n, _ in near),
        tuple(tool(functions[p.number], p) for p in listed.tools),
        frozenset(used),
        listed.base,
        steady,
        limit,
    )


def _used_numbers(
    index: Index, near: Sequence[tuple[int, float]], used: Collection[tuple[str, str]]
) -> list[int]:
    # an app may have been uninstalled since it was used
    return [n for n, _ in near if index.key(n) in used]


def notice(listed: Shortlist) -> str:
    """What the prompt says about functions that are not shown; empty where all are."""
    if not listed.left_out:
        return ""
    return (
        f"[CATALOGUE]\nNOTE: {len(listed.shown)} of {len(listed.ranked)} functions are shown, those"
        " nearest to what was said. Where none of them does what is needed, call kernel__search."
    )


def _whole(functions: Sequence[FunctionInfo]) -> tuple[ToolSpec, ...] | None:
    """A catalogue that is shown whole; None for one that is not. It depends on nothing but the
    functions: the same apps give the same catalogue in every turn."""
    if len(functions) > MAX_FUNCTIONS:
        return None
    every = [forms(f) for f in functions]
    fits = sum(form.whole_characters for form in every) <= MAX_WHOLE
    return tuple(form.in_app for form in every) if fits else None


def ranked(
    functions: Sequence[FunctionInfo], message: str, apps: Mapping[str, AppInfo] | None = None
) -> list[FunctionInfo]:
    """All functions, those nearest to the message first: of one app 30, then the others that have
    to do with it, then the rest."""
    return [functions[n] for n, _ in _near(index_of(functions, apps or {}), message)]


def _near(index: Index, message: str) -> list[tuple[int, float]]:
    """The same by their numbers, with what each scores."""
    scores = index.scores(message)
    near: list[tuple[int, float]] = []
    beyond: list[tuple[int, float]] = []
    of_app: Counter[str] = Counter()
    for n in sorted((n for n in index.order if n in scores), key=lambda n: -scores[n]):
        app_id = index.functions[n].app_id
        of_app[app_id] += 1
        (beyond if of_app[app_id] > QUOTA else near).append((n, scores[n]))
    return [*near, *beyond, *((n, 0.0) for n in index.order if n not in scores)]


def _first_list(
    functions: Sequence[FunctionInfo],
    needed: Sequence[int],
    near: Sequence[tuple[int, float]],
    limit: int,
) -> ToolList:
    """A session's first choice: as many of the leading functions as fit in few words, the `needed`
    ones whatever they take unless a small window limits it, then the first of them whole; in
    catalogue order."""
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
    """These in catalogue order, the first of them whole while there is room."""
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
    """What was shown before, and behind it what is needed or near besides; how many stand as they
    did. Where that is too much, what was added last makes room, down to the first choice: services
    read the beginning that stays from their cache."""
    first, kept_tools = before.tools[: before.base], before.tools
    while True:
        more = _additions(functions, kept_tools, needed, near)
        listed = (*kept_tools, *_list_tools(functions, more, ADDED_IN_FULL))
        over = len(listed) - MAX_GROWN
        size = sum(characters(tool(functions[p.number], p)) for p in listed)
        if over <= 0 and size <= MAX_LISTED:
            return ToolList(listed, before.base), len(kept_tools)
        if len(kept_tools) <= before.base:
            break
        kept_tools = kept_tools[: max(before.base, len(kept_tools) - max(over, 1))]
    # what was used of late stays, also beyond the limit
    more = _additions(functions, first, needed, near)
    room = max(MAX_GROWN - before.base, len(set(more) & set(needed)))
    listed = (*first, *_list_tools(functions, more[:room], ADDED_IN_FULL))
    return ToolList(listed, before.base), before.base


def _additions(
    functions: Sequence[FunctionInfo],
    listed: Sequence[ListedTool],
    needed: Sequence[int],
    near: Sequence[tuple[int, float]],
) -> list[int]:
    """What is to be added to what stands, the needed ones first."""
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
    """What tells one list of functions from another: the names, in their order."""
    return hashlib.sha256(b"".join(map(_names, apps))).digest()[:_KEY_BYTES]


def _name_hash(app: AppInfo) -> bytes:
    names = "\n".join((app.app_id, *(f.fn_name for f in app.functions)))
    return hashlib.sha256(names.encode()).digest()


_names = PerObject(_name_hash)


def tool(function: FunctionInfo, place: ListedTool) -> ToolSpec:
    """A function as its place shows it."""
    return forms(function).whole if place.is_whole else forms(function).brief


def tool_list(tools: Iterable[ToolSpec], functions: Sequence[FunctionInfo], base: int) -> ToolList:
    """The places of what was shown."""
    numbers = {f.tool_name: n for n, f in enumerate(functions)}
    found = [numbers[t.name] for t in tools]
    whole = [t is not forms(functions[n]).brief for t, n in zip(tools, found, strict=True)]
    return ToolList(tuple(map(ListedTool, found, whole)), base)


def text_to_store(text: str, turns: Sequence[Turn], seq: int) -> str:
    """What turn `seq` keeps of its list: nothing where an earlier turn that will still be there
    when the next one reads says the same. A turn that asked no model keeps the list there was."""
    last = next((t for t in reversed(turns) if t.listed), None)
    if last is None or (text and text != last.listed):
        return text
    # turn `seq` takes the slot of the fifth before it: only later ones are still read
    return "" if last.seq > seq - RING_SIZE else last.listed


def to_text(listed: ToolList, key: bytes) -> str:
    """The list as text: key, how many are its base, and the numbers, with a `+` those shown
    whole."""
    numbers = ",".join(f"{p.number}{'+' * p.is_whole}" for p in listed.tools)
    return f"{key.hex()} {listed.base} {numbers}"


def from_text(text: str, key: bytes) -> ToolList | None:
    """The inverse of `text`; None for a list of another catalogue."""
    named, base, numbers = text.split(" ")
    if named != key.hex():
        return None
    places = (ListedTool(int(n.rstrip("+")), n.endswith("+")) for n in numbers.split(",") if n)
    return ToolList(tuple(places), int(base))


TEXT_BYTES: Final = 3.2
"""Bytes of a token of prose, FACTS lines and rules, by the small vocabularies of local models."""

TOOL_CHARACTERS: Final = 2.6
"""Characters of a function a token: the JSON that a server puts around it is not counted."""

MIN_TOOLS: Final = 2_500
"""Characters of functions that stay, some ten in few words, before examples and facts go."""


class Omitted(NamedTuple):
    """What a window leaves no place for: functions, their examples, the facts of so many turns, and
    so many turns whole."""

    functions: int = 0
    examples: bool = False
    facts: int = 0
    turns: int = 0


def tokens(text: str) -> int:
    """Tokens of a text, at most, for most models."""
    return math.ceil(len(text.encode("utf-8", "replace")) / TEXT_BYTES)


def tool_tokens(tools: Iterable[ToolSpec]) -> int:
    """The same of functions."""
    return math.ceil(sum(map(characters, tools)) / TOOL_CHARACTERS)


def tool_room(left: int) -> int:
    """Characters of functions that go into so many tokens; the least that stays where that is
    fewer."""
    return max(MIN_TOOLS, int(left * TOOL_CHARACTERS))


def shorter(items: tuple[HistoryItem, ...]) -> tuple[HistoryItem, ...]:
    """The remembered turns without the facts of the oldest that has any, or without the oldest."""
    for place, item in enumerate(items):
        if item.facts:
            return (*items[:place], item._replace(facts=()), *items[place + 1 :])
    return items[1:]
