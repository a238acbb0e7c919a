"""A date or time of a reply: shown by a field in any form, or counted from one."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from functools import cached_property
from itertools import chain, islice
from typing import Any

from .. import language
from .figures import Figures, Ground, is_rough, shown
from .places import MESSAGE, Number, Place, key_words, settle
from .reading import Claim
from .units import kind_of, unit_behind

ABOUT = 10
"""Minutes that a time may be off where it is said to be about then."""
STARTS, LENGTHS, LONGEST_TIME = 60, 12, 1000
"""Dates from which others are counted, the lengths of time that are, and how many of a unit."""
MONTHS = 12
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d\d)")
_DAYS = {"day": 1, "week": 7, "month": 0, "year": 0}
"""Days of a unit, where every one has as many."""


class Dates(Figures):
    """Asks the index about dates, times, months and weekdays."""

    def _time(self, claim: Claim) -> Ground | None:
        off = ABOUT if is_rough(self.reading, claim) else 0
        held = self.index.times
        for minutes in claim.mention.readings:
            near = (own for m, own in held.items() if abs(m - minutes) <= off)
            if places := held.get(minutes) or list(chain.from_iterable(near)):
                return Ground(places, "formatted")
        found = shown(self.index.find(claim.token, ":."))
        return found or self._lasting(claim) or self._counted_time(claim)

    def _lasting(self, claim: Claim) -> Ground | None:
        """The length that may be told like a time: 405 seconds as 6:45."""
        figures = (p for m in claim.mention.readings for p in self.index.numbers.get(m, ()))
        held = [p for p in figures if kind_of(p.key) == "time"]
        return shown(held or self.measures.lengths(_seconds(claim.token)), "formatted")

    def _counted_time(self, claim: Claim) -> Ground | None:
        """The time that is some minutes or hours, which the data or the reply gives, from a shown
        one."""
        lengths = [
            n * (1 if unit == "minute" else 60) for n, unit in self._lengths("minute", "hour")
        ]
        starts = list(islice(self.index.times, STARTS))
        if self.at:
            starts.append(self.at.hour * 60 + self.at.minute)
        for minutes in claim.mention.readings:
            for length in lengths:
                if any(minutes in ((s + length) % 1440, (s - length) % 1440) for s in starts):
                    return Ground([], "derived", f"{length} minutes from a time")
        return None

    def _date(self, claim: Claim) -> Ground | None:
        for year, month, day in claim.mention.readings:
            if places := self._on(year, month, day):
                return Ground(places, "formatted")
        if claim.mention.relative:
            return Ground([], "derived", "from today")
        if any(self.today and self._same(at, self.today) for at in claim.mention.readings):
            return Ground([], "derived", "today")
        return self._decimal(claim) or self._written(claim) or self._counted(claim)

    def _decimal(self, claim: Claim) -> Ground | None:
        """The figures that what looks like a date at a sentence's end may be: "it is 1.5."."""
        ends = self.reading.sentence(claim.start).end <= claim.end + 2
        value = claim.token[:-1] if ends and claim.token[-1:] == "." else "-"
        if value.count(".") != 1 or not value.replace(".", "").isdecimal():
            return None
        return shown(self.index.numbers.get(settle(float(value)), ()))

    def _moment(self, claim: Claim) -> Ground | None:
        for at in claim.mention.readings:
            times = {p.path for p in self.index.times.get(at.hour * 60 + at.minute, ())}
            both = [p for p in self._on(at.year, at.month, at.day) if p.path in times]
            if both:
                return Ground(both, "formatted")
        return None

    def _month(self, claim: Claim) -> Ground | None:
        for year, month in claim.mention.readings:
            days = (own for (m, _), own in self.index.dates.items() if m == month)
            held = [p for own in days for y, p in own if year in (None, y) or y is None]
            if held:
                return Ground(held, "formatted")
        return None

    def _weekday(self, claim: Claim) -> Ground | None:
        wanted = set(claim.mention.readings)
        if beside := self._beside(claim):
            fits = wanted & self._weekdays(beside)
            on = [p for at in beside.mention.readings for p in self._on(*_day(at))]
            return Ground(on, "formatted" if on else "derived", "weekday") if fits else None
        days = self.index.dates.items()
        held = [p for (m, d), own in days for y, p in own if y and _weekday(y, m, d) in wanted]
        return shown(held, "formatted")

    def _period(self, claim: Claim) -> Ground | None:
        return Ground([], "derived", "period")

    def _beside(self, claim: Claim) -> Claim | None:
        """The date that stands right behind a weekday."""
        near = self.reading.inside(self.reading.sentence(claim.start))
        dated = (c for c in near if c.kind in ("date", "moment") and not c.mention.relative)
        return next((c for c in dated if 0 <= c.start - claim.end <= 4), None)

    def _weekdays(self, claim: Claim) -> set[int]:
        """The days of the week that a date can be, in the years that the index has for it."""
        found, near = set(), [self.today.year] if self.today else []
        for at in claim.mention.readings:
            year, month, day = _day(at)
            years = [y for y, _ in self.index.dates.get((month, day), ()) if y] or near
            found |= {_weekday(y, month, day) for y in ([year] if year else years)}
        return found

    def _on(self, year: int | None, month: int, day: int) -> list[Place]:
        held = self.index.dates.get((month, day), [])
        return [place for y, place in held if year is None or y in (None, year)]

    @staticmethod
    def _same(at: Sequence[int | None], day: date) -> bool:
        return (at[0] or day.year, at[1], at[2]) == (day.year, day.month, day.day)

    def _counted(self, claim: Claim) -> Ground | None:
        """The date that is some days, weeks or months, which the data or the reply gives, before or
        after one of the data, of the reply or today."""
        lengths = self._lengths(*_DAYS)
        for start, name in self._starts:
            for count, unit in lengths:
                for end in (_after(start, count, unit), _after(start, -count, unit)):
                    if end and any(self._same(at, end) for at in claim.mention.readings):
                        return Ground([], "derived", f"{name} {start} +- {count} {unit}s")
        return None

    @cached_property
    def _starts(self) -> list[tuple[date, str]]:
        """The dates from which others are counted."""
        found = [(self.today, "today")] if self.today else []
        for (month, day), held in islice(self.index.dates.items(), STARTS):
            for year, place in held[:2]:
                if year and _weekday(year, month, day) >= 0:
                    found.append((date(year, month, day), place.path))
        return found

    def _lengths(self, *units: str) -> list[tuple[int, str]]:
        """The lengths of time in some units, found once a reply."""
        if units not in self._known_lengths:
            self._known_lengths[units] = self._find_lengths(units)
        return self._known_lengths[units]

    @cached_property
    def _known_lengths(self) -> dict[tuple[str, ...], list[tuple[int, str]]]:
        return {}

    def _find_lengths(self, units: tuple[str, ...]) -> list[tuple[int, str]]:
        """The lengths of time that keys of the data name the unit of, or that the reply or the
        message tells."""
        known = language.of("en").words.units
        told = [(p.value, known.get(w, "")) for p in self.index.figures for w in key_words(p.key)]
        told += [(c.mention.value, self.unit(c)) for c in self.reading.claims if c.kind == "number"]
        whole = [
            (int(n), u)
            for n, u in (*told, *self._named_lengths())
            if u in units and n and 0 < n <= LONGEST_TIME and n == int(n)
        ]
        return list(dict.fromkeys(whole))[:LENGTHS]

    def _named_lengths(self) -> Iterator[tuple[Number, str]]:
        """The lengths of time that the message tells: "in the next two weeks"."""
        spoken = self.reading.language
        for text in (p.value for p in self.index.strings if p.call == MESSAGE):
            for one in language.numbers(text, spoken.tag):
                yield one.value, unit_behind(text, one.end, spoken)


def _seconds(token: str) -> list[int]:
    """The seconds that a token like a time of day may stand for: 4:05 is minutes and seconds, or
    hours and minutes."""
    found = _CLOCK.fullmatch(token)
    if not found:
        return []
    first, middle, last = (int(part or 0) for part in found.groups())
    seconds = 3600 * first + 60 * middle + last
    return [seconds] if found[1] else [seconds, 60 * seconds]


def _day(at: Any) -> tuple[int | None, int, int]:
    return at if isinstance(at, tuple) else (at.year, at.month, at.day)


def _weekday(year: int, month: int, day: int) -> int:
    try:
        return date(year, month, day).weekday()
    except ValueError:
        return -1


def _after(start: date, count: int, unit: str) -> date | None:
    """The date some days, weeks or months after another; none beyond the calendar."""
    try:
        if _DAYS.get(unit):
            return start + timedelta(days=count * _DAYS[unit])
        months = start.year * MONTHS + start.month - 1 + count * (MONTHS if unit == "year" else 1)
        year, month = divmod(months, MONTHS)
        return date(year, month + 1, min(start.day, monthrange(year, month + 1)[1]))
    except (ValueError, OverflowError):
        return None
