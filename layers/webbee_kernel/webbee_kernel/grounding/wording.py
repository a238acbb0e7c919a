"""The words of what the narrator was shown, and where each stands."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar, cast

from .. import language
from ..language import Language
from .building import Built
from .places import Place, fold, key_words

T = TypeVar("T")
_UNSPACED = "\u2e80"  # from here on scripts put no spaces between words
CYRILLIC = "\u0400"
"""From here on letters are Cyrillic."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(slots=True)
class Worded(Built):
    """The text that may be repeated. `text` holds every string, one a line, folded."""

    @property
    def text(self) -> str:
        """Every string, one a line, folded."""
        return self._once("text", lambda: "\n".join(self._parts))

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

    def word(self, word: str, spoken: language.Language) -> list[Place]:
        """The fields that hold a word: as it is, inflected, or spelled in another script."""
        known = self.words
        folded = fold(word)
        offsets = [*known.get(folded, ()), *self.stems(spoken).get(spoken.stem(word), ())]
        offsets += self._inflected(folded)
        offsets = offsets or self._sounding(folded)
        return [self.place(at) for at in dict.fromkeys(offsets[:20])]

    def _inflected(self, word: str) -> list[int]:
        """The words that agree with a Cyrillic one in all but three letters of their ends."""
        if not word[:1] > "\u0400":
            return []
        alike = self._once("prefixes", self._prefixes).get(word[:3], ())
        return [
            at
            for w in alike
            if w.startswith(_root(word)) and word.startswith(_root(w))
            for at in self.words[w]
        ]

    def _prefixes(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for word in self.words:
            found.setdefault(word[:3], []).append(word)
        return found

    def _sounding(self, word: str) -> list[int]:
        """The words in another script that sound like one."""
        other = self._once("sounds", self._sounds)
        return other[word > CYRILLIC].get(language.sound(word), []) if word[0].isalpha() else []

    def _sounds(self) -> tuple[dict[str, list[int]], dict[str, list[int]]]:
        """The words of the text by their sound: those in Cyrillic, and those in Latin."""
        cyrillic: dict[str, list[int]] = {}
        latin: dict[str, list[int]] = {}
        for word, offsets in self.words.items():
            if heard := word[0].isalpha() and language.sound(word):
                (cyrillic if word > CYRILLIC else latin).setdefault(heard, []).extend(offsets)
        return cyrillic, latin

    def has_key(self, word: str, spoken: Language) -> bool:
        """Whether a key of the data has a word."""
        stems = self._once("key stems", lambda: {w for key in self.keys for w in key_words(key)})
        return spoken.stem(word) in stems or language.of("en").stem(word) in stems

    def stems(self, spoken: language.Language) -> dict[str, list[int]]:
        """The words of the text by their stem in a language."""
        return self._once(f"stems {spoken.tag}", lambda: self._stems(spoken))

    def _stems(self, spoken: language.Language) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for word, offsets in self.words.items():
            found.setdefault(spoken.stem(word), []).extend(offsets)
        return found

    def place(self, offset: int) -> Place:
        """The field that stands at an offset of `text`."""
        return self._places[bisect_right(self._starts, offset) - 1]

    @property
    def words(self) -> dict[str, list[int]]:
        """Every word of the text with the offsets at which it stands."""
        return self._once("words", self._words)

    def _words(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = {}
        for match in _WORD.finditer(self.text):
            found.setdefault(match.group(), []).append(match.start())
        return found

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
