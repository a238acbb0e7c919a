"""A number of a reply: shown by a field, rounded from one, or following from shown values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from .. import language
from ..language import folded_words
from .asking import Asking, Ground, shown
from .derive import nearly, rounds_to
from .places import Number, Place, fold, key_words, settle
from .reading import Claim, Sentence, among

_RANGE = re.compile("\\s?[\u2013-]\\s?(?=\\d)|(?<=\\d)\\s?[\u2013-]\\s?$")
_LETTERS = re.compile(r"[\s\u00a0-]?([^\W\d_]+)")
_AS_WORDS: tuple[list[Number], ...] = ([1], [0.5])
"""What "one" and "half" say stands for too much to be looked up."""

MONTH = 31
"""Days within which a day of a month comes again."""
HALF = 12
"""Characters behind a number within which "and a half" stands."""


class Figures(Asking):
    """Asks the index about numbers, amounts and percentages."""

    def _number(self, claim: Claim) -> Ground | None:
        readings = [settle(r) for r in claim.mention.readings]
        if claim.mention.spelled and readings in _AS_WORDS:
            return Ground([], "derived", "1")
        if not self._currency(claim.mention.unit):
            return None
        return (
            self._minor(claim) or self._written(claim, readings) or self._follows(claim, readings)
        )

    def _written(self, claim: Claim, readings: Sequence[Number]) -> Ground | None:
        """The fields that show a number, or one of which it is rounded."""
        exact = self._exact(claim, readings)
        rough = claim.mention.about or self.said(claim, self.words.about)
        rounded = self._rounded(claim, readings, rough=rough) if rough or not exact else []
        plain = claim.token.isdigit() and not rounded
        return shown([*exact, *rounded], "verbatim" if plain else "formatted")

    def _follows(self, claim: Claim, readings: Sequence[Number]) -> Ground | None:
        return (
            self._derived(claim, readings)
            or self.written(claim)
            or self._hour(claim, readings)
            or self._day(claim)
        )

    _money = _number

    def _currency(self, unit: str) -> bool:
        known = self.index.currencies
        return not unit or not known or unit in known

    def _exact(self, claim: Claim, readings: Sequence[Number]) -> list[Place]:
        signed = [sign * value for value in readings for sign in (1, -1)]
        places = [p for value in dict.fromkeys(signed) for p in self.index.numbers.get(value, ())]
        return places + (self.ending(claim.token) if re.fullmatch(r"\d{4}", claim.token) else [])

    def _rounded(self, claim: Claim, readings: Sequence[Number], *, rough: bool) -> list[Place]:
        """The fields that a rounded or bounded number may stand for."""
        mention = claim.mention
        bound = self.said(claim, self.words.more) - self.said(claim, self.words.less)

        def fits(held: Number, value: Number, decimals: int) -> bool:
            exact, fractional = abs(held), isinstance(held, float) or mention.scale > 1
            if fractional and rounds_to(exact, abs(value), decimals, mention.scale):
                return True
            return (rough and nearly(exact, value)) or _beyond(exact, value, bound)

        forms = list(zip(readings, mention.decimals, strict=False))
        return [p for p in self.index.figures if any(fits(p.value, v, d) for v, d in forms)]

    def _derived(self, claim: Claim, readings: Sequence[Number]) -> Ground | None:
        decimals = claim.mention.decimals or (0,) * len(readings)
        for value, places in zip(readings, decimals, strict=False):
            if formula := self._formula(claim, abs(value), places):
                return Ground([], "derived", formula)
        return None

    def _formula(self, claim: Claim, value: Number, decimals: int) -> str:
        """How a figure follows from shown ones. A small whole number is a difference only where
        the sentence compares."""
        derived, percent = self.derived, claim.kind == "percent"
        means = among(self._said_with(claim), self.words.average) or decimals > 0
        found = derived.formula(value, decimals, percent=percent, means=means)
        found = found or derived.measured(value, decimals, self.unit(claim))
        if percent:
            return found or derived.share(value, decimals)
        if value >= 20 or decimals or claim.kind == "money" or self.compares(claim):
            adds, amount = self._adds(claim), claim.kind == "money"
            found = found or derived.gap(value, decimals, adds=adds, divides=amount)
        rough = claim.mention.about or self.said(claim, self.words.about)
        return found or (derived.near(value, means=means) if rough else "")

    def unit(self, claim: Claim) -> str:
        """The unit that stands behind a number."""
        after = _LETTERS.match(self.reading.text, claim.end)
        return self.words.units.get(self.reading.language.stem(after.group(1)), "") if after else ""

    def rough(self, claim: Claim) -> bool:
        """Whether a number in words is a length of time that no field gives in that unit, has a
        half behind it, or is said to be rounded."""
        behind = self.reading.inside(Sentence(claim.end, claim.end + HALF, ""))
        half = bool(behind) and behind[0].kind == "number" and behind[0].mention.value == 0.5
        about = claim.mention.about or self.said(claim, self.words.about)
        unit, units = self.unit(claim), language.of("en").words.units
        keys = (word for key in self.index.keys for word in key_words(key))
        return half or about or (bool(unit) and not any(units.get(word) == unit for word in keys))

    def _minor(self, claim: Claim) -> Ground | None:
        """The amount of which a number right behind it is the hundredths: 12 euros 50."""
        last = self.reading.before(claim)
        if (
            last is None
            or last.kind != "money"
            or not 0 <= claim.start - last.end <= 1
            or claim.mention.value > 99
        ):
            return None
        value = settle(last.mention.value + claim.mention.value / 100)
        held = self.index.numbers.get(value, ())
        formula = "" if held else self.derived.formula(value, 2) or self.derived.near(value)
        return (
            Ground(held, "derived" if formula else "formatted", formula)
            if held or formula
            else None
        )

    def difference(self, claim: Claim) -> Ground | None:
        """How a count is a difference, where the sentence compares: "two short of the mark"."""
        if not self.compares(claim):
            return None
        adds = self._adds(claim)
        formula = self.derived.gap(claim.mention.value, 0, adds=adds, whole=True)
        return Ground([], "derived", formula) if formula else None

    def compares(self, claim: Claim) -> bool:
        """Whether the sentence says that it compares or adds up."""
        words = self.words
        stems = self._said_with(claim)
        return among(stems, words.difference, words.total, words.rest, words.more, words.less)

    def _adds(self, claim: Claim) -> bool:
        return among(self._said_with(claim), self.words.total)

    def _said_with(self, claim: Claim) -> list[str]:
        sentence, stem = self.reading.sentence(claim.start), self.reading.language.stem
        inside = self.reading.inside(sentence)  # "media" is a half and an average
        spelled = [stem(c.token) for c in inside if c.kind == "number" and c.mention.spelled]
        return self.reading.stems(sentence.start, sentence.end) + spelled

    def _hour(self, claim: Claim, readings: Sequence[Number]) -> Ground | None:
        """The times of the hour that a number is, behind a word such as "at" or in a range: "half
        past nine", "from 14 to 15:30", "10-11"."""
        text, calendar = self.reading.text, self.reading.language.calendar
        led = [fold(t.text) for t in self.reading.words(claim.start - 12, claim.start)[-1:]]
        ranged = _RANGE.match(text, claim.end) or _RANGE.search(
            text[max(0, claim.start - 4) : claim.start]
        )
        if not ranged and not set(led) & folded_words(f"{calendar.at} {calendar.until}"):
            return None
        hours = {int(r) % 12 for r in readings if 0 < r <= 24}
        held = self.index.times.items()
        return shown([p for m, ps in held if m // 60 % 12 in hours for p in ps], "formatted")

    def _day(self, claim: Claim) -> Ground | None:
        """The day of a month behind its weekday: "viernes 27", the next such day."""
        last, today = self.reading.before(claim), self.today
        if not last or not today or last.kind != "weekday" or claim.start - last.end > 2:
            return None
        days = (today + timedelta(days=n) for n in range(MONTH))
        near = next((d for d in days if d.day == claim.mention.value), today)
        fits = near.weekday() in last.mention.readings
        return Ground([], "derived", "weekday") if fits else None

    def _percent(self, claim: Claim) -> Ground | None:
        readings = [settle(r) for r in claim.mention.readings]
        if exact := self._exact(claim, readings):
            return Ground(exact)
        for value, decimals in zip(readings, claim.mention.decimals or (0,), strict=False):
            close = [p for p in self.index.figures if _as_percent(p.value, abs(value), decimals)]
            if close:
                return Ground(close, "formatted")
        return self._derived(claim, readings)

    def _ordinal(self, claim: Claim) -> Ground | None:
        return Ground([])

    def _hash(self, claim: Claim) -> Ground | None:
        held = self.index.numbers.get(int(claim.token), ()) if claim.token.isdigit() else ()
        return shown(held) or shown(self.index.find(claim.token, "-."))

    def _phone(self, claim: Claim) -> Ground | None:
        digits = "".join(filter(str.isdigit, claim.token))
        return shown(self.index.numbers.get(int(digits), ())) or shown(
            self.ending(digits), "formatted"
        )


def _as_percent(held: Number, value: Number, decimals: int) -> bool:
    exact = abs(held)
    share = 0 < exact <= 1 and rounds_to(exact * 100, value, decimals)
    return share or (isinstance(held, float) and rounds_to(exact, value, decimals))


def _beyond(exact: Number, shown: Number, sign: int) -> bool:
    """Whether "over 100" may stand for 117, "under 100" for 93: on that side, within a half."""
    return 0 < sign * (exact - shown) <= 0.5 * abs(shown)
