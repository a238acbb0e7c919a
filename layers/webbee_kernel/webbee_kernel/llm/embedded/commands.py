"""The calls that a message asks for. An example fits exactly, every word of the message accounted
for by its literal words and slots, or, of a read without arguments, in its words alone; nothing
else is a command."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

from ... import language
from ...catalogue import SLOT
from ...language import fold
from ...types import JSONObject
from ..protocol import ToolSpec
from .candidates import Command, worth
from .drafts import draft
from .examples import Pattern, Piece, by_name, openings, parameters, patterns, speech
from .message import Lexicon, Message, lexicon
from .prompt_reader import Reading
from .slot_values import SlotValues, Unclear, Value

MAX_CALLS: Final = 3
"""Calls of one message."""

NEAR: Final = 0.6
"""How near, from 0 to 1, a message is to an example whose command it is taken for."""

_BY_NAME: Final = 0.6
"""What words of a name or a description weigh beside those of an example."""

_ASIDE: Final = 0.5
"""What an example weighs that begins with another word than the message, or that is denied."""

_TRIES, _EDGE = 4, 6
"""Ends that are tried for a slot: places of the literal word behind it, and words from either end
where another slot stands there. No more articles than those words are passed over either."""

_OTHER_FORM: Final = Value(None, words=2)
"""What a word counts that is not in the form of the example: more than one that a slot takes as it
stands, so that in "add a task: call Anna" the title does not begin behind the "call"."""

_BREAK = re.compile(r"[;,\n]|[.!?](?=\s)")


@dataclass
class Commands:
    """One message read as commands of these functions."""

    reading: Reading
    tools: tuple[ToolSpec, ...]
    message: Message = field(init=False)

    def __post_init__(self) -> None:
        self.message = Message.of(self.reading.message)
        self._sayings: dict[tuple[str, bool, int, int], frozenset[str]] = {}
        self._values = SlotValues(self.message, self.reading, self.tools)

    @cached_property
    def _openings(self) -> frozenset[tuple[str, str]]:
        return frozenset(openings(self.tools))

    @cached_property
    def _tags(self) -> frozenset[str]:
        return frozenset(tag for tag, _ in self._openings)

    def readings(self) -> list[Command]:
        """What the whole message asks for: nothing, one command, or several that fit as well."""
        return self._best(0, len(self.message.tokens))

    def parts(self) -> list[Command]:
        """The message as two or three commands behind each other; empty where one of its parts is
        none. A later one that points at something could mean what the first brings, which is not
        known yet."""
        starts = [0, *self._starts(), len(self.message.tokens)]
        if not 2 <= len(starts) - 1 <= MAX_CALLS:
            return []
        found: list[Command] = []
        for start, last in itertools.pairwise(starts):
            first = start + self._joining(start) if start else 0
            best = self._best(first, last)
            if len(best) != 1 or not best[0].is_sure or (found and best[0].pointed):
                return []
            found += best
        return found

    def _starts(self) -> list[int]:
        """Where another command may begin: a command's first word behind a conjunction or a
        break."""
        tags, tokens = self._tags, self.message.tokens
        starts = []
        for at in range(1, len(tokens)):
            if tokens[at].kind != "word" or not self._is_boundary(at):
                continue
            if tokens[at - 1].kind == "colon":  # "add a task: after lunch" is one thing
                continue
            if any(self._opens(tag, at + self._joining(at)) for tag in tags):
                starts.append(at)
            if len(starts) > MAX_CALLS:
                break
        return [s for n, s in enumerate(starts) if not n or s - starts[n - 1] > 1]

    def _opens(self, tag: str, at: int) -> bool:
        """Whether a command may begin at a place, with its first word or with a "show me"."""
        if at >= len(self.message.tokens):
            return False
        bounds = self.message.bounds(tag, ask=True, first=at)
        first, most = bounds.first, min(bounds.first + _EDGE, bounds.last - 1)
        while first < most and self._is_passed_over(first, lexicon(tag)):
            first += 1
        return (tag, self.message.stems(tag)[first]) in self._openings

    def _is_boundary(self, at: int) -> bool:
        between = self.message.text[self.message.tokens[at - 1].end : self.message.tokens[at].start]
        return bool(_BREAK.search(between)) or self._joins(at)

    def _joins(self, at: int) -> bool:
        word = self.message.tokens[at]
        return word.kind == "word" and any(
            self.message.stems(tag)[at] in lexicon(tag).conjunctions for tag in self._tags
        )

    def _joining(self, at: int) -> int:
        """How many conjunctions stand at a place."""
        size = 0
        while at + size < len(self.message.tokens) and self._joins(at + size):
            size += 1
        return size

    def _best(self, first: int, last: int) -> list[Command]:
        """The commands that fit these tokens best: one, or several that fit as well."""
        found = [
            command
            for tool in self.tools
            for pattern in patterns(tool)
            if (command := self._fit(pattern, first, last))
        ]
        if not found:
            found = self._by_words(first, last)
        best = min(map(worth, found), default=None)
        kept: dict[str, Command] = {}
        for command in found:
            if worth(command) == best:
                kept.setdefault(command.tool.name, command)
        return list(kept.values())

    # An example with all its words

    def _fit(self, pattern: Pattern, first: int, last: int) -> Command | None:
        stems = self.message.stems(pattern.tag)
        if not pattern.literals.issubset(stems[first:last]):
            return None
        read = pattern.tool.action_type == "read"
        bounds = self.message.bounds(pattern.tag, ask=read, first=first, last=last)
        if pattern.asked and not bounds.asked:
            return None
        best: Command | None = None
        for filled in self._walk(pattern, 0, bounds.first, bounds.last):
            command = self._command(pattern, filled, first)
            if command and (best is None or worth(command) < worth(best)):
                best = command
        return best

    def _walk(
        self, pattern: Pattern, piece: int, at: int, last: int
    ) -> Iterator[list[tuple[Piece, tuple[int, int], Value | Unclear]]]:
        """The ways in which the rest of a pattern takes the rest of the message."""
        if piece == len(pattern.pieces):
            if self._past_articles(pattern, at, last) == last:
                yield []
            return
        wanted = pattern.pieces[piece]
        if wanted.stem:
            at = self._past_articles(pattern, at, last, wanted.stem)
            if at < last and self.message.stems(pattern.tag)[at] == wanted.stem:
                other = wanted.form not in ("", fold(self.message.tokens[at].text))
                taken = [(wanted, (at, at + 1), _OTHER_FORM)] if other else []
                for rest in self._walk(pattern, piece + 1, at + 1, last):
                    yield [*taken, *rest]
            return
        parameter = parameters(pattern.tool)[wanted.slot]
        if piece + 1 < len(pattern.pieces):  # "the {title} note": the article is the noun's
            at = self._past_articles(pattern, at, last)
        for end in self._ends(pattern, piece, at, last):
            span = (at, end)
            value = self._values.of(wanted.kind, parameter, span, pattern.tool, pattern.tag)
            if value is None:
                continue
            for rest in self._walk(pattern, piece + 1, end, last):
                yield [(wanted, span, value), *rest]

    def _past_articles(self, pattern: Pattern, at: int, last: int, wanted: str = "") -> int:
        known, stems = lexicon(pattern.tag), self.message.stems(pattern.tag)
        end = min(last, at + _EDGE)
        while at < end and stems[at] != wanted and self._is_passed_over(at, known):
            at += 1
        return at

    def _is_passed_over(self, at: int, known: Lexicon) -> bool:
        token = self.message.tokens[at]
        return token.kind == "colon" or fold(token.text) in known.articles

    def _ends(self, pattern: Pattern, piece: int, at: int, last: int) -> list[int]:
        """Where a slot may end: at the end, before its next literal word, or, before another slot,
        near either end."""
        if piece + 1 == len(pattern.pieces):
            return [last] if at < last else []
        following = pattern.pieces[piece + 1]
        if following.stem:
            stems = self.message.stems(pattern.tag)
            places = [n for n in range(at + 1, last) if stems[n] == following.stem]
            places = [*places[:_TRIES], *places[max(_TRIES, len(places) - 2) :]]
            return [self._before_articles(pattern, at, end) for end in places]
        near = {*range(at + 1, min(at + _EDGE, last)), *range(max(at + 1, last - _EDGE), last)}
        return sorted(near)

    def _before_articles(self, pattern: Pattern, at: int, end: int) -> int:
        known = lexicon(pattern.tag)
        while end - 1 > at and self._is_passed_over(end - 1, known):
            end -= 1
        return end

    def _command(
        self,
        pattern: Pattern,
        filled: Sequence[tuple[Piece, tuple[int, int], Value | Unclear]],
        first: int,
    ) -> Command | None:
        arguments, loose, colons = {**pattern.fixed}, 0, 0
        unclear, whole, pointed = None, True, False
        for piece, span, value in filled:
            if isinstance(value, Unclear):
                unclear = value
                continue
            loose += value.words
            if piece.stem:
                continue
            colons += sum(t.kind == "colon" for t in self.message.tokens[span[0] + 1 : span[1]])
            name = self._title(pattern.tool) if value.label else ""
            arguments[name or piece.slot] = value.label if name else value.value
            pointed = pointed or value.pointed
            whole = whole and (not value.words or self._is_one_thing(pattern, span, first))
        if record := self._left_out(pattern.tool, arguments) if unclear is None else None:
            arguments, pointed = {**arguments, **record}, True
        return Command(pattern.tool, arguments, pattern, loose, unclear, whole, pointed, colons)

    def _title(self, tool: ToolSpec) -> str:
        """The parameter that takes what a record is called."""
        known = {name for name, p in parameters(tool).items() if p.kind == "text"}
        return next((k for k in language.title_keys() if k in known), "")

    def _left_out(self, tool: ToolSpec, arguments: JSONObject) -> JSONObject | None:
        """Which record is meant where no word says it: the only one that was shown last."""
        known = parameters(tool)
        left = [p for p in known.values() if p.kind == "id" and p.name not in arguments]
        named = any(k in arguments for k in language.title_keys() if k in known)
        if len(left) != 1 or tool.action_type == "read" or (named and not left[0].required):
            return None
        row = self._values.only_one(tool.app_id)
        return {left[0].name: row["id"]} if row else None

    def _is_one_thing(self, pattern: Pattern, span: tuple[int, int], first: int) -> bool:
        """Whether the words that a slot takes hold no second command and no second thing: none
        begins behind a conjunction or a break in them, nor is the app's own noun there; and where
        something is enumerated, the noun before it is in the form of the example."""
        if pattern.tool.action_type == "read":
            return True
        if self.message.tokens[span[1] - 1].kind == "unread":
            return False
        tag, stems = pattern.tag, self.message.stems(pattern.tag)
        nouns = self._values.nouns(pattern.tool.app_id, tag)
        joined = False
        for at in range(span[0] + 1, span[1]):
            if not self._is_boundary(at) or self.message.tokens[at - 1].kind == "colon":
                if joined and stems[at] in nouns:
                    return False
                continue
            joined = True
            if self._opens(tag, at + self._joining(at)):
                return False
        return not joined or not self._is_plural(pattern, nouns, (first, span[0]))

    def _is_plural(self, pattern: Pattern, nouns: frozenset[str], between: tuple[int, int]) -> bool:
        """Whether the app's noun stands between these places in another form than in the
        example."""
        written = {fold(w.text) for w in language.tokens(SLOT.sub(" ", pattern.example))}
        stems = self.message.stems(pattern.tag)
        return any(
            stems[n] in nouns and fold(self.message.tokens[n].text) not in written
            for n in range(*between)
        )

    # What is near an example

    def _by_words(self, first: int, last: int) -> list[Command]:
        """Reads whose example has the words of the message, though in another order or with other
        small words about them; a slot at its end takes what stands behind the same word."""
        return [
            command
            for tool in self.tools
            if tool.action_type == "read"
            for pattern in patterns(tool)
            if (command := self._fit_words(pattern, first, last))
        ]

    def _fit_words(self, pattern: Pattern, first: int, last: int) -> Command | None:
        """Every word that says something must be the example's, one of them the app's noun."""
        *words, end = pattern.pieces
        tag, loose, arguments = pattern.tag, 0, dict(pattern.fixed)
        if any(p.slot for p in words) or self.message.denies(tag):
            return None
        if end.slot:
            stems = self.message.stems(tag)
            at = next((n for n in range(first, last - 1) if stems[n] == words[-1].stem), -1)
            if at < 0:
                return None
            bounds = self.message.bounds(tag, ask=False, first=at + 1, last=last)
            parameter = parameters(pattern.tool)[end.slot]
            span = (at + 1, bounds.last)
            value = self._values.of(end.kind, parameter, span, pattern.tool, tag)
            if not isinstance(value, Value):
                return None
            last, loose = at + 1, value.words
            arguments[end.slot] = value.value
        said, own = self._said(pattern, first, last), pattern.literals
        if self._repeats(tag, first, last):
            return None
        small = lexicon(tag).function.union(lexicon(tag).question) - lexicon(tag).reference
        told, asked = said - small, own - small
        nouns = self._values.nouns(pattern.tool.app_id, tag)
        if not told <= speech(pattern.tool, tag) or nouns.isdisjoint(told & own):
            return None
        nearness = 2 * len(told & asked) / max(1, len(told) + len(asked))
        if nearness <= NEAR:
            return None
        return Command(pattern.tool, arguments, pattern, loose + len(said ^ own))

    def _repeats(self, tag: str, first: int, last: int) -> bool:
        """Whether one of its words stands twice: what is said in two sentences is no read."""
        stems = [s for s in self.message.stems(tag)[first:last] if s not in lexicon(tag).function]
        return len(stems) > len(set(stems))

    def _said(self, pattern: Pattern, first: int = 0, last: int = -1) -> frozenset[str]:
        """The stems of the message that say something, in the pattern's language."""
        tag, read = pattern.tag, pattern.tool.action_type == "read"
        key = (tag, read, first, last)
        if key not in self._sayings:
            bounds = self.message.bounds(tag, ask=read, first=first, last=last)
            known, stems = lexicon(tag), self.message.stems(tag)
            self._sayings[key] = frozenset(
                stems[n] or f"\0{self.message.tokens[n].kind}"
                for n in range(bounds.first, bounds.last)
                if not self._is_passed_over(n, known)
            )
        return self._sayings[key]

    def follow_up(self) -> list[Command]:
        """The read that was asked for before, with another value: "and in Oslo?"."""
        if not self.reading.before or not self._joining(0):
            return []
        earlier = Commands(replace(self.reading, message=self.reading.before), self.tools)
        found = earlier.readings()
        if len(found) != 1 or found[0].tool.action_type != "read" or not found[0].is_sure:
            return []
        [command] = found
        tag, tool, last = command.pattern.tag, command.tool, len(self.message.tokens)
        first, small = self._joining(0), lexicon(tag).function
        while first < last - 1 and self.message.stems(tag)[first] in small:
            first += 1
        slots = sorted(
            (p for p in command.pattern.pieces if p.slot), key=lambda p: p.kind == "text"
        )
        for slot in slots:
            parameter = parameters(tool)[slot.slot]
            value = self._values.of(slot.kind, parameter, (first, last), tool, tag)
            if isinstance(value, Value):
                return [replace(command, arguments={**command.arguments, slot.slot: value.value})]
        return []

    def asked_record(self) -> list[Command]:
        """What shows the one record that a question is about, by the record's own words."""
        found: dict[str, Command] = {}
        for tool in self.tools:
            for pattern in patterns(tool) if tool.action_type == "read" else ():
                slot = next((p for p in pattern.pieces if p.kind in ("id", "ids")), None)
                if slot is None or not self.message.is_question(pattern.tag):
                    continue
                stems = self.message.stems(pattern.tag)
                for row in self._values.asked_for(tool.app_id, stems, pattern.tag):
                    value = [row["id"]] if slot.kind == "ids" else row["id"]
                    command = Command(tool, {slot.slot: value}, pattern, pointed=True)
                    found.setdefault(f"{tool.app_id} {row['id']}", command)
        return list(found.values()) if len(found) == 1 else []

    def nearest(self) -> list[tuple[float, Pattern]]:
        """The examples by how near the message is to them, the best first, one a function; the
        share of an example's words that the message has, rare ones weighing more. Functions without
        examples are found by their names and descriptions, which weigh less."""
        found: list[tuple[float, Pattern]] = []
        for tool in self.tools:
            scored = [(self._nearness(p), p) for p in patterns(tool) or by_name(tool)]
            if scored:
                found.append(max(scored, key=lambda s: s[0]))
        return sorted((f for f in found if f[0] > 0), key=lambda f: -f[0])

    def _nearness(self, pattern: Pattern) -> float:
        """How near the message is to one example."""
        weights = self._weights
        said = self._said(pattern)
        common = said & pattern.literals
        own = sum(weights[s] for s in pattern.literals)
        share = sum(weights[s] for s in common) / own
        told = len(common) / len(said) if said else 0.0
        if common <= lexicon(pattern.tag).function:
            return 0  # any sentence may have those words
        scale = 1.0 if pattern.tool.examples else _BY_NAME
        if not self._begins(pattern) or self.message.denies(pattern.tag):
            scale *= _ASIDE
        if not self._has_noun(pattern, common):
            scale *= _ASIDE
        return scale * share * (0.7 + 0.3 * told)

    def _has_noun(self, pattern: Pattern, common: frozenset[str]) -> bool:
        """Whether the app's noun is in the message if it is in the example."""
        nouns = self._values.nouns(pattern.tool.app_id, pattern.tag) & pattern.literals
        return not nouns or not nouns.isdisjoint(common)

    def _begins(self, pattern: Pattern) -> bool:
        """Whether the message begins as the example does."""
        bounds = self.message.bounds(pattern.tag, ask=pattern.tool.action_type == "read")
        at = self._past_articles(pattern, bounds.first, bounds.last)
        stems = self.message.stems(pattern.tag)[at : at + 1]
        return bool(stems) and stems[0] in (pattern.pieces[0].stem, *pattern.unordered)

    def draft(self, pattern: Pattern) -> JSONObject:
        """What a form of the function can be filled with beforehand."""
        return draft(self.message, self._values, pattern)

    @cached_property
    def _weights(self) -> dict[str, float]:
        counts: Counter[str] = Counter()
        for tool in self.tools:
            for pattern in patterns(tool) or by_name(tool):
                counts.update(pattern.literals)
        return {stem: 1 / count**0.5 for stem, count in counts.items()}
