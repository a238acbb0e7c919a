"""Language detection: by letters, then by common words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache

from .model import Language, of
from .resources import tag_for_script, tags
from .stems import fold, script_of, tokens

MAX_CHARACTERS = 1000  # characters: a language shows within a few sentences
_QUOTED = re.compile(r'"[^"]+"|«[^»]+»|“[^”]+”|„[^“”]+[“”]')


@lru_cache(maxsize=64)  # a turn asks of its message several times
def detect(text: str, default: str = "en") -> str:
    """The tag of the language of `text` where it is clear, else that of `default`.

    Every word outside addresses and quotations votes for the languages that list it as common or
    that alone use one of its letters; ties go to the default. Words unknown to all languages vote
    only for the script. A `default` without a language file is replaced only by a clear result.
    """
    default_tag = of(default).tag
    words = _voters(text[:MAX_CHARACTERS])
    if not words or _is_clearly(words, of(default)):
        return default_tag
    found = _vote_winner(words, default_tag)
    is_ours = default.lower().startswith(default_tag)
    return found if is_ours or _is_clearly(words, of(found)) else default_tag


@lru_cache(maxsize=4096)  # examples of all functions are asked about
def likely_languages(text: str) -> frozenset[str]:
    """The languages that a text may be in: those with a word or letter that no other language has.
    Of a script without such a word, all its languages; a longer text may be in several."""
    words = _voters(text[:MAX_CHARACTERS])
    found = {_word_tags()[w][0] for w in words if len(_word_tags().get(w, ())) == 1}
    found.update(_own_letters()[c] for w in words for c in w if c in _own_letters())
    scripts = {of(tag).script for tag in found}
    other_scripts = {script_of(w) for w in words} - scripts
    return frozenset(found.union(t for t in tags() if of(t).script in other_scripts))


def _voters(text: str) -> list[str]:
    """The words that vote, folded: without numbers, addresses and quotations."""
    for variant in (_QUOTED.sub(" ", text), text):
        plain = " ".join(w for w in variant.split() if "@" not in w and "://" not in w)
        if words := [w for t in tokens(plain) if not (w := fold(t.text)).isdigit()]:
            return words
    return []


def _is_clearly(words: list[str], language: Language) -> bool:
    """Whether two thirds of the words are common in a language, or half of them are longer common
    words and the rest is unknown; foreign letters rule it out."""
    known = [w for w in words if w in _common(language.tag)]
    unknown = set(words).difference(known)
    foreign_letters = {c for c in "".join(unknown) if not c.isascii()}.difference(language.letters)
    if foreign_letters and language.script == "latin":
        return False
    is_half = 2 * sum(len(w) > 2 for w in known) >= len(words)
    # "was ist …" is half English, and of one language only whole
    return 3 * len(known) >= 2 * len(words) or (is_half and _word_tags().keys().isdisjoint(unknown))


def _vote_winner(words: list[str], default_tag: str) -> str:
    if not (votes := _votes(words)):
        return _by_script(words, default_tag)
    # one word of another language beside one of the default's tells nothing: "roll a die"
    return max(tags(), key=lambda tag: (len(votes[tag]), tag == default_tag, sum(votes[tag])))


def _votes(words: list[str]) -> dict[str, list[float]]:
    """The votes for each language, weighted by how few languages share the word."""
    votes: dict[str, list[float]] = defaultdict(list)
    for word in words:
        for letter in set(word).intersection(_own_letters()):
            votes[_own_letters()[letter]].append(1)
        sharing_tags = _word_tags().get(word, ())
        for tag in sharing_tags:
            votes[tag].append(1 / len(sharing_tags))
    return votes


@lru_cache(maxsize=1)
def _own_letters() -> dict[str, str]:
    return {c: tag for tag in tags() for c in of(tag).letters}


@lru_cache(maxsize=1)
def _word_tags() -> dict[str, tuple[str, ...]]:
    """The tags of the languages that list each common word."""
    found: dict[str, list[str]] = {}
    for tag in tags():
        for word in _common(tag):
            found.setdefault(word, []).append(tag)
    return {word: tuple(holders) for word, holders in found.items()}


@lru_cache(maxsize=16)
def _common(tag: str) -> frozenset[str]:
    return frozenset(fold(w) for w in of(tag).vocabulary)


def _by_script(words: list[str], default_tag: str) -> str:
    """The language of two or more unknown words in another script than the default's."""
    scripts = Counter(script_of(w) for w in words)
    script, count = scripts.most_common(1)[0]
    if not script or script == of(default_tag).script or count < 2:
        return default_tag
    return tag_for_script(script) or default_tag
