"""The numbers that a text mentions: numerals with scale, percent sign or currency, and number words
(by text2num, or the language file for languages it lacks). Currencies are recognised by sign, ISO
4217 code and name, from CLDR and the language file."""

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
from .stems import Mention, Token, disjoint, fold, folded_words, tokens

SIGNS: Mapping[str, str] = {
    "$": "USD", "€": "EUR", "£": "GBP", "₽": "RUB", "¥": "JPY", "₹": "INR", "₴": "UAH", "₸": "KZT",
    "₺": "TRY", "₩": "KRW", "₪": "ILS", "₫": "VND", "฿": "THB", "₦": "NGN", "₾": "GEL", "₱": "PHP",
    "US$": "USD", "A$": "AUD", "C$": "CAD", "CA$": "CAD", "R$": "BRL", "HK$": "HKD", "CN¥": "CNY",
}  # fmt: skip
"""A sign shared by several currencies maps to the most used of them."""
_SHARED = {"USD": ("Dollar", "Peso"), "GBP": ("Pound",), "JPY": ("Yen", "Yuan")}
"""CLDR's English names of the currencies that share a sign."""
_BEFORE = re.compile(
    r"(?:(?<![^\W_])([A-Z]{1,3})?([$€£₽¥₹₴₸₺₩₪₫฿₦₾₱])|(?<![^\W_])([A-Z]{3}))[ \u00a0\u202f]?\Z"
)
_AFTER = re.compile(r"[ \u00a0\u202f]?([$€£₽¥₹₴₸₺₩₪₫฿₦₾₱])")
_CODE = re.compile(r"[ \u00a0\u202f]?([A-Z]{3})(?![^\W_])")
_WORDS = re.compile(
    r"[ \u00a0\u202f]?([^\W\d_]+)(?:[ \u00a0-]([^\W\d_]+))?(?:[ \u00a0-]([^\W\d_]+))?"
)


def currency_before(text: str, at: int) -> tuple[str, int]:
    """The code of the currency directly before `at` and its start; else `("", at)`."""
    match = _BEFORE.search(text, max(0, at - 5), at)
    if match is None:
        return "", at
    if match[3]:
        return (match[3], match.start(3)) if match[3] in _codes() else ("", at)
    sign = (match[1] or "") + match[2]
    is_known = sign in SIGNS
    return SIGNS[sign if is_known else match[2]], match.start() if is_known else match.start(2)


def currency_after(text: str, at: int, language: Language) -> tuple[str, int]:
    """The code of the currency directly after `at` and its end; else `("", at)`."""
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
            if found := currency_names(language).get(phrase):
                return found, words.end(count)
    return "", at


MIN_YEAR = 2010
"""Currencies abolished before this year are not recognised."""


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    """The ISO 4217 codes of currencies that are, or since 2010 were, legal tender; older ones
    ("BAD") are usually words."""
    from babel.core import get_global

    used = chain.from_iterable(get_global("territory_currencies").values())
    return frozenset(
        code for code, _, end, tender in used if tender and (end is None or end[0] >= MIN_YEAR)
    )


@lru_cache(maxsize=16)
def currency_names(language: Language) -> Mapping[str, str]:
    """Folded names of currencies, of up to three words → ISO 4217 code."""
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


def is_currency_among(code: str, codes: frozenset[str]) -> bool:
    """Whether a currency is among `codes`, or shares its sign with one of them."""
    names = (str(locale("en").currencies.get(one, "")) for one in codes)
    return code in codes or any(name.endswith(_SHARED.get(code, ("\0",))) for name in names)


Number = int | float

MAX_CHARACTERS = 60
"""Longer numerals are not parsed."""
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
_PRONOUNS = frozenset(("ones",))
"""Pronouns that text2num takes for numbers: "the open ones"."""
_GAPS = ("", " ", "-", "\u00a0")


def normalise(value: Number) -> Number:
    """The value for comparison: ints stay exact, floats are rounded to six decimals."""
    if isinstance(value, int) or not math.isfinite(value):
        return value
    return int(value) if value.is_integer() and abs(value) < 2**53 else round(value, 6)


def readings(numeral: str) -> tuple[tuple[Number, int], ...]:
    """The possible values of a numeral, each with its number of decimals: `1,234` is 1234 or 1.234.
    Empty for more than 60 characters."""
    if len(numeral) > MAX_CHARACTERS:
        return ()
    plain = re.sub(rf"[{_SPACES}'’]", "", numeral)
    marks = [c for c in plain if c in ",."]
    if not plain.isdecimal() and plain[-1:].isnumeric() and not plain[-1:].isdecimal():
        return ((int(plain[:-1] or 0) + numeric(plain[-1]), 2),)  # "1½"
    if not marks:
        return ((int(plain), 0),)
    head, _, tail = plain.rpartition(marks[-1])
    whole = re.sub(r"[,.]", "", head)
    as_decimal = (normalise(float(f"{whole}.{tail}")), len(tail))
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
    used = {at for m in found for at in range(m.start, min(m.end, m.start + 200))}
    free = [t for t in words if t.start not in used and not t.text[0].isdigit()]
    found += [_with_unit(text, one, language) for one in _number_words(text, free, language)]
    return disjoint(found)


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
    """`184k`, `12.5 thousand`, `3rd`: attached letters, or a scale word after one space."""
    gap = text[mention.end : mention.end + 1]
    gap = gap if gap in ("-", *_SPACES) else ""
    behind = _ATTACHED.match(text, mention.end + len(gap), mention.end + 25)
    if behind is None:
        return mention
    word = fold(behind[0])
    if scale := _scale(word, gap, language):
        is_certain = len(word) > 1 or behind[0] in "kKM"
        return _apply_scale(text, mention, scale, behind.end(), is_certain=is_certain)
    if gap in ("", "-") and word in language.numerals.ordinal_endings.split():
        return _extend(text, mention, "ordinal", mention.start, behind.end())
    return mention


def _scale(word: str, gap: str, language: Language) -> int:
    """The factor of a scale word, 0 for none; a single letter must be attached to the digits,
    except `k`."""
    if gap == "-" or (gap and len(word) == 1 and word != "k"):
        return 0
    return _words(language, "scales").get(word) or (0 if gap else _SIZES.get(word, 0))


def _apply_scale(text: str, mention: Mention, scale: int, end: int, *, is_certain: bool) -> Mention:
    values = tuple(normalise(value * scale) for value in mention.readings)
    end += text[end : end + 1] == "." and text[end + 1 : end + 2] not in ("", "\n")
    return mention._replace(
        value=values[0] if values else None,
        readings=values if is_certain else (*values, *mention.readings),
        decimals=mention.decimals if is_certain else mention.decimals * 2,
        scale=scale,
        end=end,
        text=text[mention.start : end],
    )


def _with_unit(text: str, mention: Mention, language: Language) -> Mention:
    """The mention with a percent sign or word after it, or a currency before or after it."""
    code, start, end = "", mention.start, mention.end
    if text[end : end + 1] not in _NO_UNIT:
        if (percent := _percent(text, end, language)) > end:
            return _extend(text, mention, "percent", start, percent)
        code, end = currency_after(text, end, language)
    if not code:
        code, start = currency_before(text, mention.start)
        end = mention.end
    if not code:
        return mention
    return _extend(text, mention, "money", start, end)._replace(unit=code)


def _percent(text: str, end: int, language: Language) -> int:
    """The end of a percent sign or word after a number, or `end` without one."""
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


def _extend(text: str, mention: Mention, kind: str, start: int, end: int) -> Mention:
    return mention._replace(kind=kind, start=start, end=end, text=text[start:end])


# Numbers in words


def _number_words(text: str, words: Sequence[Token], language: Language) -> Iterator[Mention]:
    """The numbers spelled by `words`, tokens of `text` in order: cardinals, ordinals and
    approximations such as "a dozen"."""
    yield from _approximations(text, words, language)
    for run in _runs(text, words):
        if language.numerals.library:
            yield from _by_library(text, run, language)
        else:
            yield from _by_file(text, run, language)
            yield from _ordinals(text, run, language)


def _runs(text: str, words: Sequence[Token]) -> Iterator[list[Token]]:
    """Runs of words separated only by a space or hyphen; any other character ends a number."""
    run: list[Token] = []
    for word in words:
        if run and text[run[-1].end : word.start] not in _GAPS:
            yield run
            run = []
        run.append(word)
    if run:
        yield run


class _Word(str):
    """A token in the interface of text2num."""

    def text(self) -> str:
        return str(self)

    def nt_separated(self, *_: object) -> bool:
        return False

    not_a_number_part = nt_separated


def _by_library(text: str, run: list[Token], language: Language) -> Iterator[Mention]:
    from text_to_num import find_numbers  # type: ignore[import-untyped]

    parts = [(piece, word) for word in run for piece in fold(word.text).split("-")]
    found = find_numbers([_Word(p) for p, _ in parts], language.numerals.library, threshold=0)
    for number in found:
        first, last = parts[number.start][1], parts[number.end - 1][1]
        kind = "ordinal" if number.is_ordinal else "number"
        is_about = first is last and language.stem(fold(first.text)) in language.words.about
        if fold(first.text) not in _PRONOUNS and not is_about:
            yield _mention(text, first.start, last.end, normalise(number.value), kind)


def _by_file(text: str, run: list[Token], language: Language) -> Iterator[Mention]:
    glue, number = language.numerals.glue.split(), _NumberBuilder()
    for word in run:
        if number.words and fold(word.text) in glue:
            continue
        extended = number.with_word(word, language)
        if extended is None:
            yield from number.mentions(text)
            extended = _NumberBuilder().with_word(word, language) or _NumberBuilder()
        number = extended
    yield from number.mentions(text)


class _NumberBuilder(NamedTuple):
    """A number built word by word: hundreds, tens, ones, then a scale. The next value must be below
    `limit`, the next scale below `scale`."""

    words: tuple[Token, ...] = ()
    total: int = 0
    current: int = 0
    limit: int = 1000
    scale: int = 10**15

    def with_word(self, word: Token, language: Language) -> _NumberBuilder | None:
        """The number extended by a word (`twenty` `three`), or None (`two` `three`)."""
        table, scales = _words(language, "words"), _words(language, "scales")
        _, total, current, limit, max_scale = self
        for part in fold(word.text).split("-"):
            if scale := scales.get(part):
                if scale >= max_scale:
                    return None
                total, current, limit, max_scale = total + max(current, 1) * scale, 0, 1000, scale
                continue
            value = table.get(part, limit)
            if value >= limit or (value == 0 and self.words):
                return None
            current, limit = current + value, _limit_after(value)
        return _NumberBuilder((*self.words, word), total, current, limit, max_scale)

    def mentions(self, text: str) -> Iterator[Mention]:
        """The number, if there is one."""
        if self.words:
            start, end = self.words[0].start, self.words[-1].end
            yield _mention(text, start, end, self.total + self.current, "number")


def _limit_after(value: int) -> int:
    """The upper limit of what may follow `value`: tens after hundreds, ones after tens, nothing
    after ones and teens."""
    if value >= 100:
        return 100
    return 10 if value >= 20 and value % 10 == 0 else 0


def _ordinals(text: str, run: list[Token], language: Language) -> Iterator[Mention]:
    ordinals = language.words.ordinals
    for word in run:
        position = ordinals.get(language.stem(word.text))
        if position and int(position) > 0 and fold(word.text) not in _words(language, "words"):
            yield _mention(text, word.start, word.end, int(position), "ordinal")


def _approximations(text: str, words: Sequence[Token], language: Language) -> Iterator[Mention]:
    sizes = _approximate_words(language)
    for at, word in enumerate(words):
        size = sizes.get(fold(word.text))
        if size is None:
            continue
        start, count = word.start, 1.0
        gap = text[words[at - 1].end : word.start] if at else ""
        if gap in _GAPS and at and size > 1 and (factor := small_number(words[at - 1], language)):
            start, count = words[at - 1].start, factor
        end, scale = _scale_behind(words, at, language)
        value = normalise(size * count * scale)
        yield _mention(text, start, end, value, "number")._replace(scale=scale, is_approximate=True)


def _scale_behind(words: Sequence[Token], at: int, language: Language) -> tuple[int, int]:
    """The end and factor of the scale word after an approximation: `half a million`."""
    scales = _words(language, "scales")
    for following in words[at + 1 : at + 3]:
        if scale := scales.get(fold(following.text)):
            return (following.end, scale) if following.start - words[at].end < 6 else (0, 1)
    return words[at].end, 1


def small_number(word: Token, language: Language) -> float:
    """The value of one number word from two to ninety-nine, else 0."""
    if not language.numerals.library:
        return float(_words(language, "words").get(fold(word.text), 0))
    found = list(_by_library(word.text, [Token(word.text, 0, len(word.text))], language))
    return float(found[0].value) if len(found) == 1 and found[0].kind == "number" else 0


def _mention(text: str, start: int, end: int, value: Number, kind: str) -> Mention:
    return Mention(kind, value, start, end, text[start:end], (value,), (0,), is_spelled=True)


@lru_cache(maxsize=32)
def _words(language: Language, role: str) -> Mapping[str, int]:
    return by_word(getattr(language.numerals, role))


@lru_cache(maxsize=16)
def _approximate_words(language: Language) -> Mapping[str, float]:
    return {fold(w): float(n) for n, ws in language.numerals.rough.items() for w in ws.split()}


def by_word(lists: Mapping[str, str]) -> dict[str, int]:
    """Folded word → the number under which the language file lists it."""
    return {fold(word): int(value) for value, forms in lists.items() for word in forms.split()}


def amount_in(text: str, language: Language) -> tuple[Number, ...]:
    """The possible values of a text that is only an amount of money ("390,00 €", "€ 745,-", "EUR
    -12.50"), first by the language's own decimal mark; empty for any other text."""
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
