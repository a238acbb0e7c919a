"""What takes back effects of the session: by words that say so, beside words that say which."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise, takewhile

from ... import language
from ..protocol import ModelRequest, Undo
from .commands import Commands
from .examples import Command, example_words
from .message import BREAK, Message, lexicon, tokenize, word_key, word_keys
from .slots import field_words

MAX_EXTRA = 2
"""Words of nothing known beside an "undo that": "undo the dishwasher repair"."""


class UndoMessage:
    """A message read as words on effects that have not been taken back: on the newest turn's, or on
    those that it names, counts or numbers. What is taken for them puts up a card, which names
    them."""

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
        found = {self._label(u): u.what for u in self._candidates if u.name}
        return found if len(found) > 1 else {said: said for said in found}

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
        denial = self._lexicon.denial - self._limits
        is_denied = not denial.isdisjoint(self._message.stems(self._tag))
        is_other = asks or self._is_in_command or is_denied
        # "bring back the bike" where nothing was done
        if is_other or not self._phrases or (self._target and not self._effects):
            return False
        known = frozenset[str]().union(*map(self._words_of, self._effects))
        return len(self._target - known) <= MAX_EXTRA

    @property
    def is_bare(self) -> bool:
        """Whether it says nothing of which effect is meant."""
        return not (self._target or self._limits or self._place or self._count)

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
        it back"), nor what is counted ("the last change")."""
        known, stems = self._lexicon, self._message.stems(self._tag)
        first = self._message.bounds(self._tag, ask=False).first
        verb = {stems[first]} if any(len(p) == 1 for p in self._phrases) else set()
        aside = (verb, self._counted_kind, self._limits, self._numbers, known.question)
        return self._words.difference(*aside, *known.undo, *self._phrases)

    @cached_property
    def _counted_kind(self) -> set[str]:
        """What is counted that is no record: "the last change"."""
        known, stems = self._lexicon, self._message.stems(self._tag)
        counted = {b for a, b in pairwise(stems) if a in known.ordinals or a in self._numbers}
        nouns = self._commands.values.all_nouns(self._tag)
        return counted.difference(nouns, known.fillers, *self._phrases)

    @property
    def _limits(self) -> set[str]:
        """What says that something is left out of all."""
        said = {*self._message.stems(self._tag)}
        return said & language.of(self._tag).words.limits if said & self._lexicon.every else set()

    @cached_property
    def _numbers(self) -> dict[str, int]:
        """The numbers of the message, each by its word."""
        found = language.numbers(self._message.text, self._tag)
        told = (m for m in found if m.kind == "number" and " " not in m.text)
        return {word_key(m.text, self._tag): int(m.value) for m in told}

    def _words_of(self, effect: Undo) -> frozenset[str]:
        """What may speak of an effect: its own words, what its app calls its records and says to
        make them."""
        tag, tools = self._tag, self._commands.tools
        app_id = self._tools[effect.name].app_id if effect.name else ""
        writes = (t for t in tools if t.app_id == app_id and t.action_type == "write")
        said = (example_words(tool, tag) for tool in writes)
        return self._commands.values.nouns(app_id, tag).union(self._own_words(effect), *said)

    def _own_words(self, effect: Undo) -> frozenset[str]:
        """What its receipt says, what its turn's message said, what the call that takes it back
        sets."""
        own, said = (word_keys(text, self._tag) for text in (effect.what, effect.message))
        # "add bread, eggs and cheese": of the three only one is the eggs
        beside = (u for u in self._effects if u.is_back or u.turn == effect.turn)
        others = frozenset[str]().union(*(word_keys(u.what, self._tag) for u in beside))
        told = (own | said - (others - own)) - self._lexicon.fillers
        titles = {*language.title_keys()}
        # "the change of its name" of what sets a `new_title`
        is_name = any(not titles.isdisjoint(name.split("_")) for name in effect.arguments)
        names = effect.arguments.keys() | (titles if is_name else set())
        return frozenset(told).union(*(field_words(name, self._tag) for name in names))

    @cached_property
    def _candidates(self) -> list[Undo]:
        """What may be meant: what was not taken back; behind a "no, put it back", and where nothing
        is left, what took the last effect back."""
        is_newest_back = self._effects[:1] != self._undoable[:1]
        said_first = {*self._commands.message.stems(self._tag)[:1]}.difference(*self._phrases)
        is_no = not self._lexicon.correction.isdisjoint(said_first)
        is_again = is_newest_back and (is_no or self._is_restored or not self._undoable)
        found = _newest_turn(self._effects) if is_again else self._undoable
        return [u for u in found if self._fits(u)]

    def _fits(self, effect: Undo) -> bool:
        """Whether the words may mean it: "restore" brings back, and deletes nothing."""
        tool = self._tools.get(effect.name)
        return not (self._is_restored and tool and tool.action_type == "destructive")

    @property
    def _is_restored(self) -> bool:
        return all(p in self._lexicon.restore for p in self._phrases)

    @cached_property
    def _named(self) -> list[Undo]:
        """The effects each of which the words may mean."""
        pools = (filter(self._fits, pool) for pool in (self._candidates, self._effects))
        named = ([u for u in pool if self._target <= self._words_of(u)] for pool in pools)
        return next(filter(None, named), [])

    @cached_property
    def _listed(self) -> list[Undo]:
        """Those whose names the message has, and all its words together: "milk and eggs"."""
        found = [u for u in self._candidates if self._is_called(u)]
        known = frozenset[str]().union(*map(self._words_of, found))
        return found if self._target <= known and not self._named else []

    def _is_called(self, effect: Undo, *, is_part: bool = False) -> bool:
        """Whether the message has the whole name of its record, or a part of it only: "buy tea" is
        no "buy coffee"."""
        quotes = (t.text for t in tokenize(effect.what) if t.kind == "quote")
        name = word_keys(" ".join(quotes), self._tag) - self._lexicon.fillers
        return bool(name & self._target) and is_part == bool(name - self._target)

    @property
    def _pressed(self) -> list[Undo]:
        """The effect whose button says the message."""
        text = self._commands.message.text
        return [u for u in self._effects if self._label(u) == text][:1]

    @cached_property
    def _meant(self) -> list[Undo]:
        """The effects that are meant; none where that is open."""
        if self._limits:  # what is left out is never what is meant
            return self._left
        if found := self._pressed or self._listed:
            return found
        found = self._nearest(self._named or self._candidates) or self._named
        return found if self._target and len(found) == 1 else self._counted(found)

    @property
    def _left(self) -> list[Undo]:
        """All but those that the message names."""
        named = (self._listed or self._named) if self._target else self._candidates
        return [u for u in self._candidates if named and u not in named]

    def _nearest(self, pool: list[Undo]) -> list[Undo]:
        """The one effect whose receipt, message or fields have the most of the words: "undo the
        renaming of the tuna list"; none where two have as many."""
        pool = [u for u in pool if self._named or not self._is_called(u, is_part=True)]
        scores = [len(self._specific & self._own_words(u)) for u in pool]
        best = max(scores, default=0)
        found = [u for u, score in zip(pool, scores, strict=True) if score == best]
        return found if best and len(found) == 1 else []

    @property
    def _specific(self) -> set[str]:
        """The words of the target that name no kind of thing."""
        return self._target - self._commands.values.all_nouns(self._tag)

    @property
    def unknown_name(self) -> str:
        """What the message calls an effect, where none is called so."""
        stems = self._message.stems(self._tag)
        at = [n for n, stem in enumerate(stems) if stem in self._specific]
        return self._message.slice(at[0], at[-1] + 1) if at and not self._named else ""

    def _counted(self, candidates: list[Undo]) -> list[Undo]:
        """Those at the place, or of the number, that the message tells; all, or those that were
        done alike ("them"); else the newest turn's ("all of that"), none where words fit several
        turns ("undo page A" of a page A and B)."""
        if self._place or self._count or not candidates:
            ordered = candidates[::-1] if self._place > 0 else candidates
            found = ordered[max(abs(self._place) - 1, 0) :][: max(self._count, 1)]
            return found if len(found) >= self._count else []
        stems, newest = self._message.stems(self._tag), _newest_turn(candidates)
        if self._is_that(newest) or self._lexicon.plural.isdisjoint(stems):
            is_alike = newest == candidates or len({u.what for u in candidates}) == 1
            return newest if is_alike or not self._specific else []
        alike = takewhile(lambda u: u.name == newest[0].name, candidates)
        return [*alike] if self._lexicon.every.isdisjoint(stems) else candidates

    def _is_that(self, newest: Sequence[Undo]) -> bool:
        """Whether it points at what was done last: several things, "all of that"."""
        said = word_keys(language.of(self._tag).say("undo_offered"), self._tag)
        that = self._lexicon.reference.union(said.difference(*self._lexicon.undo))
        return len(newest) > 1 and not that.isdisjoint(self._message.stems(self._tag))

    @cached_property
    def _count(self) -> int:
        """How many the message tells, if more than one ("both" are two); else 0."""
        stems = self._message.stems(self._tag)
        pair = [2 for stem in stems if stem in language.of(self._tag).words.pair]
        return next((n for n in (*self._numbers.values(), *pair) if n > 1), 0)

    @cached_property
    def _place(self) -> int:
        """The place that the message tells, negative from the end; 0 for none, and for the last of
        what is no record."""
        newest = {s: -1 for s, name in self._lexicon.fields.items() if name == "recent"}
        places = map({**self._lexicon.ordinals, **newest}.get, self._message.stems(self._tag))
        place = next(filter(None, places), 0)
        return 0 if place < 0 and self._counted_kind else place


def _says_undo(effect: Undo, tag: str) -> bool:
    """Whether its message says to take something back; "delete the task" may do so unsaid."""
    tag = language.detect(effect.message, tag)
    return any(phrase <= word_keys(effect.message, tag) for phrase in lexicon(tag).undo)


def _newest_turn(effects: list[Undo]) -> list[Undo]:
    return [u for u in effects if u.turn == effects[0].turn]


def _last_part(message: Message, tag: str) -> tuple[Message, set[str]]:
    """The last part behind a break that says what is done, and its words without those that only
    point at something."""
    parts = (Message.of(part, tag) for part in reversed(BREAK.split(message.text)))
    told = ((part, word_keys(part.text, tag) - lexicon(tag).undo_fillers) for part in parts)
    return next((one for one in told if one[1]), (message, set()))
