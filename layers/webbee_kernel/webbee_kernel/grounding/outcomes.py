"""What the result of a call that succeeded says of its effect: that it did not happen (`sent_at:
null`), is not done yet (`state: "queued"`), or was done to some and not to others."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from .. import language
from .deeds import concepts, kin
from .evidence import Call, Evidence
from .places import Place, fold, key_words
from .reading import Reading, Sentence, among
from .told import WENT, Told, denies

_SPLIT = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\W_]+")
_Items = list[object]
DEEP, SHORT = 40, 4
"""Objects of a result that are looked through; words of a text that may be a state."""


@dataclass(slots=True)
class Outcome:
    """What one result says. `undone`: effects that did not happen; `void`: the words of the fields
    that say so; `nothing`: that nothing was done; `state`: the words of a state that is no end;
    `done` and `missed`: where the things lie to which it was done, and those to which it was not;
    `admitted`: whether the reply says so, once that is known.
    """

    undone: set[str] = field(default_factory=set)
    void: list[str] = field(default_factory=list)
    nothing: bool = False
    state: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)
    admitted: bool | None = None

    @property
    def whole(self) -> bool:
        """Whether it says of nothing that it is not done."""
        return not (self.nothing or self.state or self.missed)

    def voids(self, word: str, concept: str) -> bool:
        """Whether a field says of what a word tells that it did not happen."""
        return concept in self.undone or any(kin(fold(word), one) for one in self.void)

    def is_state(self, concept: str) -> bool:
        """Whether the state says that it was done: "scheduled"."""
        return concept in _effects(self.state)

    def misses(self, path: str) -> bool:
        """Whether a field lies in what was missed."""
        return bool(self.missed) and path.startswith(tuple(self.missed))


def outcome(call: Call, tag: str) -> Outcome:
    """What the result of a call says, in the words of English or of the language `tag`."""
    found = Outcome()
    own = concepts(call)
    for path, value in _objects(call.data):
        for key, item in value.items():
            _read(found, tag, _words(str(key)), item, own)
        lists = {str(k): v for k, v in value.items() if isinstance(v, list) and v}
        _beside(found, tag, call, path, lists)
        for key, items in lists.items():
            _flagged(found, call, f"{path}.{key}", items)
    return found


def _objects(data: object) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The objects of a result that are no rows of a list, with their paths."""
    held: list[tuple[str, object]] = [("data", data)]
    for path, value in held:
        if isinstance(value, Mapping):
            yield path, value
            held += [(f"{path}.{key}", item) for key, item in value.items()][: DEEP - len(held)]


def _read(found: Outcome, tag: str, key: Sequence[str], item: object, own: frozenset[str]) -> None:
    """Add what one field says of what a call did (`own`), or of another step."""
    told = [part for part in key[-2:] if _tells(part, tag)]
    if item is False:
        found.undone |= _effects(key[-1:])
        found.nothing |= _has(key[-1:], "happened", tag)
    elif item is None or item == 0:
        found.undone |= _effects(told) - own
    elif isinstance(item, str):
        words = _words(item)
        found.state += words if len(words) <= SHORT and _has(words, "unfinished", tag) else []
    found.void += () if item else map(fold, told)


def _effects(words: Sequence[str]) -> set[str]:
    known = language.of("en").words.effects
    return {known[stem] for word in words for stem in key_words(word)[-1:] if stem in known}


def _beside(found: Outcome, tag: str, call: Call, path: str, lists: Mapping[str, _Items]) -> None:
    """Add which lists beside each other hold what it was done to, and which hold the rest."""
    parted = _parted({key: set(_scalars(items)) for key, items in lists.items()}, _about(call))
    for key in lists if len(lists) > 1 else ():
        missed = _negative(key, tag) or (key in parted and not _does(key, call, tag))
        (found.missed if missed else found.done).append(f"{path}.{key}")


def _about(call: Call) -> list[frozenset[str]]:
    """The things that a call was about, by its arguments."""
    return [frozenset(_scalars(v)) for v in call.arguments.values() if isinstance(v, list)]


def _parted(shown: Mapping[str, set[str]], about: Sequence[frozenset[str]]) -> set[str]:
    """The lists that share out between them the things of one argument."""
    parted: set[str] = set()
    for own in about:
        parts = {key for key, items in shown.items() if items & own and own - items}
        parted |= parts if len(parts) > 1 else set()
    return parted


def _flagged(found: Outcome, call: Call, path: str, items: _Items) -> None:
    """Add the rows, of things that the call was about, whose flag is not that of others."""
    lost = _lost([row for row in items if isinstance(row, Mapping)])
    if any(lost) and not frozenset().union(*_about(call)).isdisjoint(_scalars(items)):
        for number, missed in enumerate(lost):
            (found.missed if missed else found.done).append(f"{path}[{number}]")


def _lost(rows: Sequence[Mapping[str, object]]) -> list[bool]:
    kept = {key for row in rows for key, item in row.items() if item is True}
    return [any(row.get(key) is False for key in kept) for row in rows]


def _scalars(items: Sequence[object]) -> Iterator[str]:
    for item in items:
        yield from (fold(str(v)) for v in (item.values() if isinstance(item, Mapping) else [item]))


def _does(key: str, call: Call, tag: str) -> bool:
    """Whether a list holds the things to which the call did what it does."""
    own, words = concepts(call), _words(key)
    spoken = [language.of(one) for one in {"en", tag}]
    known = (one.words.effects.get(one.stem(word)) for one in spoken for word in words)
    names = [fold(word) for word in _words(call.fn_name)]
    return any(concept in own for concept in known) or any(
        kin(fold(word), name) for word in words for name in names
    )


def _negative(key: str, tag: str) -> bool:
    """Whether the name of a list says that its things were left out."""
    return any(_has(_words(key), role, tag) for role in ("negation", "failure", "unfinished"))


def _words(text: str) -> list[str]:
    return [word for word in _SPLIT.split(text) if word]


def _has(words: Collection[str], role: str, tag: str) -> bool:
    """Whether one of some words has a role, in English or in the language."""
    spoken = (language.of(one) for one in {"en", tag})
    return any(one.stem(word) in one.words.stems(role) for one in spoken for word in words)


def _tells(word: str, tag: str) -> bool:
    return any(language.of(one).tells(word) for one in {"en", tag})


class Outcomes:
    """What the results of a turn say of what a reply claims and denies."""

    def __init__(
        self,
        reading: Reading,
        evidence: Evidence,
        grounds: Mapping[int, Sequence[Place]],
        claims: Sequence[Told],
    ) -> None:
        self.reading, self.evidence, self.grounds, self.claims = reading, evidence, grounds, claims
        self.read: dict[int, Outcome] = {}

    def _of(self, call: Call) -> Outcome:
        number = self.evidence.calls.index(call)
        if number not in self.read:
            self.read[number] = outcome(call, self.reading.language.tag)
        return self.read[number]

    def belie(self, claim: Told, call: Call) -> bool:
        """Whether the result of a call says that what a clause claims was not done, or not all,
        and the reply admits nothing of it."""
        said = self._of(call)
        if said.voids(claim.word, claim.concept):
            return True
        if said.whole or said.is_state(claim.concept):
            return False
        if said.admitted is None:
            said.admitted = self._admits(said)
        return not said.admitted

    def bear_out(self, claim: Told, call: Call) -> bool:
        """Whether the result of a call says what a denial does, of the things that it names."""
        said, part = self._of(call), claim.sentence
        if said.voids(claim.word, claim.concept) or said.nothing:
            return True
        if claim.concept == WENT and (said.void or said.state):
            return True  # "the notice did not go out"
        stems = self.reading.stems(part.start, part.end)
        if said.state and among(stems, self.reading.language.words.yet):
            return not said.is_state(claim.concept)
        return bool(said.missed) and self._of_missed(said, part)

    def _of_missed(self, said: Outcome, part: Sentence) -> bool:
        """Whether a sentence names what was missed, or nothing to which it was done."""
        shown = [p.path for c in self.reading.inside(part) for p in self.grounds.get(c.start, ())]
        done = any(path.startswith(tuple(said.done) or "\0") for path in shown)
        return not done or any(map(said.misses, shown))

    def _admits(self, said: Outcome) -> bool:
        """Whether a reply says that not all was done: it denies something, waits, has the state
        that the result tells, or says something of what was missed."""
        reading, words = self.reading, self.reading.language.words
        waits = words.forms("awaiting") | {*map(fold, said.state)}
        stems = reading.stems(0, len(reading.text))
        if among(stems, words.unfinished, words.hypothetical):
            return True
        said_so = any(fold(token.text) in waits for token in reading.tokens)
        return said_so or denies(reading, stems) or self._names(said)

    def _names(self, said: Outcome) -> bool:
        """Whether a reply says something of what was missed."""
        places = ((start, p) for start, held in self.grounds.items() for p in held)
        return any(said.misses(p.path) and self._tells_of(start) for start, p in places)

    def _tells_of(self, start: int) -> bool:
        """Whether a clause of its own says something of a value."""
        if any(c.clause[0] <= start < c.clause[1] for c in self.claims):
            return False
        part, words = self.reading.clause(start), self.reading.language.words
        return not all(s in words.function for s in self.reading.stems(part.start, part.end))
