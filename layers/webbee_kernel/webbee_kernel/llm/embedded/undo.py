"""What takes back effects of the session: by words that say so, beside words that say which."""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise

from ... import language
from ..protocol import ModelRequest, Undo
from .commands import Commands
from .examples import Command, Pattern, example_words
from .message import BREAK, Message, lexicon, word_key
from .slots import field_words

MAX_EXTRA = 2
"""Words of nothing known beside an "undo that": "undo the dishwasher repair"."""
MAX_UNDONE = 10
"""Effects that one message takes back."""


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
        return {self._label(u): u.what for u in self._candidates if u.name}

    def _label(self, effect: Undo) -> str:
        return language.of(self._tag).say("undo_said", what=effect.what)

    @property
    def commands(self) -> list[Command]:
        """The calls that take back what is meant."""
        calls = [(u, self._tools[u.name]) for u in self._meant[:MAX_UNDONE] if u.name]
        return [Command(Pattern(t, "", self._tag, (), {}), u.arguments) for u, t in calls]

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
        if any(self._commands.message.text == self._label(u) for u in self._effects):
            return True
        asks = self._message.is_question > self._message.has_modal_lead(self._tag)  # "can you …?"
        is_other = asks or self._is_in_command or self._message.has_negation(self._tag)
        # "bring back the bike" where nothing was done
        if is_other or not self._phrases or (self._target and not self._effects):
            return False
        known = frozenset[str]().union(*map(self._words_of, self._effects))
        return len(self._target - known) <= MAX_EXTRA

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
        counted = {b for a, b in pairwise(stems) if a in known.ordinals or a in self._numbers}
        counted -= self._commands.values.all_nouns(self._tag)
        aside = (verb, counted, self._numbers, known.question, *known.undo, *self._phrases)
        return self._words.difference(*aside)

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
        own, said = self._words_in(effect.what), self._words_in(effect.message)
        # "add bread, eggs and cheese": of the three only one is the eggs
        beside = (u for u in self._effects if u.turn == effect.turn and u is not effect)
        others = frozenset[str]().union(*(self._words_in(u.what) for u in beside))
        told = (own | said - (others - own)) - self._lexicon.fillers
        titles = {*language.title_keys()}
        # "the change of its name" of what sets a `new_title`
        is_name = any(not titles.isdisjoint(name.split("_")) for name in effect.arguments)
        names = effect.arguments.keys() | (titles if is_name else set())
        return frozenset(told).union(*(field_words(name, self._tag) for name in names))

    def _words_in(self, text: str) -> set[str]:
        return {word_key(word.text, self._tag) for word in language.tokens(text)}

    @cached_property
    def _candidates(self) -> list[Undo]:
        """What may be meant: what was not taken back; behind a "no, put it back", and where nothing
        is left, what took the last effect back."""
        is_newest_back = self._effects[:1] != self._undoable[:1]
        said_first = {*self._commands.message.stems(self._tag)[:1]}.difference(*self._phrases)
        is_no = not self._lexicon.correction.isdisjoint(said_first)
        is_restored = all(p in self._lexicon.restore for p in self._phrases)
        is_again = is_newest_back and (is_no or is_restored or not self._undoable)
        found = self._effects[:1] if is_again else self._undoable
        return [u for u in found if self._fits(u)]

    def _fits(self, effect: Undo) -> bool:
        """Whether the words may mean it: "restore" brings back, and deletes nothing."""
        is_restored = all(p in self._lexicon.restore for p in self._phrases)
        tool = self._tools.get(effect.name)
        return not (is_restored and tool and tool.action_type == "destructive")

    @cached_property
    def _meant(self) -> list[Undo]:
        """The effects that are meant; none where that is open."""
        text, pools = self._commands.message.text, (self._candidates, self._effects)
        if pressed := [u for u in self._effects if self._label(u) == text]:
            return pressed[:1]
        named = ([*filter(self._is_named, pool)] for pool in pools)
        found = next(filter(None, named), [])
        found = self._nearest(found or self._candidates) or found
        is_one = bool(self._target) and len(found) == 1
        return found if is_one or not found else self._counted(found)

    def _is_named(self, effect: Undo) -> bool:
        return self._fits(effect) and self._target <= self._words_of(effect)

    def _nearest(self, pool: list[Undo]) -> list[Undo]:
        """The one effect whose receipt, message or fields have the most of the words: "undo the
        renaming of the tuna list"; none where two have as many."""
        scores = [len(self._specific & self._own_words(u)) for u in pool]
        best = max(scores, default=0)
        found = [u for u, score in zip(pool, scores, strict=True) if score == best]
        return found if best and len(found) == 1 else []

    @property
    def _specific(self) -> set[str]:
        """The words of the target that name no kind of thing."""
        nouns = (self._commands.values.nouns(t.app_id, self._tag) for t in self._commands.tools)
        return self._target.difference(*nouns)

    def _counted(self, candidates: list[Undo]) -> list[Undo]:
        """Those at the place, or of the number, that the message tells; both, or all; else the
        newest turn's, none where words fit several turns ("undo page A" of a page A and B)."""
        stems, known = self._message.stems(self._tag), self._lexicon
        count = next((n for n in self._numbers.values() if 1 < n <= MAX_UNDONE), 0)
        placing = (s for s in stems if known.fields.get(s) != "recent")  # "the newest"
        place = next(filter(None, map(known.ordinals.get, placing)), 0)
        if place > 0:
            found = candidates[::-1][place - 1 :][: max(count, 1)]
        elif count:
            found = candidates[:count]
        elif known.every.isdisjoint(stems):
            newest = _newest_turn(candidates)
            found = [] if self._specific and not place and newest != candidates else newest
        else:
            found = candidates
        return found if len(found) >= count else []


def _says_undo(effect: Undo, tag: str) -> bool:
    """Whether its message says to take something back; "delete the task" may do so unsaid."""
    tag = language.detect(effect.message, tag)
    words = {word_key(w.text, tag) for w in language.tokens(effect.message)}
    return any(phrase <= words for phrase in lexicon(tag).undo)


def _newest_turn(effects: list[Undo]) -> list[Undo]:
    return [u for u in effects if u.turn == effects[0].turn]


def _last_part(message: Message, tag: str) -> tuple[Message, set[str]]:
    """The last part behind a break that says what is done, and its words without those that only
    point at something."""
    parts = (Message.of(part, tag) for part in reversed(BREAK.split(message.text)))
    words = ((part, (w.text for w in language.tokens(part.text))) for part in parts)
    aside = lexicon(tag).undo_fillers
    told = ((part, {word_key(w, tag) for w in own} - aside) for part, own in words)
    return next((one for one in told if one[1]), (message, set()))
