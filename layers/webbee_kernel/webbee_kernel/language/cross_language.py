"""What makes words of two languages alike: what they mean in English, and what they sound like.

No translation: a word that no line has means nothing more than itself. A sound is the consonants in
one script, rough enough that "Гамбург" and "Hamburg", "Крит" and "Crete", "инцидент" and "incident"
sound alike, and no more than that is meant by it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from .model import of
from .resources import contents, tags
from .stems import fold, stem


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


_CYRILLIC = str.maketrans(
    dict(zip("бвгджзклмнпрстфхцчшщ", "bvgdssklmnprstfgssss", strict=True))
    | dict.fromkeys("аеёийоуъыьэюяіїєґ", "")
)
_ALIKE = "sch>s sh>s ch>s zh>s kh>g ts>s tz>s ph>f th>t ck>k qu>kv x>ks ce>se ci>si cy>si"
_TOGETHER = tuple(pair.split(">") for pair in _ALIKE.split())
_LATIN = str.maketrans("cwzjhq", "kvssgk", "aeiouyäöüáéíóúàèâêîôû")
_SILENT = re.compile("h(?![aeiouy])")
_TWICE = re.compile(r"(.)\1+")


@lru_cache(maxsize=16384)
def sound(word: str) -> str:
    """The consonants of a word, in one script; a word that has none gives nothing."""
    folded = fold(word)
    if folded[:1] >= "а":
        heard = folded.translate(_CYRILLIC)
    else:
        for letters, one in _TOGETHER:
            folded = folded.replace(letters, one)
        heard = _SILENT.sub("", folded).translate(_LATIN)
    return _TWICE.sub(r"\1", heard)
