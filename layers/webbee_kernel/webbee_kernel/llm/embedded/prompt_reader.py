"""What a reader of the prompt can know: the message and its time, the remembered facts, what this
turn's calls returned and what was refused."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from ...types import JSONObject

_BLOCK = re.compile(r"\[([A-Z]+)\]\s*$")
_MESSAGE = re.compile(r"\[(\S+) user\] ?(.*)$")
_BEFORE = re.compile(r"\[\S+ user \S+(?: apps=\[[^\]]*\])?\] (.*?) → ")
_FACTS = re.compile(r"FACTS: app=(\S+) fn=(\S+) data=(.*)$")
_CALL = re.compile(r"RESULT: app=(\S+) fn=(\S+) status=(\S+)")
_SECTION = re.compile(r"- ([^\s(]+) \([^)]*\): (.*)$")
_LISTED = re.compile(r"[\[,] ?([^\[\]]+?) \(#([^)]+)\)(?=[,\]])")
_FIELD = re.compile(r"\s*(\w+)=")
_FOR_MODELS = ("INTERNAL", "BACKEND_TIMEOUT")
"""Codes of failures that the kernel tells people in words of its own."""
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Fact:
    """What one successful call returned."""

    app_id: str
    fn_name: str
    data: Any


@dataclass(frozen=True, slots=True)
class Result:
    """One call of this turn: `text` is its summary, or its error when it failed."""

    app_id: str
    fn_name: str
    ok: bool
    text: str
    data: Any = None


@dataclass(slots=True)
class Reading:
    """A prompt, read; `facts` are newest first, `known` are the records that sections of the
    skeleton list, each with its section, `before` is the message before this one."""

    message: str = ""
    before: str = ""
    at: str = ""
    facts: list[Fact] = field(default_factory=list)
    known: list[tuple[str, JSONObject]] = field(default_factory=list)
    results: list[Result] = field(default_factory=list)
    problems: list[JSONObject] = field(default_factory=list)


def read_prompt(prompt: str) -> Reading:
    """Read the classifier's or the narrator's prompt; lines of an unknown shape are passed over."""
    reading = Reading()
    block = ""
    for line in prompt.splitlines():
        if header := _BLOCK.fullmatch(line):
            block = header[1]
        elif block == "MESSAGE" and line.strip():
            reading.message = line.strip()
        elif block == "SKELETON" and (section := _SECTION.match(line)):
            rows = ({"id": i, "title": t} for t, i in _LISTED.findall(section[2]))
            reading.known += [(section[1], row) for row in rows]
        elif block in ("HISTORY", ""):
            _read_history(line, reading)
        elif block == "RESULTS" and (result := _result(line)):
            reading.results.append(result)
        elif block == "PROBLEMS" and (problem := _problem(line)):
            reading.problems.append(problem)
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
    elif found := _BEFORE.match(line):
        reading.before = found[1]


def _result(line: str) -> Result | None:
    call = _CALL.match(line)
    if call is None:
        return None
    values: JSONObject = {}
    at = call.end()
    while found := _FIELD.match(line, at):
        try:
            values[found[1]], at = _DECODER.raw_decode(line, found.end())
        except ValueError:
            break
    ok = call[3] == "ok"
    text = values.get("summary" if ok else "error") or values.get("summary") or ""
    if values.get("code") in _FOR_MODELS:
        text = ""
    return Result(call[1], call[2], ok, str(text), values.get("data"))


def _problem(line: str) -> JSONObject | None:
    """`{"call", "field", "problem", "limit"?}`; None for a line that is no JSON object."""
    try:
        value = json.loads(line.removeprefix("PROBLEM:").strip())
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
