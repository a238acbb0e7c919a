"""Which language a text is written in: by its letters, then by its commonest words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import lru_cache

from .model import Language, of
from .resources import tag_for_script, tags
from .stems import fold, script_of, tokens

READ = 1000  # characters: a language shows within a few sentences
_QUOTED = re.compile(r'"[^"]+"|«[^»]+»|“[^”]+”|„[^“”]+[“”]')


@lru_cache(maxsize=64)  # a turn asks of its message several times
def detect(text: str, default: str = "en") -> str:
    """The tag of the language of `text` where it is clear, else that of `default`.

    Each word votes but those of addresses, and of quotations where anything else stands: for every
    language that has it among its common ones, or that alone has its letter. The language with most
    votes wins; on a tie the default, then the one whose words fewer have. Words that none has vote
    only for the script. The default is read first, and no other where it is clear; one that is no
    language of ours gives way only to a clear one: Turkish has words of Italian.
    """
    usual = of(default).tag
    words = _voters(text[:READ])
    if not words or _clearly(words, of(default)):
        return usual
    found = _most_voted(words, usual)
    is_ours = default.lower().startswith(usual)
    return found if is_ours or _clearly(words, of(found)) else usual


@lru_cache(maxsize=4096)  # examples of all functions are asked about
def likely(text: str) -> frozenset[str]:
    """The languages that a text may be in: those that alone of all have one of its words or
    letters; of a script in which none does, all. A longer text may be in more of them."""
    words = _voters(text[:READ])
    found = {_having()[w][0] for w in words if len(_having().get(w, ())) == 1}
    found.update(_own_letters()[c] for w in words for c in w if c in _own_letters())
    told = {of(tag).script for tag in found}
    left = {script_of(w) for w in words} - told
    return frozenset(found.union(t for t in tags() if of(t).script in left))


def _voters(text: str) -> list[str]:
    """The words that vote, folded: no numbers, none of an address or of what is quoted."""
    for said in (_QUOTED.sub(" ", text), text):
        plain = " ".join(w for w in said.split() if "@" not in w and "://" not in w)
        if words := [w for t in tokens(plain) if not (w := fold(t.text)).isdigit()]:
            return words
    return []


def _clearly(words: list[str], language: Language) -> bool:
    """Whether most words are common ones of a language, or half of them are and no short ones,
    which languages share; and whether the others may be of it."""
    known = [w for w in words if w in _common(language.tag)]
    strange = set(words).difference(known)
    other = {c for c in "".join(strange) if not c.isascii()}.difference(language.letters)
    if other and language.script == "latin":
        return False
    is_half = 2 * sum(len(w) > 2 for w in known) >= len(words)
    # "was ist …" is half English, and of one language only whole
    return 3 * len(known) >= 2 * len(words) or (is_half and _having().keys().isdisjoint(strange))


def _most_voted(words: list[str], usual: str) -> str:
    if not (votes := _votes(words)):
        return _by_script(words, usual)
    # one word of another language beside one of the default's tells nothing: "roll a die"
    return max(tags(), key=lambda tag: (len(votes[tag]), tag == usual, sum(votes[tag])))


def _votes(words: list[str]) -> dict[str, list[float]]:
    """The votes for each language, each worth more the fewer languages share it."""
    votes: dict[str, list[float]] = defaultdict(list)
    for word in words:
        for letter in set(word).intersection(_own_letters()):
            votes[_own_letters()[letter]].append(1)
        having = _having().get(word, ())
        for tag in having:
            votes[tag].append(1 / len(having))
    return votes


@lru_cache(maxsize=1)
def _own_letters() -> dict[str, str]:
    return {c: tag for tag in tags() for c in of(tag).letters}


@lru_cache(maxsize=1)
def _having() -> dict[str, tuple[str, ...]]:
    """Each common word with the languages that have it."""
    found: dict[str, list[str]] = {}
    for tag in tags():
        for word in _common(tag):
            found.setdefault(word, []).append(tag)
    return {word: tuple(having) for word, having in found.items()}


@lru_cache(maxsize=16)
def _common(tag: str) -> frozenset[str]:
    return frozenset(fold(w) for w in of(tag).vocabulary)


def _by_script(words: list[str], usual: str) -> str:
    """Words that no language has: two or more in another script than the default's tell it."""
    scripts = Counter(script_of(w) for w in words)
    script, count = scripts.most_common(1)[0]
    if not script or script == of(usual).script or count < 2:
        return usual
    return tag_for_script(script) or usual
