"""Which function a sentence means, given what the sentence does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from . import recall
from .entities import find_entities
from .matching import Index, Match, spoken, telling
from .schema import arguments_of
from .speech import Sentence
from .words import Word, concepts, has, near, state, words

THRESHOLD = 2.4
"""Least score of a sentence that is acted upon; set on the utterances marked `tuned` in
tests/unit/offline_utterances.json."""

COVERAGE = 0.35
"""Least part of the words, weighted, that the catalogue must know."""

CONTENT_COVERAGE = 0.15
"""The same for a function that takes a text, whose words need not be known."""

MATTER, MATTER_COVERAGE = 1.2, 0.2
"""Least score and coverage of a read whose matter the sentence names."""

CONTEXT = 1.6
"""What it is worth that the newest facts are of the same app, for a sentence that points back."""

ADDRESS = 1.5
"""What an e-mail address in the sentence is worth to functions that need one."""

SOURCE = 0.9
"""What "from …" is worth to functions that ask whom something comes from."""

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
    said = [w for w in spoken(text, tag) if not has(w, tag, "opener")][:SAID]
    told = telling(said, tag)
    points = recall.reference(said, tag) is not None or len(told) < 2
    sourced = any(has(w, tag, "source") for w in said)
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
        score += SOURCE * (sourced and "party" in takes)
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
    if fitting and _takes_id(fitting[0]) and not _takes_text(fitting[0]):
        found = best(fitting, 0.0, 0.0)  # it acts on what exists only, and asks which
        return found if found and _may_be_about(sentence, found, index) else None
    named = [m for m in fitting if names_matter(sentence, m, index) and not _takes_text(m)]
    return best(fitting, least) or best(named, min(least, MATTER), MATTER_COVERAGE)


def best(
    fitting: Sequence[Match], least: float = THRESHOLD, coverage: float = COVERAGE
) -> Match | None:
    """The best of these, None when none fits well enough. Of equals, the one that harms least."""
    if not fitting or fitting[0].score < least:
        return None
    close = (m for m in fitting if m.score > fitting[0].score - TIE)
    found = min(close, key=lambda m: _HARM.get(m.tool.action_type, 2))
    enough = min(coverage, CONTENT_COVERAGE) if _takes_text(found) else coverage
    return found if found.coverage >= enough else None


def _takes_text(match: Match) -> bool:
    return any(a.kind == "text" and a.required for a in arguments_of(match.tool.input_schema))


def _takes_id(match: Match) -> bool:
    return any(a.kind == "id" for a in arguments_of(match.tool.input_schema))


def is_specific(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether more than a common verb speaks for the function: its content is marked, its matter is
    named, or nothing else in the catalogue is asked for with that verb."""
    assert sentence.verb is not None
    if not _takes_text(match):
        return True
    if sentence.content >= 0 or any(
        e.kind in ("quote", "email") for e in find_entities(sentence.text)
    ):
        return True
    verb, known = sentence.verb, index.vocabulary[match.tool.name]
    if [t for t, v in index.vocabulary.items() if verb.text in v.leads] == [match.tool.name]:
        return True
    others = [w for w in spoken(sentence.head, sentence.tag) if w.start != verb.start]
    return any(w.stem in known.frequent for w in others) or names_matter(sentence, match, index)


def names_matter(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether the sentence says, besides its verb, what the function is about."""
    matter, verb = index.vocabulary[match.tool.name].matter, sentence.verb
    return any(
        matter & {w.stem, *concepts(w.text, sentence.tag)}
        for w in spoken(sentence.head, sentence.tag)
        if verb is None or w.start != verb.start or _is_thing(w, sentence.tag)
    )


def _may_be_about(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether the sentence names nothing that the function knows nothing of: "the garage door" is
    no message."""
    if match.coverage >= COVERAGE or names_matter(sentence, match, index):
        return True
    said, tag = spoken(sentence.head, sentence.tag), sentence.tag
    if any(_is_thing(w, tag) for w in said if w != sentence.verb):
        return False
    texts = any(a.kind == "text" for a in arguments_of(match.tool.input_schema))
    return texts or recall.reference(said, tag) is not None


def _is_thing(word: Word, tag: str) -> bool:
    return any(c[0] == "#" for c in concepts(word.text, tag))


def _asks(verb: Word, match: Match, index: Index, tag: str) -> bool:
    known = index.vocabulary[match.tool.name]
    if verb.text in known.leads or verb.text in known.reports:
        return True
    if concepts(verb.text, tag) & known.concepts or state(verb.text, tag) & known.commands:
        return True
    return any(near(verb.text, lead) for lead in known.leads)
