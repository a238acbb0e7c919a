"""What a reply tells of effects: claims ("I sent it", "it was sent", "Done.") and denials.

Read clause by clause; questions, plans, offers, adjectives, labels and other people's deeds tell of
none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ..language import Token
from .index import fold
from .reading import Reading, Sentence, among

_CLAUSE = re.compile("[,;:]\\s|\\s[\u2014\u2013-]\\s|\\n")
BARE = 6
"""Words of a clause that says no more than that it is done."""


@dataclass(frozen=True, slots=True)
class Told:
    """What a clause says of an effect: the word, its concept ("" for a bare "Done."), whether it
    denies it, and whether somebody did it (no state)."""

    word: str
    start: int
    concept: str
    denied: bool
    active: bool
    sentence: Sentence


@dataclass(slots=True)
class _Clause:
    """A clause: its words, their stems, and what may help a participle to tell."""

    reading: Reading
    start: int
    tokens: list[Token]
    stems: list[str]

    @property
    def denies(self) -> bool:
        words = self.reading.language.words
        return among(self.stems, words.negation, words.failure)

    @property
    def plans(self) -> bool:
        forms = self.reading.language.words.forms("plan")
        return any(fold(t.text) in forms for t in self.tokens)

    def voice(self, at: int) -> str:
        """`active` for what the speaker did, `state` for what was done, nothing for a word that
        tells of neither."""
        words, spoken = self.reading.language.words, self.reading.language
        before = self.stems[max(0, at - 6) : at]
        helped = among([*before, *self.stems[at + 1 : at + 2]], words.perfect)
        if not spoken.tells(self.tokens[at].text) or self._of_others(at, helped=helped):
            return ""
        if among(before, words.first_person):
            return "active"
        if self._begins(at) and not helped and self._labels():
            return ""
        last = at == len(self.tokens) - 1
        told = helped or last or self._begins(at) or spoken.tells_alone(self.tokens[at].text)
        return "state" if told else ""

    def _of_others(self, at: int, *, helped: bool) -> bool:
        """Whether the word is an adjective, or tells of another's deed."""
        words, last = self.reading.language.words, self.stems[max(0, at - 1) : at]
        by = self.stems[at + 1 : at + 2] == ["by"]
        return bool(last) and (
            by or among(last, words.determiner) or (not helped and among(last, words.others))
        )

    def _begins(self, at: int) -> bool:
        return not self.reading.text[self.start : self.tokens[at].start].strip(" *_>\u2705\u2022-")

    def _labels(self) -> bool:
        """Whether a value follows: "Created by: ..."."""
        end = self.tokens[-1].end
        after = self.reading.text[end : end + 12].lstrip(" *_")
        return after.startswith((":", "\u2013", "\u2014", "|"))

    def bare(self, sentence: Sentence) -> Token | None:
        """The word of a clause that says no more than that it is done, or that it failed."""
        first, last = self.tokens[0].start, self.tokens[-1].end
        if len(self.tokens) > BARE or any(
            first <= c.start < last for c in self.reading.inside(sentence)
        ):
            return None
        words = self.reading.language.words
        done = [t for t in self.tokens if fold(t.text) in words.forms("done")]
        failed = [t for t, s in zip(self.tokens, self.stems, strict=True) if s in words.failure]
        return next(iter([*done, *failed]), None)


def told(reading: Reading) -> Iterator[Told]:
    """The claims and denials of effects in a reply."""
    for sentence in reading.sentences:
        start = sentence.start
        ends = [sentence.start + match.end() for match in _CLAUSE.finditer(sentence.text)]
        for end in [*ends, sentence.end]:
            clause = _Clause(reading, start, reading.words(start, end), reading.stems(start, end))
            if clause.tokens and not _asked(sentence, clause, end):
                yield from _of_clause(clause, sentence)
            start = end


def _asked(sentence: Sentence, clause: _Clause, end: int) -> bool:
    """Whether a clause belongs to what a question asks."""
    words = clause.reading.language.words
    asks = among(clause.stems, words.question, words.auxiliary, words.wish)
    return sentence.asks and (end == sentence.end or asks)


def _of_clause(clause: _Clause, sentence: Sentence) -> Iterator[Told]:
    words, denied = clause.reading.language.words, clause.denies
    if clause.plans and not denied:
        return
    found = False
    for at, (token, stem) in enumerate(zip(clause.tokens, clause.stems, strict=True)):
        voice = clause.voice(at) if stem in words.effects else ""
        if stem in words.effects and stem not in words.looking and (voice or denied):
            found = True
            concept = words.effects[stem]
            yield Told(token.text, token.start, concept, denied, voice == "active", sentence)
    if not found and (bare := clause.bare(sentence)):
        yield Told(bare.text, bare.start, "", denied, True, sentence)
