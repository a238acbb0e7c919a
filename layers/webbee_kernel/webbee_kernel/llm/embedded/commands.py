"""The calls that a message asks for: an example fits exactly, every word of the message accounted
for by its literal words and slots; nothing else is a command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Final

from ... import language
from ...types import JSONObject
from ..function_form import parameters
from ..protocol import ToolSpec
from .examples import (
    Command,
    Nearness,
    Pattern,
    Piece,
    Span,
    Unclear,
    Value,
    by_name,
    dated,
    patterns,
    unfilled,
)
from .message import BREAK, COLON, Message, lexicon
from .prompt_reader import Reading
from .slots import SlotValues

_TRIES, _EDGE = 4, 6
"""Ends that are tried for a slot: places of the literal word behind it, and words from either end
where another slot stands there."""

MOST_JOINTS: Final = 6
"""Conjunctions and breaks of a message that is looked at for several commands."""

NAMING: Final = ("id", "ids", "email")
"""Kinds of parameters that a name may stand for."""

DAY: Final = len("2026-12-01")
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d(?:T|$)")

_OTHER_FORM: Final = Value(None, words=4)
"""What a word counts that is not in the form of the example: more than it and articles behind it as
a slot takes them, so that in "add a task: call Anna" the title does not begin behind the "call"."""

_Filled = tuple[Piece, Span, Value | Unclear]


class Commands:
    """One message read as commands of these functions."""

    def __init__(
        self, reading: Reading, tools: Sequence[ToolSpec], message: Message | None = None
    ) -> None:
        self.reading, self.tools = reading, tuple(tools)
        told = message or Message.of(reading.message, reading.usual)
        # a short message may be of several languages: each is tried
        self._tags = language.likely_languages(told.text) | {told.tag, language.detect(told.text)}
        self.examples = [p for tool in self.tools for p in self._patterns(tool)]
        self.message = told
        self.values = SlotValues(self.message, reading, self.tools)
        self._held = dict[tuple[str, str], frozenset[str]]()
        self.is_after_write = bool(self.values.records.written)
        begun = ((p.tag, p.pieces[0].stem) for p in self.examples)
        self._openings = {(tag, s) for tag, s in begun if s and s not in lexicon(tag).reference}

    def _patterns(self, tool: ToolSpec) -> list[Pattern]:
        """Its examples in the languages that the message may be in."""
        return [p for tag in sorted(self._tags) for p in patterns(tool, tag)]

    def readings(self) -> list[Command]:
        """What the message asks for: nothing, one command, or several that fit as well."""
        fits = [c for p in self.examples if (c := self._fit(p)) and not self._is_elsewhere(c)]
        best = min((c.worth for c in fits), default=None)
        found = list({c.tool.name: c for c in reversed(fits) if c.worth == best}.values())[::-1]
        # what makes something new goes to the app that was last talked about
        fresh = [c for c in found if not any(unfilled(c.tool, k, ()) for k in ("id", "ids"))]
        last = [c for c in fresh if self.values.records.is_newest(c.tool.app_id)]
        return last if len(last) == 1 else found  # "another one: …"

    def _is_elsewhere(self, command: Command) -> bool:
        """Whether it lacks its record where another app's was shown last: "add … to it"."""
        return command.is_lost and not self.values.records.is_newest(command.tool.app_id)

    @cached_property
    def seeking(self) -> Commands:
        """The same, where what no record is called by may be one that nobody was shown."""
        seeking = copy(self)
        seeking.values = SlotValues(self.message, replace(self.reading, seeks=True), self.tools)
        return seeking

    def parts(self) -> list[str]:
        """The commands that a message joins; none unless every part is one."""
        tokens = self.message.tokens
        joints = self.joints((0, len(tokens)))
        # a text of many parts is no list of commands
        if len(joints) > MOST_JOINTS:
            return []
        begun = [n for n in joints if any(self._opens(tag, n) for tag in self._tags)]
        found = []
        for first, last in pairwise([0, *begun, len(tokens)]) if begun else ():
            said = self.message.text[tokens[self.past_joints(first)].start : tokens[last - 1].end]
            if not Commands(replace(self.reading, message=said), self.tools).readings():
                return []
            found.append(said)
        return found

    # Where a command begins

    def _opens(self, tag: str, at: int) -> bool:
        """Whether a command may begin behind the conjunctions at a place, with its first word or
        with a "show me"."""
        at = self.past_joints(at)
        if at >= len(self.message.tokens):
            return False
        first, last, _ = self.message.bounds(tag, ask=True, first=at)
        at = self.message.past_articles(tag, first, last - 1)
        return (tag, self.message.stems(tag)[at]) in self._openings

    def joins(self, at: int) -> bool:
        return bool(self.message.words[at]) and any(
            self.message.stems(tag)[at] in lexicon(tag).conjunctions for tag in self._tags
        )

    def past_joints(self, at: int) -> int:
        """The place behind the conjunctions that stand at a place."""
        while at < len(self.message.tokens) and self.joins(at):
            at += 1
        return at

    def _is_verb(self, tag: str, at: int) -> bool:
        """Whether a small word that no record begins with stands at a place: "did", "is"."""
        known, stems = lexicon(tag), self.message.stems(tag)
        return at < len(stems) and stems[at] in known.function - known.reference - known.plural

    # An example with all its words

    def _fit(self, pattern: Pattern) -> Command | None:
        read = pattern.tool.action_type == "read"
        # "can you show me …" leads to a read, "can you" alone to an effect
        bounds, stems = self.message.bounds(pattern.tag, ask=read), self.message.stems(pattern.tag)
        key = pattern.tool.app_id, pattern.tag
        held = self._held.get(key) or self._may_hold(*key)
        if bounds.asked < pattern.asked or not pattern.literals.issubset(held):
            return None
        if self.message.asks > (read | self.message.is_led(pattern.tag)):
            return None
        # a text may end in what looks like politeness: "tell Anna thanks"
        ends = [bounds.last] if read else [bounds.last, len(stems)][COLON in stems :]
        for last in ends:  # "tell Anna thanks"
            filled = self._walk(pattern, 0, bounds.first, last)
            if found := [self._command(pattern, f) for f in filled]:
                return min(found, key=lambda c: c.worth)
        return None

    def _may_hold(self, app_id: str, tag: str) -> frozenset[str]:
        """The words of the message, and the app's noun: it need not be said."""
        nouns = self.values.nouns(app_id, tag)
        found = self._held[app_id, tag] = nouns.union(self.message.stems(tag), (COLON,))
        return found

    def _walk(self, pattern: Pattern, piece: int, at: int, last: int) -> Iterator[list[_Filled]]:
        """The ways in which the rest of a pattern takes the rest of the message."""
        tag = pattern.tag
        if piece == len(pattern.pieces):
            left = range(self.message.past_articles(tag, at, last), last)
            if all(self.message.words[n] in lexicon(tag).openers for n in left):  # "again"
                yield []
            return
        wanted = pattern.pieces[piece]
        if wanted.stem:
            if (past := self._past_word(pattern, piece, at, last)) is not None:
                is_form = wanted.form == self.message.words[past - 1] or wanted.stem == COLON
                value = Value(None) if is_form else _OTHER_FORM
                for rest in self._walk(pattern, piece + 1, past, last):
                    yield [(wanted, (past - 1, past), value), *rest]
            if self._is_noun_of_id(pattern, piece):
                for rest in self._slot(pattern, piece + 1, at, last):
                    if self._says_which(rest[0], wanted.stem, tag):
                        yield rest
            return
        yield from self._slot(pattern, piece, at, last)

    def _is_noun_of_id(self, pattern: Pattern, piece: int) -> bool:
        """Whether a literal word is what an app calls its records, and one of them stands behind:
        the noun alone may be the record, and its name alone, too."""
        behind = pattern.pieces[piece + 1 : piece + 2]
        is_led = len(pattern.literals) > 1 and bool(behind)
        is_id = is_led and behind[0].kind in ("id", "ids")
        wanted = pattern.pieces[piece].stem
        return is_id and wanted in self.values.nouns(pattern.tool.app_id, pattern.tag)

    def _says_which(self, filled: _Filled, noun: str, tag: str) -> bool:
        """Whether it is one of the records that were shown, or the noun stands in it."""
        _, span, value = filled
        is_seen = isinstance(value, Value) or bool(value.rows)
        return is_seen or noun in self.message.stems(tag)[slice(*span)]

    def _slot(self, pattern: Pattern, piece: int, at: int, last: int) -> Iterator[list[_Filled]]:
        """The ways in which a slot and the rest of a pattern take the rest of the message."""
        tag, wanted = pattern.tag, pattern.pieces[piece]
        at = self._begins(pattern, piece, at, last)
        if not piece and pattern.tool.action_type != "read" and self._is_verb(tag, at):
            return  # "is the rent done" tells nothing
        parameter = parameters(pattern.tool)[wanted.slot]
        for end in self._ends(pattern, piece, at, last):
            value_ = self.values.of(wanted.kind, parameter, (at, end), pattern.tool, tag)
            if value_ is not None:
                for rest in self._walk(pattern, piece + 1, end, last):
                    yield [(wanted, (at, end), value_), *rest]

    def _past_word(self, pattern: Pattern, piece: int, at: int, last: int) -> int | None:
        """The place behind a literal word; what leads to a text is a colon, too: "note with the
        text …" as "note: …"."""
        stem, tag = pattern.pieces[piece].stem, pattern.tag
        past = self.message.past_articles(tag, at, last, stem)
        if past < last and self.message.stems(tag)[past] == stem:
            return past + 1
        if stem != COLON or pattern.pieces[piece + 1].kind != "text" or at >= last:
            return None
        begins = self._begins(pattern, piece + 1, at, last)
        return begins if begins > past else None

    def _begins(self, pattern: Pattern, piece: int, at: int, last: int) -> int:
        """Where the value of a slot begins: behind articles, or behind what leads to a text."""
        wanted, tokens = pattern.pieces[piece], self.message.tokens
        names = wanted.kind != "text" or wanted.slot in language.title_keys()
        # "the {title} note": the noun's article
        after = self.message.past_articles(pattern.tag, at, last)
        is_quoted = after < last and tokens[after].kind == "quote"
        if is_quoted or (names and piece + 1 < len(pattern.pieces)):
            at = after
        else:
            at = next((n + 1 for n in range(at, after) if tokens[n].kind == "colon"), at)
        return at

    def _ends(self, pattern: Pattern, piece: int, at: int, last: int) -> list[int]:
        """Where a slot may end: at the end, before its next literal word, or, before another slot,
        near either end."""
        if piece + 1 == len(pattern.pieces):
            return [last] if at < last else []
        following, tag = pattern.pieces[piece + 1].stem, pattern.tag
        stems = self.message.stems(tag)
        if not following:
            # all pairs of ends would be quadratic: only those near either end are tried
            near = {*range(at + 1, min(at + _EDGE, last)), *range(max(at + 1, last - _EDGE), last)}
            colon = next((n for n in range(at, last) if stems[n] == COLON), last)
            leads = language.of(tag).words.limits  # "hand it in by" is no title
            whole = (n for n in near if n <= colon and stems[n - 1] not in leads)
            if pattern.pieces[piece].kind in NAMING:
                whole = (n for n in whole if self._ends_a_name(pattern, at, n))
            return sorted(n for n in whole if not self.message.is_passed_over(n - 1, tag))
        places = [n for n in range(at + 1, last) if stems[n] == following]
        return [
            next(
                (n for n in range(end, at + 1, -1) if not self.message.is_passed_over(n - 1, tag)),
                at + 1,
            )
            for end in [*places[:_TRIES], *places[max(_TRIES, len(places) - 2) :]]
        ]

    def _ends_a_name(self, pattern: Pattern, first: int, last: int) -> bool:
        """Whether what a record or a person is called may end there: not between two names of one
        person ("Anna | Weber"), nor with a small word ("ann@x.com about")."""
        stem = self.message.stems(pattern.tag)[last - 1]
        if stem in self.values.nouns(pattern.tool.app_id, pattern.tag):  # "die Notiz | Router"
            return True
        is_inside = all(t.text.istitle() for t in self.message.tokens[last - 1 : last + 1])
        return not is_inside and (last - first == 1 or stem not in lexicon(pattern.tag).small)

    def _command(self, pattern: Pattern, filled: list[_Filled]) -> Command:
        """The command of a pattern whose slots are filled."""
        tool, found = pattern.tool, [(p, span, v) for p, span, v in filled if isinstance(v, Value)]
        found = found if tool.action_type == "read" else self._dated_apart(pattern, found)
        untold = self._untold(pattern, found)
        told = {p.slot: v.value for p, _, v in found if p.slot and p.slot not in untold}
        arguments = {**pattern.fixed, **told}
        spans = [span for piece, span, value in found if piece.slot and value.words]
        unclear = next((v for *_, v in filled if isinstance(v, Unclear)), None)
        arguments |= {} if unclear else self.left_out(tool, arguments)
        row = self._named(tool, arguments)
        for piece, span, _ in found:
            if row and piece.kind == "date" and piece.slot in arguments:
                said, held = arguments[piece.slot], row.get(piece.slot)
                arguments[piece.slot] = self._moved(str(said), str(held), span, pattern.tag)
        return Command(
            pattern,
            arguments,
            sum(value.words for *_, value in found),
            unclear,
            not untold and all(self._is_one_thing(pattern, span, arguments) for span in spans),
            sum(bool(piece.stem) for piece, *_ in filled),
        )

    def _dated_apart(
        self, pattern: Pattern, found: list[tuple[Piece, Span, Value]]
    ) -> list[tuple[Piece, Span, Value]]:
        """What was found, a day that a title begins or ends with as the one date that has no value:
        "remind me that on Friday the rent is due"."""
        tool, known = pattern.tool, parameters(pattern.tool)
        free = dated(tool) - {p.slot for p, *_ in found} - pattern.fixed.keys()
        titles = [one for one in found if one[0].slot in language.title_keys()]
        if len(free) != 1 or len(titles) != 1:
            return found
        [(piece, span, _)], [name] = titles, free
        for day, rest in self._edges(span, pattern.tag):
            told = self.values.of("date", known[name], day, tool, pattern.tag)
            title = self.values.of(piece.kind, known[piece.slot], rest, tool, pattern.tag)
            if isinstance(told, Value) and isinstance(title, Value):
                found.remove(titles[0])
                date = (Piece(slot=name, kind="date"), day, told)
                return [*found, (piece, rest, title), date]
        return found

    def _edges(self, span: Span, tag: str) -> Iterator[tuple[Span, Span]]:
        """The first words and the rest, and the last ones, the most first, where a date stands in
        them; no article ends them, nor begins them but one that leads to a day."""
        first, last = span
        if self.message.tokens[first].kind == "quote" or not self.values.holds_date(span, tag):
            return
        leads = language.of(tag).calendar.day_lead.split()
        for size in range(min(_EDGE, last - first - 1), 0, -1):
            for at, rest in ((first, (first + size, last)), (last - size, (first, last - size))):
                is_led = self.message.words[at] in leads or not self.message.is_passed_over(at, tag)
                if is_led and not self.message.is_passed_over(at + size - 1, tag):
                    yield (at, at + size), rest

    def _named(self, tool: ToolSpec, arguments: JSONObject) -> JSONObject:
        """The record that a write changes, as it was shown; empty for a read, or without one."""
        ids = {arguments.get(n) for n, p in parameters(tool).items() if p.kind == "id"} - {None}
        if tool.action_type == "read" or len(ids) != 1:
            return {}
        return next((r for r in self.values.records.known(tool.app_id) if r["id"] in ids), {})

    def _moved(self, said: str, held: str, span: Span, tag: str) -> str:
        """A moment with the day, or the hour, that its record has, where the message tells the
        other alone: "move it to 7pm"."""
        if not _MOMENT.match(held):
            return said
        text, at = self.message.slice(*span), datetime.fromisoformat(self.reading.at)
        kinds = {m.kind for t in (tag, self.message.tag) for m in language.dates(text, t, at)}
        if kinds == {"time"}:
            return held[:DAY] + said[DAY:]
        return said if "T" in said else said + held[DAY:]

    def _untold(self, pattern: Pattern, found: Sequence[tuple[Piece, Span, Value]]) -> set[str]:
        """The texts to somebody that nothing leads to: "send her the link" tells none."""
        texts = [(p.slot, span[0]) for p, span, v in found if p.kind == "text" and v.words]
        return {name for name, first in texts if not self.values.is_told(pattern, name, first)}

    def left_out(self, tool: ToolSpec, arguments: JSONObject) -> JSONObject:
        """Which record is meant where no word says it: the only one that was shown last."""
        left = unfilled(tool, "id", arguments)
        unnamed = not parameters(tool).keys() & arguments.keys() & {*language.title_keys()}
        newest = self.values.records.newest(tool.app_id)
        is_it = len(newest) == 1 and self.values.records.is_newest(tool.app_id)
        may = is_it and len(left) == 1 and (unnamed or parameters(tool)[left[0]].required)
        return {left[0]: newest[0]["id"]} if may else {}

    def _is_one_thing(self, pattern: Pattern, span: Span, told: JSONObject) -> bool:
        """Whether the words that a slot of a write takes are one text, and nothing of them is
        another command's, another thing's or another argument's."""
        if pattern.tool.action_type == "read":
            return True
        is_unread = self.message.tokens[span[1] - 1].kind == "unread"
        is_more = self._is_several(pattern, span) or self._holds_more(pattern, span, told)
        return not (is_unread or is_more) and self._begins_a_text(span, pattern.tag)

    def _holds_more(self, pattern: Pattern, span: Span, told: JSONObject) -> bool:
        """Whether more than a text stands here: a quotation, the mark of "can you …?", a value."""
        tag, tool, message = pattern.tag, pattern.tool, self.message
        # only what the slot begins with can be a quotation of its own
        last = span[0] + 1 if message.colon else span[1]  # "note: he said “no”" is one text
        is_asked = message.colon and message.is_led(tag) and message.text.endswith("?")
        if is_asked or "quote" in (token.kind for token in message.tokens[span[0] : last]):
            return True
        is_date = bool(dated(tool)) and self.values.is_dated(span, tag)
        return is_date or self._holds_a_choice(pattern, span, told)

    def _holds_a_choice(self, pattern: Pattern, span: Span, told: JSONObject) -> bool:
        """Whether a word here is a choice of a parameter that has no value."""
        known = parameters(pattern.tool).values()
        free = [p for p in known if p.kind == "choice" and p.name not in told]
        places = [(n, n + 1) for n in range(*span)]
        return any(self.values.choice(p, place, pattern.tag) for p in free for place in places)

    def _begins_a_text(self, span: Span, tag: str) -> bool:
        """Whether a text may begin here: behind a colon; or with no small word but behind one, as
        in "note that I …", so that "a task out of the first mail" is none."""
        stems, words, known = self.message.stems(tag), self.message.words, lexicon(tag)
        before, at = span[0] - 1, span[0]
        if before >= 0 and self.message.tokens[before].kind == "colon":
            return True
        is_led = (
            before >= 0 and stems[before] in known.small and words[before] not in known.particles
        )
        is_led |= words[at] in known.articles - known.particles
        return COLON not in stems[at + 1 : span[1]] and (is_led or stems[at] not in known.small)

    def joints(self, span: Span) -> list[int]:
        """Where something else may begin in these words: behind a conjunction or a break."""
        tokens, text = self.message.tokens, self.message.text
        return [
            n
            for n in range(span[0] + 1, span[1])
            if tokens[n - 1].kind != "colon"
            and (BREAK.search(text, tokens[n - 1].end, tokens[n].start) or self.joins(n))
        ]

    def _is_several(self, pattern: Pattern, span: Span) -> bool:
        """Whether another command or another thing begins in these words."""
        tag = pattern.tag
        joints = self.joints(span)
        if not joints:
            return False
        stems, nouns = self.message.stems(tag), self.values.nouns(pattern.tool.app_id, tag)
        return any(
            (self._opens(tag, n) and stems[n] not in lexicon(tag).plural)
            or stems[n] in lexicon(tag).correction
            for n in joints
        ) or not nouns.isdisjoint(stems[joints[0] + 1 : span[1]])

    # What is near an example

    def nearest(self) -> list[tuple[float, Pattern]]:
        """The examples, the nearest first, one a function."""
        own = [p for tool in self.tools if (p := self._patterns(tool) or by_name(tool))]
        return Nearness(self.message, own).nearest()

    def begins(self, pattern: Pattern) -> bool:
        """Whether the message begins with the first word of an example."""
        tag = pattern.tag
        at = self.message.bounds(tag, ask=pattern.tool.action_type == "read").first
        return self.message.stems(tag)[at : at + 1] == (pattern.pieces[0].stem,)
