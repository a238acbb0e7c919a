"""A number of a reply: shown by a field, rounded from one, or following from shown values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta

from .. import language
from .arithmetic import ADDS, nearly, rounds_to
from .asking import Ground, shown
from .hours import Hours
from .places import Number, Place, key_words, settle
from .reading import Claim, Sentence, among

_LETTERS = re.compile(r"[\s\u00a0-]?([^\W\d_]+)")
_AS_WORDS: tuple[list[Number], ...] = ([1], [0.5])
"""What "one" and "half" say stands for too much to be looked up."""

LARGE = 20
"""From here on a whole number is worked out from others wherever it stands: what is less may count
anything."""
MONTH = 31
"""Days within which a day of a month comes again."""
HALF = 12
"""Characters behind a number within which "and a half" stands."""


class Figures(Hours):
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
        rough = self.about(claim)
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
        unit, rough = self.unit(claim), self.about(claim)
        for value, places in zip(readings, decimals, strict=False):
            if held := self.derived.weighed(abs(value), places, unit, rough=rough):
                return Ground(held, "formatted")
            if formula := self._formula(claim, abs(value), places):
                return Ground([], "derived", formula)
        return None

    def _formula(self, claim: Claim, value: Number, decimals: int) -> str:
        """How a figure follows from shown ones. A small whole number is a sum only where the
        sentence adds up, and a ratio is rounded only where it is told as one."""
        derived, rough = self.derived, self.about(claim)
        if claim.kind == "percent":
            return derived.share(value, decimals, rough=rough)
        means = among(self._said_with(claim), self.words.average) or decimals > 0
        found = derived.formula(value, decimals, means=means)
        found = found or derived.measured(value, decimals, self.unit(claim), rough=rough)
        found = found or self._combined(claim, value, decimals)
        return found or (derived.near(value, means=means) if rough else "")

    def _combined(self, claim: Claim, value: Number, decimals: int) -> str:
        """How a figure is worked out from two that belong together."""
        rough, pairs = self.about(claim), self.derived.pairs
        adds = ADDS if self._adds(claim) else ""
        if value >= LARGE or decimals > 0 or claim.kind == "money":
            ratio = "/" if claim.kind == "money" or decimals or rough else ":"
            found = pairs.gap(value, decimals, f"-+*{ratio}{adds}", rough=rough)
            return found or pairs.portion(value, decimals, rough=rough)
        signs = "-+" if adds else "-"
        return pairs.gap(value, decimals, signs, rough=rough) if self.compares(claim) else ""

    def about(self, claim: Claim) -> bool:
        """Whether a figure is said to be rounded."""
        return bool(claim.mention.about) or self.said(claim, self.words.about)

    def unit(self, claim: Claim) -> str:
        """The unit that stands behind a number."""
        after = _LETTERS.match(self.reading.text, claim.end)
        return self.words.units.get(self.reading.language.stem(after.group(1)), "") if after else ""

    def rough(self, claim: Claim) -> bool:
        """Whether a number in words is a length of time that no field gives in that unit, has a
        half behind it, or is said to be rounded."""
        behind = self.reading.inside(Sentence(claim.end, claim.end + HALF, ""))
        half = bool(behind) and behind[0].kind == "number" and behind[0].mention.value == 0.5
        about = self.about(claim)
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
        signs = "-+" if self._adds(claim) else "-"
        formula = self.derived.pairs.difference(claim.mention.value, signs)
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
