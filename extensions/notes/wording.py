"""What the user reads, in English or Russian."""

from __future__ import annotations

from webbee_kernel.sdk import Context


def say(ctx: Context, english: str, russian: str) -> str:
    """The text in the user's language; English for all but Russian."""
    return russian if ctx.user.language.startswith("ru") else english


def plural_ru(n: int, one: str, few: str, many: str) -> str:
    """The Russian form after a number: 1 заметка, 2 заметки, 5 заметок, 11 заметок, 21 заметка."""
    if n % 10 == 1 and n % 100 != 11:
        return one
    return few if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else many


def found(ctx: Context, n: int, query: str) -> str:
    """One sentence: how many notes a search found, or how many there are when nothing was searched
    for."""
    noun = plural_ru(n, "заметка", "заметки", "заметок")
    english = f"{'note' if n == 1 else 'notes'}"
    if not query:
        return say(ctx, f"You have {n or 'no'} {english}.", f"У вас {n or 'нет'} {noun}.")
    verb = plural_ru(n, "Нашлась", "Нашлись", "Нашлось") if n else "Не нашлось"
    russian = f"{verb} {n} {noun}" if n else f"{verb} {noun}"
    return say(
        ctx, f'Found {n or "no"} {english} for "{query}".', f"{russian} по запросу «{query}»."
    )
