"""A number, amount or percentage of a reply: shown by a field, rounded from one, or following."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice

from .arithmetic import ANY, UNITS, Figure, kind_of, slack_of
from .closure import Closure
from .hedges import bound, is_rough
from .index import Index
from .places import Number, Owner, Place, settle
from .reading import Claim, Reading, among
from .units import Measures, behind, unit_behind

SMALL = 12
"""Whole numbers up to here may count anything, and are not looked up."""
PER = 100
"""Of so many of a unit a rate is told."""
LONGEST, STARTS = 60, 60
"""Characters of what a number is part of; moments between which lengths of time lie."""
SHORT_UNIT = 3
"""Letters of the sign of a unit."""
MEASURES = ("gram", "kilogram", "metre", "kilometre")
"""Units of which one is a thousand of another."""
_DIGITS = re.compile(r"\d+")
_BEFORE, _AFTER = re.compile(r"[^\W_]*$"), re.compile(r"[^\W\d_]*")
_AROUND = re.compile(r"\w[\w./-]*\w")
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(slots=True)
class Ground:
    """Why a value stands: the fields that show it, how, and the formula of a derived one."""

    places: Sequence[Place]
    how: str = "verbatim"
    formula: str = ""


def shown(places: Sequence[Place], how: str = "verbatim") -> Ground | None:
    """The ground that fields give, if any."""
    return Ground(places, how) if places else None


def said(claim: Claim) -> Figure:
    """A number, an amount or a percentage of the reply as a figure."""
    kind = "rate" if claim.kind == "percent" else "money" if claim.mention.unit else ANY
    return Figure(claim.mention.value, "reply", kind)


class Figures:
    """Asks the index about the numbers of one reply."""

    def __init__(self, reading: Reading, index: Index, now: str) -> None:
        self.reading, self.index = reading, index
        self.words = reading.language.words
        self.at = moment(now)
        self.today = self.at.date() if self.at else None
        self.said: list[Figure] = []
        self.named: frozenset[Owner] = frozenset()

    def _ending(self, digits: str) -> list[Place]:
        """The fields whose digits end so: a phone, a card's last four, `order_70412`."""
        held = ((p, "".join(_DIGITS.findall(str(p.value)))) for p in self.index.strings())
        return [place for place, own in held if own.endswith(digits[-10:])]

    def _number(self, claim: Claim) -> Ground | None:
        readings = [settle(r) for r in claim.mention.readings]
        if not self._known(claim.mention.unit):
            return None
        how = "verbatim" if claim.token.isdigit() else "formatted"
        exact = self._day(claim) or shown(self._exact(claim, readings), how)
        held = exact or self._minor(claim)
        if not held and not self.may_count(claim):
            held = shown(self._rounded(claim, readings), "formatted")
        return held or self._glued(claim) or self._written(claim) or self._hour(claim)

    def _day(self, claim: Claim) -> Ground | None:
        """The dates of which a number right behind a weekday is the day: "Sunday 22"."""
        last = self.reading.before(claim)
        led = last is not None and last.kind == "weekday" and claim.start - last.end == 1
        return self._ordinal(claim) if led and claim.kind == "number" else None

    def _hour(self, claim: Claim) -> Ground | None:
        """The times whose hour a number may be: "from 14 to 15:30"."""
        value = claim.mention.value
        if claim.kind != "number" or not value or not SMALL < value <= 24:
            return None
        held = self.index.times.items()
        return shown([p for m, own in held if m // 60 == value % 24 for p in own], "formatted")

    _money = _number

    def _percent(self, claim: Claim) -> Ground | None:
        readings = [settle(r) for r in claim.mention.readings]
        held = [*self._exact(claim, readings), *self._rounded(claim, readings)]
        rates = [
            p for p in held if not p.key or kind_of(p.key) == "rate" or isinstance(p.value, str)
        ]
        return shown(rates, "formatted")

    def _ordinal(self, claim: Claim) -> Ground | None:
        """The dates of which an ordinal in figures is the day: "on the 24th"."""
        if not claim.token[:1].isdigit():
            return None
        days = self.index.dates.items()
        held = [p for (_, day), own in days if day == claim.mention.value for _, p in own]
        return shown(held, "formatted")

    def _known(self, unit: str) -> bool:
        """Whether a currency is none, or one of those that the data names, if it names any."""
        known = self.index.currencies if unit else ()
        return not known or unit in known

    def _exact(self, claim: Claim, readings: Sequence[Number]) -> list[Place]:
        signed = dict.fromkeys(sign * value for value in readings for sign in (1, -1))
        places = [p for value in signed for p in self.index.numbers.get(value, ())]
        return places + (self._ending(claim.token) if re.fullmatch(r"\d{4,}", claim.token) else [])

    def _steps(self, claim: Claim, readings: Sequence[Number]) -> Iterator[tuple[Number, float]]:
        """The readings of a figure, each with what one in its last digit stands for."""
        for value, decimals in zip(readings, claim.mention.decimals or (0,) * 9, strict=False):
            scale = claim.mention.scale if abs(value) >= claim.mention.scale else 1
            yield value, scale * 10.0**-decimals

    def _rounded(self, claim: Claim, readings: Sequence[Number]) -> list[Place]:
        """The fields that a rounded or bounded figure may stand for."""
        loose = is_rough(self.reading, claim) or bound(self.reading, claim) != 0
        found: list[Place] = []
        for value, step in self._steps(claim, readings):
            low, high = self._around(claim, abs(value), step)
            near = (p for p in self.index.figures if low <= abs(p.value) <= high)
            found += [p for p in near if loose or step > 1 or isinstance(p.value, float)]
        return found

    def _around(self, claim: Claim, value: Number, step: float) -> tuple[float, float]:
        """Between which figures the exact one lies."""
        rough, side = is_rough(self.reading, claim), bound(self.reading, claim)
        slack = slack_of(value, step, rough=rough)
        low, high = value - (slack if rough else slack / 2), value + slack
        return (0.5 * low if side < 0 else low), (1.5 * high if side > 0 else high)

    def follows(self, claim: Claim) -> Ground | None:
        """How a figure that no field shows follows from others, once `said` holds those that the
        reply shows."""
        if claim.kind not in ("number", "money", "percent") or not self._known(claim.mention.unit):
            return None
        readings = [settle(r) for r in claim.mention.readings]
        rough, unit = (
            is_rough(self.reading, claim) or bound(self.reading, claim) != 0,
            self.unit(claim),
        )
        for value, step in self._steps(claim, readings) if claim.kind == "percent" else ():
            if formula := self.closure.share(value, step, rough=rough):
                return Ground([], "derived", formula)
        for value, step in self._steps(claim, readings):
            if held := self.measures.measured(value, step, unit, rough=rough):
                return Ground(held, "formatted")
            if self.measures.lasts(value, step, unit, rough=rough):
                return Ground([], "derived", f"between two moments, in {unit}s")
            if formula := self._formula(claim, value, step, rough=rough):
                return Ground([], "derived", formula)
        return shown(self._exact(claim, readings)) or shown(self._rounded(claim, readings))

    def follows_in(self, claim: Claim, owner: Owner) -> Ground | None:
        """How a figure follows from those of the one record that its line names."""
        rough = is_rough(self.reading, claim) or bound(self.reading, claim) != 0
        readings = [settle(r) for r in claim.mention.readings]
        scales = (1, 1000, 0.001) if self._scaled(claim) else (1,)
        for value, step in self._steps(claim, readings):
            for n in scales:
                if formula := self.closure.of_record(owner, value * n, step * n, rough=rough):
                    return Ground([], "derived", formula)
        return None

    def _formula(self, claim: Claim, value: Number, step: float, *, rough: bool) -> str:
        """How a figure follows, as it is or in thousands or thousandths."""
        stems, follows = self._said_with(claim), self.closure.follows
        means = step < 1 or rough or among(stems, self.words.average)
        often = among(stems, self.words.units)
        compares = among(stems, self.words.difference, self.words.more, self.words.less)
        unit = "rate" if claim.kind == "percent" else "money" if claim.mention.unit else ""
        unit = unit or UNITS.get(self.unit(claim), ("",))[0]
        found = follows(
            value, step, rough=rough, unit=unit, means=means, often=often, compares=compares
        )
        most = 3 if self.unit(claim) in MEASURES else 1
        scaled = step < 1 or self._scaled(claim)
        for factor in (1000, 0.001) if scaled and not found else ():
            found = found or follows(
                value * factor, step * factor, rough=rough, unit=unit, most=most
            )
        return found

    def _scaled(self, claim: Claim) -> bool:
        """Whether a unit stands behind a number, of which the data may have another: kW, MB, kg."""
        after = behind(self.reading.text, claim.end)
        return 0 < len(after) <= SHORT_UNIT or self.unit(claim) in MEASURES

    def _said_with(self, claim: Claim) -> list[str]:
        """The stems of a number's sentence; "media" is a half and an average."""
        sentence, stem = self.reading.sentence(claim.start), self.reading.language.stem
        inside = self.reading.inside(sentence)
        spelled = [stem(c.token) for c in inside if c.kind == "number" and c.mention.spelled]
        return self.reading.stems(sentence.start, sentence.end) + spelled

    @cached_property
    def closure(self) -> Closure:
        """What follows from the figures of the index and those that the reply shows."""
        year = self.today.year if self.today else 0
        return Closure(self.index, self.said, self.named, year)

    @cached_property
    def measures(self) -> Measures:
        """The lengths of time, sizes and weights of the index."""
        held = [at for own in self.index.moments().values() for at, _ in own][:STARTS]
        moments = [*held, *([self.at] if self.at else [])]
        return Measures(self.index, sorted(at.timestamp() / 60 for at in moments))

    def unit(self, claim: Claim) -> str:
        """The unit that stands behind a number."""
        return unit_behind(self.reading.text, claim.end, self.reading.language)

    def _glued(self, claim: Claim) -> Ground | None:
        """The ground of a number that is part of a code or a name, such as the 9 of seat `9E`."""
        before = _BEFORE.search(self.reading.text, max(0, claim.start - LONGEST), claim.start)
        after = _AFTER.match(self.reading.text, claim.end)
        whole = f"{before[0] if before else ''}{claim.token}{after[0] if after else ''}"
        return shown(self.index.find(whole, "-")) if whole != claim.token else None

    def _written(self, claim: Claim) -> Ground | None:
        """The fields in which a number stands as text, alone or with what stands around it; a year
        also as the year of a date."""
        if found := self._year(claim):
            return found
        around = _AROUND.match(self.reading.text, self.reading.text.rfind(" ", 0, claim.start) + 1)
        forms = dict.fromkeys([claim.token, around.group() if around else claim.token])
        told = [form for form in forms if len(form) >= len(claim.token) and _DIGITS.search(form)]
        return shown([place for form in told for place in self.index.find(form, "-.")])

    def _year(self, claim: Claim) -> Ground | None:
        """The dates of a year, or this one, the last and the next."""
        if not _YEAR.fullmatch(claim.token):
            return None
        held = (p for own in self.index.dates.values() for y, p in own if y == claim.mention.value)
        near = self.today and abs(self.today.year - claim.mention.value) <= 1
        found = shown(list(islice(held, SMALL)))
        return found or (Ground([], "derived", "this year") if near else None)

    def may_count(self, claim: Claim) -> bool:
        """Whether a number may count anything: a small whole one, one in words; no code's."""
        mention = claim.mention
        if mention.value is None or mention.spelled or self._is_minor(claim):
            return True  # one too long to be a number is read as none
        whole = float(mention.value).is_integer() and 0 <= mention.value <= SMALL
        if mention.value == PER and self.unit(claim):
            return True  # litres for 100 km
        return whole and not mention.unit and not self._shaped(claim)

    def _shaped(self, claim: Claim) -> bool:
        """Whether a number has a capital right behind it, as codes of the data do: seat 8F."""
        after = self.reading.text[claim.end : claim.end + 2]
        coded = after[:1].isupper() and not after[1:].isalnum()
        return coded and bool(re.search(r"(?<![^\W_])\d+[a-z](?![^\W_])", self.index.text))

    def _is_minor(self, claim: Claim) -> bool:
        """Whether a number stands right behind an amount, as its hundredths: 12 euros 50."""
        last = self.reading.before(claim)
        return last is not None and last.kind == "money" and 0 <= claim.start - last.end <= 1

    def _minor(self, claim: Claim) -> Ground | None:
        last = self.reading.before(claim)
        if last is None or not self._is_minor(claim):
            return None
        value = settle(last.mention.value + claim.mention.value / 100)
        return shown(self.index.numbers.get(value, ()), "formatted")


def moment(now: str) -> datetime | None:
    """The moment that a text of ISO 8601 names."""
    try:
        return datetime.fromisoformat(now).astimezone(UTC) if now else None
    except ValueError:
        return None
