"""The list to read for a record or person that the message names and that was not shown yet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from typing import Final

from ...text import dumps
from ..function_form import parameters
from ..protocol import ToolSpec
from .commands import Commands
from .examples import Command, Pattern, Unclear, example_words, patterns
from .message import COLON, lexicon
from .prompt_reader import Records

MAX_NAMING: Final = 20
"""Maximum words of a message that names an unknown record."""

_HIDDEN: Final = re.compile(r"<[A-Z]+_\d+>")
"""A masked name or address."""


def list_lookup(commands: Commands, readings: Sequence[Command]) -> Command | None:
    """The command that lists the only app which may have the record or person that the message
    names, or the one to choose from where the app found several; or None."""
    if commands.reading.is_ambiguous and readings:
        return _list_for(readings[:1], commands)
    if plural := [c for c in readings if c.unclear and c.unclear.is_all]:  # "all notes"
        return _list_for(plural, commands)
    # a long message is a text, and names nothing by itself
    is_long = len(commands.message.tokens) > MAX_NAMING
    if is_long or any(c.is_found or (c.unclear and c.unclear.rows) for c in readings):
        return None
    # what stands in quotation marks is a name as it is
    if any(c.is_sure and not c.free_words for c in readings):
        return None
    unknown = commands.with_unknown.readings()
    named = [c for c in unknown if c.unclear and _has_verb(c.pattern, c.unclear, commands)]
    return _list_for(named or [c for c in readings if c.is_sure], commands)


def has_run(lookup: Command, commands: Commands) -> bool:
    """Whether a lookup is all that this turn has called with success."""
    return [f.fn_name for f in commands.reading.results] == [lookup.tool.fn_name]


def key_of(readings: Sequence[Command]) -> str:
    """The only text of a sure destructive command that takes no id, such as a plate; else empty."""
    for command in readings if len(readings) == 1 else ():
        kinds = {p.kind for p in parameters(command.tool).values()}
        values = [v for v in command.arguments.values() if isinstance(v, str)]
        is_key = command.is_sure and kinds.isdisjoint(("id", "ids")) and len(values) == 1
        return values[0] if is_key and command.tool.action_type == "destructive" else ""
    return ""


def key_lookup(commands: Commands, readings: Sequence[Command]) -> Command | None:
    """The list of the app whose record a key names, if nothing shown has it; else None."""
    key, tools = key_of(readings), commands.tools
    if not key or commands.values.records.has_text(key, readings[0].tool.app_id):
        return None
    return list_of(readings[0].tool.app_id, readings[0].pattern.tag, tools)


def is_missing(commands: Commands, key: str) -> bool:
    """Whether the first result of this turn is a whole list, and lacks a key."""
    found = commands.reading.results[0]
    own = Records(replace(commands.reading, facts=[found]))
    return is_exhaustive(found.data) and not own.has_text(key, found.app_id)


def _list_for(found: Sequence[Command], commands: Commands) -> Command | None:
    """The list of these commands' app, if there is only one."""
    apps = {c.tool.app_id for c in found}
    return list_of(apps.pop(), found[0].pattern.tag, commands.tools) if len(apps) == 1 else None


def _has_verb(pattern: Pattern, unclear: Unclear, commands: Commands) -> bool:
    """Whether it has a word of its own for what is to be done, and goes to somebody, says what its
    app calls its records, or is of the one app a function of which knows all its words."""
    known, literals = lexicon(pattern.tag), pattern.literals
    apps = {t.app_id for t in commands.tools if example_words(t, pattern.tag) >= literals}
    nouns = commands.values.nouns(pattern.tool.app_id, pattern.tag)
    is_named = not nouns.isdisjoint(commands.message.stems(pattern.tag)[slice(*unclear.span)])
    is_alone = pattern.is_to_somebody or is_named or len(apps) == 1
    return is_alone and bool(literals - known.function - known.question - {COLON})


def list_of(app_id: str, tag: str, tools: Sequence[ToolSpec]) -> Command | None:
    """A read of an app that needs no arguments, or None."""
    mine = (t for t in tools if t.app_id == app_id and t.action_type == "read")
    plain = (p for t in mine for p in patterns(t, tag) if not p.fixed and not p.has_slots)
    return next((c for p in plain if (c := Command(p, {})).is_sure), None)


def lists(data: object) -> list[list[object]]:
    return [v for v in data.values() if isinstance(v, list)] if isinstance(data, dict) else []


def is_exhaustive(data: object) -> bool:
    """Whether a list is complete and nothing in it is masked."""
    return is_whole(data) and not _HIDDEN.search(dumps(data))


def is_whole(data: object) -> bool:
    """Whether no count in a result exceeds its number of rows."""
    rows = sum(map(len, lists(data)))
    counts = data.values() if isinstance(data, dict) else ()
    return not any(isinstance(n, int) and n > rows for n in counts)


def first_examples(tools: Sequence[ToolSpec], most: int = 1) -> list[tuple[ToolSpec, str]]:
    """The first examples of each app's reads, interleaved by app."""
    by_app: dict[str, list[tuple[ToolSpec, str]]] = {}
    for tool in tools:
        if tool.action_type == "read" and tool.examples:
            by_app.setdefault(tool.app_id, []).extend((tool, e) for e in tool.examples[:most])
    rows = zip_longest(*by_app.values())
    return [offered for row in rows for offered in row if offered]
