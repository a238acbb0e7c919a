"""What a message does: command, request, question, prohibition, supposition, remark, greeting.

Decided before any function is chosen, from the words' roles in their language. Only a command may
lead to an effect, and being one takes evidence: a verb in a form that commands, where commands
stand, in a sentence that neither asks nor denies nor supposes nor tells what others said. What
comes close (a polite question, a wish, an infinitive, a slip of the hand) is a request: it is done
after a yes. Everything else changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from ... import language
from .entities import find_entities
from .matching import Index
from .words import Word, concepts, has, idle, near, words

Act = Literal[
    "command",
    "request",
    "question",
    "prohibition",
    "supposition",
    "remark",
    "greeting",
    "thanks",
    "yes",
    "no",
]

_STOP = re.compile(r"[.!?…]+(?=\s|$)|[;\n]")
_COLON = re.compile(r":(?=\s|[«“\"„])")
_PAUSE = re.compile(r"[,–—:](?=\s|$)|\s-\s")
SENTENCES = 20


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


@dataclass(frozen=True, slots=True)
class Leads:
    """Words, in their exact forms, that ask a catalogue's functions for something."""

    asking: frozenset[str]
    reporting: frozenset[str]

    @staticmethod
    def of(index: Index) -> Leads:
        """Of all functions of a catalogue."""
        vocabularies = index.vocabulary.values()
        return Leads(
            frozenset().union(*(v.leads for v in vocabularies)),
            frozenset().union(*(v.reports for v in vocabularies)),
        )


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
    act, verb = _Reading(head, said, tag, leads, asks=asks or head.rstrip().endswith("?")).act()
    if verb and marked < 0 and act in ("command", "request"):
        marked = _clause_after(verb, said, tag)
    return Sentence(text, tag, act, verb, marked)


def _clause_after(verb: Word, said: Sequence[Word], tag: str) -> int:
    """Where the clause of "note that I …" begins; -1 where the word behind the verb points at a
    thing ("archive that message")."""
    after = [w for w in said if w.start > verb.start][:2]
    if len(after) < 2 or not has(after[0], tag, "clause"):
        return -1
    follows = after[1]
    thing = any(c[0] == "#" for c in concepts(follows.text, tag))
    begins = has(follows, tag, "first_person", "others", "article") or not idle(follows.text, tag)
    return after[0].end if begins and not thing else -1


def _heard(text: str, tag: str) -> list[Word]:
    """The words outside quotations, addresses, links."""
    entities = [e for e in find_entities(text) if e.kind != "date"]
    return [w for w in words(text, tag) if not any(e.start <= w.start < e.end for e in entities)]


class _Reading:
    """One sentence's words, read for what they do."""

    def __init__(
        self, text: str, said: Sequence[Word], tag: str, leads: Leads, *, asks: bool
    ) -> None:
        self.text, self.tag, self.leads, self.asks = text, tag, leads, asks
        self.said = list(said)
        self.words = language.of(tag).words
        self.rest = self._opened(self.said)

    def act(self) -> tuple[Act, Word | None]:
        """The first that applies; the order is the rule."""
        if not self.rest:
            return self._courtesy(), None
        if self._denies():
            return "prohibition", None
        if any(has(w, self.tag, "hypothetical") for w in self.said):
            return "supposition", None
        polite = self._polite()
        if polite:
            return "request", polite
        if self.asks or has(self.rest[0], self.tag, "question", "auxiliary"):
            return "question", None
        return self._asked()

    def _courtesy(self) -> Act:
        """A message of nothing but openers."""
        acts: tuple[Act, ...] = ("greeting", "thanks", "yes", "no")
        return next((a for a in acts if any(has(w, self.tag, a) for w in self.said)), "remark")

    def _denies(self) -> bool:
        """Whether a word forbids or denies. "No, …" at the beginning answers and denies nothing."""
        said = self.said
        if said and has(said[0], self.tag, "no") and self._pause_after(said[0]):
            said = said[1:]
        return any(has(w, self.tag, "negation", "prohibition") for w in said)

    def _polite(self) -> Word | None:
        """The verb of "could you …" where one follows."""
        able = next((i for i, w in enumerate(self.rest) if has(w, self.tag, "ability")), None)
        if able is None or not (self.asks or able == 0):
            return None
        after = [w for w in self.rest[able + 1 :] if not has(w, self.tag, "others", "opener")]
        if not language.of(self.tag).free_order:
            spoken_to = able + 1 < len(self.rest) and has(self.rest[able + 1], self.tag, "others")
            return after[0] if spoken_to and after and self._commands(after[0]) else None
        return next((w for w in self.rest if self._infinite(w) or self._commands(w)), None)

    def _asked(self) -> tuple[Act, Word | None]:
        """A sentence that is neither question nor denial: what it asks for, if anything."""
        verb, certain = self._verb()
        if verb is not None:
            if self._told_by_others(verb):
                return "remark", None
            stated = (
                any(w.start > verb.start and has(w, self.tag, "copula") for w in self.said)
                and not language.of(self.tag).free_order
            )
            return ("command" if certain and not stated else "request"), verb
        if any(has(w, self.tag, "question") for w in self.rest):
            return "question", None
        if self.said and has(self.said[0], self.tag, "greeting"):
            return "greeting", None
        if self.said and has(self.said[0], self.tag, "thanks"):
            return "thanks", None
        return "remark", None

    def _told_by_others(self, verb: Word) -> bool:
        """Whether the verb stands in what somebody else said or wrote: after a word of saying, or
        after a colon behind anything but openers."""
        before = [w for w in self.said if w.end <= verb.start]
        if any(has(w, self.tag, "saying") for w in before):
            return True
        colon = self.text.rfind(":", 0, verb.start)
        return any(not idle(w.text, self.tag) for w in self._opened(before) if w.end <= colon)

    def _verb(self) -> tuple[Word | None, bool]:
        """The word that commands and whether that is certain. Where a language leaves the order of
        words free, an imperative may stand anywhere; else it comes first, or first after a pause.
        """
        if language.of(self.tag).free_order:
            for word in self.rest:
                if self._commands(word) or word.text in self.leads.reporting:
                    return word, True
        for part in self._parts():
            if found := self._beginning(part):
                return found
        return None, False

    def _beginning(self, part: list[Word]) -> tuple[Word, bool] | None:
        """What a part of the sentence begins with, if that asks for something."""
        rest = self._opened(part)
        first = next((w for w in rest if not idle(w.text, self.tag)), None)
        if not rest or first is None:
            return None
        if self._commands(rest[0]) or (first.text in self.leads.asking and first is rest[0]):
            return rest[0], True
        if language.of(self.tag).free_order and first.text in self.leads.asking:
            return first, True
        if first.text in self.leads.reporting and self._by_speaker(rest, first):
            return first, True
        if self._infinite(rest[0]):
            return rest[0], False
        wished = self._wished(rest)
        if wished is not None:
            return wished, False
        if any(near(rest[0].text, lead) for lead in (*self.leads.asking, *self._imperatives())):
            return rest[0], False
        return None

    def _by_speaker(self, rest: list[Word], verb: Word) -> bool:
        return all(has(w, self.tag, "first_person", "opener") for w in rest if w.start < verb.start)

    def _wished(self, rest: list[Word]) -> Word | None:
        """The verb of "I would like you to …"."""
        wishes = [i for i, w in enumerate(rest[:4]) if has(w, self.tag, "wish")]
        wish = wishes[-1] if wishes else None
        if wish is None or any(
            not idle(w.text, self.tag) and not has(w, self.tag, "wish") for w in rest[:wish]
        ):
            return None
        after = [w for w in rest[wish + 1 :] if not idle(w.text, self.tag)]
        if after and (self._commands(after[0]) or self._infinite(after[0])):
            return after[0]
        return None

    def _parts(self) -> list[list[Word]]:
        """The words between pauses."""
        cuts = [m.start() for m in _PAUSE.finditer(self.text)]
        parts: dict[int, list[Word]] = {}
        for word in self.said:
            parts.setdefault(sum(cut < word.start for cut in cuts), []).append(word)
        return list(parts.values())

    def _opened(self, said: Sequence[Word]) -> list[Word]:
        """The words without those that may stand before a command."""
        rest = list(said)
        while rest and (
            has(rest[0], self.tag, "opener", "greeting", "thanks", "yes")
            or (has(rest[0], self.tag, "no") and (len(rest) == 1 or self._pause_after(rest[0])))
        ):
            if self._commands(rest[0]) and len(rest) > 1 and not has(rest[0], self.tag, "opener"):
                break
            rest.pop(0)
        return rest

    def _pause_after(self, word: Word) -> bool:
        return bool(re.match(r"\s*[,.!;–—-]", self.text[word.end :]))

    def _imperatives(self) -> frozenset[str]:
        return frozenset(self.words.meanings("commands"))

    def _commands(self, word: Word) -> bool:
        return word.text in self._imperatives()

    def _infinite(self, word: Word) -> bool:
        return word.text in self.words.meanings("infinitives")


def is_yes(text: str, tag: str) -> bool:
    """Whether the message is a yes and nothing else."""
    said = words(text, tag)
    return (
        bool(said)
        and all(has(w, tag, "yes", "yes_filler", "opener") for w in said)
        and any(has(w, tag, "yes") for w in said)
    )
