"""One message in its conversation: what is planned for it so far, and what is said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ... import language
from ..protocol import ToolSpec
from . import looking, recall, replies
from .acts import Leads
from .choosing import names_matter, tells_somebody
from .filling import Filled, fill, identity
from .likely import may_mean
from .matching import Match, index_of, telling
from .reading import Fact, Reading
from .schema import arguments_of
from .speech import Sentence
from .words import Word, any_has, concepts, has, words

READINGS = 2
"""Readings that a question offers at most."""

_SHOWN = ("text", "email", "party", "url", "date", "number")


@dataclass(slots=True)
class Planned:
    """One call with what it still lacks; `sure` when it may have an effect without asking,
    `polite` when it was asked for by "can you …"."""

    tool: ToolSpec
    filled: Filled
    sure: bool = True
    polite: bool = False
    rivals: tuple[ToolSpec, ...] = ()
    """Functions that do the same with what other apps hold."""

    @property
    def apps(self) -> frozenset[str]:
        """The apps that may hold what it is about."""
        return frozenset(t.app_id for t in (self.tool, *self.rivals))

    @property
    def is_effect(self) -> bool:
        """Whether it changes anything."""
        return self.tool.action_type != "read"


class Conversation:
    """A message with what came before it. `agreed`: the user has said yes to our question about
    it."""

    def __init__(self, reading: Reading, tools: tuple[ToolSpec, ...], tag: str) -> None:
        self.reading, self.tools, self.tag = reading, tools, tag
        self.index = index_of(tools)
        self.leads = Leads.of(self.index)
        self.apps = [f.app_id for f in reading.facts] or reading.apps
        self.planned: list[Planned] = []
        self.offered: list[Planned] = []
        self.earlier: list[tuple[ToolSpec, int]] = []
        self.text = ""
        self.agreed = False

    def context(self) -> list[str]:
        """The apps that are spoken of, the newest first."""
        return [self.planned[-1].tool.app_id, *self.apps] if self.planned else self.apps

    def add(self, tool: ToolSpec, sentence: Sentence, *, sure: bool = True) -> None:
        """Plan a call of this function."""
        filled = self.fill(tool, sentence)
        said = words(sentence.text, self.tag)
        polite = sentence.act == "request" and any(has(w, self.tag, "ability") for w in said)
        sure = self.agreed or (sure and not filled.guessed)
        self.planned.append(Planned(tool, filled, sure, polite))
        ran = [(r.app_id, r.fn_name) for r in self.reading.results]
        if (tool.app_id, tool.fn_name) not in ran:  # results of steps that ran are facts
            self.earlier.append((tool, len(ran) + len(self.earlier)))

    def fill(self, tool: ToolSpec, sentence: Sentence) -> Filled:
        """The function's arguments out of the sentence, the facts and the calls planned so far."""
        known = self.index.vocabulary[tool.name]
        return fill(tool, sentence, self.reading, known, self.earlier)

    def spelled(self, calls: Sequence[Planned]) -> list[str]:
        """Calls as a question tells them."""
        return [replies.spelled(c.tool, self.named(c), self.tag) for c in calls]

    def named(self, call: Planned) -> list[str]:
        """What a call is about, in words the user has read or written."""
        told: list[str] = []
        for argument in arguments_of(call.tool.input_schema):
            value = call.filled.arguments.get(argument.name)
            each = value if isinstance(value, list) else [value]
            if argument.kind == "id":
                told += [recall.label_of(self.reading.facts, argument.name, v) for v in each]
            elif argument.kind in _SHOWN and value != argument.default:
                told += [str(v) for v in each if v is not None]
        return list(dict.fromkeys(t for t in told if t))

    def say(self, text: str) -> None:
        """The answer in words; the first stays."""
        self.text = self.text or text

    def _begins(self, sentence: Sentence, role: str, most: int) -> bool:
        return any_has(words(sentence.text, self.tag)[:most], self.tag, role)

    def words_for(self, sentence: Sentence) -> str:
        """What is said to a sentence that leads to no call."""
        spoken = language.of(self.tag)
        if sentence.act == "greeting" or self._begins(sentence, "help", 2):
            return replies.capabilities(self.tools, self.tag)
        if sentence.act == "thanks":
            return spoken.say("welcome")
        if sentence.act in ("yes", "no"):
            return spoken.say("nothing_waits")
        if text := self.offer(sentence):
            return text
        if self._begins(sentence, "no", 1):
            return spoken.say("what_instead")
        if sentence.act in ("prohibition", "supposition"):
            return spoken.say("nothing_done")
        told = sentence.verb is not None and sentence.verb.text in self.leads.reporting
        if sentence.act in ("command", "request") and not told:
            return replies.unknown(self.tools, self.tag)
        return replies.noted(self.tools, self.tag)

    def offer(self, sentence: Sentence) -> str:
        """The question whether the likeliest readings of a sentence are meant, each spelled out;
        empty where nothing speaks for any."""
        if sentence.act in ("question", "prohibition", "supposition"):
            return ""
        if sentence.verb is None:
            sentence = replace(sentence, verb=self._bare_verb(sentence))
        self.offered = list(self._readings(sentence))
        if not self.offered:
            return ""
        if len(self.offered) == 1 and not self.offered[0].filled.missing:
            return replies.shall_i(self.spelled(self.offered), self.tag)
        return replies.one_of_these(self.spelled(self.offered), self.tag)

    def _readings(self, sentence: Sentence) -> Iterator[Planned]:
        """The likeliest calls with an effect, those that lack nothing before those that do."""
        likely = may_mean(sentence, self.index, self.context(), self.apps_of_things(sentence))
        filled = [Planned(m.tool, self.fill(m.tool, sentence), sure=False) for m in likely]
        for call in filled:
            found = self.candidates(call) if self.reading.results else []
            if len(found) == 1 and any(m.kind == "id" for m in call.filled.missing):
                self.settle(call, found[0])
        clear = [c for c in filled if self._may_be_offered(c, sentence)]
        yield from sorted(clear, key=lambda p: len(p.filled.missing))[:READINGS]

    def _may_be_offered(self, call: Planned, sentence: Sentence) -> bool:
        """Whether a call lacks nothing, or more than a verb speaks for it."""
        match = Match(call.tool, 0.0, 0.0)
        named = names_matter(sentence, match, self.index) or tells_somebody(sentence)
        return named or not call.filled.missing

    def spoken_of(self, facts: Sequence[Fact], place: recall.Reference) -> Planned | None:
        """The read of the one thing that these facts hold, or of what stands at the place."""
        things = ((f, recall.pointed_at([f], "id", place)) for f in facts)
        found = next(((f, thing) for f, thing in things if thing is not None), None)
        return self.shown_whole(*found) if found else None

    def shown_whole(self, fact: Fact, thing: Any) -> Planned | None:
        """The read that shows a thing whole; of an app that has none, its list."""
        mine = [t for t in self.tools if t.app_id == fact.app_id]
        tool = next((t for t in mine if looking.reads_one(t)), None)
        if tool:
            return Planned(tool, Filled({looking.reads_one(tool): thing}))
        listing = looking.listing(mine).get(fact.app_id)
        return Planned(listing, Filled(looking.whole_list(listing))) if listing else None

    def candidates(self, call: Planned) -> list[looking.Row]:
        """What a call may be about: the things of its app that hold most of its words, else all."""
        mine = [row for app in sorted(call.apps) for row in self.rows_of(app, call)]
        return looking.best(mine) or mine

    def rows_of(self, app_id: str, call: Planned) -> list[looking.Row]:
        """What an app has shown last, with how many of the call's words each thing holds."""
        return looking.newest_rows(self.reading.facts, call.filled.said, app_id)

    def settle(self, call: Planned, row: looking.Row) -> None:
        """Take the one thing there is, in place of the words for it, and the function of the app
        that holds it."""
        call.tool = next((t for t in call.rivals if t.app_id == row.app_id), call.tool)
        argument = identity(call.tool)
        if argument is None:
            return
        known = {a.name for a in arguments_of(call.tool.input_schema)} - {call.filled.looked_up}
        arguments = {k: v for k, v in call.filled.arguments.items() if k in known}
        arguments[argument.name] = [row.id] if argument.many else row.id
        call.filled.arguments = arguments
        call.filled.missing = [m for m in call.filled.missing if m.kind != "id"]

    def apps_of_things(self, sentence: Sentence) -> set[str]:
        """The apps of remembered things that the sentence names or points at."""
        said = telling(words(sentence.text, self.tag), self.tag)
        names = self.naming(sentence)
        apps = {f.app_id for f in self.reading.facts if recall.named([f], "id", names)}
        if recall.reference(said, self.tag) is not None and self.reading.facts:
            apps.add(self.reading.facts[0].app_id)
        return apps

    def _bare_verb(self, sentence: Sentence) -> Word | None:
        """The verb of a remark that points at a thing: "it can be deleted"."""
        said = words(sentence.text, self.tag)
        if recall.reference(said, self.tag) is None or any_has(said, self.tag, "first_person"):
            return None
        verbs = (w for w in said if any(c[0] == "=" for c in concepts(w.text, self.tag)))
        return next(verbs, None)

    def naming(self, sentence: Sentence) -> list[Word]:
        """The words that may name a thing."""
        said = telling(words(sentence.text, self.tag), self.tag)
        return [w for w in said if not self._is_said_of_all(w, sentence)]

    def _is_said_of_all(self, word: Word, sentence: Sentence) -> bool:
        verb = sentence.verb
        return (verb is not None and word.start == verb.start) or has(
            word, self.tag, "opener", "first_person", "reference", "recency"
        )

    def app_of_thing(self, sentence: Sentence) -> str:
        """The app of the one remembered thing whose title stands in the sentence."""
        said = {w.stem for w in words(sentence.text, self.tag)}
        found = {f.app_id for f in self.reading.facts if recall.titled([f], "id", said, self.tag)}
        return next(iter(found)) if len(found) == 1 else ""
