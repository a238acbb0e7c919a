"""What a question or a command to show needs, looked up in what the user has."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..protocol import ToolCall
from . import answering, looking, recall, replies
from .choosing import is_effect, names_matter, ranked, tells_somebody
from .conversation import Conversation
from .matching import Match
from .reading import Result
from .speech import Sentence
from .words import Word, concepts, meaning, ordinals, points_back, state

FEW = 2
"""Things that are read whole although nothing in them was found."""

OFFERED = 5
"""Things that a question which one is meant names at most."""

STATES = frozenset(
    "#recent #unread #overdue #open #done #today #total #upcoming #pinned #text #person".split()
)
"""What words tell of things, and name none."""


class Looks(Conversation):
    """The next look for what is asked, and what is left to say."""

    go_on = ""
    """The name of the kernel's function that has us asked again with the results; empty where it
    is not offered."""

    def seeks(self, sentence: Sentence, match: Match | None) -> bool:
        """Whether a command to show names one thing, by its title, its sender or what stands in
        it: words that are no kind of thing, where the read that its verb means takes no value."""
        if not self.shows(sentence):
            return False
        named = [w for w in self.looked_for(answering.Asked(sentence)) if w != sentence.verb]
        return bool(named) and (match is None or self._leaves(sentence, match, named))

    def shows(self, sentence: Sentence) -> bool:
        """Whether it asks to show something, and that can be looked up."""
        verb = sentence.verb
        shows = verb and concepts(verb.text, self.tag) & {"=read", "=show", "=find"}
        return bool(shows and self.go_on) and not tells_somebody(sentence)

    def _leaves(self, sentence: Sentence, match: Match, named: Sequence[Word]) -> bool:
        """Whether the function leaves names unused that it would need: "the one that came out"
        names no message, and a list of a state or of somebody is just that."""
        tool, filled = match.tool, self.fill(match.tool, sentence)
        if is_effect(match) or filled.names_a_thing:
            return False
        if looking.reads_one(tool) and not names_matter(sentence, match, self.index):
            return False
        told = bool(filled.arguments) and not filled.text
        return not told and not all(filled.uses(w.start) for w in named)

    def apps_meant(self, asked: answering.Asked) -> set[str]:
        """The apps whose matter a question names; all where it names none."""
        named = {
            t.app_id
            for t in self.tools
            if any(
                meaning(w, self.tag) & self.index.vocabulary[t.name].matter for w in asked.naming
            )
        }
        fitting = ranked(asked.sentence, self.index, self.context())
        effect = answering.about_an_effect(asked, self.index, fitting)
        if named or effect is None or self.looked_for(asked):
            return named or {t.app_id for t in self.tools}
        return {effect.app_id}  # "what do I still have to finish?"

    def look(self, asked: answering.Asked) -> list[ToolCall]:
        """The next calls for a question that has to be looked up: the lists, then what in them
        holds its words, whole; where nothing does, the searches, then what these found. Empty
        where nothing is left to do but to tell."""
        apps, results = self.apps_meant(asked), self.reading.results
        lists = looking.lists(self.tools, apps)
        if len(results) < len(lists) or not lists:
            return [*lists, *self.continued()]
        named = self._spoken_of(asked)
        shown = looking.rows(results[: len(lists)], named, apps)
        if len(results) == len(lists):
            return self._in_lists(asked, named, shown, apps)
        return self._in_searches(asked, named, shown, results[len(lists) :])

    def _in_lists(
        self,
        asked: answering.Asked,
        named: Sequence[Word],
        shown: Sequence[looking.Row],
        apps: Collection[str],
    ) -> list[ToolCall]:
        """What the lists show of the question's words, whole; else the searches for these."""
        if found := looking.best(shown):
            return looking.whole(found, self.tools)
        many = "count" in asked.wants and any(self.kind_of(w) & self.matters for w in asked.telling)
        if many or not named:
            return []  # the lists tell what there is and how many
        texts = [recall.shared(w.text, self.tag) for w in named]
        searches = looking.searches(texts, self.tools, apps)
        return [*searches, *self.continued()] if searches else []

    def _in_searches(
        self,
        asked: answering.Asked,
        named: Sequence[Word],
        shown: Sequence[looking.Row],
        results: Sequence[Result],
    ) -> list[ToolCall]:
        """What the searches found, whole; where they found nothing, what little there is, or the
        question where to look."""
        found = looking.often(looking.rows(results, ()))
        few = shown if asked.wants and len(shown) <= FEW else []
        if found or few:
            return looking.whole(found or few, self.tools)
        titles = [r.title for r in shown if r.title][:OFFERED]
        self.say(replies.nothing_about([w.text for w in named], titles, self.tag))
        return []

    def looked_for(self, asked: answering.Asked) -> list[Word]:
        """The words of a question that may stand in what answers it, less what names its app and
        what tells the state of things; a bill is no app here and may be in a title."""
        idle = self.matters | answering.FIELDS | STATES
        own = (
            w for w in asked.naming if w.text not in self.leads.asking and not w.text.isdecimal()
        )
        named = [w for w in own if not self.kind_of(w) & idle]
        placed = [w for w in asked.telling if w.stem in ordinals(self.tag)]
        return named + placed if named else []

    def _spoken_of(self, asked: answering.Asked) -> list[Word]:
        """The words of a question that names nothing are those of what was said before it."""
        before = [self.reading.message, *(said for said, _ in self.reading.turns[:1])]
        a_kind = any(self.kind_of(w) & self.matters for w in asked.naming)
        if a_kind or not any(points_back(w, self.tag) for w in asked.said):
            return self.looked_for(asked)
        texts = (answering.Asked(replace(asked.sentence, text=text)) for text in before)
        return self.looked_for(asked) or next(
            (named for text in texts if (named := self.looked_for(text))), []
        )

    def kind_of(self, word: Word) -> set[str]:
        """What a word means; of one that tells a state, that it does."""
        told = STATES if state(word.text, self.tag) else ()
        return meaning(word, self.tag).union(told)

    @property
    def matters(self) -> set[str]:
        """What any app is about, and what its functions are asked with."""
        return {m for v in self.index.vocabulary.values() for m in v.matter | v.concepts}

    def continued(self) -> list[ToolCall]:
        return [ToolCall(self.go_on, {})]
