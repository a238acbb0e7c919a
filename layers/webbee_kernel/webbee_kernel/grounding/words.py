"""The words of an index: exact, by stem, by phonetic key in another script, and codes by their
endings."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import chain, islice
from typing import TYPE_CHECKING

from .. import language
from ..language import Language
from .places import DATE, Place, fold

if TYPE_CHECKING:
    from .index import Index

MAX_TITLE, MIN_NAME = 48, 5
"""Maximum characters of a record's title; minimum letters of one in lower case."""
MAX_PLACES = 20
"""Maximum fields considered for one word."""
CYRILLIC = "\u0400"
"""Letters from here on are Cyrillic."""
SOUND_LENGTH = 3
"""Letters of the phonetic key that must agree."""
_WORD = re.compile(r"\w+")
MIN_RUN, MAX_ENDING = 6, 10
"""Minimum digits of a grouped code; maximum digits of a code's ending."""
MIN_ENDING = 4
"""Minimum digits of an ending."""
MAX_CODE = 60
"""Maximum characters of a code, and around a value that is part of one."""
ZONE_LENGTH = 6
"""Characters of a moment's zone: "+02:00"."""
_DIGITS = re.compile(r"\d+")
_RUN = re.compile(r"(?<![^\W_])[A-Z\d]{1,20}(?:[ \u00a0()./-]{1,3}[A-Z\d]{1,20}){1,9}(?![^\W_])")
_BREAKS = re.compile(r"[ \u00a0()./-]+")


class Words:
    """The words in the fields of an index."""

    def __init__(self, index: Index) -> None:
        self._index = index

    @cached_property
    def all(self) -> tuple[str, ...]:
        """Every word with a letter, in order."""
        return tuple(word for word in self._offsets if not word.isdecimal())

    @cached_property
    def _offsets(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for word in _WORD.finditer(self._index.text.replace("_", " ")):
            found[word[0]] += (word.start(),)
        return found

    def by_stem(self, lang: Language) -> dict[str, list[str]]:
        """The words of the text by their stem in a language."""
        return self._index.cached(f"stems {lang.tag}", lambda: self._by(lang.stem))

    def _by(self, key: Callable[[str], str]) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self.all:
            found.setdefault(key(word), []).append(word)
        return found

    def find(self, word: str, lang: Language) -> list[Place]:
        """The fields with a word: exact, inflected, or in another script."""
        return self._index.cached(
            f"word {lang.tag} {word}", lambda: self._word(fold(word), word, lang)
        )

    def _word(self, folded: str, word: str, lang: Language) -> list[Place]:
        forms = [folded, *self.by_stem(lang).get(lang.stem(word), ()), *self._inflected(folded)]
        return self._places_of(forms) or self._places_of(self._sounding(folded))

    def _places_of(self, words: Iterable[str]) -> list[Place]:
        places = chain.from_iterable(map(self._places, dict.fromkeys(words)))
        return list(islice(places, MAX_PLACES))

    def _places(self, word: str) -> list[Place]:
        """The fields with a word, which may contain hyphens."""
        if word.isalnum():
            return [self._index.place(at) for at in self._offsets.get(word, ())]
        return self._index.find(word)

    def _inflected(self, word: str) -> list[str]:
        """The words that equal a Cyrillic one except for up to three final letters."""
        if not word[:1] > CYRILLIC:
            return []
        return [
            w
            for w in self._roots_of_words.get(word[:3], ())
            if w.startswith(word[: max(3, len(word) - 3)])
            and word.startswith(w[: max(3, len(w) - 3)])
        ]

    @cached_property
    def _roots_of_words(self) -> dict[str, list[str]]:
        return self._by(lambda word: word[:3])

    def _sounding(self, word: str) -> list[str]:
        """The words in another script with the same phonetic key."""
        if not word[0].isalpha():
            return []
        return self._sounds[word > CYRILLIC].get(language.sound(word)[:SOUND_LENGTH], [])

    @cached_property
    def _sounds(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """The words by phonetic key: Cyrillic and Latin ones."""
        cyrillic: dict[str, list[str]] = {}
        latin: dict[str, list[str]] = {}
        for word in self.all:
            # j may be a vowel, and ch what others write kh
            for spelling in {word, word[word[:1] == "j" :], word.replace("ch", "kh")}:
                if sound := word[0].isalpha() and language.sound(spelling)[:SOUND_LENGTH]:
                    (cyrillic if word > CYRILLIC else latin).setdefault(sound, []).append(word)
        return cyrillic, latin

    def titles(self, stem: str, lang: Language) -> list[tuple[Place, int]]:
        """The titles of rows with a word of this stem, each with its number of words."""
        return self._index.cached(f"title {lang.tag} {stem}", lambda: self._titles(stem, lang))

    def _titles(self, stem: str, lang: Language) -> list[tuple[Place, int]]:
        found = []
        words = self.by_stem(lang).get(stem, ()) if len(stem) > 1 else ()
        for place in chain.from_iterable(map(self._places, words)):
            text = place.value
            is_name = len(text) <= MAX_TITLE and (len(text) >= MIN_NAME or text[:1].isupper())
            if is_name and self._index.is_row(place.owner):
                parts = _WORD.findall(fold(text).replace("_", " "))
                found.append((place, len([w for w in parts if len(w) > 1 and not w.isdigit()])))
        return found


def places_ending(index: Index, code: str) -> list[Place]:
    """The fields whose digits and capitals have this ending: a phone, a card's last four digits,
    `order_70412`."""
    if len(code) < MIN_ENDING:
        return []
    return index.cached("endings", lambda: _endings(index)).get(code[-MAX_ENDING:], [])


def places_grouped(index: Index, text: str, start: int, end: int) -> list[Place]:
    """The fields equal to the grouped digits and capitals around a value: a card, an account."""
    for run in _RUN.finditer(text, max(0, start - MAX_CODE), end + MAX_CODE):
        if run.start() <= start < run.end():
            whole = _BREAKS.sub("", run.group())
            return places_ending(index, whole.lstrip("0")) if len(whole) > MIN_RUN else []
    return []


def _endings(index: Index) -> dict[str, list[Place]]:
    """The fields with at least four digits, by endings of these digits and of the whole code."""
    found: dict[str, list[Place]] = {}
    long_numbers = (p for p in index.figures if p.value == int(p.value) > 10**MIN_RUN)
    for place in (*index.strings, *long_numbers):
        text = str(place.value)
        if (stamp := DATE.match(text)) and len(text) <= stamp.end() + ZONE_LENGTH:
            continue  # "5550" is no end of 09:55:50
        digits = "".join(_DIGITS.findall(text))
        for size in range(MIN_ENDING, min(len(digits), MAX_ENDING) + 1):
            found.setdefault(digits[-size:], []).append(place)
        if len(digits) >= MIN_ENDING and len(text) <= MAX_CODE:
            found.setdefault(_BREAKS.sub("", text)[-MAX_ENDING:], []).append(place)
    return found
