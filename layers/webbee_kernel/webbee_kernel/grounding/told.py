"""What a reply tells of effects: claims ("I sent it", "it was sent", "Done.") and denials.

Read clause by clause; questions, plans, offers, adjectives, labels and other people's deeds tell of
none. Verbs are an open class: a form that tells what was done is a claim whether or not the
language's file knows the verb; only verbs of looking, writing and thinking are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..language import fold
from .clauses import Clause
from .reading import Reading, Sentence, among

_CLAUSE = re.compile("[,;:]\\s|\\s[\u2014\u2013-]\\s|\\n|(?<!\\w)\\*\\*\\s|\\s(?=\\()|\\)(?=\\W)")
REASON = 80
"""Characters behind a denial in which its cause is told."""
OPEN = "?"
"""The concept of a verb that the language's file does not know."""
WENT = "went"
"""The concept of a denial that says only that it did not come off: "the booking didn't work"."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a clause says of an effect: the word, its concept ("" for a bare "Done."), whether it
    denies it, and whether somebody did it (no state); the clause's span; whether it is known to be
    what the message asks for."""

    word: str
    start: int
    concept: str
    denied: bool
    active: bool
    sentence: Sentence
    clause: tuple[int, int] = (0, 0)
    asked: bool = False

    @property
    def kind(self) -> str:
        """What it is flagged as."""
        if self.denied:
            return "denial"
        known = "bare" if not self.concept else "open" if self.concept == OPEN else "known"
        return f"effect {known}" + ("" if self.active else " state")


def denies(reading: Reading, stems: Sequence[str]) -> bool:
    """Whether words deny or admit a failure; "no problem" and "without delay" do not."""
    words = reading.language.words
    failed = words.failure - words.managed  # "konnte" is either
    no = words.negation - words.limits  # "without" tells how a deed was done
    told = [s in no or s in failed for s in stems]
    for at, stem in enumerate(stems):
        if stem in words.trouble:
            near = [i for i in range(max(0, at - 3), at) if stems[i] in words.negation]
            if near and not among(stems[near[-1] : at], words.effects):  # "not sent, an error"
                told[at] = told[near[-1]] = False
    return any(told)


def unsure(reading: Reading, start: int, end: int) -> bool:
    """Whether words say that something is not known: "I cannot tell whether it stopped"."""
    words = reading.language.words
    if among(reading.stems(start, end), words.hypothetical):
        return True
    doubts = words.forms("whether")  # in the very form: a Spanish "yes" has the same stem
    return any(fold(token.text) in doubts for token in reading.words(start, end))


def says_done(reading: Reading, part: Sentence, claims: Sequence[Told]) -> bool:
    """Whether a sentence says no more than that it is done, whatever its verbs: "that is over and
    filed"."""
    words, told = reading.language.words, {claim.start for claim in claims}
    idle = words.function | words.adverb | words.perfect | words.passive | words.and_
    idle |= words.matter | words.toward | words.quantifier | words.first_person | words.reference
    said = zip(
        reading.words(part.start, part.end), reading.stems(part.start, part.end), strict=True
    )
    return not reading.inside(part) and all(
        stem in idle or token.start in told or reading.language.tells(token.text)
        for token, stem in said
    )


def told(reading: Reading) -> Iterator[Told]:
    """The claims and denials of effects in a reply."""
    for sentence in reading.sentences:
        start = sentence.start
        asked = False
        for end in _ends(reading, sentence):
            words = reading.words(start, end)
            stems = reading.stems(start, end)
            clause = Clause(reading, start, end, words, stems)
            asked = asked or _asked(sentence, clause, end)  # and so does what stands behind it
            if clause.tokens and not asked and not clause.doubts:
                yield from _of_clause(clause, sentence)
            start = end


def _ends(reading: Reading, sentence: Sentence) -> list[int]:
    """Where the clauses of a sentence end: at a mark, or before what is not known."""
    doubts = reading.language.words.forms("whether")
    said = reading.words(sentence.start, sentence.end)
    ends = {sentence.start + match.end() for match in _CLAUSE.finditer(sentence.text)}
    return sorted({*ends, *(t.start for t in said if fold(t.text) in doubts), sentence.end})


def _asked(sentence: Sentence, clause: Clause, end: int) -> bool:
    """Whether a clause belongs to what a question asks."""
    words = clause.reading.language.words
    asks = among(clause.stems, words.question, words.auxiliary, words.wish)
    return sentence.asks and (end == sentence.end or asks)


def _of_clause(clause: Clause, sentence: Sentence) -> Iterator[Told]:
    denied = denies(clause.reading, clause.stems)
    if clause.plans and not denied:
        return
    causes = not denied and _of_failure(clause, sentence)
    bare, found = None if causes else clause.bare(sentence, denied=denied), False
    for at, token in enumerate(clause.tokens):
        if bare and not denied and clause.idle(token):
            continue
        concept, voice = _verb(clause, at, denied=denied)
        if concept and not (concept == OPEN and causes):
            found = True
            active = voice == "active"
            yield Told(token.text, token.start, concept, denied, active, sentence, clause.span)
    if bare and not found:
        yield Told(bare.text, bare.start, "", denied, True, sentence, clause.span)
    elif denied and not found and (off := clause.came_off()):
        yield Told(off.text, off.start, WENT, denied, True, sentence, clause.span)


def _of_failure(clause: Clause, sentence: Sentence) -> bool:
    """Whether a clause stands behind a denial, and so tells its cause."""
    line = clause.reading.text.rfind("\n", 0, clause.start)
    before = min(sentence.start, max(line, clause.start - REASON))
    return denies(clause.reading, clause.reading.stems(before, clause.start))


def _verb(clause: Clause, at: int, *, denied: bool) -> tuple[str, str]:
    """The concept of the effect that a word tells of, and how; no concept where it tells of none.
    In a denial the bare form does ("did not send")."""
    words, stem = clause.reading.language.words, clause.stems[at]
    if stem in words.looking or stem in words.function:
        return "", ""
    if stem in words.effects:
        voice = clause.voice(at)
        last = fold(clause.tokens[max(0, at - 1)].text)
        noun = last in words.forms("determiner") and last not in words.forms("leads")
        return (words.effects[stem], voice) if voice or (denied and not noun) else ("", "")
    voice = clause.surely(at)
    known = among([stem], words.done, words.failure, words.objects, words.units)
    return (OPEN, voice) if voice and not known else ("", "")
