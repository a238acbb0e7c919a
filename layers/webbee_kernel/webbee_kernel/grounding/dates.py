"""Dates, months, weekdays and times of day, as English and Russian write them.

A date is `(year | None, month, day)`, a time is minutes since midnight. Every reader returns all
sensible readings (`05/06/2026` is both 5 June and 6 May; `5:21` is morning or evening) and an empty
tuple where there is none.
"""

from __future__ import annotations

import re
from calendar import weekday as _weekday
from typing import TypeAlias

Date: TypeAlias = tuple[int | None, int, int]

_MONTHS = [
    "jan(?:uary)?|янв(?:ар[ьяе])?", "feb(?:ruary)?|фев(?:рал[ьяе])?", "mar(?:ch)?|март[ае]?", "apr(?:il)?|апр(?:ел[ьяе])?", "may|ма[йяе]",
    "june?|июн[ьяе]", "july?|июл[ьяе]", "aug(?:ust)?|авг(?:уст[ае]?)?", "sept?(?:ember)?|сен(?:тябр[ьяе])?", "oct(?:ober)?|окт(?:ябр[ьяе])?",
    "nov(?:ember)?|ноя(?:бр[ьяе])?", "dec(?:ember)?|дек(?:абр[ьяе])?",
]  # fmt: skip
_MONTH = "(" + "|".join(_MONTHS) + r")(?![^\W\d_])"
_MONTH_NUMBER = [(re.compile(pattern, re.I), number) for number, pattern in enumerate(_MONTHS, 1)]
_NTH = r"(?:st|nd|rd|th|-?го|-?е|-?м)?"
_UNTIL = r"\s?[–—-]\s?|\s+(?:по|to|through|until|до)\s+"
_YEAR = r"(?:\.?,?\s+(\d{4})(?!\d))?"

ISO = re.compile(
    r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::\d\d(?:[.,]\d+)?)?(?:"
    r" ?(?:Z|UTC|[+-]\d\d:?\d\d))?)?(?!\d|:\d)"
)
ISO_MONTH = re.compile(r"(?<![\d-])(\d{4})-(0\d|1[0-2])(?![\d-])")
NUMERIC = re.compile(
    r"(?<![\d.])(?:(\d{1,2})[./](\d{1,2})[./](\d{4})|(\d\d)[./](\d\d)[./](\d\d))(?!\d|\.\d)"
)
DAY_FIRST = re.compile(
    rf"(?<![\w.,])(\d{{1,2}}){_NTH}(?:(?:{_UNTIL}|\s+(?:and|и)\s+)(\d{{1,2}}){_NTH})?\s+(?:of\s+)?{_MONTH}{_YEAR}",
    re.I,
)
MONTH_FIRST = re.compile(
    rf"(?<!\w){_MONTH}\.?\s+(\d{{1,2}}){_NTH}(?:(?:{_UNTIL})(\d{{1,2}}){_NTH})?(?!\d|:\d)(?!\s?(?:[ap]\.?m\b)){_YEAR}",
    re.I,
)
MONTH_YEAR = re.compile(rf"(?<!\w){_MONTH},?\s+(\d{{4}})(?!\d)", re.I)
MONTH_ONLY = re.compile(
    r"(?<!\w)(January|February|(?<=in )March|(?<=in"
    r" )May|April|June|July|August|September|October|November|December|"
    r"январ[ьяе]|феврал[ьяе]|март[ае]?|апрел[ьяе]|май|мая|мае|июн[ьяе]|июл[ьяе]|август[ае]?|сентябр[ьяе]|октябр[ьяе]|ноябр[ьяе]|декабр[ьяе])(?!\w)"
)
CLOCK = re.compile(
    r"(?<![\d:.,])(\d{1,2}):(\d\d)(?::\d\d)?(?:\s?([ap])(?:m\b|\.m\.))?(?!\d|:\d)", re.I
)
HOUR = re.compile(
    r"(?<![\d:.,])(\d{1,2})(?:(?:\s?[–—-]\s?|\s+to\s+)(\d{1,2}))?\s?([ap])(?:m\b|\.m\.)", re.I
)
RUSSIAN_HOUR = re.compile(
    r"(?<!\w)(?:в|до|с|к|на)\s+(\d{1,2})(?:\s+час(?:ов|а)?)?\s+(утра|вечера|дня|ночи)(?!\w)", re.I
)

WEEKDAYS: dict[str, int] = {
    form: number
    for number, forms in enumerate([
        "Monday Mon понедельник понедельника понедельнику", "Tuesday Tue Tues вторник вторника вторнику", "Wednesday Wed среду",
        "Thursday Thu Thurs четверг четверга четвергу", "Friday Fri пятница пятницу пятницы пятнице", "Saturday субботу суббота субботы субботе",
        "Sunday воскресенье воскресенья воскресенью",
    ])
    for form in forms.split()
}  # fmt: skip


_STEMS = tuple(
    "jan feb mar apr may jun jul aug sep oct nov dec янв фев мар апр май мая мае июн июл авг сен"
    " окт ноя дек".split()
)


def mentions_month(text: str) -> bool:
    """Tell quickly whether a text may hold a month's name; False is certain."""
    lowered = text.lower()
    return any(stem in lowered for stem in _STEMS)


def month_number(name: str) -> int:
    """Return 1–12 for a month's name or abbreviation in any case, 0 for anything else."""
    return next((number for pattern, number in _MONTH_NUMBER if pattern.fullmatch(name)), 0)


def valid(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31


def weekday(date: Date) -> int | None:
    """Return 0 (Monday) to 6, or None without a year or for a day that does not exist."""
    year, month, day = date
    try:
        return _weekday(year, month, day) if year else None
    except ValueError:
        return None


def numeric(match: re.Match[str]) -> tuple[Date, ...]:
    """Read `15.05.2026`, `5/15/2026` or `15.05.26`, day first and month first."""
    first, second, year = (int(g) for g in match.groups() if g is not None)
    year += 2000 if year < 100 else 0
    both: tuple[Date, Date] = ((year, second, first), (year, first, second))
    return tuple(date for date in dict.fromkeys(both) if valid(date[1], date[2]))


def clock(hour: int, minute: int, half: str | None) -> tuple[int, ...]:
    """Return the minutes since midnight a time can mean; without AM/PM an hour of 1–11 can be
    either half of the day."""
    if hour > 24 or minute > 59:
        return ()
    if half:
        return ((hour % 12 + (12 if half.lower() == "p" else 0)) * 60 + minute,)
    return (hour % 24 * 60 + minute,) + (((hour + 12) * 60 + minute,) if 1 <= hour <= 11 else ())


def russian_clock(hour: int, part: str) -> tuple[int, ...]:
    """Read `в 5 вечера`: evening and afternoon are the second half of the day."""
    return clock(hour, 0, "p" if part in ("вечера", "дня") else "a")
