"""Numbers, money, dates and lists for people, and plural forms: CLDR through Babel.

Babel is imported when first needed: 6 ms, and 3 to 10 ms for the data of a language.
"""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from babel import Locale

Amount = int | float | Decimal

WRITTEN_OUT = 10**20
"""Numbers below it are written out: decimal arithmetic has 28 digits, six of them decimals."""


@lru_cache(maxsize=32)
def locale(tag: str) -> Locale:
    """Babel's data of a language; English for one that the built layer does not hold."""
    from babel import Locale, UnknownLocaleError

    try:
        return Locale.parse(tag)
    except UnknownLocaleError:
        return Locale.parse("en")


def number(value: Amount, tag: str) -> str:
    """`1,234.5` in English, `1.234,5` in German; up to six decimals. A number beyond those written
    out, 10^20, stands as it is."""
    from babel.numbers import format_decimal

    if not -WRITTEN_OUT < value < WRITTEN_OUT:
        return str(value)
    return str(format_decimal(value, "#,##0.######", locale=locale(tag)))


def percent(value: Amount, tag: str) -> str:
    """`12.5%`: the value is in per cent."""
    from babel.numbers import format_percent

    if not -WRITTEN_OUT < value < WRITTEN_OUT:
        return f"{value}%"
    share = Decimal(str(value)) / 100
    return str(format_percent(share, locale=locale(tag), decimal_quantization=False))


def money(value: Amount, currency: str, tag: str) -> str:
    """`$1,234.50`; a code that is no currency stands as it is, after the number."""
    from babel.numbers import format_currency

    if not -WRITTEN_OUT < value < WRITTEN_OUT:
        return f"{value} {currency}"
    return str(format_currency(value, currency, locale=locale(tag)))


def day(value: date | datetime | str, tag: str) -> str:
    """`May 15, 2026`. Raises `ValueError` for a string that is not ISO 8601."""
    from babel.dates import format_date

    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    return str(format_date(at, "long", locale=locale(tag)))


def clock(value: time | datetime | str, tag: str) -> str:
    """`5:21 PM`, in the zone that the value is in. Raises `ValueError` for a string that is not ISO
    8601."""
    from babel.dates import format_time

    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    if isinstance(at, datetime):
        at = at.time()
    return str(format_time(at, "short", locale=locale(tag)))


def listing(items: list[str], tag: str) -> str:
    """`a, b and c`, as the language writes it."""
    from babel.lists import format_list

    return str(format_list(items, locale=locale(tag)))


def plural(count: int | float, tag: str) -> str:
    """The CLDR plural form of a count: `one`, `few`, `many`, `other`, …"""
    return str(locale(tag).plural_form(count))


def compact_words(tag: str) -> dict[str, int]:
    """Words and letters of compact numbers, case-folded, with what they stand for: `thousand`,
    `Mio`."""
    found: dict[str, int] = {}
    for width in ("short", "long"):
        plurals = locale(tag)._data["compact_decimal_formats"].get(width, {})
        for powers in plurals.values():
            for power, pattern in powers.items():
                shape = str(pattern.pattern).replace("'", "")
                word = shape.replace("0", "").strip(" \u00a0.").casefold()
                zeros = shape.count("0")
                if word.isalpha() and zeros and str(power).isdigit():
                    found.setdefault(word, int(power) // 10 ** (zeros - 1))
    return found
