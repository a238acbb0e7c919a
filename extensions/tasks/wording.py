"""What the user reads, in English or Russian."""

from __future__ import annotations

from collections.abc import Mapping

from webbee_kernel.sdk import Context


def say(ctx: Context, english: str, russian: str) -> str:
    """The text in the user's language; English for all but Russian."""
    return russian if ctx.user.language.startswith("ru") else english


def plural_ru(n: int, one: str, few: str, many: str) -> str:
    """The Russian form after a number: 1 задача, 2 задачи, 5 задач, 11 задач, 21 задача."""
    if n % 10 == 1 and n % 100 != 11:
        return one
    return few if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else many


RUSSIAN_KINDS = {
    "open": ("открытая", "открытые", "открытых"),
    "done": ("выполненная", "выполненные", "выполненных"),
    "overdue": ("просроченная", "просроченные", "просроченных"),
}


def counted(ctx: Context, n: int, state: str) -> str:
    """One sentence: how many tasks of this state (`all` for any) there are."""
    kind = f"{state} " if state in RUSSIAN_KINDS else ""
    tail = " due today" if state == "today" else ""
    english = f"You have {n or 'no'} {kind}{'task' if n == 1 else 'tasks'}{tail}."
    noun = plural_ru(n, "задача", "задачи", "задач")
    if state in RUSSIAN_KINDS:
        noun = f"{plural_ru(n, *RUSSIAN_KINDS[state])} {noun}"
    return say(
        ctx, english, f"{'На сегодня' if state == 'today' else 'У вас'} {n or 'нет'} {noun}."
    )


def due_text(due: str) -> str:
    """The stored due date as a person writes it: `2026-05-16`, `2026-05-16 15:00 UTC`."""
    day, _, clock = due.partition("T")
    return f"{day} {clock[:5]} UTC" if clock else day


URGENCY = {
    "low": ("not urgent", "неважная"),
    "normal": ("of normal urgency", "обычная"),
    "high": ("urgent", "срочная"),
}


def changed(ctx: Context, title: str, fields: Mapping[str, str]) -> str:
    """One sentence: what is different about the task that was called `title`."""
    english, russian = [], []
    if "due" in fields:
        due = due_text(fields["due"])
        english.append(f"due {due}" if due else "without a due date")
        russian.append(f"срок {due}" if due else "без срока")
    if "priority" in fields:
        english.append(URGENCY[fields["priority"]][0])
        russian.append(URGENCY[fields["priority"]][1])
    if "title" in fields:
        english.append(f'called "{fields["title"]}"')
        russian.append(f"называется «{fields['title']}»")
    return say(
        ctx,
        f'Changed the task "{title}": {", ".join(english)}.',
        f"Задача «{title}» изменена: {', '.join(russian)}.",
    )
