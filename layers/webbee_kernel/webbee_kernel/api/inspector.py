"""What the classifier sees, what it does not, and why: the report of a turn that is not run. Pure,
computed from the turn's reads: the parts of its prompt, the skeleton sections (what is stored, what
renders, and the rule that dropped the rest), the remembered turns (facts with cuts and masks) and
the functions.

It shows real values beside placeholders, so it is for the session's own user only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from ..catalogue import FunctionInfo
from ..channels import fact_ledger, skeleton
from ..channels.columns import label_keys
from ..channels.truncate import fit
from ..config import MAX_POLICY
from ..stores.types import RING_SIZE, HistoryItem, Section, ToolCallDigest, Turn
from ..text import ELLIPSIS, TRUNCATED, one_line
from ..turn.session_memory import MESSAGE_PREVIEW, REPLY_PREVIEW, history, unmask_json
from ..turn.turn_context import TurnContext
from ..types import JSONObject

CHARS_PER_TOKEN = 3.5
"""A rough figure for mixed English, Russian and JSON; models count for themselves."""

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


def explain(view: TurnContext) -> JSONObject:
    """What a model would receive (`system`, `prompt`, `catalogue`) and its explanation. Nothing is
    called."""
    opening = view.opening
    prompt = opening.prompt  # first: it numbers the placeholders as the turn would
    failed = {app.app_id: app.error for app in view.catalogue.apps.values() if app.error}
    return {
        "system": prompt.system,
        "prompt": prompt.text,
        "catalogue": [asdict(tool) for tool in opening.shortlist.tools],
        "pii_masked": view.gate is not None,
        "blocks": blocks(view),
        "failed": [{"app_id": app_id, "reason": error} for app_id, error in failed.items()],
        "sections": sections(view),
        "turns": turns(view),
        "functions": function_rows(view),
        "window": view.window,
        "left_out": {**opening.omitted},
        "placeholders": masked_in(view, prompt.text),
        "next_turn": view.memory.last_seq + 1,
    }


def blocks(view: TurnContext) -> list[JSONObject]:
    """Each part of the prompt in order: characters, tokens, and the limit of its characters where
    it has one."""
    prompt, listed = view.opening.prompt, view.opening.shortlist
    lines = sum(s.data is not None for s in view.sections) * (skeleton.MAX_LINE + 1)
    head = len(skeleton.NOTE) + len("[SKELETON]\n\n")
    parts = (
        ("system", len(prompt.system) - len(prompt.policy) - len(prompt.apps), None),
        ("policy", len(prompt.policy), MAX_POLICY),
        ("apps", len(prompt.apps), None),
        ("catalogue", listed.characters, listed.room),
        ("notice", len(prompt.notice), None),
        ("skeleton", len(prompt.skeleton), head + (lines or len(skeleton.EMPTY))),
        (
            "history",
            len(prompt.history) - len(view.message),
            RING_SIZE * (MESSAGE_PREVIEW + REPLY_PREVIEW + fact_ledger.TURN_CAP),
        ),
        ("message", len(view.message), None),
    )
    return [
        {"name": name, "chars": chars, "tokens": round(chars / CHARS_PER_TOKEN), "cap": cap}
        for name, chars, cap in parts
    ]


def masked_in(view: TurnContext, text: str) -> dict[str, str]:
    """The placeholders of a text with what they stand for."""
    return dict(view.masker.used_in(text)) if view.gate else {}


def sections(view: TurnContext) -> list[JSONObject]:
    """Every stored section and every one an installed app registers, in the prompt or not."""
    known = {(a.app_id, s.section): s for a in view.catalogue.apps.values() for s in a.sections}
    # the label of a section whose name two apps have names the app
    names = Counter(s.section for s in view.sections if s.data is not None)
    found = {(s.app_id, s.section): s for s in view.user_state.sections}
    for key, info in known.items():
        if key not in found and key[0] in view.installed:
            found[key] = Section(*key, ttl=info.ttl)
    return [_section(view, section, names) for section in found.values()]


def _section(view: TurnContext, section: Section, names: Counter[str]) -> JSONObject:
    in_prompt = section.data is not None and section.app_id in view.installed
    name, mask = skeleton.label(section, names), view.gate.mask if view.gate else None
    line = skeleton.line(section, view.now, name, mask) if in_prompt else ""
    return {
        "app_id": section.app_id,
        "section": section.section,
        "in_prompt": in_prompt,
        "why_not": "" if in_prompt else _why_not(view, section),
        "line": line,
        "line_limit": skeleton.MAX_LINE,
        "fields": fields(view, section, name, line) if in_prompt else [],
        "raw": fit(section.data or {}, RAW_SHOWN),
        **_times(section, view.now),
        "failures": section.failures,
        "last_error": section.last_error,
    }


def _times(section: Section, now: float) -> JSONObject:
    """How old the snapshot is and when it is due again."""
    at, due = section.refreshed_at, section.due_at
    return {
        "age": skeleton.age(at, now) if section.data is not None else "",
        "age_s": None if at is None else max(0, int(now - at)),
        "ttl_s": section.ttl,
        "stale": at is not None and now - at > section.ttl,
        "next_refresh_in_s": int(due - now) if due else None,
    }


def _why_not(view: TurnContext, section: Section) -> str:
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
    return "its first refresh has not run yet"


def fields(view: TurnContext, section: Section, name: str, line: str) -> list[JSONObject]:
    """Field by field: the raw value, its text in the section's `line`, `shown`, `cut` or `dropped`,
    and the losses. `name` is the line's label."""
    raw = section.data or {}
    visible = skeleton.visible(raw)
    part = skeleton.visible_part(raw)
    masked = view.gate.mask(part) if view.gate else part
    texts = dict(zip(visible, (skeleton.compress({k: v}) for k, v in masked.items()), strict=True))
    age = skeleton.age(section.refreshed_at, view.now)
    at = len(f"- {one_line(name, skeleton.MAX_STRING)} ({age}): ")
    reports = []
    for key, value in raw.items():
        if text := texts.get(key, ""):
            shown, losses = line[at : at + len(text)], list(lost(value, str(key)))
            if shown != text:
                losses.append(_loss(str(key), "line_over_700"))
            at += len(text) + len(", ")
        else:
            shown, losses = "", [_unseen(key, str(key), "seventh_field")]
        rendered = shown.partition("=")[2]
        reports.append(
            {
                "name": str(key),
                "state": "dropped" if not shown else "cut" if losses else "shown",
                "shown": rendered,
                "losses": losses,
                "masked": masked_in(view, rendered),
            }
        )
    return reports


def _loss(path: str, rule: str) -> JSONObject:
    """Something that is not rendered, and by which rule."""
    return {"path": path, "rule": rule, "because": RULES[rule]}


def _unseen(key: Any, path: str, rule: str) -> JSONObject:
    """Why a whole field does not render."""
    return _loss(path, "underscore" if str(key).startswith("_") else rule)


def lost(value: Any, path: str, *, inside: bool = False) -> Iterator[JSONObject]:
    """What of a field's value does not render, apart from the line's length; `inside` a list or an
    object."""
    if isinstance(value, str) and len(one_line(value)) > skeleton.MAX_STRING:
        yield _loss(path, "string_over_60")
    elif inside and isinstance(value, dict | list | tuple) and value:
        yield _loss(path, "nested")
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
        yield _loss(path, "list_over_5")
        return
    shown = len(skeleton.leading(items)) if is_long else len(items)
    for i, item in enumerate(items[:shown]):
        where = f"{path}[{i}]"
        if isinstance(item, dict):
            yield from _of_object(item, where, label_keys(item), "record_label")
        else:
            yield from lost(item, where, inside=True)
    if shown < len(items):
        yield _loss(path, "values_over_200")


def turns(view: TurnContext) -> list[JSONObject]:
    """The remembered turns, oldest first."""
    items = history(view.memory, view.gate.mask if view.gate else None)
    return [_turn(view, turn, item) for turn, item in zip(view.memory.turns, items, strict=True)]


def _turn(view: TurnContext, turn: Turn, item: HistoryItem) -> JSONObject:
    return {
        "turn": turn.seq,
        "message": turn.message,
        "reply": turn.reply,
        "message_shown": item.message,
        "reply_shown": item.reply,
        "calls": list(turn.response.get("calls", ())),
        "facts": [_fact(view, d) for d in item.digests],
        "facts_chars": len("\n".join(item.facts)),
        "facts_limit": fact_ledger.TURN_CAP,
        "leaves_on_turn": turn.seq + RING_SIZE,
    }


def _fact(view: TurnContext, digest: ToolCallDigest) -> JSONObject:
    """A call's FACTS and ARGS lines (empty where missing), its real `data` and `args`, and the
    placeholders for them in the lines (`masked`); whether the ledger cut something there."""
    stored = (digest.data_facts_json, digest.args_json)
    data, args = (unmask_json(text, view.masker) for text in stored)
    lines = fact_ledger.lines(digest)
    text = "\n".join(lines)
    return {
        "app_id": digest.app_id,
        "fn_name": digest.fn_name,
        "line": lines[0] if digest.data_facts_json else "",
        "args_line": lines[-1] if digest.args_json else "",
        "is_cut": ELLIPSIS in text or TRUNCATED in text,
        "masked": masked_in(view, text),
        "data": data,
        "args": args,
    }


def offers(view: TurnContext) -> Iterator[tuple[FunctionInfo, int | None, str]]:
    """Every function of every deployed app with its place in the catalogue, or why it has none;
    shown ones first, in the catalogue's order."""
    listed = view.opening.shortlist
    yield from ((f, place, "") for place, f in enumerate(listed.shown, 1))
    fit_in = f"{len(listed.shown)} of {len(listed.ranked)} functions fit into the {listed.room:,}"
    for rank, function in enumerate(listed.ranked, 1):
        if function not in listed.shown:
            by = "by use in the last turns and words shared with the message"
            why = f"{fit_in} characters; this one comes {rank}. {by}; the model can search for it"
            yield function, None, why
    absent = (a for a in view.catalogue.apps.values() if a.app_id not in view.installed)
    for function in (f for app in absent for f in app.functions):
        yield function, None, "the app is not installed for this user"


def function_rows(view: TurnContext) -> list[JSONObject]:
    """The functions of `offers`, then those that were withdrawn and those of apps that failed."""
    rows = []
    for function, position, why_not in offers(view):
        missing = ", ".join(s for s in function.scopes if not view.ask.user.has_scope(s))
        refused = missing and f"a call would be refused: the scope {missing} is missing"
        rows.append(_row(function.app_id, function.fn_name, position, why_not or refused))
    for app in view.catalogue.apps.values():
        rows += [_row(app.app_id, name, None, why) for name, why in app.withdrawn.items()]
        if app.error:
            rows.append(_row(app.app_id, "", None, f"the app failed to load: {app.error}"))
    return rows


def _row(app_id: str, fn_name: str, position: int | None, why: str) -> JSONObject:
    named = {"app_id": app_id, "fn_name": fn_name, "why_not": why}
    return {**named, "in_catalogue": position is not None, "position": position}
