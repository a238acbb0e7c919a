"""Days and months whose month is written in words."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator

from .calendars import Names
from .model import Language
from .spans import Mention, Token, mention
from .stems import fold, folded_words

Date = tuple[int | None, int, int]

_RANGE_GAP = re.compile(r"[ \u00a0]?[–—-][ \u00a0]?")
_NEAR = re.compile(r"\.?[ \u00a0]|[./-]|")


def valid(month: int, day: int) -> bool:
    """Whether a month has such a day in some year."""
    return 1 <= month <= 12 and 1 <= day <= monthrange(2024, month)[1]


def find_named_days(
    text: str, words: tuple[Token, ...], known: Names, language: Language
) -> Iterator[Mention]:
    """Days and months with the month in words."""
    for at, word in enumerate(words):
        month = known.months.get(fold(word.text))
        if month is None:
            continue
        year, end = _year_after(text, words, at, language)
        day_before = _day_before(text, words, at, language)
        if day_before:
            first, day = day_before
            yield from _dates(text, words, (first, at), (year, month, day), end, language)
            continue
        after = _day_after(text, words, at, language)
        if after and fold(word.text) in known.weekdays and not language.calendar.month_first:
            continue  # "mar 24" is Tuesday the 24th where days stand before their months
        if after:
            yield from _month_first(text, words, at, after, month, language)
            continue
        if year is not None or _is_month_alone(words, at, known, language):
            yield mention(text, (word.start, end), "month", ((year, month),))


def _dates(
    text: str,
    words: tuple[Token, ...],
    at: tuple[int, int],
    value: Date,
    end: int,
    language: Language,
) -> Iterator[Mention]:
    """`15 May 2026`, and the first day of `13–15 May`."""
    first, _ = at
    yield mention(text, (words[first].start, end), "date", (value,))
    earlier = first - 1
    if earlier >= 0 and fold(words[earlier].text) in folded_words(
        f"{language.calendar.until} {language.calendar.together}"
    ):
        earlier -= 1
        linked = True
    else:
        linked = bool(
            earlier >= 0
            and _RANGE_GAP.fullmatch(text[words[earlier].end : words[first].start].lstrip(".,"))
        )
    if earlier >= 0 and linked and (day := day_number(words[earlier].text, language)):
        year, month, _day = value
        if valid(month, day):
            span = (words[earlier].start, words[earlier].end)
            yield mention(text, span, "date", ((year, month, day),))


def _month_first(
    text: str, words: tuple[Token, ...], at: int, after: int, month: int, language: Language
) -> Iterator[Mention]:
    """`May 15, 2026`, `May 13–15, 2026`."""
    days = [after]
    gap = text[words[after].end : words[after + 1].start] if after + 1 < len(words) else ""
    if _RANGE_GAP.fullmatch(gap) and gap and day_number(words[after + 1].text, language):
        days.append(after + 1)
    year, end = _year_after(text, words, days[-1], language)
    for number, index in enumerate(days):
        day = day_number(words[index].text, language)
        if day and valid(month, day):
            start = words[at].start if number == 0 else words[index].start
            last = end if index == days[-1] else words[index].end
            yield mention(text, (start, last), "date", ((year, month, day),))


def day_number(word: str, language: Language) -> int:
    """1–31 for `15`, `15th`, `1er`, `first`; else 0."""
    digits = re.match(r"\d{1,2}(?!\d)", word)
    if digits:
        rest = fold(word[digits.end() :].lstrip("-"))
        good = not rest or rest in folded_words(language.calendar.day_suffix)
        return int(digits[0]) if good and 1 <= int(digits[0]) <= 31 else 0
    position = language.words.ordinals.get(language.stem(word), "")
    return int(position) if position.isdigit() else 0


def _day_before(
    text: str, words: tuple[Token, ...], at: int, language: Language
) -> tuple[int, int] | None:
    """The token of the day before a month, over `of`, `de` and an ordinal's full stop."""
    first = at - 1
    while (
        first >= 0
        and at - first < 3
        and fold(words[first].text)
        in folded_words(f"{language.calendar.inside} {language.calendar.day_suffix}")
    ):
        first -= 1
    if first < 0 or not re.fullmatch(
        r"[.º°]?[ \u00a0-]?", text[words[first].end : words[first + 1].start]
    ):
        return None
    day = day_number(words[first].text, language)
    return (first, day) if day else None


def _day_after(text: str, words: tuple[Token, ...], at: int, language: Language) -> int | None:
    nxt = at + 1
    if nxt < len(words) and fold(words[nxt].text) == "the":
        nxt += 1
    if nxt >= len(words) or not _NEAR.fullmatch(
        text[words[at].end : words[nxt - 1 if nxt - at > 1 else nxt].start]
    ):
        return None
    follows = text[words[nxt].end : words[nxt].end + 2]
    if not words[nxt].text[0].isdigit() or re.match(r":\d|[.,]\d", follows):
        return None
    return nxt if day_number(words[nxt].text, language) else None


def _year_after(
    text: str, words: tuple[Token, ...], at: int, language: Language
) -> tuple[int | None, int]:
    """The year behind a token, over `de` and a comma, and where it ends."""
    nxt = at + 1
    if nxt < len(words) and fold(words[nxt].text) in folded_words(language.calendar.inside):
        nxt += 1
    if nxt < len(words) and re.fullmatch(r"(?:19|20|21)\d\d", words[nxt].text):
        gap = text[words[at].end : words[nxt].start]
        if len(gap) < 6 and not re.search(r"[\n;:!?()]", gap):
            return int(words[nxt].text), words[nxt].end
    return None, words[at].end


def _is_month_alone(words: tuple[Token, ...], at: int, known: Names, language: Language) -> bool:
    """Whether a month's name without a day or year is one, and not the verb in "you may" or a short
    form that is some other word."""
    folded = fold(words[at].text)
    if folded in known.short_months:
        return False
    if folded not in known.doubtful:
        return True
    before = fold(words[at - 1].text) if at else ""
    calendar = language.calendar
    near = (calendar.at, calendar.month_lead, calendar.next, calendar.last, calendar.this)
    return (words[at].text[0].isupper() or not known.capitals) and before in folded_words(
        " ".join((*near, calendar.inside))
    )
