"""What the user reads, in his language: `sentences.json` holds it, key by key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webbee_kernel.sdk import Context

SENTENCES: dict[str, Any] = json.loads(
    Path(__file__).with_name("sentences.json").read_text("utf-8")
)


def say(ctx: Context, key: str, n: int = 0, **values: object) -> str:
    """The sentence in the user's language, English where it has none, its values filled in. The
    number `n` chooses among several forms."""
    tag = ctx.user.language.lower()[:2]
    tag = tag if tag in SENTENCES[key] else "en"
    text = SENTENCES[key][tag]
    text = text if isinstance(text, str) else text.get(form(tag, n), text["other"])
    return str(text.format(n=n, **values))


def form(tag: str, n: int) -> str:
    """The form that a number asks for: none, one, few (2 задачи) or other (5 задач)."""
    if n == 0:
        return "none"
    if tag != "ru":
        return "one" if n == 1 else "other"
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "other"


def due_text(due: str) -> str:
    """The stored due date as a person writes it: `2026-05-16`, `2026-05-16 15:00 UTC`."""
    day, _, clock = due.partition("T")
    return f"{day} {clock[:5]} UTC" if clock else day


def changed(ctx: Context, title: str, fields: Mapping[str, str]) -> str:
    """One sentence: what is different about the task that was called `title`."""
    parts = []
    if "due" in fields:
        due = due_text(fields["due"])
        parts.append(say(ctx, "now_due" if due else "now_undated", due=due))
    if "priority" in fields:
        parts.append(say(ctx, f"now_{fields['priority']}"))
    if "title" in fields:
        parts.append(say(ctx, "now_called", title=fields["title"]))
    return say(ctx, "changed", title=title, changes=", ".join(parts))
