"""Questions and remarks: a read, words from what the prompt holds, or a question of our own; never
an effect at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import language
from ..protocol import ToolSpec
from . import answering, recall, replies
from .choosing import MATTER, MATTER_COVERAGE, best, names_matter, ranked
from .conversation import Conversation, Planned
from .entities import find_entities
from .filling import Filled, fill
from .looking import naming, reads_one
from .matching import Match, telling
from .schema import arguments_of, takes
from .speech import Sentence
from .words import Word, any_has, has, is_thing, meaning, ordinals, state, words

LIKE_AN_EXAMPLE = 0.7
"""Likeness from which a question is one of a function's examples."""

STATED = 7
"""Words of a remark that tells a thing's state at most."""

FRAGMENT = 5
"""Words of a noun phrase that is read as "show me …" at most."""


class Questions(Conversation):
    """What is no command, answered."""

    def remark(self, sentence: Sentence) -> bool:
        """Whether a remark asks for something after all: in half a sentence, or by telling what is
        done."""
        return (
            self._again(sentence)
            or self._next_one(sentence)
            or self._headed(sentence)
            or self._state_told(sentence)
            or self.fragment(sentence)
            or self._thing_told(sentence)
        )

    def _thing_told(self, sentence: Sentence) -> bool:
        """A remark about a thing that was shown: what is to be done with it?"""
        told = [
            w
            for w in telling(words(sentence.text, self.tag), self.tag)
            if not has(w, self.tag, "opener", "first_person")
        ]
        for fact in self.reading.facts[:2] if 0 < len(told) <= FRAGMENT else ():
            mine = [
                t for t in self.tools if t.app_id == fact.app_id and takes(t.input_schema, "id")
            ]
            if mine and recall.named([fact], "id", told):
                self.say(replies.one_of_these(mine, self.tag, len(mine)))
                return True
        return False

    def _headed(self, sentence: Sentence) -> bool:
        """ "New task: …": the name of what a function makes, and its text."""
        head, colon, _ = sentence.text.partition(":")
        said = telling(words(head, self.tag), self.tag)
        if not colon or not 0 < len(said) < STATED // 2 or not is_thing(said[-1], self.tag):
            return False
        headed = replace(sentence, act="request", verb=said[-1], content=len(head) + 1)
        for tool in (t for t in self.tools if t.action_type == "write"):
            known = self.index.vocabulary[tool.name]
            makes = "=create" in known.concepts and meaning(said[-1], self.tag) & known.matter
            if makes and takes(tool.input_schema, "text", required=True):
                self.add(tool, headed, sure=False)
                return True
        return False

    def _next_one(self, sentence: Sentence) -> bool:
        """ "And the third": the last call once more, for another thing."""
        tool = self._last_call() if self._says_a_place_only(sentence) else None
        if tool is None or not takes(tool.input_schema, "id"):
            return False
        self.add(tool, sentence, sure=False)
        return True

    def _says_a_place_only(self, sentence: Sentence) -> bool:
        said = words(sentence.text, self.tag)
        place = recall.reference(said, self.tag)
        fillers = ("opener", "reference", "again", "article", "and_", "plural_reference")
        more = [w for w in telling(said, self.tag) if not has(w, self.tag, *fillers)]
        listed = all(w.stem in ordinals(self.tag) or w.text.isdecimal() for w in more)
        return listed and place is not None and place.position is not None

    def _last_call(self) -> ToolSpec | None:
        """The function of the newest fact."""
        fact = next(iter(self.reading.facts), None)
        done = (fact.app_id, fact.fn_name) if fact else ("", "")
        return next((t for t in self.tools if (t.app_id, t.fn_name) == done), None)

    def add(self, tool: ToolSpec, sentence: Sentence, *, sure: bool = True) -> None:
        """Plan a call. A read that lacks its thing shows the one that is spoken of: that harms
        nobody."""
        super().add(tool, sentence, sure=sure)
        lacks = tool.action_type == "read" and self.planned[-1].filled.missing
        if lacks and (call := self._look_again()):
            self.planned[-1] = call

    def question(self, sentence: Sentence) -> None:
        """Never an effect: a read, or words from what the prompt holds."""
        asked = answering.Asked(sentence)
        fitting = ranked(sentence, self.index, self.context())
        reads = [m for m in fitting if m.tool.action_type == "read"]
        if self._about_me(asked):
            self.say(replies.capabilities(self.tools, self.tag))
        elif reads and reads[0].likeness >= LIKE_AN_EXAMPLE:
            self.add(reads[0].tool, sentence)
        elif not self._lists(asked, reads) and (text := self._known(asked, fitting)):
            self.say(text)
        elif not self._look_up(asked, sentence, reads):
            self.looks = self._of_the_user(asked)
            related = any(names_matter(sentence, m, self.index) for m in fitting)
            known = language.of(self.tag).say("not_known")
            self.say(known if related else replies.unknown(self.tools, self.tag))

    def _of_the_user(self, asked: answering.Asked) -> bool:
        """Whether a question may be about what the user has: it tells something, or "I", and asks
        nothing of "you"."""
        you = (w for w in asked.said if has(w, self.tag, "others"))
        if not all(has(w, self.tag, "toward", "question", "reference", "clause") for w in you):
            return False
        return bool(asked.telling) or any_has(asked.said, self.tag, "first_person")

    def _lists(self, asked: answering.Asked, reads: Sequence[Match]) -> bool:
        """ "Which notes are there?", where a read lists them: it knows more than the overview."""
        match = best(reads) if "which" in asked.wants and not self._says_of_one(asked) else None
        return match is not None and not takes(match.tool.input_schema, "id")

    def _says_of_one(self, asked: answering.Asked) -> bool:
        return recall.reference(asked.said, self.tag) is not None

    def _look_up(self, asked: answering.Asked, sentence: Sentence, reads: Sequence[Match]) -> bool:
        """Plan the read that may answer: the one that fits, else one that the words fill, else of
        what is spoken of. One that lacks its thing is left where words name it."""
        tool = self._read_for(sentence, reads)
        if (tool is None or self._lacks(tool, sentence)) and _tells_whose(sentence):
            tool = self._by_its_values(sentence, reads) or tool
        if tool is None or self._lacks(tool, sentence):
            if call := self._look_again():
                self.planned.append(call)
                return True
        if tool is None or (self._lacks(tool, sentence) and naming(asked)):
            return False
        self.add(tool, sentence)
        return True

    def _lacks(self, tool: ToolSpec, sentence: Sentence) -> bool:
        known = self.index.vocabulary[tool.name]
        return bool(fill(tool, sentence, self.reading, known, self.earlier).missing)

    def _about_me(self, asked: answering.Asked) -> bool:
        """ "What can you do?", "who are you?"."""
        if asked.telling:
            return False
        addressed = any_has(asked.said, self.tag, "others")
        pointing = recall.reference(asked.said, self.tag) is not None
        return any_has(asked.said, self.tag, "ability") or (addressed and not pointing)

    def _known(self, asked: answering.Asked, fitting: Sequence[Match]) -> str:
        """What the prompt itself holds for a question."""
        effect = answering.about_an_effect(asked, self.index, fitting)
        if effect and any_has(asked.said, self.tag, "ability", "manner"):
            return replies.able(effect, self.tag)
        if text := answering.from_facts(asked, self.reading.facts):
            return text
        doer = any_has(asked.said, self.tag, "first_person", "others", "copula", "toward")
        if effect and doer and not asked.wants & {"count", "which"}:
            return answering.done_before(effect, self.reading, asked)
        return answering.from_overview(asked, self.reading.overview)

    def _read_for(self, sentence: Sentence, reads: Sequence[Match]) -> ToolSpec | None:
        """The read that fits: one whose matter is named needs less evidence. Else one of the newest
        app that the words are a value of ("what's left?"), or that takes what they point at."""
        named = [m for m in reads if names_matter(sentence, m, self.index)]
        if match := best(reads) or best(named, MATTER, MATTER_COVERAGE):
            return match.tool
        newest = next(iter(self.apps), "")
        mine = [t for t in self.tools if t.action_type == "read" and t.app_id == newest]
        return next((t for t in mine if self._half_said(sentence, t)), None)

    def _by_its_values(self, sentence: Sentence, reads: Sequence[Match]) -> ToolSpec | None:
        """The read whose arguments the words fill best: a sender, a day, a state. Reading harms
        nobody, so one such word is enough where it tells one app from the others."""
        ordered = [m.tool for m in reads]
        ordered += [t for t in self.tools if t.action_type == "read" and t not in ordered]
        scores = {t.name: self._filled_by(sentence, t) for t in ordered}
        most = max(scores.values(), default=0)
        fitting = [t for t in ordered if most and scores[t.name] == most]
        return self._of_one_app(fitting)

    def _of_one_app(self, fitting: Sequence[ToolSpec]) -> ToolSpec | None:
        """The first of these where they are of one app; else the first of the newest app."""
        newest = next(iter(self.context()), "")
        mine = [t for t in fitting if t.app_id == newest] or fitting
        return mine[0] if len({t.app_id for t in mine}) == 1 else None

    def _filled_by(self, sentence: Sentence, tool: ToolSpec) -> int:
        """How many arguments words of the sentence name by their value, and how many words say
        what the function is about; 0 where none does the first."""
        known = self.index.vocabulary[tool.name]
        filled = fill(tool, sentence, self.reading, known)
        if filled.missing or not filled.chosen:
            return 0
        said = telling(words(sentence.text, self.tag), self.tag)
        return len(filled.chosen) + sum(bool(meaning(w, self.tag) & known.matter) for w in said)

    def _look_again(self) -> Planned | None:
        """A question that nothing answers, about the one thing that is spoken of: it is read."""
        for fact in self.reading.facts[:1]:
            for tool in self.tools:
                name = reads_one(tool)
                if not name or tool.app_id != fact.app_id:
                    continue
                thing = recall.pointed_at([fact], name, recall.Reference())
                if thing is not None and (fact.app_id, fact.fn_name) != (tool.app_id, tool.fn_name):
                    return Planned(tool, Filled({name: thing}))
        return None

    def _half_said(self, sentence: Sentence, tool: ToolSpec) -> bool:
        """Whether the sentence says no more than a value of this function, or points at a thing."""
        said = words(sentence.text, self.tag)
        if recall.reference(said, self.tag) is not None and takes(tool.input_schema, "id"):
            return True
        told = [w for w in telling(said, self.tag) if not has(w, self.tag, "question", "opener")]
        return _values(tool, told)

    def fragment(self, sentence: Sentence) -> bool:
        """A noun phrase or something like an example of a read: "emails from Ivan"."""
        said = words(sentence.text, self.tag)
        if any_has(said, self.tag, "copula", "first_person", "others", "saying"):
            return False
        fitting = ranked(sentence, self.index, self.context())
        reads = [m for m in fitting if m.tool.action_type == "read"]
        told = telling(said, self.tag)
        most = FRAGMENT if any(is_thing(w, self.tag) for w in told[:2]) else 1
        like = max((m.likeness for m in reads[:1]), default=0.0) >= LIKE_AN_EXAMPLE
        short = (like or len(told) <= most) and all(self._is_known(w) for w in told[:1])
        tool = self._read_for(sentence, reads) if short else None
        if tool is not None:
            self.add(tool, sentence)
        return tool is not None

    def _is_known(self, word: Word) -> bool:
        """Whether the catalogue knows a word: what begins with another asks for what nothing
        does."""
        known = (v.known | v.matter for v in self.index.vocabulary.values())
        said = meaning(word, self.tag)
        return any(said & k for k in known) or bool(state(word.text, self.tag))

    def _again(self, sentence: Sentence) -> bool:
        """The last effect with another value: "the same to bob@example.com"."""
        tool = self._last_call()
        if tool is None or tool.action_type == "read":
            return False
        addressed = any(e.kind == "email" for e in find_entities(sentence.text))
        if not addressed or not takes(tool.input_schema, "email", required=True):
            return False
        self.add(tool, sentence, sure=False)
        return True

    def _state_told(self, sentence: Sentence) -> bool:
        """ "The first one is done": what a function would bring about, said of one thing."""
        said = words(sentence.text, self.tag)
        if len(said) > STATED or any_has(said, self.tag, "others", "question"):
            return False
        for match in ranked(sentence, self.index, self.context()):
            known = self.index.vocabulary[match.tool.name]
            told = next((w for w in said if state(w.text, self.tag) & known.commands), None)
            if told is None or match.tool.action_type != "write":
                continue
            asked = replace(sentence, verb=told)
            if fill(match.tool, asked, self.reading, known, self.earlier).names_a_thing:
                self.add(match.tool, asked, sure=False)
                return True
        return False


def _tells_whose(sentence: Sentence) -> bool:
    """Whether an address or "from …" says what is asked about."""
    addressed = any(e.kind == "email" for e in find_entities(sentence.text))
    return addressed or any_has(words(sentence.text, sentence.tag), sentence.tag, "source")


def _values(tool: ToolSpec, told: Sequence[Word]) -> bool:
    """Whether the words are values of the function's arguments and nothing else."""
    known = {f for a in arguments_of(tool.input_schema) for _, said in a.values for f in said}
    return bool(told) and all(known & {w.text, w.stem} for w in told)
