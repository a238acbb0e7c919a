"""What a reader of the prompt can know: the message, the remembered turns with their facts, results
and problems."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

_BLOCK = re.compile(r"\[([A-Z]+)\]\s*$")
_TURN = re.compile(r"\[(\S+) user (\w+)(?: apps=\[([^\]]*)\])?[^\]]*\] (.*)$")
_MESSAGE = re.compile(r"\[(\S+) user\] ?(.*)$")
_FACTS = re.compile(r"FACTS: app=(\S+) fn=(\S+) data=(.*)$")
_CALL = re.compile(r"RESULT: app=(\S+) fn=(\S+) status=(\S+)")
_FIELD = re.compile(r"\s*(\w+)=")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Fact:
    """The data of one successful call."""

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
    """A prompt, read. `facts` and `apps` are newest first; `asked` is the last turn's message if it
    was answered by a question."""

    message: str = ""
    at: str = ""
    facts: list[Fact] = field(default_factory=list)
    apps: list[str] = field(default_factory=list)
    previous: tuple[str, str] = ("", "")
    results: list[Result] = field(default_factory=list)
    problems: list[dict[str, Any]] = field(default_factory=list)


def read_prompt(prompt: str) -> Reading:
    """Read the classifier's or the narrator's prompt; lines of an unknown shape are passed over."""
    reading = Reading()
    block = ""
    for line in prompt.splitlines():
        if header := _BLOCK.fullmatch(line):
            block = header[1]
        elif block == "MESSAGE" and line.strip():
            found = _MESSAGE.match(line)
            reading.message = found[2] if found else line.strip()
        elif block in ("HISTORY", ""):
            _read_history(line, reading)
        elif block == "RESULTS":
            if result := _result(line):
                reading.results.append(result)
        elif block == "PROBLEMS":
            if problem := _problem(line):
                reading.problems.append(problem)
    reading.facts.extend(
        Fact(r.app_id, r.fn_name, r.data) for r in reading.results if r.ok and r.data
    )
    reading.facts.reverse()
    reading.apps.reverse()
    return reading


def _read_history(line: str, reading: Reading) -> None:
    if facts := _FACTS.match(line):
        try:
            reading.facts.append(Fact(facts[1], facts[2], json.loads(facts[3])))
        except ValueError:
            return  # not the kernel's own line
    elif found := _MESSAGE.match(line):
        reading.at, reading.message = found[1], found[2].replace("⏎", " ")
    elif turn := _TURN.match(line):
        said, _, replied = turn[4].partition(" → ")
        reading.previous = (said, replied)
        reading.apps.extend(app.strip() for app in (turn[3] or "").split(",") if app.strip())


def _result(line: str) -> Result | None:
    call = _CALL.match(line)
    if call is None:
        return None
    values: dict[str, Any] = {}
    at = call.end()
    while found := _FIELD.match(line, at):
        try:
            values[found[1]], at = _DECODER.raw_decode(line, found.end())
        except ValueError:
            break
    ok = call[3] == "ok"
    return Result(
        call[1],
        call[2],
        ok,
        str(values.get("summary" if ok else "error") or values.get("summary") or ""),
        values.get("data"),
    )


def _problem(line: str) -> dict[str, Any] | None:
    """`{"call", "field", "problem", "limit"?}`; a line that is no JSON object is a problem of no
    particular field."""
    text = line.removeprefix("PROBLEM:").strip()
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if isinstance(value, dict):
        return value
    return {"problem": text} if text else None
