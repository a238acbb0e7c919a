"""What takes back the newest effect: by words that say so, beside words that speak of it."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from ... import language
from ..protocol import ModelRequest, ToolSpec
from .commands import Commands
from .examples import Command, Pattern, speech
from .message import Message, lexicon, sense
from .prompt_reader import stems_of_name

MOST_BESIDE = 2
"""Words of nothing known beside an "undo that": "put the date back to what it was"."""


class UndoMessage:
    """A message read as words on the newest effect, which the request's `undo` takes back. What is
    taken for them puts up a card, which names the effect."""

    def __init__(self, commands: Commands, request: ModelRequest) -> None:
        self._commands, self._undo, self._undoes = commands, request.undo, request.undoes
        self._message, self._tag = commands.message, commands.message.tag
        first, said = self._message.ending(self._tag)
        self._first, self._said = first, said

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
        """Whether the last part of the message says "undo that", with few words beside it and none
        that another thing is called by; behind it only what points at something or speaks of the
        effect."""
        known = lexicon(self._tag)
        if self._message.asks > self._message.is_led(self._tag):  # "can you …?" asks for a deed
            return False
        pointers = (known.reference | known.ordinals.keys()) - known.undoing
        stems = {*self._message.stems(self._tag)[self._first :]}
        points = not pointers.isdisjoint(stems) or not self._made.isdisjoint(self._said)
        told = [b for b, end in known.beside_undo(self._said) if points or self._made >= {*end}]
        strange = [beside - self._made - known.question for beside in told]
        return any(len(s) <= MOST_BESIDE and not self._names_another(s) for s in strange)

    @property
    def is_done(self) -> bool:
        """Whether the effect that could be taken back took another one back itself."""
        app_id = self._undo.name.partition("__")[0] if self._undo else ""
        made = self._commands.values.records.made
        said = next((f.said for f in made if f.app_id == app_id), "").partition(":")[0]
        message = Message.of(said, self._tag)
        told = lexicon(message.tag).beside_undo(message.ending(message.tag)[1])
        return any(len(beside) <= MOST_BESIDE for beside, _ in told)

    def _names_another(self, words: set[str]) -> bool:
        """Whether a record is called by one of these, or another app calls its records so."""
        values, tools = self._commands.values, self._commands.tools
        mine = self._undo.name.partition("__")[0] if self._undo else values.records.written
        others = {t.app_id for t in tools} - {mine} if mine else ()
        rows = (row for tool in tools for row in values.records.known(tool.app_id))
        called = (*(values.nouns(a, self._tag) for a in others), *map(stems_of_name, rows))
        return any(not words.isdisjoint(own) for own in called)

    @property
    def command(self) -> Command | None:
        """The call that takes back what was just made, where the last part of the message says that
        and names nothing else: "undo that", "delete what I just added", "cancel the stamps"."""
        undo = self._undo
        tool = next((t for t in self._commands.tools if undo and t.name == undo.name), None)
        if not (undo and tool and isinstance(undo.arguments, dict)):
            return None
        if self._message.denies(self._tag, self._first):
            return None
        is_meant = self.is_said or self._is_deleting(tool)
        return Command(Pattern(tool, "", self._tag, (), {}), undo.arguments) if is_meant else None

    def _is_deleting(self, tool: ToolSpec) -> bool:
        """Whether the last part says no more than what the function does: "delete it again"."""
        verbs = {*self._said} - self._made - lexicon(self._tag).question
        is_asked = self._message.asks > self._message.is_led(self._tag)
        return not is_asked and bool(verbs) and speech(tool, self._tag) >= verbs

    @cached_property
    def _made(self) -> frozenset[str]:
        """What speaks of the effect: what its receipt says, the name of its record, what its app
        calls it and says to make it."""
        tag, values = self._tag, self._commands.values
        app_id, tools = values.records.written, self._commands.tools
        writes = (t for t in tools if t.app_id == app_id and t.action_type == "write")
        words: list[Collection[str]] = [*map(stems_of_name, values.records.newest(app_id))]
        words += [speech(tool, tag) for tool in writes]
        told = {sense(w.text, tag) for w in language.tokens(self._undoes)} - lexicon(tag).small
        return values.nouns(app_id, tag).union(told, *words)
