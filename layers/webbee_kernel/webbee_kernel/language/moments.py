"""The dates and times that a text mentions, in digits and in words.

Digits are found by patterns, words by walking over the tokens once, with the names of CLDR and the
words of the language's file.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from unicodedata import category

from .calendars import DatedText, relative_dates
from .model import Language
from .stems import Mention, apart, fold, folded_words, mention, tokens

Date = tuple[int | None, int, int]

_ISO = re.compile(
    r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?:([T ])(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?"
    r" ?(Z|UTC(?![+-])|(?:UTC)?[+-]\d\d:?\d\d)?)?(?!\d|:\d)"
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
    r"(?<![\d:.,])(?:(\d{1,2})(?::\d\d)?(?:\s?[–—-]\s?|\s+to\s+))?(\d{1,2})()"
    r"\s?([ap])(?:m\b|\.m\.)",
    re.IGNORECASE,
)
_MARKED = re.compile(r"(?<![\d:.,])(\d{1,2})(?:\.|\s?h\s?)(\d\d)(?!\d|[.,:]\d)", re.IGNORECASE)
_RANGE_GAP = re.compile(r"[ \u00a0]?[–—-][ \u00a0]?")
_NEAR = re.compile(r"\.?[ \u00a0]|[./-]|")
_YEAR = re.compile(r"(?:19|20|21)\d\d")


def find_dates(text: str, language: Language, now: str | datetime | None) -> tuple[Mention, ...]:
    """The dates and times of `text`; see `language.dates`. Linear."""
    read = DatedText(text, language)
    found = [*_iso(text), *_numeric(text, language), *_without_year(text, language)]
    found += [*_times(read), *_named_days(read), *_weekdays(read)]
    if now is not None:
        at = now if isinstance(now, datetime) else datetime.fromisoformat(now)
        found += relative_dates(read, at)
    return apart(found)


DATED = ("date", "weekday", "moment", "time")
LONGEST_DATE = 8
"""Words of a text that is one date."""


def read_date(text: str, language: Language, now: datetime) -> str:
    """The date that a text is; see `language.date_of`. A weekday is the next one that is not
    today, a day without a year the coming one."""
    read = DatedText(text, language)
    if len(read.words) > LONGEST_DATE:
        return ""
    found = [m for m in find_dates(text, language, now) if m.kind in DATED]
    days, times = [m for m in found if m.kind != "time"], [m for m in found if m.kind == "time"]
    if days and not times:  # "tomorrow at 10": with a day beside it a number alone is an hour
        times = [m for at in range(len(read.words)) for m in _hour(read, at, surely=True)]
    if not (days or times) or len(days) > 1 or len(times) > 1:
        return ""
    return _written(days, times, now) if _covers(apart([*days, *times]), text, language) else ""


def _written(days: Sequence[Mention], times: Sequence[Mention], now: datetime) -> str:
    if days and days[0].kind == "moment":
        return str(days[0].value.isoformat())
    day = _day_of(days[0], now) if days else now
    clock = "".join("T{:02}:{:02}".format(*divmod(int(time.value), 60)) for time in times)
    return day.date().isoformat() + clock if day else ""


def _day_of(mention: Mention, now: datetime) -> datetime | None:
    if mention.kind == "weekday":
        return now + timedelta(days=(mention.value - now.weekday() - 1) % 7 + 1)
    year, month, day = mention.value
    try:
        if year is not None:
            return now.replace(year=year, month=month, day=day)
        coming = now.replace(month=month, day=day)
        return coming if coming >= now else coming.replace(year=now.year + 1)
    except ValueError:  # the 29th of February
        return None


def _covers(found: Sequence[Mention], text: str, language: Language) -> bool:
    """Whether only small words stand beside what was found: "by Friday", no "off by Friday"."""
    at, words = 0, language.words
    inside = words.function - words.negation - words.prohibition
    halves = folded_words(f"{language.calendar.morning} {language.calendar.evening}")
    small = words.article.union(map(language.stem, language.calendar.day_lead.split()))
    for end, after in (*((m.start, m.end) for m in found), (len(text), 0)):
        beside = [w.text for w in tokens(text[at:end])]
        if any(language.stem(w) not in small and not (at and fold(w) in halves) for w in beside):
            return False
        at, small = after, inside
    return True


def _is_day(month: int, day: int) -> bool:
    """Whether a month has such a day in some year."""
    return 1 <= month <= 12 and 1 <= day <= monthrange(2024, month)[1]


def _iso(text: str) -> Iterator[Mention]:
    for match in _ISO.finditer(text):
        year, month, day = (int(g) for g in match.groups()[:3])
        if not _is_day(month, day):
            continue
        if match[4] is None:
            yield mention(text, match.span(), "date", ((year, month, day),))
            continue
        zone = "Z" if match[8] == "UTC" else (match[8] or "").removeprefix("UTC")
        clock = f"{match[5]}:{match[6]}:{match[7] or '00'}"
        try:
            moment = datetime.fromisoformat(f"{match[1]}-{match[2]}-{match[3]}T{clock}{zone}")
        except ValueError:
            continue
        yield mention(text, match.span(), "moment", (moment,))
    for match in _ISO_MONTH.finditer(text):
        yield mention(text, match.span(), "month", ((int(match[1]), int(match[2])),))


def _numeric(text: str, language: Language) -> Iterator[Mention]:
    for match in _NUMERIC.finditer(text):
        first, second, year = (int(g) for g in match.groups() if g is not None)
        year += 2000 if year < 100 else 0
        if both := _both_ways(year, first, second, language):
            yield mention(text, match.span(), "date", both)


def _without_year(text: str, language: Language) -> Iterator[Mention]:
    """`15/5`, `15.05.`; `3.5` is a number first and last: a date only where it is written as
    one, and not beside the sign of a currency."""
    for match in _DAY_MONTH.finditer(text):
        start, end = match.span()
        beside = text[max(0, start - 2) : start].rstrip()[-1:] + text[end : end + 2].lstrip()[:1]
        if any(category(sign) == "Sc" for sign in beside):
            continue
        slashed = match[2] == "/"
        dotted = match[0].endswith(".") or len(match[3]) == 2
        if slashed or (dotted and not language.calendar.month_first):
            if both := _both_ways(None, int(match[1]), int(match[3]), language):
                yield mention(text, match.span(), "date", both)


def _both_ways(year: int | None, first: int, second: int, language: Language) -> tuple[Date, ...]:
    day_first, month_first = (year, second, first), (year, first, second)
    order = (month_first, day_first) if language.calendar.month_first else (day_first, month_first)
    return tuple(d for d in dict.fromkeys(order) if _is_day(d[1], d[2]))


def _weekdays(read: DatedText) -> Iterator[Mention]:
    known = read.names
    for at, folded in enumerate(read.folded):
        day = known.weekdays.get(folded)
        if day is not None and (folded not in known.short_weekdays or _is_beside_date(read, at)):
            yield read.mention(at, at, "weekday", day)


def _is_beside_date(read: DatedText, at: int) -> bool:
    """Whether a digit, a month or a weekday is the token before or after: what makes `Mon`
    a weekday."""
    for other in (at - 1, at + 1):
        if 0 <= other < len(read.words):
            gap, folded = read.gap(min(at, other)), read.folded[other]
            named = folded in read.names.months or folded in read.names.weekdays
            if (folded[0].isdigit() or named) and len(gap) <= 3 and "\n" not in gap:
                return True
    return False


# With the month in words


def _named_days(read: DatedText) -> Iterator[Mention]:
    """Days and months with the month in words."""
    for at, folded in enumerate(read.folded):
        month = read.names.months.get(folded)
        if month is None:
            continue
        year, end = _year_after(read, at)
        if before := _day_before(read, at):
            first, day = before
            yield from _with_range(read, first, (year, month, day), end)
        elif after := _day_after(read, at):
            # "mar 24" is Tuesday the 24th where days stand before their months
            if read.calendar.month_first or folded not in read.names.weekdays:
                yield from _month_first(read, at, after, month)
        elif year is not None or _is_month_alone(read, at):
            yield read.mention(at, end, "month", (year, month))


def _with_range(read: DatedText, first: int, value: Date, end: int) -> Iterator[Mention]:
    """`15 May 2026`, and the first day of `13–15 May`."""
    yield read.mention(first, end, "date", value)
    earlier, (year, month, _) = first - 1, value
    if read.is_one_of(earlier, f"{read.calendar.until} {read.calendar.together}"):
        earlier -= 1
    elif earlier < 0 or not _RANGE_GAP.fullmatch(read.gap(earlier).lstrip(".,")):
        return
    day = _day_number(read, earlier)
    if day and _is_day(month, day):
        yield read.mention(earlier, earlier, "date", (year, month, day))


def _month_first(read: DatedText, at: int, after: int, month: int) -> Iterator[Mention]:
    """`May 15, 2026`, `May 13–15, 2026`."""
    is_range = _RANGE_GAP.fullmatch(read.gap(after)) and _day_number(read, after + 1)
    last = after + 1 if is_range else after
    year, end = _year_after(read, last)
    for place in range(after, last + 1):
        day = _day_number(read, place)
        if _is_day(month, day):
            first = at if place == after else place
            yield read.mention(first, end if place == last else place, "date", (year, month, day))


def _day_number(read: DatedText, at: int) -> int:
    """1–31 for `15`, `15th`, `1er`, `first`; else 0."""
    if not 0 <= at < len(read.words):
        return 0
    word = read.words[at].text
    if digits := re.match(r"\d{1,2}(?!\d)", word):
        rest = fold(word[digits.end() :].lstrip("-"))
        good = not rest or rest in folded_words(read.calendar.day_suffix)
        return int(digits[0]) if good and 1 <= int(digits[0]) <= 31 else 0
    position = read.language.words.ordinals.get(read.language.stem(word), "")
    return int(position) if position.isdigit() else 0


def _day_before(read: DatedText, at: int) -> tuple[int, int] | None:
    """The place of the day before a month, over `of`, `de` and an ordinal's full stop."""
    first, between = at - 1, f"{read.calendar.inside} {read.calendar.day_suffix}"
    while at - first < 3 and read.is_one_of(first, between):
        first -= 1
    if first < 0 or not re.fullmatch(r"[.º°]?[ \u00a0-]?", read.gap(first)):
        return None
    day = _day_number(read, first)
    return (first, day) if day else None


def _day_after(read: DatedText, at: int) -> int | None:
    place = at + 1 + read.is_one_of(at + 1, "the")
    if place >= len(read.words) or not _NEAR.fullmatch(read.gap(at)):
        return None
    word = read.words[place]
    follows = read.text[word.end : word.end + 2]
    if not word.text[0].isdigit() or re.match(r":\d|[.,]\d", follows):
        return None
    return place if _day_number(read, place) else None


def _year_after(read: DatedText, at: int) -> tuple[int | None, int]:
    """The year behind a word, over `de` and a comma, and its place; else that of the word."""
    place = at + 1 + read.is_one_of(at + 1, read.calendar.inside)
    if place < len(read.words) and _YEAR.fullmatch(read.words[place].text):
        gap = read.text[read.words[at].end : read.words[place].start]
        if len(gap) < 6 and not re.search(r"[\n;:!?()]", gap):
            return int(read.words[place].text), place
    return None, at


def _is_month_alone(read: DatedText, at: int) -> bool:
    """Whether a month's name without a day or year is one, and not the verb in "you may" or a short
    form that is some other word."""
    folded, known, calendar = read.folded[at], read.names, read.calendar
    if folded in known.short_months:
        return False
    if folded not in known.doubtful:
        return True
    near = f"{calendar.at} {calendar.month_lead} {calendar.next} {calendar.last} {calendar.this}"
    is_written_so = read.words[at].text[0].isupper() or not known.capitals
    return is_written_so and read.is_one_of(at - 1, f"{near} {calendar.inside}")


# Times of day: minutes since midnight, in both halves of the day where nothing says which


def _clock(hour: int, minute: int, half: str | None) -> tuple[int, ...]:
    """The minutes since midnight a time can mean; without a half of the day an hour of 1–11 can be
    in either."""
    if hour > 24 or minute > 59:
        return ()
    if half and hour <= 12:
        return ((hour % 12 + (12 if half.lower() == "p" else 0)) * 60 + minute,)
    return (hour % 24 * 60 + minute,) + (((hour + 12) * 60 + minute,) if 1 <= hour <= 11 else ())


def _times(read: DatedText) -> Iterator[Mention]:
    """The times of day of a text, in any order; both ends of a range."""
    text, language = read.text, read.language
    for match in (*_CLOCK.finditer(text), *_HALF_DAY.finditer(text)):
        half = match[4] or _half_behind(text, match.end(), language, int(match[2]))
        if at := _clock(int(match[2]), int(match[3] or 0), half):
            yield mention(text, (match.start(2), match.end()), "time", at)
            if match[1] and (first := _clock(int(match[1]), 0, half)):
                yield mention(text, match.span(1), "time", first)
    yield from _hours(read)
    yield from _marked(text, language)


def _marked(text: str, language: Language) -> Iterator[Mention]:
    """`9.30 Uhr`, `9h30`: hours and minutes with an hour word behind or between them."""
    hour_words = folded_words(language.calendar.hour)
    for match in _MARKED.finditer(text):
        behind = tokens(text[match.end() : match.end() + 12])[:1]
        named = "h" in match[0].lower() and "h" in hour_words
        worded = bool(behind) and behind[0].start < 2 and fold(behind[0].text) in hour_words
        if (named or worded) and (at := _clock(int(match[1]), int(match[2]), None)):
            end = match.end() + (behind[0].end if worded else 0)
            yield mention(text, (match.start(), end), "time", at)


def _hours(read: DatedText) -> Iterator[Mention]:
    """`at 5 in the evening`, `um 9 Uhr`, `at noon`: an hour that a word makes one."""
    noon, midnight = folded_words(read.calendar.noon), folded_words(read.calendar.midnight)
    for at, folded in enumerate(read.folded):
        if folded in noon or folded in midnight:
            yield read.mention(at, at, "time", 720 if folded in noon else 0)
        elif folded[0].isdigit():
            yield from _hour(read, at)


def _hour(read: DatedText, at: int, *, surely: bool = False) -> Iterator[Mention]:
    """The hour that the number at `at` is: by the word behind it, or the one before and a half of
    the day, or `surely` the one before alone."""
    hour, glued = _figure(read, at)
    sure = _is_behind(read, at, _sure_hours(read.language))
    if hour < 0 or not (sure or read.is_one_of(at - 1, read.calendar.at)):
        return  # most numbers are no hours
    half = _half_behind(read.text, read.words[at].end, read.language)
    named = glued or _is_behind(read, at, read.calendar.hour)
    minutes = _clock(hour, 0, half)
    if minutes and any((named, half, sure, surely)):
        yield read.mention(at, at + (named and not glued), "time", *minutes)


def _is_behind(read: DatedText, at: int, words: str) -> bool:
    """Whether one of these words is right behind the number at `at`: a price for an hour is no
    time, "5 €/h"."""
    number, *behind = read.words[at : at + 2]
    between = read.text[number.end : behind[0].start] if behind else ""
    return not between.strip() and read.is_one_of(at + 1, words)


def _figure(read: DatedText, at: int) -> tuple[int, bool]:
    """The number of one or two digits at a place, -1 for none, and whether an hour word is glued to
    it: `10h`."""
    found = re.fullmatch(r"(\d{1,2})([^\W\d]*)", read.folded[at])
    if not found or (found[2] and found[2] not in folded_words(read.calendar.hour)):
        return -1, False
    return int(found[1]), bool(found[2])


@lru_cache(maxsize=16)
def _sure_hours(language: Language) -> str:
    """Hour words that are no lengths of time: `Uhr`, not `heure`."""
    words, units = language.calendar.hour.split(), language.words.units
    return " ".join(w for w in words if units.get(language.stem(w)) is None)


def _half_behind(text: str, end: int, language: Language, hour: int = 0) -> str | None:
    """`a` or `p` where the next three words name a half of the day; not that of an earlier hour
    among them ("11:45 until 2 PM")."""
    following = tokens(text[end : end + 40])[:4]
    for word in following:
        if any(c in text[end : end + word.start] for c in ".;\n?!,"):
            return None
        if word.text.isdecimal() and int(word.text) < hour:
            return None
        if fold(word.text) in folded_words(language.calendar.morning):
            return "a"
        if fold(word.text) in folded_words(language.calendar.evening):
            return "p"
    return None
