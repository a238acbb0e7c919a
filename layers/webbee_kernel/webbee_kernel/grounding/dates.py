"""Grounds of dates and times: a field in any form, or an offset from one."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from functools import cached_property, partial
from itertools import chain, islice, pairwise

from .. import language
from ..language.stems import folded_words
from ..language.units import unit_after
from .figures import Figures, Ground, ground_of
from .places import MESSAGE, Number, Owner, Place, day_of, key_words, unit_of_key
from .reading import Claim

MAX_STARTS, MAX_LENGTHS, MAX_UNITS = 60, 12, 20_000
"""Maximum start dates, durations, and number of units for offset dates."""
MONTHS, HOUR = 12, 60
_DAYS = {"day": 1, "week": 7, "month": 0, "year": 0}
"""Days of a unit of fixed length, else 0."""
_MINUTES = {"second": 1 / 60, "minute": 1, "hour": HOUR}
_UNITS = _DAYS.keys() | _MINUTES.keys()
ZONE = 15
"""Minutes; offsets of zones are multiples of it."""
_UTC = re.compile(r"\s?(?:UTC|GMT)\b")
_NEXT = 12
"""Characters behind a day in which a range goes on: "Monday to Wednesday"."""
_JOINED = re.compile(r"\s?[-\u2013\u2014&]")
Day = tuple[int | None, int, int]
Start = date | datetime


class Dates:
    """Looks up dates, times, months and weekdays of one reply."""

    def __init__(self, figures: Figures) -> None:
        self._figures, self._reading, self._index = figures, figures.reading, figures.index
        self._today = figures.at.date() if figures.at else None

    def time(self, claim: Claim) -> Ground | None:
        """The times of the data equal to, approximately at, or offset from a time of day."""
        times = self._index.times
        stands = partial(self._index.find, claim.token, ":.")
        if claim.token.count(":") > 1 and (found := stands()):
            return Ground(found, "formatted")  # 1:18:40
        told = claim.mention.readings
        if found := next(filter(None, (times.get(m) for m in told)), []) or stands():
            return Ground(found, "formatted")
        formula = next(filter(None, map(self._offset_dates[1].get, told)), "")
        formula = formula or self._in_zone(claim)
        return Ground([], "derived", formula) if formula else None

    def _in_zone(self, claim: Claim) -> str:
        """How a time follows from one of the data that its sentence tells as UTC: "13:05 UTC, 16:05
        in Moscow"."""
        if _UTC.match(self._reading.text, claim.end):
            return ""
        for one in self._reading.claims_in(self._reading.sentence(claim.start)):
            is_utc = one.kind == "time" and _UTC.match(self._reading.text, one.end)
            held = [m for m in one.mention.readings if m in self._index.times] if is_utc else []
            if any((m - told) % ZONE == 0 for m in held for told in claim.mention.readings):
                return f"{one.token} UTC +- hours"
        return ""

    def day(self, claim: Claim) -> Ground | None:
        """The dates of the data on a day; today, or an offset date."""
        for at in claim.mention.readings:
            if places := self._on(at):
                return Ground(places, "formatted")
        today = (self._today and _same(at, self._today) for at in claim.mention.readings)
        if claim.mention.is_relative or any(today):
            return Ground([], "derived", "from today")
        found = ground_of(self._index.find(claim.token, "-."))
        formula = next(filter(None, map(self._offset_dates[0].get, claim.mention.readings)), "")
        return found or (Ground([], "derived", formula) if formula else None)

    def moment(self, claim: Claim) -> Ground | None:
        """The moments of the data on a day at a time."""
        for at in claim.mention.readings:
            # both of one field: the day of one and the time of another make no moment
            times = {p.path for p in self._index.times.get(at.hour * HOUR + at.minute, ())}
            if both := [p for p in self._on(day_of(at)) if p.path in times]:
                return Ground(both, "formatted")
        return None

    def month(self, claim: Claim) -> Ground | None:
        """The dates of the data in a month."""
        for year, month in claim.mention.readings:
            days = (own for (m, _), own in self._index.dates.items() if m == month)
            if held := [p for own in days for y, p in own if year in (None, y) or y is None]:
                return Ground(held, "formatted")
        return None

    def weekday(self, claim: Claim) -> Ground | None:
        """The dates of the data on a day of the week."""
        days = self._index.cached("weekdays", self._weekdays)
        return ground_of([p for day in claim.mention.readings for p in days.get(day, ())])

    def wrong_weekdays(self) -> Iterator[tuple[Claim, str]]:
        """The weekdays and relative days that do not fit the date next to them, each with the
        date."""
        for named, dated in self._days_beside_dates():
            days = [*chain.from_iterable(map(self._nearest, dated.mention.readings))]
            told = {on.weekday() for on in days}.union((on.year, on.month, on.day) for on in days)
            if days and told.isdisjoint(named.mention.readings):
                yield named, days[0].isoformat()

    def _days_beside_dates(self) -> Iterator[tuple[Claim, Claim]]:
        earlier = ""
        for one, other in pairwise(self._reading.claims):
            named, dated = (one, other) if _names_day(one) else (other, one)
            is_date = dated.kind in ("date", "moment") and not dated.mention.is_relative
            # of "Monday and Tuesday, 4 and 5 May" each day has its own
            is_apart = _names_day(named) and earlier != "weekday"
            if is_date and is_apart and self._is_beside(one, other):
                yield named, dated
            earlier = one.kind

    def _is_beside(self, one: Claim, other: Claim) -> bool:
        """Whether two values are adjacent and the second does not begin a range."""
        text = self._reading.text
        between = text[one.end : other.start].strip(" ,.*_(\u00a0")
        ranges = folded_words(self._reading.language.calendar.until)
        behind = [language.fold(word.text) for word in language.tokens(text[other.end :][:_NEXT])]
        is_range = _names_day(other) and not ranges.isdisjoint(behind[:1])
        return not (between or is_range or _JOINED.match(text, other.end))

    def _nearest(self, at: Day | datetime) -> list[date]:
        """The possible days of a date: in its own year, else in years of the data, else in this
        year and its neighbours."""
        year, month, day = day_of(at) if isinstance(at, datetime) else at
        held = {y for y, _ in self._index.dates.get((month, day), ()) if y}
        now = self._figures.year
        years = [year] if year else [*held] or ([now, now - 1, now + 1] if now else [])
        return [on for y in years if (on := _date(y, month, day))]

    def ordinal(self, claim: Claim) -> Ground | None:
        """The dates with an ordinal in digits as day: "on the 24th"."""
        if not claim.token[:1].isdigit():
            return None
        return ground_of(self._index.days.get(claim.mention.value, []))

    def _weekdays(self) -> dict[int, list[Place]]:
        found: dict[int, list[Place]] = {}
        for (month, day), held in self._index.dates.items():
            for year, place in held:
                if on := _date(year, month, day):
                    found.setdefault(on.weekday(), []).append(place)
        return found

    def _on(self, at: Day) -> list[Place]:
        year, month, day = at
        held = self._index.dates.get((month, day), [])
        return [place for y, place in held if year is None or y in (None, year)]

    @cached_property
    def _offset_dates(self) -> tuple[dict[Day, str], dict[int, str]]:
        """The days (with and without year) and times offset by a duration, with their formulas.
        Durations of reply, message and outside rows apply to all starts, those of a row only to
        its own."""
        days: dict[Day, str] = {}
        times: dict[int, str] = {}
        for start, owner in self._starts:
            records = (owner[:end] for end in range(len(owner) + 1))
            lengths = chain.from_iterable(self._lengths.get(r, ()) for r in records)
            for count, unit in lengths:
                for end in (_after(start, count, unit), _after(start, -count, unit)):
                    formula = f"{start} +- {count} {unit}s"
                    if isinstance(end, datetime):
                        times.setdefault(end.hour * HOUR + end.minute, formula)
                    # times without a day stand on the calendar's first: no date follows from them
                    if end and start.year > 1:
                        days.setdefault((end.year, end.month, end.day), formula)
                        days.setdefault((None, end.month, end.day), formula)
        return days, times

    @cached_property
    def _starts(self) -> list[tuple[Start, Owner]]:
        """Now, and the moments, days and times of the data, with their records."""
        now = self._figures.at
        # as it is written: the data's times are read without their zones, too
        found: list[tuple[Start, Owner]] = [(now.replace(tzinfo=None), ())] if now else []
        timed = {p.path: (at, p) for at, own in self._index.times.items() for p in own[:MAX_STARTS]}
        for (month, day), held in islice(self._index.dates.items(), MAX_STARTS):
            for year, place in held[:MAX_STARTS]:
                minutes, _ = timed.pop(place.path, (None, place))
                if on := _date(year, month, day):
                    found.append((on if minutes is None else _at(on, minutes), place.owner))
        found += [(_at(date.min, at), place.owner) for at, place in timed.values()]
        return found[:MAX_STARTS]

    @cached_property
    def _lengths(self) -> dict[Owner, list[tuple[int, str]]]:
        """The durations by record, by unit in their key; under () those of reply, message and
        outside rows."""
        found: dict[Owner, dict[tuple[int, str], None]] = {}
        for n, unit, owner in self._find_lengths():
            if unit in _UNITS and n and 0 < n <= MAX_UNITS and n == int(n):
                found.setdefault(owner, {})[int(n), unit] = None
        return {owner: list(own)[:MAX_LENGTHS] for owner, own in found.items()}

    def _find_lengths(self) -> Iterator[tuple[Number, str, Owner]]:
        spoken = self._reading.language
        for place in self._index.figures:
            owner = place.owner if self._index.is_row(place.owner) else ()
            yield from ((place.value, unit_of_key(w).name, owner) for w in key_words(place.key))
        for claim in self._reading.claims:
            if claim.kind == "number":
                yield claim.mention.value, self._figures.unit(claim).name, ()
        for text in (p.value for p in self._index.strings if p.call == MESSAGE):
            for one in language.numbers(text, spoken.tag):
                yield one.value, unit_after(text, one.end, spoken).name, ()


def _names_day(claim: Claim) -> bool:
    """Whether a value is a weekday, or a day counted from today: "this Thursday, 26 November"."""
    return claim.kind == "weekday" or (claim.kind == "date" and claim.mention.is_relative)


def _at(day: date, minutes: int) -> datetime:
    return datetime.combine(day, time(*divmod(minutes, HOUR)))


def _same(at: Day, day: date) -> bool:
    return (at[0] or day.year, at[1], at[2]) == (day.year, day.month, day.day)


def _date(year: int | None, month: int, day: int) -> date | None:
    """A calendar day; None if invalid or without a year."""
    try:
        # no calendar has a year 0, so this raises, too, where none is known
        return date(year or 0, month, day)
    except ValueError:
        return None


def _after(start: Start, count: int, unit: str) -> Start | None:
    """The start plus a duration; None beyond the calendar, or for hours after a plain day."""
    try:
        if unit in _MINUTES:
            is_moment = isinstance(start, datetime)
            return start + timedelta(minutes=count * _MINUTES[unit]) if is_moment else None
        if _DAYS[unit]:
            return start + timedelta(days=count * _DAYS[unit])
        months = start.year * MONTHS + start.month - 1 + count * (MONTHS if unit == "year" else 1)
        year, month = divmod(months, MONTHS)
        # a month after 31 January is the last of February
        day = min(start.day, monthrange(year, month + 1)[1])
        return start.replace(year=year, month=month + 1, day=day)
    except (ValueError, OverflowError):
        return None
