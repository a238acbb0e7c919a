"""Whether just this function is meant by a command: what is not certain is asked about first."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile

from ...language import fold
from .choosing import names_matter, only_one_asked, takes_text
from .entities import find_entities
from .matching import Index, Match, Vocabulary, spoken, telling
from .schema import takes
from .speech import Sentence
from .words import (
    Word,
    any_has,
    concepts,
    has,
    idle,
    is_thing,
    leads_on,
    meaning,
    points_back,
    state,
    words,
)


def is_specific(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether more than a common verb speaks for the function: its content is marked, its matter is
    named, or nothing else in the catalogue is asked for with that verb."""
    known = index.vocabulary[match.tool.name]
    if _names_somebody(sentence, match, known):
        return False
    if _asked(sentence) == {"=mark"}:  # "mark it as open" completes nothing
        said = spoken(sentence.text, sentence.tag)
        return any(state(w.text, sentence.tag) & known.commands for w in said)
    if not takes_text(match) or names_matter(sentence, match, index) or _is_quoted(sentence):
        return True
    return _is_told(sentence, match) or _is_alone(sentence, match, index)


def is_example(sentence: Sentence, match: Match) -> bool:
    """Whether the function's author gives just these words as an example."""
    said = fold(sentence.text.strip(" .!?"))
    return any(said == fold(e.strip(" .!?")) for e in match.tool.examples)


def _asked(sentence: Sentence) -> set[str]:
    """What the verb means."""
    verb = sentence.verb
    return {c for c in concepts(verb.text, sentence.tag) if c[0] == "="} if verb else set()


def _is_told(sentence: Sentence, match: Match) -> bool:
    """Whether marked content is for just this: it is written down, or sent."""
    told = "=record" in _asked(sentence) or acts_on_something(match)
    return sentence.content >= 0 and told


def _is_alone(sentence: Sentence, match: Match, index: Index) -> bool:
    """Whether nothing else is asked for with the verb, and it can be nothing but a verb here."""
    verb, tag = sentence.verb, sentence.tag
    if verb is None or not only_one_asked(verb, match, index, tag):
        return False
    return sentence.content >= 0 or not (_points_behind(sentence) or has(verb, tag, "named_alike"))


def acts_on_something(match: Match) -> bool:
    """Whether a call has a thing or an address that it is about, beside its text."""
    schema = match.tool.input_schema
    return takes(schema, "id") or takes(schema, "email")


def _points_behind(sentence: Sentence) -> bool:
    """Whether the verb acts on something there is: "make that Sunday"."""
    after = _behind_verb(sentence)[:1]
    return any_has(after, sentence.tag, "reference") and not any_has(
        after, sentence.tag, "clause", "connective"
    )


def is_adjective(sentence: Sentence) -> bool:
    """ "New notes pile up", "new task from my boss: …": the word that asks may as well tell how
    something is, where more than the thing's name stands before marked content."""
    verb, tag = sentence.verb, sentence.tag
    if verb is None or any(c[0] == "=" for c in concepts(verb.text, tag)):
        return False
    told = telling(spoken(sentence.head, tag), tag)
    marked = _is_quoted(sentence) or sentence.content >= 0
    return not marked or any(w != verb and not is_thing(w, tag) for w in told)


def _is_quoted(sentence: Sentence) -> bool:
    return any(e.kind in ("quote", "email") for e in find_entities(sentence.text))


def adds_to_a_thing(sentence: Sentence, match: Match, index: Index, titles: Sequence[str]) -> bool:
    """Whether what a function makes would belong to something there is: "add to that note: …",
    "add milk to my shopping list", "add there: …", "… to my gift ideas", where `titles` has these.
    The whole of what the user has ("my list") is no one thing, and a thing named right behind the
    verb is what is made."""
    tag = sentence.tag
    if acts_on_something(match):
        return False
    if _leads_to_title(sentence, titles):
        return True
    said = _behind_verb(sentence)
    at = next((i for i, w in enumerate(said) if _is_matter(w, index, tag)), -1)
    if at < 0 or any_has(said[:2], tag, "toward"):
        return any_has(said[:2], tag, "toward")
    one = list(takewhile(lambda w: not leads_on(w, tag), reversed(said[:at])))
    if len(one) == at and not any_has(one, tag, "reference"):
        return not names_matter(sentence, match, index)
    return not any_has(one, tag, "plural_reference") and _is_of_one(sentence, one, said, at)


def _is_of_one(sentence: Sentence, one: Sequence[Word], said: Sequence[Word], at: int) -> bool:
    """Whether a thing that is led to is one of several, by what tells which or by what follows it;
    not "these tasks: …"."""
    named = said[at + 1 :] or any(e.start < sentence.content for e in find_entities(sentence.text))
    follows = sentence.content >= 0 and len(one) < at
    return _is_one(one, sentence.tag) or bool(follows and named)


def _leads_to_title(sentence: Sentence, titles: Sequence[str]) -> bool:
    """Whether the last words of what is said to the agent, behind "to" or "in", are those of a
    title, quoted or not."""
    said = words(sentence.head, sentence.tag)
    behind = list(takewhile(lambda w: not leads_on(w, sentence.tag), reversed(said)))
    told = {w.stem for w in telling(behind, sentence.tag) if not is_thing(w, sentence.tag)}
    known = ({w.stem for w in words(t, sentence.tag)} for t in titles)
    return len(behind) < len(said) and bool(told) and any(told <= title for title in known)


def _is_one(said: Sequence[Word], tag: str) -> bool:
    """Whether the words before the name of a thing tell which: "that", "shopping"."""
    asks = any(c[0] == "=" for w in said for c in concepts(w.text, tag))
    return not asks and any(not idle(w.text, tag) or has(w, tag, "reference") for w in said)


def _behind_verb(sentence: Sentence) -> list[Word]:
    verb = sentence.verb
    return [w for w in spoken(sentence.head, sentence.tag) if verb and w.start > verb.start]


def _is_matter(word: Word, index: Index, tag: str) -> bool:
    return any(v.matter & meaning(word, tag) for v in index.vocabulary.values())


def _names_somebody(sentence: Sentence, match: Match, known: Vocabulary) -> bool:
    """Whether a word that the function has no use for stands before marked content: "write to
    Jonas: …" is no note."""
    marked = sentence.content >= 0 and not takes(match.tool.input_schema, "email")
    if not marked or known.matter & _said(sentence):
        return False
    head = telling(spoken(sentence.head, sentence.tag), sentence.tag)[1:]
    return any(
        w.stem not in known.known
        and not points_back(w, sentence.tag)
        and not has(w, sentence.tag, "connective")
        for w in head
    )


def _said(sentence: Sentence) -> set[str]:
    """What the words of the head mean, less the verb."""
    said = (w for w in spoken(sentence.head, sentence.tag) if w != sentence.verb)
    return set().union(*(meaning(w, sentence.tag) for w in said))
