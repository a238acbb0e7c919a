"""Everything the kernel knows about natural languages: one JSON file per language, and its readers.

- `en.json`, `ru.json`, …  one language each: words by role, calendar and number words, names, the
  kernel's sentences; a new language is one more such file (docs/languages.md)
- `model`      the types of such a file: `Language`, `Words`, `Numerals`, `Calendar`, `People`; and
  the meaning of JSON field names, for all languages together (`json_keys.json`)
- `stems`      tokens of a text (`Token`, `Mention`), their stems by snowballstemmer, chosen by
  script, and a phonetic key that words of two languages share
- `numerals`, `calendars`, `moments`  the numbers, dates and times that a text mentions
- `detection`  the language that a text is written in
- `search`     search words, matched in any inflected form
- `units`      the units of measure behind a number, from CLDR
- `resources`  which languages exist, their raw files, and CLDR's data

May import: base. Entrance: the functions here. Heavy data is loaded on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache

from .detection import detect, likely_languages
from .model import (
    Language,
    Words,
    key_fold,
    key_roles,
    of,
    people,
    people_keys,
    people_phrases,
    title_keys,
)
from .resources import DEFAULT_TAGS, tags
from .stems import Mention, Token, fold, sound, stem, tokens

__all__ = [
    "Language",
    "Mention",
    "Token",
    "Words",
    "clauses",
    "common_words",
    "currencies_in",
    "date_of",
    "dates",
    "detect",
    "fold",
    "forms",
    "is_currency_among",
    "is_time_name",
    "key_fold",
    "key_roles",
    "likely_languages",
    "numbers",
    "of",
    "people",
    "people_keys",
    "people_phrases",
    "sound",
    "stem",
    "tags",
    "text_in",
    "title_keys",
    "tokens",
    "zone_in",
]


def text_in(texts: Mapping[str, str], tag: str) -> str:
    """The text for a BCP 47 tag among an author's translations, else in English, else empty."""
    short = re.split("[-_]", tag.lower(), maxsplit=1)[0]
    return texts.get(short) or texts.get(DEFAULT_TAGS[0], "")


@lru_cache(maxsize=32)
def forms(*roles: str) -> frozenset[str]:
    """The words of these roles in all languages together, folded: users mix languages."""
    tables = [of(tag).words for tag in tags()]
    return frozenset(fold(word) for w in tables for role in roles for word in w.forms(role))


def common_words() -> frozenset[str]:
    """Function and filler words of all languages, which occur in sentences on any subject."""
    return forms(
        *("function", "article", "particle", "reference", "plural_reference", "toward", "recency"),
        *("yes", "yes_filler", "no", "no_filler", "greeting", "thanks", "opener", "alike"),
        *("negation", "prohibition", "question", "ordinals", "and_"),
    )


def clauses(text: str) -> list[str]:
    """A text split into clauses, at punctuation and at words for "and"."""
    conjunctions = "|".join(map(re.escape, sorted(forms("and_"))))
    marks = r"[,;:.!?\u2026\u3001\u3002\uff0c\uff01\uff1f]+(?=\s|$)|\n"
    return re.split(rf"(?i:{marks}|(?<!\w)(?:{conjunctions})(?!\w))", text)


def currencies_in(text: str) -> frozenset[str]:
    """The codes of the currencies whose sign or ISO 4217 code stands in `text`."""
    from .numerals import currencies_in

    return currencies_in(text)


def amount_in(text: str, tag: str = "en") -> tuple[int | float, ...]:
    """The possible values of a text that is only an amount of money ("390,00 €"), else empty."""
    from .numerals import amount_in

    return amount_in(text, of(tag))


def is_currency_among(code: str, codes: frozenset[str]) -> bool:
    """Whether a currency is among `codes`, or shares its sign with one of them ($, £, ¥)."""
    from .numerals import is_currency_among

    return is_currency_among(code, codes)


def is_time_name(word: str, language: Language) -> bool:
    """Whether a word is the short name of a month or a weekday: "Jan"."""
    from .calendars import is_time_name

    return is_time_name(word, language)


@lru_cache(maxsize=64)  # a turn asks of its message several times
def numbers(text: str, tag: str = "en") -> tuple[Mention, ...]:
    """The numbers of `text` in order, not overlapping: numerals and number words, percentages and
    amounts of money, each with every plausible reading in the language `tag`."""
    from .numerals import find_numbers

    return find_numbers(text, of(tag))


def dates(text: str, tag: str = "en", now: str | datetime | None = None) -> tuple[Mention, ...]:
    """The dates, times, months, weekdays and periods of `text` in order, not overlapping.

    `now` (ISO 8601 or a datetime) resolves what is relative ("tomorrow", "in three days"); without
    it relative dates are left out.
    """
    from .moments import find_dates

    return find_dates(text, of(tag), now)


def zone_in(text: str, tag: str) -> str:
    """The IANA time zone of the first city that a text names, or an empty string."""
    from .calendars import zone_in

    return zone_in(text, tag)


def date_of(text: str, now: datetime, tags: Iterable[str]) -> str:
    """A text that is only a date or time in one of these languages, in ISO 8601 (`tomorrow at 10` →
    `2026-05-16T10:00`); empty for any other text."""
    from .moments import read_date

    return next((date for tag in tags if (date := read_date(text, of(tag), now))), "")
