"""Dates counted from now: tomorrow, in three days, two weeks ago, next Friday, last month."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import lru_cache

from .calendars import Names
from .model import Language
from .number_words import simple, values
from .spans import Mention, Token
from .stems import fold, folded_words


def relative_dates(
    text: str, words: tuple[Token, ...], known: Names, language: Language, now: datetime
) -> Iterator[Mention]:
    """The dates and periods that `words` count from `now`."""
    today, days = now.date(), _days(language)
    for at, word in enumerate(words):
        folded = fold(word.text)
        if folded in days and not _half_of_day(words, at, language):
            yield _day(text, (word.start, word.end), today + timedelta(days=days[folded]))
        unit = language.words.units.get(language.stem(word.text), "")
        if unit in _LENGTHS:
            yield from _counted(text, words, at, unit, language, today)
        if unit in _LENGTHS or folded in known.weekdays:
            yield from _neighbour(text, words, at, unit, known, language, today)


def _half_of_day(words: tuple[Token, ...], at: int, language: Language) -> bool:
    """Whether a word of a day is "morning" here: `a.m.` after it in Spanish."""
    if at == 0 or fold(words[at].text) not in folded_words(language.calendar.morning):
        return False
    return fold(words[at - 1].text) in folded_words(" ".join(language.words.forms("function")))


_LENGTHS = ("day", "week", "month", "year")
_MOST = 36_500  # days: beyond a century nothing is counted


@lru_cache(maxsize=16)
def _days(language: Language) -> dict[str, int]:
    return values(language.calendar.days)


def _counted(
    text: str, words: tuple[Token, ...], at: int, unit: str, language: Language, today: date
) -> Iterator[Mention]:
    """`in 3 days`, `3 days ago`, `hace 3 días`, `il y a 3 jours`."""
    count, first = 1, at
    if at and (number := _count(words[at - 1], language)):
        count, first = number, at - 1
    elif not language.calendar.bare_units:
        return
    calendar = language.calendar
    start = _phrase_before(words, first, calendar.ahead)
    if start is not None:
        yield from _shifted(text, (words[start].start, words[at].end), unit, count, today)
        return
    start = _phrase_before(words, first, calendar.ago)
    if start is not None:
        yield from _shifted(text, (words[start].start, words[at].end), unit, -count, today)
        return
    if at + 1 < len(words) and fold(words[at + 1].text) in calendar.ago.split():
        span = (words[first].start, words[at + 1].end)
        yield from _shifted(text, span, unit, -count, today)


def _count(word: Token, language: Language) -> int:
    if word.text.isdigit() and len(word.text) < 6:
        return int(word.text)
    return int(simple(word, language))


def _phrase_before(words: tuple[Token, ...], first: int, phrases: str) -> int | None:
    """Where a phrase (its words joined by `_`) begins that ends right before the token `first`."""
    for phrase in phrases.split():
        parts = phrase.split("_")
        start = first - len(parts)
        if start >= 0 and [fold(w.text) for w in words[start:first]] == parts:
            return start
    return None


def _shifted(
    text: str, span: tuple[int, int], unit: str, count: int, today: date
) -> Iterator[Mention]:
    length = {"day": 1, "week": 7, "month": 31, "year": 366}[unit]
    if abs(count) * length > _MOST:
        return
    if unit in ("day", "week"):
        yield _day(text, span, today + timedelta(days=count * length))
    else:
        yield _day(text, span, months_later(today, count * (12 if unit == "year" else 1)))


def months_later(day: date, months: int) -> date:
    """The same day so many months later, or the last one of that month."""
    index = day.year * 12 + day.month - 1 + months
    year, month = divmod(index, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _neighbour(
    text: str,
    words: tuple[Token, ...],
    at: int,
    unit: str,
    known: Names,
    language: Language,
    today: date,
) -> Iterator[Mention]:
    """`next Friday`, `last week`, `la semaine prochaine`: next, last or this on either side."""
    calendar = language.calendar
    for other in (at - 1, at + 1):
        if not 0 <= other < len(words):
            continue
        folded, steps = fold(words[other].text), None
        for number, forms in ((1, calendar.next), (-1, calendar.last), (0, calendar.this)):
            if folded in folded_words(forms):
                steps = number
        if steps is None:
            continue
        first, last = min(at, other), max(at, other)
        span = (words[first].start, words[last].end)
        if unit:
            yield _period(text, span, unit, steps, today)
        else:
            weekday = known.weekdays[fold(words[at].text)]
            yield _weekday(text, span, weekday, steps, today)
        return


def _period(text: str, span: tuple[int, int], unit: str, steps: int, today: date) -> Mention:
    if unit == "day":
        return _day(text, span, today + timedelta(days=steps))
    if unit == "week":
        first = today - timedelta(days=today.weekday()) + timedelta(weeks=steps)
        last = first + timedelta(days=6)
    elif unit == "month":
        first = months_later(today.replace(day=1), steps)
        last = first.replace(day=monthrange(first.year, first.month)[1])
    else:
        first, last = date(today.year + steps, 1, 1), date(today.year + steps, 12, 31)
    value = (_triple(first), _triple(last))
    return Mention("period", value, *span, text[slice(*span)], (value,), relative=True)


def _weekday(text: str, span: tuple[int, int], weekday: int, steps: int, today: date) -> Mention:
    ahead = (weekday - today.weekday()) % 7
    near = today + timedelta(days=ahead)
    if steps > 0:  # "next Friday" is the coming one to some, the one of next week to others
        coming = near if ahead else near + timedelta(days=7)
        monday = today - timedelta(days=today.weekday()) + timedelta(days=7)
        days = [coming, monday + timedelta(days=weekday)]
    elif steps < 0:
        days = [near - timedelta(days=7), today - timedelta(days=today.weekday() + 7 - weekday)]
    else:
        days = [today - timedelta(days=today.weekday() - weekday), near]
    values = tuple(dict.fromkeys(map(_triple, days)))
    return Mention("date", values[0], *span, text[slice(*span)], values, relative=True)


def _day(text: str, span: tuple[int, int], day: date) -> Mention:
    value = _triple(day)
    return Mention("date", value, *span, text[slice(*span)], (value,), relative=True)


def _triple(day: date) -> tuple[int, int, int]:
    return day.year, day.month, day.day
