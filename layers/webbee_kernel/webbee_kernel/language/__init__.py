"""All that the kernel knows of natural languages: one file a language, the machinery beside.

- `en.json`, `ru.json`, …  a language each: words by role, calendar and number words, names, the
  kernel's sentences; a further language is one more such file (docs/languages.md)
- `model`      what such a file holds: `Language`, `Words`, `Numerals`, `Calendar`, `People`; and
  what the key of a JSON field says of its value, in all languages together (`json_keys.json`)
- `stems`      where the words of a text are (`Token`, `Mention`), their stems by snowballstemmer,
  chosen by script, and what words of two languages sound like
- `numerals`, `calendars`, `moments`  numbers, and dates and times, that a text mentions
- `detection`  which language a text is written in
- `search`     words that somebody looks for, in whatever form a text has them
- `units`      the units of measure that stand behind a number, by CLDR
- `resources`  which languages there are, their files as they stand, what CLDR knows of them

May import: base. Entrance: the functions here. What is heavy is read when it is first asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache

from .detection import detect, likely
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
from .resources import FIRST, tags
from .stems import Mention, Token, fold, sound, stem, tokens

__all__ = [
    "Language",
    "Mention",
    "Token",
    "Words",
    "clauses",
    "currencies_in",
    "date_of",
    "dates",
    "detect",
    "everyday",
    "fold",
    "forms",
    "is_one_of",
    "key_fold",
    "key_roles",
    "likely",
    "names_time",
    "numbers",
    "of",
    "people",
    "people_keys",
    "people_phrases",
    "said_in",
    "sound",
    "stem",
    "tags",
    "title_keys",
    "tokens",
    "zone_in",
]


def said_in(texts: Mapping[str, str], tag: str) -> str:
    """The one of an author's texts by language that is for a BCP 47 tag, else the English one;
    empty without either."""
    short = re.split("[-_]", tag.lower(), maxsplit=1)[0]
    return texts.get(short) or texts.get(FIRST[0], "")


@lru_cache(maxsize=32)
def forms(*roles: str) -> frozenset[str]:
    """The words of these roles in all languages together, folded: who says yes need not do so in
    his own."""
    spoken = [of(tag).words for tag in tags()]
    return frozenset(fold(word) for w in spoken for role in roles for word in w.forms(role))


def everyday() -> frozenset[str]:
    """The words that sentences are made of whatever they are about, in all languages together."""
    return forms(
        *("function", "article", "particle", "reference", "plural_reference", "toward", "recency"),
        *("yes", "yes_filler", "no", "no_filler", "greeting", "thanks", "opener", "alike"),
        *("negation", "prohibition", "question", "ordinals", "and_"),
    )


def clauses(text: str) -> list[str]:
    """The parts of a text between the marks that end or part a clause, and words for "and"."""
    joined = "|".join(map(re.escape, sorted(forms("and_"))))
    marks = r"[,;:.!?\u2026\u3001\u3002\uff0c\uff01\uff1f]+(?=\s|$)|\n"
    return re.split(rf"(?i:{marks}|(?<!\w)(?:{joined})(?!\w))", text)


def currencies_in(text: str) -> frozenset[str]:
    """The codes of the currencies whose sign or ISO 4217 code stands in `text`."""
    from .numerals import currencies_in

    return currencies_in(text)


def amount_in(text: str, tag: str = "en") -> tuple[int | float, ...]:
    """What a text that is nothing but an amount of money may be: "390,00 €"; empty for any
    other."""
    from .numerals import amount_in

    return amount_in(text, of(tag))


def is_one_of(code: str, codes: frozenset[str]) -> bool:
    """Whether a currency is among these, or may be: a sign says no more than what shares it."""
    from .numerals import is_one_of

    return is_one_of(code, codes)


def names_time(word: str, language: Language) -> bool:
    """Whether a word is the short name of a month or a weekday: "Jan"."""
    from .calendars import names_time

    return names_time(word, language)


@lru_cache(maxsize=64)  # a turn asks of its message several times
def numbers(text: str, tag: str = "en") -> tuple[Mention, ...]:
    """The numbers of `text` in order, not overlapping: numerals and number words, percentages and
    amounts of money, as writers of the language `tag` mean them; every sensible reading of each.
    """
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
    """The IANA name of the time zone of the first city that a text names; empty without one."""
    from .calendars import zone_in

    return zone_in(text, tag)


def date_of(text: str, now: datetime, tags: Iterable[str]) -> str:
    """The day or moment that is all a text says in one of these languages, in ISO 8601 (`tomorrow
    at 10` → `2026-05-16T10:00`); empty where it says none, or more than that."""
    from .moments import read_date

    return next((said for tag in tags if (said := read_date(text, of(tag), now))), "")
