"""Which function a sentence means, given what the sentence does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from . import recall
from .entities import find_days, find_entities
from .made import of_what_is_made
from .matching import Index, Match, spoken, telling
from .schema import arguments_of, takes, takes_address
from .speech import Sentence
from .words import Word, any_has, concepts, has, is_name, is_thing, meaning, near, state, words

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
"""What an e-mail address or a link in the sentence is worth to functions that need one."""

SOURCE = 0.9
"""What "from …" is worth to functions that ask whom something comes from."""

DATED = 0.8
"""What a day in the sentence is worth to functions that take one."""

NUMBER = 0.4
"""What a number in the sentence is worth to functions that take one."""

INTRODUCED = 0.6
"""What `command: content` is worth to functions that need a text."""

UNEXPLAINED = 0.12
"""The part of its score that a function which needs no text loses when it explains none of the
words."""

TIE = 0.2
"""Scores this close are equal: then the function that can do less harm is meant."""

ALIKE = 0.7
"""Likeness from which a sentence is one of a function's examples."""

SAID = 60
"""Words of a sentence that are matched: a command stands at its beginning."""

_HARM = {"read": 0, "write": 1}


def ranked(sentence: Sentence, index: Index, apps: Sequence[str] = ()) -> list[Match]:
    """Functions that fit the sentence, best first; `apps` are those of the newest turns, newest
    first."""
    tag = sentence.tag
    said = [w for w in spoken(sentence.text, tag) if not has(w, tag, "opener")][:SAID]
    hints = _Hints.of(sentence, said, next(iter(apps), ""))
    scored = [replace(m, score=hints.score(m)) for m in index.rank(said, tag)]
    return sorted(scored, key=lambda m: -m.score)


@dataclass(frozen=True, slots=True)
class _Hints:
    """What a sentence tells of its arguments, before they are filled."""

    newest: str
    points: bool
    sourced: bool
    dated: bool
    numbers: bool
    written: frozenset[str]
    introduces: bool
    addressed: frozenset[str]

    @staticmethod
    def of(sentence: Sentence, said: Sequence[Word], newest: str) -> _Hints:
        """The hints of a sentence in a conversation whose newest app is `newest`."""
        text, tag = sentence.text, sentence.tag
        bare = len(telling(said, tag)) < 2
        return _Hints(
            newest,
            points=bare or recall.reference(said, tag) is not None,
            sourced=any_has(said, tag, "source"),
            dated=any(e.value != "period" for e in find_days(text, tag)),
            numbers=any(w.text.isdecimal() for w in words(text, tag)),
            written=frozenset(e.kind for e in find_entities(text)) & {"email", "url"},
            introduces=sentence.content >= 0,
            addressed=_addressed(sentence),
        )

    def score(self, match: Match) -> float:
        """The match's score with them."""
        arguments = arguments_of(match.tool.input_schema)
        needs = {a.kind for a in arguments if a.required}
        kinds = {a.kind for a in arguments}
        of_newest = self.points and self.newest == match.tool.app_id
        unexplained = UNEXPLAINED * (1 - match.coverage) * ("text" not in needs)
        return (
            match.score * (1 - unexplained)
            + CONTEXT * (of_newest and not kinds.isdisjoint({"id", "email"}))
            + SOURCE * (self.sourced and "party" in kinds)
            + DATED * (self.dated and "date" in kinds)
            + NUMBER * (self.numbers and "number" in kinds)
            + ADDRESS * bool(needs & (self.written | self.addressed))
            + INTRODUCED * (self.introduces and "text" in needs)
        )


def nearest(sentence: Sentence, index: Index, apps: Sequence[str] = ()) -> list[Match]:
    """The functions that the verb of a command asks for, best first."""
    verb = sentence.verb
    if verb is None:
        return []
    found = ranked(sentence, index, apps)
    fitting = [m for m in found if asks(verb, m, index, sentence.tag) and _may(sentence, m, index)]
    fitting = of_what_is_made(sentence, fitting, index)
    meant = _object(sentence, index)  # what an effect takes may be of another app: "send that note"
    return [m for m in fitting if meant & index.vocabulary[m.tool.name].matter] or fitting


def _may(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether the function can take what is written, and do what its verb says to whom: "tell her"
    is no "tell me", "write to her" answers nothing."""
    if any(e.kind == "email" for e in find_entities(sentence.text)):
        if not takes_address(match.tool.input_schema):
            return False
    if tells_somebody(sentence) and not is_effect(match):
        return False
    verb = concepts(sentence.verb.text, sentence.tag) if sentence.verb else set()
    either = {"=send", "=reply"} <= verb and match.likeness <= ALIKE
    return not (either and _only_answers(match, index))


def _only_answers(match: Match, index: Index) -> bool:
    meant = index.vocabulary[match.tool.name].concepts
    return "=reply" in meant and "=send" not in meant


def _object(sentence: Sentence, index: Index) -> set[str]:
    """What the first word besides the verb that names any app's matter means."""
    matters = frozenset().union(*(v.matter for v in index.vocabulary.values()))
    said = (w for w in spoken(sentence.head, sentence.tag) if w != sentence.verb)
    return next((m for w in said if (m := meaning(w, sentence.tag) & matters)), set())


def is_effect(match: Match) -> bool:
    """Whether the function changes anything."""
    return match.tool.action_type != "read"


def tells_somebody(sentence: Sentence) -> bool:
    """Whether its verb is one of telling, and whom is no "me"."""
    verb = sentence.verb
    return bool(verb and "=tell" in concepts(verb.text, sentence.tag) and names_somebody(sentence))


def names_somebody(sentence: Sentence) -> bool:
    """Whether behind the first word stands a name, or one of "him", "her", "them" near it."""
    said = spoken(sentence.head, sentence.tag)[1:]
    named = any(is_name(w, sentence.text, sentence.tag) for w in said)
    return named or any_has(said[:2], sentence.tag, "toward")


def _addressed(sentence: Sentence) -> frozenset[str]:
    """What a name before marked content asks for: an address."""
    head = spoken(sentence.head, sentence.tag)[1:] if sentence.content >= 0 else []
    return frozenset(
        ["email"] if any(is_name(w, sentence.text, sentence.tag) for w in head) else []
    )


def asked_for(
    sentence: Sentence,
    index: Index,
    apps: Sequence[str] = (),
    least: float = THRESHOLD,
    about: str = "",
) -> Match | None:
    """The function that a command or request means: one that its verb asks for. `about` is the app
    of a known thing that the sentence names."""
    fitting = nearest(sentence, index, apps)
    if mine := [m for m in fitting if m.tool.app_id == about and _takes_id(m)]:
        return mine[0]
    if fitting and _takes_id(fitting[0]) and not takes_text(fitting[0]):
        return _on_what_exists(sentence, fitting, index)
    found = best(fitting, least) or _named(sentence, fitting, index, least)
    return found or _led(sentence, fitting, index)


def _on_what_exists(sentence: Sentence, fitting: Sequence[Match], index: Index) -> Match | None:
    """The function that acts on a thing there is, and so can ask which."""
    found = best(fitting, 0.0, 0.0)
    return found if found and _may_be_about(sentence, found, index) else None


def _led(sentence: Sentence, fitting: Sequence[Match], index: Index) -> Match | None:
    """The function that takes a text, whose words nobody knows, where nothing else is asked for
    with this verb."""
    verb = sentence.verb
    tag = sentence.tag
    alone = (m for m in fitting if verb and only_one_asked(verb, m, index, tag))
    return next((m for m in alone if takes_text(m)), None)


def _named(
    sentence: Sentence, fitting: Sequence[Match], index: Index, least: float
) -> Match | None:
    """A function whose matter is named needs less evidence."""
    named = [m for m in fitting if names_matter(sentence, m, index)]
    return best(named, min(least, MATTER), MATTER_COVERAGE)


def best(
    fitting: Sequence[Match], least: float = THRESHOLD, coverage: float = COVERAGE
) -> Match | None:
    """The best of these, None when none fits well enough. Of equals, the one that harms least."""
    if not fitting or fitting[0].score < least:
        return None
    close = (m for m in fitting if m.score > fitting[0].score - TIE)
    found = min(close, key=lambda m: _HARM.get(m.tool.action_type, 2))
    enough = min(coverage, CONTENT_COVERAGE) if takes_text(found) else coverage
    return found if found.coverage >= enough else None


def takes_text(match: Match) -> bool:
    return takes(match.tool.input_schema, "text", required=True)


def _takes_id(match: Match) -> bool:
    return takes(match.tool.input_schema, "id")


def names_matter(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether the sentence says, besides its verb, what the function is about."""
    matter, verb, tag = index.vocabulary[match.tool.name].matter, sentence.verb, sentence.tag
    said = spoken(sentence.head, tag)
    named = [w for w in said if verb is None or w.start != verb.start or is_thing(w, tag)]
    return any(matter & meaning(w, tag) for w in named)


def _may_be_about(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether the sentence names nothing that the function knows nothing of: "the garage door" is
    no message."""
    if match.coverage >= COVERAGE or names_matter(sentence, match, index):
        return True
    said, tag = spoken(sentence.head, sentence.tag), sentence.tag
    if any(is_thing(w, tag) for w in said if w != sentence.verb):
        return False
    points = recall.reference(said, tag) is not None or any_has(said, tag, "plural_reference")
    return points or takes(match.tool.input_schema, "text")


def only_one_asked(verb: Word, match: Match, index: Index, tag: str) -> bool:
    """Whether no other effect of the catalogue is asked for with this word."""
    asked = (t.name for t in index.tools if asks(verb, Match(t, 0.0, 0.0), index, tag))
    effects = {t.name for t in index.tools if t.action_type != "read"}
    return effects.intersection(asked) == {match.tool.name}


def asks(verb: Word, match: Match, index: Index, tag: str) -> bool:
    known = index.vocabulary[match.tool.name]
    if verb.text in known.leads or verb.text in known.reports:
        return True
    meant = concepts(verb.text, tag)
    if meant & known.concepts or (not meant and state(verb.text, tag) & known.commands):
        return True
    return any(near(verb.text, lead) for lead in known.leads)
