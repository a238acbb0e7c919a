"""A date or time of a reply: shown by a field in any form, or following from one."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta
from functools import cached_property, lru_cache
from itertools import islice, pairwise
from typing import Any

from .. import language
from ..language import fold, folded_words
from .asking import Ground, shown
from .figures import Figures
from .places import Number, Place, key_words
from .reading import Claim

WEEK, MONTHS = 7, 12
"""Days of a period that has some weekdays and not others; months of a year."""
STARTS, LENGTHS, LONGEST = 60, 12, 1000
"""Dates from which others are counted, the lengths of time that are, and how many of a unit the
longest may have."""
FIELDS, LONG_TEXT = 200, 80
"""Texts of the data in which weekdays are looked for, and their characters."""


_DAYS = {"day": 1, "week": 7, "month": 0, "year": 0}
"""Days of a unit, where every one has as many."""


class Moments(Figures):
    """Asks the index about dates, times, months and weekdays."""

    def _date(self, claim: Claim) -> Ground | None:
        for year, month, day in claim.mention.readings:
            if places := self._on(year, month, day):
                return Ground(places, "formatted")
        if any(self._is_today(at) for at in claim.mention.readings):
            return Ground([], "derived", "today")
        return self.written(claim) or self._length(claim) or self._counted(claim)

    def _length(self, claim: Claim) -> Ground | None:
        """The numbers of "within seven days", which may be a length of time."""
        found = language.numbers(claim.token, self.reading.language.tag)
        held = [self.index.numbers.get(n.value, ()) for n in found if claim.mention.relative]
        return Ground(held[0], "formatted") if held and all(held) else None

    def _counted(self, claim: Claim) -> Ground | None:
        """The date that is some days, weeks or months, which the data or the reply gives, before or
        after one of the data, of the reply or today."""
        wanted = {(at[1], at[2]): at[0] for at in claim.mention.readings}
        lengths = self._lengths
        for start, name in self._starts if lengths else ():
            for count, unit in lengths:
                for end in (_after(start, count, unit), _after(start, -count, unit)):
                    year = wanted.get((end.month, end.day), 0) if end else 0
                    if end and year in (None, end.year):
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

    @cached_property
    def _lengths(self) -> list[tuple[int, str]]:
        """The lengths of time that keys of the data name the unit of, or that the reply tells."""
        known = language.of("en").words.units
        found: dict[tuple[Number, str], None] = {}
        for place in self.index.figures:
            units = [known.get(word, "") for word in key_words(place.key)]
            for unit in set(units) & set(_DAYS):
                found[place.value, unit] = None
        for claim in self.reading.claims:
            if claim.kind == "number" and (unit := self.unit(claim)) in _DAYS:
                found[claim.mention.value, unit] = None
        whole = [(n, unit) for n, unit in found if isinstance(n, int) and 0 < n <= LONGEST]
        return whole[:LENGTHS]

    def _on(self, year: int | None, month: int, day: int) -> list[Place]:
        held = self.index.dates.get((month, day), [])
        return [place for y, place in held if year is None or y in (None, year)]

    def _is_today(self, at: Sequence[Any]) -> bool:
        year, month, day = at
        today = self.today
        return today is not None and (year or today.year, month, day) == (
            today.year,
            today.month,
            today.day,
        )

    def _moment(self, claim: Claim) -> Ground | None:
        for at in claim.mention.readings:
            times = {p.path for p in self.index.times.get(at.hour * 60 + at.minute, ())}
            both = [p for p in self._on(at.year, at.month, at.day) if p.path in times]
            if both:
                return Ground(both, "formatted")
        return None

    def _month(self, claim: Claim) -> Ground | None:
        for year, month in claim.mention.readings:
            held = [
                e for (own, _), entries in self.index.dates.items() if own == month for e in entries
            ]
            if places := [place for y, place in held if year is None or y in (None, year)]:
                return Ground(places, "formatted")
        return self.written(claim) or self.name([t.text for t in language.tokens(claim.token)])

    def _weekday(self, claim: Claim) -> Ground | None:
        near = self.reading.inside(self.reading.sentence(claim.start))
        beside = [c for c in near if c.kind in ("date", "moment") and 0 <= c.start - claim.end <= 4]
        wanted = set(claim.mention.readings)
        if beside:
            fits = wanted & self._weekdays(beside[0])
            return Ground([], "derived", "weekday") if fits else None
        dated = shown(self._falling(wanted), "formatted")
        told = dated or self.name([t.text for t in language.tokens(claim.token)])
        return told or self._inside(wanted) or self._short(wanted)

    def _falling(self, wanted: set[int]) -> list[Place]:
        """The dates that fall on one of some days of the week."""
        days = self.index.dates.items()
        return [p for (m, d), held in days for y, p in held if y and _weekday(y, m, d) in wanted]

    def _short(self, wanted: set[int]) -> Ground | None:
        """The texts that name a weekday, or a range of them, in short: "Mon-Sat 10-20"."""
        return shown([p for day in wanted for p in self._named.get(day, ())], "formatted")

    @cached_property
    def _named(self) -> dict[int, list[Place]]:
        """The texts by the weekdays that they name."""
        found: dict[int, list[Place]] = {}
        short = (p for p in self.index.strings() if len(str(p.value)) <= LONG_TEXT)
        for place in islice(short, FIELDS):
            for tag in dict.fromkeys((self.reading.language.tag, "en")):
                for day in _days_in(str(place.value), tag):
                    found.setdefault(day, []).append(place)
        return found

    def _inside(self, wanted: set[int]) -> Ground | None:
        """The period of one record in which a weekday lies."""
        for moments in self.index.moments().values():
            days = sorted({at.date() for at, _ in moments})
            length = (days[-1] - days[0]).days
            if length < WEEK and wanted & {(days[0].weekday() + n) % 7 for n in range(length + 1)}:
                return Ground([], "derived", f"{days[0]} - {days[-1]}")
        return None

    def _weekdays(self, claim: Claim) -> set[int]:
        """The days of the week that a date can be, in the years that the index has for it."""
        found = set()
        for at in claim.mention.readings:
            year, month, day = at if isinstance(at, tuple) else (at.year, at.month, at.day)
            years = [year] if year else [y for y, _ in self.index.dates.get((month, day), ())]
            found |= {_weekday(y, month, day) for y in years if y}
        return found

    def _period(self, claim: Claim) -> Ground | None:
        return Ground([], "derived", "period")


def _weekday(year: int, month: int, day: int) -> int:
    try:
        return date(year, month, day).weekday()
    except ValueError:
        return -1


@lru_cache(maxsize=512)
def _days_in(text: str, tag: str) -> frozenset[int]:
    """The weekdays that a text names, and those between two of a range: "Mon-Sat"."""
    text = text.replace("-", "\u2013")  # which parts words, as a hyphen does not
    found = [m for m in language.dates(text, tag) if m.kind == "weekday"]
    joins = folded_words(language.of(tag).calendar.until) | {"\u2013", "\u2014"}
    days = {m.value for m in found}
    for one, other in pairwise(found):
        if fold(text[one.end : other.start]).strip(" .") in joins:
            length = (other.value - one.value) % WEEK
            days |= {(one.value + n) % WEEK for n in range(length)}
    return frozenset(days)


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
