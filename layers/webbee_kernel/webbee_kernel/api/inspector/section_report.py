"""Per skeleton section: what is stored, what of it renders, and the rule that dropped the rest."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ...catalogue import SectionInfo
from ...channels import skeleton
from ...channels.columns import label_keys
from ...channels.truncate import fit
from ...clock import iso
from ...stores.types import Section
from ...text import one_line
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


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that does not render: where it stands, by which rule, and in figures what
    happened."""

    path: str
    rule: str
    detail: str

    def to_dict(self) -> dict[str, str]:
        """Plain JSON, the rule's sentence included."""
        return {
            "path": self.path,
            "rule": self.rule,
            "because": RULES[self.rule],
            "detail": self.detail,
        }


def report(view: TurnContext) -> list[JSONObject]:
    """Every stored section and every one an installed app registers, in the prompt or not."""
    known = {(a.app_id, s.section): s for a in view.catalogue.apps.values() for s in a.sections}
    shown = Counter(s.section for s in view.sections if s.data is not None)
    stored = {(s.app_id, s.section): s for s in view.stored.sections}
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
    return {
        "app_id": section.app_id,
        "section": section.section,
        "in_prompt": in_prompt,
        "why_not": "" if in_prompt else _why_not(view, section, stored),
        **_rendered(view, section, skeleton.label(section, names), in_prompt),
        "stored_chars": size,
        "raw": raw if size <= RAW_SHOWN else fit(raw, RAW_SHOWN),
        **_times(section, view.now),
        "failures": section.failures,
        "last_error": section.last_error,
        "alert": bool(info and info.alert),
        "registered": info is not None,
    }


def _rendered(view: TurnContext, section: Section, name: str, in_prompt: bool) -> JSONObject:
    """The line that stands in the prompt, and what of each field it shows."""
    mask = view.gate.mask if view.gate else None
    line = skeleton.line(section, view.now, name, mask) if in_prompt else ""
    return {
        "line": line,
        "line_chars": len(line),
        "line_limit": skeleton.MAX_LINE,
        "fields": fields(view, section, name) if in_prompt else [],
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
    seen = skeleton.looked_at(visible)
    masked = view.gate.mask(seen) if view.gate else seen
    texts = dict(zip(visible, (skeleton.compress({k: v}) for k, v in masked.items()), strict=True))
    at = len(
        f"- {one_line(name, skeleton.MAX_STRING)}"
        f" ({skeleton.age(section.refreshed_at, view.now)}): "
    )
    whole = at + len(", ".join(texts.values()))
    room = whole if whole <= skeleton.MAX_LINE else skeleton.MAX_LINE - 1
    reports = []
    for key, value in raw.items():
        if key in texts:
            losses = list(lost(value, str(key)))
            reports.append(_shown_field(view, key, value, texts[key], room - at, losses))
            at += len(texts[key]) + len(", ")
        else:
            reports.append(_field(view, key, value, "", "dropped", [_unseen(key, str(key))]))
    return reports


def _shown_field(
    view: TurnContext, key: Any, value: Any, text: str, room: int, losses: list[Loss]
) -> JSONObject:
    """A field that renders as `text`, of which as much is shown as the line has room for."""
    shown = text[: max(0, room)]
    if len(shown) < len(text):
        fits = f"{len(shown)} of {len(text)} characters of this field fit"
        losses.append(Loss(str(key), "line_over_700", fits))
    state = "dropped" if not shown else "cut" if losses else "shown"
    return _field(view, key, value, shown.partition("=")[2], state, losses)


def _unseen(key: Any, path: str) -> Loss:
    """Why a whole field does not render."""
    rule = "underscore" if str(key).startswith("_") else "seventh_field"
    return Loss(path, rule, "not rendered")


def _field(
    view: TurnContext, name: Any, value: Any, shown: str, state: str, losses: list[Loss]
) -> JSONObject:
    return {
        "name": str(name),
        "state": state,
        "shown": shown,
        "value": fit(value, RAW_SHOWN // 4),
        "losses": [loss.to_dict() for loss in losses],
        "masked": dict(view.masker.used_in(shown)) if view.gate else {},
    }


def lost(value: Any, path: str) -> Iterator[Loss]:
    """What of a field's value does not render, the line's length aside."""
    if isinstance(value, list | tuple):
        yield from _of_list(value, path)
    elif isinstance(value, dict):
        kept = skeleton.visible(value)
        for key, item in value.items():
            where = f"{path}.{key}"
            yield from _inner(item, where) if key in kept else [_unseen(key, where)]
    else:
        yield from _inner(value, path)


def _of_list(items: Sequence[Any], path: str) -> Iterator[Loss]:
    if len(items) > skeleton.MAX_LIST:
        collapsed = Loss(path, "list_over_5", f"{len(items)} items render as list[{len(items)}]")
        yield from _values(items, path) if skeleton.is_plain(items) else [collapsed]
        return
    for i, item in enumerate(items):
        where = f"{path}[{i}]"
        yield from _record(item, where) if isinstance(item, dict) else _inner(item, where)


def _values(items: Sequence[Any], path: str) -> Iterator[Loss]:
    """What a long list of plain values loses: its end, and the ends of long texts."""
    shown = len(skeleton.leading(items))
    for i, item in enumerate(items[:shown]):
        yield from _inner(item, f"{path}[{i}]")
    if shown < len(items):
        yield Loss(path, "values_over_200", f"{shown} of {len(items)} values render")


def _record(item: JSONObject, path: str) -> Iterator[Loss]:
    kept = label_keys(item)
    for key, value in item.items():
        if key in kept:
            yield from _inner(value, f"{path}.{key}")
        else:
            rule = "underscore" if str(key).startswith("_") else "record_label"
            yield Loss(f"{path}.{key}", rule, "not rendered")


def _inner(value: Any, path: str) -> Iterator[Loss]:
    if isinstance(value, str) and (size := len(one_line(value))) > skeleton.MAX_STRING:
        yield Loss(
            path, "string_over_60", f"{size} characters, the first {skeleton.MAX_STRING - 1} render"
        )
    elif isinstance(value, dict) and value:
        yield Loss(path, "nested", f"{len(value)} fields render as {{…}}")
    elif isinstance(value, list | tuple) and value:
        yield Loss(path, "nested", f"{len(value)} items render as list[{len(value)}]")
