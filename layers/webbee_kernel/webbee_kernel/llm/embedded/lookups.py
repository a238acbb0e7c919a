"""The list that is looked through for a record or a person whom the message names and nobody was
shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from ...text import dumps
from ..protocol import ToolSpec
from .commands import Commands
from .examples import Command, Pattern, patterns, speech
from .message import COLON, lexicon

LONGEST_NAMING: Final = 20
"""Words of a message that names a record which nobody was shown."""

_HIDDEN: Final = re.compile(r"<[A-Z]+_\d+>")
"""What a model reads in the place of a name or an address."""


def looked_through(commands: Commands, readings: Sequence[Command]) -> Command | None:
    """The list of the one app that may hold the record or the person that the message names and
    nobody was shown."""
    if every := [c for c in readings if c.unclear and c.unclear.every]:  # "all notes"
        return _list_for(every, commands)
    # a long message is a text, and names nothing by itself
    is_long = len(commands.message.tokens) > LONGEST_NAMING
    if is_long or any(c.is_found or (c.unclear and c.unclear.rows) for c in readings):
        return None
    # what stands in quotation marks is a name as it is
    if any(c.is_sure and not c.loose for c in readings):
        return None
    sought = [
        c for c in commands.seeking.readings() if c.unclear and _says_what(c.pattern, commands)
    ]
    return _list_for(sought or [c for c in readings if c.is_sure], commands)


def _list_for(found: Sequence[Command], commands: Commands) -> Command | None:
    """The list of the one app that these are of."""
    apps = {c.tool.app_id for c in found}
    return list_of(apps.pop(), found[0].pattern.tag, commands.tools) if len(apps) == 1 else None


def _says_what(pattern: Pattern, commands: Commands) -> bool:
    """Whether it has a word of its own for what is to be done, and goes to somebody or is of the
    one app a function of which knows all its words."""
    known, told = lexicon(pattern.tag), pattern.literals
    knowing = {t.app_id for t in commands.tools if speech(t, pattern.tag) >= told}
    is_alone = pattern.is_to_somebody or len(knowing) == 1
    return is_alone and bool(told - known.function - known.question - {COLON})


def list_of(app_id: str, tag: str, tools: Sequence[ToolSpec]) -> Command | None:
    """One of an app's reads that needs nothing."""
    mine = (t for t in tools if t.app_id == app_id and t.action_type == "read")
    plain = (p for t in mine for p in patterns(t, tag) if not p.fixed and not p.has_slots)
    return next((c for p in plain if (c := Command(p, {})).is_sure), None)


def lists(data: object) -> list[list[object]]:
    return [v for v in data.values() if isinstance(v, list)] if isinstance(data, dict) else []


def holds_all(data: object) -> bool:
    """Whether a list that was looked through is all of it, and nothing in it is hidden."""
    return is_whole(data) and not _HIDDEN.search(dumps(data))


def is_whole(data: object) -> bool:
    """Whether no count in a list that was looked through is above its rows."""
    rows = sum(map(len, lists(data)))
    counts = data.values() if isinstance(data, dict) else ()
    return not any(isinstance(n, int) and n > rows for n in counts)
