"""The words of what the narrator was shown, and where each stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, islice
from typing import TypeVar, cast

from .. import language
from ..language import Language
from .building import Built
from .places import Place, fold, key_words

T = TypeVar("T")
MOST = 20
"""Fields that are looked at for one word."""
_UNSPACED = "\u2e80"  # from here on scripts put no spaces between words
CYRILLIC = "\u0400"
"""From here on letters are Cyrillic."""
LONGEST_PHRASE = 80
"""Characters of a field that a reply may repeat as a whole, unquoted."""
_WORD = re.compile(r"\w+")
_FIRST = re.compile(r"(?m)^(?:[^\w\n]|_)*([^\W_]*)")


@dataclass(slots=True)
class Worded(Built):
    """The text that may be repeated. `text` holds every string, one a line, folded."""

    @property
    def text(self) -> str:
        """Every string, one a line, folded."""
        return self._once("text", self._text)

    def _text(self) -> str:
        text = "\n".join([place.value for place in self._places])
        if text.count("\n") >= len(self._places):
            text = "\n".join([place.value.replace("\n", " ") for place in self._places])
        return fold(text)

    def opening(self, words: Collection[str]) -> Iterator[tuple[str, str, Place]]:
        """The fields that a reply may repeat as a whole and that begin with one of some words: the
        word, the field as it is compared, and where it lies."""
        firsts = self._once("firsts", lambda: _FIRST.findall(self.text) if self._places else [])
        for at in [n for n, first in enumerate(firsts) if first and first in words]:
            place = self._places[at]
            if len(place.value) <= LONGEST_PHRASE and not place.value.isdigit():
                yield firsts[at], fold(place.value), place

    def whole(self, word: str) -> Iterator[Place]:
        """The fields that are one word and nothing else."""
        framed, line = self._once("framed", lambda: f"\n{self.text}\n"), f"\n{word}\n"
        at = framed.find(line)
        while at >= 0:
            yield self.place(at)
            at = framed.find(line, at + 1)

    def containing(self, stem: str, spoken: Language) -> Iterator[Place]:
        """The fields with a word of that stem."""
        for word in self.stems(spoken).get(stem, ()):
            yield from map(self.place, self._offsets(word))

    def _offsets(self, word: str) -> Iterator[int]:
        """Where a word stands in the text, with no letter or digit on either side."""
        text, at = self.text, self.text.find(word)
        while at >= 0:
            end = at + len(word)
            if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
                yield at
            at = text.find(word, end)

    def find(self, token: str, glue: str = "") -> list[Place]:
        """The fields in which a token stands with no letter, digit or character of `glue` on either
        side; at most twenty."""
        needle, text = fold(token), self.text
        found: list[Place] = []
        at = text.find(needle) if needle else -1
        while at >= 0 and len(found) < 20:
            end = at + len(needle)
            if not (
                _goes_on(text, at - 1, glue, needle[0], -1)
                or _goes_on(text, end, glue, needle[-1], 1)
            ):
                found.append(self.place(at))
            at = text.find(needle, at + 1)
        return found

    def strings(self) -> Sequence[Place]:
        """Every field that is text."""
        return self._places

    def word(self, word: str, spoken: Language) -> list[Place]:
        """The fields that hold a word: as it is, inflected, or spelled in another script."""
        folded = fold(word)
        alike = [folded, *self.stems(spoken).get(spoken.stem(word), ()), *self._inflected(folded)]
        found = self._holding(alike)
        for end in (None, -1, -2) if folded[:1] > CYRILLIC and len(folded) > 5 else (None,):
            found = found or self._holding(self._sounding(folded[:end]))  # without a case's ending
        return found

    def _holding(self, words: Iterable[str]) -> list[Place]:
        offsets = chain.from_iterable(map(self._offsets, dict.fromkeys(words)))
        return [self.place(at) for at in islice(offsets, MOST)]

    def _inflected(self, word: str) -> list[str]:
        """The words that agree with a Cyrillic one in all but three letters of their ends."""
        if not word[:1] > CYRILLIC:
            return []
        alike = [w for w in self.words if w[:3] == word[:3]]
        return [w for w in alike if w.startswith(_root(word)) and word.startswith(_root(w))]

    def _sounding(self, word: str) -> list[str]:
        """The words in another script that sound like one."""
        other = self._once("sounds", self._sounds)
        return other[word > CYRILLIC].get(language.sound(word), []) if word[0].isalpha() else []

    def _sounds(self) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
        """The words of the text by their sound: those in Cyrillic, and those in Latin."""
        cyrillic: dict[str, list[str]] = {}
        latin: dict[str, list[str]] = {}
        for word in self.words:
            if heard := word[0].isalpha() and language.sound(word):
                (cyrillic if word > CYRILLIC else latin).setdefault(heard, []).append(word)
        return cyrillic, latin

    def has_key(self, word: str, spoken: Language) -> bool:
        """Whether a key of the data has a word."""
        stems = self._once("key stems", lambda: {w for key in self.keys for w in key_words(key)})
        return spoken.stem(word) in stems or language.of("en").stem(word) in stems

    def stems(self, spoken: Language) -> dict[str, list[str]]:
        """The words of the text by their stem in a language."""
        return self._once(f"stems {spoken.tag}", lambda: self._stems(spoken))

    def _stems(self, spoken: Language) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self.words:
            found.setdefault(spoken.stem(word), []).append(word)
        return found

    def place(self, offset: int) -> Place:
        """The field that stands at an offset of `text`."""
        return self._places[bisect_right(self._starts, offset) - 1]

    @property
    def _starts(self) -> list[int]:
        """Where each string begins in `text`."""
        return self._once("starts", self._begin)

    def _begin(self) -> list[int]:
        sizes = [len(place.value) + 1 for place in self._places]
        return list(accumulate(sizes[:-1], initial=0))

    @property
    def words(self) -> frozenset[str]:
        """Every word of the text that has a letter."""
        return self._once("words", self._words)

    def _words(self) -> frozenset[str]:
        found = set(_WORD.findall(self.text.replace("_", " ")))
        return frozenset(word for word in found if not word.isdecimal())

    def _once(self, name: str, make: Callable[[], T]) -> T:
        if name not in self._cache:
            self._cache[name] = make()
        return cast("T", self._cache[name])


def _root(word: str) -> str:
    return word[: max(3, len(word) - 3)]


def _goes_on(text: str, at: int, glue: str, edge: str, step: int) -> bool:
    if not 0 <= at < len(text) or not (edge.isalnum() or edge == "_"):
        return False
    if (text[at].isalnum() and text[at] < _UNSPACED) or text[at] == "_":
        return True
    beyond = at + step
    return text[at] in glue and 0 <= beyond < len(text) and text[beyond].isalnum()
