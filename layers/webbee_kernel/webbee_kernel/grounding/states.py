"""Words that tell what is so: a state ("cancelled", "unpaid"), a flag ("returned" of
`deposit_returned: false`). Such a word contradicts where a record that its clause names has the
opposite."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .. import language
from ..language import Language, Token, fold
from .index import Index
from .places import Owner, Place, key_words
from .reading import Claim, Reading, Sentence, among, is_label
from .record_binding import Value

OPPOSITE = {
    "seen:read": "seen:unread",
    "seen:unread": "seen:read",
    "money:paid": "money:unpaid",
    "use:active": "use:inactive",
    "have:available": "have:unavailable",
    "life:open": "life:closed",
    "life:closed": "life:open",
}
"""The state that a flag tells when it is false."""
SHORT = 24
"""Characters of a field that tells a state."""
_PARTS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")


@dataclass(slots=True)
class Word:
    """A word that tells what is so: the fields that bear it out, and those that say otherwise."""

    claim: Claim
    bears: Sequence[Place]
    denies: Sequence[Place]


def words(reading: Reading, index: Index, taken: frozenset[int]) -> Iterator[Word]:
    """The words that tell a state or a flag; `taken`: where fields repeated as a whole stand. No
    plan and no label."""
    spoken = reading.language
    told = index.once(f"told {spoken.tag}", lambda: _Told(index, spoken))
    for token, stem in reading.stemmed():
        held = told.of(stem) if token.start not in taken else None
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


class _Told:
    """The fields of an index that tell a state or a flag, by word of a language."""

    def __init__(self, index: Index, spoken: Language) -> None:
        self._states, self._words = _states(index), spoken.words.states
        self._flags: dict[str, list[Place]] = {}
        for place in index.flags:
            word = _PARTS.split(place.key)[-1].lower() if place.owner else ""
            for stem in {spoken.stem(word), language.of("en").stem(word)} if word[3:] else ():
                self._flags.setdefault(stem, []).append(place)

    def of(self, stem: str) -> tuple[Sequence[Place], Sequence[Place]] | None:
        """The fields that a word bears out, and those that it denies."""
        state = self._words.get(stem, "")
        group, _, name = state.partition(":")
        of_group = [
            (s == state, p)
            for s, own in (self._states.items() if name and group != "answer" else ())
            if s.startswith(f"{group}:")
            for p in own
        ]
        told = of_group or [(bool(p.value), p) for p in self._flags.get(stem, ())]
        bears = [p for is_so, p in told if is_so]
        return (bears, [p for is_so, p in told if not is_so and p not in bears]) if told else None


def _states(index: Index) -> Mapping[str, list[Place]]:
    """The fields by the state that they tell: words for states, and flags under such keys."""
    found: dict[str, list[Place]] = {}
    for place in index.strings:
        if place.path.startswith("data") and len(place.value) <= SHORT:
            for state in _state(place.value, index.tag):
                found.setdefault(state, []).append(place)
    for place in index.flags:
        for state in _state(" ".join(key_words(place.key)), "en"):
            state = state if place.value else OPPOSITE.get(state, f"{state}-not")
            found.setdefault(state, []).append(place)
    return found


@lru_cache(maxsize=4096)
def _state(text: str, tag: str) -> tuple[str, ...]:
    spoken = [language.of(one) for one in dict.fromkeys(("en", tag))]
    tokens = [t.text for t in language.tokens(text)]
    return tuple(s for one in spoken for w in tokens if (s := one.words.states.get(one.stem(w))))


def _says_nothing(reading: Reading, token: Token) -> bool:
    """Whether a word for a state does not say that something is so: it is planned, the label of
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
