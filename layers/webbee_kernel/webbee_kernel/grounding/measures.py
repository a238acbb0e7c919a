"""The figures of an index as durations, sizes and weights, converted between units."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import cached_property

from .. import language
from ..language.units import NO_UNIT, Unit, unit_after
from .index import Index
from .places import Number, Owner, Place, key_words, kind_of, unit_of_key

DEGREE = 1.8
"""Degrees Fahrenheit to one of Celsius."""
BINARY_SLACK = 0.1
"""Relative tolerance of sizes, for steps of 1024."""
AMBIGUOUS = ("millisecond", "second", "minute", "meter", "tonne", "celsius", "centimeter")
"""Units whose signs are ambiguous in keys: `wind_ms`, `price_min`, `us_cm`."""


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
