"""Grounds of a number, amount or percentage: a field, a rounded field, or a derivation."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import repeat

from .. import language
from ..language.numerals import normalise
from ..language.units import NO_UNIT, Unit, unit_after, unit_of
from .arithmetic import MAX_SAID, REPLY, Arithmetic
from .groups import ANY, QUOTIENT, Figure
from .index import Index
from .places import (
    MESSAGE,
    Number,
    Owner,
    Place,
    currencies_of,
    key_words,
    kind_of,
    unit_of_key,
    word_after,
)
from .reading import Claim, Reading, has_any
from .words import places_ending, places_grouped

SMALL, MIN_LONG = 12, 100
"""Smaller numbers need no source unless a list contradicts; durations from LONG on need one."""
MIN_ROUND = 1000
"""Minimum of a figure with one digit before its noughts to be a mark that others pass."""
SHORT_UNIT = 3
"""Maximum letters of a unit's sign."""
MAX_DAYS = 36_500
"""Maximum distance of a date in days: a hundred years."""
MAX_COUNT_DIGITS = 4
"""Maximum digits of an unseparated number that may be a count."""
MAX_FIGURES = 100
"""Maximum figures of a reply whose lines are told apart."""
MAX_DISTANCE, MARKS = 24, ':=,;|()_\n\u2026\u2013\u2014\u2192\u25b8\u279c"\u201c\u201d\u00bb'
"""Maximum distance of a hedge ("about") from a figure, and characters that separate them."""
DEGREE = 1.8
"""Degrees Fahrenheit to one of Celsius."""
BINARY_SLACK = 0.1
"""Relative tolerance of sizes, for steps of 1024."""
AMBIGUOUS = ("millisecond", "second", "minute", "meter", "tonne", "celsius", "centimeter")
"""Units whose signs are ambiguous in keys: `wind_ms`, `price_min`, `us_cm`."""
_ABOUT = ("~", "\u2248")
_FIELD = re.compile(r"[^\s(]+|some of .*")
_DIGITS = re.compile(r"\d+")
_SMALLER = {"hour": unit_of("minute"), "minute": unit_of("second")}
_YEAR = re.compile(r"(?:19|20)\d\d")


@dataclass(slots=True)
class Ground:
    """The source of a value: its fields, how they match, and the formula of a derived one."""

    places: Sequence[Place]
    how: str = "verbatim"
    formula: str = ""


def ground_of(places: Sequence[Place], how: str = "formatted") -> Ground | None:
    """The ground of these fields, or None without any."""
    return Ground(places, how) if places else None


def is_rough(reading: Reading, claim: Claim) -> bool:
    """Whether a figure is marked as approximate."""
    about = reading.language.words.about
    has_sign = reading.text[max(0, claim.start - 2) : claim.start].strip()[-1:] in _ABOUT
    if has_sign or claim.mention.is_approximate or has_any(_before(reading, claim)[-2:], about):
        return True
    end = min(claim.end + MAX_DISTANCE, reading.sentence(claim.start).end)
    return has_any(reading.stems(claim.end, end)[:2], about)


def _before(reading: Reading, claim: Claim) -> list[str]:
    """The stems of up to three words before a figure, after any other value or label sign."""
    last = reading.before(claim)
    first = max(claim.start - MAX_DISTANCE, last.end if last else 0)
    mark = max(map(reading.text.rfind, MARKS, repeat(first), repeat(claim.start)))
    return reading.stems(max(first, mark), claim.start)[-3:]


class Figures:
    """Looks up the numbers of one reply in the index; `at` is the turn's time."""

    def __init__(self, reading: Reading, index: Index, at: datetime | None) -> None:
        self.reading, self.index, self.at = reading, index, at
        self.year = at.year if at else 0
        self._units: dict[int, Unit] = {}
        self._known: list[tuple[int, Figure]] = []
        self._named_rows: tuple[Owner, ...] = ()

    def add_known(self, said: Sequence[Claim], named: tuple[Owner, ...] | None = None) -> None:
        """Add sourced figures of the reply, and its named records in order, for derivations."""
        known = len(self._known), self._named_rows
        self._known += [(c.start, _figure(c)) for c in said if c.kind in KINDS and _is_usable(c)]
        self._known.sort(key=lambda told: told[0])
        self._named_rows = self._named_rows if named is None else named
        if known != (len(self._known), self._named_rows):
            # it was worked out of what was known until now
            vars(self).pop("arithmetic", None)

    def ground(self, claim: Claim) -> Ground | None:
        """The fields with a figure: exact, converted, or as part of a text."""
        if not self._is_currency(claim.mention.unit):
            return None
        if whole := self._lasting(claim):
            value, unit = whole
            return Ground(self.measures.find(value, 1 / 2, unit), "formatted", "duration")
        readings = [normalise(r) for r in claim.mention.readings]
        exact = self._exact(claim, readings) or self._dates_away(claim)
        if claim.kind == "percent":
            return self._rate_places(exact, readings)
        dated = self._calendar(claim)
        if exact:
            how = "verbatim" if claim.token.isdigit() else "formatted"
            return Ground([*exact, *self._measured(claim)], how)
        run = ground_of(places_grouped(self.index, self.reading.text, claim.start, claim.end))
        return dated or run or self._in_other_measure(claim)

    def _measured(self, claim: Claim) -> Sequence[Place]:
        """The fields of its measure: "9 km" of `distance_m: 9005`, and not only of `floors: 9`."""
        found = self._in_other_measure(claim) if self.unit(claim) else None
        return found.places if found else ()

    def _lasting(self, claim: Claim) -> tuple[Number, Unit] | None:
        """The whole of a duration in two parts, "9 hours 14 minutes", in the smaller unit."""
        before, after = self.reading.before(claim), self.reading.after(claim)
        for large, small in ((before, claim), (claim, after)):
            if large and small and large.kind == small.kind == "number":
                said, unit = (large.mention.value, small.mention.value), self.unit(small)
                near = small.start - large.end <= MAX_DISTANCE and None not in said
                if near and unit == _SMALLER.get(self.unit(large).name):
                    return 60 * said[0] + said[1], unit
        return None

    def _dates_away(self, claim: Claim) -> list[Place]:
        """The dates so many days from now: "131 days left"."""
        days = claim.mention.value or 0
        if not self.at or self.unit(claim).name != "day" or not MIN_LONG <= days <= MAX_DAYS:
            return []
        ends = (self.at + timedelta(days=way * days) for way in (-1, 1))
        dates = ((end.year, self.index.dates.get((end.month, end.day), ())) for end in ends)
        return [place for year, found in dates for of, place in found if of == year]

    def _rate_places(self, exact: Sequence[Place], readings: Sequence[Number]) -> Ground | None:
        """The rate or text fields with a percentage, or those with it as a fraction."""
        rates = "rate", ""
        told = [p for p in exact if isinstance(p.value, str) or kind_of(p.key) in rates]
        shares = [p for r in readings for p in self.index.numbers.get(normalise(r / 100), ())]
        return ground_of([*(p for p in shares if isinstance(p.value, float)), *told])

    def _is_currency(self, unit: str) -> bool:
        """Whether a currency is empty or compatible with those in the data, if any."""
        known = self.index.cached("currencies", self._currencies) if unit else ()
        return not known or language.is_currency_among(unit, known)

    def _currencies(self) -> frozenset[str]:
        """The currencies in the data: in keys, in texts with a figure or under currency keys, and a
        single text that is a code; not from the message."""
        own = [p for p in self.index.strings if p.call != MESSAGE]
        said = {p.value for p in own if _DIGITS.search(p.value)}
        held = (language.numbers(text, "en") for text in said if language.currencies_in(text))
        told = [p.value for p in own if "currenc" in p.key.lower()]
        codes = language.currencies_in("\n".join({p.value for p in own if len(p.value) == 3}))
        named = language.currencies_in("\n".join(told)).union(*map(currencies_of, self.index.keys))
        named |= {one.unit for found in held for one in found if one.unit}  # and not "SCR-40"
        return named | codes if named or len(codes) == 1 else named

    def _exact(self, claim: Claim, readings: Sequence[Number]) -> list[Place]:
        """The fields with a value; for amounts also in minor units."""
        places = [p for p in self._signed(readings) if not self._is_in_other_unit(claim, p)]
        places += places_ending(self.index, claim.token)
        places = places or self._hundredths(claim, readings)
        if not self.index.lists or not self.is_quantity(claim):
            return places
        return [p for p in places if p.call != MESSAGE]

    def _hundredths(self, claim: Claim, readings: Sequence[Number]) -> list[Place]:
        """The fields that may have an amount in minor units."""
        is_amount = claim.kind == "money" or claim.mention.decimals[:1] == (2,)
        minor = self._signed([normalise(100 * r) for r in readings]) if is_amount else ()
        return [p for p in minor if type(p.value) is int and _may_be_minor(p.key)]

    def _signed(self, values: Sequence[Number]) -> list[Place]:
        """The fields with a value, or its negative: people say "a loss of 5" of -5."""
        signed = dict.fromkeys(sign * value for value in values for sign in (1, -1))
        return [p for value in signed for p in self.index.numbers.get(value, ())]

    def in_other_unit(self, claim: Claim) -> str:
        """The field with the figure in another unit (`dose_mg: 75` for "75 g"), or empty."""
        small = 0 <= (claim.mention.value or 0) <= SMALL and self.is_whole(claim)
        told = claim.mention.readings[:1] if not small and self.unit(claim) else ()
        held = (p for value in told for p in self.index.numbers.get(normalise(value), ()))
        return next((f"{p.key}: {p.value}" for p in held if self._is_in_other_unit(claim, p)), "")

    def _is_in_other_unit(self, claim: Claim, place: Place) -> bool:
        if claim.mention.unit:
            return self.measures.unit_of(place).measure == "mass"  # 38.4 pounds of `weight_kg`
        return bool(place.value) and self.measures.is_in_other_unit(place, self.unit(claim))

    def is_quantity(self, claim: Claim) -> bool:
        """Whether a number is a count: whole, without unit or currency, and too short for an id.
        The user's message is no source for counts."""
        is_code = claim.token.isdigit() and len(claim.token) > MAX_COUNT_DIGITS
        is_bare = not (claim.mention.unit or self.unit(claim))
        return self.is_whole(claim) and is_bare and not is_code

    def is_small(self, claim: Claim) -> bool:
        """Whether a number is a small count."""
        return self.is_quantity(claim) and claim.mention.value <= SMALL

    @staticmethod
    def is_whole(claim: Claim) -> bool:
        """Whether a number is whole, and written without decimals."""
        value = claim.mention.value
        whole = claim.kind == "number" and value is not None and float(value).is_integer()
        return whole and not any(claim.mention.decimals[:1])

    def _calendar(self, claim: Claim) -> Ground | None:
        """The dates or times of which a bare number is year, day or hour: "in 2025", "on Sunday
        22", "from 14 to 15:30"."""
        value = claim.mention.value
        if _YEAR.fullmatch(claim.token):
            near = self.year and abs(self.year - value) <= 1
            found = ground_of(self.index.years.get(value, []))
            return found or (Ground([], "derived", "this year") if near else None)
        if not self._is_bare(claim):
            return None
        return ground_of(self.index.days.get(value, []))

    def _is_bare(self, claim: Claim) -> bool:
        """Whether no noun or unit follows the number."""
        after = word_after(self.reading.text, claim.end)
        is_counted = after and not has_any([after], self.reading.language.words.function)
        return claim.kind == "number" and not (is_counted or self.unit(claim))

    def _steps(self, claim: Claim) -> Iterator[tuple[Number, float]]:
        """The readings of a figure, each with the value of one in its last digit."""
        mention = claim.mention
        for value, decimals in zip(mention.readings, mention.decimals or (0,) * 9, strict=False):
            scale = mention.scale if abs(value) >= mention.scale else 1
            yield normalise(value), scale * 10.0**-decimals

    def may_count(self, claim: Claim) -> bool:
        """Whether a figure needs no source: small whole numbers, numbers in words, approximations,
        one digit before noughts from a thousand on ("over 4,000 visits"), minor units, unparsed
        ones, percentages, short durations, and "per 100". Unsourced ones were hardly more often
        false than true."""
        mention = claim.mention
        if self.in_other_unit(claim):
            return False
        if mention.value is None or mention.is_spelled or claim.kind == "percent":
            return True
        unit = self.unit(claim)
        is_worked_out = mention.value < MIN_LONG or unit.name == "year"
        if (unit.measure == "time" and is_worked_out) or is_rough(self.reading, claim):
            return True
        is_mark = mention.value >= MIN_ROUND and not mention.unit
        if is_mark and len(str(mention.value).rstrip("0.")) == 1:
            return True
        whole = float(mention.value).is_integer() and 0 <= mention.value <= SMALL
        told = bool(mention.unit or unit)
        return (whole and not told) or (mention.value == 100 and told)

    def _in_other_measure(self, claim: Claim) -> Ground | None:
        """The fields with a size, weight or other measure, except time, in any unit."""
        unit = self.unit(claim)
        return self._convert(claim) if unit and unit.measure != "time" else None

    def _convert(self, claim: Claim) -> Ground | None:
        unit = self.unit(claim)
        if unit.measure == "temperature":
            return ground_of(self.measures.temperatures(claim.mention.value, unit))
        held = (self.measures.find(value, step, unit) for value, step in self._steps(claim))
        return ground_of(next(filter(None, held), []))

    def derive(self, claim: Claim) -> Ground | None:
        """The derivation of a figure without a field, from data and other figures."""
        if claim.kind not in KINDS or not self._is_currency(claim.mention.unit):
            return None
        if held := self._convert(claim):
            return held
        for value, step in self._steps(claim):
            formula = self._formula(claim, value, step)
            if formula and not (_FIELD.fullmatch(formula) and self.in_other_unit(claim)):
                return Ground([], "derived", formula)
        return None

    def _formula(self, claim: Claim, value: Number, step: float) -> str:
        """The formula of a figure: as it is, scaled by 1000, converted, or in minor units."""
        kind, after = self._kind(claim), word_after(self.reading.text, claim.end)
        is_scaled = step < 1 or 0 < len(after) <= SHORT_UNIT or self.unit(claim)
        scales = (1000.0, 0.001) if is_scaled else ()
        for factor in (1.0, *scales):
            if found := self.arithmetic.derive(normalise(value * factor), step * factor, kind):
                return found
        if "minor" in language.key_roles(after):  # "69 cents" of an amount
            return self.arithmetic.derive(normalise(value / 100), step / 100, "money")
        if claim.kind != "money":
            return ""
        return self.arithmetic.derive(normalise(100 * value), 100 * step, kind, is_minor=True)

    def _kind(self, claim: Claim) -> str:
        """The kind of a figure; empty for temperatures."""
        if claim.kind == "percent" or claim.mention.unit:
            return "rate" if claim.kind == "percent" else "money"
        measure = self.unit(claim).measure
        return "" if measure == "temperature" else measure

    def is_of(self, owners: frozenset[Owner], claim: Claim) -> bool:
        """Whether a figure is derived from these records."""
        if _YEAR.fullmatch(claim.token):
            return False
        of, scales = self.arithmetic.of_records, (1, 100) if claim.kind == "percent" else (1,)
        figures = ((v / scale, s / scale) for v, s in self._steps(claim) for scale in scales)
        kinds = ("rate", QUOTIENT) if claim.kind == "percent" else ()
        return any(of(owners, value, step / 2, kinds) for value, step in figures)

    @cached_property
    def arithmetic(self) -> Arithmetic:
        """The derivations from index and reply."""
        said = [one for _, one in self._known][:MAX_SAID]
        return Arithmetic(self.index, said, self._named_rows, self._lines())

    def _lines(self) -> list[list[Figure]]:
        lines: dict[int, list[Figure]] = {}
        for start, one in self._known[:MAX_FIGURES]:
            lines.setdefault(self.reading.text.count("\n", 0, start), []).append(one)
        return [*lines.values()]

    @cached_property
    def measures(self) -> Measures:
        """The measures of the index."""
        return self.index.cached("measures", lambda: Measures(self.index))

    def unit(self, claim: Claim) -> Unit:
        """The unit after a number; implied for the second part of "2 h 55"."""
        if claim.end not in self._units:
            text, spoken = self.reading.text, self.reading.language
            last = self.reading.before(claim)
            found = unit_after(text, claim.end, spoken)
            if not found and last and text[last.end : claim.start].strip().isalpha():
                larger = unit_after(text, last.end, spoken)
                is_part = last.kind == claim.kind == "number"
                found = _SMALLER.get(larger.name, NO_UNIT) if is_part else NO_UNIT
            self._units[claim.end] = found
        return self._units[claim.end]


class Measures:
    """The durations, sizes and weights of an index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    def has_kind(self, kind: str) -> bool:
        """Whether any figure has this kind of measure."""
        return kind in self._bases

    def find(self, value: Number, slack: float, unit: Unit) -> list[Place]:
        """The fields with this value in any unit, within `slack`."""
        _, kind, size = unit
        slack = max(slack, abs(value) * BINARY_SLACK if kind == "size" else 0)
        sizes, places = self._bases.get(kind, ([], []))
        first = bisect_left(sizes, (abs(value) - slack) * size)
        return places[first : bisect_right(sizes, (abs(value) + slack) * size)]

    def temperatures(self, value: Number, unit: Unit) -> list[Place]:
        """The fields with a temperature in Celsius that is told in Fahrenheit, or the reverse."""
        is_fahrenheit = unit.name == "fahrenheit"
        other = (value - 32) / DEGREE if is_fahrenheit else value * DEGREE + 32
        slack = 1 / 2 if is_fahrenheit else DEGREE / 2  # of a degree of the figure told
        own = (p for p in self._index.figures if kind_of(p.key) in ("", "temperature", "level"))
        return [p for p in own if abs(p.value - other) <= slack]

    def unit_of(self, place: Place) -> Unit:
        """The unit of a field, by its key or by a unit field of its record."""
        return unit_of_key(place.key.rpartition("_")[2]) or self.record_units.get(
            place.owner, NO_UNIT
        )

    @cached_property
    def record_units(self) -> dict[Owner, Unit]:
        """The units given by a field of the record."""
        told = (p for p in self._index.strings if "unit" in key_words(p.key))
        english = language.of("en")
        return {p.owner: unit_after(p.value, 0, english) for p in told}

    @cached_property
    def _bases(self) -> dict[str, tuple[list[float], list[Place]]]:
        """The figures with a known unit, in base units, sorted."""
        found: dict[str, list[tuple[float, Place]]] = {}
        for place in self._index.figures:
            units = {unit_of_key(word) for word in key_words(place.key)}
            for _, kind, size in units | {self.unit_of(place)}:
                if size:
                    found.setdefault(kind, []).append((abs(place.value) * size, place))
        ordered = {kind: sorted(own, key=lambda pair: pair[0]) for kind, own in found.items()}
        return {kind: ([b for b, _ in own], [p for _, p in own]) for kind, own in ordered.items()}

    def is_in_other_unit(self, place: Place, told: Unit) -> bool:
        """Whether a field's unit differs from `told`, or its measure, if its key is sure."""
        own = self.unit_of(place) if told else NO_UNIT
        if not own or own.name == told.name:
            return False
        # a whole number may be there by chance, and one with decimals hardly
        is_exact = isinstance(place.value, float) and not place.value.is_integer()
        is_sure = is_exact and own.name not in AMBIGUOUS
        is_sure = is_sure and told.measure != "time" and place.owner not in self.record_units
        return own.measure == told.measure or is_sure


def _is_usable(claim: Claim) -> bool:
    """Whether a figure can be used in derivations; not "half of it"."""
    value = claim.mention.value
    return bool(value) and (value >= 1 or not claim.mention.is_spelled)


def _figure(claim: Claim) -> Figure:
    rate, unit = claim.kind == "percent", claim.mention.unit
    return Figure(claim.mention.value, "rate" if rate else "money" if unit else ANY, REPLY)


def _may_be_minor(key: str) -> bool:
    named = bool(currencies_of(key))
    return bool(key) and (not named or "minor" in language.key_roles(key))


KINDS = ("number", "money", "percent")
"""Kinds of figures."""
