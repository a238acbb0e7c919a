"""The answer to what is said of the calls that wait, on a card or in a form."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Final

from ... import language
from ...text import cut, one_line
from ...types import JSONObject
from ..function_form import is_outgoing, label_of, parameters
from ..protocol import ModelRequest, ModelResponse, ToolSpec
from .commands import Commands
from .corrections import Corrections
from .examples import Command, patterns
from .message import lexicon
from .offers import FORM_SCORE, Offers, to_calls
from .undo import UndoMessage

_MAX_TOLD: Final = 60
"""Characters of a value that is told beside the one in its place."""


class WaitingAnswer(Offers):
    """What is asked and offered, and what becomes of the calls that the last turn showed."""

    def __init__(self, commands: Commands, request: ModelRequest) -> None:
        super().__init__(commands)
        self._request, self._reading = request, commands.reading
        self._readings = commands.readings()

    @cached_property
    def _waiting(self) -> list[Command]:
        """The calls that the last turn showed, on its card or in a form."""
        calls = self.commands.calls(self._request.waiting)
        is_whole = len(calls) == len(self._request.waiting) and not self.message.is_question
        return calls if is_whole else []

    @cached_property
    def _corrections(self) -> Corrections:
        return Corrections(self.message, self._reading, self.tools)

    def _of_waiting(self, undo: UndoMessage) -> ModelResponse | None:
        """A yes to a form calls it, or tells what it lacks; what is said anew of a write stands in
        its form. Of a card's calls some may be left, or one may be added; an "undo that" behind a
        form drops it. None for a message that stands by itself, asks, or only says no."""
        if not self._waiting:
            return None
        if undo.is_undo:
            is_dropped = undo.is_bare and not self._request.on_card
            return ModelResponse(text=self.say("nothing_done")) if is_dropped else None
        if more := self._corrections.more(self._waiting[-1]):
            return self._besides(more)
        if len(self._waiting) > 1:
            left = self._corrections.part(self._waiting) or self._corrected_alike()
            return to_calls(left) if left else None
        return self._of_one(self._waiting[0])

    def _undo(self, undo: UndoMessage) -> ModelResponse:
        """The calls that undo what is meant, the question what that is, or that nothing does."""
        if made := undo.commands:
            return to_calls([*(c for c in self._undone_before if c not in made), *made])
        if refusal := undo.refusal:
            return ModelResponse(text=refusal)
        if not undo.choices:  # other words than those of what is left
            return self.suggest(undo.suggestions)
        question = self.ask_which(undo.choices)
        if not (name := undo.unknown_name):
            return question
        none = self.say("no_way_back", what=self.say("quoted", what=name))
        return replace(question, text=f"{none} {question.text}" if len(undo.choices) > 1 else none)

    def _of_one(self, shown: Command) -> ModelResponse | None:
        """What becomes of the one call that waits."""
        if self.message.is_yes(self.tag):
            return to_calls([shown]) if shown.is_complete else self.form(shown)
        new = self._new(shown)
        return None if new is None else self._with(shown, new)

    def _besides(self, more: Command) -> ModelResponse:
        """The card with one call more; behind a form that form first."""
        if self._request.on_card:
            return to_calls([*self._waiting, more])
        form = self.form(self._waiting[0])
        return replace(form, text=f"{self.say('form_first')} {form.text}")

    def _corrected_alike(self) -> list[Command]:
        """Several calls that send, each with the texts that the message says anew."""
        tools = {call.tool.name: call.tool for call in self._waiting}
        new = [self._new(call) or {} for call in self._waiting]
        [tool, *others] = tools.values()
        if others or not (is_outgoing(tool) and all(self._is_of_texts(tool, own) for own in new)):
            return []
        pairs = zip(self._waiting, new, strict=True)
        return [replace(call, arguments={**call.arguments, **own}) for call, own in pairs]

    def _is_of_texts(self, tool: ToolSpec, values: JSONObject) -> bool:
        """Whether these are values, all of them of texts."""
        return {parameters(tool)[name].kind for name in values} == {"text"}

    def _new(self, shown: Command) -> JSONObject | None:
        """What the message says anew of a write that waits; None where it says nothing of it."""
        openings = {p.pieces[0].stem for p in patterns(shown.tool, self.tag)}
        first, *then = self.message.stems(self.tag) or [""]
        # what points at the call, or takes its place, is said of it: "send it to Bob"
        about = lexicon(self.tag).reference.intersection(then[:1])
        about |= language.of(self.tag).words.instead.intersection(then)
        if shown.tool.action_type != "write" or (first in openings and not about):
            return None
        return self._corrections.replacement(self._readings, shown.tool, shown.arguments)

    def _with(self, shown: Command, new: JSONObject) -> ModelResponse:
        """The call with what it lacked, else its form, which says where nothing is new."""
        now = replace(shown, arguments={**shown.arguments, **new}, is_whole=False)
        if now.is_complete > shown.is_complete:
            return to_calls([now])
        form = self.form(now, "" if new else "form_unchanged")
        changed = self._changes(shown, new)
        return replace(form, text=" ".join([*changed, form.text]))

    def _changes(self, shown: Command, new: JSONObject) -> list[str]:
        """What takes the place of what, by the names of the fields."""
        known, old = parameters(shown.tool), shown.arguments
        names = [name for name in new if old.get(name)]
        labels = {name: label_of(known[name], self.tag) for name in names}
        told = [[cut(one_line(str(own[n])), _MAX_TOLD) for own in (new, old)] for n in names]
        return [
            self.say("form_changed", field=label[:1].upper() + label[1:], new=now, old=before)
            for label, (now, before) in zip(labels.values(), told, strict=True)
        ]

    def _of_missing(self) -> ModelResponse | None:
        """The answer to what is near no function: the one value that a form lacks."""
        near = next((score for score, _ in self.commands.nearest()), 0)
        is_other = self.message.small_talk(self.tag) or self.message.has_negation(self.tag)
        if is_other or near >= FORM_SCORE or len(self._waiting) != 1:
            return None
        [shown] = self._waiting
        new = self._corrections.missing(shown.tool, shown.arguments)
        return self._with(shown, new) if new else None

    @property
    def _undone_before(self) -> list[Command]:
        """The calls of an undo that wait, where the message says something besides."""
        undone = [(u.name, u.arguments) for u in self._request.undo]
        is_more = self._corrections.is_more
        return [c for c in self._waiting if is_more and (c.tool.name, c.arguments) in undone]

    def _left(self, answer: ModelResponse) -> ModelResponse:
        """An answer that leaves a card, which says so, and what words may do with several calls."""
        is_short = self.message.small_talk(self.tag) or self.message.is_denial(self.tag)
        if not (self._request.on_card and answer.text) or is_short:
            return answer
        keys = ("card_by_buttons", "card_in_part")[: len(self._request.waiting)]
        return replace(answer, text=" ".join((*map(self.say, keys), answer.text)))
