"""The calls that a message asks for: an example fits exactly, every word of the message accounted
for by its literal words and slots; nothing else is a command."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from ... import language
from ...catalogue import SLOT
from ...language import fold
from ...types import JSONObject
from ..protocol import ToolSpec
from .examples import Pattern, Piece, by_name, parameters, patterns
from .message import Message, lexicon
from .prompt_reader import Reading
from .slots import SlotValues, Span, Unclear, Value

MAX_CALLS: Final = 3
"""Calls of one message."""

NEAR: Final = 0.6
"""How near, from 0 to 1, a message is to an example whose command it is taken for."""

_BY_NAME: Final = 0.6
"""What words of a name or a description weigh beside those of an example."""

_ASIDE: Final = 0.5
"""What an example weighs that begins with another word than the message or is denied, that is in
another language, or whose noun the message does not have."""

_TRIES, _EDGE = 4, 6
"""Ends that are tried for a slot: places of the literal word behind it, and words from either end
where another slot stands there. No more articles than those words are passed over either."""

_SHORTEST: Final = 4
"""Letters of a word in which a slip of the hand is looked for."""

_OTHER_FORM: Final = Value(None, words=2)
"""What a word counts that is not in the form of the example: more than one that a slot takes as it
stands, so that in "add a task: call Anna" the title does not begin behind the "call"."""

_BREAK = re.compile(r"[;,\n]|[.!?](?=\s)")
_Filled = list[tuple[Piece, Span, Value | Unclear]]


@dataclass(frozen=True, slots=True)
class Command:
    """A call and how it was found: `loose` words that were taken as they stand, `unclear` the
    record that has to be chosen first; `whole` unless the text that it takes may hold more than one
    thing; `colons` that its slots took, behind which another reading may have its text."""

    pattern: Pattern
    arguments: JSONObject
    loose: int = 0
    unclear: Unclear | None = None
    whole: bool = True
    pointed: bool = False
    colons: int = 0

    @property
    def tool(self) -> ToolSpec:
        """The function that is called."""
        return self.pattern.tool

    @property
    def is_complete(self) -> bool:
        """Whether every required parameter has a value."""
        known = parameters(self.tool).values()
        return all(p.name in self.arguments for p in known if p.required)

    @property
    def is_sure(self) -> bool:
        """Whether it may be called as it is."""
        return self.whole and self.is_complete and self.unclear is None

    @property
    def worth(self) -> tuple[bool, bool, bool, int, int, bool, int]:
        """The best comes first: what is clear and whole, then what takes no colon and the fewest
        words as they stand, then what was shown before."""
        return (
            not self.is_complete,
            not self.whole,
            self.unclear is not None and not self.unclear.named,
            self.colons,
            self.loose,
            not self.pointed,
            -len(self.pattern.fixed),
        )


class Commands:
    """One message read as commands of these functions."""

    def __init__(
        self, reading: Reading, tools: Sequence[ToolSpec], message: Message | None = None
    ) -> None:
        self.reading, self.tools = reading, tuple(tools)
        self.message = message or Message.of(reading.message)
        self._values = SlotValues(self.message, reading, self.tools)
        self._all = [p for tool in self.tools for p in patterns(tool)]
        self._openings = frozenset((p.tag, p.pieces[0].stem) for p in self._all) - {("", "")}
        self._tags = frozenset(p.tag for p in self._all)
        self._sayings: dict[tuple[str, bool], frozenset[str]] = {}

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
            best = self._best(start + self._joining(start) if start else 0, last)
            if len(best) != 1 or not best[0].is_sure or (found and best[0].pointed):
                return []
            found += best
        return found

    def respelled(self) -> Commands | None:
        """The same message with each word that nobody knows read as the one word of the examples
        that begins alike and is a slip of the hand away, letters swapped before others; None where
        there is no such word."""
        known = {p.form for pattern in self._all for p in pattern.pieces if p.form}
        known.update(w for tag in self._tags for phrase in lexicon(tag).ask for w in phrase)
        near: dict[str, set[str]] = {}
        for form in known:
            for slip in _slips(form):
                near.setdefault(slip, set()).add(form)
        meant: dict[str, str] = {}
        for word in set(self.message.words) - known:
            slips = {f for s in _slips(word) for f in near.get(s, ()) if f[0] == word[:1]}
            forms = {f for f in slips if sorted(f) == sorted(word)} or slips
            common = any(word in language.of(tag).vocabulary for tag in self._tags)
            if len(word) >= _SHORTEST and not common and len({*map(language.stem, forms)}) == 1:
                meant[word] = min(forms)
        message = self.message.respelled(meant)
        return Commands(self.reading, self.tools, message) if meant else None

    def follow_up(self) -> list[Command]:
        """The read that was asked for before, with another value: "and in Oslo?"."""
        first = self._joining(0)
        earlier = Commands(replace(self.reading, message=self.reading.before), self.tools)
        found = earlier.readings() if self.reading.before and first else []
        if len(found) != 1 or found[0].tool.action_type != "read" or not found[0].is_sure:
            return []
        tool, tag, last = found[0].tool, found[0].pattern.tag, len(self.message.tokens)
        while first < last - 1 and self.message.stems(tag)[first] in lexicon(tag).function:
            first += 1
        slots = [p for p in found[0].pattern.pieces if p.slot]
        for slot in sorted(slots, key=lambda p: p.kind == "text"):
            parameter = parameters(tool)[slot.slot]
            value = self._values.of(slot.kind, parameter, (first, last), tool, tag)
            if isinstance(value, Value):
                arguments = {**found[0].arguments, slot.slot: value.value}
                return [replace(found[0], arguments=arguments)]
        return []

    # Where a command begins

    def _starts(self) -> list[int]:
        """Where another command may begin: a command's first word behind a conjunction or a break.
        Behind a colon is none: "add a task: after lunch" is one thing."""
        tokens = self.message.tokens
        found = (
            n
            for n in range(1, len(tokens))
            if tokens[n].kind == "word"
            and tokens[n - 1].kind != "colon"
            and self._is_boundary(n)
            and any(self._opens(tag, n) for tag in self._tags)
        )
        starts = list(itertools.islice(found, MAX_CALLS + 1))
        return [s for n, s in enumerate(starts) if not n or s - starts[n - 1] > 1]

    def _opens(self, tag: str, at: int) -> bool:
        """Whether a command may begin behind the conjunctions at a place, with its first word or
        with a "show me"."""
        at += self._joining(at)
        if at >= len(self.message.tokens):
            return False
        first, last, _ = self.message.bounds(tag, ask=True, first=at)
        first = self._past_articles(tag, first, last - 1)
        return (tag, self.message.stems(tag)[first]) in self._openings

    def _is_boundary(self, at: int) -> bool:
        between = self.message.text[self.message.tokens[at - 1].end : self.message.tokens[at].start]
        return bool(_BREAK.search(between)) or self._joins(at)

    def _joins(self, at: int) -> bool:
        return bool(self.message.words[at]) and any(
            self.message.stems(tag)[at] in lexicon(tag).conjunctions for tag in self._tags
        )

    def _joining(self, at: int) -> int:
        """How many conjunctions stand at a place."""
        rest = range(at, len(self.message.tokens))
        return sum(1 for _ in itertools.takewhile(self._joins, rest))

    def _past_articles(self, tag: str, at: int, last: int, wanted: str = "") -> int:
        """The place behind articles and colons, or of the word that is wanted."""
        end, stems = min(last, at + _EDGE), self.message.stems(tag)
        while at < end and stems[at] != wanted and self.message.is_passed_over(at, tag):
            at += 1
        return at

    # An example with all its words

    def _best(self, first: int, last: int) -> list[Command]:
        """The commands that fit these tokens best: one, or several that fit as well."""
        fits = [c for p in self._all if (c := self._fit(p, first, last))]
        best = min((c.worth for c in fits), default=None)
        return list({c.tool.name: c for c in reversed(fits) if c.worth == best}.values())[::-1]

    def _fit(self, pattern: Pattern, first: int, last: int) -> Command | None:
        if not pattern.literals.issubset(self.message.stems(pattern.tag)[first:last]):
            return None
        read = pattern.tool.action_type == "read"
        bounds = self.message.bounds(pattern.tag, ask=read, first=first, last=last)
        if pattern.asked and not bounds.asked:
            return None
        nouns = self._values.nouns(pattern.tool.app_id, pattern.tag)
        if not pattern.literals and self._values.points(bounds[:2], pattern.tag, nouns):
            return None  # "what is it?" is no question about a record
        told = not read and any(t.kind == "colon" for t in self.message.tokens[first:last])
        filled = self._walk(pattern, 0, bounds.first, last if told else bounds.last)
        commands = (self._command(pattern, f, first) for f in filled)
        return min(commands, key=lambda c: c.worth, default=None)

    def _walk(self, pattern: Pattern, piece: int, at: int, last: int) -> Iterator[_Filled]:
        """The ways in which the rest of a pattern takes the rest of the message."""
        tag = pattern.tag
        if piece == len(pattern.pieces):
            if self._past_articles(tag, at, last) == last:
                yield []
            return
        wanted = pattern.pieces[piece]
        if wanted.stem:
            at = self._past_articles(tag, at, last, wanted.stem)
            if at < last and self.message.stems(tag)[at] == wanted.stem:
                value = Value(None) if wanted.form == self.message.words[at] else _OTHER_FORM
                for rest in self._walk(pattern, piece + 1, at + 1, last):
                    yield [(wanted, (at, at + 1), value), *rest]
            return
        parameter = parameters(pattern.tool)[wanted.slot]
        if piece + 1 < len(pattern.pieces):  # "the {title} note": the article is the noun's
            at = self._past_articles(tag, at, last)
        for end in self._ends(pattern, piece, at, last):
            value_ = self._values.of(wanted.kind, parameter, (at, end), pattern.tool, tag)
            if value_ is not None:
                for rest in self._walk(pattern, piece + 1, end, last):
                    yield [(wanted, (at, end), value_), *rest]

    def _ends(self, pattern: Pattern, piece: int, at: int, last: int) -> list[int]:
        """Where a slot may end: at the end, before its next literal word, or, before another slot,
        near either end."""
        if piece + 1 == len(pattern.pieces):
            return [last] if at < last else []
        following, tag = pattern.pieces[piece + 1].stem, pattern.tag
        if not following:
            near = {*range(at + 1, min(at + _EDGE, last)), *range(max(at + 1, last - _EDGE), last)}
            return sorted(near)
        stems = self.message.stems(tag)
        places = [n for n in range(at + 1, last) if stems[n] == following]
        return [
            next(
                (n for n in range(end, at + 1, -1) if not self.message.is_passed_over(n - 1, tag)),
                at + 1,
            )
            for end in [*places[:_TRIES], *places[max(_TRIES, len(places) - 2) :]]
        ]

    def _command(self, pattern: Pattern, filled: _Filled, first: int) -> Command:
        """The command of a pattern whose slots are filled."""
        tool, arguments = pattern.tool, {**pattern.fixed}
        titles = [k for k in language.title_keys() if k in parameters(tool)]
        texts: list[Span] = []
        values = [v for _, _, v in filled if isinstance(v, Value)]
        for piece, span, value in filled:
            if piece.slot and isinstance(value, Value):
                named = bool(value.label and titles)
                arguments[titles[0] if named else piece.slot] = (
                    value.label if named else value.value
                )
                texts += [span] if value.words else []
        unclear = next((v for _, _, v in filled if isinstance(v, Unclear)), None)
        pointed = any(v.pointed for v in values)
        if not unclear and (record := self._left_out(tool, arguments)):
            arguments, pointed = {**arguments, **record}, True
        return Command(
            pattern,
            arguments,
            sum(v.words for v in values),
            unclear,
            tool.action_type == "read"
            or all(self._is_one_thing(pattern, span, first, arguments) for span in texts),
            pointed,
            sum(self.message.tokens[n].kind == "colon" for a, b in texts for n in range(a + 1, b)),
        )

    def _left_out(self, tool: ToolSpec, arguments: JSONObject) -> JSONObject:
        """Which record is meant where no word says it: the only one that was shown last."""
        known = parameters(tool)
        left = [p for p in known.values() if p.kind == "id" and p.name not in arguments]
        named = any(k in arguments for k in language.title_keys() if k in known)
        if len(left) != 1 or tool.action_type == "read" or (named and not left[0].required):
            return {}
        newest = self._values.records.newest(tool.app_id)
        is_it = len(newest) == 1 and self._values.records.is_newest(tool.app_id)
        return {left[0].name: newest[0]["id"]} if is_it else {}

    def _is_one_thing(
        self, pattern: Pattern, span: Span, first: int, arguments: JSONObject
    ) -> bool:
        """Whether the words that a slot takes hold no second command, no second thing and no date
        that is another argument's: no command begins behind a conjunction or a break in them, nor
        is the app's own noun there; where something is enumerated, the noun before it is in the
        form of the example."""
        tokens, tag = self.message.tokens, pattern.tag
        stems, nouns = self.message.stems(tag), self._values.nouns(pattern.tool.app_id, tag)
        if tokens[span[1] - 1].kind == "unread":
            return False
        joints = [
            n
            for n in range(span[0] + 1, span[1])
            if self._is_boundary(n) and tokens[n - 1].kind != "colon"
        ]
        if joints:
            written = {fold(w.text) for w in language.tokens(SLOT.sub(" ", pattern.example))}
            plural = [n for n in range(first, span[0]) if stems[n] in nouns]
            if (
                any(self._opens(tag, n) for n in joints)
                or not nouns.isdisjoint(stems[joints[0] + 1 : span[1]])
                or any(self.message.words[n] not in written for n in plural)
            ):
                return False
        dates = {q.slot for p in patterns(pattern.tool) for q in p.pieces if q.kind == "date"}
        told = span[0] and tokens[span[0] - 1].kind == "colon"
        open_ = not dates.issubset(arguments)
        return not (open_ and not told and self._values.is_dated(span, tag))

    # What is near an example

    def _said(self, tag: str, *, ask: bool) -> frozenset[str]:
        """The stems of the message that say something, in a language."""
        if (tag, ask) not in self._sayings:
            first, last, _ = self.message.bounds(tag, ask=ask)
            stems = self.message.stems(tag)
            kept = (n for n in range(first, last) if not self.message.is_passed_over(n, tag))
            self._sayings[tag, ask] = frozenset(
                stems[n] or f"\0{self.message.tokens[n].kind}" for n in kept
            )
        return self._sayings[tag, ask]

    def nearest(self) -> list[tuple[float, Pattern]]:
        """The examples by how near the message is to them, the best first, one a function; the
        share of an example's words that the message has, rare ones weighing more. Functions without
        examples are found by their names and descriptions, which weigh less."""
        found = [
            max(((self._nearness(p), p) for p in own), key=lambda s: s[0])
            for tool in self.tools
            if (own := patterns(tool) or by_name(tool))
        ]
        return sorted((f for f in found if f[0] > 0), key=lambda f: -f[0])

    def _nearness(self, pattern: Pattern) -> float:
        """How near the message is to one example; not at all by words that any sentence may
        have."""
        weights, tag = self._weights, pattern.tag
        said = self._said(tag, ask=pattern.tool.action_type == "read")
        common = said & pattern.literals
        if common <= lexicon(tag).function:
            return 0
        share = sum(weights[s] for s in common) / sum(weights[s] for s in pattern.literals)
        nouns = self._values.nouns(pattern.tool.app_id, tag) & pattern.literals
        bounds = self.message.bounds(tag, ask=pattern.tool.action_type == "read")
        at = self._past_articles(tag, bounds.first, bounds.last)
        begins = not pattern.first.isdisjoint(self.message.stems(tag)[at : at + 1])
        aside = (
            (not begins or self.message.denies(tag))
            + bool(nouns and nouns.isdisjoint(common))
            + (tag != self.message.tag)
        )
        scale = (1.0 if pattern.example else _BY_NAME) * _ASIDE**aside
        return scale * share * (0.7 + 0.3 * len(common) / len(said))

    @cached_property
    def _weights(self) -> dict[str, float]:
        own = (patterns(tool) or by_name(tool) for tool in self.tools)
        counts = Counter(stem for mine in own for pattern in mine for stem in pattern.literals)
        return {stem: 1 / count**0.5 for stem, count in counts.items()}

    def draft(self, pattern: Pattern) -> JSONObject:
        """What a form of the function can be filled with beforehand: the quotations, addresses,
        links and dates that one parameter takes, and for its text what stands behind the example's
        words."""
        arguments, known = dict(pattern.fixed), parameters(pattern.tool).values()
        tokens, stems = self.message.tokens, self.message.stems(pattern.tag)
        taken: set[int] = set()
        for n, token in enumerate(tokens):
            kind = "text" if token.kind == "quote" else token.kind
            free = [p.name for p in known if p.kind == kind and p.name not in arguments]
            if token.kind != "word" and free:
                arguments[free[0]] = token.text
                taken.add(n)
        end = len(tokens)
        at = max((n for n, s in enumerate(stems) if s in pattern.literals), default=-1) + 1
        colon = next((n for n, t in enumerate(tokens) if t.kind == "colon"), end)
        if not pattern.literals.isdisjoint(stems[:colon]):  # what stands behind it is no command
            at = min(at, colon)
        texts = [p for p in known if p.kind == "text" and p.name not in arguments]
        wanted = [p.name for p in texts if p.required] or [p.name for p in texts]
        free_ = at < end and taken.isdisjoint(range(at, end))
        if wanted and free_ and not self._values.points((at, end), pattern.tag):
            arguments[wanted[0]] = self.message.slice(at, end)
        return arguments


def _slips(word: str) -> set[str]:
    """A word, and what it is with one letter left out: two words that share one of these are a slip
    of the hand apart."""
    return {word, *(word[:n] + word[n + 1 :] for n in range(len(word)))}
