"""What the user has, looked up: the apps' lists, what in them holds the words of a message, and the
reads that show it whole. Reading harms nobody, so whoever is not sure looks first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ... import language
from ...values.plain import JSONObject
from ..protocol import ToolCall, ToolSpec
from . import recall
from .reading import Fact, Reading, Result
from .schema import Argument, arguments_of, takes
from .words import Word, forms

LISTED = 6
"""Apps that are listed at once at most."""

LOOKED_INTO = 3
"""Things that are read whole at most."""

LOOKED_FOR = 2
"""Words that are searched for where no list holds any."""

MOST = 9
"""Searches at most: a plan holds one call more."""

_Calls = list[ToolCall]


@dataclass(frozen=True, slots=True)
class Row:
    """One thing that an app holds, as a list or a search of this turn shows it."""

    app_id: str
    id: Any
    title: str
    held: int
    """How many of the words looked for stand in it."""
    fields: JSONObject


def listing(tools: Sequence[ToolSpec]) -> dict[str, ToolSpec]:
    """Of each app the read that shows what there is without being told more."""
    found: dict[str, ToolSpec] = {}
    for tool in tools:
        plain = tool.action_type == "read" and not takes(tool.input_schema, "id")
        if plain and not any(a.required for a in arguments_of(tool.input_schema)):
            found.setdefault(tool.app_id, tool)
    return found


def lists(tools: Sequence[ToolSpec], apps: Collection[str]) -> _Calls:
    """The lists of these apps, whatever the state of what they hold."""
    chosen = [t for app, t in listing(tools).items() if app in apps][:LISTED]
    return [ToolCall(t.name, whole_list(t)) for t in chosen]


def whole_list(tool: ToolSpec) -> JSONObject:
    """The arguments with which a list leaves nothing out."""
    return dict(_all(arguments_of(tool.input_schema)))


def _all(arguments: Sequence[Argument]) -> Iterator[tuple[str, Any]]:
    """The values that leave nothing out."""
    for argument in (a for a in arguments if a.kind == "enum"):
        known = next((v for v, said in argument.values if said & forms("en", "quantifier")), None)
        if known is not None:
            yield argument.name, known


def looked_at(reading: Reading) -> frozenset[str]:
    """The apps that were read in this turn."""
    return frozenset(r.app_id for r in reading.results if (r.app_id, r.fn_name) in reading.reads)


def people(names: Sequence[str], tools: Sequence[ToolSpec], app_id: str) -> _Calls:
    """The searches of one app for what comes from somebody of these names."""
    return [
        ToolCall(tool.name, {argument.name: name})
        for tool in tools
        if tool.app_id == app_id and tool.action_type == "read"
        for argument in arguments_of(tool.input_schema)
        if argument.kind == "party"
        for name in names[:LOOKED_FOR]
    ]


def rows(results: Sequence[Result], named: Sequence[Word], apps: Collection[str] = ()) -> list[Row]:
    """What the results hold, of these apps where any are named, in their order."""
    return [
        Row(
            result.app_id,
            record.id,
            recall.text_of(record.fields, language.title_keys()),
            sum(recall.holds(record.fields, [w]) for w in named),
            record.fields,
        )
        for result in results
        if not apps or result.app_id in apps
        for record in recall.records(_fact(result), "id")
    ]


def newest_rows(facts: Sequence[Fact], named: Sequence[Word], app_id: str) -> list[Row]:
    """What the newest list of this app holds."""
    for fact in (f for f in facts if f.app_id == app_id):
        if any(r.listed for r in recall.records(fact, "id")):
            result = Result(fact.app_id, fact.fn_name, True, "", fact.data)
            return rows([result], named)
    return []


def best(found: Sequence[Row]) -> list[Row]:
    """Those that hold most of the words, each once; none where no word is held."""
    most = max((r.held for r in found), default=0)
    return list({str(r.id): r for r in found if most and r.held == most}.values())


def often(found: Sequence[Row]) -> list[Row]:
    """Those that most of the searches found, each once."""
    times = Counter(str(r.id) for r in found)
    most = max(times.values(), default=0)
    return list({str(r.id): r for r in found if times[str(r.id)] == most}.values())


def searches(named: Sequence[str], tools: Sequence[ToolSpec], apps: Collection[str]) -> _Calls:
    """Every search of texts and of senders, for each of the longest words."""
    words = sorted(named, key=lambda w: -len(w))[:LOOKED_FOR]
    return [
        ToolCall(tool.name, {argument.name: word})
        for tool in tools
        if tool.action_type == "read" and not takes(tool.input_schema, "id")
        if not apps or tool.app_id in apps
        for argument in arguments_of(tool.input_schema)
        if argument.kind == "party" or argument.is_body
        for word in words
    ][:MOST]


def whole(found: Sequence[Row], tools: Sequence[ToolSpec]) -> _Calls:
    """The reads that show these whole."""
    calls = []
    for row in found[:LOOKED_INTO]:
        tool = next((t for t in tools if t.app_id == row.app_id and reads_one(t)), None)
        if tool:
            calls.append(ToolCall(tool.name, {reads_one(tool): row.id}))
    return calls


def _fact(result: Result) -> Fact:
    return Fact(result.app_id, result.fn_name, result.data, result.arguments)


def reads_one(tool: ToolSpec) -> str:
    """The argument by which a read shows one thing whole; empty where the function does not."""
    arguments = arguments_of(tool.input_schema)
    ids = [a.name for a in arguments if a.kind == "id" and not a.many]
    others = [a for a in arguments if a.required and a.kind != "id"]
    return ids[0] if tool.action_type == "read" and ids and not others else ""
