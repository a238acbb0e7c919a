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
from .stems import fold, stem, stems_of


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
