"""What a text asserts: its numbers, dates, times, addresses, ids and quotes, each where it stands.

`scan` runs the readers from the most specific to the least; what one has taken is masked from the
next, so a phone is not five numbers. Cost: a fixed number of passes, each linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from . import dates, numbers
from .numbers import Number

MASK = "\0"


@dataclass(slots=True)
class Claim:
    """One token of a text.

    `kind`: quote, url, email, placeholder, date, month, weekday, time, phone, literal (must stand
    as it is), hash, marker, number. `values`: its readings: dates, minutes, or `(number, decimals)`
    pairs; empty for kinds that are looked up as text.
    """

    kind: str
    token: str
    start: int
    end: int
    values: tuple[Any, ...] = ()
    scale: int = 1
    percent: bool = False
    spelled: bool = False


@dataclass(slots=True)
class Scan:
    """The claims of a text in order, and `rest`: the text with every claim masked out, offsets
    unchanged."""

    claims: list[Claim] = field(default_factory=list)
    rest: str = ""

    def take(self, pattern: re.Pattern[str], read: Callable[[re.Match[str]], list[Claim]]) -> None:
        def replace(match: re.Match[str]) -> str:
            found = read(match)
            self.claims += found
            return MASK * len(match.group()) if found else match.group()

        self.rest = pattern.sub(replace, self.rest)


_QUOTE = re.compile(
    r"«([^«»\n]{1,300})»|“([^“”\n]{1,300})”|„([^“”„\n]{1,300})[“”]|\"([^\"\n]{1,300})\"|`([^`\n]{1,300})`"
)
_URL = re.compile(r"(?:https?|ftp)://[^\s<>\"')\]»”|`]+|(?<!\w)www\.[^\s<>\"')\]»”|`]+")
_EMAIL = re.compile(r"(?<![\w.+-])[\w.+-]{0,64}\w@\w[\w-]{0,63}(?:\.\w[\w-]{0,63})+")
_PLACEHOLDER = re.compile(r"<[A-Z][A-Z0-9_]*_\d+>")
_PHONE = re.compile(
    r"(?<![\w.])(?:(?:\+\d{1,3}[\s(.-]{0,2}|8[\s(.-]{1,2})\d{2,4}[\s).-]{0,2}\d{2,4}(?:[\s.-]?\d{2,4}){1,3}|\(?\d{3}\)?["
    r" .-]\d{3}[.-]\d{4})(?!\w|[.,]\d)"
)
_VERSION = re.compile(
    r"(?<![\w.])(?:v?\d+(?:\.\d+){2,}(?:-[a-z]+[\w.]*)?|v\d+(?:\.\d+)*)(?!\w)", re.I
)
_FILE = re.compile(
    r"(?<![\w.])(?=[\w/-]{0,80}[^\W\d_]{2}|[\w/-]{0,80}[^\W\d_][\w/-])[\w-]{1,80}(?:[./][\w-]{1,80}){0,12}\.(?=[a-z0-9]*[a-z])[a-z0-9]{2,8}(?![\w-])"
)
_RATIO = re.compile(r"(?<![\w:])\d:\d(?![\w:])")
_HASH = re.compile(r"(?<![\w#&])(?:#|№\s?)(\w[\w-]{0,80})")
_W = numbers.LETTERS + "0-9_"
_ID = re.compile(
    rf"(?<![{_W}.,])(?=[{_W}])(?=[{_W}/-]{{0,80}}\d)(?=[{_W}/-]{{0,80}}[{numbers.LETTERS}])[{_W}]{{1,80}}(?:[-/][{_W}]{{1,80}}){{0,12}}"
)
_WITH_UNIT = re.compile(
    r"\d+(?:-[^\W\d_]+|st|nd|rd|th|[kmbgshdwyxcf]|kg|km|cm|mm|hr?s?|mins?|secs?|ms|[kmgt]i?b|px|eur|usd|rub|gbp|kmh|mph"
    r"|р|руб|кг|км|м|см|ч|мин|сек|[кмгт]б|шт|тыс|млн|л|г|мм)",
    re.I,
)
_MARKER = re.compile(r"^[ \t>]*(?:\*\*)?(\d{1,3})[.)](?=\s)", re.M)
_WORD = re.compile(r"[^\W\d_]+")
_SEVEN = re.compile(r"(?<!\w)24/7(?!\w)")


def scan(text: str, *, quotes: bool = True) -> Scan:
    """Return the claims of `text` in the order they stand; `quotes=False` looks inside quotation
    marks instead of taking them whole."""
    result = Scan(rest=text)
    if quotes:
        result.take(_QUOTE, _quoted)
    month = dates.mentions_month(text)
    for needs, pattern, read in _READERS:
        if month if needs == _MONTH else (not needs or any(mark in text for mark in needs)):
            result.take(pattern, read)
    _words(result)
    result.claims.sort(key=lambda claim: claim.start)
    return result


def _quoted(match: re.Match[str]) -> list[Claim]:
    group = match.lastindex or 0
    inner = match.group(group).strip(" *_")
    return [Claim("quote", inner, match.start(), match.end())] if inner else []


def _as(kind: str, trailing: str = "") -> Callable[[re.Match[str]], list[Claim]]:
    def read(match: re.Match[str]) -> list[Claim]:
        token = match.group().rstrip(trailing) if trailing else match.group()
        return [Claim(kind, token, match.start(), match.start() + len(token))]

    return read


def _iso(match: re.Match[str]) -> list[Claim]:
    year, month, day = (int(match.group(i)) for i in (1, 2, 3))
    if not dates.valid(month, day):
        return []
    start = match.start()
    found = [Claim("date", match.group()[:10], start, start + 10, ((year, month, day),))]
    if match.group(4):
        minutes = int(match.group(4)) * 60 + int(match.group(5))
        found.append(Claim("time", match.group()[11:], start + 11, match.end(), (minutes,)))
    return found


def _numeric_date(match: re.Match[str]) -> list[Claim]:
    values = dates.numeric(match)
    return [Claim("date", match.group(), match.start(), match.end(), values)] if values else []


def _day_first(match: re.Match[str]) -> list[Claim]:
    return _named_date(match, match.group(3), (match.group(1), match.group(2)))


def _month_first(match: re.Match[str]) -> list[Claim]:
    return _named_date(match, match.group(1), (match.group(2), match.group(3)))


def _named_date(match: re.Match[str], name: str, days: tuple[str, str | None]) -> list[Claim]:
    month, year = dates.month_number(name), int(match.group(4)) if match.group(4) else None
    wanted = [int(day) for day in days if day]
    if not all(dates.valid(month, day) for day in wanted):
        return []
    return [
        Claim("date", match.group(), match.start(), match.end(), ((year, month, day),))
        for day in wanted
    ]


def _month_year(match: re.Match[str]) -> list[Claim]:
    return [
        Claim(
            "month",
            match.group(),
            match.start(),
            match.end(),
            ((int(match.group(2)), dates.month_number(match.group(1))),),
        )
    ]


def _iso_month(match: re.Match[str]) -> list[Claim]:
    return [
        Claim(
            "month",
            match.group(),
            match.start(),
            match.end(),
            ((int(match.group(1)), int(match.group(2))),),
        )
    ]


def _month_only(match: re.Match[str]) -> list[Claim]:
    return [
        Claim(
            "month",
            match.group(),
            match.start(),
            match.end(),
            ((None, dates.month_number(match.group())),),
        )
    ]


def _clock(match: re.Match[str]) -> list[Claim]:
    values = dates.clock(int(match.group(1)), int(match.group(2)), match.group(3))
    return [Claim("time", match.group(), match.start(), match.end(), values)] if values else []


def _hour(match: re.Match[str]) -> list[Claim]:
    hours = [int(hour) for hour in match.groups()[:2] if hour]
    if not all(1 <= hour <= 12 for hour in hours):
        return []
    *first, last = [dates.clock(hour, 0, match.group(3)) for hour in hours]
    both = [dates.clock(hours[0], 0, None)] if first else []
    return [
        Claim("time", match.group(), match.start(), match.end(), values) for values in [*both, last]
    ]


def _russian_hour(match: re.Match[str]) -> list[Claim]:
    values = dates.russian_clock(int(match.group(1)), match.group(2).lower())
    return [Claim("time", match.group(), match.start(), match.end(), values)] if values else []


def _identifier(match: re.Match[str]) -> list[Claim]:
    return [] if _WITH_UNIT.fullmatch(match.group()) else _as("literal")(match)


def _marker(match: re.Match[str]) -> list[Claim]:
    return [
        Claim("marker", match.group(1), match.start(1), match.end(1), ((int(match.group(1)), 0),))
    ]


def _number(match: re.Match[str]) -> list[Claim]:
    start, end, text = match.start(), match.end(), match.string
    values = numbers.readings(match.group())
    scaled = numbers.MULTIPLIER.match(text, end)
    scale = 1
    if scaled:
        scale = 10 ** (3 * (scaled.lastindex or 0))
        values = tuple((numbers.settle(value * scale), decimals) for value, decimals in values)
    if _negative(text, start):
        start -= 1
        values = tuple((-value, decimals) for value, decimals in values)
    percent = bool(_PERCENT.match(text, end))
    return [Claim("number", text[start:end], start, end, values, scale, percent)]


_PERCENT = re.compile(r"[ \u00a0\u202f]?(?:%|percent\b|процент)")


def _negative(text: str, start: int) -> bool:
    return (
        start > 0
        and text[start - 1] in "-−"
        and (start == 1 or text[start - 2] in " \n(\u00a0:=")
        and not _LIST_DASH.search(text[max(0, start - 24) : start])
    )


_LIST_DASH = re.compile(r"(?:^|\n)[ \t]*[-−]$")


_TELLING = (
    frozenset(numbers.WORDS)
    | {word.replace("е", "ё") for word in numbers.WORDS}
    | {day.lower() for day in dates.WEEKDAYS}
)


def _words(result: Scan) -> None:
    """Take number words and weekdays; both are looked up in a table, word by word."""
    found: list[Claim] = []
    if _TELLING.isdisjoint(_WORD.findall(result.rest.lower())):
        return
    matches = list(_WORD.finditer(result.rest))
    for match in matches:
        day = dates.WEEKDAYS.get(match.group(), dates.WEEKDAYS.get(match.group().lower()))
        if day is not None:
            found.append(Claim("weekday", match.group(), match.start(), match.end(), (day,)))
    for start, end, value in numbers.spelled(matches, result.rest):
        values: tuple[tuple[Number, int], ...] = ((value, 0),)
        found.append(
            Claim(
                "number",
                result.rest[start:end],
                start,
                end,
                values,
                percent=bool(_PERCENT.match(result.rest, end)),
                spelled=True,
            )
        )
    for claim in found:
        result.rest = (
            result.rest[: claim.start] + MASK * (claim.end - claim.start) + result.rest[claim.end :]
        )
    result.claims += found


_MONTH = "month"
#: what a text must hold for the reader to run (any of these characters; a month's name), its
#: pattern, its reading
_READERS: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], list[Claim]]], ...] = (
    ("/w", _URL, _as("url", ".,;:!?*_")),
    ("@", _EMAIL, _as("email")),
    ("<", _PLACEHOLDER, _as("placeholder")),
    ("-", dates.ISO, _iso),
    ("-", dates.ISO_MONTH, _iso_month),
    ("./", dates.NUMERIC, _numeric_date),
    (_MONTH, dates.DAY_FIRST, _day_first),
    (_MONTH, dates.MONTH_FIRST, _month_first),
    (_MONTH, dates.MONTH_YEAR, _month_year),
    (_MONTH, dates.MONTH_ONLY, _month_only),
    (":", dates.CLOCK, _clock),
    ("mM", dates.HOUR, _hour),
    ("аиня", dates.RUSSIAN_HOUR, _russian_hour),
    ("+-)8.", _PHONE, _as("phone")),
    (".vV", _VERSION, _as("literal")),
    (".", _FILE, _as("literal")),
    (":", _RATIO, _as("literal")),
    ("#№", _HASH, _as("hash")),
    ("/", _SEVEN, _as("idiom")),
    ("", _ID, _identifier),
    (".)", _MARKER, _marker),
    ("", numbers.NUMERAL, _number),
)
