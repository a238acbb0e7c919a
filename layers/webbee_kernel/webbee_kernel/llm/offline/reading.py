"""What a reader of the prompt can know: the message, the overview, the remembered turns with their
facts and arguments, results and problems."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from ...values.plain import JSONObject

_BLOCK = re.compile(r"\[([A-Z]+)\]\s*$")
_TURN = re.compile(r"\[(\S+) user (\w+)(?: apps=\[([^\]]*)\])?[^\]]*\] (.*)$")
_MESSAGE = re.compile(r"\[(\S+) user\] ?(.*)$")
_FACTS = re.compile(r"(FACTS|ARGS): app=(\S+) fn=(\S+) (?:data|args)=(.*)$")
_CALL = re.compile(r"RESULT: app=(\S+) fn=(\S+) status=(\S+)")
_FIELD = re.compile(r"\s*(\w+)=")
_SECTION = re.compile(r"- (\S+) \([^)]*\): (.*)$")
_ENTRY = re.compile(r"(?:^|, )([\w.-]+)=")
_LABEL = re.compile(r"(?:^\[|, )([^\[\]]*?) \(#[^)]*\)")
_FOR_MODELS = ("INTERNAL", "BACKEND_TIMEOUT")
"""Codes of failures that the kernel tells people in words of its own."""
_DECODER = json.JSONDecoder()


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of one successful call: its data and, where shown, its arguments; `told` is
    what was replied in a turn before."""

    app_id: str
    fn_name: str
    data: Any
    arguments: JSONObject = field(default_factory=dict)
    told: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """One call of this turn: `text` is its summary, or its error when it failed."""

    app_id: str
    fn_name: str
    ok: bool
    text: str
    data: Any = None
    arguments: JSONObject = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """One field of the overview, as it is rendered: `[a (#1), b (#2)]` for a list."""

    section: str
    key: str
    value: str


@dataclass(slots=True)
class Reading:
    """A prompt, read. `facts` and `apps` are newest first; `turns` messages and replies,
    newest first; `undone` the replies of turns that failed or waited for a yes."""

    message: str = ""
    at: str = ""
    overview: list[Entry] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
    apps: list[str] = field(default_factory=list)
    turns: list[tuple[str, str]] = field(default_factory=list)
    undone: set[str] = field(default_factory=set)
    results: list[Result] = field(default_factory=list)
    problems: list[JSONObject] = field(default_factory=list)
    reads: frozenset[tuple[str, str]] = frozenset()
    """The functions that only read, by app and name: whoever knows the catalogue says so."""

    @property
    def titles(self) -> list[str]:
        """What the things that the overview lists are called."""
        return [m[1] for entry in self.overview for m in _LABEL.finditer(entry.value)]


def read_prompt(prompt: str) -> Reading:
    """Read the classifier's or the narrator's prompt; lines of an unknown shape are passed over."""
    reading = Reading()
    block = ""
    for line in prompt.splitlines():
        if header := _BLOCK.fullmatch(line):
            block = header[1]
            if block == "PROBLEMS":  # a later round's: what was refused before has been mended
                reading.problems.clear()
        else:
            _read_line(block, line, reading)
    reading.facts.extend(
        Fact(r.app_id, r.fn_name, r.data, r.arguments) for r in reading.results if r.ok and r.data
    )
    reading.facts.reverse()
    reading.apps.reverse()
    return reading


def _read_line(block: str, line: str, reading: Reading) -> None:
    if block == "MESSAGE" and line.strip():
        found = _MESSAGE.match(line)
        reading.message = found[2] if found else line.strip()
    elif block == "SKELETON":
        _read_section(line, reading)
    elif block in ("HISTORY", ""):
        _read_history(line, reading)
    elif block == "RESULTS":
        if result := _result(line):
            reading.results.append(result)
    elif block == "PROBLEMS" and (problem := _problem(line)):
        reading.problems.append(problem)


def _read_section(line: str, reading: Reading) -> None:
    section = _SECTION.match(line)
    if section is None:
        return
    marks = list(_ENTRY.finditer(section[2]))
    ends = [*(m.start() for m in marks[1:]), len(section[2])]
    for mark, end in zip(marks, ends, strict=False):  # "(empty)" has no mark
        reading.overview.append(Entry(section[1], mark[1], section[2][mark.end() : end].strip()))


def _read_history(line: str, reading: Reading) -> None:
    if facts := _FACTS.match(line):
        _read_facts(facts, reading)
    elif found := _MESSAGE.match(line):
        reading.at, reading.message = found[1], found[2].replace("⏎", " ")
    elif turn := _TURN.match(line):
        said, _, replied = turn[4].partition(" → ")
        reading.turns.insert(0, (said, replied))
        if turn[2] != "ok":
            reading.undone.add(replied)
        reading.apps.extend(app.strip() for app in (turn[3] or "").split(",") if app.strip())


def _read_facts(facts: re.Match[str], reading: Reading) -> None:
    """A FACTS line, or the ARGS line of the call before it."""
    try:
        value = json.loads(facts[4])
    except ValueError:
        return  # not the kernel's own line
    if facts[1] == "FACTS":
        told = reading.turns[0][1] if reading.turns else ""
        reading.facts.append(Fact(facts[2], facts[3], value, told=told))
        return
    last = reading.facts[-1] if reading.facts else None
    arguments = value if isinstance(value, dict) else {}
    if last and (last.app_id, last.fn_name) == (facts[2], facts[3]):
        reading.facts[-1] = replace(last, arguments=arguments)
    else:
        reading.facts.append(Fact(facts[2], facts[3], {}, arguments))


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
    arguments = values.get("args")
    return Result(
        call[1],
        call[2],
        ok,
        str(text),
        values.get("data"),
        arguments if isinstance(arguments, dict) else {},
    )


def _problem(line: str) -> JSONObject | None:
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
