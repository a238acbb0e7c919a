"""Words that somebody looks for, found in a text in whatever form they stand there: "книгу" in
"Книги", "Bücher" in "Buch". Linear in the text; only words that begin alike are stemmed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from math import log
from os.path import commonprefix
from typing import Final

from .detection import likely
from .model import key_fold, of
from .resources import known_tag
from .stems import fold, stem

LEAST: Final = 3
"""Letters of a word that has forms, and of what is left of one where only letters are compared."""
LEAST_PART: Final = 4
"""Letters of a compound's parts."""
ENOUGH: Final = 1 / 3
"""What a text that lacks a word must hold of what all words tell."""
MOST_MIXED: Final = 2
"""Languages that the words may seem to be of; more tell none."""
_ALPHABETS: Final = (*range(0x61, 0x7B), *range(0xC0, 0x250), *range(0x430, 0x460))
"""Letters of the scripts that stemmers know, with their accents."""


@lru_cache(maxsize=64)
def _alike(letter: str) -> str:
    """A letter with and without accents, as a class of a pattern."""
    same = (chr(n) for n in _ALPHABETS if key_fold(chr(n))[:1] == key_fold(letter)[:1])
    return f"[{re.escape(letter)}{''.join(same)}]"


class SearchWord:
    """One word. It stands in a text by its letters, in any case and anywhere, or in another of its
    forms in one of these languages."""

    def __init__(self, word: str, tags: frozenset[str]) -> None:
        self.word, self._tags = word, tags
        letters = (_alike(c) if c in "её" else re.escape(c) for c in word.lower())
        self._letters = re.compile("".join(letters), re.IGNORECASE)

    def search(self, text: str) -> tuple[int, int] | None:
        """Where it stands first; None where it does not."""
        if found := self._letters.search(text):
            return found.span()
        forms = self._begins.finditer(text) if self._begins else ()
        return next((m.span() for m in forms if self._stem(m[0]) & self._stems), None)

    @property
    def beginning(self) -> str:
        """What all its forms begin with, for what compares letters alone; the word itself where
        too little is left."""
        begun = [commonprefix([fold(self.word), form]) for form in self._stems]  # noqa: RUF071
        # a short stem keeps a letter of its ending: "Анны" is "Анн…"
        whole = self._stems.issubset(begun) and len(self.word) > LEAST
        kept = min(map(len, begun), default=0) if self._begins else 0
        kept = max(kept, LEAST) if kept and whole else kept
        return self.word[:kept] if kept >= LEAST else self.word

    @cached_property
    def _begins(self) -> re.Pattern[str] | None:
        """What its forms may look like: most change their ends, some a vowel before."""
        if len(self.word) < LEAST or not self.word.isalpha():
            return None
        first, second = map(_alike, self.word[:2].lower())
        return re.compile(rf"(?<!\w){first}{second}\w*", re.IGNORECASE)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return self._stem(self.word)

    def _stem(self, word: str) -> frozenset[str]:
        # the stemmer leaves a letter more of a Russian name in one case than in another
        return frozenset(stem(stem(word, tag), tag) for tag in self._tags)


class SearchWords:
    """The words of what somebody looks for. Small words ("the", "of") say nothing beside others."""

    def __init__(self, text: str, language: str) -> None:
        """`language` is that of the person, as a BCP 47 tag; the words may be of others."""
        told = likely(text)
        tags = frozenset({known_tag(language)}).union(told if len(told) <= MOST_MIXED else ())
        said = text.split()
        telling = [w for w in said if not any(_is_small(w, tag) for tag in tags)] or said
        parts = dict.fromkeys(part for word in telling for part in _parts(word, tags))
        self.words = tuple(SearchWord(part, tags) for part in parts)

    def __bool__(self) -> bool:
        return bool(self.words)

    def are_in(self, text: str) -> bool:
        """Whether each of them stands in a text."""
        return all(word.search(text) for word in self.words)

    def held(self, text: str) -> frozenset[str]:
        """Those that stand in a text."""
        return frozenset(word.word for word in self.words if word.search(text))

    def best(self, counts: Mapping[frozenset[str], int]) -> list[frozenset[str]]:
        """Which of these combinations of words are worth showing, the best first: all of them, and
        those that hold enough of what the words tell. `counts` says how many texts hold just
        these."""
        every = frozenset(word.word for word in self.words)
        tells = _tells(every, counts)
        least = ENOUGH * max(1, sum(tells.values()))  # what all texts hold is not enough alone
        near = (held for held in counts if held != every)
        enough = [held for held in near if sum(tells[word] for word in held) >= least]
        return [every, *sorted(enough, key=len, reverse=True)]

    def place_in(self, text: str) -> tuple[int, int] | None:
        """Where the first that stands in a text begins and ends; None where none does."""
        return min(filter(None, (word.search(text) for word in self.words)), default=None)

    def beginnings(self) -> dict[str, str]:
        """Each, and it without its ending, for a server that compares letters."""
        return {word.word: word.beginning for word in self.words}


def _tells(words: frozenset[str], counts: Mapping[frozenset[str], int]) -> dict[str, float]:
    """What each word tells: the more, the fewer texts have it, and nothing where none has."""
    having = {word: sum(n for held, n in counts.items() if word in held) for word in words}
    total = sum(counts.values()) + 1
    return {word: log(total / n) if n else 0 for word, n in having.items()}


def _parts(word: str, tags: frozenset[str]) -> Iterator[str]:
    """A word, or both parts of a compound that ends with what a language calls things:
    "Bestellnummer" is the "Nummer" of a "Bestellung"."""
    things = frozenset[str]().union(*(of(tag).words.forms("things") for tag in tags))
    ends = (end for end in things if len(end) >= LEAST_PART and fold(word).endswith(end))
    longest = max(ends, key=len, default="")
    at = len(word) - len(longest)
    is_whole = not longest or at < LEAST_PART
    yield from (word,) if is_whole else (word[:at], word[at:])


def _is_small(word: str, tag: str) -> bool:
    words = of(tag).words
    return stem(word, tag) in words.function or fold(word) in words.forms("article")
