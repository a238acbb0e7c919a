"""What a sentence does: command, request, question, prohibition, supposition, remark, greeting.

Decided before any function is chosen, from the words' roles in their language. Only a command may
lead to an effect, and being one takes evidence: a verb in a form that commands, where commands
stand, in a sentence that neither asks nor denies nor supposes nor tells what others said. What
comes close (a polite question, a wish, an infinitive, a slip of the hand) is a request: it is done
after a yes. Everything else changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ... import language
from .matching import Index
from .words import Word, any_has, concepts, has, idle, near

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

_FEW = 3  # words of a sentence that is all thanks or greeting where one of them is

_BARE = 2  # words of "did it", which asks nothing

_PAUSE = re.compile(r"[,–—:](?=\s|$)|\s-\s")


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


class Heard:
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
        if has(self.rest[0], self.tag, "question"):
            return "question", None  # "what is not done yet?"
        if self._denies():
            return self._denial(), None
        if any(has(w, self.tag, "hypothetical") for w in self.said):
            return "supposition", None
        polite = self._polite()
        if polite:
            return "request", polite
        if self.asks or (len(self.rest) > _BARE and has(self.rest[0], self.tag, "auxiliary")):
            return "question", None
        return self._asked()

    def _courtesy(self) -> Act:
        """A message of nothing but openers."""
        acts: tuple[Act, ...] = ("greeting", "thanks", "yes", "no")
        return next((a for a in acts if any(has(w, self.tag, a) for w in self.said)), "remark")

    def _denial(self) -> Act:
        """ "… or not?" forbids nothing."""
        return "question" if self.asks else "prohibition"

    def _denies(self) -> bool:
        """Whether a word forbids or denies. "No, …" at the beginning answers and denies nothing."""
        said = self.said
        if said and has(said[0], self.tag, "no") and self._pause_after(said[0]):
            said = said[1:]
        return any(has(w, self.tag, "negation", "prohibition") for w in said)

    def _polite(self) -> Word | None:
        """The verb of "could you …" where one follows."""
        able = next((i for i, w in enumerate(self.rest) if has(w, self.tag, "ability")), -1)
        if able < 0 or (able and not (self.asks or language.of(self.tag).free_order)):
            return None
        if language.of(self.tag).free_order:
            return next((w for w in self.rest if self._asks_for(w)), None)
        return self._after_you(self.rest[able + 1 :])

    def _after_you(self, after: list[Word]) -> Word | None:
        if not any_has(after[:1], self.tag, "others"):
            return None
        told = (w for w in after if not has(w, self.tag, "others", "opener"))
        verb = next(told, None)
        return verb if verb and self._commands(verb) else None

    def _asked(self) -> tuple[Act, Word | None]:
        """A sentence that is neither question nor denial: what it asks for, if anything."""
        verb, certain = self._verb()
        if verb is not None and self._told_by_others(verb):
            return "remark", None
        if verb is not None and (asked := self._reminded(verb)):
            return asked
        if verb is not None:
            return ("command" if certain and not self._stated(verb) else "request"), verb
        if any_has(self.rest, self.tag, "question"):
            return "question", None
        begun: tuple[Act, ...] = ("greeting", "thanks")
        most = len(self.said) if len(self.said) <= _FEW else 1
        return next((a for a in begun if any_has(self.said[:most], self.tag, a)), "remark"), None

    def _reminded(self, verb: Word) -> tuple[Act, Word | None] | None:
        """ "Remind me what I wrote", "tell me what she asked" ask; where the word may begin a
        clause as well, it is asked which of both is meant."""
        after = [w for w in self.said if w.start > verb.start]
        behind = next(
            (w for w in after if not has(w, self.tag, "first_person", "connective")), verb
        )
        meant = concepts(verb.text, self.tag)
        if meant & {"=remind", "=tell"} and has(behind, self.tag, "question"):
            return "question", None
        if "=remind" not in meant:
            return None
        clause = any(has(w, self.tag, "clause") for w in after[:2])
        return ("request", verb) if clause else None

    def _stated(self, verb: Word) -> bool:
        """Whether the sentence tells how something is ("note taking is hard") where a language
        marks
        commands by their place alone."""
        after = [w for w in self.said if w.start > verb.start]
        return not language.of(self.tag).free_order and any_has(after, self.tag, "copula")

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
        verb = self._imperative() if language.of(self.tag).free_order else None
        parts = [rest for part in self._parts() if (rest := self._opened(part))]
        verb = verb or next((w for rest in parts if (w := self._certain(rest))), None)
        if verb is not None:
            return verb, True
        return next((w for rest in parts if (w := self._likely(rest))), None), False

    def _imperative(self) -> Word | None:
        asking = self._imperatives() | self.leads.reporting
        return next((w for w in self.rest if w.text in asking), None)

    def _certain(self, rest: list[Word]) -> Word | None:
        """The word with which a part of the sentence commands."""
        if self._commands(rest[0]):
            return rest[0]
        first = next((w for w in rest if not idle(w.text, self.tag)), None)
        if first is None or first.text not in self.leads.asking | self.leads.reporting:
            return None
        asks = first.text in self.leads.asking
        may = first is rest[0] or language.of(self.tag).free_order
        return first if (may if asks else self._by_speaker(rest, first)) else None

    def _likely(self, rest: list[Word]) -> Word | None:
        """The word with which it may ask: a bare verb, a wish, a slip of the hand."""
        if self._infinite(rest[0]):
            return rest[0]
        known = (*self.leads.asking, *self._imperatives())
        slip = rest[0] if any(near(rest[0].text, lead) for lead in known) else None
        return self._wished(rest) or slip

    def _by_speaker(self, rest: list[Word], verb: Word) -> bool:
        return all(has(w, self.tag, "first_person", "opener") for w in rest if w.start < verb.start)

    def _wished(self, rest: list[Word]) -> Word | None:
        """The verb of "I would like you to …"."""
        wish = max((i for i, w in enumerate(rest[:4]) if has(w, self.tag, "wish")), default=-1)
        told = [w for w in rest if not idle(w.text, self.tag) and not has(w, self.tag, "wish")]
        if wish < 0 or not told or told[0].start < rest[wish].start:
            return None
        return told[0] if self._asks_for(told[0]) else None

    def _asks_for(self, word: Word) -> bool:
        return word.text in self.leads.asking or self._commands(word) or self._infinite(word)

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
            if self._inverted(rest):
                break
            rest.pop(0)
        return rest

    def _inverted(self, rest: Sequence[Word]) -> bool:
        """ "Do I have mail": no yes stands before it."""
        subject = any_has(rest[1:2], self.tag, "first_person")
        return subject and has(rest[0], self.tag, "auxiliary")

    def _pause_after(self, word: Word) -> bool:
        return bool(re.match(r"\s*[,.!;–—-]", self.text[word.end :]))

    def _imperatives(self) -> frozenset[str]:
        return frozenset(self.words.meanings("commands"))

    def _commands(self, word: Word) -> bool:
        return word.text in self._imperatives()

    def _infinite(self, word: Word) -> bool:
        return word.text in self.words.meanings("infinitives")
