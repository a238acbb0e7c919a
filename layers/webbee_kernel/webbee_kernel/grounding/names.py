"""Words of a reply that repeat the data or claim something that it lacks: fields repeated as a
whole, names, and words for states.

A field repeated unquoted (a title, a city, a status) is a value like any other. A capitalised word
inside a sentence is a name unless the language writes it so; a name must stand in the evidence. A
word for a state ("cancelled", "economy", "unpaid") contradicts a record that has another state of
the same group.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from .. import language
from ..language import Token
from .index import Index
from .places import Place, fold
from .reading import MASK, Claim, Reading, among

_OWNED = re.compile("['\u2019]s?$")

_BREAKS = '.!?:;|\n*_(\u2013\u2014-\u2022>"\u00ab\u201e\u201c[\u00bf\u00a1'


def repeated(index: Index, text: str, rest: str) -> Iterator[tuple[int, int, list[Place]]]:
    """The longest stretches of a reply that are a field of a result as a whole, with those
    fields."""
    folded, end = fold(text), 0
    for token in language.tokens(rest):
        if token.start >= end and MASK not in token.text:
            longest, places = _longest(index, folded, token)
            told = [p for p in places if p.path.startswith(("data", "arguments"))]
            if told and longest > 2:
                end = token.start + longest
                yield token.start, end, told


def _longest(index: Index, text: str, token: Token) -> tuple[int, list[Place]]:
    """The length of the longest field that stands at a word, and the fields."""
    fits: dict[int, list[Place]] = {}
    for phrase, place in index.phrases.get(_first(text, token), ()):
        end = token.start + len(phrase)
        if text.startswith(phrase, token.start) and not text[end : end + 1].isalnum():
            fits.setdefault(len(phrase), []).append(place)
    longest = max(fits, default=0)
    return longest, fits.get(longest, [])


def states(reading: Reading, index: Index) -> Iterator[tuple[Claim, str, list[Place]]]:
    """The words for states, with the state and the fields that tell it; no finite verb, denial,
    plan or label, and none where no field tells a state of its group."""
    states = reading.language.words.states
    told = [(token, states[stem]) for token, stem in reading.stemmed() if stem in states]
    known = index.states if told else {}  # most replies tell none
    groups = {state.partition(":")[0] for state in known} - {"answer"}
    for token, state in told:
        if state.partition(":")[0] in groups and _tells(reading, token):
            claim = Claim("state", token.text, token.start, token.end)
            yield claim, state, known.get(state, [])


def _tells(reading: Reading, token: Token) -> bool:
    """Whether a word for a state says that something is so."""
    spoken = reading.language
    verb = spoken.stem(token.text) in spoken.words.effects and not spoken.tells(token.text)
    return not (verb or hedged(reading, token.start) or labels(reading.text, token))


def hedged(reading: Reading, at: int) -> bool:
    """Whether a word right before denies what follows, or plans it."""
    words = reading.language.words
    planned = any(fold(t.text) in words.forms("plan") for t in reading.words(at - 24, at)[-3:])
    return planned or among(reading.stems(at - 24, at)[-3:], words.negation)


def naming(reading: Reading, index: Index) -> Iterator[tuple[Claim, list[Place]]]:
    """The words that only one record has in its short texts, and at least half of such a text:
    "the tire ticket" names the record "Tire Pressure"."""
    common = reading.language.vocabulary
    run: list[tuple[Token, list[tuple[Place, int]]]] = []
    titles = index.titles(reading.language)
    for token, stem in reading.stemmed():
        held = [] if fold(token.text) in common else titles.get(stem, [])
        if run and (not held or token.start - run[-1][0].end > 1):
            yield from _named(reading, run)
            run = []
        if held:
            run.append((token, held))
    yield from _named(reading, run)


def _named(
    reading: Reading, run: Sequence[tuple[Token, list[tuple[Place, int]]]]
) -> Iterator[tuple[Claim, list[Place]]]:
    held = {id(place): (place, size) for _, places in run for place, size in places}
    hits = Counter(id(place) for _, places in run for place, _size in places)
    best = [p for key, (p, size) in held.items() if hits[key] == len(run) and 2 * hits[key] >= size]
    if best and len({p.owner for p in best}) == 1:
        start, end = run[0][0].start, run[-1][0].end
        yield Claim("name", reading.text[start:end], start, end), best


def labels(text: str, token: Token) -> bool:
    """Whether a word names what follows: a label, the head of a table's column."""
    end = text.find("\n", token.end)
    if text[token.end : token.end + 12].lstrip(" *_")[:1] in (":", "=", "\u2013", "\u2014"):
        return True
    return (
        end >= 0 and "|" in text[token.end : end + 1] and text[end + 1 : end + 4].startswith("|--")
    )


def _first(text: str, token: Token) -> str:
    word = text[token.start : token.end]
    for at, char in enumerate(word):
        if not char.isalnum():
            return word[:at]
    return word


def claimed(reading: Reading, taken: Sequence[Claim]) -> Iterator[Claim]:
    """The names that the reply claims: runs of capitalised words that no field repeats."""
    covered = {at for c in taken for at in range(c.start, c.end)}
    for run in _runs(reading):
        claim = _name(reading, run)
        if claim and claim.start not in covered:
            yield claim


def _runs(reading: Reading) -> Iterator[list[Token]]:
    """Capitalised words that follow each other."""
    run: list[Token] = []
    for token in filter(_capital, reading.tokens):
        if reading.text[token.start - 1 : token.start].isdigit():
            continue
        if run and reading.rest[run[-1].end : token.start] not in (" ", "\u00a0"):
            yield run
            run = []
        run.append(token)
    if run:
        yield run


def words(name: str) -> list[str]:
    """The words of a name without a possessive ending."""
    parts = [_OWNED.sub("", t.text) for t in language.tokens(name)]
    return [p for part in parts for p in part.split("-") if p]


def _capital(token: Token) -> bool:
    return token.text[0].isupper() and len(token.text) > 1 and not token.text[-1].isdigit()


def _name(reading: Reading, run: Sequence[Token]) -> Claim | None:
    """The name that a run claims; none for headings, labels and ordinary words."""
    start = run[0].start
    line = reading.text[reading.text.rfind("\n", 0, start) + 1 : start]
    if (line or reading.text[start:]).lstrip().startswith("#") or labels(reading.text, run[-1]):
        return None
    words = [t for t in run if not _ordinary(reading, t)]
    first = bool(words) and words[0] is run[0]
    before = reading.text[max(0, start - 40) : start].rstrip(" \u00a0*_")
    if first and not _labelled(before, line):
        words = _behind_a_beginning(reading, words, before)
    elif first and len(words) == 1 and not before.endswith(("|", "(")):
        return None
    if len(words) < (2 if reading.language.capital_nouns else 1):
        return None
    end = words[-1].end
    return Claim("name", reading.text[words[0].start : end], words[0].start, end)


def _labelled(before: str, line: str) -> bool:
    """Whether a word stands behind a label or in a table's cell."""
    return before.endswith((":", "|", "\u2013", "\u2014", "(")) or line.count("|") > 1


def _behind_a_beginning(reading: Reading, words: list[Token], before: str) -> list[Token]:
    """A sentence's first word has its capital from there: alone it is no name, nor in a language
    that writes nouns so."""
    if before and before[-1] not in _BREAKS:
        return words
    return words if len(words) > 1 and not reading.language.capital_nouns else words[1:]


def _ordinary(reading: Reading, token: Token) -> bool:
    """Whether the word is common vocabulary of the language that may be capitalised."""
    spoken, word = reading.language, _OWNED.sub("", token.text)
    known = fold(word) in spoken.vocabulary or spoken.stem(word) in spoken.words.ordinary
    return known or word.lower() in language.of("en").words.forms("ordinary")
