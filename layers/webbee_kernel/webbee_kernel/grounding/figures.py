"""A number, amount or percentage of a reply: shown by a field, rounded from one, or following."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice, pairwise, repeat

from .arithmetic import TELLING, Arithmetic
from .groups import ANY, Figure
from .index import Index
from .places import MESSAGE, Number, Owner, Place, settle
from .reading import Claim, Reading, Sentence, among
from .units import UNITS, Measures, behind, kind_of, slack_of, unit_behind

SMALL = 12
"""Whole numbers up to here may count anything, where no list says otherwise."""
LONGEST_ENDING = 10
"""Digits by which a number's end is compared."""
LONGEST, SHORT_UNIT = 60, 3
"""Characters of what a number is part of; letters of the sign of a unit."""
NEAR, MARKS = 24, ':=,;|()_\n\u2026\u2013\u2014\u2192\u25b8\u279c"\u201c\u201d\u00bb'
"""Characters around a figure in which it is hedged, and what no bound reaches over."""
PARTS, APART = {"hour": 3600, "minute": 60, "second": 1}, 48
"""The parts of a length of time, in seconds; characters around a number in which others stand."""
_ENDS = (".", ",", ";", "\n", ")", "")
_ABOUT = ("~", "\u2248")
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


def is_rough(reading: Reading, claim: Claim) -> bool:
    """Whether a figure is said to be rounded."""
    about = reading.language.words.about
    marked = reading.text[max(0, claim.start - 2) : claim.start].strip()[-1:] in _ABOUT
    if marked or claim.mention.about or among(reading.near(claim), about):
        return True
    return among(reading.stems(claim.end, claim.end + NEAR)[:3], about)


def bound(reading: Reading, claim: Claim) -> int:
    """Whether a figure is a lower bound (1), an upper one (-1) or none: words beyond another value
    or the sign of a label bound nothing."""
    words, last = reading.language.words, reading.before(claim)
    first = max(claim.start - NEAR, last.end if last else 0)
    mark = max(map(reading.text.rfind, MARKS, repeat(first), repeat(claim.start)))
    near = reading.stems(max(first, mark), claim.start)[-3:]
    side = among(near, words.more) - among(near, words.less)
    return -side if among(near, words.negation) else side  # "no more than"


class Figures:
    """Asks the index about the numbers of one reply."""

    def __init__(self, reading: Reading, index: Index, now: str) -> None:
        self.reading, self.index = reading, index
        self.at = moment(now)
        self.today = self.at.date() if self.at else None
        self._units: dict[int, str] = {}
        self.said: list[Figure] = []
        self.named: frozenset[Owner] = frozenset()

    # ---- shown by a field

    def _number(self, claim: Claim) -> Ground | None:
        readings = [settle(r) for r in claim.mention.readings]
        if not self._is_currency(claim.mention.unit):
            return None
        how = "verbatim" if claim.token.isdigit() else "formatted"
        exact = self._day(claim) or shown(self._exact(claim, readings), how)
        held = exact or self._minor(claim, readings)
        if not held and not self.may_count(claim):
            held = shown(self._rounded(claim, readings), "formatted")
        held = held or self._glued(claim) or self._written(claim) or self._hour(claim)
        held = held or self._bare_day(claim)
        return held or shown(self.measures.lengths(self._in_parts(claim)), "formatted")

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

    def _is_currency(self, unit: str) -> bool:
        """Whether a currency is none, or one of those that the data names, if it names any."""
        known = self.index.currencies if unit else ()
        return not known or unit in known

    def _exact(self, claim: Claim, readings: Sequence[Number]) -> list[Place]:
        signed = dict.fromkeys(sign * value for value in readings for sign in (1, -1))
        places = [p for value in signed for p in self.index.numbers.get(value, ())]
        places += self._ending(claim.token) if len(claim.token) > 3 else []
        if not self.is_quantity(claim):
            return places
        return [p for p in places if p.call != MESSAGE or not self.index.lists]

    def is_quantity(self, claim: Claim) -> bool:
        """Whether a number says how many: a whole one without a unit or a currency. What the user
        wrote is no source for it."""
        value, mention = claim.mention.value, claim.mention
        whole = claim.kind == "number" and value is not None and float(value).is_integer()
        exact = whole and not any(mention.decimals[:1])
        return exact and not mention.unit and not self.unit(claim)

    def _ending(self, digits: str) -> list[Place]:
        """The fields whose digits end so: a phone, a card's last four, `order_70412`."""
        if not digits.isdigit():
            return []
        return self.index.once("endings", self._endings).get(digits[-LONGEST_ENDING:], [])

    def _endings(self) -> dict[str, list[Place]]:
        """The fields with more than three digits, by the ends of these."""
        found: dict[str, list[Place]] = {}
        for place in self.index.strings:
            digits = "".join(_DIGITS.findall(place.value))
            for size in range(1, min(len(digits), LONGEST_ENDING) + 1 if len(digits) > 3 else 0):
                found.setdefault(digits[-size:], []).append(place)
        return found

    def _day(self, claim: Claim) -> Ground | None:
        """The dates of which a number right behind a weekday is the day: "Sunday 22"."""
        last = self.reading.before(claim)
        led = last is not None and last.kind == "weekday" and claim.start - last.end == 1
        return self._ordinal(claim) if led and claim.kind == "number" else None

    def _bare_day(self, claim: Claim) -> Ground | None:
        """The dates of which a number that nothing follows is the day: "del 21.", "und 29."."""
        alone = self.reading.text[claim.end : claim.end + 1] in _ENDS
        led = among(self.reading.near(claim)[-1:], self.reading.language.words.function)
        return self._ordinal(claim) if alone and led and claim.kind == "number" else None

    def _hour(self, claim: Claim) -> Ground | None:
        """The times whose hour a number may be: "from 14 to 15:30"."""
        value = claim.mention.value
        if claim.kind != "number" or not value or not SMALL < value <= 24:
            return None
        held = self.index.times.items()
        return shown([p for m, own in held if m // 60 == value % 24 for p in own], "formatted")

    def _minor(self, claim: Claim, readings: Sequence[Number]) -> Ground | None:
        """The amounts in hundredths that an amount is told of: 12900 as 129.00 euros; a number
        right behind an amount is its hundredths: 12 euros 50."""
        last = self.reading.before(claim)
        if last is not None and self._is_cents(claim):
            value = settle(last.mention.value + claim.mention.value / 100)
            return shown(self.index.numbers.get(value, ()), "formatted")
        if claim.kind != "money":
            return None
        held = (p for r in readings for p in self.index.numbers.get(settle(100 * r), ()))
        return shown([p for p in held if type(p.value) is int and p.key], "formatted")

    def _is_cents(self, claim: Claim) -> bool:
        last = self.reading.before(claim)
        return last is not None and last.kind == "money" and 0 <= claim.start - last.end <= 1

    def _steps(self, claim: Claim, readings: Sequence[Number]) -> Iterator[tuple[Number, float]]:
        """The readings of a figure, each with what one in its last digit stands for."""
        for value, decimals in zip(readings, claim.mention.decimals or (0,) * 9, strict=False):
            scale = claim.mention.scale if abs(value) >= claim.mention.scale else 1
            yield value, scale * 10.0**-decimals

    def _rounded(self, claim: Claim, readings: Sequence[Number]) -> list[Place]:
        """The fields that a rounded or bounded figure may stand for."""
        exact = len(claim.mention.decimals) > 0 and claim.mention.decimals[0] > 1
        side = 0 if exact else bound(self.reading, claim)
        rough = is_rough(self.reading, claim)
        found: list[Place] = []
        for value, step in self._steps(claim, readings):
            slack = slack_of(abs(value), step, rough=rough)
            low, high = abs(value) - (slack if rough else slack / 2), abs(value) + slack
            low, high = (0.5 * low if side < 0 else low), (1.5 * high if side > 0 else high)
            near = self.index.between(low, high)
            loose = rough or side != 0 or step > 1
            found += [p for p in near if loose or isinstance(p.value, float)]
        return found

    def _in_parts(self, claim: Claim) -> list[float]:
        """The seconds of the length of time of which a number is a part: 24 minutes and 37 seconds,
        4 min 25."""
        inside = self.reading.inside(Sentence(claim.start - APART, claim.end + APART, ""))
        parts = [(c, PARTS.get(self.unit(c), 0)) for c in inside if c.kind == "number"]
        found = []
        for (one, size), (other, less) in pairwise(parts):
            less = less or (1 if size == PARTS["minute"] else 0)
            if (
                claim in (one, other)
                and 0 < less < size
                and None not in (one.mention.value, other.mention.value)
            ):
                found.append(one.mention.value * size + other.mention.value * less)
        return found

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
        first = self.reading.text.rfind(" ", max(0, claim.start - LONGEST), claim.start) + 1
        around = _AROUND.match(self.reading.text, max(first, claim.start - LONGEST))
        forms = dict.fromkeys([claim.token, around.group()[:LONGEST] if around else claim.token])
        told = [form for form in forms if len(form) >= len(claim.token) and _DIGITS.search(form)]
        places = (place for form in told for place in self.index.find(form, "-."))
        quantity = self.is_quantity(claim)
        return shown(
            [p for p in places if not (quantity and p.call == MESSAGE and self.index.lists)]
        )

    def _year(self, claim: Claim) -> Ground | None:
        """The dates of a year, or this one, the last and the next."""
        if not _YEAR.fullmatch(claim.token):
            return None
        held = (p for own in self.index.dates.values() for y, p in own if y == claim.mention.value)
        near = self.today and abs(self.today.year - claim.mention.value) <= 1
        found = shown(list(islice(held, SMALL)))
        return found or (Ground([], "derived", "this year") if near else None)

    def may_count(self, claim: Claim) -> bool:
        """Whether a number may count anything: a small whole one; no code's."""
        mention = claim.mention
        if mention.value is None or self._is_cents(claim):
            return True  # one too long to be a number is read as none
        whole = float(mention.value).is_integer() and 0 <= mention.value <= SMALL
        per = mention.value == 100 and bool(self.unit(claim))  # litres for 100 km
        return (whole and not mention.unit) or per

    # ---- following from others

    def follows(self, claim: Claim) -> Ground | None:
        """How a figure that no field shows follows from others, once `said` holds those that the
        reply shows."""
        if claim.kind not in ("number", "money", "percent"):
            return None
        if not self._is_currency(claim.mention.unit):
            return None
        readings = [settle(r) for r in claim.mention.readings]
        rough = is_rough(self.reading, claim) or bound(self.reading, claim) != 0
        unit = self.unit(claim)
        for value, step in self._steps(claim, readings):
            share = claim.kind == "percent" and self.arithmetic.share(value, step, rough=rough)
            if share:
                return Ground([], "derived", share)
            if held := self.measures.held(value, step, unit, rough=rough):
                return Ground(held, "formatted")
            if self.measures.lasts(value, step, unit, rough=rough):
                return Ground([], "derived", f"between two moments, in {unit}s")
            if formula := self._formula(claim, value, step, rough=rough):
                return Ground([], "derived", formula)
        return shown(self._exact(claim, readings)) or shown(self._rounded(claim, readings))

    def _formula(self, claim: Claim, value: Number, step: float, *, rough: bool) -> str:
        """How a figure follows, as it is, in thousands or thousandths, an amount in hundredths."""
        also = self._also(claim, step, rough=rough)
        unit = "rate" if claim.kind == "percent" else "money" if claim.mention.unit else ""
        unit = unit or UNITS.get(self.unit(claim), ("",))[0]
        follows = self.arithmetic.follows
        found = follows(value, step, rough=rough, unit=unit, also=also)
        after = behind(self.reading.text, claim.end)
        scaled = step < 1 or 0 < len(after) <= SHORT_UNIT or self.unit(claim)
        factors = (1000, 0.001) if scaled else ()
        for factor in (100, *factors) if claim.kind == "money" else factors:
            found = found or follows(value * factor, step * factor, rough=rough, unit=unit)
        return found

    def _also(self, claim: Claim, step: float, *, rough: bool) -> list[str]:
        """The further ways in which a figure may follow, by the words that stand around it."""
        stems, words = self._stems(claim), self.reading.language.words
        ways = {
            "chosen": abs(claim.mention.value or 0) >= TELLING and step <= 1 and not rough,
            "means": step < 1 or rough or among(stems, words.average),
            "often": among(stems, words.units),
            "compared": among(stems, words.difference, words.more, words.less),
        }
        return [way for way, may in ways.items() if may]

    def _stems(self, claim: Claim) -> list[str]:
        sentence = self.reading.sentence(claim.start)
        return self.reading.stems(max(sentence.start, claim.start - 80), claim.end + 80)

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """What follows from the figures of the index and those that the reply shows."""
        year = self.today.year if self.today else 0
        return Arithmetic(self.index, self.said, self.named, year)

    @cached_property
    def measures(self) -> Measures:
        """The lengths of time, sizes and weights of the index."""
        return self.index.once("measures", lambda: Measures(self.index, self.at))

    def unit(self, claim: Claim) -> str:
        """The unit that stands behind a number."""
        if claim.end not in self._units:
            found = unit_behind(self.reading.text, claim.end, self.reading.language)
            self._units[claim.end] = found
        return self._units[claim.end]


def moment(now: str) -> datetime | None:
    """The moment that a text of ISO 8601 names."""
    try:
        return datetime.fromisoformat(now).astimezone(UTC) if now else None
    except ValueError:
        return None
