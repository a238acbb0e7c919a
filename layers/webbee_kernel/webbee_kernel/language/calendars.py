"""A tokenised text for date parsing, the names of months and weekdays (CLDR and the language file),
and relative dates: tomorrow, in three days, next Friday."""

from __future__ import annotations

from bisect import bisect_left
from calendar import monthrange
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from typing import Any

from .model import Language
from .numerals import by_word, small_number
from .resources import locale
from .stems import Mention, fold, folded_words, mention, tokens

_Widths = Mapping[str, Mapping[str, Mapping[int, str]]]


@dataclass(frozen=True, slots=True)
class DateNames:
    """Folded forms → number: months 1–12, weekdays 0 (Monday) to 6. Short and ambiguous ones count
    only next to a date."""

    months: Mapping[str, int]
    weekdays: Mapping[str, int]
    short_months: frozenset[str]
    short_weekdays: frozenset[str]
    ambiguous: frozenset[str]
    is_month_capitalised: bool


class TokenizedText:
    """The tokens of a text and their folded forms; positions are token indices."""

    def __init__(self, text: str, language: Language) -> None:
        self.text, self.language = text, language
        self.calendar, self.names = language.calendar, date_names(language)
        self.words = tokens(text)
        self.folded = [fold(w.text) for w in self.words]

    def has_word(self, at: int, words: str) -> bool:
        """Whether the token at a position, which may be out of range, is one of `words`."""
        return 0 <= at < len(self.folded) and self.folded[at] in folded_words(words)

    def at(self, start: int) -> int:
        """The position of the token that starts at this offset of the text, or the next one's."""
        return bisect_left(self.words, start, key=lambda word: word.start)

    def gap(self, at: int) -> str:
        """The text between a token and the next one."""
        end = self.words[at].end
        return self.text[end : self.words[at + 1].start] if at + 1 < len(self.words) else ""

    def mention(self, first: int, last: int, kind: str, *readings: Any) -> Mention:
        """A mention of the tokens from `first` to `last`, inclusive."""
        return mention(self.text, (self.words[first].start, self.words[last].end), kind, readings)


@lru_cache(maxsize=16)
def date_names(language: Language) -> DateNames:
    """The names of a language; loading CLDR's locale takes 20 ms."""
    cldr, calendar = locale(language.tag), language.calendar
    months, short_months = _merge_forms(cldr.months, calendar.months)
    weekdays, short_weekdays = _merge_forms(cldr.days, calendar.weekdays)
    ambiguous = folded_words(calendar.doubtful).union(map(fold, language.vocabulary))
    return DateNames(
        months,
        weekdays,
        short_months,
        short_weekdays,
        ambiguous.intersection(months),
        str(cldr.months["format"]["wide"][1])[0].isupper(),
    )


def is_time_name(word: str, language: Language) -> bool:
    """Whether a word is the short name of a month or a weekday: "Jan"."""
    known = date_names(language)
    return fold(word) in known.short_months | known.short_weekdays


def _merge_forms(cldr: _Widths, own: Mapping[str, str]) -> tuple[dict[str, int], frozenset[str]]:
    """All forms, and the abbreviations among them."""
    wide, short = dict(_forms(cldr, "wide")), dict(_forms(cldr, "abbreviated"))
    own_forms = {fold(w): int(number) for number, forms in own.items() for w in forms.split()}
    abbreviations = {w for w in own_forms if any(name.startswith(w) for name in wide)}
    return {**short, **own_forms, **wide}, frozenset(abbreviations.union(short).difference(wide))


def _forms(names: _Widths, width: str) -> Iterable[tuple[str, int]]:
    for context in ("format", "stand-alone"):
        for number, name in names[context][width].items():
            yield fold(str(name)).rstrip("."), int(number)


_UNIT_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}
_MAX_DAYS = 36_500  # a century


def relative_dates(source: TokenizedText, now: datetime) -> Iterator[Mention]:
    """The dates and periods relative to `now`."""
    today, days = now.date(), _days(source.language)
    for at, folded in enumerate(source.folded):
        for phrase, offset in days.get(folded, ()):
            first = at - phrase.count("_")
            is_match = first >= 0 and "_".join(source.folded[first : at + 1]) == phrase
            if is_match and not _is_half_of_day(source, first):
                yield _days_of(source, first, at, today + timedelta(days=offset))
        unit = source.language.words.units.get(source.language.stem(source.words[at].text), "")
        if unit in _UNIT_DAYS:
            yield from _count_phrases(source, at, unit, today)
        if unit in _UNIT_DAYS or folded in source.names.weekdays:
            yield from _next_or_last(source, at, unit, today)


def _is_half_of_day(source: TokenizedText, at: int) -> bool:
    """Whether a day word means "morning" here, as in Spanish "de la mañana"."""
    function = " ".join(source.language.words.forms("function"))
    return source.has_word(at, source.calendar.morning) and source.has_word(at - 1, function)


@lru_cache(maxsize=16)
def _days(language: Language) -> dict[str, list[tuple[str, int]]]:
    """Phrases (`day_after_tomorrow`) with their offset in days, by last word."""
    found: dict[str, list[tuple[str, int]]] = {}
    for phrase, offset in by_word(language.calendar.days).items():
        found.setdefault(phrase.rpartition("_")[2], []).append((phrase, offset))
    return found


def _count_phrases(source: TokenizedText, at: int, unit: str, today: date) -> Iterator[Mention]:
    """`in 3 days`, `3 days ago`, `hace 3 días`, `il y a 3 jours`."""
    count, first = 1, at
    if at and (number := _count(source, at - 1)):
        count, first = number, at - 1
    elif not source.calendar.bare_units:
        return
    for phrases, sign in ((source.calendar.ahead, 1), (source.calendar.ago, -1)):
        start = _phrase_before(source, first, phrases)
        if start is not None:
            yield from _offset_date(source, start, at, unit, sign * count, today)
            return
    if source.has_word(at + 1, source.calendar.ago):
        yield from _offset_date(source, first, at + 1, unit, -count, today)


def _count(source: TokenizedText, at: int) -> int:
    word = source.words[at]
    if word.text.isdigit() and len(word.text) < 6:
        return int(word.text)
    return int(small_number(word, source.language))


def _phrase_before(source: TokenizedText, first: int, phrases: str) -> int | None:
    """The start of a phrase (words joined by `_`) that ends directly before `first`, or None."""
    for phrase in phrases.split():
        parts = phrase.split("_")
        start = first - len(parts)
        if start >= 0 and source.folded[start:first] == parts:
            return start
    return None


def _offset_date(
    source: TokenizedText, first: int, last: int, unit: str, count: int, today: date
) -> Iterator[Mention]:
    if abs(count) * _UNIT_DAYS[unit] > _MAX_DAYS:
        return
    if unit in ("day", "week"):
        day = today + timedelta(days=count * _UNIT_DAYS[unit])
    else:
        day = _months_later(today, count * (12 if unit == "year" else 1))
    yield _days_of(source, first, last, day)


def _months_later(day: date, months: int) -> date:
    """The same day `months` later, or the last day of that month."""
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _next_or_last(source: TokenizedText, at: int, unit: str, today: date) -> Iterator[Mention]:
    """`next Friday`, `last week`, `la semaine prochaine`: next, last or this, before or after."""
    for other in (n for n in (at - 1, at + 1) if 0 <= n < len(source.folded)):
        steps = _steps(source.language).get(source.folded[other])
        if steps is not None:
            first, last = min(at, other), max(at, other)
            if unit in ("week", "month", "year"):
                begin, end = map(_triple, _period(unit, steps, today))
                found = source.mention(first, last, "period", (begin, end))
                yield found._replace(is_relative=True)
            elif unit:
                yield _days_of(source, first, last, today + timedelta(days=steps))
            else:
                days = _weekday(source.names.weekdays[source.folded[at]], steps, today)
                yield _days_of(source, first, last, *days)
            return


@lru_cache(maxsize=16)
def _steps(language: Language) -> dict[str, int]:
    """The words for next (1), last (-1) and this (0)."""
    words = language.calendar
    return by_word({"1": words.next}) | by_word({"-1": words.last}) | by_word({"0": words.this})


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
    """The candidate days: "next Friday" is the coming Friday or the one of next week."""
    week = timedelta(days=7)
    ahead = today + timedelta(days=(weekday - today.weekday()) % 7)
    this = today + timedelta(days=weekday - today.weekday())
    if steps > 0:
        return [ahead if ahead > today else ahead + week, this + week]
    return [ahead - week, this - week] if steps < 0 else [this, ahead]


def _days_of(source: TokenizedText, first: int, last: int, *days: date) -> Mention:
    triples = dict.fromkeys(map(_triple, days))
    return source.mention(first, last, "date", *triples)._replace(is_relative=True)


def _triple(day: date) -> tuple[int, int, int]:
    return day.year, day.month, day.day
