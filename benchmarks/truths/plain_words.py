"""Replies written by hand, natural prose over foreign tools' results, about half with one fault
each: the `plain_words*.json` beside this module, and any file of their shape.

A file is a list of replies, or an object with `replies`. A reply has `language`, `message`, its
`calls` (`app_id, fn_name, action_type, arguments, status, error, data, summary`, or the name of an
entry in the object's `results`), `reply`, `label` and, if it is faulty, `fault`: the words that are
wrong, alone or as `{span, right}`. Labels are those of `KINDS` or a kind of the generator; optional
are `id`, `policy` and `now`, which may also stand once, for all, in the object.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.truths.model import NOW, Call, Case, Fault

KINDS = {
    "invented_value": "invented value",
    "wrong_record": "wrong record",
    "wrong_count": "count: another number",
    "wrong_word": "word swapped",
    "effect": "effect not as told",
}
"""The short labels of a file, as the table calls them."""
STATUSES = {"success": "ok", "pending": "waits"}
"""Further words of a file for how a call ended."""


def plain_words(name: str = "plain_words", now: str = "") -> list[Case]:
    """Return the hand-written cases of a file (a path, or the name of one beside this module), in
    its order; `now` is their moment where the file says none."""
    beside = Path(__file__).parent / f"{name}.json"
    path = beside if beside.is_file() else Path(name)
    document = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(document, list):
        document = {"replies": document}
    results, usual = document.get("results", {}), {"now": document.get("now", now or NOW)}
    return [_case(n, usual | entry, results) for n, entry in enumerate(document["replies"])]


def _case(number: int, entry: Mapping[str, Any], results: Mapping[str, Any]) -> Case:
    label = entry["label"]
    kind = KINDS.get(label, label)
    calls = [results[call] if isinstance(call, str) else call for call in entry["calls"]]
    fault = entry.get("fault") or None
    if isinstance(fault, str):
        fault = {"span": fault}
    return Case(
        id=entry.get("id", f"plain-{number}"),
        language=entry["language"],
        message=entry["message"],
        calls=tuple(_call(call) for call in calls),
        reply=entry["reply"],
        kind=kind,
        fault=Fault(kind, fault["span"], fault.get("right", "")) if fault else None,
        now=entry["now"],
        policy=entry.get("policy", ""),
    )


def _call(entry: Mapping[str, Any]) -> Call:
    """A call; what a file leaves out or says to be null is empty."""
    said = {name: value for name, value in entry.items() if value is not None}
    said["status"] = STATUSES.get(said.get("status", "ok"), said.get("status", "ok"))
    return Call(**said)
