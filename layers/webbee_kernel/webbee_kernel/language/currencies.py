"""Which currency stands beside a number: signs, ISO 4217 codes and names, by CLDR and by the file
of the language."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from .model import Language
from .resources import locale
from .stems import fold

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


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    """The ISO 4217 codes that CLDR knows."""
    return frozenset(map(str, locale("en").currencies))


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
