"""Words by which the data itself says what is so: "returned" of `deposit_returned: false`. Such a
word contradicts where a record that its clause names has the opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .. import language
from ..language import Language, Token, fold
from .index import Index
from .places import Owner, Place
from .reading import Claim, Reading, Sentence, among, is_label
from .record_binding import Value

_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


@dataclass(slots=True)
class Word:
    """A flag's word in a reply: the fields that bear it out, and those that say otherwise."""

    claim: Claim
    bears: Sequence[Place]
    denies: Sequence[Place]


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
        self._by_stem: dict[str, list[Place]] = {}
        for place in index.flags:
            word = _PARTS.split(place.key)[-1].lower() if place.owner else ""
            for stem in {spoken.stem(word), language.of("en").stem(word)} if word[3:] else ():
                self._by_stem.setdefault(stem, []).append(place)

    def of(self, stem: str) -> tuple[Sequence[Place], Sequence[Place]] | None:
        """The fields that a word bears out, and those that it denies."""
        found = self._by_stem.get(stem)
        if found is None:
            return None
        return [p for p in found if p.value], [p for p in found if not p.value]


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
    reading: Reading, told: Sequence[Word], values: Sequence[Value]
) -> Iterator[tuple[Claim, Place]]:
    """The words that a record which their clause names denies, each with the field that does."""
    for word in told:
        mine = _meant(reading, word, values)
        denies = [p for p in word.denies if p.owner in mine]
        if denies and not mine & {p.owner for p in word.bears}:
            yield word.claim, denies[0]


def _meant(reading: Reading, word: Word, values: Sequence[Value]) -> set[Owner]:
    """The records that a word's clause speaks of: those that its other values have in common; where
    it has none, those of its sentence, or the only one there is."""
    at, own = word.claim.start, {p.key for p in (*word.bears, *word.denies)}
    for part in (reading.clause(at), reading.sentence(at)):
        about = [v for v in values if v.is_text and part.start <= v.claim.start < part.end]
        rows = [v.rows for v in about if v.keys.isdisjoint(own)]
        if rows:
            return set(frozenset.intersection(*rows))
    owners = {p.owner for p in (*word.bears, *word.denies)}
    flags = all(isinstance(p.value, bool) for p in word.denies)
    return owners if flags and len(owners) == 1 else set()
