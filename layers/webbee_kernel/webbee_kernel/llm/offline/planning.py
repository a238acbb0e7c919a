"""From a message to an answer: its sentences, what each does, the calls or words that follow."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from ... import language
from ..protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from . import looking, recall, replies
from .answering import Asked
from .asking import OFFERED
from .choosing import asked_for, is_specific, names_matter, nearest, of_another
from .clauses import clauses
from .conversation import Planned
from .filling import identity
from .matching import Match
from .mending import left, mend, told
from .reading import Fact, Reading, read_prompt
from .remarks import Remarks
from .schema import is_directed
from .speech import Sentence, is_yes, sentences
from .words import meaning, words

KERNEL = "kernel"
"""App id of the kernel's own functions: this model needs but one of them."""

GO_ON = "continue"
"""The one that has us asked again with the results."""

_PAUSE = re.compile(r"[,;\u2013\u2014](?=\s)")

OURS = ("needs", "which_one", "one_of_these", "shall_i")
"""Our own questions, to which a message may be the answer."""


def classify(request: ModelRequest) -> ModelResponse:
    """The classifier's answer: calls, or a text that answers, asks or declines."""
    reading = read_prompt(request.prompt)
    tag = language.detect(reading.message, request.language)
    tools = tuple(t for t in request.tools if t.app_id != KERNEL)
    if not tools:
        return ModelResponse(text=replies.unknown(tools, tag))
    reading.reads = frozenset((t.app_id, t.fn_name) for t in tools if t.action_type == "read")
    go_on = next((t.name for t in request.tools if _goes_on(t)), "")
    if reading.results:
        first = _planned(_as_it_began(reading), tools, tag, go_on)
        if first.looks and not first.planned:
            first.reading = reading
            return first.looked(first.looks)
    if not all(r.ok for r in reading.results):  # "it" may mean what failed: nothing older does
        done = [r for r in reversed(reading.results) if r.ok]
        reading.facts = [Fact(r.app_id, r.fn_name, r.data, r.arguments) for r in done]
    return _planned(reading, tools, tag, go_on).answer()


def _goes_on(tool: ToolSpec) -> bool:
    return (tool.app_id, tool.fn_name) == (KERNEL, GO_ON)


def _as_it_began(reading: Reading) -> Reading:
    """The prompt without what this turn's calls brought."""
    brought = sum(bool(r.ok and r.data) for r in reading.results)
    return replace(reading, results=[], problems=[], facts=reading.facts[brought:])


def _planned(reading: Reading, tools: tuple[ToolSpec, ...], tag: str, go_on: str) -> Message:
    message = Message(reading, tools, tag)
    message.go_on = go_on
    message.plan()
    return message


class Message(Remarks):
    """The newest message, planned and answered."""

    def answer(self) -> ModelResponse:
        """Calls where there are any, else words."""
        open_ = left(self.planned, self.reading) or self._lost()
        if not self.planned:
            return self._unplanned()
        if calls := self._to_look(open_):
            return _calls(calls)
        if text := self._unclear(open_) or self._lacking(open_) or self._unsure(open_):
            return ModelResponse(text=text)
        if not open_ or not mend(open_, self.reading):
            return ModelResponse(text=self._gave_up())
        return _calls([ToolCall(p.tool.name, p.filled.arguments) for p in open_])

    def _gave_up(self) -> str:
        """A question of ours that was refused is asked without its values."""
        if all(p.get("field") == "reply" for p in self.reading.problems):
            tools = [p.tool for p in self.planned or self.offered]
            return replies.one_of_these(replies.examples_of(tools, self.tag), self.tag)
        return replies.gave_up(told(self.reading.problems), self.tag)

    def _unplanned(self) -> ModelResponse:
        """A question is looked into; all else gets words."""
        if self.looks and self.go_on:
            return self.looked(self.looks)
        if calls := self._to_look([p for p in self.offered if p.filled.missing]):
            return _calls(calls)
        if self.reading.problems and self.offered and (text := self._gave_up()):
            return ModelResponse(text=text)
        return ModelResponse(text=self.text or replies.unknown(self.tools, self.tag))

    def looked(self, asked: Asked) -> ModelResponse:
        """The next look at what the user has; where that is over, what is said of it."""
        self.text = ""
        calls = self.look(asked)
        return _calls(calls) if calls else ModelResponse(text=self.text)

    # Things that are not clear

    def _to_look(self, open_: Sequence[Planned]) -> list[ToolCall]:
        """The lists of the apps whose things are meant and not known."""
        if not self.go_on:
            return []
        seen = looking.looked_at(self.reading)
        unclear = [p for p in open_ if self._needs_a_look(p)]
        apps = frozenset().union(*(p.apps or {p.tool.app_id} for p in unclear)) - seen
        calls = looking.lists(self.tools, apps)
        for call in (
            c for c in unclear if c.tool.app_id in apps and is_directed(c.tool.input_schema)
        ):
            calls += looking.people(call.filled.people, self.tools, call.tool.app_id)
        return [*calls, *self._continue()] if calls else []

    def _needs_a_look(self, call: Planned) -> bool:
        argument = identity(call.tool)
        if argument and argument.name in call.filled.arguments:
            return False
        if call.filled.points:
            return False  # what was shown before is meant: a list of now is not that
        missing = {m.kind for m in call.filled.missing}
        somebody = "email" in missing and bool(call.filled.people)
        return "id" in missing or somebody or call.filled.looks_up

    def _lost(self) -> list[Planned]:
        """Calls that failed and may have looked for something that nothing is called."""
        return [p for p in self.planned if self._failed(p) and self._needs_a_look(p)]

    def _failed(self, call: Planned) -> bool:
        done = (call.tool.app_id, call.tool.fn_name)
        return any((r.app_id, r.fn_name) == done and not r.ok for r in self.reading.results)

    def _unclear(self, open_: Sequence[Planned]) -> str:
        """The question which of the things there are is meant, where the lists were read."""
        seen = looking.looked_at(self.reading)
        for call in open_:
            if (
                call.tool.app_id not in seen
                or not self._needs_a_look(call)
                or not identity(call.tool)
            ):
                continue
            found = self.candidates(call)
            if len(found) != 1 and not call.is_effect and (one := self.spoken_of(call.tool)):
                found = [one]
            if len(found) != 1:
                titles = [r.title for r in found if r.title]
                return replies.which_one(call.tool, titles[:OFFERED], self.tag)
            self.settle(call, found[0])
        return ""

    def _lacking(self, open_: Sequence[Planned]) -> str:
        """The question about what a call lacks; where it was asked whether we can, that we can."""
        lacking = next((p for p in open_ if p.filled.missing), None)
        if lacking is None:
            return ""
        if lacking.polite and lacking.is_effect:
            return replies.able(lacking.tool, self.tag)
        return replies.ask(lacking.filled.missing, self.tag)

    def _unsure(self, open_: Sequence[Planned]) -> str:
        """The question whether an effect is meant, where that is not certain."""
        unsure = any(not p.sure and p.is_effect for p in open_)
        if not unsure or self.reading.problems:
            return ""
        return replies.shall_i(self.spelled(open_), self.tag)

    # Reading the message

    def plan(self) -> None:
        """The message itself; where it answers our own question, with what it was asked about."""
        message = self.reading.message
        before, reply = next(iter(self.reading.turns), ("", ""))
        ours = next((k for k in OURS if replies.is_question_of_ours(reply, k)), "")
        if ours == "shall_i" and is_yes(message, self.tag):
            self.tag, self.agreed = language.detect(before, self.tag), True
            self._read(before)
            self.planned = self.planned or [replace(p, sure=True) for p in self.offered]
            return
        if ours and self._is_an_answer(message) and self._resume(before, message, ours):
            return
        self._read(message)

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
        meant = set().union(*(meaning(w, self.tag) for w in said))
        named = [
            p
            for p in self.offered
            if meant & (self.index.vocabulary[p.tool.name].matter | {f"={p.tool.fn_name}"})
        ]
        return [replace(p, sure=True) for p in named] if len(named) == 1 else []

    def _choose_thing(self, answer: str) -> None:
        """Settle the call that lacked its thing by the answer."""
        said = words(answer, self.tag)
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
        found = sentences(message, self.tag, self.leads)
        held = any(s.act in ("prohibition", "supposition") for s in found)
        for sentence in found:
            if self.agreed and sentence.act == "request":
                sentence = replace(sentence, act="command")
            for clause in clauses(self, sentence):
                self._clause(clause, held=held)

    def _is_sure(self, sentence: Sentence, match: Match) -> bool:
        """Whether just this is commanded, in a language whose words for "not" are known."""
        certain = sentence.act == "command" and language.of(self.tag).words.forms("negation")
        its_own = is_specific(sentence, match, self.index)
        return bool(certain) and its_own and not of_another(sentence, match, self.index)

    def _clause(self, sentence: Sentence, *, held: bool) -> None:
        if sentence.act in ("command", "request"):
            about = self.app_of_thing(sentence) or self._app_that_holds(sentence)
            match = asked_for(sentence, self.index, self.context(), about=about)
            if match:
                self.add(match.tool, sentence, sure=not held and self._is_sure(sentence, match))
                if not about:
                    self._note_rivals(sentence, match)
                return
            if self.fragment(sentence):
                return
        elif sentence.act == "question":
            self.question(sentence)
            return
        elif (sentence.act == "remark" and self.remark(sentence)) or (
            sentence.act == "prohibition" and self._beside(sentence)
        ):
            return
        self.say(self.words_for(sentence))

    def _beside(self, sentence: Sentence) -> bool:
        """The commands beside a prohibition in one sentence: each is asked about."""
        parts = [p for p in _PAUSE.split(sentence.text) if p.strip()]
        said = [s for p in parts for s in sentences(p, self.tag, self.leads)]
        asked = [s for s in said if s.act in ("command", "request")]
        for one in asked if len(parts) > 1 else ():
            self._clause(one, held=True)
        return bool(self.planned or self.offered)

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
        rivals = (
            m.tool
            for m in nearest(sentence, self.index, self.context())
            if identity(m.tool) and (m.tool.action_type == "read") is read
        )
        apps = frozenset(t.app_id for t in rivals)
        if identity(match.tool) and len(apps) > 1:
            self.planned[-1] = replace(self.planned[-1], apps=apps)


def _calls(calls: Sequence[ToolCall]) -> ModelResponse:
    return ModelResponse(tool_calls=tuple(calls), stop_reason="tool_use")


def meant(message: str, tools: tuple[ToolSpec, ...]) -> ToolSpec | None:
    """The function that a message by itself means, None when it means none."""
    turn = Message(Reading(message=message), tools, language.detect(message))
    turn.plan()
    return turn.planned[0].tool if turn.planned else None
