"""Search words, matched in any inflected form: "книгу" in "Книги", "Bücher" in "Buch". Linear in
the text; only words with the same first two letters are stemmed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from math import log
from os.path import commonprefix
from typing import Final

from . import likely_languages
from .model import key_fold, of
from .resources import known_tag
from .stems import fold, stem

MIN_LETTERS: Final = 3
"""Minimum letters of an inflected word, and of a prefix for servers that compare letters."""
MIN_PART_LETTERS: Final = 4
"""Minimum letters of a compound's parts."""
MIN_SHARE: Final = 1 / 3
"""Minimum share of the total word weight in a text that lacks a word."""
MAX_LANGUAGES: Final = 2
"""With more candidate languages than this only the user's own is used."""
_ALPHABETS: Final = (*range(0x61, 0x7B), *range(0xC0, 0x250), *range(0x430, 0x460))
"""Letters of the scripts that stemmers know, with their accents."""


@lru_cache(maxsize=64)
def _letter_class(letter: str) -> str:
    """A regex character class of a letter with and without accents."""
    variants = (chr(n) for n in _ALPHABETS if key_fold(chr(n))[:1] == key_fold(letter)[:1])
    return f"[{re.escape(letter)}{''.join(variants)}]"


class SearchWord:
    """One search word. It matches its letters in any case and anywhere, or an inflected form in one
    of the languages `tags`."""

    def __init__(self, word: str, tags: frozenset[str]) -> None:
        self.word, self._tags = word, tags
        letters = (_letter_class(c) if c in "её" else re.escape(c) for c in word.lower())
        self._letters = re.compile("".join(letters), re.IGNORECASE)

    def search(self, text: str) -> tuple[int, int] | None:
        """The span of the first match, or None."""
        if found := self._letters.search(text):
            return found.span()
        forms = self._form_pattern.finditer(text) if self._form_pattern else ()
        return next((m.span() for m in forms if self._stem(m[0]) & self._stems), None)

    @property
    def prefix(self) -> str:
        """The common prefix of its forms, for servers that compare letters; the word itself where
        that is shorter than three letters."""
        prefixes = [commonprefix([fold(self.word), form]) for form in self._stems]  # noqa: RUF071
        # a short stem keeps a letter of its ending: "Анны" is "Анн…"
        is_whole = self._stems.issubset(prefixes) and len(self.word) > MIN_LETTERS
        size = min(map(len, prefixes), default=0) if self._form_pattern else 0
        size = max(size, MIN_LETTERS) if size and is_whole else size
        return self.word[:size] if size >= MIN_LETTERS else self.word

    @cached_property
    def _form_pattern(self) -> re.Pattern[str] | None:
        """A regex of words that may be its forms: the same first two letters."""
        if len(self.word) < MIN_LETTERS or not self.word.isalpha():
            return None
        first, second = map(_letter_class, self.word[:2].lower())
        return re.compile(rf"(?<!\w){first}{second}\w*", re.IGNORECASE)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return self._stem(self.word)

    def _stem(self, word: str) -> frozenset[str]:
        # the stemmer leaves a letter more of a Russian name in one case than in another
        return frozenset(stem(stem(word, tag), tag) for tag in self._tags)


class SearchWords:
    """The words of a search query, without function words ("the", "of") if others remain."""

    def __init__(self, text: str, language: str) -> None:
        """`language` is the user's BCP 47 tag; the words may be of other languages."""
        likely = likely_languages(text)
        tags = frozenset({known_tag(language)}).union(
            likely if len(likely) <= MAX_LANGUAGES else ()
        )
        words = text.split()
        content = [w for w in words if not any(_is_stopword(w, tag) for tag in tags)] or words
        parts = dict.fromkeys(part for word in content for part in _parts(word, tags))
        self.words = tuple(SearchWord(part, tags) for part in parts)

    def __bool__(self) -> bool:
        return bool(self.words)

    def are_in(self, text: str) -> bool:
        """Whether a text contains every word."""
        return all(word.search(text) for word in self.words)

    def held(self, text: str) -> frozenset[str]:
        """The words that a text contains."""
        return frozenset(word.word for word in self.words if word.search(text))

    def best(self, counts: Mapping[frozenset[str], int]) -> list[frozenset[str]]:
        """The combinations of words worth showing, the best first: all words, then those with a
        third of the total weight. `counts` is the number of texts with exactly these words."""
        all_words = frozenset(word.word for word in self.words)
        weights = _word_weights(all_words, counts)
        minimum = MIN_SHARE * max(1, sum(weights.values()))  # words in all texts do not suffice
        partial = (words for words in counts if words != all_words)
        enough = [held for held in partial if sum(weights[word] for word in held) >= minimum]
        return [all_words, *sorted(enough, key=len, reverse=True)]

    def place_in(self, text: str) -> tuple[int, int] | None:
        """The span of the first match of any word in a text, or None."""
        return min(filter(None, (word.search(text) for word in self.words)), default=None)

    def beginnings(self) -> dict[str, str]:
        """Each word with its prefix, for a server that compares letters."""
        return {word.word: word.prefix for word in self.words}


def _word_weights(words: frozenset[str], counts: Mapping[frozenset[str], int]) -> dict[str, float]:
    """The inverse document frequency of each word, 0 where no text contains it."""
    texts = {word: sum(n for group, n in counts.items() if word in group) for word in words}
    total = sum(counts.values()) + 1
    return {word: log(total / n) if n else 0 for word, n in texts.items()}


def _parts(word: str, tags: frozenset[str]) -> Iterator[str]:
    """A word, or both parts of a compound that ends with a listed noun: "Bestellnummer" →
    "Bestell", "Nummer"."""
    nouns = frozenset[str]().union(*(of(tag).words.forms("things") for tag in tags))
    ends = (end for end in nouns if len(end) >= MIN_PART_LETTERS and fold(word).endswith(end))
    longest = max(ends, key=len, default="")
    at = len(word) - len(longest)
    is_whole = not longest or at < MIN_PART_LETTERS
    yield from (word,) if is_whole else (word[:at], word[at:])


def _is_stopword(word: str, tag: str) -> bool:
    words = of(tag).words
    return stem(word, tag) in words.function or fold(word) in words.forms("article")
