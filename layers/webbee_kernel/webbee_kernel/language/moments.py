"""The dates and times that a text mentions, in digits and in words.

Digits are found by regex, words in one pass over the tokens, by CLDR's names and the language file.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from unicodedata import category

from .calendars import TokenizedText, relative_dates
from .model import Language
from .stems import Mention, disjoint, fold, folded_words, mention, tokens

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
_HOUR_SIGN = re.compile(r"(?<![\d:.,])(\d{1,2})(?:\.|\s?h\s?)(\d\d)(?!\d|[.,:]\d)", re.IGNORECASE)
_RANGE_GAP = re.compile(r"[ \u00a0]?[–—-][ \u00a0]?")
_BESIDE = re.compile(r"\.?[ \u00a0]")
_NEAR = re.compile(r"\.?[ \u00a0]|[./-]|")
_LED_GAP = re.compile(r"[.,]?[ \u00a0]")
_DECIMALS = re.compile(r"[.,:/]\d|\s?%")
_YEAR = re.compile(r"(?:19|20|21)\d\d")


def find_dates(text: str, language: Language, now: str | datetime | None) -> tuple[Mention, ...]:
    """The dates and times of `text`; see `language.dates`. Linear."""
    source = TokenizedText(text, language)
    found = [*_iso(text), *_numeric(text, language), *_without_year(text, language)]
    found += [*(times := [*_times(source)]), *_named_days(source), *_weekdays(source)]
    if now is not None:
        at = now if isinstance(now, datetime) else datetime.fromisoformat(now)
        found += [*relative_dates(source, at), *_numbered_weekdays(source, at, times)]
    return disjoint(found)


NEAR_MONTHS = (-1, 0, 1)
"""The months around now in which a day with its weekday and no month is looked for."""
DATE_KINDS = ("date", "weekday", "moment", "time")
MAX_DATE_WORDS = 8
"""Longer texts are not read as one date."""


def read_date(text: str, language: Language, now: datetime) -> str:
    """See `language.date_of`. A weekday is the next one after today, a day without a year the next
    such day."""
    source = TokenizedText(text, language)
    if len(source.words) > MAX_DATE_WORDS:
        return ""
    found = [m for m in find_dates(text, language, now) if m.kind in DATE_KINDS]
    days, times = [m for m in found if m.kind != "time"], [m for m in found if m.kind == "time"]
    if days and not times:  # "tomorrow at 10": with a day beside it a number alone is an hour
        hours = (m for at in range(len(source.words)) for m in _hour(source, at, is_certain=True))
        times = [m for m in hours if not any(day.start <= m.start < day.end for day in days)]
    if not (days or times) or len(days) > 1 or len(times) > 1:
        return ""
    return _to_iso(days, times, now) if _covers(disjoint([*days, *times]), text, language) else ""


def _to_iso(days: Sequence[Mention], times: Sequence[Mention], now: datetime) -> str:
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
        upcoming = now.replace(month=month, day=day)
        return upcoming if upcoming >= now else upcoming.replace(year=now.year + 1)
    except ValueError:  # the 29th of February
        return None


def _covers(found: Sequence[Mention], text: str, language: Language) -> bool:
    """Whether the rest of the text is only function words: "by Friday", not "off by Friday"."""
    at, words = 0, language.words
    function_words = words.function - words.negation - words.prohibition
    halves = folded_words(f"{language.calendar.morning} {language.calendar.evening}")
    allowed = words.article.union(map(language.stem, language.calendar.day_lead.split()))
    for end, after in (*((m.start, m.end) for m in found), (len(text), 0)):
        gap = [w.text for w in tokens(text[at:end])]
        if any(language.stem(w) not in allowed and not (at and fold(w) in halves) for w in gap):
            return False
        at, allowed = after, function_words
    return True


def _is_day(month: int, day: int) -> bool:
    """Whether the month has this day in a leap year."""
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
        if dates := _day_orders(year, first, second, language):
            yield mention(text, match.span(), "date", dates)


def _without_year(text: str, language: Language) -> Iterator[Mention]:
    """`15/5`, `15.05.`; but `3.5` is a number, and so is anything beside a currency sign."""
    for match in _DAY_MONTH.finditer(text):
        start, end = match.span()
        beside = text[max(0, start - 2) : start].rstrip()[-1:] + text[end : end + 2].lstrip()[:1]
        if any(category(sign) == "Sc" for sign in beside):
            continue
        has_slash = match[2] == "/"
        has_dots = match[0].endswith(".") or len(match[3]) == 2
        if has_slash or (has_dots and not language.calendar.month_first):
            if dates := _day_orders(None, int(match[1]), int(match[3]), language):
                yield mention(text, match.span(), "date", dates)


def _day_orders(year: int | None, first: int, second: int, language: Language) -> tuple[Date, ...]:
    day_first, month_first = (year, second, first), (year, first, second)
    order = (month_first, day_first) if language.calendar.month_first else (day_first, month_first)
    return tuple(d for d in dict.fromkeys(order) if _is_day(d[1], d[2]))


def _weekdays(source: TokenizedText) -> Iterator[Mention]:
    names = source.names
    for at, folded in enumerate(source.folded):
        day = names.weekdays.get(folded)
        if day is not None and (folded not in names.short_weekdays or _is_beside_date(source, at)):
            yield source.mention(at, at, "weekday", day)


def _numbered_weekdays(
    source: TokenizedText, now: datetime, times: Sequence[Mention]
) -> Iterator[Mention]:
    """`Thu 26`, `Donnerstag, den 26.`: the day of a month near `now` that is this weekday; a number
    that no such day has is something else."""
    hours, weekdays = {time.start for time in times}, source.names.weekdays
    for at, folded in enumerate(source.folded):
        place = _number_beside(source, at) if folded in weekdays else 0
        if place and source.words[place].start not in hours:
            days = _days_near(now, _day_number(source, place))
            right = [d for d in days if d.weekday() == weekdays[folded]]
            if fitting := [(d.year, d.month, d.day) for d in right]:
                yield source.mention(at, place, "date", *fitting)


def _number_beside(source: TokenizedText, at: int) -> int:
    """The place of the day of a month behind a token, over a "the", or 0; behind a comma only what
    that leads in: "8.1 on Monday, 5.2 on Tuesday"."""
    place, leads = at + 1, f"the {source.calendar.day_lead}"
    while place < at + 3 and source.has_word(place, leads):
        place += 1
    gap = _BESIDE if place == at + 1 else _LED_GAP
    is_beside = all(gap.fullmatch(source.gap(between)) for between in range(at, place))
    is_day = is_beside and _day_number(source, place)
    return place if is_day and not _DECIMALS.match(source.text, source.words[place].end) else 0


def _days_near(now: datetime, day: int) -> list[datetime]:
    """The days of this number in the month of `now` and those beside it."""
    months = {(d.year, d.month): d for d in (now + timedelta(days=28 * n) for n in NEAR_MONTHS)}
    return [d.replace(day=day) for at, d in months.items() if day <= monthrange(*at)[1]]


def _is_beside_date(source: TokenizedText, at: int) -> bool:
    """Whether a digit, month or weekday is adjacent, which makes `Mon` a weekday."""
    for other in (at - 1, at + 1):
        if 0 <= other < len(source.words):
            gap, folded = source.gap(min(at, other)), source.folded[other]
            is_name = folded in source.names.months or folded in source.names.weekdays
            if (folded[0].isdigit() or is_name) and len(gap) <= 3 and "\n" not in gap:
                return True
    return False


# With the month in words


def _named_days(source: TokenizedText) -> Iterator[Mention]:
    """Days and months with the month in words."""
    for at, folded in enumerate(source.folded):
        month = source.names.months.get(folded)
        if month is None:
            continue
        year, end = _year_after(source, at)
        if before := _day_before(source, at):
            first, day = before
            yield from _with_range(source, first, (year, month, day), end)
        elif after := _day_after(source, at):
            # "mar 24" is Tuesday the 24th where days stand before their months
            if source.calendar.month_first or folded not in source.names.weekdays:
                yield from _month_first(source, at, after, month)
        elif year is not None or _is_month_alone(source, at):
            yield source.mention(at, end, "month", (year, month))


def _with_range(source: TokenizedText, first: int, value: Date, end: int) -> Iterator[Mention]:
    """`15 May 2026`, and the first day of `13–15 May`."""
    yield source.mention(first, end, "date", value)
    year, month, _ = value
    earlier = _joined_number(source, first)
    if earlier < 0 and first and _RANGE_GAP.fullmatch(source.gap(first - 1).lstrip(".,")):
        earlier = first - 1
    day = _day_number(source, earlier)
    if day and _is_day(month, day):
        yield source.mention(earlier, earlier, "date", (year, month, day))


def _joined_number(source: TokenizedText, at: int) -> int:
    """The place of the number that "and" or "to" joins to the one at a place, `11` of `at 11 and at
    15`, over what leads to either; -1 without one."""
    calendar = source.calendar
    for joint in range(at - 1, max(at - 4, 0), -1):
        if not _BESIDE.fullmatch(source.gap(joint)):
            break
        if source.has_word(joint, f"{calendar.until} {calendar.together}"):
            is_number = source.folded[joint - 1][0].isdigit()
            if is_number and _BESIDE.fullmatch(source.gap(joint - 1)):
                return joint - 1
        if not source.has_word(joint, f"{calendar.day_lead} {calendar.at}"):
            break
    return -1


def _month_first(source: TokenizedText, at: int, after: int, month: int) -> Iterator[Mention]:
    """`May 15, 2026`, `May 13–15, 2026`."""
    is_range = _RANGE_GAP.fullmatch(source.gap(after)) and _day_number(source, after + 1)
    last = after + 1 if is_range else after
    year, end = _year_after(source, last)
    for place in range(after, last + 1):
        day = _day_number(source, place)
        if _is_day(month, day):
            first = at if place == after else place
            yield source.mention(first, end if place == last else place, "date", (year, month, day))


def _day_number(source: TokenizedText, at: int) -> int:
    """1–31 for `15`, `15th`, `1er`, `first`; else 0."""
    if not 0 <= at < len(source.words):
        return 0
    word = source.words[at].text
    if digits := re.match(r"\d{1,2}(?!\d)", word):
        rest = fold(word[digits.end() :].lstrip("-"))
        is_day = not rest or rest in folded_words(source.calendar.day_suffix)
        return int(digits[0]) if is_day and 1 <= int(digits[0]) <= 31 else 0
    position = source.language.words.ordinals.get(source.language.stem(word), "")
    return int(position) if position.isdigit() else 0


def _day_before(source: TokenizedText, at: int) -> tuple[int, int] | None:
    """The day before a month and its position, over `of`, `de` and an ordinal's full stop."""
    first, between = at - 1, f"{source.calendar.inside} {source.calendar.day_suffix}"
    while at - first < 3 and source.has_word(first, between):
        first -= 1
    if first < 0 or not re.fullmatch(r"[.º°]?[ \u00a0-]?", source.gap(first)):
        return None
    day = _day_number(source, first)
    return (first, day) if day else None


def _day_after(source: TokenizedText, at: int) -> int | None:
    place = at + 1 + source.has_word(at + 1, "the")
    if place >= len(source.words) or not _NEAR.fullmatch(source.gap(at)):
        return None
    word = source.words[place]
    follows = source.text[word.end : word.end + 2]
    if not word.text[0].isdigit() or re.match(r":\d|[.,]\d", follows):
        return None
    return place if _day_number(source, place) else None


def _year_after(source: TokenizedText, at: int) -> tuple[int | None, int]:
    """The year after a word, skipping `de` and a comma, and its position; else None and `at`."""
    place = at + 1 + source.has_word(at + 1, source.calendar.inside)
    if place < len(source.words) and _YEAR.fullmatch(source.words[place].text):
        gap = source.text[source.words[at].end : source.words[place].start]
        if len(gap) < 6 and not re.search(r"[\n;:!?()]", gap):
            return int(source.words[place].text), place
    return None, at


def _is_month_alone(source: TokenizedText, at: int) -> bool:
    """Whether a month's name without day or year means the month, unlike "may" in "you may"."""
    folded, names, calendar = source.folded[at], source.names, source.calendar
    if folded in names.short_months:
        return False
    if folded not in names.ambiguous:
        return True
    leads = f"{calendar.at} {calendar.month_lead} {calendar.next} {calendar.last} {calendar.this}"
    is_capitalised = source.words[at].text[0].isupper() or not names.is_month_capitalised
    return is_capitalised and source.has_word(at - 1, f"{leads} {calendar.inside}")


# Times of day: minutes since midnight, in both halves of the day where nothing says which


def _clock(hour: int, minute: int, half: str | None) -> tuple[int, ...]:
    """The minutes since midnight that a time can mean: two readings for hours 1–11 without a half
    of the day."""
    if hour > 24 or minute > 59:
        return ()
    if half and hour <= 12:
        return ((hour % 12 + (12 if half.lower() == "p" else 0)) * 60 + minute,)
    return (hour % 24 * 60 + minute,) + (((hour + 12) * 60 + minute,) if 1 <= hour <= 11 else ())


def _times(source: TokenizedText) -> Iterator[Mention]:
    """The times of day of a text, in any order; both ends of a range."""
    text, language = source.text, source.language
    for match in (*_CLOCK.finditer(text), *_HALF_DAY.finditer(text)):
        half = match[4] or _half_after(text, match.end(), language, int(match[2]))
        if at := _clock(int(match[2]), int(match[3] or 0), half):
            yield mention(text, (match.start(2), match.end()), "time", at)
            if match[1] and (first := _clock(int(match[1]), 0, half)):
                yield mention(text, match.span(1), "time", first)
            yield from _joined_hour(source, source.at(match.start(2)), half)
    yield from _hours(source)
    yield from _times_with_hour_word(text, language)


def _times_with_hour_word(text: str, language: Language) -> Iterator[Mention]:
    """`9.30 Uhr`, `9h30`: hours and minutes with an hour word after or between them."""
    hour_words = folded_words(language.calendar.hour)
    for match in _HOUR_SIGN.finditer(text):
        behind = tokens(text[match.end() : match.end() + 12])[:1]
        has_hour_sign = "h" in match[0].lower() and "h" in hour_words
        has_hour_word = bool(behind) and behind[0].start < 2 and fold(behind[0].text) in hour_words
        if (has_hour_sign or has_hour_word) and (at := _clock(int(match[1]), int(match[2]), None)):
            end = match.end() + (behind[0].end if has_hour_word else 0)
            yield mention(text, (match.start(), end), "time", at)


def _hours(source: TokenizedText) -> Iterator[Mention]:
    """`at 5 in the evening`, `um 9 Uhr`, `at noon`: hours marked by a word."""
    noon, midnight = folded_words(source.calendar.noon), folded_words(source.calendar.midnight)
    for at, folded in enumerate(source.folded):
        if folded in noon or folded in midnight:
            yield source.mention(at, at, "time", 720 if folded in noon else 0)
            yield from _joined_hour(source, at, None)
        elif folded[0].isdigit():
            yield from _hour(source, at)


def _hour(source: TokenizedText, at: int, *, is_certain: bool = False) -> Iterator[Mention]:
    """The number at `at` as an hour: with an hour word after it, or with "at" before it and a half
    of the day; "at" alone suffices if `surely`."""
    hour, is_glued = _figure(source, at)
    has_clock_word = _is_followed_by(source, at, _clock_words(source.language))
    if hour < 0 or not (has_clock_word or source.has_word(at - 1, source.calendar.at)):
        return  # most numbers are no hours
    half = _half_after(source.text, source.words[at].end, source.language)
    has_hour_word = is_glued or _is_followed_by(source, at, source.calendar.hour)
    minutes = _clock(hour, 0, half)
    if minutes and any((has_hour_word, half, has_clock_word, is_certain)):
        yield source.mention(at, at + (has_hour_word and not is_glued), "time", *minutes)
        yield from _joined_hour(source, at, half) if has_hour_word else ()


def _joined_hour(source: TokenizedText, at: int, half: str | None) -> Iterator[Mention]:
    """The hour that shares the hour word behind the one at a position: `at 11 and at 15 h`."""
    earlier = _joined_number(source, at)
    if earlier >= 0 and (minutes := _clock(_figure(source, earlier)[0], 0, half)):
        yield source.mention(earlier, earlier, "time", *minutes)


def _is_followed_by(source: TokenizedText, at: int, words: str) -> bool:
    """Whether one of these words directly follows the number at `at`; "5 €/h" is not a time."""
    number, *after = source.words[at : at + 2]
    between = source.text[number.end : after[0].start] if after else ""
    return not between.strip() and source.has_word(at + 1, words)


def _figure(source: TokenizedText, at: int) -> tuple[int, bool]:
    """The one- or two-digit number at a position, -1 for none, and whether an hour word is attached
    (`10h`)."""
    found = re.fullmatch(r"(\d{1,2})([^\W\d]*)", source.folded[at])
    if not found or (found[2] and found[2] not in folded_words(source.calendar.hour)):
        return -1, False
    return int(found[1]), bool(found[2])


@lru_cache(maxsize=16)
def _clock_words(language: Language) -> str:
    """Hour words that are not durations: `Uhr`, not `heure`."""
    words, units = language.calendar.hour.split(), language.words.units
    return " ".join(w for w in words if units.get(language.stem(w)) is None)


def _half_after(text: str, end: int, language: Language, hour: int = 0) -> str | None:
    """`a` or `p` if the next four words name a half of the day, unless it belongs to a later
    number, as in "11:45 until 2 PM"."""
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
