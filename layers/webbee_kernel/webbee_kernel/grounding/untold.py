"""What a reply passes over: the kernel's own sentences about calls that did not succeed."""

from __future__ import annotations

from collections.abc import Sequence

from .deeds import concepts, mended, quoted, sentence_for
from .evidence import Call, Evidence
from .places import fold
from .reading import Reading, Sentence, among
from .told import denies, unsure


def added(reading: Reading, evidence: Evidence) -> str:
    """The kernel's sentences about calls that did not succeed and that the reply passes over."""
    calls = evidence.calls
    missed = [c for n, c in enumerate(calls) if not c.ok and not mended(c, calls[n + 1 :])]
    untold = _untold(reading, missed)
    told = (sentence_for(c, evidence.language) for c in calls if c in untold)
    return " ".join(dict.fromkeys(told))


def _untold(reading: Reading, missed: Sequence[Call]) -> list[Call]:
    """Those whose end is not known, where the reply says so of none, and those passed over."""
    doubts = unsure(reading, 0, len(reading.text))
    unknown = [c for c in missed if c.is_open and not doubts]
    others = _unadmitted(reading, [c for c in missed if c not in unknown])
    return unknown + [c for c in others if not quoted(reading, c)]


def _unadmitted(reading: Reading, missed: Sequence[Call]) -> list[Call]:
    """The calls that did not succeed and that the reply passes over."""
    waits = any(c.status == "waits" for c in missed)
    admissions = [
        s
        for s in reading.sentences
        if _admits(reading, s, missed) or (waits and _awaits(reading, s))
    ]
    if not admissions:
        return list(missed)
    untold = [c for c in missed if not any(_about(reading, s, c) for s in admissions)]
    return untold if len(admissions) < len(missed) > len(untold) else []


def _admits(reading: Reading, sentence: Sentence, missed: Sequence[Call]) -> bool:
    """Whether a sentence says that something failed, or that what a call is about was not done."""
    stems, words = reading.stems(sentence.start, sentence.end), reading.language.words
    told = among(stems, words.failure, words.first_person, words.hypothetical, words.went)
    return denies(reading, stems) and (told or any(_about(reading, sentence, c) for c in missed))


def _about(reading: Reading, sentence: Sentence, call: Call) -> bool:
    """Whether a sentence speaks of a call: its effect, or a value that it had."""
    known = reading.language.words.effects
    stems = reading.stems(sentence.start, sentence.end)
    values = " ".join(fold(str(v)) for v in call.arguments.values())
    named = any(fold(c.token) in values for c in reading.inside(sentence))
    return named or any(known.get(s) in concepts(call) for s in stems)


def _awaits(reading: Reading, sentence: Sentence) -> bool:
    """Whether a sentence says that something waits for a yes."""
    return among(reading.stems(sentence.start, sentence.end), reading.language.words.awaiting)
