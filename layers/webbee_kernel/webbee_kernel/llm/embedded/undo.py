"""What takes back the newest effect: by words that say so, beside words that speak of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from ... import language
from ..protocol import ModelRequest, ToolSpec
from .commands import Commands
from .examples import Command, Pattern, speech
from .message import lexicon, sense
from .prompt_reader import stems_of_name

MOST_BESIDE = 2
"""Words of nothing known beside an "undo that" which points: "put the date back to what it was"."""


class UndoMessage:
    """A message read as words on the newest effect, which the request's `undo` takes back. What is
    taken for them puts up a card, which names the effect."""

    def __init__(self, commands: Commands, request: ModelRequest) -> None:
        self._commands, self._undo, self._undoes = commands, request.undo, request.undoes
        self._message, self._tag = commands.message, commands.message.tag

    @property
    def offered(self) -> dict[str, str]:
        """What is offered to say behind an effect, also where its facts are forgotten, and how it
        is called."""
        is_behind = self._commands.is_after_write or not self._commands.reading.facts
        if not (self._undo and is_behind):
            return {}
        said = language.of(self._tag).say("undo_offered")
        return {said: f"{said}: {self._undoes}" if self._undoes else said}

    @property
    def is_said(self) -> bool:
        """Whether the last part of the message says "undo that", and hardly a word beside it that
        nothing is called by: most where it points at something or speaks of the effect, and behind
        it only there."""
        known, (first, said) = lexicon(self._tag), self._message.ending(self._tag)
        pointers = (known.reference | known.ordinals.keys()) - known.undoing
        speaks = not pointers.isdisjoint(self._message.stems(self._tag)[first:])
        speaks = speaks or not self._made.isdisjoint(said)
        told = [b for b, behind in known.beside_undo(said) if speaks or self._made >= {*behind}]
        strange = [beside - self._made - known.question for beside in told]
        most = MOST_BESIDE if speaks else 1
        return not self._asks and any(len(s) <= most and self._is_unnamed(s) for s in strange)

    def _is_unnamed(self, strange: set[str]) -> bool:
        """Whether no record is called by it, and no other app or its records."""
        values, records = self._commands.values, self._commands.values.records
        mine = self._undo.name.partition("__")[0] if self._undo else records.written
        others = {t.app_id for t in self._commands.tools} - {mine}
        if mine and any(not values.nouns(a, self._tag).isdisjoint(strange) for a in others):
            return False
        rows = (row for tool in self._commands.tools for row in records.known(tool.app_id))
        return all(stems_of_name(row).isdisjoint(strange) for row in rows)

    @property
    def command(self) -> Command | None:
        """The call that takes back what was just made, where the last part of the message says that
        and names nothing else: "undo that", "delete what I just added", "cancel the stamps"."""
        if not (undo := self._undo) or not isinstance(undo.arguments, dict) or self._asks:
            return None
        tool = next((t for t in self._commands.tools if t.name == undo.name), None)
        if not tool or self._message.denies(self._tag, self._message.ending(self._tag)[0]):
            return None
        is_meant = self.is_said or self._is_deleting(tool)
        return Command(Pattern(tool, "", self._tag, (), {}), undo.arguments) if is_meant else None

    def _is_deleting(self, tool: ToolSpec) -> bool:
        """Whether the last part says no more than what the function does: "delete it again"."""
        said = {*self._message.ending(self._tag)[1]}
        verbs = said - self._made - lexicon(self._tag).question
        return bool(verbs) and speech(tool, self._tag) >= verbs

    @property
    def _asks(self) -> bool:
        """Whether a question is asked; "can you …?" asks for a deed."""
        return self._message.asks > self._message.is_led(self._tag)

    @cached_property
    def _made(self) -> frozenset[str]:
        """What speaks of the effect: what its receipt says, the name of its record, what its app
        calls it and says to make it."""
        tag, values = self._tag, self._commands.values
        app_id, small = values.records.written, lexicon(tag).small
        tools = self._commands.tools
        writes = (t for t in tools if t.app_id == app_id and t.action_type == "write")
        rows = values.records.newest(app_id)
        words = (*map(stems_of_name, rows), *(speech(t, tag) for t in writes))
        told = {sense(w.text, tag) for w in language.tokens(self._undoes)} - small
        return values.nouns(app_id, tag).union(told, *words)


def taken_back(
    readings: Sequence[Command], commands: Commands, request: ModelRequest
) -> Command | None:
    """For a message that is no command yet, as "delete the last one" is none: what takes back what
    was just made, or answers the question about one record."""
    if not all(command.is_open for command in readings):
        return None
    back = UndoMessage(commands, request).command
    return back or (None if readings else commands.asked_about())
