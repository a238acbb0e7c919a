"""Remarks that ask for something after all: half a sentence, the name of a thing, a state that is
told of one. Whatever effect follows is asked about first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import language
from ..protocol import ToolSpec
from . import recall
from .answering import Asked
from .asking import Questions
from .choosing import ranked
from .entities import find_entities
from .matching import telling
from .schema import takes
from .speech import Sentence
from .words import Word, any_has, has, is_thing, meaning, ordinals, points_back, state, words

STATED = 7
"""Words of a remark that tells a thing's state at most."""


class Remarks(Questions):
    """What is neither command nor question, answered."""

    def remark(self, sentence: Sentence) -> bool:
        """Whether a remark asks for something after all."""
        return (
            self._again(sentence)
            or self._next_one(sentence)
            or self._headed(sentence)
            or self._state_told(sentence)
            or self.fragment(sentence)
        )

    def fragment(self, sentence: Sentence) -> bool:
        """A noun phrase that a read explains: "emails from Ivan"."""
        said = words(sentence.text, self.tag)
        idle = any_has(said, self.tag, "copula", "first_person", "others", "saying")
        if idle or not self._read_for(sentence):
            return False
        if self.go_on and not language.of(self.tag).words.meanings("commands"):
            self._name_alone(sentence)
        return True

    def _name_alone(self, sentence: Sentence) -> None:
        """Where no verb is known, more than one word to search by may be a verb and a name."""
        texts = [p.filled.text for p in self.planned]
        if len(self.planned) == 1 and len(telling(words(texts[0], self.tag), self.tag)) > 1:
            self.planned.clear()
            self.earlier.clear()
            self.looks = Asked(sentence)

    def _again(self, sentence: Sentence) -> bool:
        """The last effect with another value: "the same to bob@example.com", "and to buy milk"."""
        tool = self._last_call()
        if tool is None or tool.action_type == "read":
            return False
        said = words(sentence.text, self.tag)
        if any_has(said[:1], self.tag, "and_") and not any_has(
            said, self.tag, "first_person", "copula"
        ):
            if takes(tool.input_schema, "text", required=True) and self._says_a_thing(said[1:]):
                self.add(tool, replace(sentence, content=said[0].end), sure=False)
                return True
        written = {e.kind for e in find_entities(sentence.text)}
        takes_it = ("email" in written and takes(tool.input_schema, "email", required=True)) or (
            "quote" in written and takes(tool.input_schema, "text", required=True)
        )
        if takes_it:
            self.add(tool, sentence, sure=False)
        return takes_it

    def _says_a_thing(self, said: Sequence[Word]) -> bool:
        """Whether the words may be what a task or a note says."""
        return 0 < len(telling(said, self.tag)) < STATED and not any(
            points_back(w, self.tag) or has(w, self.tag, "question", "others") for w in said
        )

    def _next_one(self, sentence: Sentence) -> bool:
        """ "And the third": the last call once more, for another thing; after a list, that thing
        shown whole."""
        place = recall.reference(words(sentence.text, self.tag), self.tag)
        if place is None or place.position is None or not self._says_a_place_only(sentence):
            return False
        tool = self._last_call()
        if tool is None or not takes(tool.input_schema, "id"):
            return self._plan_whole(place)
        self.add(tool, sentence, sure=False)
        return True

    def _says_a_place_only(self, sentence: Sentence) -> bool:
        fillers = ("opener", "reference", "again", "article", "and_", "plural_reference")
        told = telling(words(sentence.text, self.tag), self.tag)
        more = [w for w in told if not has(w, self.tag, *fillers)]
        return all(w.stem in ordinals(self.tag) or w.text.isdecimal() for w in more)

    def _last_call(self) -> ToolSpec | None:
        """The function of the newest fact."""
        fact = next(iter(self.reading.facts), None)
        done = (fact.app_id, fact.fn_name) if fact else ("", "")
        return next((t for t in self.tools if (t.app_id, t.fn_name) == done), None)

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
            if self.fill(match.tool, asked).names_a_thing:
                self.add(match.tool, asked, sure=False)
                return True
        return False
