"""A time of day of a reply, in digits or in words: shown by a field, or near one."""

from __future__ import annotations

import re
from collections.abc import Sequence

from .. import language
from ..language import folded_words
from .asking import Asking, Ground, shown
from .places import Number, Place, fold
from .reading import Claim, Sentence

_RANGE = re.compile("\\s?[\u2013-]\\s?(?=\\d)|(?<=\\d)\\s?[\u2013-]\\s?$")
NOON_OFF, ABOUT_OFF, HOUR, HALF_DAY = 60, 10, 60, 720
"""Minutes that "midday", and "about ten", may be off; minutes of an hour and of half a day."""
BESIDE = 14
"""Characters beside a number in which a word makes it an hour."""


class Hours(Asking):
    """Asks the index about times of day."""

    def _time(self, claim: Claim) -> Ground | None:
        readings = claim.mention.readings
        places = [place for minutes in readings for place in self.index.times.get(minutes, ())]
        if places:
            return Ground(places, "formatted")
        named = not any(map(str.isdigit, claim.token))  # "midday" is about then
        off = NOON_OFF if named else ABOUT_OFF if self.said(claim, self.words.about) else 0
        if off and (near := [p for m in readings for p in self._near(m, off)]):
            return Ground(near, "formatted")
        if found := self.index.find(claim.token, ":."):
            return Ground(found)
        return None

    def _near(self, minutes: int, off: int, turn: int = 2 * HALF_DAY) -> list[Place]:
        """The times that are at most `off` minutes from one, on a clock of `turn` minutes."""
        held = self.index.times.items()
        return [p for m, ps in held if (m - minutes + off) % turn <= 2 * off for p in ps]

    def _hour(self, claim: Claim, readings: Sequence[Number]) -> Ground | None:
        """The times of the hour that a number is: behind a word such as "at", in a range ("from 14
        to 15:30", "10-11", "between 9 and 1"), or read from a clock ("quarter to twelve", "ten past
        two")."""
        hours = {int(r) for r in readings if 0 < r <= 24}
        off = HOUR if self._of_clock(claim) else 0
        if not (off or self._leads(claim)):
            return self._minutes(claim)
        near = [p for h in hours for p in self._around(h, off)]
        return shown(near, "formatted") or self._minutes(claim)

    def _around(self, hour: int, off: int) -> list[Place]:
        """The times of an hour, or those that are at most `off` minutes from it."""
        if off:
            return self._near(hour * HOUR, off, HALF_DAY)
        held = self.index.times.items()
        return [p for m, ps in held if m // HOUR % 12 == hour % 12 for p in ps]

    def _leads(self, claim: Claim) -> bool:
        """Whether a word before a number, or a dash beside it, makes it an hour."""
        text, calendar = self.reading.text, self.reading.language.calendar
        before = text[max(0, claim.start - 4) : claim.start]
        if _RANGE.match(text, claim.end) or _RANGE.search(before):
            return True
        led, first = self._led(claim), self.reading.before(claim)
        if led in folded_words(f"{calendar.at} {calendar.until} {calendar.between}"):
            return True
        joined = self.reading.language.stem(led) in self.words.and_ and first is not None
        close = first is not None and 0 < claim.start - first.end <= BESIDE
        return bool(
            joined and close and first and self._led(first) in folded_words(calendar.between)
        )

    def _led(self, claim: Claim) -> str:
        """The word right before a number."""
        words = self.reading.words(claim.start - BESIDE, claim.start)
        return fold(words[-1].text) if words else ""

    def _of_clock(self, claim: Claim) -> bool:
        """Whether a quarter or a half stands beside a number."""
        text, parts = self.reading.text, folded_words(self.reading.language.calendar.parts)
        before = language.tokens(text[max(0, claim.start - BESIDE) : claim.start])
        after = language.tokens(text[claim.end : claim.end + BESIDE])
        return any(fold(t.text) in parts for t in (*before[-2:], *after[:2]))

    def _minutes(self, claim: Claim) -> Ground | None:
        """The times that are as many minutes before or after the hour that stands beside."""
        value, calendar = claim.mention.value, self.reading.language.calendar
        led = [fold(t.text) for t in self.reading.words(claim.end, claim.end + BESIDE)[:1]]
        between = folded_words(f"{calendar.at} {calendar.until}").intersection(led)
        following = self.reading.inside(Sentence(claim.end, claim.end + BESIDE, ""))
        hour = following[0].mention.value if following and following[0].kind == "number" else None
        if not between or hour is None or hour not in range(1, 13) or value not in range(1, 31):
            return None
        ends = int(hour) * HOUR - value, int(hour) * HOUR + value
        return shown([p for m in ends for p in self._near(m, 1, HALF_DAY)], "formatted")
