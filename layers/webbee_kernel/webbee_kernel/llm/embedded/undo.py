"""Undo: recognises messages that take back the newest effect."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property

from ... import language
from ..protocol import ModelRequest, ToolSpec, Undo
from .commands import Commands
from .examples import Command, Pattern, example_words
from .message import BREAK, Message, lexicon, word_key
from .prompt_reader import stems_of_name

MAX_EXTRA = 2
"""Maximum unknown words besides "undo that": "put the date back to what it was"."""


class UndoMessage:
    """A message interpreted as undo of the newest effects that were not undone, all of the same
    turn. The resulting calls are confirmed by a card."""

    def __init__(self, commands: Commands, request: ModelRequest) -> None:
        self._commands, self._effects = commands, request.undo
        self._tag = commands.message.tag
        self._message, self._stems = _last_part(commands.message, self._tag)
        names = {tool.name: tool for tool in commands.tools}
        effects = [u for u in request.undo if not (u.taken or self._is_undo(u)) and u.name in names]
        self._undoable = [(u, names[u.name]) for u in effects if u.turn == effects[0].turn]
        self._app_id = self._undoable[0][1].app_id if effects else ""

    @property
    def _labels(self) -> str:
        return "; ".join(u.what for u, _ in self._undoable)

    @property
    def suggestions(self) -> dict[str, str]:
        """The undo suggestion after an effect, as message → label; empty if nothing can be
        undone."""
        is_behind = self._commands.is_after_write or not self._commands.reading.facts
        if not (self._undoable and is_behind):
            return {}
        said = language.of(self._tag).say("undo_offered")
        return {said: f"{said}: {self._labels}"}

    @property
    def is_undo(self) -> bool:
        """Whether the last part of the message says "undo that", with a reference to the effect,
        few other words, and no name of another record."""
        known = lexicon(self._tag)
        asks = self._message.is_question > self._message.has_modal_lead(self._tag)  # "can you …?"
        if asks or self._is_in_command:
            return False
        phrases = [p for p in known.undo if p <= self._stems and (self._refers or self._last in p)]
        unknown = self._stems - self._effect_words - known.question
        rests = [unknown - phrase for phrase in phrases]
        return any(len(s) <= MAX_EXTRA and not self._names_other(s) for s in rests)

    @property
    def _is_in_command(self) -> bool:
        """Whether the first part is a command: "write to Oleg, that I undo it on Friday"."""
        whole, leads = self._commands.message, {p.pieces[0].stem for p in self._commands.examples}
        opens = whole.stems(self._tag)[whole.bounds(self._tag, ask=False).first :][:1]
        return self._message.text != whole.text and not leads.isdisjoint(opens)

    @property
    def _last(self) -> str:
        """The last content word."""
        stems = reversed(self._message.stems(self._tag))
        return next((stem for stem in stems if stem in self._stems), "")

    @property
    def _refers(self) -> bool:
        """Whether the message has a pronoun, or a word of the effect."""
        known, stems = lexicon(self._tag), self._message.stems(self._tag)
        pointers = known.reference.union(known.ordinals).difference(*known.undo_words)
        return not (pointers.isdisjoint(stems) and self._effect_words.isdisjoint(self._stems))

    @property
    def nothing_to_undo(self) -> str:
        """The reply if no effect can be undone; empty if one can."""
        if self._undoable:
            return ""
        undone = next((u.what for u in self._effects if u.taken or self._is_undo(u)), "")
        key = "undone_already" if undone else "nothing_to_undo"
        return language.of(self._tag).say(key, what=undone)

    def _is_undo(self, effect: Undo) -> bool:
        """Whether an effect was itself an undo, by its message."""
        message = Message.of(effect.said.partition(":")[0], self._tag)
        _, said = _last_part(message, message.tag)
        phrases = (phrase for phrase in lexicon(message.tag).undo if phrase <= said)
        return any(len(said - phrase) <= MAX_EXTRA for phrase in phrases)

    def _names_other(self, words: set[str]) -> bool:
        """Whether these words name another record or are another app's noun."""
        values, tools = self._commands.values, self._commands.tools
        app_id = self._app_id or values.records.last_write_app
        others = {t.app_id for t in tools} - {app_id} if app_id else ()
        rows = (row for tool in tools for row in values.records.known(tool.app_id))
        names = (*(values.nouns(a, self._tag) for a in others), *map(stems_of_name, rows))
        return any(not words.isdisjoint(own) for own in names)

    @property
    def commands(self) -> list[Command]:
        """The undo calls, if the last part of the message says so and names nothing else: "undo
        that", "delete what I just added", "cancel the stamps"."""
        if not self._undoable or self._message.has_negation(self._tag) or self._is_in_command:
            return []
        if not (self.is_undo or self._is_deleting(self._undoable[0][1])):
            return []
        return [Command(Pattern(t, "", self._tag, (), {}), u.arguments) for u, t in self._undoable]

    def _is_deleting(self, tool: ToolSpec) -> bool:
        """Whether the last part only has words of the undo function: "delete it again"."""
        verbs = {*self._stems} - self._effect_words - lexicon(self._tag).question
        is_asked = self._message.is_question > self._message.has_modal_lead(self._tag)
        return not is_asked and bool(verbs) and example_words(tool, self._tag) >= verbs

    @cached_property
    def _effect_words(self) -> frozenset[str]:
        """The words of the effect: of its receipt, its record's name, the app's nouns and the
        examples of its writes."""
        tag, values = self._tag, self._commands.values
        app_id, tools = self._app_id or values.records.last_write_app, self._commands.tools
        writes = (t for t in tools if t.app_id == app_id and t.action_type == "write")
        words: list[Collection[str]] = [*map(stems_of_name, values.records.newest(app_id))]
        words += [example_words(tool, tag) for tool in writes]
        own = {word_key(w.text, tag) for w in language.tokens(self._labels)} - lexicon(tag).fillers
        return values.nouns(app_id, tag).union(own, *words)


def _last_part(message: Message, tag: str) -> tuple[Message, set[str]]:
    """The last clause with content, and its stems without fillers."""
    parts = (Message.of(part, tag) for part in reversed(BREAK.split(message.text)))
    stems = ((part, {*part.stems(tag)} - lexicon(tag).undo_fillers - {""}) for part in parts)
    return next((one for one in stems if one[1]), (message, set()))
