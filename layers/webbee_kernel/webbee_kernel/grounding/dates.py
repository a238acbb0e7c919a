"""A date or time of a reply: shown by a field in any form, or counted from one."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, timedelta
from functools import cached_property, partial
from itertools import islice, product

from .. import language
from ..language.units import unit_after
from .figures import Figures, Ground, is_rough, shown
from .places import MESSAGE, Place, day_of, key_words, settle, unit_of_key
from .reading import Claim

ABOUT = 10
"""Minutes that a time may be off where it is said to be about then."""
STARTS, LENGTHS, LONGEST_TIME = 60, 12, 1000
"""Dates from which others are counted, the lengths of time that are, and how many of a unit."""
MONTHS, HOUR, DAY = 12, 60, 1440
_DAYS = {"day": 1, "week": 7, "month": 0, "year": 0}
"""Days of a unit, where every one has as many."""
_MINUTES = {"minute": 1, "hour": HOUR}
_NUMBERS = re.compile(r"\d+")
_FIGURE = re.compile(r"(\d+\.\d+)\.")
Day = tuple[int | None, int, int]


class Dates:
    """Asks the index about dates, times, months and weekdays of one reply."""

    def __init__(self, figures: Figures) -> None:
        self._figures, self._reading, self._index = figures, figures.reading, figures.index
        self._today = figures.at.date() if figures.at else None
        self._lengths_of: dict[tuple[str, ...], list[int]] = {}

    def time(self, claim: Claim) -> Ground | None:
        """The times of the data at a time of day, or about then; some minutes from one."""
        off, held = ABOUT if is_rough(self._reading, claim) else 0, self._index.times
        stands = partial(self._index.find, claim.token, ":.")
        if claim.token.count(":") > 1 and (found := stands()):
            return Ground(found, "formatted")  # 1:18:40
        for minutes in claim.mention.readings:
            near = range(minutes - off, minutes + off + 1)
            if found := held.get(minutes) or [p for m in near for p in held.get(m, ())]:
                return Ground(found, "formatted")
        if found := stands():
            return Ground(found, "formatted")
        if not self._countable_times.isdisjoint(claim.mention.readings):
            return Ground([], "derived", "counted from a time")
        numbers = self._index.numbers  # "9:34" goals
        one, other = (numbers.get(int(n), ()) for n in [*_NUMBERS.findall(claim.token), -1, -1][:2])
        both = {p.owner for p in one if p.owner} & {p.owner for p in other}
        return shown([p for p in one if p.owner in both])

    @cached_property
    def _countable_times(self) -> set[int]:
        """The times that are some minutes or hours before or after one of the data or now."""
        now, lengths = self._figures.at, self._lengths(_MINUTES)
        starts = [*islice(self._index.times, STARTS)]
        starts += [now.hour * HOUR + now.minute] if now else []
        return {(start + sign * n) % DAY for start in starts for n in lengths for sign in (1, -1)}

    def day(self, claim: Claim) -> Ground | None:
        """The dates of the data on a day; today, or counted from one."""
        beside = self.beside(claim) if claim.mention.relative else None
        if beside and not self._is_same_day(claim, beside):
            return None  # "next Tuesday, 9 December", which is a Wednesday
        for at in claim.mention.readings:
            if places := self._on(at):
                return Ground(places, "formatted")
        today = (self._today and _same(at, self._today) for at in claim.mention.readings)
        if claim.mention.relative or any(today):
            return Ground([], "derived", "from today")
        figure = _FIGURE.fullmatch(claim.token)  # at the end of a sentence: "it is 1.5."
        held = self._index.numbers.get(settle(float(figure[1])), ()) if figure else ()
        found = shown(held) or shown(self._index.find(claim.token, "-."))
        return found or self._counted(claim)

    def moment(self, claim: Claim) -> Ground | None:
        """The moments of the data on a day at a time."""
        for at in claim.mention.readings:
            times = {p.path for p in self._index.times.get(at.hour * HOUR + at.minute, ())}
            if both := [p for p in self._on(day_of(at)) if p.path in times]:
                return Ground(both, "formatted")
        return None

    def month(self, claim: Claim) -> Ground | None:
        """The dates of the data in a month."""
        for year, month in claim.mention.readings:
            days = (own for (m, _), own in self._index.dates.items() if m == month)
            held = [p for own in days for y, p in own if year in (None, y) or y is None]
            if held:
                return Ground(held, "formatted")
        return None

    def weekday(self, claim: Claim) -> Ground | None:
        """The date beside a weekday, where it is one; else the dates of the data that are."""
        wanted = set(claim.mention.readings)
        if beside := self.beside(claim):
            days = [day_of(at) for at in beside.mention.readings]
            on = [p for at in days for p in self._on(at)]
            fits = any(wanted & self._weekdays(at) for at in days)
            return Ground(on, "formatted" if on else "derived", "weekday") if fits else None
        return shown([p for day in wanted for p in self._on_weekdays.get(day, ())])

    @cached_property
    def _on_weekdays(self) -> dict[int, list[Place]]:
        """The dates of the data by their day of the week."""
        found: dict[int, list[Place]] = {}
        for (month, day), held in self._index.dates.items():
            for year, place in held:
                found.setdefault(_weekday(year, month, day), []).append(place)
        return found

    def ordinal(self, claim: Claim) -> Ground | None:
        """The dates of which an ordinal in figures is the day: "on the 24th"."""
        if not claim.token[:1].isdigit():
            return None
        return shown(self._index.days.get(claim.mention.value, []))

    def beside(self, claim: Claim) -> Claim | None:
        """The date that stands right behind a weekday."""
        near = self._reading.inside(self._reading.sentence(claim.start))
        dated = (c for c in near if c.kind in ("date", "moment") and not c.mention.relative)
        return next((c for c in dated if 0 <= c.start - claim.end <= 4), None)

    @staticmethod
    def _is_same_day(one: Claim, other: Claim) -> bool:
        days = {day_of(at)[1:] for at in one.mention.readings}
        return any(day_of(at)[1:] in days for at in other.mention.readings)

    def _on(self, at: Day) -> list[Place]:
        year, month, day = at
        held = self._index.dates.get((month, day), [])
        return [place for y, place in held if year is None or y in (None, year)]

    def _weekdays(self, at: Day) -> set[int]:
        """The days of the week that a date can be, in the years that the index has for it."""
        year, month, day = at
        near = [self._today.year] if self._today else []
        held = [y for y, _ in self._index.dates.get((month, day), ()) if y]
        distant = all(abs(y - now) > 1 for y in held for now in near)  # a day of birth
        years = [*held, *near] if distant else held
        return {_weekday(y, month, day) for y in ([year] if year else years)}

    def _counted(self, claim: Claim) -> Ground | None:
        """The date that is some days, weeks or months, which the data, the reply or the message
        gives, before or after one of the data or today."""
        made = (self._countable_days.get(at) for at in claim.mention.readings)
        formula = next(filter(None, made), None)
        return Ground([], "derived", formula) if formula else None

    @cached_property
    def _countable_days(self) -> dict[Day, str]:
        """The days that are some days, weeks or months before or after one of the data or today,
        with a year and without, and how each is counted."""
        found: dict[Day, str] = {}
        for unit, count, start in self._steps():
            for end in (_after(start, count, unit), _after(start, -count, unit)):
                if end:
                    formula = f"{start} +- {count} {unit}s"
                    for year in (end.year, None):
                        found.setdefault((year, end.month, end.day), formula)
        return found

    def _steps(self) -> Iterator[tuple[str, int, date]]:
        for unit in _DAYS:
            yield from ((unit, *pair) for pair in product(self._lengths({unit: 1}), self._starts))

    @cached_property
    def _starts(self) -> list[date]:
        """The dates from which others are counted."""
        found = [self._today] if self._today else []
        for (month, day), held in islice(self._index.dates.items(), STARTS):
            found += [
                date(y, month, day) for y, _ in held[:2] if _weekday(y, month, day) >= 0 and y
            ]
        return found

    def _lengths(self, sizes: dict[str, int]) -> list[int]:
        """The lengths of time in some units that keys of the data name the unit of, or that the
        reply or the message tells."""
        known = tuple(sizes)
        if known not in self._lengths_of:
            told = [
                int(n) * sizes[unit]
                for n, unit in self._told_lengths
                if unit in sizes and n and 0 < n <= LONGEST_TIME and n == int(n)
            ]
            self._lengths_of[known] = list(dict.fromkeys(told))[:LENGTHS]
        return self._lengths_of[known]

    @cached_property
    def _told_lengths(self) -> list[tuple[int | float, str]]:
        return list(self._find_lengths())

    def _find_lengths(self) -> Iterator[tuple[int | float, str]]:
        spoken = self._reading.language
        for place in self._index.figures:
            yield from ((place.value, unit_of_key(word).name) for word in key_words(place.key))
        for claim in self._reading.claims:
            if claim.kind == "number":
                yield claim.mention.value, self._figures.unit(claim).name
        for text in (p.value for p in self._index.strings if p.call == MESSAGE):
            for one in language.numbers(text, spoken.tag):
                yield one.value, unit_after(text, one.end, spoken).name


def _same(at: Day, day: date) -> bool:
    return (at[0] or day.year, at[1], at[2]) == (day.year, day.month, day.day)


def _weekday(year: int | None, month: int, day: int) -> int:
    """The day of the week of a date; -1 where there is no such date."""
    try:
        return date(year or 0, month, day).weekday()
    except ValueError:
        return -1


def _after(start: date, count: int, unit: str) -> date | None:
    """The date some days, weeks or months after another; none beyond the calendar."""
    try:
        if _DAYS[unit]:
            return start + timedelta(days=count * _DAYS[unit])
        months = start.year * MONTHS + start.month - 1 + count * (MONTHS if unit == "year" else 1)
        year, month = divmod(months, MONTHS)
        return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))
    except (ValueError, OverflowError):
        return None
