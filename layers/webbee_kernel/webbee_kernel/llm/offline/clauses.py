"""Where one sentence asks for two things."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import lru_cache

from ... import language
from .choosing import asked_for, best, ranked
from .conversation import Conversation
from .entities import find_entities, find_numbers
from .filling import fill
from .speech import Sentence, sentences
from .words import any_has, concepts, words

STRONG = 3.0
"""Least score of either half of `X and Y`."""

THEN = 2.0
"""The same of `X, then Y`."""

CLAUSES = 10
"""Calls of one message at most, and places at which a cut is tried."""

_ASKING = ("command", "request", "question")


def clauses(talk: Conversation, sentence: Sentence) -> Iterator[Sentence]:
    """The sentence cut at `and then` where both halves ask for something, at a plain `and` only
    where the second is complete by itself."""
    start, text = 0, sentence.text
    if items := _listed(talk, sentence):
        for item in items:
            yield replace(sentence, text=f"{sentence.head.rstrip()} {item}")
        return
    for cut in list(_cuts(text, talk.tag))[:CLAUSES]:
        halves = text[start : cut.start()], text[cut.end() :]
        if 0 <= sentence.content < cut.start() and not cut["then"]:
            continue
        first, second = (sentences(h, talk.tag, talk.leads)[:1] for h in halves)
        if first and second and _both(talk, first[0], second[0], then=bool(cut["then"])):
            yield first[0]
            start = cut.end()
    rest = sentence if not start else next(iter(sentences(text[start:], talk.tag, talk.leads)))
    yield rest


def _listed(talk: Conversation, sentence: Sentence) -> list[str]:
    """The items of "add these: …, …" and of "add three things: …, … and …"."""
    content = sentence.text[sentence.content :].strip(" .?!") if sentence.content >= 0 else ""
    items = [
        i
        for i in re.split(rf"[,;]\s+(?:{_and(talk.tag)}\s+)?|\s+{_and(talk.tag)}\s+", content)
        if i
    ]
    counted = {float(n.value) for n in find_numbers(sentence.head, talk.tag)}
    several = any_has(words(sentence.head, talk.tag), talk.tag, "plural_reference", "plurals")
    return items if len(items) > 1 and (several or len(items) in counted) else []


def _and(tag: str) -> str:
    return "(?:{})".format("|".join(map(re.escape, sorted(language.of(tag).words.forms("and_")))))


def _both(talk: Conversation, first: Sentence, second: Sentence, *, then: bool) -> bool:
    if first.act not in _ASKING or second.act not in _ASKING or _is_slip(talk, second):
        return False
    least = THEN if then else STRONG
    one = asked_for(first, talk.index, talk.apps, least) or best(ranked(first, talk.index), least)
    if one is None:
        return False
    other = asked_for(second, talk.index, [one.tool.app_id], least)
    if other is None:
        return False
    known = talk.index.vocabulary[other.tool.name]
    return then or not fill(other.tool, second, talk.reading, known).missing


def _is_slip(talk: Conversation, sentence: Sentence) -> bool:
    """Whether only a slip of the hand makes its verb one: "bread" is not "read"."""
    verb = sentence.verb
    known = talk.leads.asking | talk.leads.reporting
    return verb is not None and verb.text not in known and not concepts(verb.text, talk.tag)


def _cuts(text: str, tag: str) -> Iterator[re.Match[str]]:
    quotes = [e for e in find_entities(text) if e.kind == "quote"]
    for m in _joints(tag).finditer(text):
        if not any(q.start < m.start() < q.end for q in quotes):
            yield m


@lru_cache(maxsize=16)
def _joints(tag: str) -> re.Pattern[str]:
    """`and`, `, then`, `and after that`: where a sentence may be cut."""
    spoken = language.of(tag).words
    joined = "|".join(map(re.escape, sorted(spoken.forms("and_")))) or "(?!)"
    then = "|".join(map(re.escape, sorted(spoken.forms("sequence")))) or "(?!)"
    fillers = "|".join(map(re.escape, sorted(spoken.forms("reference"), key=len, reverse=True)))
    return re.compile(
        rf",?\s+(?:(?:{joined})\s+)?(?P<then>(?:{then})(?:\s+(?:{fillers}))?)\s+"
        rf"|,?\s+(?:{joined})\s+",
        re.IGNORECASE,
    )
