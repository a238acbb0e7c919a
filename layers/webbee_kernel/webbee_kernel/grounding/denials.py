"""A sentence that denies what is there: "no tasks" beside a list that has some."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

from .index import Index
from .picking import names, outer, plain
from .places import Rows
from .reading import Reading, Sentence, among

IDLE = frozenset({"account", "result"})
"""Things that a denial speaks of whatever it denies: "your account has no tasks"."""


def denied(reading: Reading, index: Index, sentence: Sentence) -> str:
    """The word that denies things that are there, or nothing."""
    words = reading.language.words
    if sentence.asks or reading.inside(sentence):
        return ""
    stems = reading.stems(sentence.start, sentence.end)
    no = words.negation | words.empty
    at = next((n for n, s in enumerate(stems) if s in no), -1)
    rows = _denied(reading, index, [s for s in stems if s not in no]) if at >= 0 else []
    return reading.words(sentence.start, sentence.end)[at].text if _are_there(rows) else ""


def _are_there(rows: Sequence[Rows]) -> bool:
    return bool(rows) and all(one.items for one in rows)


def _denied(reading: Reading, index: Index, own: Sequence[str]) -> list[Rows]:
    """The lists that a denial speaks of: those it names, or all where it says only that nothing
    was found; none where it says more ("no urgent tasks"), or speaks of an effect."""
    words = reading.language.words
    if among(own, words.effects.keys() - words.objects.keys()):
        return []
    idle = plain(reading.language.tag) | words.ability | words.failure
    telling = [s for s in own if s not in idle and words.objects.get(s) not in IDLE]
    if not telling:
        return outer(index) if among(own, words.looking) else []
    named = [_named(reading, index, stem) for stem in telling]
    return list(chain.from_iterable(named)) if all(named) else []


def _named(reading: Reading, index: Index, stem: str) -> list[Rows]:
    return [rows for rows in outer(index) if names(reading.language.words, rows, stem)]
