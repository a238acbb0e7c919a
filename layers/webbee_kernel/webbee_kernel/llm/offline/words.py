"""A text in words, and what part each plays in its language; the words are `language`'s own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import normalize

from ... import language
from ...language import fold

_PARTICLE = 2  # letters of what may hang on a word after a hyphen
_STEM_OF_TWO = 3  # letters that a word has at least before such a particle
_CLITICS = 2  # that hang on a verb at most
_ACUTE = "\u0301"  # what a verb gets to which they are joined
KEPT = 4096


@dataclass(frozen=True, slots=True)
class Word:
    """A word where it stands: folded (no letter case), and its stem."""

    start: int
    end: int
    text: str
    stem: str


@lru_cache(maxsize=KEPT)
def words(text: str, tag: str) -> tuple[Word, ...]:
    """The words of the text in order, stemmed as the language `tag` does."""
    found = []
    for token in language.tokens(text):
        start = token.start
        for part in _unhung(fold(token.text).removesuffix("'s"), tag):
            bare, _, rest = part.partition("-")
            whole = bare if len(bare) >= _STEM_OF_TWO and len(rest) <= _PARTICLE else part
            end = min(start + len(part), token.end)
            found.append(Word(start, end, whole, language.stem(whole, tag)))
            start = end + (token.text[end - token.start :][:1] == "-")
    return tuple(found)


def _unhung(text: str, tag: str) -> list[str]:
    """A command and the pronouns that hang on it (Spanish and French), else the word itself."""
    clitics, commands = forms(tag, "clitics"), language.of(tag).words.forms("commands")
    verb, *hung = text.split("-")
    if hung:
        return [verb, *hung] if clitics.issuperset(hung) else [text]
    for _ in range(_CLITICS):
        tail = max((c for c in clitics if verb.endswith(c)), key=len, default="")
        if not tail:
            break
        verb, hung = verb.removesuffix(tail), [tail, *hung]
        if known := commands & {verb, _unaccented(verb)}:
            return [*known, *hung]
    return [text]


def _unaccented(verb: str) -> str:
    return normalize("NFC", normalize("NFD", verb).replace(_ACUTE, ""))


@lru_cache(maxsize=KEPT)
def forms(tag: str, role: str) -> frozenset[str]:
    """The words of a role in their exact forms, folded."""
    return frozenset(map(fold, language.of(tag).words.forms(role)))


def has(word: Word, tag: str, *roles: str) -> bool:
    """Whether the very form of the word plays one of these roles."""
    return any(word.text in forms(tag, role) for role in roles)


def any_has(said: Iterable[Word], tag: str, *roles: str) -> bool:
    """Whether any of the words does."""
    return any(has(word, tag, *roles) for word in said)


def meaning(word: Word, tag: str) -> set[str]:
    """A word's stem and its concepts."""
    return {word.stem, *concepts(word.text, tag)}


def is_thing(word: Word, tag: str) -> bool:
    """Whether the word names something that apps hold: a message, an account."""
    return any(c[0] == "#" for c in concepts(word.text, tag))


def leads_on(word: Word, tag: str) -> bool:
    """Whether the word is one of "to", "on", "into"."""
    return has(word, tag, "connective") and not has(word, tag, "article", "reference", "to_me")


def is_name(word: Word, text: str, tag: str) -> bool:
    """Whether the word is written as names are, and names nothing that apps hold: German writes all
    nouns so."""
    return text[word.start].isupper() and not is_thing(word, tag)


@lru_cache(maxsize=KEPT)
def idle(text: str, tag: str) -> bool:
    """Whether a (folded) word says nothing about the matter: a function word, no command."""
    spoken = language.of(tag).words
    return text in forms(tag, "function") and text not in spoken.meanings("commands")


@lru_cache(maxsize=KEPT)
def concepts(text: str, tag: str) -> frozenset[str]:
    """What a (folded) word means in every language: `show`, `delete` by its form, `account`,
    `unread` by its stem. Words of another script are read in a language of that script."""
    found: set[str] = set()
    for each in dict.fromkeys((tag, *language.tags())):
        spoken = language.of(each).words
        for role in ("commands", "infinitives"):
            found |= {f"={c}" for c in spoken.meanings(role).get(text, ())}
        stem = language.stem(text, each)
        found |= {f"#{c}" for c in things(each).get(stem, ())}
        if found:
            break
    return frozenset(found)


@lru_cache(maxsize=16)
def things(tag: str) -> dict[str, frozenset[str]]:
    """Stem → what it names: a word may name several."""
    found: dict[str, set[str]] = {}
    known = language.of(tag).words
    for word, named in (known.meanings("things") or known.meanings("objects")).items():
        found.setdefault(language.stem(word, tag), set()).update(named)
    return {stem: frozenset(named) for stem, named in found.items()}


@lru_cache(maxsize=KEPT)
def state(text: str, tag: str) -> frozenset[str]:
    """The stems, in all languages, of the words for the state that a (folded) word names: done,
    unread. Empty where it names none."""
    listed = [(t, language.of(t).words.meanings("values")) for t in language.tags()]
    meant = language.of(tag).words.meanings("values").get(text) or frozenset(
        c
        for w, concepts_ in language.of(tag).words.meanings("values").items()
        if language.stem(w, tag) == language.stem(text, tag)
        for c in concepts_
    )
    return frozenset(
        language.stem(w, t) for t, said in listed for w, c in said.items() if c & meant
    )


@lru_cache(maxsize=16)
def ordinals(tag: str) -> dict[str, int]:
    """Stem → position in a list from 0, negative from its end."""
    listed = language.of(tag).words.ordinals
    return {stem: int(n) - (int(n) > 0) for stem, n in listed.items()}


def points_back(word: Word, tag: str) -> bool:
    """Whether the word can be part of a reference, and so is never content on its own."""
    return has(word, tag, "reference", "recency", "toward") or word.stem in ordinals(tag)


@lru_cache(maxsize=KEPT)
def near(word: str, other: str) -> bool:
    """Whether two words of four letters or more differ by one slip of the hand: a letter added,
    left out, changed, or two swapped."""
    if min(len(word), len(other)) < 4 or abs(len(word) - len(other)) > 1 or word == other:
        return False
    at = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), None)
    if at is None:
        return True
    swapped = word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]
    rests = {(word[at + 1 :], other[at:]), (word[at:], other[at + 1 :])}
    rests.add((word[at + 1 :], other[at + 1 :]))
    return swapped == other or any(a == b for a, b in rests)
