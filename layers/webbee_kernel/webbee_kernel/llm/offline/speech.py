"""A message in sentences, each with what it does and where its content begins."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from ... import language
from .acts import Act, Heard, Leads
from .entities import find_entities, outside
from .words import Word, any_has, concepts, has, idle, is_name, is_thing, words

_STOP = re.compile(r"[.!?…]+(?=\s|$)|[;\n]")
_COLON = re.compile(r":(?=\s|[«“\"„])")
_PAUSES = frozenset(",;.:\u2013\u2014-")
SENTENCES = 20
WHOM = 6  # words behind a verb of telling among which the clause begins
TELLING = frozenset("=record =remind =reply =send =tell".split())
"""What verbs mean whose content may be a clause: "note that …", no "make that …"."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a message and what it does. `verb` is the word that asks for something, `head`
    the end of what is said to the agent (behind it stands content), `content` where content begins,
    -1 without."""

    text: str
    tag: str
    act: Act
    verb: Word | None = None
    content: int = -1

    @property
    def head(self) -> str:
        """What is said to the agent."""
        return self.text if self.content < 0 else self.text[: self.content]


def sentences(text: str, tag: str, leads: Leads) -> list[Sentence]:
    """The message's sentences with their acts. From a colon behind a command, or words such as
    "saying", the rest of the message is that command's content."""
    found: list[Sentence] = []
    start = 0
    for end in _ends(text):
        if start >= end or not text[start:end].strip():
            continue
        marked = _marker(text[start:end], tag)
        one = _sentence(text[start:end], tag, leads, marked)
        if marked >= 0 and one.act in ("command", "request"):
            whole = text[start:]
            return [*found, Sentence(whole, tag, one.act, one.verb, marked)]
        if marked >= 0:
            one = _sentence(text[start:end], tag, leads, -1)
        found.append(one)
        start = end
        if len(found) == SENTENCES:
            break
    return found


def _ends(text: str) -> Iterator[int]:
    """Where sentences end, those inside quotations and addresses left out."""
    entities = find_entities(text)
    for m in _STOP.finditer(text):
        if not any(e.start <= m.start() < e.end for e in entities):
            yield m.end()
    yield len(text)


def _marker(text: str, tag: str) -> int:
    """Where content begins: behind the first colon, or behind words such as "saying"; -1 where
    nothing marks it."""
    quotes = [e for e in find_entities(text) if e.kind == "quote"]
    places = [
        m.end()
        for pattern in (_COLON, _marker_words(tag))
        for m in pattern.finditer(text)
        if not any(q.start < m.start() < q.end for q in quotes)
    ]
    return min(places, default=-1)


@lru_cache(maxsize=16)
def _marker_words(tag: str) -> re.Pattern[str]:
    spoken = language.of(tag).words
    phrases = sorted((p.replace("_", " ") for p in spoken.forms("marker")), key=len, reverse=True)
    after_pause = sorted(spoken.forms("clause"))
    choices = [rf"\b{re.escape(p)}\b" for p in phrases]
    choices += [rf",\s+{re.escape(p)}\b" for p in after_pause]
    return re.compile("|".join(choices) or r"(?!)", re.IGNORECASE)


def _sentence(text: str, tag: str, leads: Leads, marked: int) -> Sentence:
    head = text if marked < 0 else text[:marked]
    said = _heard(head, tag)
    asks = marked < 0 and text.rstrip().endswith("?") and not text.rstrip().endswith(('"?', "»?"))
    act, verb = Heard(head, said, tag, leads, asks=asks or head.rstrip().endswith("?")).act()
    if verb and marked < 0 and act in ("command", "request"):
        marked = _clause_after(verb, said, text, tag)
        if marked >= 0:
            act, verb = Heard(
                text[:marked], _heard(text[:marked], tag), tag, leads, asks=asks
            ).act()
    return Sentence(text, tag, act, verb, marked)


def _clause_after(verb: Word, said: Sequence[Word], text: str, tag: str) -> int:
    """Where the clause of "note that I …" and of "write to Ann that …" begins; -1 where the word
    behind the verb points at a thing ("archive that message")."""
    after = [w for w in said if w.start > verb.start and _may_begin(w, tag)]
    told = _told_behind(verb, after[: WHOM + 1], text, tag)
    if not told:
        return -1
    at = next((n for n in told if n and is_thing(after[n - 1], tag)), told[0])
    return after[at].end if at or _is_clause(after[at + 1], tag) else -1


def _told_behind(verb: Word, after: Sequence[Word], text: str, tag: str) -> list[int]:
    """Where among these words what the verb tells may begin."""
    places = [n for n, w in enumerate(after[:-1]) if has(w, tag, "clause")]
    return [n for n in places if _tells(verb, after[n - 1 : n], text, tag)]


def _is_clause(word: Word, tag: str) -> bool:
    """Whether a clause may begin with it; behind a verb, "that message" is none."""
    begins = has(word, tag, "first_person", "others", "article") or not idle(word.text, tag)
    return begins and not is_thing(word, tag)


def _tells(verb: Word, whom: Sequence[Word], text: str, tag: str) -> bool:
    """Whether a clause is what the verb tells; of a verb that makes something, behind what it
    makes. `whom`: the word before the clause, which for others is somebody."""
    meant = concepts(verb.text, tag)
    makes = not meant.isdisjoint({"=create", "=record"})
    if any(is_thing(w, tag) for w in whom):
        return makes
    return (not meant or not meant.isdisjoint(TELLING)) and all(
        is_name(w, text, tag) or has(w, tag, "toward") for w in whom
    )


def _may_begin(word: Word, tag: str) -> bool:
    """No "down" of "jot down that"."""
    return has(word, tag, "clause") or not has(word, tag, "connective")


def _heard(text: str, tag: str) -> list[Word]:
    """The words outside quotations, addresses, links."""
    return outside(words(text, tag), [e for e in find_entities(text) if e.kind != "date"])


def is_taken_back(sentence: Sentence, tag: str) -> bool:
    """Whether it begins by taking back what was said before it: "no, just …"."""
    said = words(sentence.text, tag)
    return (
        sentence.act in ("command", "request", "question")
        and any_has(said[:1], tag, "no")
        and sentence.text[said[0].end :].lstrip()[:1] in _PAUSES
    )


def is_plain(text: str, tag: str, answer: str) -> bool:
    """Whether the message is a `yes`, or a `no`, and nothing else."""
    said = words(text, tag)
    beside = all(has(w, tag, answer, f"{answer}_filler", "opener") for w in said)
    return beside and any_has(said, tag, answer)
