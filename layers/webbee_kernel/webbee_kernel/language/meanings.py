"""What words of a language mean in English. No translation: a word that no line has means nothing
more than itself."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from .model import of
from .registry import contents, tags
from .stems import stem


@lru_cache(maxsize=16384)
def in_english(word: str, tag: str) -> frozenset[str]:
    """The English stems of what a word of the language `tag` may mean; of an English word those
    that mean the same. Empty where neither a line of its `meanings` nor one of the things
    that apps hold (`things`) has it."""
    return _meanings(tag).get(stem(word, tag), frozenset())


@lru_cache(maxsize=16)
def _meanings(tag: str) -> Mapping[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for english, words in _lines(tag):
        meant = {stem(w, "en") for w in english.split()}
        for word in words.split():
            found.setdefault(stem(word, tag), set()).update(meant)
    return {word: frozenset(meant) for word, meant in found.items()}


def _lines(tag: str) -> list[tuple[str, str]]:
    """English words and words of the language, a pair a meaning; English ones are the left sides of
    all languages. What apps hold stands under `things`, the rest under `meanings`."""
    listed = _listed(tag)
    if tag == "en":
        listed = [(left, left) for other in tags() for left, _ in _listed(other)]
    english, said = _by_concept("en", "things"), _by_concept(tag, "things")
    return [*listed, *((english[c], said[c]) for c in english if c in said)]


def _listed(tag: str) -> list[tuple[str, str]]:
    pairs = (line.partition(":") for line in contents(tag).get("meanings", ()))
    return [(left, right) for left, _, right in pairs]


def _by_concept(tag: str, role: str) -> Mapping[str, str]:
    found: dict[str, list[str]] = {}
    for word, concepts in sorted(of(tag).words.meanings(role).items()):
        for concept in concepts:
            found.setdefault(concept, []).append(word)
    return {concept: " ".join(words) for concept, words in found.items()}
