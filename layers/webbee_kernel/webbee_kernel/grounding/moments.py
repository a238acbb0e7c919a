"""A date or time of a reply: shown by a field in any form, or following from one."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Any

from .. import language
from .asking import Asking, Ground, shown
from .places import Place
from .reading import Claim

HOUR, WEEK = 60, 7
"""Minutes that "midday" may be off; days of a period that has some weekdays and not others."""


class Moments(Asking):
    """Asks the index about dates, times, months and weekdays."""

    def _date(self, claim: Claim) -> Ground | None:
        for year, month, day in claim.mention.readings:
            if places := self._on(year, month, day):
                return Ground(places, "formatted")
        if any(self._is_today(at) for at in claim.mention.readings):
            return Ground([], "derived", "today")
        return self.written(claim) or self._length(claim)

    def _length(self, claim: Claim) -> Ground | None:
        """The numbers of "within seven days", which may be a length of time."""
        found = language.numbers(claim.token, self.reading.language.tag)
        held = [self.index.numbers.get(n.value, ()) for n in found if claim.mention.relative]
        return Ground(held[0], "formatted") if held and all(held) else None

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

    def _time(self, claim: Claim) -> Ground | None:
        readings = claim.mention.readings
        places = [place for minutes in readings for place in self.index.times.get(minutes, ())]
        if places:
            return Ground(places, "formatted")
        if not any(map(str.isdigit, claim.token)):  # "midday" is about then
            held = self.index.times.items()
            if near := [p for m, ps in held if abs(m - readings[0]) <= HOUR for p in ps]:
                return Ground(near, "formatted")
        if found := self.index.find(claim.token, ":."):
            return Ground(found)
        return None

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
        days = self.index.dates.items()
        places = [p for (m, d), held in days for y, p in held if y and _weekday(y, m, d) in wanted]
        told = shown(places, "formatted") or self.name(
            [t.text for t in language.tokens(claim.token)]
        )
        return told or self._inside(wanted)

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
