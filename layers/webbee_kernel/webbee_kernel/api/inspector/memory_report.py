"""What is remembered. Per skeleton section: what is stored, what of it renders, and the rule that
dropped the rest. Per turn: its calls, what guarded them, its grounding, its facts with cuts and
masks."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from ...catalogue import SectionInfo
from ...channels import fact_ledger, skeleton
from ...channels.columns import label_keys
from ...channels.truncate import fit
from ...clock import iso
from ...stores.types import RING_SIZE, HistoryItem, Section, ToolCallDigest, Turn
from ...text import ELLIPSIS, TRUNCATED, one_line
from ...turn import session_memory
from ...turn.session_memory import MESSAGE_PREVIEW
from ...turn.turn_context import TurnContext
from ...types import JSONObject

RAW_SHOWN = 16_000
"""Characters of a section's raw data in the report; stored are up to 64 KB."""

RULES = {
    "underscore": "a field that starts with an underscore never renders",
    "seventh_field": f"only the first {skeleton.MAX_FIELDS} fields render",
    "string_over_60": f"a string renders up to {skeleton.MAX_STRING} characters",
    "list_over_5": f"a list of more than {skeleton.MAX_LIST} records renders as list[N]",
    "values_over_200": f"plain values of a list render up to {skeleton.MAX_SCALARS} characters",
    "record_label": "a record in a list renders as its title and id",
    "nested": "deeper values render as {…} or list[N]",
    "line_over_700": f"a section's line renders up to {skeleton.MAX_LINE} characters",
}
"""Why something of a section is not in the prompt."""


def _loss(path: str, rule: str, detail: str = "not rendered") -> JSONObject:
    """Something not rendered: where it stands, by which rule, and what happened in figures."""
    return {"path": path, "rule": rule, "because": RULES[rule], "detail": detail}


def sections(view: TurnContext) -> list[JSONObject]:
    """Every stored section and every one an installed app registers, in the prompt or not."""
    known = {(a.app_id, s.section): s for a in view.catalogue.apps.values() for s in a.sections}
    # apps may have sections of one name: their labels then say whose they are
    shown = Counter(s.section for s in view.sections if s.data is not None)
    stored = {(s.app_id, s.section): s for s in view.user_state.sections}
    reports = [_one(view, s, shown, known.get(key), True) for key, s in stored.items()]
    for key, info in known.items():
        if key not in stored and key[0] in view.installed:
            reports.append(_one(view, Section(*key, ttl=info.ttl), shown, info, False))
    return reports


def _one(
    view: TurnContext, section: Section, names: Counter[str], info: SectionInfo | None, stored: bool
) -> JSONObject:
    in_prompt = section.data is not None and section.app_id in view.installed
    raw = section.data or {}
    size = len(json.dumps(raw, ensure_ascii=False, default=str))
    name, mask = skeleton.label(section, names), view.gate.mask if view.gate else None
    line = skeleton.line(section, view.now, name, mask) if in_prompt else ""
    return {
        "app_id": section.app_id,
        "section": section.section,
        "in_prompt": in_prompt,
        "why_not": "" if in_prompt else _why_not(view, section, stored),
        "line": line,
        "line_chars": len(line),
        "line_limit": skeleton.MAX_LINE,
        "fields": fields(view, section, name) if in_prompt else [],
        "stored_chars": size,
        "raw": raw if size <= RAW_SHOWN else fit(raw, RAW_SHOWN),
        **_times(section, view.now),
        "failures": section.failures,
        "last_error": section.last_error,
        "alert": bool(info and info.alert),
        "registered": info is not None,
    }


def _times(section: Section, now: float) -> JSONObject:
    """How old the snapshot is and when it is due again."""
    due = section.due_at
    age = None if section.refreshed_at is None else max(0, int(now - section.refreshed_at))
    return {
        "age": skeleton.age(section.refreshed_at, now) if section.data is not None else "",
        "age_s": age,
        "ttl_s": section.ttl,
        "stale": section.refreshed_at is not None and now - section.refreshed_at > section.ttl,
        "next_refresh_at": iso(due) if due else None,
        "next_refresh_in_s": int(due - now) if due else None,
    }


def _why_not(view: TurnContext, section: Section, stored: bool) -> str:
    app = view.catalogue.apps.get(section.app_id)
    if app is None:
        return "its app is not deployed any more"
    if app.error:
        return f"its app failed to load: {app.error}"
    if section.app_id not in view.installed:
        return "its app is not installed for this user"
    if section.failures:
        return (
            f"no refresh has succeeded yet: {section.failures} failed, the last with"
            f" {section.last_error}"
        )
    return (
        "its first refresh has not run yet"
        if stored
        else "nobody has asked for its first refresh yet"
    )


def fields(view: TurnContext, section: Section, name: str) -> list[JSONObject]:
    """Field by field: the raw value, the text that renders, `shown`, `cut` or `dropped`, and the
    losses. `name` is the line's label."""
    raw = section.data or {}
    visible = skeleton.visible(raw)
    seen = skeleton.visible_part(visible)
    masked = view.gate.mask(seen) if view.gate else seen
    texts = dict(zip(visible, (skeleton.compress({k: v}) for k, v in masked.items()), strict=True))
    at = len(
        f"- {one_line(name, skeleton.MAX_STRING)}"
        f" ({skeleton.age(section.refreshed_at, view.now)}): "
    )
    whole = at + len(", ".join(texts.values()))
    # a line that is cut ends in an ellipsis, which takes a character
    room = whole if whole <= skeleton.MAX_LINE else skeleton.MAX_LINE - 1
    reports = []
    for key, value in raw.items():
        text = texts.get(key)
        if text is None:
            unseen = [_unseen(key, str(key), "seventh_field")]
            reports.append(_field(view, key, value, "", "dropped", unseen))
            continue
        shown, losses = text[: max(0, room - at)], list(lost(value, str(key)))
        if len(shown) < len(text):
            fits = f"{len(shown)} of {len(text)} characters of this field fit"
            losses.append(_loss(str(key), "line_over_700", fits))
        state = "dropped" if not shown else "cut" if losses else "shown"
        reports.append(_field(view, key, value, shown, state, losses))
        at += len(text) + len(", ")
    return reports


def _unseen(key: Any, path: str, rule: str) -> JSONObject:
    """Why a whole field does not render."""
    return _loss(path, "underscore" if str(key).startswith("_") else rule)


def _field(
    view: TurnContext, key: Any, value: Any, shown: str, state: str, losses: list[JSONObject]
) -> JSONObject:
    return {
        "name": str(key),
        "state": state,
        "shown": shown.partition("=")[2],
        "value": fit(value, RAW_SHOWN // 4),
        "losses": losses,
        "masked": dict(view.masker.used_in(shown.partition("=")[2])) if view.gate else {},
    }


def lost(value: Any, path: str, *, inside: bool = False) -> Iterator[JSONObject]:
    """What of a field's value does not render, the line's length aside; `inside`: it stands in a
    list or an object."""
    if isinstance(value, str) and (size := len(one_line(value))) > skeleton.MAX_STRING:
        cut = f"{size} characters, the first {skeleton.MAX_STRING - 1} render"
        yield _loss(path, "string_over_60", cut)
    elif inside and isinstance(value, dict | list | tuple) and value:
        is_object = isinstance(value, dict)
        how = (
            f"fields render as {{{ELLIPSIS}}}"
            if is_object
            else f"items render as list[{len(value)}]"
        )
        yield _loss(path, "nested", f"{len(value)} {how}")
    elif isinstance(value, dict):
        yield from _of_object(value, path, skeleton.visible(value), "seventh_field")
    elif isinstance(value, list | tuple):
        yield from _of_list(value, path)


def _of_object(
    value: JSONObject, path: str, kept: Collection[str | None], rule: str
) -> Iterator[JSONObject]:
    for key, item in value.items():
        where = f"{path}.{key}"
        yield from lost(item, where, inside=True) if key in kept else [_unseen(key, where, rule)]


def _of_list(items: Sequence[Any], path: str) -> Iterator[JSONObject]:
    """What a list loses: all of its records where they are many, else what does not tell them
    apart; of many plain values the end."""
    is_long = len(items) > skeleton.MAX_LIST
    if is_long and not skeleton.is_plain(items):
        yield _loss(path, "list_over_5", f"{len(items)} items render as list[{len(items)}]")
        return
    shown = len(skeleton.leading(items)) if is_long else len(items)
    for i, item in enumerate(items[:shown]):
        where = f"{path}[{i}]"
        if isinstance(item, dict):
            yield from _of_object(item, where, label_keys(item), "record_label")
        else:
            yield from lost(item, where, inside=True)
    if shown < len(items):
        yield _loss(path, "values_over_200", f"{shown} of {len(items)} values render")


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


def turns(view: TurnContext) -> list[JSONObject]:
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
        # the turn that takes its slot
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
    stored = (digest.data_facts_json, digest.args_json)
    data, args = (session_memory.unmask_json(text, view.masker) for text in stored)
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


def cuts(value: Any, path: str = "data") -> Iterator[tuple[str, str]]:
    """Where the ledger cut: paths and the markers it left."""
    if isinstance(value, dict):
        for key, item in value.items():
            told = key == TRUNCATED
            yield from [(path, str(item))] if told else cuts(item, f"{path}.{key}")
    elif isinstance(value, list):
        yield from _cut_rows(value, path)
    elif isinstance(value, str) and (found := _CHARS.search(value)):
        yield path, found.group()


def _cut_rows(value: list[Any], path: str) -> Iterator[tuple[str, str]]:
    # at the end alone: elsewhere it is a value that looks like the marker
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
