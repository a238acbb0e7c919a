"""A sentence that denies what is there: "no tasks" beside a list that has some."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain

from .index import Index
from .picking import names, outer, plain
from .places import Rows
from .reading import Reading, Sentence, among


def denied(reading: Reading, index: Index, asked: Collection[str], sentence: Sentence) -> str:
    """The word that denies things that are there, or nothing; `asked`: the message's stems."""
    words = reading.language.words
    if sentence.asks or reading.inside(sentence):
        return ""
    stems = reading.stems(sentence.start, sentence.end)
    no = words.negation | words.empty
    at = next((n for n, s in enumerate(stems) if s in no), -1)
    rows = _denied(reading, index, asked, [s for s in stems if s not in no]) if at >= 0 else []
    there = bool(rows) and all(r.items for r in rows)
    return reading.words(sentence.start, sentence.end)[at].text if there else ""


def _denied(
    reading: Reading, index: Index, asked: Collection[str], own: Sequence[str]
) -> list[Rows]:
    """The lists that a denial speaks of: those it names, or all where it says only that nothing
    was found; none where it says more, or speaks of an effect."""
    words = reading.language.words
    if among(own, words.effects.keys() - words.objects.keys()):
        return []
    telling = [s for s in own if s not in plain(reading.language.tag)]
    if not telling:
        return outer(index) if among(own, words.looking) else []
    named = [_named(reading, index, stem) for stem in telling]
    unknown = [s for s, rows in zip(telling, named, strict=True) if not rows and s not in asked]
    return [] if unknown else list(chain.from_iterable(named))


def _named(reading: Reading, index: Index, stem: str) -> list[Rows]:
    return [rows for rows in outer(index) if names(reading.language.words, rows, stem)]
