"""What in a reply may pick rows: its values, and the words and quotes that tell a state."""

from __future__ import annotations

from collections.abc import Sequence

from .. import language
from ..language import Language, fold
from .figures import Ground
from .index import Index
from .picking import Picks, plain
from .places import Place
from .reading import Claim, Reading
from .records import TEXTUAL
from .states import Word

FIGURES = ("number", "money", "percent")
FEW, BESIDE = 4, 3
"""Words of a quote that may tell a state: "still open"; values of a sentence that counts it."""


def picked(
    reading: Reading,
    index: Index,
    grounds: Sequence[tuple[Claim, Ground]],
    words: Sequence[Word],
) -> tuple[Picks, Picks]:
    """The fields that show what may pick rows, by where it stands, and those of states."""
    known, stem = reading.language.words.states, reading.language.stem
    english = language.of("en").words.states
    told = {w.claim.start: w.bears for w in words if w.bears}
    picks, sorts = {}, {}
    for claim, ground in grounds:
        if claim.kind not in FIGURES:
            picks[claim.start] = _shown_by(index, claim, ground)
            quote = claim.kind == "quote" and _is_counted(reading, claim)
            if quote and (quoted := _quoted(reading, index, claim)):
                picks[claim.start] = sorts[claim.start] = quoted
        if (word := stem(claim.token)) in known or word in english:
            sorts.setdefault(claim.start, ground.places)
    return picks | told, sorts | told


def _is_counted(reading: Reading, claim: Claim) -> bool:
    """Whether a quote stands beside a number and hardly anything else."""
    inside = reading.inside(reading.sentence(claim.start))
    return len(inside) <= BESIDE and any(c.kind == "number" for c in inside)


def _shown_by(index: Index, claim: Claim, ground: Ground) -> Sequence[Place]:
    """The fields that show a value, and those whose text holds it among other words."""
    if claim.kind not in TEXTUAL:
        return ground.places
    return [*ground.places, *index.find(claim.token)]


def _quoted(reading: Reading, index: Index, claim: Claim) -> Sequence[Place]:
    """The fields that tell what a quote does: a value that several rows share, or the one state
    that it names beside words that say nothing."""
    whole = [p for p in index.whole(fold(claim.token)) if p.key and index.shares(p)]
    return whole or index.states.get(_state(reading.language, claim.token), [])


def _state(spoken: Language, text: str) -> str:
    """The one state that a text tells beside words that say nothing."""
    words, idle = spoken.words, plain(spoken.tag) | spoken.words.yet
    stems = [spoken.stem(t.text) for t in language.tokens(text)][:FEW]
    told = {words.states.get(s, "") for s in stems if s not in idle}
    return told.pop() if len(told) == 1 else ""
