"""What a word may mean in English, by the files of the languages. No translation: a word that no
line has means nothing more than itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from ..language.model import of
from ..language.resources import contents, tags
from ..language.stems import stem, stems_of


@lru_cache(maxsize=16384)
def in_english(word: str, tag: str) -> frozenset[str]:
    """The English stems of what a word of the language `tag` may mean; of an English word those
    that mean the same. Empty where neither a line of its `meanings` nor one of the things
    that apps hold (`things`) has it."""
    return _meanings(tag).get(stem(word, tag), frozenset())


@lru_cache(maxsize=16)
def _meanings(tag: str) -> Mapping[str, frozenset[str]]:
    """By the stem of a word. English words are the left sides of the lines of all languages; what
    apps hold stands under `things`, the rest under `meanings`."""
    lines = _lines(tag)
    if tag == "en":
        lines = [(left, left) for other in tags() for left, _ in _lines(other)]
    english, said = of("en").words.lists("things"), of(tag).words.lists("things")
    found: dict[str, set[str]] = {}
    for meant, words in [*lines, *((english[c], said[c]) for c in english if c in said)]:
        for word in stems_of(words, tag):
            found.setdefault(word, set()).update(stems_of(meant, "en"))
    return {word: frozenset(meant) for word, meant in found.items()}


def _lines(tag: str) -> list[tuple[str, str]]:
    pairs = (line.partition(":") for line in contents(tag).get("meanings", ()))
    return [(left, right) for left, _, right in pairs]
