"""What takes back the newest effect: by words that say so, beside words that speak of it."""

from __future__ import annotations

from functools import cached_property

from ..protocol import ToolCall
from .commands import Commands
from .examples import Pattern, speech
from .message import lexicon
from .prompt_reader import stems_of_name
from .slots import Command


class TakingBack:
    """A message read as words on the newest effect, which `undo` takes back."""

    def __init__(self, commands: Commands, undo: ToolCall | None) -> None:
        self._commands, self._undo = commands, undo
        self._message, self._tag = commands.message, commands.message.tag

    @property
    def is_said(self) -> bool:
        """Whether the last part of the message says "undo that", and at most a word beside it that
        nothing is called by: behind it only in "undo the last thing"."""
        known, (first, said) = lexicon(self._tag), self._message.ending(self._tag)
        stems = self._message.stems(self._tag)[first:]
        points = not (known.reference | known.ordinals.keys()).isdisjoint(stems)
        beside = [b for b, behind in known.beside_undo(said) if points or self._made >= {*behind}]
        return not self._asks and any(self._is_unnamed({*b} - self._made) for b in beside)

    def _is_unnamed(self, strange: set[str]) -> bool:
        """Whether it is a word at most, and no record is called by it."""
        records = self._commands.values.records
        rows = (row for tool in self._commands.tools for row in records.known(tool.app_id))
        return len(strange) < 2 and all(stems_of_name(r).isdisjoint(strange) for r in rows)

    @property
    def command(self) -> Command | None:
        """The call that takes back what was just made, where the last part of the message says that
        and names nothing else: "undo that", "delete what I just added", "cancel the stamps"."""
        tag, undo = self._tag, self._undo
        tool = next((t for t in self._commands.tools if undo and t.name == undo.name), None)
        first, said = self._message.ending(tag)
        if not (tool and undo and isinstance(undo.arguments, dict)) or self._asks:
            return None
        verbs = {*said} - self._made - lexicon(tag).question
        is_deleting = bool(verbs) and speech(tool, tag) >= verbs
        if not (self.is_said or is_deleting) or self._message.denies(tag, first):
            return None
        return Command(Pattern(tool, "", tag, (), {}), undo.arguments)

    @property
    def _asks(self) -> bool:
        """Whether a question is asked; "can you …?" asks for a deed."""
        return self._message.asks > self._message.is_led(self._tag)

    @cached_property
    def _made(self) -> frozenset[str]:
        """What speaks of the record that was just made: its name, what its app calls it and says to
        make it."""
        tag, values = self._tag, self._commands.values
        app_id = values.records.written
        tools = self._commands.tools
        writes = (t for t in tools if t.app_id == app_id and t.action_type == "write")
        rows = values.records.newest(app_id)
        words = (*map(stems_of_name, rows), *(speech(t, tag) for t in writes))
        return values.nouns(app_id, tag).union(*words)
