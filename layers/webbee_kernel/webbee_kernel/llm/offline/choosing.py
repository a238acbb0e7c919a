"""Which function a sentence means, given what the sentence does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import recall
from .entities import find_entities
from .matching import Index, Match, spoken
from .schema import arguments_of
from .speech import Sentence
from .words import Word, concepts, near, words

THRESHOLD = 2.4
"""Least score of a sentence that is acted upon; set on the utterances marked `tuned` in
tests/unit/offline_utterances.json."""

COVERAGE = 0.28
"""Least part of the words, weighted, that the catalogue must know."""

CONTENT_COVERAGE = 0.15
"""The same for a function that takes a text, whose words need not be known."""

CONTEXT = 0.9
"""What it is worth that the newest facts are of the same app, for a sentence that points back."""

ADDRESS = 1.5
"""What an e-mail address in the sentence is worth to functions that need one."""

NUMBER = 0.4
"""What a number in the sentence is worth to functions that take one."""

INTRODUCED = 0.6
"""What `command: content` is worth to functions that need a text."""

UNEXPLAINED = 0.12
"""The part of its score that a function which needs no text loses when it explains none of the
words."""

TIE = 0.2
"""Scores this close are equal: then the function that can do less harm is meant."""

SAID = 60
"""Words of a sentence that are matched: a command stands at its beginning."""

_HARM = {"read": 0, "write": 1}


def ranked(sentence: Sentence, index: Index, apps: Sequence[str] = ()) -> list[Match]:
    """Functions that fit the sentence, best first; `apps` are those of the newest turns, newest
    first."""
    text, tag = sentence.text, sentence.tag
    found = {e.kind for e in find_entities(text)}
    said = spoken(text, tag)[:SAID]
    points = recall.reference(said, tag) is not None
    numbers = any(w.text.isdecimal() for w in words(text, tag))
    scored = []
    for match in index.rank(said, tag):
        arguments = arguments_of(match.tool.input_schema)
        needs = {a.kind for a in arguments if a.required}
        takes = {a.kind for a in arguments}
        unexplained = 0.0 if "text" in needs else UNEXPLAINED * (1 - match.coverage)
        score = match.score * (1 - unexplained)
        newest = next(iter(apps), "") == match.tool.app_id
        score += CONTEXT * (points and newest and bool(takes & {"id", "email"}))
        score += NUMBER * (numbers and "number" in takes)
        score += ADDRESS * ("email" in found and "email" in needs)
        score += INTRODUCED * (sentence.content >= 0 and "text" in needs)
        scored.append(replace(match, score=score))
    return sorted(scored, key=lambda m: -m.score)


def asked_for(
    sentence: Sentence, index: Index, apps: Sequence[str] = (), least: float = THRESHOLD
) -> Match | None:
    """The function that a command or request means: one that its verb asks for."""
    verb = sentence.verb
    if verb is None:
        return None
    fitting = [m for m in ranked(sentence, index, apps) if _asks(verb, m, index, sentence.tag)]
    return best(fitting, least)


def best(fitting: Sequence[Match], least: float = THRESHOLD) -> Match | None:
    """The best of these, None when none fits well enough. Of equals, the one that harms least."""
    if not fitting or fitting[0].score < least:
        return None
    close = (m for m in fitting if m.score > fitting[0].score - TIE)
    found = min(close, key=lambda m: _HARM.get(m.tool.action_type, 2))
    takes_text = any(a.kind == "text" and a.required for a in arguments_of(found.tool.input_schema))
    return found if found.coverage >= (CONTENT_COVERAGE if takes_text else COVERAGE) else None


def is_specific(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether more than a common verb speaks for the function: its content is marked, its matter is
    named, or nothing else in the catalogue is asked for with that verb."""
    assert sentence.verb is not None
    if sentence.content >= 0 or any(e.kind in ("quote", "email") for e in find_entities(sentence.text)):
        return True
    verb, known = sentence.verb, index.vocabulary[match.tool.name]
    matter = index.matter(match.tool)
    for word in spoken(sentence.head, sentence.tag):
        meant = {word.stem, *concepts(word.text, sentence.tag)}
        if word.start != verb.start and meant & (matter | known.frequent):
            return True
    return all(
        m.tool.name == match.tool.name
        for m in index.rank([verb], sentence.tag)
        if _asks(verb, m, index, sentence.tag)
    )


def _asks(verb: Word, match: Match, index: Index, tag: str) -> bool:
    known = index.vocabulary[match.tool.name]
    if verb.text in known.leads or verb.text in known.reports:
        return True
    if any(c in known.concepts for c in concepts(verb.text, tag)):
        return True
    return any(near(verb.text, lead) for lead in known.leads)
