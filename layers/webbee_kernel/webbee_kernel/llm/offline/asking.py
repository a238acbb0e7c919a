"""Questions and remarks: a read, words from what the prompt holds, or a question of our own; never
an effect at once."""

from __future__ import annotations

from collections.abc import Sequence

from ... import language
from ..protocol import ToolSpec
from . import answering, looking, recall, replies
from .certainty import is_example
from .choosing import ALIKE, is_effect, names_matter, ranked
from .conversation import Planned
from .entities import find_entities, find_numbers, find_periods
from .matching import Match
from .schema import is_directed
from .searching import Looks
from .speech import Sentence
from .words import Word, any_has, has, is_thing, meaning, ordinals, words

SOUGHT = 4
"""Words that a noun phrase searches for at most: "notes about the trip to Lisbon"."""

MOST_APPS = 3
"""Apps that one question is put to at once at most."""


_ABLE = ("ability", "manner")


class Questions(Looks):
    """What is no command, answered. `looks`: a question is left that only a look at what the user
    has can answer."""

    looks: answering.Asked | None = None

    def question(self, sentence: Sentence) -> None:
        """Never an effect: a read, or words from what the prompt holds, or a look."""
        asked = answering.Asked(sentence)
        fitting = ranked(sentence, self.index, self.context())
        effect = answering.about_an_effect(asked, self.index, fitting)
        if told := self._of_itself(asked, effect):
            self.say(told)
        elif self._asks_of_before(asked):
            self.looks = self.looks or asked
        elif not (self._read_at(asked) or self._read_for(sentence) or self._read_again(asked)):
            if self._read_whole(asked):
                return
            if text := self._known(asked, effect):
                self.say(text)
            else:
                self._unanswered(asked, sentence, fitting)

    def _of_itself(self, asked: answering.Asked, effect: ToolSpec | None) -> str:
        """What is known of its own deeds and abilities."""
        if done := self._just_done(asked):
            return done
        if self._about_me(asked):
            return replies.capabilities(self.tools, self.tag)
        able = not asked.wants & {"person", "count"} and any_has(asked.said, self.tag, *_ABLE)
        return replies.able(effect, self.tag) if effect and able else ""

    def _asks_of_before(self, asked: answering.Asked) -> bool:
        """Whether it asks what stands "there" and shows nothing else of what is meant, where the
        message before named something that was not shown."""
        there = any(has(w, self.tag, "toward", "reference") for w in asked.said)
        named = there and not self.looked_for(asked) and self._spoken_of(asked)
        shown = self.reading.apps[:1] if self.reading.turns else []
        return bool(named) and not shown

    def _just_done(self, asked: answering.Asked) -> str:
        """ "Did it work?", "what did I just do?": the reply that told of it, or the last one."""
        if came := answering.came_of_it(asked, self.reading, self.index):
            return came
        recent = any(has(w, self.tag, "adverb") and has(w, self.tag, "recency") for w in asked.said)
        me = any_has(asked.said, self.tag, "first_person", "others")
        if asked.naming or not (me and recent and "which" in asked.wants and self.reading.turns):
            return ""
        return language.of(self.tag).say("remembered", what=self.reading.turns[0][1].rstrip(".!?"))

    def _unanswered(
        self, asked: answering.Asked, sentence: Sentence, fitting: Sequence[Match]
    ) -> None:
        """What is left to look for, and what is said where nobody can."""
        if self._of_the_user(asked):
            self.looks = self.looks or asked
        related = any(names_matter(sentence, m, self.index) for m in fitting)
        known = language.of(self.tag).say("not_known")
        self.say(known if related else replies.unknown(self.tools, self.tag))

    def _about_me(self, asked: answering.Asked) -> bool:
        """ "What can you do?", "who are you?"."""
        if asked.telling:
            return all(has(w, self.tag, "help") for w in asked.telling)
        addressed = any_has(asked.said, self.tag, "others")
        pointing = recall.reference(asked.said, self.tag) is not None
        return any_has(asked.said, self.tag, "ability") or (addressed and not pointing)

    def _of_the_user(self, asked: answering.Asked) -> bool:
        """Whether a question may be about what the user has: it tells something, or "I", and asks
        nothing of "you"."""
        if asked.wants and any(self.kind_of(w) & self.matters for w in asked.telling):
            return True
        you = (w for w in asked.said if has(w, self.tag, "others"))
        if not all(has(w, self.tag, "toward", "question", "reference", "clause") for w in you):
            return False
        if "which" in asked.wants and not asked.telling:
            return True  # "what's on?"
        telling = any(not w.text.isdecimal() for w in asked.telling)
        return telling or any_has(asked.said, self.tag, "first_person")

    def _known(self, asked: answering.Asked, effect: ToolSpec | None) -> str:
        """What the prompt itself holds for a question; nothing where that was refused before."""
        if self.reading.problems:
            return ""
        said = [w for w in asked.said if not has(w, self.tag, "question")]
        doer = any_has(said, self.tag, "first_person", "others", "copula", "toward")
        if effect and doer and not asked.wants & {"count", "which"}:
            return answering.done_before(
                effect,
                self.reading,
                asked,
                looks=bool(self.go_on) and not is_directed(effect.input_schema),
            )
        return answering.from_overview(asked, self.reading.overview)

    # Reads

    def _read_at(self, asked: answering.Asked) -> bool:
        """ "What is the last mail about?": the read of the one that is named by its place."""
        place = recall.reference(asked.said, self.tag)
        if place is None or place.position is None or "count" in asked.wants:
            return False
        apps = self.apps_meant(asked)
        reads = [t for t in self.tools if looking.reads_one(t) and {t.app_id} == apps]
        for tool in reads[:1]:
            self.add(tool, asked.sentence)
        return bool(reads)

    def _read_for(self, sentence: Sentence) -> bool:
        """Plan the read that explains every word of the sentence, if there is one."""
        explaining = self._explaining(sentence)
        named = [m for m in explaining if names_matter(sentence, m, self.index)]
        tools = self._of_one_app([m.tool for m in named or explaining])
        for tool in (t for t in tools if not self.fill(t, sentence).missing):
            self.add(tool, sentence)
            if sentence.act == "question":
                self._search_for_names_only()
        return bool(tools) and bool(self.planned)

    def _explaining(self, sentence: Sentence) -> list[Match]:
        """The reads that explain every word of the sentence, or whose example it is."""
        reads = [m for m in ranked(sentence, self.index, self.context()) if not is_effect(m)]
        if given := [m for m in reads if is_example(sentence, m)]:
            return given[:1]
        if reads and reads[0].likeness >= ALIKE:
            return reads[:1]
        return [m for m in reads if self._explains(m.tool, sentence)]

    def _search_for_names_only(self) -> None:
        """ "How many notes are left?": what says how things are is no word to search by."""
        call = self.planned[-1].filled
        said = words(call.text, self.tag)
        if said and all(is_thing(w, self.tag) or has(w, self.tag, "quantifier") for w in said):
            call.arguments = {k: v for k, v in call.arguments.items() if v != call.text}

    def _of_one_app(self, fitting: Sequence[ToolSpec]) -> list[ToolSpec]:
        """The first of these of the newest app; else the first of each app: a day is asked about of
        all that has days."""
        newest = next(iter(self.context()), "")
        mine = [t for t in fitting if t.app_id == newest]
        return mine[:1] or list({t.app_id: t for t in reversed(fitting)}.values())[:MOST_APPS]

    def _explains(self, tool: ToolSpec, sentence: Sentence) -> bool:
        """Whether the function knows, or takes as a value, all that the sentence says. Words to
        search by explain nothing in a question: it asks for what is found."""
        filled = self.fill(tool, sentence)
        written = [e.start for e in find_entities(sentence.text)]
        if filled.missing or not all(filled.uses(at) for at in written):
            return False
        told = answering.Asked(sentence).of_its_own
        left = [w for w in told if not (filled.uses(w.start) or self._knows(tool, w))]
        if not filled.arguments and looking.listing(self.tools).get(tool.app_id) != tool:
            return False  # a search for nothing
        if not left:
            return bool(told or written)
        named = names_matter(sentence, Match(tool, 0.0, 0.0), self.index)
        return named and self._seeks(sentence, filled.text, left)

    def _seeks(self, sentence: Sentence, text: str, left: Sequence[Word]) -> bool:
        """Whether a noun phrase searches for these words."""
        said = words(text, self.tag)
        phrase = sentence.act != "question" and sentence.content < 0 and len(said) <= SOUGHT
        return phrase and {w.stem for w in left} <= {w.stem for w in said}

    def _knows(self, tool: ToolSpec, word: Word) -> bool:
        known = self.index.vocabulary[tool.name]
        return bool(meaning(word, self.tag) & (known.commands | known.matter))

    def _read_again(self, asked: answering.Asked) -> bool:
        """A question that says nothing of its own, about the thing that is spoken of."""
        place = recall.reference(asked.said, self.tag)
        more = any_has(asked.said[:1], self.tag, "and_", "again")
        if more and self._plan_whole(recall.Reference()):
            return True  # "and a first aid kit?", about the list that was read
        named = [w for w in self.looked_for(asked) if w.stem not in ordinals(self.tag)]
        figures = find_numbers(asked.text, self.tag) + find_periods(asked.text, self.tag)
        if named or (place is None and (figures or not asked.wants)):
            return False
        return self._plan_whole(place or recall.Reference())

    def _plan_whole(self, place: recall.Reference) -> bool:
        """Plan the read of the one thing that is spoken of, or of what stands at the place."""
        return self._plan(self.spoken_of(self.reading.facts[:1], place))

    def _plan(self, call: Planned | None) -> bool:
        self.planned += [call] if call else []
        return call is not None

    def _read_whole(self, asked: answering.Asked) -> bool:
        """A question about the one remembered thing that holds its words."""
        named = self.looked_for(asked)
        held = ((f, recall.named([f], "id", named)) for f in self.reading.facts if named)
        found = next(((f, record) for f, record in held if record), None)
        return self._plan(self.shown_whole(found[0], found[1].id) if found else None)
