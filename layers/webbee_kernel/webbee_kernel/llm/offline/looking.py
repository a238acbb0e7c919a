"""A question that nothing in the prompt answers: every app's list is read, then the thing that
speaks of what the question says, whole."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ..protocol import ToolCall, ToolSpec
from . import recall
from .answering import Asked
from .reading import Fact, Reading, Result
from .schema import Argument, arguments_of, takes
from .words import Word, forms, has, points_back

LOOKED_INTO = 3
"""Things that are read whole at most."""

LOOKED_FOR = 2
"""Words that are searched for where no list holds any."""

MOST = 9
"""Searches at most: a plan holds one call more."""

_IDLE = ("first_person", "wish", "saying")
_Calls = list[ToolCall]


def lists(tools: Sequence[ToolSpec], tag: str) -> list[ToolCall]:
    """One call of each app that shows what there is, whatever its state."""
    found: dict[str, ToolCall] = {}
    for tool in tools:
        arguments = arguments_of(tool.input_schema)
        plain = tool.action_type == "read" and not takes(tool.input_schema, "id")
        if plain and tool.app_id not in found and not any(a.required for a in arguments):
            found[tool.app_id] = ToolCall(tool.name, dict(_all(arguments, tag)))
    return list(found.values())


def _all(arguments: Sequence[Argument], tag: str) -> Iterator[tuple[str, Any]]:
    """The values that leave nothing out."""
    for argument in (a for a in arguments if a.kind == "enum"):
        known = next((v for v, said in argument.values if said & forms("en", "quantifier")), None)
        if known is not None:
            yield argument.name, known


def looked(reading: Reading, tools: Sequence[ToolSpec], tag: str) -> int:
    """How many of this turn's calls read the lists; 0 where it did not begin with these."""
    named = {t.name: (t.app_id, t.fn_name) for t in tools}
    wanted = [named[c.name] for c in lists(tools, tag)]
    begun = [(r.app_id, r.fn_name) for r in reading.results[: len(wanted)]]
    return len(wanted) if begun == wanted else 0


def naming(asked: Asked) -> list[Word]:
    """The words of a question that may stand in what answers it."""
    return [
        w for w in asked.telling if not points_back(w, asked.tag) and not has(w, asked.tag, *_IDLE)
    ]


def whole(named: Sequence[Word], results: Sequence[Result], tools: Sequence[ToolSpec]) -> _Calls:
    """The reads of what holds most of the words; empty where nothing holds any."""
    rows = [
        (result, record, sum(recall.holds(record.fields, [w]) for w in named))
        for result in results
        for record in recall.records(_fact(result), "id")
    ]
    most = max((n for _, _, n in rows), default=0)
    return _reads([(r, x) for r, x, n in rows if n == most] if most else [], tools)


def found(results: Sequence[Result], tools: Sequence[ToolSpec]) -> _Calls:
    """The reads of what most of the searches found."""
    rows = [(r, x) for r in results for x in recall.records(_fact(r), "id")]
    times = Counter(str(x.id) for _, x in rows)
    most = max(times.values(), default=0)
    return _reads([(r, x) for r, x in rows if times[str(x.id)] == most], tools)


def searches(asked: Asked, named: Sequence[Word], tools: Sequence[ToolSpec]) -> _Calls:
    """Every search of texts and of senders, for each of the longest words."""
    words = sorted(named, key=lambda w: -len(w.text))[:LOOKED_FOR]
    return [
        ToolCall(tool.name, {argument.name: asked.text[w.start : w.end]})
        for tool in tools
        if tool.action_type == "read" and not takes(tool.input_schema, "id")
        for argument in arguments_of(tool.input_schema)
        if argument.kind == "party" or argument.is_body
        for w in words
    ][:MOST]


def _reads(rows: Sequence[tuple[Result, recall.Record]], tools: Sequence[ToolSpec]) -> _Calls:
    calls = {}
    for result, record in rows:
        tool = next((t for t in tools if t.app_id == result.app_id and reads_one(t)), None)
        if tool:
            calls[tool.name, str(record.id)] = ToolCall(tool.name, {reads_one(tool): record.id})
    return list(calls.values())[:LOOKED_INTO]


def _fact(result: Result) -> Fact:
    return Fact(result.app_id, result.fn_name, result.data, result.arguments)


def reads_one(tool: ToolSpec) -> str:
    """The argument by which a read shows one thing whole; empty where the function does not."""
    arguments = arguments_of(tool.input_schema)
    ids = [a.name for a in arguments if a.kind == "id" and not a.many]
    others = [a for a in arguments if a.required and a.kind != "id"]
    return ids[0] if tool.action_type == "read" and ids and not others else ""
