"""Fact ledger: verbatim results of successful calls, and the arguments that they do not repeat, at
most 3,000 characters a turn. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from ..invariants import limit
from ..stores.types import ToolCallDigest
from ..text import TRUNCATED, dumps
from ..types import JSON, JSONObject
from .truncate import fit, fit_bounded, leaves

TURN_CAP = limit("I-FACT-LEDGER-PER-TURN-AGG-CAP")
KERNEL, OMITTED_FN = "kernel", "_omitted"
MAX_ARGS = 600
"""Characters of one call's arguments; longer ones are cut."""

LedgerCall: TypeAlias = tuple[str, str, JSON]
"""A successful call: app id, function name, `ActionResult.data`."""

NEAR = 10
"""Data up to this many times the room goes to `fit` directly."""

_LONG = 5  # characters from which an argument counts as repeated where it stands inside a text


def record(
    calls: Sequence[LedgerCall], cap: int = TURN_CAP, *, arguments: Sequence[JSONObject] = ()
) -> tuple[ToolCallDigest, ...]:
    """Digests of one turn's successful calls `(app_id, fn_name, ActionResult.data)`, oldest first.

    `_action_meta` is dropped; calls with empty data leave no facts. `arguments` are those of the
    calls, in the same order: what a call's facts do not repeat is kept beside them. All lines
    together, prefixes and markers included, hold at most `cap` characters: arguments take what
    facts leave, and of both the oldest calls give way first, the newest keeps most. What is cut
    stays valid JSON and says so under `_truncated` or as a list's last item.
    """
    whole = [(a, f, _facts(data)) for a, f, data in calls]
    numbers = [i for i, call in enumerate(whole) if call[2] is not None]
    facts = [whole[i] for i in numbers]
    digests = tuple(ToolCallDigest(a, f, dumps(d)) for a, f, d in facts)
    room = cap + 1  # the last line needs no break
    # most turns fit: nothing is weighed twice
    if (size := _size(digests)) > room:
        digests = _shrink(facts, digests, cap)
        size = _size(digests)
    # one marker in place of calls that went whole
    omitted = tuple(d for d in digests if (d.app_id, d.fn_name) == (KERNEL, OMITTED_FN))
    kept = digests[len(omitted) :]
    numbers = numbers[len(numbers) - len(kept) :]
    by_number = dict(zip(numbers, kept, strict=True))
    # arguments of a call without facts would stand alone
    first = numbers[0] if omitted else 0
    return (*omitted, *_with_arguments(by_number, calls, arguments, first, room - size))


def calls_of(digests: Sequence[ToolCallDigest]) -> tuple[list[LedgerCall], list[JSONObject]]:
    """The calls and arguments that these digests keep, as `record` takes them."""
    calls = [(d.app_id, d.fn_name, json.loads(d.data_facts_json or "{}")) for d in digests]
    return calls, [json.loads(d.args_json or "{}") for d in digests]


def _with_arguments(
    facts: dict[int, ToolCallDigest],
    calls: Sequence[LedgerCall],
    arguments: Sequence[JSONObject],
    first: int,
    room: int,
) -> Iterator[ToolCallDigest]:
    """The digests by number, with as many arguments as fit, newest first; none for calls before
    `first`, whose facts were omitted."""
    digests = dict(facts)
    # the newest call's arguments are asked about first
    for i in range(len(arguments) - 1, first - 1, -1):
        digest = facts.get(i) or ToolCallDigest(*calls[i][:2], "")
        new = _new_arguments(arguments[i], digest.data_facts_json)
        text = _arguments_text(new, room - len(_args_line(digest)) - 1)
        if text:
            digests[i] = replace(digest, args_json=text)
            room -= len(_args_line(digests[i])) + 1
    yield from (digests[i] for i in sorted(digests))


def lines(digest: ToolCallDigest) -> tuple[str, ...]:
    """The digest's lines: `FACTS: …`, `ARGS: …`, or both."""
    facts = (line(digest),) if digest.data_facts_json else ()
    return (*facts, _args_line(digest)) if digest.args_json else facts


def line(digest: ToolCallDigest) -> str:
    """`FACTS: app=mail fn=list_inbox data={…}`."""
    return f"FACTS: app={digest.app_id} fn={digest.fn_name} data={digest.data_facts_json}"


def _args_line(digest: ToolCallDigest) -> str:
    """`ARGS: app=mail fn=send args={…}`."""
    return f"ARGS: app={digest.app_id} fn={digest.fn_name} args={digest.args_json}"


def _new_arguments(arguments: JSONObject, facts: str) -> JSONObject:
    """The arguments that the call's stored facts do not contain."""
    # as stored: a value that was cut off is not contained
    known = leaves(json.loads(facts)) if facts and arguments else []
    scalars = {(type(v), v) for v in known}  # `True` is not `1`
    return {
        name: value
        for name, value in arguments.items()
        if not all(_repeats(leaf, facts, scalars) for leaf in leaves(value))
    }


def _repeats(value: JSON, facts: str, scalars: set[tuple[type, JSON]]) -> bool:
    """Whether the facts contain the value as a scalar, or anywhere a text of five characters."""
    if value is None or value == "":
        return True
    if not isinstance(value, str):
        return (type(value), value) in scalars
    text = dumps(value)
    # a short text counts as a whole value only, with its quotes
    return (text if len(value) < _LONG else text[1:-1]) in facts


def _arguments_text(arguments: JSONObject, room: int) -> str:
    """The arguments as JSON in at most `room` characters, long texts and lists shortened; empty
    where that is not enough for every name."""
    if not arguments:
        return ""
    room = min(room, MAX_ARGS)
    fitted_arguments = fit_bounded(arguments, room)
    text = dumps(fitted_arguments)
    # half of the arguments would read like all of them
    return text if len(text) <= room and fitted_arguments.keys() == arguments.keys() else ""


def _facts(data: JSON) -> JSON:
    """What the ledger keeps of a call's data; None where it is empty."""
    if isinstance(data, dict):
        data = {k: v for k, v in data.items() if k != "_action_meta"}
    return data if data or isinstance(data, int | float) else None


def _size(digests: Sequence[ToolCallDigest]) -> int:
    """Characters of their lines, each with its break."""
    return sum(len(line(d)) + 1 for d in digests)


def _shrink(
    facts: Sequence[LedgerCall], whole: Sequence[ToolCallDigest], cap: int
) -> tuple[ToolCallDigest, ...]:
    """Newest first: a call takes what it needs after a marker is reserved for each older one."""
    kept: list[ToolCallDigest] = []
    floors = [
        ToolCallDigest(a, f, dumps({TRUNCATED: f"{len(w.data_facts_json)} chars"}))
        for (a, f, _), w in zip(facts, whole, strict=True)
    ]
    # from the newest backwards
    remaining = cap
    for i in range(len(facts) - 1, -1, -1):
        reserve = _size(floors[:i])
        # markers for all older calls would take more than the newest result
        if reserve > remaining // 2:
            reserve = _size([_omitted_marker(i)])
        app, fn, data = facts[i]
        room = remaining - reserve - len(line(ToolCallDigest(app, fn, "")))
        digest = whole[i]
        if len(digest.data_facts_json) > room:
            # what is far too large is bounded first, or weighing it would cost more than the turn
            near = len(digest.data_facts_json) <= NEAR * room
            data = (fit if near else fit_bounded)(data, room)
            digest = ToolCallDigest(app, fn, dumps(data)) if room >= 60 else floors[i]
        # not even a marker fits: from here on one stands for all older ones
        if len(line(digest)) > remaining - reserve:
            kept.append(_omitted_marker(i + 1))
            break
        kept.append(digest)
        remaining -= len(line(digest)) + 1
    return tuple(reversed(kept))


def _omitted_marker(count: int) -> ToolCallDigest:
    return ToolCallDigest(
        KERNEL, OMITTED_FN, dumps({TRUNCATED: f"{count} older calls of this turn"})
    )
