"""A message understood: its sentences, what each does, the calls that follow; and an answer to our
own question, with what it was asked about."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import takewhile

from ... import language
from ..protocol import ToolSpec
from . import looking, recall, replies
from .answering import Asked, taken_back
from .certainty import adds_to_a_thing, is_adjective, is_example, is_specific
from .choosing import asked_for, is_effect, names_matter, nearest
from .clauses import clauses
from .conversation import Planned
from .entities import find_dates
from .filling import identity
from .matching import Match, tag_of, telling
from .remarks import Remarks
from .speech import Sentence, is_plain, is_taken_back, sentences
from .words import Word, has, meaning, points_back, words

_PAUSE = re.compile(r"[,;\u2013\u2014](?=\s)")


class Understanding(Remarks):
    """From sentences to calls."""

    def plan(self) -> None:
        """The message itself; where it answers our own question, with what it was asked about."""
        message = self.reading.message
        before, reply = self._turn_before()
        ours = replies.question_of_ours(reply)
        if ours == "shall_i" and is_plain(message, self.tag, "yes"):
            self.tag, self.agreed = language.detect(before, self.tag), True
            self._read(before)
            self.planned = self.planned or [replace(p, sure=True) for p in self.offered]
            return
        if ours and is_plain(message, self.tag, "no"):
            self.say(language.of(language.detect(before, self.tag)).say("nothing_done"))
            return
        if told := taken_back(message, self.tag, self.reading, self.index):
            self.say(told)
            return
        if (
            ours not in ("", *replies.CLOSED)
            and self._is_an_answer(message)
            and self._resume(before, message, ours)
        ):
            return
        self._read(message)

    def _turn_before(self) -> tuple[str, str]:
        """What we said last, and what it was first said to: a question may be asked again."""
        turns = self.reading.turns
        alike = [*takewhile(lambda turn: turn[1] == turns[0][1], turns)]
        return alike[-1] if alike else ("", "")

    def _is_an_answer(self, message: str) -> bool:
        """Whether nothing in the message asks for anything by itself."""
        found = sentences(message, self.tag, self.leads)
        return not message.rstrip().endswith("?") and all(
            s.act in ("remark", "question", "yes") for s in found
        )

    def _resume(self, before: str, answer: str, ours: str) -> bool:
        """Plan the message before with this answer to our question about it; whether that is
        enough."""
        if ours == "needs":
            self._read(f"{before} {answer}")
        else:
            self._read(before)
        if ours == "one_of_these":
            self.planned = [p for p in self._chosen(answer) if not p.filled.missing]
        elif ours == "which_one":
            self._choose_thing(answer)
        if self.planned and not any(p.filled.missing for p in self.planned):
            return True
        self._forget()
        return False

    def _forget(self) -> None:
        self.planned.clear()
        self.earlier.clear()
        self.offered.clear()
        self.text, self.looks = "", None

    def _chosen(self, answer: str) -> list[Planned]:
        """The offered reading that the answer names, by its place or by what it is about."""
        said = words(answer, self.tag)
        place = recall.reference(said, self.tag)
        if place and place.position is not None:
            return [replace(p, sure=True) for p in self.offered[place.position :][:1]]
        told = [w for w in telling(said, self.tag) if not points_back(w, self.tag)]
        named = [p for p in self.offered if told and all(self._names(p.tool, w) for w in told)]
        return [replace(p, sure=True) for p in named] if len(named) == 1 else []

    def _names(self, tool: ToolSpec, word: Word) -> bool:
        """Whether a word of an answer says no more than which function is meant."""
        known = self.index.vocabulary[tool.name].matter | {f"={tool.fn_name}"}
        return bool(meaning(word, self.tag) & known) or has(word, self.tag, "opener", "yes")

    def _choose_thing(self, answer: str) -> None:
        """Settle the call that lacked its thing by the answer: its place, its words, its day."""
        days = (e.value for e in find_dates(answer, self.tag, self.reading.at))
        said = words(" ".join([answer, *days]), self.tag)
        place = recall.reference(said, self.tag)
        for call in self.planned:
            found = self.candidates(call)
            if place and place.position is not None:
                chosen = found[place.position :][:1]
            else:
                rows = looking.newest_rows(self.reading.facts, said, call.tool.app_id)
                ids = [r.id for r in found]
                chosen = looking.best([r for r in rows if r.id in ids])
            if len(chosen) == 1:
                self.settle(call, chosen[0])

    def _read(self, message: str) -> None:
        found = [self._as_given(s) for s in sentences(message, self.tag, self.leads)]
        held = any(s.act in ("prohibition", "supposition") for s in found)
        for sentence in found:
            if self.agreed and sentence.act == "request":
                sentence = replace(sentence, act="command")
            if is_taken_back(sentence, self.tag):
                self._forget()
            for clause in clauses(self, sentence):
                self._clause(clause, held=held)

    def _as_given(self, sentence: Sentence) -> Sentence:
        """What a function's author gives as an example supposes nothing: "warn me if …"."""
        given = any(is_example(sentence, Match(t, 0.0, 0.0)) for t in self.tools)
        verb = next(iter(telling(words(sentence.text, self.tag), self.tag)), None)
        if sentence.act != "supposition" or not given:
            return sentence
        return replace(sentence, act="request", verb=verb)

    def _is_sure(self, sentence: Sentence, match: Match) -> bool:
        """Whether just this is commanded, in a language whose words for "not" are known."""
        denies = bool(language.of(self.tag).words.forms("negation"))
        certain = sentence.act == "command" and denies and self._speaks(match)
        return certain and (is_example(sentence, match) or self._is_its_own(sentence, match))

    def _is_its_own(self, sentence: Sentence, match: Match) -> bool:
        """Whether nothing but this function is meant."""
        alone = is_specific(sentence, match, self.index) and not is_adjective(sentence)
        adds = adds_to_a_thing(sentence, match, self.index, self.reading.titles)
        return alone and not adds

    def _asks_for_effects(self, sentence: Sentence) -> bool:
        return any(is_effect(m) for m in nearest(sentence, self.index, self.context()))

    def _speaks(self, match: Match) -> bool:
        """Whether the function's author wrote in this language: names and descriptions are English,
        examples are in any."""
        return self.tag == "en" or any(tag_of(e) == self.tag for e in match.tool.examples)

    def _clause(self, sentence: Sentence, *, held: bool) -> None:
        if sentence.act in ("command", "request"):
            answered = self._asked(sentence, held=held)
        elif sentence.act == "question":
            self.question(sentence)
            answered = True
        elif sentence.act == "remark":
            answered = self._told(sentence)
        else:
            answered = sentence.act == "prohibition" and self._beside(sentence)
        if not answered:
            self.say(self.words_for(sentence))

    def _told(self, sentence: Sentence) -> bool:
        """Whether a remark asks for something, or belongs to the question before it."""
        if self.looks and not self.planned:
            self.looks = self.looks.beside(sentence)
            return True
        return self.remark(sentence)

    def _asked(self, sentence: Sentence, *, held: bool) -> bool:
        """Whether what is asked for is planned, or will be looked up."""
        about = self.app_of_thing(sentence) or self._app_that_holds(sentence)
        match = asked_for(sentence, self.index, self.context(), about=about)
        if not self.planned and self.seeks(sentence, match):
            self.looks = self.looks or Asked(sentence)
            self.say(replies.unknown(self.tools, self.tag))
        elif match and self._is_told(sentence, match):
            return self.remark(sentence)
        elif match:
            self.add(match.tool, sentence, sure=not held and self._is_sure(sentence, match))
            if not about:
                self._note_rivals(sentence, match)
        else:
            return self._shown(sentence)
        return True

    def _shown(self, sentence: Sentence) -> bool:
        """A command that no function fits: a noun phrase, or "show me what they said"."""
        if not self._asks_for_effects(sentence) and self.fragment(sentence):
            return True
        if self.shows(sentence):
            self.looks = self.looks or Asked(sentence)
        return False

    def _is_told(self, sentence: Sentence, match: Match) -> bool:
        """Whether the user only tells what he did, and names nothing that the function is about."""
        reports = sentence.verb is not None and sentence.verb.text in self.leads.reporting
        return reports and not names_matter(sentence, match, self.index)

    def _beside(self, sentence: Sentence) -> bool:
        """The commands beside a prohibition in one sentence: each is asked about; and questions."""
        parts = _PAUSE.split(sentence.text)
        for one in (s for p in parts for s in sentences(p, self.tag, self.leads)):
            if one.act in ("command", "request", "question"):
                self._clause(one, held=True)
        return bool(self.planned or self.offered or self.looks)

    def _app_that_holds(self, sentence: Sentence) -> str:
        """The app whose things, as this turn has listed them, hold the words of the sentence."""
        named = self.naming(sentence)
        apps = dict.fromkeys(f.app_id for f in self.reading.facts)
        rows = [r for a in apps for r in looking.newest_rows(self.reading.facts, named, a)]
        held = {r.app_id for r in looking.best(rows)}
        return next(iter(held)) if len(held) == 1 else ""

    def _note_rivals(self, sentence: Sentence, match: Match) -> None:
        """Where only the verb speaks for a function, other apps may hold what it is about."""
        if names_matter(sentence, match, self.index):
            return
        read = match.tool.action_type == "read"
        rivals = [
            m.tool
            for m in nearest(sentence, self.index, self.context())
            if identity(m.tool) and (m.tool.action_type == "read") is read
        ]
        if identity(match.tool):
            self.planned[-1].rivals = tuple(rivals)
