"""What a reader of the prompt can know: the message and its time, the remembered facts, whether
this turn's calls returned, and what was refused."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from ...types import JSONObject

_BLOCK = re.compile(r"\[([A-Z]+)\]\s*$")
_MESSAGE = re.compile(r"\[(\S+) user\] ?(.*)$")
_FACTS = re.compile(r"FACTS: app=(\S+) fn=(\S+) data=(.*)$")
_SECTION = re.compile(r"- ([^\s(]+) \([^)]*\): (.*)$")
_LISTED = re.compile(r"[\[,] ?([^\[\]]+?) \(#([^)]+)\)(?=[,\]])")


@dataclass(frozen=True, slots=True)
class Fact:
    """What one successful call returned."""

    app_id: str
    fn_name: str
    data: Any


@dataclass(slots=True)
class Reading:
    """A prompt, read; `facts` are newest first, `known` are the records that sections of the
    skeleton list, each with its section. `has_results`: calls of this turn have ended.
    `is_refused`: something in the answer before was."""

    message: str = ""
    at: str = ""
    facts: list[Fact] = field(default_factory=list)
    known: list[tuple[str, JSONObject]] = field(default_factory=list)
    has_results: bool = False
    is_refused: bool = False


def read_prompt(prompt: str) -> Reading:
    """Read the classifier's prompt; lines of an unknown shape are passed over."""
    reading = Reading()
    block = ""
    for line in prompt.splitlines():
        if header := _BLOCK.fullmatch(line):
            block = header[1]
        elif block == "SKELETON" and (section := _SECTION.match(line)):
            rows = ({"id": i, "title": t} for t, i in _LISTED.findall(section[2]))
            reading.known += [(section[1], row) for row in rows]
        elif block in ("HISTORY", ""):
            _read_history(line, reading)
        reading.has_results |= line.startswith("RESULT:")
        reading.is_refused |= line.startswith("PROBLEM:")
    reading.facts.reverse()
    return reading


def _read_history(line: str, reading: Reading) -> None:
    if facts := _FACTS.match(line):
        try:
            data = json.loads(facts[3])
        except ValueError:
            return  # not the kernel's own line
        reading.facts.append(Fact(facts[1], facts[2], data))
    elif found := _MESSAGE.match(line):
        reading.at, reading.message = found[1], found[2].replace("⏎", "\n")
