"""A date or time of a reply: shown by a field in any form, or counted from one."""

from __future__ import annotations

import re
from bisect import bisect_right
from calendar import monthrange
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import date, datetime, time, timedelta
from functools import cached_property, partial
from itertools import chain, combinations, islice, permutations

from .. import language
from ..language.units import Unit, unit_after
from .figures import Figures, Ground, is_rough, shown
from .places import MESSAGE, Number, Owner, Place, day_of, key_words, settle, unit_of_key
from .reading import Claim

ABOUT = 10
"""Minutes that a time may be off where it is said to be about then."""
STARTS, LENGTHS, LONGEST_TIME = 60, 12, 1000
"""Dates from which others are counted, the lengths of time that are, and how many of a unit."""
MONTHS, HOUR, DAY, HALF_HOUR = 12, 60, 1440, 30
BESIDE, APART = 8, "-\u2013\u2014/|\n;"
"""Characters between a weekday and its date, and signs that part two of a list or a span."""
_DAYS = {"day": 1, "week": 7, "month": 0, "year": 0}
"""Days of a unit, where every one has as many."""
_MINUTES = {"minute": 1, "hour": HOUR}
_UNITS = _DAYS.keys() | _MINUTES.keys()
_TIMED = frozenset(("minute", "hour", "day", "week"))
"""Units of the lengths of time that are held against times."""
NEAR, MINUTE = 16, 60
"""Characters between two parts of a length: " hours and "; seconds."""
HALF, DAYS_OFF = 0.51, 1.01
"""By how much a length may be off, of its unit; days may count both ends."""
_ZONED = re.compile(r"\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?(?:Z|[+-]\d\d:?\d\d)$")
_NUMBERS = re.compile(r"\d+")
_FIGURE = re.compile(r"(\d+\.\d+)\.")
Day = tuple[int | None, int, int]
Start = date | datetime


class Dates:
    """Asks the index about dates, times, months and weekdays of one reply."""

    def __init__(self, figures: Figures) -> None:
        self._figures, self._reading, self._index = figures, figures.reading, figures.index
        self._today = figures.at.date() if figures.at else None
        self._judged: dict[tuple[float, float], bool] = {}

    def time(self, claim: Claim) -> Ground | None:
        """The times of the data at a time of day, or about then; some minutes from one."""
        held = self._index.times
        stands = partial(self._index.find, claim.token, ":.")
        if claim.token.count(":") > 1 and (found := stands()):
            return Ground(found, "formatted")  # 1:18:40
        told = claim.mention.readings
        if found := next(filter(None, (held.get(m) for m in told)), []) or stands():
            return Ground(found, "formatted")
        made = (self._counted[1].get(minutes) for minutes in told)
        if formula := next(filter(None, made), "") or self._elsewhere(claim):
            return Ground([], "derived", formula)
        if is_rough(self._reading, claim):
            near = (m for at in told for m in range(at - ABOUT, at + ABOUT + 1))
            if found := [p for m in near for p in held.get(m, ())]:
                return Ground(found, "formatted")
        return self._score(claim)

    def _elsewhere(self, claim: Claim) -> str:
        """How a time is one of the data, which tells its zone, in another zone: all but some are a
        number of half hours apart."""
        past = {at % HALF_HOUR for at in claim.mention.readings}
        return "" if past.isdisjoint(self._zoned) else "in another zone"

    @cached_property
    def _zoned(self) -> frozenset[int]:
        """The minutes past the half hour of the data's times with a zone."""
        zoned = (
            at % HALF_HOUR
            for at, places in self._index.times.items()
            for place in places
            if not isinstance(place.value, str) or _ZONED.search(place.value)
        )
        return frozenset(zoned)

    def _score(self, claim: Claim) -> Ground | None:
        """The two figures of one record that look like a time: 9:34 goals."""
        told = [int(n) for n in _NUMBERS.findall(claim.token)][:2]
        one, other = (self._index.numbers.get(n, ()) for n in [*told, -1, -1][:2])
        both = {p.owner for p in one if p.owner} & {p.owner for p in other}
        return shown([p for p in one if p.owner in both])

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
        made = (self._counted[0].get(at) for at in claim.mention.readings)
        formula = next(filter(None, made), None)
        return found or (Ground([], "derived", formula) if formula else None)

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
            return self._of_weekday(wanted, [day_of(at) for at in beside.mention.readings])
        held = [p for day in wanted for p in self._on_weekdays.get(day, ())]
        on = self._on_number(claim)
        return shown([p for p in held if p in on] if on else held)

    def _of_weekday(self, wanted: set[int], days: Sequence[Day]) -> Ground | None:
        """The dates of the data on these days, where one of them is such a weekday."""
        if not any(wanted & self._weekdays(at) for at in days):
            return None
        on = [p for at in days for p in self._on(at)]
        return Ground(on, "formatted" if on else "derived", "weekday")

    def is_dated(self, claim: Claim) -> bool:
        """Whether a date, or its day of the month, stands right behind a weekday."""
        return bool(self.beside(claim) or self._on_number(claim))

    def _on_number(self, claim: Claim) -> Sequence[Place]:
        """The dates of the data on the day of the month behind a weekday: "Tuesday 25"."""
        told = (c for c in self._reading.around(claim) if c.kind == "number")
        number = next((c for c in told if self._is_next(claim, c)), None)
        if number is None or not self._figures.is_bare(number):
            return ()
        return self._index.days.get(number.mention.value, ())

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
        near = self._reading.around(claim)
        dated = (c for c in near if c.kind in ("date", "moment") and not c.mention.relative)
        return next((c for c in dated if self._is_next(claim, c)), None)

    def _is_next(self, claim: Claim, other: Claim) -> bool:
        """Whether nothing but a comma and an article parts a value from the one behind it."""
        end = min(claim.end + BESIDE, self._reading.sentence(claim.start).end)
        if not claim.end <= other.start <= end:
            return False
        between = self._reading.words(claim.end, other.start)
        articles = self._reading.language.words.forms("article")
        is_apart = any(sign in self._reading.text[claim.end : other.start] for sign in APART)
        return not is_apart and all(language.fold(t.text) in articles for t in between)

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

    # ---- lengths of time

    def is_no_length(self, claim: Claim) -> bool:
        """Whether a figure is a length of time of minutes, hours, days or weeks that nothing shows,
        though the data has times of which it could be one: not from one time of a record or a list
        to another or to now, not between two that the reply tells, no number of rows."""
        unit, value = self._figures.unit(claim), claim.mention.value
        is_told = unit.name in _TIMED and value and not is_rough(self._reading, claim)
        if not (is_told and self._intervals) or self._figures.arithmetic.size(value):
            return False
        parts = [(value, unit.size), *self._beside_length(claim, unit)]
        if any(abs(n) > LONGEST_TIME for n, _ in parts):
            return False  # longer ones are read out of the data
        told, size = sum(n * size for n, size in parts), min(size for _, size in parts)
        return size >= MINUTE and not self._is_length(told, size)

    def _is_length(self, told: float, size: float) -> bool:
        """Whether so many seconds, told in steps of `size`, are a length of time that is known."""
        if (told, size) not in self._judged:
            self._judged[told, size] = self._is_known(told, size)
        return self._judged[told, size]

    def _is_known(self, told: float, size: float) -> bool:
        half = HALF if told % size == 0 else HALF / 2
        slack = size * (DAYS_OFF if size >= DAY * MINUTE else half)
        if self._figures.measures.held(told / size, slack / size, Unit("", "time", size)):
            return True
        follows = self._figures.arithmetic.follows
        if any(follows(settle(told / s), slack / s, "time") for s in (1, MINUTE, MINUTE * HOUR)):
            return True
        place = bisect_right(self._known, (told - slack) / MINUTE)
        return any(one < (told + slack) / MINUTE for one in self._known[place : place + 1])

    @cached_property
    def _known(self) -> list[float]:
        """The minutes between the times of the data, and those that the reply tells, by length."""
        return sorted(self._intervals | self._told_intervals)

    def _beside_length(self, claim: Claim, unit: Unit) -> Iterator[tuple[Number, float]]:
        """The other parts of a length, each with the seconds of its unit: "2 h 55 min"."""
        near = (c for c in self._reading.around(claim) if c.kind == "number" and c.mention.value)
        for other in near:
            part = self._figures.unit(other)
            gap = max(other.start - claim.end, claim.start - other.end)
            if part.measure == "time" and part.size != unit.size and gap <= NEAR:
                yield other.mention.value, part.size

    @cached_property
    def _told_intervals(self) -> frozenset[float]:
        """The minutes between two times, or two days, that the reply tells."""
        told = self._reading.claims
        times = [_at(date.min, m) for c in told if c.kind == "time" for m in c.mention.readings]
        dated = chain.from_iterable(c.mention.readings for c in told if c.kind == "date")
        days = filter(None, (_after_now(at, self._today) for at in dated))
        near = [*times[:LENGTHS], *islice(days, LENGTHS)]
        made = (_between(one, other) for one, other in permutations(near, 2))
        return frozenset(filter(None, made))

    @cached_property
    def _intervals(self) -> frozenset[float]:
        """The minutes between the times of one record, of its list and of what it stands in, of all
        rows of a list together, and to now."""
        found, rows = set[float](), dict[Owner, float]()
        held = Counter(owner for _, owner in self._starts)
        for (one, own), (other, theirs) in combinations(self._starts, 2):
            minutes = _between(one, other) or 0.0
            if own == theirs:
                rows[own] = max(rows.get(own, 0.0), minutes)
            is_log = held[own] == held[theirs] == 1  # one time an entry
            if _is_within(own, theirs) or _is_in_list(own, theirs, one.year > 1 or is_log):
                found.add(minutes)
        together: dict[Owner, float] = {}
        for row, minutes in rows.items():
            together[row[:-1]] = together.get(row[:-1], 0.0) + minutes
        return frozenset(found.union(together.values())) - {0.0}

    @cached_property
    def _counted(self) -> tuple[dict[Day, str], dict[int, str]]:
        """The days, with a year and without, and the times of day that are some length of time
        before or after another, and how each is counted. What the reply or the message tells, or
        the data beside its rows, counts from now and from any time; what a row holds, from its own
        times."""
        days: dict[Day, str] = {}
        times: dict[int, str] = {}
        for start, owner in self._starts:
            records = (owner[:end] for end in range(len(owner) + 1))
            for count, unit in chain.from_iterable(self._lengths.get(r, ()) for r in records):
                self._count(start, count, unit, days, times)
        return days, times

    @staticmethod
    def _count(
        start: Start, count: int, unit: str, days: dict[Day, str], times: dict[int, str]
    ) -> None:
        for sign in (1, -1):
            end = _after(start, sign * count, unit)
            formula = f"{start} +- {count} {unit}s"
            if isinstance(end, datetime):
                times.setdefault(end.hour * HOUR + end.minute, formula)
            if end and start.year > 1:
                for year in (end.year, None):
                    days.setdefault((year, end.month, end.day), formula)

    @cached_property
    def _starts(self) -> list[tuple[Start, Owner]]:
        """Now, and the moments, days and times of day of the data, with the record of each."""
        now = self._figures.at
        found: list[tuple[Start, Owner]] = [(now.replace(tzinfo=None), ())] if now else []
        timed = {p.path: (at, p) for at, own in self._index.times.items() for p in own[:STARTS]}
        for (month, day), held in islice(self._index.dates.items(), STARTS):
            for year, place in held[:STARTS]:
                minutes, _ = timed.pop(place.path, (None, place))
                if year and _weekday(year, month, day) >= 0:
                    on = date(year, month, day)
                    found.append((on if minutes is None else _at(on, minutes), place.owner))
        found += [(_at(date.min, at), place.owner) for at, place in timed.values()]
        return found[:STARTS]

    @cached_property
    def _lengths(self) -> dict[Owner, list[tuple[int, str]]]:
        """The lengths of time of each record, in a unit that their key names; those of none are of
        the reply, of the message and beside rows."""
        found: dict[Owner, dict[tuple[int, str], None]] = {}
        for n, unit, owner in self._find_lengths():
            if unit in _UNITS and n and 0 < n <= LONGEST_TIME and n == int(n):
                found.setdefault(owner, {})[int(n), unit] = None
        return {owner: list(own)[:LENGTHS] for owner, own in found.items()}

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


def _at(day: date, minutes: int) -> datetime:
    return datetime.combine(day, time(*divmod(minutes, HOUR)))


def _moment(start: Start) -> datetime:
    return start if isinstance(start, datetime) else datetime.combine(start, time())


def _is_within(one: Owner, other: Owner) -> bool:
    """Whether two records are one, or one stands in the other."""
    return one[: len(other)] == other or other[: len(one)] == one


def _is_in_list(one: Owner, other: Owner, is_told: bool) -> bool:
    """Whether two records are of one list, and their times can be held against each other."""
    return is_told and one[:-1] == other[:-1]


def _between(one: Start, other: Start) -> float | None:
    """The minutes from one time to another, over midnight where neither has a day; None where only
    one has."""
    if (one.year == 1) != (other.year == 1):
        return None
    minutes = (_moment(other) - _moment(one)).total_seconds() / MINUTE
    return minutes % DAY if one.year == 1 else abs(minutes)


def _after_now(at: Day, today: date | None) -> date | None:
    """A day of the calendar, of this year where it tells none."""
    with suppress(ValueError):
        return date(at[0] or (today or date.min).year, at[1], at[2])
    return None


def _same(at: Day, day: date) -> bool:
    return (at[0] or day.year, at[1], at[2]) == (day.year, day.month, day.day)


def _weekday(year: int | None, month: int, day: int) -> int:
    """The day of the week of a date; -1 where there is no such date."""
    try:
        return date(year or 0, month, day).weekday()
    except ValueError:
        return -1


def _after(start: Start, count: int, unit: str) -> Start | None:
    """The day or moment some length of time after another; none beyond the calendar, and hours
    after no day."""
    try:
        if unit in _MINUTES:
            is_moment = isinstance(start, datetime)
            return start + timedelta(minutes=count * _MINUTES[unit]) if is_moment else None
        if _DAYS[unit]:
            return start + timedelta(days=count * _DAYS[unit])
        months = start.year * MONTHS + start.month - 1 + count * (MONTHS if unit == "year" else 1)
        year, month = divmod(months, MONTHS)
        day = min(start.day, monthrange(year, month + 1)[1])
        return start.replace(year=year, month=month + 1, day=day)
    except (ValueError, OverflowError):
        return None
