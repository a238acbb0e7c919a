"""From a message to an answer: its sentences, what each does, the calls or words that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import language
from ..protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from . import looking, replies
from .answering import Asked
from .asking import Questions
from .choosing import asked_for, is_specific, of_another
from .clauses import clauses
from .conversation import Planned
from .matching import Match
from .mending import left, mend, told
from .reading import Fact, Reading, read_prompt
from .speech import Sentence, is_yes, sentences

KERNEL = "kernel"
"""App id of the kernel's own functions: this model needs but one of them."""

GO_ON = "continue"
"""The one that has us asked again with the results."""


def classify(request: ModelRequest) -> ModelResponse:
    """The classifier's answer: calls, or a text that answers, asks or declines."""
    reading = read_prompt(request.prompt)
    tag = language.detect(reading.message, request.language)
    tools = tuple(t for t in request.tools if t.app_id != KERNEL)
    if not tools:
        return ModelResponse(text=replies.unknown(tools, tag))
    reading.reads = _reads(tools)
    if not all(r.ok for r in reading.results):  # "it" may mean what failed: nothing older does
        done = [r for r in reversed(reading.results) if r.ok]
        reading.facts = [Fact(r.app_id, r.fn_name, r.data, r.arguments) for r in done]
    message = Message(reading, tools, tag)
    message.go_on = _going_on(request.tools)
    return message.answer()


def _going_on(tools: Sequence[ToolSpec]) -> str:
    """The name of the kernel's function; empty where it is not offered."""
    return next((t.name for t in tools if (t.app_id, t.fn_name) == (KERNEL, GO_ON)), "")


def _reads(tools: Sequence[ToolSpec]) -> frozenset[tuple[str, str]]:
    return frozenset((t.app_id, t.fn_name) for t in tools if t.action_type == "read")


class Message(Questions):
    """The newest message, planned and answered."""

    go_on = ""

    def answer(self) -> ModelResponse:
        """Calls where there are any, else words."""
        if count := looking.looked(self.reading, self.tools, self.tag):
            return self._looked(count)
        self.plan()
        open_ = left(self.planned, self.reading)
        if not self.planned:
            return self._unplanned()
        if text := self._lacking(open_) or self._unsure(open_):
            return ModelResponse(text=text)
        if not open_ or not mend(open_, self.reading):
            return ModelResponse(text=replies.gave_up(told(self.reading.problems), self.tag))
        calls = tuple(ToolCall(p.tool.name, p.filled.arguments) for p in open_)
        return ModelResponse(tool_calls=calls, stop_reason="tool_use")

    def _unplanned(self) -> ModelResponse:
        """A question is looked into; all else gets words."""
        if not (self.looks and self.go_on):
            return ModelResponse(text=self.text or replies.unknown(self.tools, self.tag))
        calls = (*looking.lists(self.tools, self.tag), ToolCall(self.go_on, {}))
        return ModelResponse(tool_calls=calls, stop_reason="tool_use")

    def _looked(self, count: int) -> ModelResponse:
        """What was found in the lists, read whole; where nothing was, searches; then what these
        found."""
        said = sentences(self.reading.message, self.tag, self.leads)
        asked = next((Asked(s) for s in said if s.act == "question"), None)
        named = looking.naming(asked) if asked else []
        if len(self.reading.results) > count:
            calls = looking.found(self.reading.results[count:], self.tools)
        else:
            calls = looking.whole(named, self.reading.results, self.tools)
            if not calls and asked and (calls := looking.searches(asked, named, self.tools)):
                calls.append(ToolCall(self.go_on, {}))
        if not calls:
            return ModelResponse(text=language.of(self.tag).say("not_known"))
        return ModelResponse(tool_calls=tuple(calls), stop_reason="tool_use")

    def _lacking(self, open_: Sequence[Planned]) -> str:
        """The question about what a call lacks; where it was asked whether we can, that we can."""
        lacking = next((p for p in open_ if p.filled.missing), None)
        if lacking is None:
            return ""
        if lacking.polite and lacking.tool.action_type != "read":
            return replies.able(lacking.tool, self.tag)
        return replies.ask(lacking.filled.missing, self.tag)

    def _unsure(self, open_: Sequence[Planned]) -> str:
        """The question whether an effect is meant, where that is not certain."""
        unsure = any(not p.sure and p.tool.action_type != "read" for p in open_)
        if not unsure or self.reading.problems:
            return ""
        return replies.shall_i(((p.tool, self.named(p)) for p in open_), self.tag)

    def plan(self) -> None:
        """The message itself; where it answers our own question, with what it was asked about."""
        message = self.reading.message
        before, reply = next(iter(self.reading.turns), ("", ""))
        if is_yes(message, self.tag) and replies.is_question_of_ours(reply, "shall_i"):
            self.tag, self.agreed = language.detect(before, self.tag), True
            return self._read(before)
        found = sentences(message, self.tag, self.leads)
        bare = all(
            s.act in ("remark", "question") for s in found
        ) and not message.rstrip().endswith("?")
        if bare and replies.is_question_of_ours(reply, "needs"):
            joined = f"{before} {message}"
            self._read(joined)
            if self.planned and not any(p.filled.missing for p in self.planned):
                return None
            self.planned.clear()
            self.earlier.clear()
        return self._read(message)

    def _read(self, message: str) -> None:
        found = sentences(message, self.tag, self.leads)
        held = any(s.act in ("prohibition", "supposition") for s in found)
        for sentence in found:
            if self.agreed and sentence.act == "request":
                sentence = replace(sentence, act="command")
            for clause in clauses(self, sentence):
                self._clause(clause, held=held)

    def _can_deny(self) -> bool:
        """Whether the language's words for "not" are known: else no command is certain."""
        return bool(language.of(self.tag).words.forms("negation"))

    def _is_sure(self, sentence: Sentence, match: Match) -> bool:
        """Whether just this is commanded."""
        certain = sentence.act == "command" and self._can_deny()
        its_own = is_specific(sentence, match, self.index)
        return certain and its_own and not of_another(sentence, match, self.index)

    def _clause(self, sentence: Sentence, *, held: bool) -> None:
        if sentence.act in ("command", "request"):
            about = self.app_of_thing(sentence)
            match = asked_for(sentence, self.index, self.context(), about=about)
            if match:
                self.add(match.tool, sentence, sure=not held and self._is_sure(sentence, match))
                return
            if self.fragment(sentence):
                return
        elif sentence.act == "question":
            self.question(sentence)
            return
        elif sentence.act == "remark" and self.remark(sentence):
            return
        self.say(self.words_for(sentence))


def meant(message: str, tools: tuple[ToolSpec, ...]) -> ToolSpec | None:
    """The function that a message by itself means, None when it means none."""
    turn = Message(Reading(message=message), tools, language.detect(message))
    turn.plan()
    return turn.planned[0].tool if turn.planned else None
