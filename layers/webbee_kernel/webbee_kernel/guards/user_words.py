"""Words: whether a text consists of the user's own words. Pure.

A text is his where each of its words stands in what he said, in any order and any number: a title
is put together from a sentence ("remind me to buy milk" → "Buy milk"), and what matters is that
nothing in it comes from elsewhere. A word counts in another form of it too, by the stemmer of its
language or by a long common beginning; a figure, a code or an address counts as itself only.
Contiguity is not asked for: it would refuse each title that leaves a word out, and what words of
the user's can be put together to stays within what he has said.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import cached_property, lru_cache

from .. import language
from ..language.spans import UNSPACED

_WORD = re.compile(r"[^\W_]+(?:[.,:/@+-]+[^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_FIGURE = re.compile(r"\d")
_ADDRESS = re.compile(r"@|://|[^\W_]\.[^\W\d_]{2,}")
LEAST_SHARED = 4
"""Letters that two forms of a word begin with, at least."""
SHARE = 0.75
"""Part of the longer form that they share."""
LONGEST = 60
"""Letters of a word that has forms."""


def plain(text: str) -> str:
    """NFKC without case and without the marks that nobody sees."""
    return "".join(
        c for c in unicodedata.normalize("NFKC", text).casefold() if unicodedata.category(c) != "Cf"
    )


@lru_cache(maxsize=512)
def words_in(text: str) -> tuple[str, ...]:
    """The words of a text, in order: figures with what joins them (`17:00`, `3.5`) and addresses
    whole, other words part by part."""
    return tuple(_split(plain(text)))


def _split(text: str) -> Iterator[str]:
    for match in _WORD.finditer(text):
        whole = match[0]
        if _is_one(whole):
            yield whole
            continue
        for part in _PART.findall(whole):
            if not part.isascii() and re.search(UNSPACED, part):  # there each letter is a word
                yield from part
            else:
                yield part


class Said:
    """What the user has said: his message, or with a plain yes the reply that it answers. Where it
    is `strict` a word counts in the forms of its stem alone, not by a common beginning."""

    def __init__(self, texts: Iterable[str], tag: str = "en", *, strict: bool = False) -> None:
        self.texts = tuple(texts)
        self.tag = tag
        self.strict = strict

    def less(self, values: Iterable[str]) -> Said:
        """The same without these."""
        texts = list(self.texts)
        for value in values:
            texts = [text.replace(value, " ") for text in texts]
        return Said(texts, self.tag, strict=self.strict)

    def holds(self, text: str) -> bool:
        """Whether every word of the text is one of his; a text without words (`*`) as itself."""
        words = words_in(text)
        return all(map(self.has, words)) if words else any(text.strip() in t for t in self.texts)

    def share(self, text: str) -> float:
        """The part of a text's letters that stand in words of his."""
        found = words_in(text)
        total = sum(map(len, found))
        return sum(len(w) for w in found if self.has(w)) / total if total else 0.0

    def has(self, word: str) -> bool:
        """Whether a word is his, in whatever form of it; a figure or a code as itself."""
        if word in self._words:
            return True
        if _is_one(word):
            return word in self._figures or _hour(word) in self._figures
        if self._stem(word) in self._stems:
            return True
        return not self.strict and not self._beginnings.isdisjoint(_beginnings(word))

    def has_exactly(self, word: str) -> bool:
        """Whether a word stands there as it is."""
        return word in self._words

    @cached_property
    def _words(self) -> frozenset[str]:
        return frozenset(w for text in self.texts for w in words_in(text))

    @cached_property
    def _figures(self) -> frozenset[str]:
        """Figures also without what stands around them: `#12` and `12,` are 12, but a part of a
        longer one is none."""
        return frozenset(w.strip(".,:/@+-") for w in self._words)

    @cached_property
    def _stems(self) -> frozenset[str]:
        return frozenset(self._stem(w) for w in self._words)

    @cached_property
    def _beginnings(self) -> frozenset[str]:
        """What a form of one of his words begins with."""
        return frozenset(b for w in self._words if not _FIGURE.search(w) for b in _beginnings(w))

    def _stem(self, word: str) -> str:
        return language.stem(word, self.tag)


def _hour(word: str) -> str:
    """The figure that a full hour is said by: `09:00` is "at 9"."""
    return word.removesuffix(":00").lstrip("0")


def _is_one(word: str) -> bool:
    """Whether it is a figure, a code or an address, which is nothing but itself."""
    return bool(_FIGURE.search(word) or _ADDRESS.search(word))


def _beginnings(word: str) -> Iterator[str]:
    """The beginnings that make up most of a word: two words that share one are forms of one word.
    What is longer than any word has none."""
    if len(word) <= LONGEST:
        least = max(LEAST_SHARED, math.ceil(SHARE * len(word)))
        yield from (word[:size] for size in range(least, len(word) + 1))
