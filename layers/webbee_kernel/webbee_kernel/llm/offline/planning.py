"""From a message to an answer: its sentences, what each does, the calls or words that follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ... import language
from ..protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from . import looking, replies
from .answering import Asked
from .conversation import Planned
from .filling import identity
from .looking import Row
from .mending import left, mend, told
from .reading import Fact, Reading, read_prompt
from .schema import is_directed
from .searching import OFFERED
from .understanding import Understanding

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
    reading.reads = frozenset((t.app_id, t.fn_name) for t in tools if t.action_type == "read")
    go_on = next((t.name for t in request.tools if _goes_on(t)), "")
    if reading.results:
        first = _planned(_as_it_began(reading), tools, tag, go_on)
        if first.looks and not first.planned:
            first.reading = reading
            return first.looked(first.looks)
    _forget_what_failed(reading)
    return _planned(reading, tools, tag, go_on).answer()


def _forget_what_failed(reading: Reading) -> None:
    """Where a call failed, "it" may mean what that would have made: nothing older does."""
    if not all(r.ok for r in reading.results):
        done = [r for r in reversed(reading.results) if r.ok]
        reading.facts = [Fact(r.app_id, r.fn_name, r.data, r.arguments) for r in done]


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


class Message(Understanding):
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
        """A question of ours that was refused is asked without its values. A call that failed has
        said why, unless what it looked for is not there."""
        looked_up = any(p.filled.looks_up for p in self.planned)
        if self.planned and not (looked_up or self.reading.problems):
            return ""
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
        apps = frozenset().union(*(p.apps for p in unclear)) - seen
        calls = looking.lists(self.tools, apps)
        for call in (
            c for c in unclear if c.tool.app_id in apps and is_directed(c.tool.input_schema)
        ):
            calls += looking.people(call.filled.people, self.tools, call.tool.app_id)
        return [*calls, *self.continued()] if calls else []

    def _needs_a_look(self, call: Planned) -> bool:
        argument = identity(call.tool)
        if argument and argument.name in call.filled.arguments:
            return False
        missing = {m.kind for m in call.filled.missing}
        wants = "id" in missing
        if call.filled.points:  # what was shown before is meant, if anything was
            before = self.reading.facts[sum(bool(r.ok and r.data) for r in self.reading.results) :]
            return wants and not any(f.app_id == call.tool.app_id for f in before)
        somebody = "email" in missing and bool(call.filled.people)
        return wants or somebody or call.filled.looks_up

    def _lost(self) -> list[Planned]:
        """Calls that failed and may have looked for something that nothing is called."""
        return [p for p in self.planned if self._failed(p) and self._needs_a_look(p)]

    def _failed(self, call: Planned) -> bool:
        done = (call.tool.app_id, call.tool.fn_name)
        return any((r.app_id, r.fn_name) == done and not r.ok for r in self.reading.results)

    def _unclear(self, open_: list[Planned]) -> str:
        """The question which of the things there are is meant, where the lists were read."""
        seen = looking.looked_at(self.reading)
        for call in open_:
            if call.tool.app_id not in seen or not self._needs_a_look(call):
                continue
            found = self.candidates(call) if identity(call.tool) else []
            if len(found) == 1 and self._is_meant(found[0], call):
                self.settle(call, found[0])
            elif identity(call.tool):
                titled = [(r.title, r.fields) for r in found if r.title][:OFFERED]
                return replies.which_one(call.tool, titled, self.tag)
        return ""

    def _is_meant(self, only: Row, call: Planned) -> bool:
        """Whether the only thing there may be settled on: words that name a thing must stand in
        what changes."""
        named = only.held or not (call.is_effect and call.filled.said)
        return bool(named) and not call.filled.points

    def _lacking(self, open_: Sequence[Planned]) -> str:
        """The question about what a call lacks; where it was asked whether we can, that we can."""
        lacking = next((p for p in open_ if p.filled.missing), None)
        if lacking is None:
            return ""
        if lacking.polite and lacking.is_effect:
            return replies.able(lacking.tool, self.tag)
        return replies.ask(lacking.tool, lacking.filled.missing, self.tag)

    def _unsure(self, open_: Sequence[Planned]) -> str:
        """The question whether an effect is meant, where that is not certain."""
        unsure = any(not p.sure and p.is_effect for p in open_)
        if not unsure or self.reading.problems:
            return ""
        return replies.shall_i(self.spelled(open_), self.tag)


def _calls(calls: Sequence[ToolCall]) -> ModelResponse:
    return ModelResponse(tool_calls=tuple(calls), stop_reason="tool_use")


def meant(message: str, tools: tuple[ToolSpec, ...]) -> ToolSpec | None:
    """The function that a message by itself means, None when it means none."""
    turn = Message(Reading(message=message), tools, language.detect(message))
    turn.plan()
    return turn.planned[0].tool if turn.planned else None
