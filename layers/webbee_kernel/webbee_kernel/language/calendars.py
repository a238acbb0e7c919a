"""A text whose dates are looked for, beside the names of months and weekdays (CLDR's, and further
forms of the language's file), and dates counted from now: tomorrow, in three days, next Friday."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any, Final

from .model import Language
from .numerals import simple, values
from .resources import locale
from .stems import Mention, fold, folded_words, mention, stem, tokens

_Widths = Mapping[str, Mapping[str, Mapping[int, str]]]


@dataclass(frozen=True, slots=True)
class Names:
    """Folded forms → number: months 1–12, weekdays 0 (Monday) to 6. The short ones, and the
    doubtful ones (words of another meaning too), count only beside a date."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    short_months: frozenset[str]
    short_weekdays: frozenset[str]
    doubtful: frozenset[str]
    capitals: bool  # months are written with a capital


class DatedText:
    """A text in words, folded, of one language. Places are those of its words; behind its end there
    are none."""

    def __init__(self, text: str, language: Language) -> None:
        self.text, self.language = text, language
        self.calendar, self.names = language.calendar, names(language)
        self.words = tokens(text)
        self.folded = [fold(w.text) for w in self.words]

    def is_one_of(self, at: int, words: str) -> bool:
        """Whether the word at a place stands in a list as the language's file has it."""
        return 0 <= at < len(self.folded) and self.folded[at] in folded_words(words)

    def gap(self, at: int) -> str:
        """What stands between a word and the next one."""
        end = self.words[at].end
        return self.text[end : self.words[at + 1].start] if at + 1 < len(self.words) else ""

    def mention(self, first: int, last: int, kind: str, *readings: Any) -> Mention:
        """What the words from one place to another mention."""
        return mention(self.text, (self.words[first].start, self.words[last].end), kind, readings)


@lru_cache(maxsize=16)
def names(language: Language) -> Names:
    """The names of a language; CLDR's locale is 20 ms of reading."""
    cldr, calendar = locale(language.tag), language.calendar
    months, short_months = _together(cldr.months, calendar.months)
    weekdays, short_weekdays = _together(cldr.days, calendar.weekdays)
    doubtful = folded_words(calendar.doubtful).union(map(fold, language.vocabulary))
    return Names(
        months,
        weekdays,
        short_months,
        short_weekdays,
        doubtful.intersection(months),
        str(cldr.months["format"]["wide"][1])[0].isupper(),
    )


def names_time(word: str, language: Language) -> bool:
    """Whether a word is the short name of a month or a weekday: "Jan"."""
    known = names(language)
    return fold(word) in known.short_months | known.short_weekdays


def _together(cldr: _Widths, own: Mapping[str, str]) -> tuple[dict[str, int], frozenset[str]]:
    """All forms, and the short ones: abbreviations, and forms of the file that begin a name."""
    wide, short = dict(_forms(cldr, "wide")), dict(_forms(cldr, "abbreviated"))
    more = {fold(w): int(number) for number, forms in own.items() for w in forms.split()}
    begins = {w for w in more if any(name.startswith(w) for name in wide)}
    return {**short, **more, **wide}, frozenset(begins.union(short).difference(wide))


def _forms(names: _Widths, width: str) -> Iterable[tuple[str, int]]:
    for context in ("format", "stand-alone"):
        for number, name in names[context][width].items():
            yield fold(str(name)).rstrip("."), int(number)


_LENGTHS = {"day": 1, "week": 7, "month": 31, "year": 366}
_MOST = 36_500  # days: beyond a century nothing is counted


def relative_dates(read: DatedText, now: datetime) -> Iterator[Mention]:
    """The dates and periods that a text counts from `now`."""
    today, days = now.date(), _days(read.language)
    for at, folded in enumerate(read.folded):
        for phrase, ahead in days.get(folded, ()):
            first = at - phrase.count("_")
            is_said = first >= 0 and "_".join(read.folded[first : at + 1]) == phrase
            if is_said and not _is_half_of_day(read, first):
                yield _days_of(read, first, at, today + timedelta(days=ahead))
        unit = read.language.words.units.get(read.language.stem(read.words[at].text), "")
        if unit in _LENGTHS:
            yield from _counted(read, at, unit, today)
        if unit in _LENGTHS or folded in read.names.weekdays:
            yield from _neighbour(read, at, unit, today)


def _is_half_of_day(read: DatedText, at: int) -> bool:
    """Whether a word of a day is "morning" here: `a.m.` after it in Spanish."""
    function = " ".join(read.language.words.forms("function"))
    return read.is_one_of(at, read.calendar.morning) and read.is_one_of(at - 1, function)


@lru_cache(maxsize=16)
def _days(language: Language) -> dict[str, list[tuple[str, int]]]:
    """Words and phrases (`day_after_tomorrow`) of days, by their last word."""
    found: dict[str, list[tuple[str, int]]] = {}
    for phrase, ahead in values(language.calendar.days).items():
        found.setdefault(phrase.rpartition("_")[2], []).append((phrase, ahead))
    return found


def _counted(read: DatedText, at: int, unit: str, today: date) -> Iterator[Mention]:
    """`in 3 days`, `3 days ago`, `hace 3 días`, `il y a 3 jours`."""
    count, first = 1, at
    if at and (number := _count(read, at - 1)):
        count, first = number, at - 1
    elif not read.calendar.bare_units:
        return
    for phrases, way in ((read.calendar.ahead, 1), (read.calendar.ago, -1)):
        start = _phrase_before(read, first, phrases)
        if start is not None:
            yield from _shifted(read, start, at, unit, way * count, today)
            return
    if read.is_one_of(at + 1, read.calendar.ago):
        yield from _shifted(read, first, at + 1, unit, -count, today)


def _count(read: DatedText, at: int) -> int:
    word = read.words[at]
    if word.text.isdigit() and len(word.text) < 6:
        return int(word.text)
    return int(simple(word, read.language))


def _phrase_before(read: DatedText, first: int, phrases: str) -> int | None:
    """Where a phrase (its words joined by `_`) begins that ends right before a place."""
    for phrase in phrases.split():
        parts = phrase.split("_")
        start = first - len(parts)
        if start >= 0 and read.folded[start:first] == parts:
            return start
    return None


def _shifted(
    read: DatedText, first: int, last: int, unit: str, count: int, today: date
) -> Iterator[Mention]:
    if abs(count) * _LENGTHS[unit] > _MOST:
        return
    if unit in ("day", "week"):
        day = today + timedelta(days=count * _LENGTHS[unit])
    else:
        day = _months_later(today, count * (12 if unit == "year" else 1))
    yield _days_of(read, first, last, day)


def _months_later(day: date, months: int) -> date:
    """The same day so many months later, or the last one of that month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _neighbour(read: DatedText, at: int, unit: str, today: date) -> Iterator[Mention]:
    """`next Friday`, `last week`, `la semaine prochaine`: next, last or this on either side."""
    for other in (n for n in (at - 1, at + 1) if 0 <= n < len(read.folded)):
        steps = _steps(read.language).get(read.folded[other])
        if steps is not None:
            first, last = min(at, other), max(at, other)
            if unit in ("week", "month", "year"):
                begin, end = map(_triple, _period(unit, steps, today))
                found = read.mention(first, last, "period", (begin, end))
                yield found._replace(relative=True)
            elif unit:
                yield _days_of(read, first, last, today + timedelta(days=steps))
            else:
                days = _weekday(read.names.weekdays[read.folded[at]], steps, today)
                yield _days_of(read, first, last, *days)
            return


@lru_cache(maxsize=16)
def _steps(language: Language) -> dict[str, int]:
    """How far the words for next, last and this lead."""
    told = language.calendar
    return values({"1": told.next}) | values({"-1": told.last}) | values({"0": told.this})


def _period(unit: str, steps: int, today: date) -> tuple[date, date]:
    """The first and the last day of a week, month or year."""
    if unit == "week":
        first = today - timedelta(days=today.weekday()) + timedelta(weeks=steps)
        return first, first + timedelta(days=6)
    if unit == "month":
        first = _months_later(today.replace(day=1), steps)
        return first, first.replace(day=monthrange(first.year, first.month)[1])
    return date(today.year + steps, 1, 1), date(today.year + steps, 12, 31)


def _weekday(weekday: int, steps: int, today: date) -> list[date]:
    """The days that it may be: "next Friday" is the coming one to some, the one of next week to
    others."""
    week = timedelta(days=7)
    ahead = today + timedelta(days=(weekday - today.weekday()) % 7)
    this = today + timedelta(days=weekday - today.weekday())
    if steps > 0:
        return [ahead if ahead > today else ahead + week, this + week]
    return [ahead - week, this - week] if steps < 0 else [this, ahead]


def _days_of(read: DatedText, first: int, last: int, *days: date) -> Mention:
    triples = dict.fromkeys(map(_triple, days))
    return read.mention(first, last, "date", *triples)._replace(relative=True)


def _triple(day: date) -> tuple[int, int, int]:
    return day.year, day.month, day.day


_CITY: Final = 3
"""Words of a city's name."""


def zone_in(text: str, tag: str) -> str:
    """The time zone of the first city that a text names, by CLDR's names in the language and those
    of the zones themselves: "Tokyo", "в Токио" → Asia/Tokyo; empty without one."""
    words, named = [stem(word.text, tag) for word in tokens(text)], _zones(tag)
    sizes = range(_CITY, 0, -1)
    runs = (tuple(words[n : n + size]) for size in sizes for n in range(len(words) - size + 1))
    return next((named[run] for run in runs if run in named), "")


@lru_cache(maxsize=16)
def _zones(tag: str) -> dict[tuple[str, ...], str]:
    """The zones by the stems of their cities' names."""
    from babel.core import get_global

    usual = {
        zone: zone.rpartition("/")[2] for zone in get_global("zone_territories") if "/" in zone
    }
    told = {zone: str(dict(of).get("city", "")) for zone, of in locale(tag).time_zones.items()}
    names = [*usual.items(), *told.items()]
    known = (
        (tuple(stem(w.text, tag) for w in tokens(name.replace("_", " "))), zone)
        for zone, name in names
    )
    return {city: zone for city, zone in known if city}
