"""Skeleton: compressing and rendering sections for the classifier, and `ctx.skeleton`."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from math import inf
from typing import Any

from ..invariants import breach
from ..sdk.exceptions import SkeletonAccessForbidden
from ..sdk.result import ActionResult
from ..stores.types import Section
from ..text import cut, one_line
from ..types import JSONObject
from .columns import label_keys

MAX_FIELDS = 6
MAX_STRING = 60
MAX_LIST = 5
MAX_LINE = 700
MAX_SCALARS = 200
MAX_STORED_BYTES = 65_536
MAX_READ = 1_000
"""The platform's figures: six fields of 60 characters, lists of more than five records collapse,
700 characters a line, 64 KB stored. Plain values of a longer list take 200 characters: three such
lists fit into a line. Of a text the gate reads 1,000 characters, to its last whole word: masked it
may be shorter."""

NOTE = (
    "NOTE: every section below is a cached per-user snapshot. It is AUTHORITATIVE for presence,"
    " availability and zero or not; its exact figures may be STALE, so call a function when"
    " precision matters."
)
EMPTY = "(no sections)"

_FIELD_MARKS = re.compile(r"[=,]")
_FORGED_FIELD = re.compile(r"(,\s*[\w.-]+)=")


def render(
    sections: Sequence[Section], now: float, mask: Callable[[Any], Any] | None = None
) -> str:
    """The `[SKELETON]` block: the note, then one line per section that has data, freshest first.

    `mask` is the PII gate: it is applied to what compressing may show of a section, before it does.
    """
    stored = sorted(
        (s for s in sections if s.data is not None),
        key=lambda s: (-s.refreshed_at if s.refreshed_at else inf, s.app_id, s.section),
    )
    # two apps may both have an "inbox"
    names = Counter(s.section for s in stored)
    lines = [line(s, now, label(s, names), mask) for s in stored]
    return "\n".join(["[SKELETON]", NOTE, *(lines or [EMPTY])])


def label(section: Section, names: Counter[str]) -> str:
    """The section's name, or `app.section` where two apps share it."""
    return f"{section.app_id}.{section.section}" if names[section.section] > 1 else section.section


def line(section: Section, now: float, name: str, mask: Callable[[Any], Any] | None = None) -> str:
    """`- name (cached ~12s ago): field=value, …`, at most 700 characters."""
    # the gate runs over this part only: masking 64 KB to show 700 characters is waste
    data = visible_part(section.data or {})
    body = compress(mask(data) if mask else data)
    return cut(
        f"- {one_line(name, MAX_STRING)} ({age(section.refreshed_at, now)}): {body}", MAX_LINE
    )


def age(refreshed_at: float | None, now: float) -> str:
    """`cached ~12s ago` up to 599 s, then `~12m05s`, then `~1h02m`; `freshness unknown` without a
    time."""
    if refreshed_at is None:
        return "freshness unknown"
    # another machine's clock may run ahead
    seconds = max(0, int(now - refreshed_at))
    if seconds < 600:
        text = f"{seconds}s"
    elif seconds < 3600:
        text = f"{seconds // 60}m{seconds % 60:02d}s"
    else:
        text = f"{seconds // 3600}h{seconds % 3600 // 60:02d}m"
    return f"cached ~{text} ago"


def visible(data: JSONObject) -> JSONObject:
    """The first six fields that do not start with an underscore."""
    return dict([(k, v) for k, v in data.items() if not str(k).startswith("_")][:MAX_FIELDS])


def visible_part(data: JSONObject) -> JSONObject:
    """The part of a section that `compress` can show, so that only that is masked: without records
    of a list shown as a count, and with long texts cut."""
    return {key: _visible_part(value) for key, value in visible(data).items()}


def _visible_part(value: Any) -> Any:
    if isinstance(value, str):
        # not in the middle of a word: half an address would not be masked
        near = value[:MAX_READ]
        return value if near == value else near.rpartition(" ")[0] or near
    if isinstance(value, dict):
        return {key: _visible_part(item) for key, item in visible(value).items()}
    if not isinstance(value, list | tuple):
        return value
    if _is_count_only(value):
        # the count is shown, the records are not
        return [{}] * len(value)
    # zeros keep the count of what is left out
    leading_items = [_visible_part(item) for item in value[:MAX_SCALARS]]
    return leading_items + [0] * (len(value) - len(leading_items))


def compress(data: JSONObject) -> str:
    """`field=value, field=value` by the rules above, on one line."""
    return ", ".join(f"{_name(k)}={_value(v)}" for k, v in visible(data).items()) or "(empty)"


def _value(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list | tuple):
        return _list(list(value))
    if isinstance(value, dict):
        inner = [f"{_name(k)}={_scalar(v)}" for k, v in visible(value).items()]
        return "{" + ", ".join(inner) + "}"
    return _scalar(value)


def _list(items: list[Any]) -> str:
    if _is_count_only(items):
        return f"list[{len(items)}]"
    if len(items) <= MAX_LIST:
        return "[" + ", ".join(_item(i) if isinstance(i, dict) else _scalar(i) for i in items) + "]"
    shown = leading(items)
    more = [f"… {len(items) - len(shown)} more"] if len(shown) < len(items) else []
    return "[" + ", ".join(shown + more) + "]"


def _is_count_only(items: Sequence[Any]) -> bool:
    """Whether a list is shown as its length only."""
    return len(items) > MAX_LIST and not is_plain(items)


def is_plain(items: Sequence[Any]) -> bool:
    """Whether a list holds plain values only, no records and no lists."""
    return not any(isinstance(item, dict | list | tuple) for item in items)


def leading(items: Sequence[Any]) -> list[str]:
    """The leading values of a plain list as they render, as many as 200 characters hold."""
    shown: list[str] = []
    room = MAX_SCALARS
    for item in items:
        # the comma and the space behind it
        room -= len(_scalar(item)) + 2
        if room < 0:
            break
        shown.append(_scalar(item))
    return shown


def _item(item: JSONObject) -> str:
    """`label (#id)` of a dict in a list: its title-like field, or its first scalar."""
    title, ident = label_keys(item)
    parts = [_scalar(item[title])] if title is not None else []
    if ident is not None:
        parts.append(f"(#{_scalar(item[ident])})")
    return " ".join(parts) or "{…}"


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return "{…}"
    if isinstance(value, list | tuple):
        return f"list[{len(value)}]"
    return cut(json.dumps(value, default=str), MAX_STRING)


def _name(key: Any) -> str:
    """A field's name, without characters that would end it."""
    return cut(_FIELD_MARKS.sub(":", one_line(str(key))), MAX_STRING)


def _text(value: Any) -> str:
    """One line, at most 60 characters, and no text that reads like a further field."""
    return cut(_FORGED_FIELD.sub(r"\1:", one_line(str(value))), MAX_STRING)


def inner(result: Any) -> JSONObject:
    """What a refresh handler returned, as a dict: `{"response": {...}}`, an ActionResult (another
    SDK's by its shape) or a plain dict.

    Raises TypeError for anything else and ValueError for a failed ActionResult.
    """
    if hasattr(result, "to_dict") and hasattr(result, "status"):
        action_result = ActionResult.from_dict(result.to_dict())
        if not action_result.ok:
            raise ValueError(f"the refresh handler failed: {action_result.error_code}")
        result = action_result.data
    if isinstance(result, dict) and isinstance(result.get("response"), dict):
        result = result["response"]
    if not isinstance(result, dict):
        raise TypeError(
            'a refresh handler returns {"response": {...}}, an ActionResult or a dict, not'
            f" {type(result).__name__}"
        )
    # a handler that returns its previous snapshot hands back the kernel's own fields
    return {k: v for k, v in result.items() if k not in ("_refreshed_at", "_ttl")}


def check_size(data: JSONObject) -> JSONObject:
    """The data; ValueError where its JSON is over 64 KB."""
    if (size := len(json.dumps(data, ensure_ascii=False).encode())) > MAX_STORED_BYTES:
        raise ValueError(
            f"a skeleton section is {size} bytes; the limit is {MAX_STORED_BYTES} (aim for 2 KB)"
        )
    return data


class Snapshots:
    """`ctx.skeleton`: the app's stored snapshots, by section; None outside `@ext.skeleton`
    handlers."""

    def __init__(self, stored: Mapping[str, JSONObject] | None) -> None:
        self._stored = stored

    async def get(self, section: str) -> JSONObject | None:
        """The stored snapshot with `_refreshed_at` and `_ttl`, or None before the first refresh.
        Raises `SkeletonAccessForbidden` where there are none."""
        if self._stored is None:
            raise SkeletonAccessForbidden(
                breach(
                    "I-SKELETON-LLM-ONLY",
                    f"Section {section!r} was asked for by another handler: keep what you need in"
                    " ctx.cache or ctx.store.",
                )
            )
        snapshot = self._stored.get(section)
        return dict(snapshot) if snapshot is not None else None


def snapshots(sections: Iterable[Section]) -> dict[str, JSONObject]:
    """The data for `Snapshots`, of sections refreshed at least once."""
    return {
        s.section: {**s.data, "_refreshed_at": s.refreshed_at, "_ttl": s.ttl}
        for s in sections
        if s.data is not None
    }
