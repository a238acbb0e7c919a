"""What the user reads, in his language."""

from __future__ import annotations

from collections.abc import Sequence

from webbee_kernel.sdk import Context, Sentences

sentences = Sentences(__file__)
say, texts = sentences.say, sentences.texts


def listed(
    ctx: Context, shown: int, matched: int, unread: int, period: str, failed: Sequence[str]
) -> str:
    """A list's summary, from its own figures. `period` is `today`, an ISO date or nothing."""
    when = say(ctx, "from_today" if period == "today" else "since", day=period) if period else ""
    of_inbox = "unread_in_inbox" if shown or unread else "none_unread_either"
    text = f"{say(ctx, 'listed', shown, when=when)}, {say(ctx, of_inbox, unread)}"
    return text + _left_out(ctx, shown, matched, failed)


def found(
    ctx: Context,
    shown: int,
    matched: int,
    failed: Sequence[str],
    words: Sequence[str],
    *,
    is_part: bool,
) -> str:
    """A search's summary; one that found nothing says for which words, and one that found only part
    of them says so."""
    if matched or not words:
        text = say(ctx, "found", matched) + (say(ctx, "found_part") if is_part else "")
    else:
        text = say(ctx, "nothing_with", words=" ".join(words))
    return text + _left_out(ctx, shown, matched, failed)


def _left_out(ctx: Context, shown: int, matched: int, failed: Sequence[str]) -> str:
    more = say(ctx, "shown_of", shown=shown, matched=matched) if matched > shown else ""
    return more + (say(ctx, "accounts_failed", accounts=", ".join(failed)) if failed else "")
