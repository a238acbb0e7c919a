"""Numerals and number words: `1,234.50`, `1 234,50`, `12.5 thousand`, `thirty-six`, `двадцать
три`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from typing import TypeAlias

Number: TypeAlias = int | float

#: Letters of scripts that put spaces between words; in the others a digit may stand right beside a
#: word.
LETTERS = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
SPACES = " \u00a0\u202f\u2009"
NUMERAL = re.compile(
    rf"(?<![{LETTERS}0-9_.])(?:\d{{1,3}}(?:[{SPACES},.’']\d{{3}})+(?!\d)(?:[.,]\d{{1,2}}(?!\d))?|\d+(?:[.,]\d+)?)"
)
LONGEST = 60  #: characters up to which a numeral is a number; beyond, it can only stand as it is
MULTIPLIER = re.compile(
    r"[ \u00a0]?(?:(thousand|тыс(?:яч[аиу]?)?\b\.?)|(million|млн\b\.?|миллион(?:а|ов)?)|(billion|млрд\b\.?|миллиард(?:а|ов)?))",
    re.I,
)

_UNITS = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18,
    "nineteen": 19, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_RUSSIAN = {
    0: "ноль нуль нуля", 1: "один одна одно одного одной одну одним", 2: "два две двух двум двумя двое двоих",
    3: "три трёх трем трём тремя трое троих", 4: "четыре четырёх четырем четырём четырьмя четверо четверых",
    5: "пять пяти пятью пятеро", 6: "шесть шести шестью шестеро", 7: "семь семи семью семеро", 8: "восемь восьми восемью",
    9: "девять девяти девятью", 10: "десять десяти десятью",
    20: "двадцать двадцати двадцатью", 30: "тридцать тридцати тридцатью", 40: "сорок сорока",
    50: "пятьдесят пятидесяти пятьюдесятью", 60: "шестьдесят шестидесяти", 70: "семьдесят семидесяти",
    80: "восемьдесят восьмидесяти", 90: "девяносто девяноста", 100: "сто ста", 200: "двести двухсот", 300: "триста трёхсот",
    400: "четыреста четырёхсот", 500: "пятьсот пятисот", 600: "шестьсот шестисот", 700: "семьсот семисот",
    800: "восемьсот восьмисот", 900: "девятьсот девятисот",
}  # fmt: skip
_TEENS = "один две три четыр пят шест сем восем девят".split()
WORDS: dict[str, int] = {
    **_UNITS,
    **{
        form.replace("ё", "е"): value for value, forms in _RUSSIAN.items() for form in forms.split()
    },
    **{f"{stem}надцат{end}": 11 + i for i, stem in enumerate(_TEENS) for end in ("ь", "и", "ью")},
}
SCALES: dict[str, int] = {
    "hundred": 100, "thousand": 1000, "million": 10**6,
    "тысяча": 1000, "тысячи": 1000, "тысяч": 1000, "тысячу": 1000, "миллион": 10**6, "миллиона": 10**6, "миллионов": 10**6,
}  # fmt: skip
ONE = frozenset(_RUSSIAN[1].split()) | {"one"}


def settle(value: Number) -> Number:
    """Return the value as it is compared: ints stay exact at any size, floats are cut to six
    decimals."""
    if isinstance(value, int):
        return value
    return int(value) if value.is_integer() and abs(value) < 2**53 else round(value, 6)


def readings(numeral: str) -> tuple[tuple[Number, int], ...]:
    """Return every way to read a numeral, each with its number of decimals: `1,234` is 1234 or
    1.234."""
    if len(numeral) > LONGEST:
        return ()
    if numeral.isdigit():
        return ((int(numeral), 0),)
    plain = re.sub(rf"[{SPACES}’']", "", numeral)
    marks = [c for c in plain if c in ",."]
    if not marks:
        return ((int(plain), 0),)
    head, _, tail = plain.rpartition(marks[-1])
    whole = re.sub(r"[,.]", "", head)
    as_decimal = (settle(float(f"{whole}.{tail}")), len(tail))
    as_group = (int(whole + tail), 0)
    if len(tail) != 3:
        return (as_decimal,)
    if len(marks) > 1 and marks[-1] == marks[0]:
        return (as_group,)
    return (as_group, as_decimal)


def rounds_to(exact: Number, shown: Number, decimals: int, scale: int = 1) -> bool:
    """Tell whether `exact`, rounded half up to the decimals that are shown, is `shown`; `scale` is
    1000 for "12.5 thousand"."""
    step = scale * 10.0**-decimals
    return abs(math.floor(exact / step + 0.5 + 1e-9) * step - shown) < step * 1e-6


def spelled(words: Iterable[re.Match[str]], text: str) -> Iterator[tuple[int, int, int]]:
    """Yield `(start, end, value)` for every run of number words; a run goes on over a space, a
    hyphen or "and"."""
    run: list[re.Match[str]] = []
    for match in words:
        word = match.group().lower().replace("ё", "е")
        if run and (
            word == "and"
            or text[run[-1].end() : match.start()] not in ("", " ", "-", "\u00a0", " and ")
        ):
            if (
                word == "and"
                and text[run[-1].end() : match.start()] == " "
                and run[-1].group().lower() in ("hundred", "thousand")
            ):
                continue
            yield _value(run)
            run = []
        if word in WORDS or (word in SCALES and run):
            run.append(match)
        elif run:
            yield _value(run)
            run = []
    if run:
        yield _value(run)


def _value(run: list[re.Match[str]]) -> tuple[int, int, int]:
    total = current = 0
    for match in run:
        word = match.group().lower().replace("ё", "е")
        if word in WORDS:
            current += WORDS[word]
        elif SCALES[word] == 100:
            current *= 100
        else:
            total, current = total + max(current, 1) * SCALES[word], 0
    return run[0].start(), run[-1].end(), total + current
