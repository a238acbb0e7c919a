"""What takes back effects of the session: the newest turn's, or the one that the words name; else
each is a button."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise

from ... import language
from ..protocol import ModelRequest, Undo
from .commands import Commands
from .examples import Command, example_words
from .message import BREAK, Message, lexicon, tokenize, word_keys
from .slots import field_words

MAX_EXTRA = 2
"""Words of nothing known beside an "undo that": "undo the dishwasher repair"."""


class UndoMessage:
    """A message read as words on effects that have not been taken back. What is taken for them puts
    up a card, which names them."""

    def __init__(self, commands: Commands, request: ModelRequest) -> None:
        self._commands, self._tag = commands, commands.message.tag
        self._lexicon = lexicon(self._tag)
        self._message, self._words = _last_part(commands.message, self._tag)
        self._tools = {tool.name: tool for tool in commands.tools}
        gone = commands.values.records.deleted_ids  # it needs a record that was deleted since
        left = (u for u in request.undo if u.name in self._tools or not u.name)
        self._effects = [u for u in left if gone.isdisjoint(map(str, u.arguments.values()))]
        self._undoable = [u for u in self._effects if not (u.is_back and _says_undo(u, self._tag))]

    @property
    def suggestions(self) -> dict[str, str]:
        """What is offered to say behind an effect, also where its facts are forgotten, and how it
        is called."""
        is_behind = self._commands.values.records.is_after_write or not self._commands.reading.facts
        newest = [u for u in _newest_turn(self._undoable) if u.name]
        if not (newest and is_behind):
            return {}
        said = language.of(self._tag).say("undo_offered")
        return {said: f"{said}: {'; '.join(u.what for u in newest)}"}

    @property
    def choices(self) -> dict[str, str]:
        """What may be said to take each effect back, and how that is called."""
        return {self._label(u): u.what for u in self._candidates if u.name}

    def _label(self, effect: Undo) -> str:
        return language.of(self._tag).say("undo_said", what=effect.what)

    @property
    def commands(self) -> list[Command]:
        """The calls that take back what is meant."""
        return self._commands.calls((u.name, u.arguments) for u in self._meant)

    @property
    def refusal(self) -> str:
        """What is said where nothing can be taken back; empty where it is open what is meant."""
        if self._undoable and not self._meant:
            return ""
        key = "no_way_back" if self._meant else "nothing_to_undo"
        return language.of(self._tag).say(key, what="; ".join(u.what for u in self._meant))

    @cached_property
    def is_undo(self) -> bool:
        """Whether the message, or its last part, says to take something back, with few words of
        nothing known beside it."""
        if self._pressed:
            return True
        asks = self._message.is_question > self._message.has_modal_lead(self._tag)  # "can you …?"
        # "bring back the bike" where nothing was done
        if asks or not self._phrases or (self._target and not self._effects):
            return False
        known = frozenset[str]().union(*map(self._words_of, self._effects))
        denial = self._lexicon.denial - language.of(self._tag).words.limits
        is_other = self._is_in_command or not denial.isdisjoint(self._message.stems(self._tag))
        return not is_other and len(self._target - known) <= MAX_EXTRA

    @property
    def is_bare(self) -> bool:
        """Whether it says nothing of which effect is meant."""
        return not (self._target or self._is_counted or self._places)

    @property
    def _is_in_command(self) -> bool:
        """Whether the first part is a command: "write to Oleg, that I undo it on Friday"."""
        whole, leads = self._commands.message, {p.pieces[0].stem for p in self._commands.examples}
        opens = {*whole.stems(self._tag)[whole.bounds(self._tag, ask=False).first :][:1]}
        is_begun = not leads.isdisjoint(opens - self._lexicon.correction)
        return self._message.text != whole.text and is_begun

    @cached_property
    def _phrases(self) -> list[set[str]]:
        return [p for p in self._lexicon.undo if p <= self._words]

    @cached_property
    def _target(self) -> set[str]:
        """The words that say which effect is meant; none is a verb that a "back" belongs to ("give
        it back"), nor what is counted that is no record ("the last change")."""
        stems, nouns = self._message.stems(self._tag), self._commands.values.all_nouns(self._tag)
        first = self._message.bounds(self._tag, ask=False).first
        verb = {stems[first]} if any(len(p) == 1 for p in self._phrases) else set()
        counted = {b for a, b in pairwise(stems) if a in self._places} - nouns
        aside = (verb, counted, self._places, self._lexicon.question)
        return self._words.difference(*aside, *self._phrases)

    @cached_property
    def _places(self) -> dict[str, int]:
        """The places that the message tells, each by its word: "last" and "newest" are -1."""
        newest = {s: -1 for s, name in self._lexicon.fields.items() if name == "recent"}
        known = {**self._lexicon.ordinals, **newest}
        return {s: known[s] for s in self._message.stems(self._tag) if s in known}

    def _words_of(self, effect: Undo) -> frozenset[str]:
        """What may speak of an effect: its own words, what its app calls its records and says to
        make them."""
        tag, tools = self._tag, self._commands.tools
        app_id = self._tools[effect.name].app_id if effect.name else ""
        writes = (t for t in tools if t.app_id == app_id and t.action_type == "write")
        said = (example_words(tool, tag) for tool in writes)
        return self._commands.values.nouns(app_id, tag).union(*self._own_words(effect), *said)

    def _own_words(self, effect: Undo) -> tuple[set[str], set[str]]:
        """What its receipt says; what its turn's message says that no receipt does, and the call
        that takes it back sets."""
        own, said = (word_keys(text, self._tag) for text in (effect.what, effect.message))
        said.difference_update(*(word_keys(u.what, self._tag) for u in self._effects))
        return own, said.union(*(field_words(name, self._tag) for name in effect.arguments))

    @cached_property
    def _candidates(self) -> list[Undo]:
        """What may be meant: what was not taken back; where that is nothing, or the words bring
        back or begin with a no, what took the last effect back."""
        is_newest_back = self._effects[:1] != self._undoable[:1]
        said_no = language.of(self._tag).say("said_no").casefold()
        is_no = self._commands.message.words[:1] == [said_no]
        is_again = is_newest_back and (is_no or self._is_restored or not self._undoable)
        found = _newest_turn(self._effects) if is_again else self._undoable
        return [u for u in found if self._fits(u)]

    @property
    def _is_restored(self) -> bool:
        return all(p in self._lexicon.restore for p in self._phrases)

    def _fits(self, effect: Undo) -> bool:
        """Whether the words may mean it: "restore" brings back, and deletes nothing."""
        tool = self._tools.get(effect.name)
        return not (self._is_restored and tool and tool.action_type == "destructive")

    @property
    def unknown(self) -> str:
        """What the message calls an effect, where none is called so."""
        known = frozenset[str]().union(*map(self._words_of, self._candidates))
        stems = self._message.stems(self._tag)
        at = [n for n, stem in enumerate(stems) if stem in self._target - known]
        return self._message.slice(at[0], at[-1] + 1) if at else ""

    @property
    def _pressed(self) -> list[Undo]:
        """The effect whose button says the message."""
        text = self._commands.message.text
        return [u for u in self._effects if self._label(u) == text][:1]

    @cached_property
    def _meant(self) -> list[Undo]:
        """The effects that are meant; none where that is open."""
        if self._pressed:
            return self._pressed
        newest = _newest_turn(self._candidates)
        if self._is_part(newest):
            return []
        return self._named if self._target else self._candidates if self._is_all else newest

    @property
    def _is_all(self) -> bool:
        """Whether it says "everything", and does not point at what was done last."""
        said = {*self._message.stems(self._tag)}
        offered = word_keys(language.of(self._tag).say("undo_offered"), self._tag)
        that = self._lexicon.reference.union(offered.difference(*self._lexicon.undo))
        return not said.isdisjoint(self._lexicon.every) and said.isdisjoint(that)

    @property
    def _named(self) -> list[Undo]:
        """The effect that the words may mean, or those whose names they hold: "milk and eggs"."""
        fit = [u for u in self._candidates if self._target <= self._words_of(u)]
        return self._nearest(fit) if fit else [u for u in self._candidates if self._is_called(u)]

    def _nearest(self, fit: Sequence[Undo]) -> list[Undo]:
        """Of what one message made the one whose receipt has the words; none where several do."""
        scores = [[len(self._target & own) for own in self._own_words(u)] for u in fit]
        found = [u for u, score in zip(fit, scores, strict=True) if score == max(scores)]
        return found[:1] if len({u.what for u in found}) == 1 else []

    def _is_called(self, effect: Undo) -> bool:
        """Whether the message has the whole name of its record."""
        quotes = (token.text for token in tokenize(effect.what) if token.kind == "quote")
        name = word_keys(" ".join(quotes), self._tag) - self._lexicon.fillers
        return bool(name) and name <= self._target

    def _is_part(self, newest: Sequence[Undo]) -> bool:
        """Whether the message numbers, counts or leaves out, and that may be any of several."""
        places = {*self._places.values()}
        is_placed = bool(places) and (places != {-1} or len(newest) > 1)
        return len(self._candidates) > 1 and (self._is_counted or is_placed)

    @property
    def _is_counted(self) -> bool:
        """Whether the message counts, or leaves something out."""
        stems, words = {*self._message.stems(self._tag)}, language.of(self._tag).words
        numbers = language.numbers(self._message.text, self._tag)
        return any(m.value > 1 for m in numbers) or not stems.isdisjoint(words.pair | words.limits)


def _says_undo(effect: Undo, tag: str) -> bool:
    """Whether its message says to take something back; "delete the task" may do so unsaid."""
    tag = language.detect(effect.message, tag)
    return any(phrase <= word_keys(effect.message, tag) for phrase in lexicon(tag).undo)


def _newest_turn(effects: Sequence[Undo]) -> list[Undo]:
    return [u for u in effects if u.turn == effects[0].turn]


def _last_part(message: Message, tag: str) -> tuple[Message, set[str]]:
    """The last part behind a break that says what is done, and its words without those that only
    point at something."""
    parts = (Message.of(part, tag) for part in reversed(BREAK.split(message.text)))
    told = ((part, word_keys(part.text, tag) - lexicon(tag).undo_fillers) for part in parts)
    return next((one for one in told if one[1]), (message, set()))
