"""The replies written by hand: `plain_words.json`, natural prose over the foreign tools' results,
about half with one fault each.
"""

from __future__ import annotations

import json

from benchmarks.truths.model import Call, Case, Fault
from benchmarks.truths.words import HERE


def plain_words(name: str = "plain_words") -> list[Case]:
    """Return the hand-written cases of a file, in its order."""
    document = json.loads((HERE / f"{name}.json").read_text(encoding="utf-8"))
    calls = {name: Call(**entry) for name, entry in document["results"].items()}
    cases = []
    for number, entry in enumerate(document["replies"]):
        fault = entry.get("fault")
        cases.append(
            Case(
                id=f"plain-{number}",
                language=entry["language"],
                message=entry["message"],
                calls=tuple(calls[name] for name in entry["calls"]),
                reply=entry["reply"],
                kind=entry["kind"],
                fault=Fault(entry["kind"], fault["span"], fault.get("right", ""))
                if fault
                else None,
            )
        )
    return cases
