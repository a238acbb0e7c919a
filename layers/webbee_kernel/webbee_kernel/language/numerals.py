"""The numbers that a text mentions: numerals with what belongs to them, and number words, by the
library text2num for the languages it knows, else by the words that the language's file gives; and
which currency stands beside one: signs, ISO 4217 codes and names, by CLDR and by that file."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple
from unicodedata import numeric

from .model import Language
from .resources import locale
from .stems import Mention, Token, apart, fold, folded_words, tokens

SIGNS: Mapping[str, str] = {
    "$": "USD", "€": "EUR", "£": "GBP", "₽": "RUB", "¥": "JPY", "₹": "INR", "₴": "UAH", "₸": "KZT",
    "₺": "TRY", "₩": "KRW", "₪": "ILS", "₫": "VND", "฿": "THB", "₦": "NGN", "₾": "GEL", "₱": "PHP",
    "US$": "USD", "A$": "AUD", "C$": "CAD", "CA$": "CAD", "R$": "BRL", "HK$": "HKD", "CN¥": "CNY",
}  # fmt: skip
"""A sign that several currencies share stands for the most used of them."""
_SHARED = {"USD": ("Dollar", "Peso"), "GBP": ("Pound",), "JPY": ("Yen", "Yuan")}
"""What CLDR calls, in English, the currencies that share the sign of one."""
_BEFORE = re.compile(
    r"(?:(?<![^\W_])([A-Z]{1,3})?([$€£₽¥₹₴₸₺₩₪₫฿₦₾₱])|(?<![^\W_])([A-Z]{3}))[ \u00a0\u202f]?\Z"
)
_AFTER = re.compile(r"[ \u00a0\u202f]?([$€£₽¥₹₴₸₺₩₪₫฿₦₾₱])")
_CODE = re.compile(r"[ \u00a0\u202f]?([A-Z]{3})(?![^\W_])")
_WORDS = re.compile(
    r"[ \u00a0\u202f]?([^\W\d_]+)(?:[ \u00a0-]([^\W\d_]+))?(?:[ \u00a0-]([^\W\d_]+))?"
)


def currency_before(text: str, at: int) -> tuple[str, int]:
    """The code of the currency that stands right before `at`, and where it begins; else nothing."""
    match = _BEFORE.search(text, max(0, at - 5), at)
    if match is None:
        return "", at
    if match[3]:
        return (match[3], match.start(3)) if match[3] in _codes() else ("", at)
    whole = (match[1] or "") + match[2]
    known = whole in SIGNS
    return SIGNS[whole if known else match[2]], match.start() if known else match.start(2)


def currency_after(text: str, at: int, language: Language) -> tuple[str, int]:
    """The code of the currency that stands right after `at`, and where it ends; else nothing."""
    if sign := _AFTER.match(text, at):
        return SIGNS[sign[1]], sign.end()
    if (code := _CODE.match(text, at)) and code[1] in _codes():
        return code[1], code.end()
    words = _WORDS.match(text, at, at + 60)
    if words is None or text[at : at + 1] not in (" ", "\u00a0", "\u202f"):
        return "", at
    for count in (3, 2, 1):
        if words[count]:
            phrase = " ".join(fold(words[i]) for i in range(1, count + 1))
            if found := names(language).get(phrase):
                return found, words.end(count)
    return "", at


SINCE = 2010
"""The year from which currencies are known that are none any more."""


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    """The ISO 4217 codes of what CLDR knows to be legal tender somewhere, or to have been since
    2010: older ones ("BAD") are hardly meant."""
    from babel.core import get_global

    used = chain.from_iterable(get_global("territory_currencies").values())
    return frozenset(
        code for code, _, end, tender in used if tender and (end is None or end[0] >= SINCE)
    )


@lru_cache(maxsize=16)
def names(language: Language) -> Mapping[str, str]:
    """Names of currencies, folded, up to three words, with their codes."""
    found: dict[str, str] = {}
    for code, forms in locale(language.tag)._data["currency_names_plural"].items():
        for name in forms.values():
            found.setdefault(fold(str(name)).replace("-", " "), str(code))
    for code, forms in language.currencies.items():
        found.update({fold(word): code for word in forms.split()})
    return found


_CODES = re.compile(r"(?<![^\W_])[A-Z]{3}(?![^\W_])")


def currencies_in(text: str) -> frozenset[str]:
    """The codes of the currencies whose sign or ISO 4217 code stands in `text`."""
    signs = {SIGNS[char] for char in set(text) if char in SIGNS}
    return frozenset(signs.union(_codes().intersection(_CODES.findall(text))))


def is_one_of(code: str, codes: frozenset[str]) -> bool:
    """Whether a currency is among these, or may be: a sign says no more than what shares it."""
    named = (str(locale("en").currencies.get(one, "")) for one in codes)
    return code in codes or any(name.endswith(_SHARED.get(code, ("\0",))) for name in named)


Number = int | float

LONGEST = 60
"""Characters up to which a numeral is a number; beyond, it can only stand as it is."""
_LETTERS = "A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u04ff"
_SPACES = " \u00a0\u202f\u2009"
_FRACTIONS = "\u00bc-\u00be\u2153\u2154\u215b-\u215e"
_NUMERAL = re.compile(
    rf"(?<![{_LETTERS}0-9_.])"
    rf"(?:\d{{1,3}}(?:[{_SPACES},.'’]\d{{3}})+(?!\d)(?:[.,]\d{{1,2}}(?!\d))?"
    r"|\d{1,2}(?:,\d\d)+,\d{3}(?!\d)(?:\.\d{1,2}(?!\d))?"  # 12,34,567: India
    rf"|\d+(?:[.,]\d+|[{_FRACTIONS}])?|[{_FRACTIONS}])"
)
_SIGN = re.compile(r"[-−–]")
_NO_UNIT = ("", "\n", ",", ".", ")")  # behind a numeral: no unit follows
_BEFORE_SIGN = " \u00a0\t\n(:=[\"'«“"
_ATTACHED = re.compile(rf"[{_LETTERS}]+")
_PERCENT = re.compile(r"[ \u00a0\u202f]?[%‰]")
_FOLLOWING = re.compile(rf"[{_SPACES}]?([^\W\d_]+)(?:[ \u00a0]([^\W\d_]+))?")
_SIZES = {"k": 10**3, "m": 10**6, "b": 10**9}
_NO_NUMBERS = frozenset(("ones",))
"""What the library takes for numbers and people use as pronouns: "the open ones"."""
_GAPS = ("", " ", "-", "\u00a0")


def settle(value: Number) -> Number:
    """The value as it is compared: ints stay exact at any size, floats are cut to six decimals."""
    if isinstance(value, int) or not math.isfinite(value):
        return value
    return int(value) if value.is_integer() and abs(value) < 2**53 else round(value, 6)


def readings(numeral: str) -> tuple[tuple[Number, int], ...]:
    """Every way to read a numeral, each with its number of decimals: `1,234` is 1234 or 1.234.
    Empty for one of more than 60 characters."""
    if len(numeral) > LONGEST:
        return ()
    plain = re.sub(rf"[{_SPACES}'’]", "", numeral)
    marks = [c for c in plain if c in ",."]
    if not plain.isdecimal() and plain[-1:].isnumeric() and not plain[-1:].isdecimal():
        return ((int(plain[:-1] or 0) + numeric(plain[-1]), 2),)  # "1½"
    if not marks:
        return ((int(plain), 0),)
    head, _, tail = plain.rpartition(marks[-1])
    whole = re.sub(r"[,.]", "", head)
    as_decimal = (settle(float(f"{whole}.{tail}")), len(tail))
    as_group = (int(whole + tail), 0)
    if len(tail) != 3:
        return (as_decimal,)
    if len(marks) > 1:
        return (as_group,) if marks[-1] == marks[0] else (as_decimal,)
    return (as_group, as_decimal)


def find_numbers(text: str, language: Language) -> tuple[Mention, ...]:
    """The numbers of `text` in order, not overlapping; see `language.numbers`. Linear."""
    words = tokens(text)
    found = [_numeral(text, m, language) for m in _NUMERAL.finditer(text)]
    taken = {at for one in found for at in range(one.start, min(one.end, one.start + 200))}
    free = [t for t in words if t.start not in taken and not t.text[0].isdigit()]
    found += [_with_unit(text, one, language) for one in _spelled(text, free, language)]
    return apart(found)


def _numeral(text: str, match: re.Match[str], language: Language) -> Mention:
    start, end = match.span()
    values = readings(match[0])
    if len(values) == 2 and language.numerals.decimal in match[0]:
        values = values[::-1]  # the reading first that the language's own marks give
    if _SIGN.fullmatch(text[start - 1 : start]) and (start == 1 or text[start - 2] in _BEFORE_SIGN):
        start, values = start - 1, tuple((-value, decimals) for value, decimals in values)
    mention = Mention(
        "number",
        values[0][0] if values else None,
        start,
        end,
        text[start:end],
        tuple(value for value, _ in values),
        tuple(decimals for _, decimals in values),
    )
    return _with_unit(text, _with_suffix(text, mention, language), language)


def _with_suffix(text: str, mention: Mention, language: Language) -> Mention:
    """`184k`, `12.5 thousand`, `3rd`: the letters right behind a numeral, or the scale word after
    one space."""
    gap = text[mention.end : mention.end + 1]
    gap = gap if gap in ("-", *_SPACES) else ""
    behind = _ATTACHED.match(text, mention.end + len(gap), mention.end + 25)
    if behind is None:
        return mention
    word = fold(behind[0])
    if scale := _scale(word, gap, language):
        sure = len(word) > 1 or behind[0] in "kKM"
        return _scaled(text, mention, scale, behind.end(), sure=sure)
    if gap in ("", "-") and word in language.numerals.ordinal_endings.split():
        return _extended(text, mention, "ordinal", mention.start, behind.end())
    return mention


def _scale(word: str, gap: str, language: Language) -> int:
    """What a scale word multiplies by; a single letter is one only right behind the digits, and
    `k` after a space."""
    if gap == "-" or (gap and len(word) == 1 and word != "k"):
        return 0
    return _words(language, "scales").get(word) or (0 if gap else _SIZES.get(word, 0))


def _scaled(text: str, mention: Mention, scale: int, end: int, *, sure: bool) -> Mention:
    larger = tuple(settle(value * scale) for value in mention.readings)
    end += text[end : end + 1] == "." and text[end + 1 : end + 2] not in ("", "\n")
    return mention._replace(
        value=larger[0] if larger else None,
        readings=larger if sure else (*larger, *mention.readings),
        decimals=mention.decimals if sure else mention.decimals * 2,
        scale=scale,
        end=end,
        text=text[mention.start : end],
    )


def _with_unit(text: str, mention: Mention, language: Language) -> Mention:
    """A percent sign or word behind, or a currency before or behind."""
    code, start, end = "", mention.start, mention.end
    if text[end : end + 1] not in _NO_UNIT:
        if (percent := _percent(text, end, language)) > end:
            return _extended(text, mention, "percent", start, percent)
        code, end = currency_after(text, end, language)
    if not code:
        code, start = currency_before(text, mention.start)
        end = mention.end
    if not code:
        return mention
    return _extended(text, mention, "money", start, end)._replace(unit=code)


def _percent(text: str, end: int, language: Language) -> int:
    """Where a percent sign or word behind a number ends; where the number does without one."""
    if sign := _PERCENT.match(text, end):
        return sign.end()
    following = _FOLLOWING.match(text, end, end + 40)
    if following is None:
        return end
    for count in (2, 1):
        phrase = "_".join(fold(w or "") for w in following.groups()[:count])
        if phrase in folded_words(language.numerals.percent):
            return following.end(count)
    return end


def _extended(text: str, mention: Mention, kind: str, start: int, end: int) -> Mention:
    return mention._replace(kind=kind, start=start, end=end, text=text[start:end])


# Numbers in words


def _spelled(text: str, words: Sequence[Token], language: Language) -> Iterator[Mention]:
    """The numbers that `words`, tokens of `text` in order, spell: cardinal and ordinal ones, and
    rough ones such as "a dozen"."""
    yield from _rough(text, words, language)
    for run in _runs(text, words):
        if language.numerals.library:
            yield from _by_library(text, run, language)
        else:
            yield from _by_file(text, run, language)
            yield from _ordinals(text, run, language)


def _runs(text: str, words: Sequence[Token]) -> Iterator[list[Token]]:
    """Words with nothing but a space or a hyphen between them: a number ends at any other mark."""
    run: list[Token] = []
    for word in words:
        if run and text[run[-1].end : word.start] not in _GAPS:
            yield run
            run = []
        run.append(word)
    if run:
        yield run


class _Word(str):
    """A word as text2num wants it."""

    def text(self) -> str:
        return str(self)

    def nt_separated(self, *_: object) -> bool:
        return False

    not_a_number_part = nt_separated


def _by_library(text: str, run: list[Token], language: Language) -> Iterator[Mention]:
    from text_to_num import find_numbers  # type: ignore[import-untyped]

    parts = [(piece, word) for word in run for piece in fold(word.text).split("-")]
    found = find_numbers([_Word(p) for p, _ in parts], language.numerals.library, threshold=0)
    for one in found:
        first, last = parts[one.start][1], parts[one.end - 1][1]
        kind = "ordinal" if one.is_ordinal else "number"
        is_about = first is last and language.stem(fold(first.text)) in language.words.about
        if fold(first.text) not in _NO_NUMBERS and not is_about:
            yield _mention(text, first.start, last.end, settle(one.value), kind)


def _by_file(text: str, run: list[Token], language: Language) -> Iterator[Mention]:
    glue, number = language.numerals.glue.split(), _Sum()
    for word in run:
        if number.words and fold(word.text) in glue:
            continue
        longer = number.with_word(word, language)
        if longer is None:
            yield from number.mentions(text)
            longer = _Sum().with_word(word, language) or _Sum()
        number = longer
    yield from number.mentions(text)


class _Sum(NamedTuple):
    """A number as its words come in: hundreds, tens, ones, then a scale. What comes next is smaller
    than `room`, a scale smaller than `scale`."""

    words: tuple[Token, ...] = ()
    total: int = 0
    current: int = 0
    room: int = 1000
    scale: int = 10**15

    def with_word(self, word: Token, language: Language) -> _Sum | None:
        """The number that goes on with a word: `twenty` `three`, not `two` `three`."""
        table, scales = _words(language, "words"), _words(language, "scales")
        _, total, current, room, most = self
        for part in fold(word.text).split("-"):
            if scale := scales.get(part):
                if scale >= most:
                    return None
                total, current, room, most = total + max(current, 1) * scale, 0, 1000, scale
                continue
            value = table.get(part, room)
            if value >= room or (value == 0 and self.words):
                return None
            current, room = current + value, _room_after(value)
        return _Sum((*self.words, word), total, current, room, most)

    def mentions(self, text: str) -> Iterator[Mention]:
        """The number, if there is one."""
        if self.words:
            start, end = self.words[0].start, self.words[-1].end
            yield _mention(text, start, end, self.total + self.current, "number")


def _room_after(value: int) -> int:
    """What may follow `value` within a hundred is smaller than this: tens after hundreds, ones
    after tens, nothing after ones and teens."""
    if value >= 100:
        return 100
    return 10 if value >= 20 and value % 10 == 0 else 0


def _ordinals(text: str, run: list[Token], language: Language) -> Iterator[Mention]:
    known = language.words.ordinals
    for word in run:
        position = known.get(language.stem(word.text))
        if position and int(position) > 0 and fold(word.text) not in _words(language, "words"):
            yield _mention(text, word.start, word.end, int(position), "ordinal")


def _rough(text: str, words: Sequence[Token], language: Language) -> Iterator[Mention]:
    known = _rough_words(language)
    for at, word in enumerate(words):
        size = known.get(fold(word.text))
        if size is None:
            continue
        start, count = word.start, 1.0
        gap = text[words[at - 1].end : word.start] if at else ""
        if gap in _GAPS and at and size > 1 and (times := simple(words[at - 1], language)):
            start, count = words[at - 1].start, times
        end, scale = _scale_behind(words, at, language)
        value = settle(size * count * scale)
        yield _mention(text, start, end, value, "number")._replace(scale=scale, about=True)


def _scale_behind(words: Sequence[Token], at: int, language: Language) -> tuple[int, int]:
    """`half a million`: where the scale word behind a rough one ends, and what it multiplies by."""
    scales = _words(language, "scales")
    for following in words[at + 1 : at + 3]:
        if scale := scales.get(fold(following.text)):
            return (following.end, scale) if following.start - words[at].end < 6 else (0, 1)
    return words[at].end, 1


def simple(word: Token, language: Language) -> float:
    """The value of one number word from two to ninety-nine, else 0."""
    if not language.numerals.library:
        return float(_words(language, "words").get(fold(word.text), 0))
    found = list(_by_library(word.text, [Token(word.text, 0, len(word.text))], language))
    return float(found[0].value) if len(found) == 1 and found[0].kind == "number" else 0


def _mention(text: str, start: int, end: int, value: Number, kind: str) -> Mention:
    return Mention(kind, value, start, end, text[start:end], (value,), (0,), spelled=True)


@lru_cache(maxsize=32)
def _words(language: Language, role: str) -> Mapping[str, int]:
    return values(getattr(language.numerals, role))


@lru_cache(maxsize=16)
def _rough_words(language: Language) -> Mapping[str, float]:
    return {fold(w): float(n) for n, ws in language.numerals.rough.items() for w in ws.split()}


def values(lists: Mapping[str, str]) -> dict[str, int]:
    """Folded words and the number under which a language's file lists each."""
    return {fold(word): int(value) for value, forms in lists.items() for word in forms.split()}


def amount_in(text: str, language: Language) -> tuple[Number, ...]:
    """What a text that is nothing but an amount of money may be, the reading first that the
    language's own marks give: "390,00 €", "€ 745,-", "EUR -12.50"; empty for any other text."""
    found = _AMOUNT.fullmatch(text)
    if found is None or not currencies_in(text):
        return ()
    values = tuple(value for value, _ in readings(found["number"]))
    if len(values) == 2 and language.numerals.decimal in found["number"]:
        values = values[::-1]
    return tuple(-value for value in values) if found["first"] or found["second"] else values


_CURRENCY = rf"(?:[A-Z]{{3}}|[^\w\s.,'-])?[{_SPACES}]?"
_AMOUNT = re.compile(
    rf"(?P<first>[-−–]?){_CURRENCY}(?P<second>[-−–]?)(?P<number>\d[\d{_SPACES}.,'’]{{0,16}}?)"
    rf"(?:[.,][-–—]{{1,2}})?[{_SPACES}]?{_CURRENCY}"
)
