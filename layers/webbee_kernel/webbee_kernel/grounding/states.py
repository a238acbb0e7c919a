"""Words that tell what is so: a state ("cancelled", "unpaid"), a flag ("returned" of
`deposit_returned: false`), a value of a column that sorts rows. Such a word contradicts where the
one record that its clause names has the opposite."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from .. import language
from ..language import Language, Token, fold
from .index import TITLE, Index
from .places import Owner, Place, key_words
from .reading import Claim, Reading, among, is_label
from .records import Value

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
    """The words that tell a state, a flag or a value of a column; `taken`: where fields repeated as
    a whole stand. No plan and no label."""
    told, flags = reading.language.words.states, _flags(index, reading.language)
    for token, stem in reading.stemmed():
        known = stem in told or stem in flags or _sorting(index, stem, reading.language)
        if not known or token.start in taken or _says_nothing(reading, token):
            continue
        held = _told(index, reading.language, token.text, stem)
        if held and is_denied(reading, token.start):
            held = held[::-1]
        elif held and _is_limited(reading, token):
            continue
        if held:
            yield Word(Claim("state", token.text, token.start, token.end), *held)


def _told(
    index: Index, spoken: Language, word: str, stem: str
) -> tuple[Sequence[Place], Sequence[Place]] | None:
    """The fields that a word bears out, and those that it denies."""
    if of_state := _of_state(index, spoken.words.states.get(stem, "")):
        return of_state
    if flags := _flags(index, spoken).get(stem):
        return [p for p in flags if p.value], [p for p in flags if not p.value]
    own = _sorting(index, stem, spoken)
    same = [p for p in own if fold(word).startswith(fold(p.value))]
    return (same, _others(index.column(same[0]), same)) if same else None


def _of_state(index: Index, state: str) -> tuple[Sequence[Place], Sequence[Place]] | None:
    """The fields that tell a state, and those that tell another of its group."""
    states = index.once("states", lambda: _states(index))
    group, _, name = state.partition(":")
    if not name or group == "answer":
        return None
    of_group = [p for s, own in states.items() if s.startswith(f"{group}:") for p in own]
    bears = states.get(state, [])
    return (bears, _others(of_group, bears)) if of_group else None


def _others(places: Iterable[Place], told: Sequence[Place]) -> list[Place]:
    return [p for p in places if p not in told]


def _states(index: Index) -> Mapping[str, list[Place]]:
    """The fields by the state that they tell: words for states, and flags under such keys."""
    found: dict[str, list[Place]] = {}
    for place in index.strings:
        if place.path.startswith("data") and len(place.value) <= SHORT:
            for state in _state(place.value, index.tag):
                found.setdefault(state, []).append(place)
    for place in index.flags:
        found.setdefault("answer:yes" if place.value else "answer:no", []).append(place)
        for state in _state(" ".join(key_words(place.key)), "en"):
            state = state if place.value else OPPOSITE.get(state, f"{state}-not")
            found.setdefault(state, []).append(place)
    return found


@lru_cache(maxsize=4096)
def _state(text: str, tag: str) -> tuple[str, ...]:
    spoken = [language.of(one) for one in dict.fromkeys(("en", tag))]
    tokens = [t.text for t in language.tokens(text)]
    return tuple(s for one in spoken for w in tokens if (s := one.words.states.get(one.stem(w))))


def _flags(index: Index, spoken: Language) -> Mapping[str, list[Place]]:
    """The flags by the stem of the word that their key ends in."""
    return index.once(f"flags {spoken.tag}", lambda: _flagged(index, spoken))


def _flagged(index: Index, spoken: Language) -> Mapping[str, list[Place]]:
    found: dict[str, list[Place]] = {}
    for place in index.flags:
        word = _PARTS.split(place.key)[-1].lower() if place.owner else ""
        if len(word) > 3:
            for stem in {spoken.stem(word), language.of("en").stem(word)}:
                found.setdefault(stem, []).append(place)
    return found


def _sorting(index: Index, stem: str, spoken: Language) -> list[Place]:
    """The texts of one word of a stem that several rows share."""
    return index.once(f"sorting {spoken.tag}", lambda: _sorted(index, spoken)).get(stem, [])


def _sorted(index: Index, spoken: Language) -> dict[str, list[Place]]:
    found: dict[str, list[Place]] = {}
    for place in index.strings:
        text = place.value
        if place.key and 3 < len(text) <= TITLE and text.isalpha() and _is_shared(index, place):
            found.setdefault(spoken.stem(text), []).append(place)
    return found


def _is_shared(index: Index, place: Place) -> bool:
    """Whether several rows have one text of a column."""

    def shared() -> bool:
        column = [p.value for p in index.column(place) if isinstance(p.value, str)]
        texts = [text for text in column if len(text) <= TITLE]
        return len({*texts}) < len(texts)

    return index.once(f"shared {place.owner[:-1]} {place.key}", shared)


def _says_nothing(reading: Reading, token: Token) -> bool:
    """Whether a word for a state does not say that something is so: it is planned, the label of
    what follows, or what a share is of."""
    before = [fold(t.text) for t in reading.words(token.start - 24, token.start)[-3:]]
    planned = not reading.language.words.forms("plan").isdisjoint(before)
    last = reading.before(Claim("", "", token.start, token.end))
    share = last is not None and last.kind == "percent" and token.start - last.end < 2
    return planned or share or is_label(reading.text, token.end)


def _is_limited(reading: Reading, token: Token) -> bool:
    words, part = reading.language.words, reading.clause(token.start)
    return among(reading.stems(part.start, part.end), words.negation, words.limits)


def is_denied(reading: Reading, at: int) -> bool:
    """Whether a word right before denies what follows: "No, it is cancelled" denies nothing."""
    first = max(at - 24, reading.clause(at).start)
    return among(reading.stems(first, at)[-3:], reading.language.words.negation)


def contradicted(
    reading: Reading, told: Sequence[Word], values: Sequence[Value]
) -> Iterator[tuple[Claim, Place]]:
    """The words that the one record which their clause names denies, each with the field that
    does."""
    for word in told:
        mine = _meant(reading, word, values) or _only(word)
        denies = [p for p in word.denies if p.owner in mine]
        if denies and not mine & {p.owner for p in word.bears}:
            yield word.claim, denies[0]


def _meant(reading: Reading, word: Word, values: Sequence[Value]) -> set[Owner]:
    """The records that the other values of a word's clause have in common; where it has none, those
    of its sentence."""
    at, own = word.claim.start, {p.key for p in (*word.bears, *word.denies)}
    for part in (reading.clause(at), reading.sentence(at)):
        about = [v for v in values if v.text and part.start <= v.claim.start < part.end]
        rows = [{p.owner for p in v.places} for v in about if v.keys.isdisjoint(own)]
        if rows:
            return set.intersection(*rows)
    return set()


def _only(word: Word) -> set[Owner]:
    """The one record that has a flag of a word."""
    owners = {p.owner for p in (*word.bears, *word.denies)}
    flags = all(isinstance(p.value, bool) for p in word.denies)
    return owners if flags and len(owners) == 1 else set()
