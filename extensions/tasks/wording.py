"""What the user reads, in his language."""

from __future__ import annotations

from collections.abc import Mapping

from webbee_kernel.sdk import Context, Sentences

sentences = Sentences(__file__)
say, texts = sentences.say, sentences.texts


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
