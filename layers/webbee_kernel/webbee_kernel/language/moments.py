"""The dates and times that a text mentions, in digits and in words.

Digits are found by patterns, words by walking over the tokens once, with the names of CLDR and the
words of the language's file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime

from .calendars import Names, names
from .clocks import find_times
from .model import Language
from .named_days import Date, find_named_days, valid
from .relative import relative_dates
from .spans import Mention, Token, apart, mention, tokens
from .stems import fold

_ISO = re.compile(
    r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?:([T ])(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?"
    r" ?(Z|UTC|[+-]\d\d:?\d\d)?)?(?!\d|:\d)"
)
_ISO_MONTH = re.compile(r"(?<![\d-])(\d{4})-(0\d|1[0-2])(?![\d-])")
_NUMERIC = re.compile(
    r"(?<![\d./])(?:(\d{1,2})[./-](\d{1,2})[./-](\d{4})|(\d\d)[./](\d\d)[./](\d\d))(?!\d|[./]\d)"
)
_DAY_MONTH = re.compile(r"(?<![\d./,:])(\d{1,2})([./])(\d{1,2})(?:\.(?!\d))?(?![\d./]|,\d|%)")


def find_dates(text: str, language: Language, now: str | datetime | None) -> tuple[Mention, ...]:
    """The dates and times of `text`; see `language.dates`. Linear."""
    known = names(language)
    words = tokens(text)
    found = [*_iso(text), *_numeric(text, language), *_without_year(text, language)]
    found += [*find_times(text, words, language)]
    found += find_named_days(text, words, known, language)
    found += _weekdays(text, words, known)
    if now is not None:
        found += relative_dates(text, words, known, language, _moment(now))
    return apart(found)


def _moment(now: str | datetime) -> datetime:
    return now if isinstance(now, datetime) else datetime.fromisoformat(now)


def _iso(text: str) -> Iterator[Mention]:
    for match in _ISO.finditer(text):
        year, month, day = (int(g) for g in match.groups()[:3])
        if not valid(month, day):
            continue
        if match[4] is None:
            yield mention(text, match.span(), "date", ((year, month, day),))
            continue
        zone = (match[8] or "").replace("UTC", "Z")
        clock = f"{match[5]}:{match[6]}:{match[7] or '00'}"
        try:
            moment = datetime.fromisoformat(f"{match[1]}-{match[2]}-{match[3]}T{clock}{zone}")
        except ValueError:
            continue
        yield mention(text, match.span(), "moment", (moment,))
    for match in _ISO_MONTH.finditer(text):
        if int(match[2]):
            yield mention(text, match.span(), "month", ((int(match[1]), int(match[2])),))


def _numeric(text: str, language: Language) -> Iterator[Mention]:
    for match in _NUMERIC.finditer(text):
        first, second, year = (int(g) for g in match.groups() if g is not None)
        year += 2000 if year < 100 else 0
        if both := _both_ways(year, first, second, language):
            yield mention(text, match.span(), "date", both)


def _without_year(text: str, language: Language) -> Iterator[Mention]:
    """`15/5`, `15.05.`; `3.5` is a number first and last: a date only where it is written as
    one."""
    for match in _DAY_MONTH.finditer(text):
        slashed = match[2] == "/"
        dotted = match[0].endswith(".") or len(match[3]) == 2
        if slashed or (dotted and not language.calendar.month_first):
            if both := _both_ways(None, int(match[1]), int(match[3]), language):
                yield mention(text, match.span(), "date", both)


def _both_ways(year: int | None, first: int, second: int, language: Language) -> tuple[Date, ...]:
    day_first, month_first = (year, second, first), (year, first, second)
    order = (month_first, day_first) if language.calendar.month_first else (day_first, month_first)
    return tuple(d for d in dict.fromkeys(order) if valid(d[1], d[2]))


def _weekdays(text: str, words: tuple[Token, ...], known: Names) -> Iterator[Mention]:
    for at, word in enumerate(words):
        folded = fold(word.text)
        day = known.weekdays.get(folded)
        if day is None:
            continue
        if folded in known.short_weekdays and not _beside_date(text, words, at, known):
            continue
        yield mention(text, (word.start, word.end), "weekday", (day,))


def _beside_date(text: str, words: tuple[Token, ...], at: int, known: Names) -> bool:
    """Whether a digit, a month or a weekday is the token before or after: what makes `Mon`
    a weekday."""
    for other in (at - 1, at + 1):
        if 0 <= other < len(words):
            gap = text[words[min(at, other)].end : words[max(at, other)].start]
            folded = fold(words[other].text)
            dated = folded[0].isdigit() or folded in known.months or folded in known.weekdays
            if dated and len(gap) <= 3 and "\n" not in gap:
                return True
    return False
