"""What the user reads, in his language: `sentences.json` holds it, key by key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from webbee_kernel.sdk import Context

SENTENCES: dict[str, Any] = json.loads(
    Path(__file__).with_name("sentences.json").read_text("utf-8")
)


def say(ctx: Context, key: str, n: int = 0, **values: object) -> str:
    """The sentence in the user's language."""
    return said(ctx.user.language, key, n, **values)


def said(language: str, key: str, n: int = 0, **values: object) -> str:
    """The sentence in this BCP 47 language, English where it has none, its values filled in. The
    number `n` chooses among several forms."""
    tag = language.lower()[:2]
    tag = tag if tag in SENTENCES[key] else "en"
    text = SENTENCES[key][tag]
    text = text if isinstance(text, str) else text.get(form(tag, n), text["other"])
    return str(text.format(n=n, **values))


def form(tag: str, n: int) -> str:
    """The form that a number asks for: none, one, few (2 письма) or other (5 писем)."""
    if n == 0:
        return "none"
    if tag != "ru":
        return "one" if n == 1 else "other"
    if n % 10 == 1 and n % 100 != 11:
        return "one"
    return "few" if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else "other"


def listed(
    ctx: Context, shown: int, matched: int, unread: int, period: str, failed: Sequence[str]
) -> str:
    """A list's summary, from its own figures. `period` is `today`, an ISO date or nothing."""
    when = say(ctx, "from_today" if period == "today" else "since", day=period) if period else ""
    of_inbox = "unread_in_inbox" if shown or unread else "none_unread_either"
    text = f"{say(ctx, 'listed', shown, when=when)}, {say(ctx, of_inbox, unread)}"
    return text + _left_out(ctx, shown, matched, failed)


def found(ctx: Context, shown: int, matched: int, failed: Sequence[str]) -> str:
    """A search's summary."""
    return say(ctx, "found", matched) + _left_out(ctx, shown, matched, failed)


def _left_out(ctx: Context, shown: int, matched: int, failed: Sequence[str]) -> str:
    more = say(ctx, "shown_of", shown=shown, matched=matched) if matched > shown else ""
    return more + (say(ctx, "accounts_failed", accounts=", ".join(failed)) if failed else "")
