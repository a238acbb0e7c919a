"""What a sentence may mean where nothing is certain: the functions that a question offers."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from .choosing import (
    asks,
    is_effect,
    names_matter,
    names_somebody,
    ranked,
    takes_text,
    tells_somebody,
)
from .entities import find_entities
from .matching import Index, Match, spoken
from .schema import is_directed, takes
from .speech import Sentence
from .words import any_has

LIKELY = 1.5
"""Least evidence for a function that is asked about."""


def may_mean(
    sentence: Sentence, index: Index, apps: Sequence[str], of_things: Collection[str]
) -> list[Match]:
    """The functions with an effect that something in the sentence speaks for, likeliest first:
    verb, matter, a thing of their app, somebody to write to, marked content."""
    if sentence.verb is None and _is_told(sentence):
        return []
    scores = {m.tool.name: m for m in ranked(sentence, index, apps)}
    matches = [scores.get(t.name, Match(t, 0.0, 0.0)) for t in index.tools]
    found = [(_evidence(sentence, m, index, of_things), m) for m in matches if is_effect(m)]
    most = max((e for e, _ in found), default=0.0)
    likely = [(e, m) for e, m in found if e >= LIKELY and e >= most - 1]
    return [m for _, m in sorted(likely, key=lambda f: (-f[0], -f[1].score))]


def _is_told(sentence: Sentence) -> bool:
    """Whether somebody said it."""
    return any_has(spoken(sentence.text, sentence.tag), sentence.tag, "saying")


def _evidence(sentence: Sentence, match: Match, index: Index, of_things: Collection[str]) -> float:
    schema, verb = match.tool.input_schema, sentence.verb
    written = {e.kind for e in find_entities(sentence.text)}
    writes = takes(schema, "email", required=True)
    directed, told = is_directed(schema), takes_text(match)
    marked = sentence.content >= 0 or "quote" in written
    return (
        1.5 * bool(verb and asks(verb, match, index, sentence.tag))
        + 1.5 * (directed and tells_somebody(sentence))
        + 1.5 * names_matter(sentence, match, index)
        + 1.5 * (match.tool.app_id in of_things and takes(schema, "id"))
        + 2.0 * ("email" in written and writes)
        + 1.0 * (directed and names_somebody(sentence))
        + 1.0 * (told and marked)
    )
