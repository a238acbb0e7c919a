"""Words by which the data itself says what is so: "returned" of `deposit_returned: false`. Such a
word contradicts where a record that its clause names has the opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from .. import language
from ..language import Language, Token, fold
from .index import Index
from .places import Owner, Place
from .reading import Claim, Reading, Sentence, among, is_label
from .record_binding import Bound

_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


class State:
    """The flags of a word that are set, or those that are not, and the records that have one."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places
        self.keys = frozenset(p.key for p in places)
        self.owners = frozenset(p.owner for p in places)


@dataclass(slots=True)
class Word:
    """A flag's word in a reply: the flags that bear it out, and those that say otherwise."""

    claim: Claim
    bears: State
    denies: State


def words(reading: Reading, index: Index, taken: frozenset[int]) -> Iterator[Word]:
    """The words that tell a flag; `taken`: where fields repeated as a whole stand. No
    plan and no label."""
    spoken = reading.language
    flags = index.once(f"flags {spoken.tag}", lambda: _Flags(index, spoken))
    for token, stem in reading.stemmed():
        held = flags.of(stem) if token.start not in taken else None
        if held and not _says_nothing(reading, token):
            part = reading.clause(token.start)
            if is_denied(reading, token.start):
                held = held[::-1]
            elif _is_limited(reading, part):
                continue
            yield Word(Claim("state", token.text, token.start, token.end), *held)


def _is_limited(reading: Reading, part: Sentence) -> bool:
    words = reading.language.words
    return among(reading.stems(part.start, part.end), words.negation, words.limits)


class _Flags:
    """The flags of an index by the last word of their key, in English and the reply's language."""

    def __init__(self, index: Index, spoken: Language) -> None:
        found: dict[str, tuple[list[Place], list[Place]]] = {}
        for place in index.flags:
            word = _PARTS.split(place.key)[-1].lower() if place.owner else ""
            for stem in {spoken.stem(word), language.of("en").stem(word)} if word[3:] else ():
                own = found.setdefault(stem, ([], []))
                own[not place.value].append(place)
        self._by_stem = {s: (State(yes), State(no)) for s, (yes, no) in found.items()}

    def of(self, stem: str) -> tuple[State, State] | None:
        """The flags that a word bears out, and those that it denies."""
        return self._by_stem.get(stem)


def _says_nothing(reading: Reading, token: Token) -> bool:
    """Whether the word of a flag does not say that something is so: it is planned, the label of
    what follows, or what a share is of."""
    before = [fold(t.text) for t in reading.words(token.start - 24, token.start)[-3:]]
    planned = not reading.language.words.forms("plan").isdisjoint(before)
    last = reading.before(Claim("", "", token.start, token.end))
    share = last is not None and last.kind == "percent" and token.start - last.end < 2
    return planned or share or is_label(reading.text, token.end)


def is_denied(reading: Reading, at: int) -> bool:
    """Whether a word right before denies what follows: "No, it is cancelled" denies nothing."""
    first = max(at - 24, reading.clause(at).start)
    return among(reading.stems(first, at)[-3:], reading.language.words.negation)


def contradicted(
    reading: Reading, told: Sequence[Word], values: Bound
) -> Iterator[tuple[Claim, Place]]:
    """The words that a record which their clause names denies, each with the field that does."""
    for word in told:
        mine = _meant(reading, word, values)
        if mine.isdisjoint(word.bears.owners) and not mine.isdisjoint(word.denies.owners):
            yield word.claim, next(p for p in word.denies.places if p.owner in mine)


def _meant(reading: Reading, word: Word, values: Bound) -> Set[Owner]:
    """The records that a word's clause speaks of: those that its other values have in common; where
    it has none, those of its sentence, or the only one there is."""
    at, own = word.claim.start, word.bears.keys | word.denies.keys
    for part in (reading.clause(at), reading.sentence(at)):
        about = [v for v in values.between(part.start, part.end) if v.is_text]
        rows = [v.rows for v in about if v.keys.isdisjoint(own)]
        if rows:
            return frozenset.intersection(*rows)
    flagged = [*islice(word.bears.owners, 2), *islice(word.denies.owners, 2)]
    return set(flagged) if len(set(flagged)) == 1 else set()
