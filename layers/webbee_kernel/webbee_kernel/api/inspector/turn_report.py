"""Per remembered turn: its calls, what guarded them, its grounding, its facts with cuts and
masks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...channels import fact_ledger
from ...grounding import Call, Evidence, check
from ...stores.types import RING_SIZE, HistoryItem, ToolCallDigest, Turn
from ...text import one_line
from ...turn import session_memory as session_memory
from ...turn.session_memory import MESSAGE_PREVIEW
from ...turn.turn_context import TurnContext
from ...types import JSON, JSONObject

GUARDS = {
    "UNKNOWN_TOOL": "known function: refused",
    "UNKNOWN_SUB_FUNCTION": "known function: refused",
    "PERMISSION_DENIED": "installed, and scopes where it runs: refused",
    "FABRICATED_ID_SHAPE": (
        "real ids, no placeholders (I-AH-1, I-PARAMS-NO-PLACEHOLDER-VALUES): refused"
    ),
    "VALIDATION_MISSING_FIELD": "arguments fit the parameter model: refused",
    "VALIDATION_TYPE_ERROR": "arguments fit the parameter model: refused",
}
"""What stopped a call, by the code recorded with it; any other code is the handler's own."""

_MORE = re.compile(r"… (?:\d+ more(?:, fields left out)?|fields left out)")
_CHARS = re.compile(r"…\[\d+ chars\]$")


def report(view: TurnContext) -> list[JSONObject]:
    """The remembered turns, oldest first."""
    items = session_memory.history(view.memory, view.gate.mask if view.gate else None)
    return [_turn(view, turn, item) for turn, item in zip(view.memory.turns, items, strict=True)]


def _turn(view: TurnContext, turn: Turn, item: HistoryItem) -> JSONObject:
    lines = item.facts
    return {
        "turn": turn.seq,
        "at": turn.at,
        "status": turn.status,
        "message": turn.message,
        "reply": turn.reply,
        "message_shown": item.message,
        "reply_shown": item.reply,
        "message_cut": len(one_line(turn.message)) > MESSAGE_PREVIEW,
        "reply_cut": len(one_line(turn.reply)) > session_memory.REPLY_PREVIEW,
        "calls": [{**c, "guard": guard(c)} for c in turn.response.get("calls", ())],
        "grounding": grounding(turn),
        "facts": [_fact(view, d) for d in item.digests],
        "facts_chars": sum(len(line) + 1 for line in lines) - 1 if lines else 0,
        "facts_limit": fact_ledger.TURN_CAP,
        "leaves_on_turn": turn.seq + RING_SIZE,
    }


def guard(call: JSONObject) -> str:
    """The guards' verdict as the call's record tells it."""
    if call.get("status") == "ok":
        return "all passed"
    return GUARDS.get(str(call.get("error_code", "")), "all passed; the call itself failed")


def _fact(view: TurnContext, digest: ToolCallDigest) -> JSONObject:
    """One call's FACTS line and its ARGS line, each empty where there is none. `data` and `args`
    hold the user's real values, `masked` what stands for them in the lines."""
    data, args = real(view, digest.data_facts_json), real(view, digest.args_json)
    lines = fact_ledger.lines(digest)
    return {
        "app_id": digest.app_id,
        "fn_name": digest.fn_name,
        "line": lines[0] if digest.data_facts_json else "",
        "args_line": lines[-1] if digest.args_json else "",
        "stored_chars": len(digest.data_facts_json),
        "cuts": [
            {"path": path, "marker": marker} for path, marker in (*cuts(data), *cuts(args, "args"))
        ],
        "masked": dict(view.masker.used_in("\n".join(lines))) if view.gate else {},
        "data": data,
        "args": args,
    }


def real(view: TurnContext, stored: str) -> JSON:
    """A digest's data or arguments with the user's own values in place of placeholders; None where
    there are none."""
    return session_memory.unmasked(json.loads(stored), view.masker) if stored else None


def cuts(value: Any, path: str = "data") -> Iterator[tuple[str, str]]:
    """Where the ledger cut: paths and the markers it left."""
    if isinstance(value, dict):
        for key, item in value.items():
            told = key == fact_ledger.TRUNCATED
            yield from [(path, str(item))] if told else cuts(item, f"{path}.{key}")
    elif isinstance(value, list):
        yield from _cut_rows(value, path)
    elif isinstance(value, str) and (found := _CHARS.search(value)):
        yield path, found.group()


def _cut_rows(value: list[Any], path: str) -> Iterator[tuple[str, str]]:
    more = [v for v in value[-1:] if isinstance(v, str) and _MORE.fullmatch(v)]
    for i, item in enumerate(value[: len(value) - len(more)]):
        yield from cuts(item, f"{path}[{i}]")
    yield from [(path, marker) for marker in more]


def grounding(turn: Turn) -> JSONObject:
    """What was looked up in a reply when it was written: the values that have a source, and what is
    marked as having none."""
    told = turn.response
    tokens: list[JSONObject] = [
        {"kind": s["how"], "token": _of(turn, s), "found": True, "path": s.get("path", "")}
        for s in told.get("sources", ())
    ]
    missing = [{**m, "token": _of(turn, m)} for m in told.get("marks", ())]
    tokens += [{"kind": m["reason"], "token": m["token"], "found": False} for m in missing]
    if not tokens:
        return {"judged": False, "why_not": "the reply holds nothing that was looked up"}
    return {
        "judged": True,
        "grounded": not missing,
        "missing": [m["token"] for m in missing],
        "tokens": tokens,
    }


def _of(turn: Turn, span: JSONObject) -> str:
    return turn.reply[span["start"] : span["end"]]


def sources(view: TurnContext, turn: Turn, value: str) -> dict[tuple[str, str], dict[str, str]]:
    """Where a number or date stands in a turn's facts in whatever form: by call, path and how."""
    if not turn.digests or not any(char.isdigit() for char in value):
        return {}
    calls = [
        Call(
            d.app_id,
            d.fn_name,
            arguments=real(view, d.args_json) or {},
            data=real(view, d.data_facts_json),
        )
        for d in turn.digests
    ]
    evidence = Evidence(tuple(calls), language=view.language, now=turn.at, mode="strict")
    found: dict[tuple[str, str], dict[str, str]] = {}
    for source in check(value, evidence=evidence).sources:
        if source.call >= 0:
            call = calls[source.call]
            path = source.path.replace("arguments", "args", 1)
            found.setdefault((call.app_id, call.fn_name), {})[path] = source.how
    return found
