"""Questions and remarks: a read, words from what the prompt holds, or a question of our own; never
an effect at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import language
from ..protocol import ToolSpec
from . import answering, recall, replies
from .choosing import MATTER, MATTER_COVERAGE, best, names_matter, ranked
from .conversation import Conversation
from .entities import find_entities
from .filling import fill
from .matching import Match, telling
from .schema import arguments_of
from .speech import Sentence
from .words import concepts, has, state, words

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
        return self._again(sentence) or self._state_told(sentence) or self.fragment(sentence)

    def question(self, sentence: Sentence) -> None:
        """Never an effect: a read, or words from what the prompt holds."""
        asked = answering.Asked(sentence)
        fitting = ranked(sentence, self.index, self.context())
        reads = [m for m in fitting if m.tool.action_type == "read"]
        able = any(has(w, self.tag, "ability") for w in asked.said)
        pointing = recall.reference(asked.said, self.tag) is not None
        addressed = any(has(w, self.tag, "others") for w in asked.said) and not pointing
        if not asked.telling and (able or addressed):
            self.say(replies.capabilities(self.tools, self.tag))
        elif reads and reads[0].likeness >= LIKE_AN_EXAMPLE:
            self.add(reads[0].tool, sentence)
        elif text := self._known(asked, fitting, able=able):
            self.say(text)
        elif tool := self._read_for(sentence, reads):
            self.add(tool, sentence)
        else:
            related = any(names_matter(sentence, m, self.index) for m in fitting)
            known = language.of(self.tag).say("not_known")
            self.say(known if related else replies.unknown(self.tools, self.tag))

    def _known(self, asked: answering.Asked, fitting: Sequence[Match], *, able: bool) -> str:
        """What the prompt itself holds for a question."""
        effect = answering.about_an_effect(asked, self.index, fitting)
        how = any(w.text in language.of(self.tag).words.forms("manner") for w in asked.said)
        if effect and (able or how):
            return replies.able(effect, self.tag)
        if text := answering.from_facts(asked, self.reading.facts):
            return text
        if effect and not asked.wants & {"count", "which"}:
            return answering.done_before(effect, self.reading, asked)
        return answering.from_overview(asked, self.reading.overview)

    def _read_for(self, sentence: Sentence, reads: Sequence[Match]) -> ToolSpec | None:
        """The read that fits: one whose matter is named needs less evidence. Else one of the newest
        app that the words are a value of ("what's left?")."""
        named = [m for m in reads if names_matter(sentence, m, self.index)]
        if match := best(reads) or best(named, MATTER, MATTER_COVERAGE):
            return match.tool
        told = [
            w
            for w in telling(words(sentence.text, self.tag), self.tag)
            if not has(w, self.tag, "question", "opener")
        ]
        pointing = recall.reference(words(sentence.text, self.tag), self.tag) is not None
        for tool in self.tools:
            if tool.action_type == "read" and tool.app_id == next(iter(self.apps), ""):
                arguments = arguments_of(tool.input_schema)
                if pointing and any(a.kind == "id" for a in arguments):
                    return tool
                known = {f for a in arguments for _, said in a.values for f in said}
                if told and all(w.text in known or w.stem in known for w in told):
                    return tool
        return None

    def fragment(self, sentence: Sentence) -> bool:
        """A noun phrase or something like an example of a read: "emails from Ivan"."""
        reads = [
            m for m in ranked(sentence, self.index, self.context()) if m.tool.action_type == "read"
        ]
        said = words(sentence.text, self.tag)
        spoken = any(has(w, self.tag, "copula", "first_person", "others", "saying") for w in said)
        told = telling(said, self.tag)
        thing = any(c[0] == "#" for w in told[:2] for c in concepts(w.text, self.tag))
        like = bool(reads) and reads[0].likeness >= LIKE_AN_EXAMPLE
        if spoken or not (like or len(told) <= (FRAGMENT if thing else 1)):
            return False
        tool = self._read_for(sentence, reads)
        if tool is not None:
            self.add(tool, sentence)
        return tool is not None

    def _again(self, sentence: Sentence) -> bool:
        """ "The same to bob@example.com", "no, to Bob instead": the last effect with another value."""
        fact = next(iter(self.reading.facts), None)
        tool = next(
            (
                t
                for t in self.tools
                if fact and (t.app_id, t.fn_name) == (fact.app_id, fact.fn_name)
            ),
            None,
        )
        kinds = {e.kind for e in find_entities(sentence.text)}
        if tool is None or tool.action_type == "read" or "email" not in kinds:
            return False
        if not any(a.kind == "email" and a.required for a in arguments_of(tool.input_schema)):
            return False
        self.add(tool, sentence, sure=False)
        return True

    def _state_told(self, sentence: Sentence) -> bool:
        """ "The first one is done": what a function would bring about, said of one thing."""
        said = words(sentence.text, self.tag)
        if len(said) > STATED or any(has(w, self.tag, "others", "question") for w in said):
            return False
        for match in ranked(sentence, self.index, self.context()):
            known = self.index.vocabulary[match.tool.name]
            told = next((w for w in said if state(w.text, self.tag) & known.commands), None)
            if told and match.tool.action_type == "write":
                asked = replace(sentence, verb=told)
                filled = fill(match.tool, asked, self.reading, known, self.earlier)
                if any(
                    a.kind == "id" and a.name in filled.arguments
                    for a in arguments_of(match.tool.input_schema)
                ):
                    self.add(match.tool, asked, sure=False)
                    return True
        return False
