"""Fact ledger: verbatim results of successful calls, at most 3,000 characters a turn. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..base.text import ELLIPSIS, dumps, head
from ..invariants import limit
from ..values import ToolCallDigest

TURN_CAP = limit("I-FACT-LEDGER-PER-TURN-AGG-CAP")
TRUNCATED = "_truncated"
OMITTED_FN = "_omitted"
_SHORT = 200  # characters; a field this short outlives longer ones
_FLOOR = 80  # characters a long field leaves to each that follows, enough for its scalars


def record(
    calls: Sequence[tuple[str, str, Any]], cap: int = TURN_CAP
) -> tuple[ToolCallDigest, ...]:
    """Digests of one turn's successful calls `(app_id, fn_name, ActionResult.data)`, oldest first.

    `_action_meta` is dropped; calls with empty data leave no entry. All lines together, `FACTS: …`
    prefix and markers included, hold at most `cap` characters: over it the oldest calls give way
    first, the newest keeps most. What is cut stays valid JSON and says so under `_truncated` or as
    a list's last item.
    """
    facts = [
        (a, f, d) for a, f, d in ((a, f, _facts(data)) for a, f, data in calls) if not _is_empty(d)
    ]
    digests = [ToolCallDigest(a, f, dumps(d)) for a, f, d in facts]
    if _size(digests) <= cap:
        return tuple(digests)
    return _shrink(facts, digests, cap)


def line(digest: ToolCallDigest) -> str:
    """`FACTS: app=mail fn=list_inbox data={…}`."""
    return f"FACTS: app={digest.app_id} fn={digest.fn_name} data={digest.data_facts_json}"


def fit(value: Any, budget: int) -> Any:
    """`value` cut so that its JSON holds at most `budget` characters, leading parts and short
    scalars first.

    Lists lose items from their end and say how many, dicts keep scalars before containers, strings
    end in `…`. A budget below about 20 characters may be exceeded by the marker alone.
    """
    if len(dumps(value)) <= budget:
        return value
    if isinstance(value, dict):
        return _fit_dict(value, budget)
    if isinstance(value, list | tuple):
        return _fit_list(list(value), budget)
    if isinstance(value, str):
        return _fit_text(value, budget)
    return ELLIPSIS  # a number of more digits than there is room for


def _facts(data: Any) -> Any:
    return (
        {k: v for k, v in data.items() if k != "_action_meta"} if isinstance(data, dict) else data
    )


def _is_empty(data: Any) -> bool:
    return data is None or (isinstance(data, dict | list | tuple | str) and not data)


def _size(digests: Sequence[ToolCallDigest]) -> int:
    return sum(len(line(d)) + 1 for d in digests) - 1 if digests else 0


def _shrink(
    facts: list[tuple[str, str, Any]], whole: list[ToolCallDigest], cap: int
) -> tuple[ToolCallDigest, ...]:
    """Newest first: each call takes what it needs of what is left after a marker is reserved for
    every older one."""
    kept: list[ToolCallDigest] = []
    floors = [
        ToolCallDigest(a, f, dumps({TRUNCATED: f"{len(w.data_facts_json)} chars"}))
        for (a, f, _), w in zip(facts, whole, strict=True)
    ]
    left = cap
    for i in range(len(facts) - 1, -1, -1):
        reserve = _size(floors[:i]) + 1 if i else 0
        if reserve > left // 2:
            reserve = _size([_omitted(i)]) + 1
        app, fn, data = facts[i]
        room = left - reserve - len(line(ToolCallDigest(app, fn, "")))
        digest = whole[i]
        if len(digest.data_facts_json) > room:
            digest = ToolCallDigest(app, fn, dumps(fit(data, room))) if room >= 60 else floors[i]
        if len(line(digest)) > left - reserve:
            kept.append(_omitted(i + 1))
            break
        kept.append(digest)
        left -= len(line(digest)) + 1
    return tuple(reversed(kept))


def _omitted(count: int) -> ToolCallDigest:
    return ToolCallDigest(
        "kernel", OMITTED_FN, dumps({TRUNCATED: f"{count} older calls of this turn"})
    )


def _fit_text(text: str, budget: int) -> str:
    low, high = 0, len(text)
    tail = f"{ELLIPSIS}[{len(text)} chars]"
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (
            (middle, high) if len(dumps(head(text, middle) + tail)) <= budget else (low, middle - 1)
        )
    return head(text, low) + tail


def _fit_list(items: list[Any], budget: int) -> list[Any]:
    room = budget - 2
    kept: list[Any] = []
    for index, item in enumerate(items):
        rest = len(items) - index - 1
        marker = len(dumps(_more(len(items)))) + 2 if rest else 0
        size = len(dumps(item)) + 2
        if size > room - marker:
            if not kept and isinstance(item, dict | list | str) and room - marker > 60:
                kept.append(fit(item, room - marker - 2))
                index += 1
            break
        kept.append(item)
        room -= size
    cut = len(items) - len(kept)
    return [*kept, _more(cut)] if cut else kept


def _more(count: int) -> str:
    return f"{ELLIPSIS} {count} more"


def _fit_dict(value: dict[Any, Any], budget: int) -> dict[str, Any]:
    """Short scalars first, then short containers, then the rest in order with what is left; a
    marker counts the fields that went."""
    marker = len(dumps({TRUNCATED: f"{len(value)} more fields"})) + 2
    room = budget - 2 - marker
    kept: dict[str, Any] = {}
    entries = [(str(k), v) for k, v in value.items()]
    sizes = {key: _entry(key, item) for key, item in entries}
    for key, item in sorted(entries, key=lambda e: isinstance(e[1], dict | list | tuple)):
        if sizes[key] <= min(room, _SHORT):
            kept[key] = item
            room -= sizes[key]
    long = [(key, item) for key, item in entries if key not in kept]
    later = sum(min(sizes[key], _FLOOR) for key, _ in long)
    for key, item in long:
        later -= min(sizes[key], _FLOOR)
        share = room - min(later, room // 2)
        if sizes[key] <= share:
            kept[key] = item
        elif share - len(dumps(key)) > 40 and isinstance(item, dict | list | tuple | str):
            kept[key] = fit(item, share - len(dumps(key)) - 4)
        else:
            continue
        room -= _entry(key, kept[key])
    ordered = {key: kept[key] for key, _ in entries if key in kept}
    gone = len(entries) - len(ordered)
    return {**ordered, TRUNCATED: f"{gone} more fields"} if gone else ordered


def _entry(key: str, item: Any) -> int:
    return len(dumps(key)) + 2 + len(dumps(item)) + 2
