"""What the user reads, in English or Russian."""

from __future__ import annotations

from collections.abc import Sequence

from webbee_kernel.sdk import Context


def say(ctx: Context, english: str, russian: str) -> str:
    """The text in the user's language; English for all but Russian."""
    return russian if is_russian(ctx) else english


def is_russian(ctx: Context) -> bool:
    """Whether the user speaks Russian."""
    return ctx.user.language.lower().startswith("ru")


def ru(n: int, one: str, few: str, many: str) -> str:
    """The number with the Russian form that follows it: 1 письмо, 2 письма, 5 писем, 11 писем, 21
    письмо."""
    if n % 10 == 1 and n % 100 != 11:
        return f"{n} {one}"
    return f"{n} {few if n % 10 in (2, 3, 4) and n % 100 not in (12, 13, 14) else many}"


def en(n: int, noun: str) -> str:
    """The number with its English noun."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


def letters(n: int) -> str:
    """1 письмо, 2 письма, 5 писем."""
    return ru(n, "письмо", "письма", "писем")


def listed(
    ctx: Context, shown: int, matched: int, unread: int, period: str, failed: Sequence[str]
) -> str:
    """A list's summary, from its own figures. `period` is `today`, an ISO date or nothing."""
    if is_russian(ctx):
        when = {"": "", "today": " за сегодня"}.get(period, f" с {period}")
        if not shown:
            text = f"писем{when} нет, " + (
                f"непрочитанных во входящих {unread}" if unread else "непрочитанных тоже нет"
            )
        else:
            text = f"вот {letters(shown)}{when}, непрочитанных во входящих {unread or 'нет'}"
        more = f"; показано {shown} из {matched}" if matched > shown else ""
        return text + more + _failed(failed, "; не ответили ящики: ")
    when = {"": "", "today": " from today"}.get(period, f" since {period}")
    if not shown:
        text = f"no messages{when}, {unread or 'none'} unread in the inbox"
    else:
        text = f"listed {en(shown, 'message')}{when}, {unread or 'none'} unread in the inbox"
    more = f"; {shown} of {matched} shown" if matched > shown else ""
    return text + more + _failed(failed, "; these accounts failed: ")


def found(ctx: Context, shown: int, matched: int, failed: Sequence[str]) -> str:
    """A search's summary."""
    more = (
        f"; {say(ctx, f'{shown} of {matched} shown', f'показано {shown} из {matched}')}"
        if matched > shown
        else ""
    )
    russian = f"нашёл {letters(matched)}" if matched else "ничего не нашёл"
    english = f"found {en(matched, 'message')}" if matched else "found nothing"
    tail = _failed(failed, say(ctx, "; these accounts failed: ", "; не ответили ящики: "))
    return say(ctx, english, russian) + more + tail


def arrived(ctx: Context, new: int, unread: int) -> str:
    """The alert: how many messages are new and how many are unread now."""
    russian = (
        f"{ru(new, 'новое письмо', 'новых письма', 'новых писем')}, непрочитанных теперь {unread}"
    )
    return say(ctx, f"{en(new, 'new message')}, {unread} unread now", russian)


def _failed(failed: Sequence[str], introduction: str) -> str:
    return introduction + ", ".join(failed) if failed else ""
