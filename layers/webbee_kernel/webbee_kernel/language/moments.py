"""The dates and times that a text mentions, in digits and in words.

Digits are found by patterns, words by walking over the tokens once, with the names of CLDR and the
words of the language's file.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import datetime
from functools import lru_cache

from .calendars import Names, names
from .files import of
from .model import Language
from .relative import relative_dates
from .spans import Mention, Token, tokens
from .stems import fold

Date = tuple[int | None, int, int]

_ISO = re.compile(
    r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?:([T ])(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?"
    r" ?(Z|UTC|[+-]\d\d:?\d\d)?)?(?!\d|:\d)"
)
_ISO_MONTH = re.compile(r"(?<![\d-])(\d{4})-(0\d|1[0-2])(?![\d-])")
_NUMERIC = re.compile(
    r"(?<![\d./])(?:(\d{1,2})[./-](\d{1,2})[./-](\d{4})|(\d\d)[./](\d\d)[./](\d\d))(?!\d|[./]\d)"
)
_DAY_MONTH = re.compile(r"(?<![\d./,:])(\d{1,2})([./])(\d{1,2})(?:\.(?!\d))?(?![\d./]|,\d|%)")
_CLOCK = re.compile(
    r"(?<![\d:.,])(?:(\d{1,2})\s?[–—-]\s?)?(\d{1,2}):(\d\d)(?::\d\d)?"
    r"(?:\s?([ap])(?:m\b|\.m\.))?(?!\d|:\d)",
    re.IGNORECASE,
)
_HALF_DAY = re.compile(
    r"(?<![\d:.,])(?:(\d{1,2})(?::\d\d)?(?:\s?[–—-]\s?|\s+to\s+))?(\d{1,2})\s?([ap])(?:m\b|\.m\.)",
    re.IGNORECASE,
)
_MARKED = re.compile(r"(?<![\d:.,])(\d{1,2})(?:\.|\s?h\s?)(\d\d)(?!\d|[.,:]\d)", re.IGNORECASE)
_RANGE_GAP = re.compile(r"\s?[–—-]\s?")
_NEAR = re.compile(r"\.?[ \u00a0]|[./-]|")


def find_dates(text: str, language: Language, now: str | datetime | None) -> tuple[Mention, ...]:
    """The dates and times of `text`; see `language.dates`. Linear."""
    known = names(language)
    words = tokens(text)
    found = [*_iso(text), *_numeric(text, language), *_clocks(text, words, language)]
    found += _named_days(text, words, known, language)
    found += _weekdays(text, words, known)
    if now is not None:
        found += relative_dates(text, words, known, language, _moment(now))
    return tuple(_apart(sorted(found, key=lambda m: (m.start, -m.end))))


def _moment(now: str | datetime) -> datetime:
    return now if isinstance(now, datetime) else datetime.fromisoformat(now)


def _apart(found: list[Mention]) -> Iterator[Mention]:
    end = 0
    for one in found:
        if one.start >= end:
            yield one
            end = one.end


def valid(month: int, day: int) -> bool:
    """Whether a month has such a day in some year."""
    return 1 <= month <= 12 and 1 <= day <= monthrange(2024, month)[1]


def _iso(text: str) -> Iterator[Mention]:
    for match in _ISO.finditer(text):
        year, month, day = (int(g) for g in match.groups()[:3])
        if not valid(month, day):
            continue
        if match[4] is None:
            yield _mention(text, match.span(), "date", ((year, month, day),))
            continue
        zone = (match[8] or "").replace("UTC", "Z")
        clock = f"{match[5]}:{match[6]}:{match[7] or '00'}"
        try:
            moment = datetime.fromisoformat(f"{match[1]}-{match[2]}-{match[3]}T{clock}{zone}")
        except ValueError:
            continue
        yield _mention(text, match.span(), "moment", (moment,))
    for match in _ISO_MONTH.finditer(text):
        if int(match[2]):
            yield _mention(text, match.span(), "month", ((int(match[1]), int(match[2])),))


def _numeric(text: str, language: Language) -> Iterator[Mention]:
    for match in _NUMERIC.finditer(text):
        first, second, year = (int(g) for g in match.groups() if g is not None)
        year += 2000 if year < 100 else 0
        if both := _both_ways(year, first, second, language):
            yield _mention(text, match.span(), "date", both)
    for match in _DAY_MONTH.finditer(text):
        # `3.5` is a number first and last: a date only where it is written as one
        sure = match[2] == "/" or match[0].endswith(".") or len(match[3]) == 2
        if sure and (both := _both_ways(None, int(match[1]), int(match[3]), language)):
            if match[2] == "/" or not language.calendar.month_first:
                yield _mention(text, match.span(), "date", both)


def _both_ways(year: int | None, first: int, second: int, language: Language) -> tuple[Date, ...]:
    day_first, month_first = (year, second, first), (year, first, second)
    order = (month_first, day_first) if language.calendar.month_first else (day_first, month_first)
    return tuple(d for d in dict.fromkeys(order) if valid(d[1], d[2]))


def clock(hour: int, minute: int, half: str | None) -> tuple[int, ...]:
    """The minutes since midnight a time can mean; without a half of the day an hour of 1–11 can be
    in either."""
    if hour > 24 or minute > 59:
        return ()
    if half:
        return ((hour % 12 + (12 if half.lower() == "p" else 0)) * 60 + minute,)
    return (hour % 24 * 60 + minute,) + (((hour + 12) * 60 + minute,) if 1 <= hour <= 11 else ())


def _clocks(text: str, words: tuple[Token, ...], language: Language) -> Iterator[Mention]:
    for match in _CLOCK.finditer(text):
        half = match[4] or _half_behind(text, match.end(), language)
        if at := clock(int(match[2]), int(match[3]), half):
            yield _mention(text, (match.start(2), match.end()), "time", at)
            if match[1] and (first := clock(int(match[1]), 0, half)):
                yield _mention(text, match.span(1), "time", first)
    for match in _HALF_DAY.finditer(text):
        if at := clock(int(match[2]), 0, match[3]):
            yield _mention(text, (match.start(2), match.end()), "time", at)
            if match[1] and (first := clock(int(match[1]), 0, match[3])):
                yield _mention(text, match.span(1), "time", first)
    yield from _hours(text, words, language)
    yield from _marked(text, language)


def _marked(text: str, language: Language) -> Iterator[Mention]:
    """`9.30 Uhr`, `9h30`: hours and minutes with an hour word behind or between them."""
    hour_words = _words(language.calendar.hour)
    if not hour_words:
        return
    for match in _MARKED.finditer(text):
        behind = tokens(text[match.end() : match.end() + 12])[:1]
        named = "h" in match[0].lower() and "h" in hour_words
        worded = bool(behind) and behind[0].start < 2 and fold(behind[0].text) in hour_words
        if (named or worded) and (at := clock(int(match[1]), int(match[2]), None)):
            end = match.end() + (behind[0].end if worded else 0)
            yield _mention(text, (match.start(), end), "time", at)


def _hours(text: str, words: tuple[Token, ...], language: Language) -> Iterator[Mention]:
    """`at 5 in the evening`, `um 9 Uhr`, `at noon`: an hour that a word makes one."""
    calendar = language.calendar
    lead, hour_words = _words(calendar.at), _words(calendar.hour)
    for at, word in enumerate(words):
        folded = fold(word.text)
        if folded in _words(calendar.noon):
            yield _mention(text, (word.start, word.end), "time", (720,))
        elif folded in _words(calendar.midnight):
            yield _mention(text, (word.start, word.end), "time", (0,))
        elif word.text.isdigit() and len(word.text) < 3:
            after = fold(words[at + 1].text) if at + 1 < len(words) else ""
            led = at > 0 and fold(words[at - 1].text) in lead
            half = _half_behind(text, word.end, language)
            if (
                (after in hour_words and led)
                or (half and led)
                or after in _sure_hours(language.tag)
            ):
                end = words[at + 1].end if after in hour_words else word.end
                if minutes := clock(int(word.text), 0, half):
                    yield _mention(text, (word.start, end), "time", minutes)


@lru_cache(maxsize=16)
def _sure_hours(tag: str) -> frozenset[str]:
    """Hour words that are no lengths of time: `Uhr`, not `heure`."""
    language = of(tag)
    return frozenset(
        w
        for w in _words(language.calendar.hour)
        if language.words.units.get(language.stem(w)) is None
    )


def _half_behind(text: str, end: int, language: Language) -> str | None:
    """`a` or `p` where the next three words name a half of the day."""
    following = tokens(text[end : end + 40])[:4]
    for word in following:
        if fold(word.text) in _words(language.calendar.morning):
            return "a"
        if fold(word.text) in _words(language.calendar.evening):
            return "p"
        if any(c in text[end : end + word.start] for c in ".;\n?!,"):
            return None
    return None


@lru_cache(maxsize=256)
def _words(forms: str) -> frozenset[str]:
    return frozenset(fold(w) for w in forms.split())


def _named_days(
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
        if after:
            yield from _month_first(text, words, at, after, month, language)
            continue
        if year is not None or _is_month_alone(text, words, at, known, language):
            yield _mention(text, (word.start, end), "month", ((year, month),))


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
    yield _mention(text, (words[first].start, end), "date", (value,))
    earlier = first - 1
    if earlier >= 0 and fold(words[earlier].text) in _words(
        f"{language.calendar.until} {language.calendar.together}"
    ):
        earlier -= 1
        linked = True
    else:
        linked = bool(
            earlier >= 0
            and re.fullmatch(r"[.,]?\s?[–—-]\s?", text[words[earlier].end : words[first].start])
        )
    if earlier >= 0 and linked and (day := day_number(words[earlier].text, language)):
        year, month, _day = value
        if valid(month, day):
            span = (words[earlier].start, words[earlier].end)
            yield _mention(text, span, "date", ((year, month, day),))


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
            yield _mention(text, (start, last), "date", ((year, month, day),))


def day_number(word: str, language: Language) -> int:
    """1–31 for `15`, `15th`, `1er`, `first`; else 0."""
    digits = re.match(r"\d{1,2}(?!\d)", word)
    if digits:
        rest = fold(word[digits.end() :].lstrip("-"))
        good = not rest or rest in _words(language.calendar.day_suffix)
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
        in _words(f"{language.calendar.inside} {language.calendar.day_suffix}")
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
    if nxt < len(words) and fold(words[nxt].text) in _words(language.calendar.inside):
        nxt += 1
    if nxt < len(words) and re.fullmatch(r"(?:19|20|21)\d\d", words[nxt].text):
        gap = text[words[at].end : words[nxt].start]
        if len(gap) < 6 and not re.search(r"[\n;:!?()]", gap):
            return int(words[nxt].text), words[nxt].end
    return None, words[at].end


def _is_month_alone(
    text: str, words: tuple[Token, ...], at: int, known: Names, language: Language
) -> bool:
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
    return (words[at].text[0].isupper() or not known.capitals) and before in _words(
        " ".join((*near, calendar.inside))
    )


def _weekdays(text: str, words: tuple[Token, ...], known: Names) -> Iterator[Mention]:
    for at, word in enumerate(words):
        folded = fold(word.text)
        day = known.weekdays.get(folded)
        if day is None:
            continue
        if folded in known.short_weekdays and not _beside_date(text, words, at, known):
            continue
        yield _mention(text, (word.start, word.end), "weekday", (day,))


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


def _mention(text: str, span: tuple[int, int], kind: str, values: tuple[object, ...]) -> Mention:
    return Mention(kind, values[0], *span, text[slice(*span)], values)


__all__ = ["Date", "clock", "find_dates", "valid"]
