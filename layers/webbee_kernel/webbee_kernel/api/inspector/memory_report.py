"""The skeleton sections (what is stored, what renders, and the rule that dropped the rest) and the
remembered turns (calls with their guards, grounding, facts with cuts and masks)."""

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
from ...text import ELLIPSIS, TRUNCATED, more_of, one_line
from ...turn.session_memory import MESSAGE_PREVIEW, REPLY_PREVIEW, history, unmask_json
from ...turn.turn_context import TurnContext
from ...types import JSONObject


def masked_in(view: TurnContext, text: str) -> dict[str, str]:
    """The placeholders of a text with what they stand for."""
    return dict(view.masker.used_in(text)) if view.gate else {}


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
    """Something that is not rendered: its path, the rule, and the figures."""
    return {"path": path, "rule": rule, "because": RULES[rule], "detail": detail}


def sections(view: TurnContext) -> list[JSONObject]:
    """Every stored section and every one an installed app registers, in the prompt or not."""
    known = {(a.app_id, s.section): s for a in view.catalogue.apps.values() for s in a.sections}
    # the label of a section whose name two apps have names the app
    shown = Counter(s.section for s in view.sections if s.data is not None)
    stored = {(s.app_id, s.section): s for s in view.user_state.sections}
    reports = [_section(view, s, shown, known.get(key)) for key, s in stored.items()]
    for key, info in known.items():
        if key not in stored and key[0] in view.installed:
            why = "nobody has asked for its first refresh yet"
            reports.append(_section(view, Section(*key, ttl=info.ttl), shown, info, why))
    return reports


def _section(
    view: TurnContext,
    section: Section,
    names: Counter[str],
    info: SectionInfo | None,
    unfilled: str = "its first refresh has not run yet",
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
        "why_not": "" if in_prompt else _why_not(view, section, unfilled),
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
    at, due = section.refreshed_at, section.due_at
    return {
        "age": skeleton.age(at, now) if section.data is not None else "",
        "age_s": None if at is None else max(0, int(now - at)),
        "ttl_s": section.ttl,
        "stale": at is not None and now - at > section.ttl,
        "next_refresh_at": iso(due) if due else None,
        "next_refresh_in_s": int(due - now) if due else None,
    }


def _why_not(view: TurnContext, section: Section, unfilled: str) -> str:
    app = view.catalogue.apps.get(section.app_id)
    if app is None:
        return "its app is not deployed any more"
    if app.error:
        return f"its app failed to load: {app.error}"
    if section.app_id not in view.installed:
        return "its app is not installed for this user"
    if section.failures:
        last = f"{section.failures} failed, the last with {section.last_error}"
        return f"no refresh has succeeded yet: {last}"
    return unfilled


def fields(view: TurnContext, section: Section, name: str) -> list[JSONObject]:
    """Field by field: the raw value, the text that renders, `shown`, `cut` or `dropped`, and the
    losses. `name` is the line's label."""
    raw = section.data or {}
    visible = skeleton.visible(raw)
    seen = skeleton.visible_part(visible)
    masked = view.gate.mask(seen) if view.gate else seen
    texts = dict(zip(visible, (skeleton.compress({k: v}) for k, v in masked.items()), strict=True))
    age = skeleton.age(section.refreshed_at, view.now)
    at = len(f"- {one_line(name, skeleton.MAX_STRING)} ({age}): ")
    whole = at + len(", ".join(texts.values()))
    # a line that is cut ends in an ellipsis, which takes a character
    room = whole if whole <= skeleton.MAX_LINE else skeleton.MAX_LINE - 1
    reports = []
    for key, value in raw.items():
        shown, losses = "", [_unseen(key, str(key), "seventh_field")]
        if text := texts.get(key):
            shown, losses = text[: max(0, room - at)], list(lost(value, str(key)))
            if len(shown) < len(text):
                fits = f"{len(shown)} of {len(text)} characters of this field fit"
                losses.append(_loss(str(key), "line_over_700", fits))
            at += len(text) + len(", ")
        rendered = shown.partition("=")[2]
        reports.append(
            {
                "name": str(key),
                "state": "dropped" if not shown else "cut" if losses else "shown",
                "shown": rendered,
                "value": fit(value, RAW_SHOWN // 4),
                "losses": losses,
                "masked": masked_in(view, rendered),
            }
        )
    return reports


def _unseen(key: Any, path: str, rule: str) -> JSONObject:
    """Why a whole field does not render."""
    return _loss(path, "underscore" if str(key).startswith("_") else rule)


def lost(value: Any, path: str, *, inside: bool = False) -> Iterator[JSONObject]:
    """What of a field's value does not render, apart from the line's length; `inside` a list or an
    object."""
    if isinstance(value, str) and (size := len(one_line(value))) > skeleton.MAX_STRING:
        cut = f"{size} characters, the first {skeleton.MAX_STRING - 1} render"
        yield _loss(path, "string_over_60", cut)
    elif inside and isinstance(value, dict | list | tuple) and value:
        fields_as = f"fields render as {{{ELLIPSIS}}}"
        how = fields_as if isinstance(value, dict) else f"items render as list[{len(value)}]"
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
    """What a list loses: all records if there are many, else their fields but title and id; of many
    plain values the last ones."""
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
"""The guard that refused a call, by its error code; other codes are the handler's."""

_CHARS = re.compile(r"…\[\d+ chars\]$")


def turns(view: TurnContext) -> list[JSONObject]:
    """The remembered turns, oldest first."""
    items = history(view.memory, view.gate.mask if view.gate else None)
    return [_turn(view, turn, item) for turn, item in zip(view.memory.turns, items, strict=True)]


def _turn(view: TurnContext, turn: Turn, item: HistoryItem) -> JSONObject:
    return {
        "turn": turn.seq,
        "at": turn.at,
        "status": turn.status,
        "message": turn.message,
        "reply": turn.reply,
        "message_shown": item.message,
        "reply_shown": item.reply,
        "message_cut": len(one_line(turn.message)) > MESSAGE_PREVIEW,
        "reply_cut": len(one_line(turn.reply)) > REPLY_PREVIEW,
        "calls": [{**c, "guard": guard(c)} for c in turn.response.get("calls", ())],
        "grounding": grounding(turn),
        "facts": [_fact(view, d) for d in item.digests],
        "facts_chars": len("\n".join(item.facts)),
        "facts_limit": fact_ledger.TURN_CAP,
        "leaves_on_turn": turn.seq + RING_SIZE,
    }


def guard(call: JSONObject) -> str:
    """The guards' verdict on a recorded call."""
    if call.get("status") == "ok":
        return "all passed"
    return GUARDS.get(str(call.get("error_code", "")), "all passed; the call itself failed")


def _fact(view: TurnContext, digest: ToolCallDigest) -> JSONObject:
    """A call's FACTS and ARGS lines (empty where missing), its real `data` and `args`, and the
    placeholders for them in the lines (`masked`)."""
    stored = (digest.data_facts_json, digest.args_json)
    data, args = (unmask_json(text, view.masker) for text in stored)
    lines = fact_ledger.lines(digest)
    return {
        "app_id": digest.app_id,
        "fn_name": digest.fn_name,
        "line": lines[0] if digest.data_facts_json else "",
        "args_line": lines[-1] if digest.args_json else "",
        "stored_chars": len(digest.data_facts_json),
        "cuts": [*cuts(data, "data"), *cuts(args, "args")],
        "masked": masked_in(view, "\n".join(lines)),
        "data": data,
        "args": args,
    }


def cuts(value: Any, path: str) -> Iterator[JSONObject]:
    """The ledger's cuts: paths and markers."""
    if isinstance(value, dict):
        for key, item in value.items():
            is_marker = key == TRUNCATED
            marked = [{"path": path, "marker": str(item)}]
            yield from marked if is_marker else cuts(item, f"{path}.{key}")
    elif isinstance(value, list):
        # a marker is always the last item
        rows = value[:-1] if more_of(value) else value
        for i, item in enumerate(rows):
            yield from cuts(item, f"{path}[{i}]")
        yield from ({"path": path, "marker": marker} for marker in value[len(rows) :])
    elif isinstance(value, str) and (found := _CHARS.search(value)):
        yield {"path": path, "marker": found.group()}


def grounding(turn: Turn) -> JSONObject:
    """The values of a reply that have a source, and those that are marked as having none."""
    told, reply = turn.response, turn.reply
    tokens: list[JSONObject] = [
        {"kind": s["how"], "token": reply[s["start"] : s["end"]], "found": True, "path": s["path"]}
        for s in ({"path": "", **s} for s in told.get("sources", ()))
    ]
    missing = [(m["reason"], reply[m["start"] : m["end"]]) for m in told.get("marks", ())]
    tokens += [{"kind": reason, "token": token, "found": False} for reason, token in missing]
    if not tokens:
        return {"judged": False, "why_not": "the reply holds nothing that was looked up"}
    return {
        "judged": True,
        "grounded": not missing,
        "missing": [token for _, token in missing],
        "tokens": tokens,
    }
