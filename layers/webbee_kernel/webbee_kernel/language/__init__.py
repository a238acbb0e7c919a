"""Everything the kernel knows about natural languages: one JSON file per language, and its readers.

- `en.json`, `ru.json`, …  one language each: words by role, calendar and number words, names, the
  kernel's sentences; a new language is one more such file (docs/languages.md)
- `model`      the types of such a file: `Language`, `Words`, `Numerals`, `Calendar`, `People`; and
  the meaning of JSON field names, for all languages together (`json_keys.json`)
- `stems`      tokens of a text (`Token`, `Mention`), their stems by snowballstemmer, chosen by
  script, and a phonetic key that words of two languages share
- `numerals`, `calendars`, `moments`  the numbers, dates and times that a text mentions
- `search`     search words, matched in any inflected form
- `units`      the units of measure behind a number, from CLDR
- `resources`  which languages exist, their raw files, and CLDR's data

Here are the language that a text is written in, by letters, then by common words, and the entrance
to the rest. Heavy data is loaded on first use. May import: types and text. Entrance: the functions
here.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from datetime import datetime
from functools import lru_cache

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
from .resources import DEFAULT_TAGS, tag_for_script, tags
from .stems import Mention, Token, fold, script_of, sound, stem, tokens

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
    "kind_words",
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


@lru_cache(maxsize=256)
def kind_words(kind: str) -> frozenset[str]:
    """The words of all languages for a kind of record: `document` → file, Datei, fichier."""
    same = [name for name, own in of("en").words.lists("objects").items() if kind in own.split()]
    own = (of(tag).words.lists("objects") for tag in tags())
    found = (word for lists in own for name in same for word in lists.get(name, "").split())
    return frozenset(map(fold, (kind, f"{kind}s", *found)))


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


def date_of(text: str, now: datetime, tags: Iterable[str]) -> str:
    """A text that is only a date or time in one of these languages, in ISO 8601 (`tomorrow at 10` →
    `2026-05-16T10:00`); empty for any other text."""
    from .moments import read_date

    return next((date for tag in tags if (date := read_date(text, of(tag), now))), "")


MAX_CHARACTERS = 1000  # characters: a language shows within a few sentences
_QUOTED = re.compile(r'"[^"]+"|«[^»]+»|“[^”]+”|„[^“”]+[“”]')


@lru_cache(maxsize=64)  # a turn asks of its message several times
def detect(text: str, default: str = "en") -> str:
    """The tag of the language of `text` where it is clear, else that of `default`.

    Every word outside addresses and quotations votes for the languages that list it as common or
    that alone use one of its letters; ties go to the default. Words unknown to all languages vote
    only for the script. A `default` without a language file is replaced only by a clear result.
    """
    default_tag = of(default).tag
    words = _voters(text[:MAX_CHARACTERS])
    if not words or _is_clearly(words, of(default)):
        return default_tag
    found = _vote_winner(words, default_tag)
    is_ours = default.lower().startswith(default_tag)
    return found if is_ours or _is_clearly(words, of(found)) else default_tag


@lru_cache(maxsize=4096)  # examples of all functions are asked about
def likely_languages(text: str) -> frozenset[str]:
    """The languages that a text may be in: those with a word or letter that no other language has.
    Of a script without such a word, all its languages; a longer text may be in several."""
    words = _voters(text[:MAX_CHARACTERS])
    found = {_word_tags()[w][0] for w in words if len(_word_tags().get(w, ())) == 1}
    found.update(_own_letters()[c] for w in words for c in w if c in _own_letters())
    scripts = {of(tag).script for tag in found}
    other_scripts = {script_of(w) for w in words} - scripts
    return frozenset(found.union(t for t in tags() if of(t).script in other_scripts))


def _voters(text: str) -> list[str]:
    """The words that vote, folded: without numbers, addresses and quotations."""
    for variant in (_QUOTED.sub(" ", text), text):
        plain = " ".join(w for w in variant.split() if "@" not in w and "://" not in w)
        if words := [w for t in tokens(plain) if not (w := fold(t.text)).isdigit()]:
            return words
    return []


def _is_clearly(words: list[str], language: Language) -> bool:
    """Whether two thirds of the words are common in a language, or half of them are longer common
    words and the rest is unknown; foreign letters rule it out."""
    known = [w for w in words if w in _common(language.tag)]
    unknown = set(words).difference(known)
    foreign_letters = {c for c in "".join(unknown) if not c.isascii()}.difference(language.letters)
    if foreign_letters and language.script == "latin":
        return False
    is_half = 2 * sum(len(w) > 2 for w in known) >= len(words)
    # "was ist …" is half English, and of one language only whole
    return 3 * len(known) >= 2 * len(words) or (is_half and _word_tags().keys().isdisjoint(unknown))


def _vote_winner(words: list[str], default_tag: str) -> str:
    if not (votes := _votes(words)):
        return _by_script(words, default_tag)
    # one word of another language beside one of the default's tells nothing: "roll a die"
    return max(tags(), key=lambda tag: (len(votes[tag]), tag == default_tag, sum(votes[tag])))


def _votes(words: list[str]) -> dict[str, list[float]]:
    """The votes for each language, weighted by how few languages share the word."""
    votes: dict[str, list[float]] = defaultdict(list)
    for word in words:
        for letter in set(word).intersection(_own_letters()):
            votes[_own_letters()[letter]].append(1)
        sharing_tags = _word_tags().get(word, ())
        for tag in sharing_tags:
            votes[tag].append(1 / len(sharing_tags))
    return votes


@lru_cache(maxsize=1)
def _own_letters() -> dict[str, str]:
    return {c: tag for tag in tags() for c in of(tag).letters}


@lru_cache(maxsize=1)
def _word_tags() -> dict[str, tuple[str, ...]]:
    """The tags of the languages that list each common word."""
    found: dict[str, list[str]] = {}
    for tag in tags():
        for word in _common(tag):
            found.setdefault(word, []).append(tag)
    return {word: tuple(holders) for word, holders in found.items()}


@lru_cache(maxsize=16)
def _common(tag: str) -> frozenset[str]:
    return frozenset(fold(w) for w in of(tag).vocabulary)


def _by_script(words: list[str], default_tag: str) -> str:
    """The language of two or more unknown words in another script than the default's."""
    scripts = Counter(script_of(w) for w in words)
    script, count = scripts.most_common(1)[0]
    if not script or script == of(default_tag).script or count < 2:
        return default_tag
    return tag_for_script(script) or default_tag
