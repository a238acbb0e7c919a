"""A sentence that denies what is there, "no tasks" beside a list that has some, and a reply that
denies all that was done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

from ..language import Token
from .evidence import Call, Evidence
from .index import Index
from .outcomes import outcome
from .picking import names, outer, plain
from .places import Place, Rows
from .reading import Claim, Reading, Sentence, among
from .told import WENT, Told, denies
from .whole import Whole, is_none

IDLE = frozenset({"account", "result"})
"""Things that a denial speaks of whatever it denies: "your account has no tasks"."""


def denied(reading: Reading, index: Index, sentence: Sentence, whole: Whole) -> str:
    """The word that denies things that are there, or nothing."""
    inside = reading.inside(sentence)
    if not all(map(is_none, inside)) or sentence.asks:
        return ""
    if not (none := _denying(reading, sentence, inside)):
        return ""
    rows = [] if inside else _denied(reading, index, sentence)
    if not rows and whole.denied(sentence):
        rows = whole.asked.rows
    return none if _are_there(rows) else ""


def _denying(reading: Reading, sentence: Sentence, inside: Sequence[Claim]) -> str:
    """The first word of a sentence that denies, or its zero."""
    words, stems = reading.language.words, reading.stems(sentence.start, sentence.end)
    no = words.negation | words.empty
    if told := [at for at, stem in enumerate(stems) if stem in no]:
        return reading.words(sentence.start, sentence.end)[told[0]].text
    zeros = [c.token for c in inside if c.kind == "number" and c.mention.value == 0]
    return zeros[0] if zeros else ""


def _are_there(rows: Sequence[Rows]) -> bool:
    return bool(rows) and all(one.items for one in rows)


def _denied(reading: Reading, index: Index, sentence: Sentence) -> list[Rows]:
    """The lists that a denial speaks of: those it names, or all where it says only that nothing
    was found; none where it says more ("no urgent tasks"), or speaks of an effect."""
    words = reading.language.words
    idle = plain(reading.language.tag) | words.ability | words.failure
    said = reading.stems(sentence.start, sentence.end)
    own = [s for s in said if s not in words.negation | words.empty]
    if among(own, words.effects.keys() - words.objects.keys()):
        return []
    telling = [s for s in own if s not in idle and words.objects.get(s) not in IDLE]
    if not telling:
        return outer(index) if among(own, words.looking) else []
    return _named(reading, index, telling)


def _named(reading: Reading, index: Index, stems: Sequence[str]) -> list[Rows]:
    """The lists that some nouns name, none where one names nothing."""
    spoken, lists = reading.language, outer(index)
    named = [[rows for rows in lists if names(spoken, rows, stem)] for stem in stems]
    return list(chain.from_iterable(named)) if all(named) else []


def of_all(
    reading: Reading,
    evidence: Evidence,
    right: Sequence[Told],
    grounds: Mapping[int, Sequence[Place]],
) -> Told | None:
    """The denial in a reply that tells nothing of what was done and of what came back, where all
    was done: whatever it denies. `right`: what it may tell of effects; `grounds`: the fields that
    show its values."""
    told = any(not claim.denied for claim in right) or _shows(grounds)
    word = None if told else _denial(reading)
    if word is None or not _all_done(evidence, reading.language.tag):
        return None
    part = reading.sentence(word.start)
    return Told(word.text, word.start, WENT, True, True, part, (part.start, part.end))


def _shows(grounds: Mapping[int, Sequence[Place]]) -> bool:
    """Whether a reply shows something of a result."""
    return any(p.path.startswith("data") for places in grounds.values() for p in places)


def _denial(reading: Reading) -> Token | None:
    """The word with which a reply denies something; of the rest ("nothing else") it may."""
    words, stems = reading.language.words, reading.stems(0, len(reading.text))
    if among(stems, words.rest) or not denies(reading, stems):
        return None
    no = words.negation | (words.failure - words.managed)
    return next((t for t, s in zip(reading.tokens, stems, strict=True) if s in no), None)


def _all_done(evidence: Evidence, tag: str) -> bool:
    """Whether there are calls with an effect, and of all of them it came about."""
    effects = [call for call in evidence.calls if call.has_effect]
    return bool(effects) and all(_came_about(call, tag) for call in effects)


def _came_about(call: Call, tag: str) -> bool:
    """Whether a call succeeded, and its result says of nothing that it was not done."""
    said = outcome(call, tag)
    return call.ok and said.whole and not (said.void or said.undone)
