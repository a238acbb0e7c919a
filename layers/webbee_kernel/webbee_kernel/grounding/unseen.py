"""Sentences of a reply that no rule of the check sees: causes, denials, paraphrases without a
value."""

from __future__ import annotations

from collections.abc import Iterator

from .evidence import Evidence
from .reading import Reading, Sentence, among, read
from .told import told

LEAST = 4
"""Words of a sentence that may assert something; a greeting is shorter."""


def unseen(text: str, evidence: Evidence) -> tuple[str, ...]:
    """The sentences whose truth only their meaning can tell, as they stand in the reply."""
    reading = read(text, evidence.language, evidence.now)
    return tuple(sentence.text.strip() for sentence in _unseen(reading))


def _unseen(reading: Reading) -> Iterator[Sentence]:
    words = reading.language.words
    effects = {claim.sentence.start for claim in told(reading)}
    for sentence in reading.sentences:
        stems = reading.stems(sentence.start, sentence.end)
        if sentence.asks or len(stems) < LEAST or sentence.text.lstrip().startswith(("#", "|")):
            continue
        meant = among(stems, words.cause, words.negation, words.failure)
        plain = not reading.inside(sentence) and sentence.start not in effects
        if meant or plain:
            yield sentence


def stands_in(quote: str, evidence: Evidence) -> bool:
    """Whether words stand in a result, summary or error as they are: what is said to contradict a
    reply must be there."""
    places = evidence.index.find(quote.strip(" .\"'`")) if len(quote.strip()) > 1 else []
    return any(p.call >= 0 and p.path.startswith(("data", "summary", "error")) for p in places)
