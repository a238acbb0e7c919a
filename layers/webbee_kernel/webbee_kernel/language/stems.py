"""Tokens and mentions of a text, stemming, and a phonetic key across scripts.

The phonetic key is a word's consonants in Latin script, coarse enough that "Гамбург" and "Hamburg",
"Крит" and "Crete", "инцидент" and "incident" are equal.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec
from threading import Lock
from typing import Any, Final, NamedTuple, cast

from .resources import contents, known_tag, script_of_language, tag_for_script

_LETTER = "(?:[^\\W_]|[\u0300-\u036f\u0900-\u109f])"  # with the vowel signs that `\\w` leaves out
_WORD = re.compile(rf"{_LETTER}+(?:[-'\u2019]{_LETTER}+)*")
_IDEOGRAPHS = (
    ("\u0e00", "\u0e7f"),
    ("\u3040", "\u30ff"),
    ("\u3400", "\u4dbf"),
    ("\u4e00", "\u9fff"),
    ("\uac00", "\ud7af"),
)
"""Scripts without spaces between words: Thai, Kana, Han and Hangul."""
UNSPACED: Final = f"[{''.join(f'{first}-{last}' for first, last in _IDEOGRAPHS)}]"
"""A pattern for one such character, compiled on first use: that takes 3 ms."""


class Token(NamedTuple):
    """A word or a run of digits as written; inner hyphens and apostrophes belong to it."""

    text: str
    start: int
    end: int


class Mention(NamedTuple):
    """A number, date or time that a text mentions, with every plausible reading.

    `kind`: `number`, `percent`, `money`, `ordinal`; `date`, `time`, `moment`, `month`, `weekday`,
    `period`. `value` is the first of `readings`. Of numbers a reading is an int or float; of dates
    `(year | None, month, day)`; of times minutes since midnight; of moments a `datetime`; of months
    `(year | None, month)`; of weekdays 0 (Monday) to 6; of periods `(first, last)` dates.
    `decimals` is parallel to `readings`, `scale` is 1000 for "12.5 thousand" (already applied),
    `unit` an ISO 4217 code or empty. `is_spelled`: in words; `is_relative`: counted from `now`;
    `is_approximate`: "a dozen".
    """

    kind: str
    value: Any
    start: int
    end: int
    text: str
    readings: tuple[Any, ...] = ()
    decimals: tuple[int, ...] = ()
    scale: int = 1
    unit: str = ""
    is_spelled: bool = False
    is_relative: bool = False
    is_approximate: bool = False


def mention(text: str, span: tuple[int, int], kind: str, readings: tuple[Any, ...]) -> Mention:
    """The mention at `span` of `text`; `readings` begin with the likeliest."""
    return Mention(kind, readings[0], *span, text[slice(*span)], readings)


@lru_cache(maxsize=64)  # several modules tokenise the same text
def tokens(text: str) -> tuple[Token, ...]:
    """The words and runs of digits of `text`, in any script, in order; Han, Kana, Hangul and Thai
    characters are tokens of one character. Linear."""
    words = (Token(m[0], *m.span()) for m in _WORD.finditer(text))
    if text.isascii() or not re.search(UNSPACED, text):
        return tuple(words)
    return tuple(piece for word in words for piece in _pieces(word))


def _pieces(word: Token) -> Iterator[Token]:
    """A token split at characters of scripts without spaces, each of which is a token."""
    for found in re.finditer(rf"{UNSPACED}|(?:(?!{UNSPACED}).)+", word.text):
        yield Token(found[0], word.start + found.start(), word.start + found.end())


def disjoint(found: Iterable[Mention]) -> tuple[Mention, ...]:
    """The mentions in order; of overlapping ones the first, then the longest, is kept."""
    kept: list[Mention] = []
    for one in sorted(found, key=lambda m: (m.start, -m.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
    return tuple(kept)


_EQUAL_LETTERS = str.maketrans({"ё": "е", "ß": "ss", "’": "'", "ʼ": "'"})
_STEM_EXCEPTIONS = ("нее", "té", "tè")  # not stemmed: the stem is another word, "не", "te"
MAX_LETTERS = 60  # longer words are not stemmed: the cost grows with the length
_stemmer_lock = Lock()  # Snowball stemmers are stateful


@lru_cache(maxsize=16384)
def fold(word: str) -> str:
    """A word in lower case and NFC, with interchangeable letters made equal (`ё`/`е`, `ß`/`ss`,
    curly apostrophes)."""
    if word.isascii():
        return word.lower()
    return unicodedata.normalize("NFC", word.casefold()).translate(_EQUAL_LETTERS)


@lru_cache(maxsize=512)
def folded_words(forms: str) -> frozenset[str]:
    """The folded words of a list from a language file."""
    return frozenset(fold(w) for w in forms.split())


@lru_cache(maxsize=16384)
def stem(word: str, tag: str = "en") -> str:
    """The stem of a word by the Snowball stemmer of the language `tag`, or of the first language in
    the word's script.

    A word of an unknown script or longer than 60 letters is only folded. About 25 µs a new word.
    """
    folded = fold(word)
    if not folded.isalpha() or len(folded) > MAX_LETTERS or folded in _STEM_EXCEPTIONS:
        return folded
    stem_tag, script = known_tag(tag), script_of(folded)
    if script != script_of_language(stem_tag):
        stem_tag = tag_for_script(script)
    stemmer = contents(stem_tag)["stemmer"] if stem_tag else ""
    if not stemmer:
        return folded
    with _stemmer_lock:
        return _stemmer(stemmer)(folded)


@lru_cache(maxsize=512)
def stems_of(words: str, tag: str) -> tuple[str, ...]:
    """The stems of a list from a language file, in its order."""
    return tuple(stem(w, tag) for w in words.split())


def script_of(text: str) -> str:
    """The script of the first letter: `latin`, `cyrillic` or the Unicode name; empty for none."""
    first = next((c for c in text if c.isalpha()), "")
    if not first:
        return ""
    if first <= "\u024f":
        return "latin"
    return unicodedata.name(first, "").partition(" ")[0].lower()


@lru_cache(maxsize=16)
def _stemmer(name: str) -> Callable[[str], str]:
    """The stemmer of one language; importing the whole library loads all thirty-six and takes 14 ms
    of a cold start."""
    module = import_module(f"{_library()}.{name}_stemmer")
    stemmer = getattr(module, f"{name.title()}Stemmer")()
    return cast("Callable[[str], str]", stemmer.stemWord)


@lru_cache(maxsize=1)
def _library() -> str:
    """An alias package for snowballstemmer whose modules can be imported without running its
    `__init__`."""
    found = find_spec("snowballstemmer")
    if found is None or found.submodule_search_locations is None:
        raise ModuleNotFoundError("snowballstemmer is not installed")
    package = ModuleSpec(f"{__package__}.snowball", None, is_package=True)
    package.submodule_search_locations = found.submodule_search_locations
    sys.modules[package.name] = module_from_spec(package)
    return package.name


_CYRILLIC = str.maketrans(
    dict(zip("бвгджзклмнпрстфхцчшщ", "bvgdssklmnprstfgssss", strict=True))
    | dict.fromkeys("аеёийоуъыьэюяіїєґ", "")
)
_SPELLINGS = "sch>s sh>s ch>s zh>s kh>g ts>s tz>s ph>f th>t ck>k qu>kv x>ks ce>se ci>si cy>si"
_SPELLING_PAIRS = tuple(pair.split(">") for pair in _SPELLINGS.split())
_LATIN = str.maketrans("cwzjhq", "kvssgk", "aeiouyäöüáéíóúàèâêîôû")
_SILENT = re.compile("h(?![aeiouyäöüáéíóúàèâêîôû])")
_DOUBLED_LETTER = re.compile(r"(.)\1+")


@lru_cache(maxsize=16384)
def sound(word: str) -> str:
    """The phonetic key of a word: its consonants in Latin script, empty without any."""
    folded = fold(word)
    if folded[:1] >= "а":
        consonants = folded.translate(_CYRILLIC)
    else:
        for letters, simple in _SPELLING_PAIRS:
            folded = folded.replace(letters, simple)
        consonants = _SILENT.sub("", folded).translate(_LATIN)
    return _DOUBLED_LETTER.sub(r"\1", consonants)
