"""Figures told of the wrong field of their record: "6,803 people clicked" of `opens: 6803, clicks:
1958`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from .. import language
from .figures import KINDS, Ground
from .index import Index
from .places import Number, Owner, Place, key_words, kind_of, unit_of_key
from .reading import Claim, Reading

Grounds = Sequence[tuple[Claim, Ground]]
Siblings = dict[tuple[Owner, str], list[Place]]


def wrong_fields(reading: Reading, index: Index, grounds: Grounds) -> Iterator[tuple[Claim, str]]:
    """The figures whose clause names another field of the same record and not their own, each with
    that field; not where the reply tells that field's value too."""
    values = _values(reading)
    for claim, ground in grounds:
        is_figure = claim.kind in ("number", "money") and not claim.mention.is_spelled
        if not is_figure or not (place := _one_field(ground)):
            continue
        words = _clause_words(reading, claim)
        for other in _siblings(index, place):
            if _names_other(words, place, other) and values.isdisjoint(_spellings(other.value)):
                yield claim, f"{other.key}: {other.value}"


def _one_field(ground: Ground) -> Place | None:
    """The field that shows a figure, where it is the only one in the data."""
    own = [p for p in ground.places if p.call >= 0 and p.key]
    return own[0] if len(own) == 1 and not ground.formula else None


def _values(reading: Reading) -> set[Number]:
    figures = (c.mention for c in reading.claims if c.kind in KINDS)
    return {abs(value) for mention in figures for value in mention.readings}


def _spellings(value: Number) -> tuple[Number, ...]:
    """A value as a reply may tell it: as it is, of hundredths, of a fraction."""
    return abs(value), abs(value) / 100, abs(value) * 100


def _siblings(index: Index, place: Place) -> list[Place]:
    """The other figures of the object that a field is in."""
    tables = index.cached("siblings", lambda: _by_object(index))
    return [p for p in tables[place.owner, _parent(place)] if p.call == place.call]


def _by_object(index: Index) -> Siblings:
    found: Siblings = defaultdict(list)
    for place in index.figures:
        found[place.owner, _parent(place)].append(place)
    return found


def _parent(place: Place) -> str:
    return place.path.rpartition(".")[0]


def _clause_words(reading: Reading, claim: Claim) -> set[str]:
    """The stems of the words around a figure up to the next value, in the reply's language and in
    English; without function words."""
    clause, last, following = (
        reading.clause(claim.start),
        reading.before(claim),
        reading.after(claim),
    )
    start = max(clause.start, last.end if last else 0)
    end = min(clause.end, following.start if following else len(reading.text))
    spoken, english = reading.language, language.of("en")
    tokens = [token.text.lower() for token in reading.words(start, end)]
    told = [word for word in tokens if spoken.stem(word) not in spoken.words.function]
    return {stem for word in told for stem in (spoken.stem(word), english.stem(word))}


def _names_other(words: set[str], place: Place, other: Place) -> bool:
    """Whether words name another field of the same kind, and not the one of the figure."""
    own, others = {*key_words(place.key)}, {*key_words(other.key)}
    others -= {word for word in others if unit_of_key(word).name}
    is_rival = other.value != place.value and kind_of(other.key) == kind_of(place.key)
    is_named = not words.isdisjoint(others - own) and words.isdisjoint(own - others)
    return is_rival and is_named and "id" not in language.key_roles(other.key)
