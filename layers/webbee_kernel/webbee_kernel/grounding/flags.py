"""The keys of flags are words of a reply: "includes breakfast" says that `breakfast` is true of the
record that the clause names, "need not fast" that `fasting` is not."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from ..language import fold
from .index import Index
from .names import labels
from .places import Owner, Place, key_words
from .reading import Claim, Reading, Sentence, among
from .records import Value

_CLAUSE = re.compile(r"[,;:.!]\s|\s[\u2014\u2013-]\s|\n")


def clauses(sentence: Sentence, marks: re.Pattern[str] = _CLAUSE) -> Iterator[tuple[int, int]]:
    """The spans of a sentence between its marks."""
    inner = [sentence.start + m.end() for m in marks.finditer(sentence.text)]
    yield from pairwise(dict.fromkeys([sentence.start, *inner, sentence.end]))


def wrong(reading: Reading, index: Index, bound: Sequence[Value]) -> Iterator[Claim]:
    """The words for flags that are told of a record which says the opposite."""
    named = _named(reading, index) if index.flags else {}
    for sentence in reading.sentences if named else ():
        if sentence.asks:
            continue
        rows = [_rows(v) for v in bound if sentence.start <= v.claim.start < sentence.end]
        owners = set.intersection(*rows) if rows else set()
        for start, end in clauses(sentence):
            yield from _of_clause(reading, start, end, named, owners)


def _named(reading: Reading, index: Index) -> dict[tuple[str, ...], list[Place]]:
    """The flags by the words of their keys, less those that say nothing and words for states,
    which are compared as states."""
    words, found = reading.language.words, dict[tuple[str, ...], list[Place]]()
    for place in index.flags:
        telling = tuple(w for w in key_words(place.key) if w not in words.flag_words)
        if telling and place.path.startswith("data") and not among(telling, words.states):
            found.setdefault(telling, []).append(place)
    return found


def _rows(value: Value) -> set[Owner]:
    return {place.owner for place in value.places}


def _of_clause(
    reading: Reading,
    start: int,
    end: int,
    named: dict[tuple[str, ...], list[Place]],
    owners: set[Owner],
) -> Iterator[Claim]:
    tokens, words = reading.words(start, end), reading.language.words
    stems = [reading.language.stem(t.text) for t in tokens]
    negated = among(stems, words.negation, words.no)
    if words.forms("plan").intersection(fold(t.text) for t in tokens):
        return
    for telling in (t for t in named if set(t) <= set(stems)):
        token, places = tokens[stems.index(telling[-1])], named[telling]
        said = {p.value for p in places if p.owner in owners or len(places) == 1}
        if said == {negated} and not labels(reading.text, token):
            yield Claim("flag", token.text, token.start, token.end)
