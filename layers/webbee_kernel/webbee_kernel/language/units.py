"""Units of measure from CLDR: sign or name → unit, quantity and conversion factor."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

from .model import Language, of
from .resources import locale


class Unit(NamedTuple):
    """`name` is CLDR's ("kilowatt-hour"), `measure` the quantity ("energy"), `size` the factor to
    its base unit, 0 where units are not converted."""

    name: str = ""
    measure: str = ""
    size: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.name)


NO_UNIT = Unit()
PREFIXES: Mapping[str, float] = {
    "tera": 1e12, "giga": 1e9, "mega": 1e6, "kilo": 1e3, "hecto": 100, "deci": 0.1, "centi": 0.01,
    "milli": 1e-3, "micro": 1e-6, "nano": 1e-9,
}  # fmt: skip
_BASES: Mapping[str, tuple[str, float]] = {
    "second": ("time", 1), "minute": ("time", 60), "hour": ("time", 3600), "day": ("time", 86_400),
    "week": ("time", 604_800), "month": ("time", 2_629_746), "quarter": ("time", 7_889_238),
    "year": ("time", 31_556_952), "byte": ("size", 1),
    "gram": ("mass", 1), "tonne": ("mass", 1e6), "pound": ("mass", 453.59237),
    "ounce": ("mass", 28.349523),
    "meter": ("length", 1), "foot": ("length", 0.3048), "mile": ("length", 1609.344),
    "square-meter": ("area", 1), "hectare": ("area", 1e4), "square-kilometer": ("area", 1e6),
    "liter": ("volume", 1), "cubic-meter": ("volume", 1000), "gallon": ("volume", 3.785411784),
    "tablespoon": ("volume", 0.014786765), "teaspoon": ("volume", 0.0049289216),
    "watt": ("power", 1), "watt-hour": ("energy", 1), "joule": ("energy", 1 / 3600),
    "calorie": ("energy", 4.184 / 3600),
    "hertz": ("frequency", 1), "volt": ("voltage", 1),
    "ampere": ("current", 1), "pascal": ("pressure", 1),
    "kilometer-per-hour": ("speed", 1), "meter-per-second": ("speed", 3.6),
    "mile-per-hour": ("speed", 1.609344), "knot": ("speed", 1.852),
    "celsius": ("temperature", 0), "fahrenheit": ("temperature", 0),
}  # fmt: skip
"""Quantity and factor to its base unit of CLDR's units; temperatures need an offset instead."""
_LETTERS = {
    "latin": {"tera": "T", "giga": "G", "mega": "M", "kilo": "k", "milli": "m", "micro": "µ"},
    "cyrillic": {"tera": "Т", "giga": "Г", "mega": "М", "kilo": "к", "milli": "м", "micro": "мк"},
}  # fmt: skip
"""The letters of the prefixes of the SI."""
_UNITS_WITH_PREFIXES = ("watt", "watt-hour")
"""Units whose SI prefixes CLDR lists incompletely."""
_ANY_CASE_MEASURES = ("mass", "length", "volume")
"""Measures whose one-letter signs occur in upper and lower case."""
_RARE = ("megaliter", "milliwatt", "milliwatt-hour")
"""Units whose sign in lower case is another unit's."""
_CLOCK = {"s": "second", "ms": "millisecond", "min": "minute", "h": "hour"}
"""The signs of the SI for time, in every language and in keys."""
_SIGN = re.compile(r"[\s-]?(°?\s?[^\W\d_]+[²³]?(?:[·⋅/*][^\W\d_]+[²³]?)*)(?![\w²³·⋅/])")
_BREAK = re.compile(r"[\s-]")
_WORDS = re.compile(r"[\s-]?([^\W\d_]+)(?:[\s-]([^\W\d_]+))?(?:[\s-]([^\W\d_]+))?")


@lru_cache(maxsize=512)
def unit_of(name: str) -> Unit:
    """The unit of a CLDR name: "kilowatt-hour"."""
    if name in _BASES:
        return Unit(name, *_BASES[name])
    for prefix, factor in PREFIXES.items():
        if name.startswith(prefix) and name[len(prefix) :] in _BASES:
            measure, size = _BASES[name[len(prefix) :]]
            return Unit(name, measure, size * factor)
    return NO_UNIT


def unit_after(text: str, at: int, language: Language) -> Unit:
    """The unit directly after a number, by its sign or by a name of up to three words."""
    signs, names = _unit_tables(language)
    sign = _SIGN.match(text, at)
    if sign and (found := _of_sign(_normal_sign(sign[1]), signs)):
        return found
    words = _WORDS.match(text, at)
    stems = [language.stem(word) for word in words.groups() if word] if words else []
    matches = (names.get(" ".join(stems[:count])) for count in range(len(stems), 0, -1))
    return next(filter(None, matches), NO_UNIT)


def _of_sign(sign: str, signs: Mapping[str, Unit]) -> Unit:
    """The unit of a sign, or of its lower case where it has two or more letters."""
    small = signs.get(sign.lower(), NO_UNIT) if len(sign) > 1 else NO_UNIT
    return signs.get(sign) or (NO_UNIT if small.measure == "time" else small)


@lru_cache(maxsize=2048)
def unit_of_key(word: str) -> Unit:
    """The unit that a word of a JSON key names: the second for the `s` of `duration_s`."""
    signs, names = _unit_tables(of("en"))
    word = word.replace("2", "²").replace("3", "³")
    sign = signs.get(word) or signs.get(f"°{word}") or _ratio_signs().get(word)
    return sign or names.get(of("en").stem(word), NO_UNIT)


@lru_cache(maxsize=1)
def _ratio_signs() -> Mapping[str, Unit]:
    """The signs of ratios as keys write them, without the slash: `kmh`."""
    signs = _unit_tables(of("en"))[0]
    return {sign.replace("/", ""): unit for sign, unit in signs.items() if "/" in sign}


def _normal_sign(sign: str) -> str:
    for char, instead in (("⋅", "·"), ("*", "·"), ("\u03bc", "µ"), ("\u00a0", ""), (" ", "")):
        sign = sign.replace(char, instead)
    return sign


@lru_cache(maxsize=16)
def _unit_tables(language: Language) -> tuple[Mapping[str, Unit], Mapping[str, Unit]]:
    """The units of a language, by sign and by stemmed name."""
    forms = list(_forms(language))
    short_forms = [(_normal_sign(form), unit) for width, unit, form in forms if width != "long"]
    signs = {sign: unit for sign, unit in reversed(short_forms) if _is_sign(sign, unit)}
    signs |= {sign: unit_of(name) for sign, name in _CLOCK.items()}
    signs = _with_si_prefixes(signs, language) | signs
    small = {sign.lower(): unit for sign, unit in signs.items() if _has_lower_case_sign(sign, unit)}
    stopwords = language.words.function  # "5 in total"
    return {s: u for s, u in (small | signs).items() if s not in stopwords}, _names(forms, language)


def _is_sign(form: str, unit: Unit) -> bool:
    """Whether a short form is a sign: no quote mark, and no "y" of "5 y 3"."""
    return form[-1].isalnum() and (len(form) > 1 or unit.measure != "time")


def _has_lower_case_sign(sign: str, unit: Unit) -> bool:
    """Whether the sign in lower case means the same unit."""
    return unit.name not in _RARE and (len(sign) > 1 or unit.measure in _ANY_CASE_MEASURES)


def _names(forms: Iterable[tuple[str, Unit, str]], language: Language) -> dict[str, Unit]:
    """The units by stemmed name, from CLDR and the language file."""
    found: dict[str, Unit] = {}
    for width, unit, form in forms:
        if width == "long":
            found[" ".join(map(language.stem, _BREAK.split(form)))] = unit
    for concept, words in language.words.lists("units").items():
        found |= {language.stem(word): unit_of(concept) for word in words.split()}
    return found


def _with_si_prefixes(signs: Mapping[str, Unit], language: Language) -> dict[str, Unit]:
    """The signs of units with SI prefixes that CLDR lacks."""
    found: dict[str, Unit] = {}
    letters = _LETTERS.get(language.script, _LETTERS["latin"])
    by_name = {unit.name: sign for sign, unit in reversed([*signs.items()])}
    hour = by_name.get("kilowatt-hour", "").removeprefix(letters["kilo"])
    for name, sign in {**by_name, "watt-hour": hour}.items():
        if sign and name in _UNITS_WITH_PREFIXES:
            extra = {letter + sign: unit_of(prefix + name) for prefix, letter in letters.items()}
            found |= {sign: unit_of(name)} | extra
    return found


def _forms(language: Language) -> Iterator[tuple[str, Unit, str]]:
    """CLDR's forms as (width, unit, sign or name)."""
    patterns = locale(language.tag)._data["unit_patterns"]
    units = {whole: unit_of(whole.partition("-")[2]) for whole in patterns}
    for width in ("short", "narrow", "long"):
        for whole, unit in units.items():
            forms = patterns[whole].get(width) or {} if unit.measure else {}
            for pattern in (p for count, p in forms.items() if count != "per" and p):
                yield width, unit, pattern.replace("{0}", "").strip(" \u00a0\u202f.")
