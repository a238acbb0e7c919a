"""From a message to calls: which clauses it has, which function each means, what to do when the
kernel sends a call back."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from ..protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from . import replies
from .arguments import Filled, fill
from .entities import find_entities
from .matching import Index, Match, bare, index_of
from .reading import Fact, Reading, read_prompt
from .recall import reference
from .schema import arguments_of

THRESHOLD = 2.6
"""Least score of a message that is acted upon; set on the utterances marked `tuned` in
tests/unit/offline_utterances.json."""

STRONG = 3.0
"""Least score of either half of `X and Y`."""

COVERAGE = 0.28
"""Least part of the words, weighted, that the catalogue must know."""

CONTENT_COVERAGE = 0.15
"""The same for a function that takes a text, whose words need not be known."""

CONTEXT = 0.9
"""What it is worth that the newest facts are of the same app, for a message that points back."""

ADDRESS = 1.5
"""What an e-mail address in the message is worth to functions that need one."""

NUMBER = 0.4
"""What a number in the message is worth to functions that take one."""

INTRODUCED = 0.6
"""What `command: content` is worth to functions that need a text."""

UNEXPLAINED = 0.12
"""The part of its score that a function which needs no text loses when it explains none of the
words."""

TIE = 0.2
"""Scores this close are equal: then the function that can do less harm is meant."""

_INTRODUCED = re.compile(r"\w:\s+\S")
WORDS = 60
"""Words of a message that are matched: a command stands at its beginning."""

CLAUSES = 10
"""Calls of one message at most, and places at which a cut is tried."""

_HARM = {"read": 0, "write": 1}
_AND_THEN = re.compile(
    r"(?:,|;|\.)?\s+(?:and then|then|after that|а потом|и потом|потом|затем|и затем|а затем|после"
    r" этого)\s+|;\s+",
    re.IGNORECASE,
)
_AND = re.compile(r",?\s+(?:and|и)\s+", re.IGNORECASE)
_GREETING = re.compile(
    r"\W*(?:hi|hello|hey|help|привет|здравствуй(?:те)?|помощь|помоги|добрый день|how are you|как"
    r" дела|what can you do|что ты (?:умеешь|можешь))\W*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Planned:
    """One call with what it still lacks."""

    tool: ToolSpec
    filled: Filled


def classify(request: ModelRequest) -> ModelResponse:
    """The classifier's answer: calls, or a text that asks or declines."""
    reading = read_prompt(request.prompt)
    language = replies.language_of(reading.message, request.language)
    if not request.tools or _GREETING.fullmatch(reading.message):
        say = replies.capabilities if request.tools else replies.unknown
        return ModelResponse(text=say(request.tools, language))
    if not all(
        r.ok for r in reading.results
    ):  # "it" may mean what failed: nothing older takes its place
        reading.facts = [
            Fact(r.app_id, r.fn_name, r.data) for r in reversed(reading.results) if r.ok
        ]
    index = index_of(request.tools)
    planned = _plan(reading, request.tools, index)
    if not planned and reading.previous[1].startswith(replies.ASKS):
        joined = f"{reading.previous[0]} {reading.message}"  # the answer to our own question
        planned = _plan(replace(reading, message=joined), request.tools, index)
    if not planned:
        return ModelResponse(text=replies.unknown(request.tools, language))
    left = _left(planned, reading)
    missing = next((p.filled.missing for p in left if p.filled.missing), [])
    if missing:
        return ModelResponse(text=replies.ask(missing, language))
    if not left or not _mend(left, reading):
        said = [
            ": ".join(str(p[k]) for k in ("field", "problem") if p.get(k)) for p in reading.problems
        ]
        return ModelResponse(text=replies.gave_up(said, language))
    return ModelResponse(
        tool_calls=tuple(ToolCall(p.tool.name, p.filled.arguments) for p in left),
        stop_reason="tool_use",
    )


def match(
    text: str, tools: tuple[ToolSpec, ...], index: Index, apps: Sequence[str] = ()
) -> list[Match]:
    """Functions that fit the text, best first; `apps` are those of the newest turns, newest
    first."""
    entities = find_entities(text)
    words = bare(text)[:WORDS]
    ranked = index.rank(words, tools)
    has_email = any(e.kind == "email" for e in entities)
    points = reference(words) is not None
    has_number = any(e.kind == "number" for e in entities)
    introduces = _INTRODUCED.search(text) is not None
    scored = []
    for found in ranked:
        arguments = arguments_of(found.tool.input_schema)
        needs = {a.kind for a in arguments if a.required}
        takes = {a.kind for a in arguments}
        score = (
            found.score
            if "text" in needs
            else found.score * (1 - UNEXPLAINED * (1 - found.coverage))
        )
        score += CONTEXT * (
            points and bool(takes & {"id", "email"}) and next(iter(apps), "") == found.tool.app_id
        )
        score += NUMBER * (has_number and "number" in takes)
        score += ADDRESS * (has_email and "email" in needs) + INTRODUCED * (
            introduces and "text" in needs
        )
        scored.append(replace(found, score=score))
    return sorted(scored, key=lambda m: -m.score)


def best(
    text: str,
    tools: tuple[ToolSpec, ...],
    index: Index,
    apps: Sequence[str] = (),
    least: float = THRESHOLD,
) -> ToolSpec | None:
    """The function the text means, None when nothing fits well enough."""
    ranked = match(text, tools, index, apps)
    if not ranked or ranked[0].score < least:
        return None
    found = min(
        (m for m in ranked if m.score > ranked[0].score - TIE),
        key=lambda m: _HARM.get(m.tool.action_type, 2),
    )
    takes_text = any(a.kind == "text" and a.required for a in arguments_of(found.tool.input_schema))
    return found.tool if found.coverage >= (CONTENT_COVERAGE if takes_text else COVERAGE) else None


def _plan(reading: Reading, tools: tuple[ToolSpec, ...], index: Index) -> list[_Planned]:
    apps: list[str] = reading.apps or [f.app_id for f in reading.facts]
    planned: list[_Planned] = []
    earlier: list[tuple[ToolSpec, int]] = []
    position = {t.name: n for n, t in enumerate(tools)}
    for clause in _clauses(reading.message, tools, index, apps):
        tool = best(clause, tools, index, [planned[-1].tool.app_id, *apps] if planned else apps)
        if tool is None:
            continue
        planned.append(
            _Planned(
                tool, fill(tool, clause, reading, index.vocabulary[position[tool.name]], earlier)
            )
        )
        if len(planned) > len(reading.results):  # the results of steps that ran are facts by now
            earlier.append((tool, len(planned) - 1))
    return planned


def _clauses(
    text: str, tools: tuple[ToolSpec, ...], index: Index, apps: Sequence[str]
) -> list[str]:
    """The message cut at `and then` where both halves mean something, at a plain `and` only where
    both do so strongly."""
    quotes = [e for e in find_entities(text) if e.kind == "quote"]
    cuts = [
        (m.start(), m.end(), least)
        for sep, least in ((_AND_THEN, THRESHOLD), (_AND, STRONG))
        for m in islice(sep.finditer(text), CLAUSES)
    ]
    cuts = [c for c in cuts if not any(q.start < c[0] < q.end for q in quotes)]
    cuts = [
        c for c in cuts if not any(o[0] <= c[0] and c[1] <= o[1] and o != c for o in cuts)
    ]  # the `and` of an `and then`
    clauses: list[str] = []
    start = 0
    for begin, end, least in sorted(cuts):
        if begin < start:
            continue
        following = min((b for b, _, _ in cuts if b > end), default=len(text))
        first = best(text[start:begin], tools, index, apps, least)
        if first and best(text[end:following], tools, index, [first.app_id], least):
            clauses.append(text[start:begin])
            start, apps = end, [first.app_id]
    return [*clauses, text[start:]][:CLAUSES]


def _left(planned: Sequence[_Planned], reading: Reading) -> list[_Planned]:
    """What has not run yet, and what failed in a way the kernel wants mended."""
    results = list(reading.results)
    left = []
    for call in planned:
        ran = next(
            (r for r in results if (r.app_id, r.fn_name) == (call.tool.app_id, call.tool.fn_name)),
            None,
        )
        if ran:
            results.remove(ran)
        if ran is None or (not ran.ok and any(_about(p, call.tool) for p in reading.problems)):
            left.append(call)
    return left


def _mend(calls: Sequence[_Planned], reading: Reading) -> bool:
    """Refused optional arguments are dropped, numbers moved to their limit. False when something
    cannot be mended.

    A problem of no field is mended where results have come since: then references find their values
    in them.
    """
    for problem in reading.problems:
        name = str(problem.get("field", "")).partition(".")[0]
        call = next(
            (
                c
                for c in calls
                if _about(problem, c.tool) and (not name or name in c.filled.arguments)
            ),
            None,
        )
        argument = (
            next((a for a in arguments_of(call.tool.input_schema) if a.name == name), None)
            if call
            else None
        )
        if call is None or argument is None:
            if call is None or name or not reading.results:
                return False
            continue
        values = call.filled.arguments
        limit = _number(problem.get("limit"))
        if argument.kind == "number" and limit is not None and values[name] != limit:
            values[name] = limit
        elif argument.required or argument.kind == "id":
            return False
        else:
            del values[name]
    return True


def _about(problem: dict[str, Any], tool: ToolSpec) -> bool:
    """Whether a problem names this function, or none."""
    return str(problem.get("call", "")) in (
        "",
        tool.name,
        tool.fn_name,
        f"{tool.app_id}.{tool.fn_name}",
    )


def _number(value: Any) -> int | None:
    found = re.search(r"-?\d+", str(value))
    return int(found[0]) if found else None
