"""Whether an answer without a call speaks of the user's own things: only there it is checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .. import language
from ..language import fold
from . import deeds
from .evidence import Evidence, Flag
from .figures import Ground
from .reading import Claim, Reading, Sentence, among
from .told import Told

TELLING = frozenset(("money", "hash", "code", "phone", "time", "moment"))
"""Kinds of values that tell of a thing of the user's where a sentence names one."""
SHORT = 12
"""Words of a sentence that can say no more than that it is done."""


@dataclass(frozen=True, slots=True)
class Owned:
    """A reply without a call: its grounds, and the effects that it claims wrongly."""

    reading: Reading
    evidence: Evidence
    grounds: Sequence[tuple[Claim, Ground]]
    effects: Mapping[int, Told]

    def has(self, flag: Flag) -> bool:
        """Whether a flag is on a claim about the user's own things: an effect, or a value in a
        sentence that speaks of them."""
        words, stem = self.reading.language.words, self.reading.language.stem
        drafts = any(stem(t.text) in words.drafting for t in language.tokens(self.evidence.message))
        claim = self.effects.get(flag.start)
        if drafts:
            return bool(claim and claim.active and not deeds.dictated(self.evidence, claim))
        if claim and (
            deeds.asked(self.reading, self.evidence, claim)
            or (claim.active and deeds.wishes(self.reading, self.evidence))
            or self._answers(claim)
        ):
            return True
        return "@" in flag.word or self._tells(flag)

    def _answers(self, claim: Told) -> bool:
        """Whether a short claim answers a command of a known deed: "Everything's been updated"."""
        part = self.reading.words(claim.sentence.start, claim.sentence.end)
        short = len(part) <= SHORT and not deeds.dictated_as_is(self.evidence, claim)
        return short and bool(deeds.commands(self.reading, self.evidence))

    def _tells(self, flag: Flag) -> bool:
        """Whether a sentence speaks of the user's own things: says so, names one that the data
        has, or gives an amount, an id, a moment or a state of a thing that apps hold."""
        sentence = self.reading.sentence(flag.start)
        words, stem = self.reading.language.words, self.reading.language.stem
        said = self.reading.words(sentence.start, sentence.end)
        stems = [stem(t.text) for t in said]
        if among(stems, words.plan):
            return False
        inside = self.reading.inside(sentence)
        kind = next((c.kind for c in inside if c.start == flag.start), "state")
        if any(fold(t.text) in words.forms("possession") for t in said):
            return kind not in ("weekday", "period", "month")
        things = among(stems, words.objects) and any(c.kind in TELLING for c in inside)
        return self._of_data(sentence) or (kind != "percent" and things)

    def _of_data(self, sentence: Sentence) -> bool:
        """Whether a sentence names something that a field of the data shows."""
        return any(
            p.path.startswith("data") and p.key
            for c, g in self.grounds
            if sentence.start <= c.start < sentence.end
            for p in g.places[:3]
        )
