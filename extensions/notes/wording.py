"""What the user reads, in his language: `sentences.json` holds it, key by key."""

from __future__ import annotations

import json
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
    """The form that a number asks for: none, one, few (2 заметки) or other (5 заметок)."""
    if n == 0:
        return "none"
    if tag != "ru":
        return "one" if n == 1 else "other"
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "other"
