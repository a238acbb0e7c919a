"""The calls that a message requests: an example must match exactly, with every word covered by
literal words and slots."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
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
    date_parameters,
    free_names,
    name_pattern,
    patterns,
)
from .message import BREAK, COLON, Message, lexicon
from .prompt_reader import ParsedPrompt
from .slots import SlotValues

_TRIES, _EDGE = 4, 6
"""Candidate ends of a slot: occurrences of the next literal word; words from either end before
another slot."""

MAX_BOUNDARIES: Final = 6
"""Maximum boundaries of a message that is split into several commands."""

NAMING: Final = ("id", "ids", "email")
"""Parameter kinds that a name can refer to."""

_OTHER_FORM: Final = Value(None, words=4)
"""The cost of a word in another form than in the example; higher than of a slot that includes it,
so that in "add a task: call Anna" the title begins with "call"."""

_Binding = tuple[Piece, Span, Value | Unclear]


class Commands:
    """One message interpreted as commands of these functions."""

    def __init__(self, reading: ParsedPrompt, tools: Sequence[ToolSpec]) -> None:
        self.reading, self.tools = reading, tuple(tools)
        self.message = own = Message.of(reading.message, reading.default_tag)
        # a short message may be of several languages: each is tried
        self._tags = language.likely_languages(own.text) | {own.tag, language.detect(own.text)}
        self.examples = [p for tool in self.tools for p in self._patterns(tool)]
        self.values = SlotValues(self.message, reading, self.tools)
        self._word_cache = dict[tuple[str, str], frozenset[str]]()
        openings = ((p.tag, p.pieces[0].stem) for p in self.examples)
        self._openings = {(tag, s) for tag, s in openings if s and s not in lexicon(tag).reference}

    def _patterns(self, tool: ToolSpec) -> list[Pattern]:
        """A function's examples in the candidate languages."""
        return [p for tag in sorted(self._tags) for p in patterns(tool, tag)]

    def readings(self) -> list[Command]:
        """The best interpretations: none, one command, or several that fit equally."""
        fits = [c for p in self.examples if (c := self._fit(p))]
        # not what lacks its record while another app's was shown last: "add … to it"
        is_newest = self.values.records.is_newest
        fits = [c for c in fits if not c.lacks_record or is_newest(c.tool.app_id)]
        # an order may have the words of a question: "write to Ann", "wrote Ann?"
        orders = [c for c in fits if not c.pattern.example.endswith("?")]
        fits = fits if self.message.is_question else orders or fits
        best = min((c.rank for c in fits), default=None)
        found = list({c.tool.name: c for c in reversed(fits) if c.rank == best}.values())[::-1]
        # what makes something new goes to the app that was last talked about
        fresh = [c for c in found if not any(free_names(c.tool, k, ()) for k in ("id", "ids"))]
        last = [c for c in fresh if is_newest(c.tool.app_id)]
        return last if len(last) == 1 else found  # "another one: …"

    def calls(self, told: Iterable[tuple[str, JSONObject]]) -> list[Command]:
        """The calls of these functions, by name, with these arguments."""
        own = {t.name: Pattern(t, "", self.message.tag, (), {}) for t in self.tools}
        return [Command(own[name], given) for name, given in told if name in own]

    @cached_property
    def with_unknown(self) -> Commands:
        """The same with names of unknown records."""
        return Commands(replace(self.reading, seek_new=True), self.tools)

    def parts(self) -> list[str]:
        """The parts of a message that joins several commands; empty unless every part is one."""
        tokens = self.message.tokens
        bounds = self.boundaries((0, len(tokens)))
        # a text of many parts is no list of commands
        if len(bounds) > MAX_BOUNDARIES:
            return []
        starts = [n for n in bounds if any(self._opens_command(tag, n) for tag in self._tags)]
        found = []
        for first, last in pairwise([0, *starts, len(tokens)]) if starts else ():
            part = self.message.text[
                tokens[self.skip_conjunctions(first)].start : tokens[last - 1].end
            ]
            if not Commands(replace(self.reading, message=part), self.tools).readings():
                return []
            found.append(part)
        return found

    # Where a command begins

    def _opens_command(self, tag: str, at: int) -> bool:
        """Whether a command can begin after the conjunctions at a position."""
        at = self.skip_conjunctions(at)
        if at >= len(self.message.tokens):
            return False
        first, last, _ = self.message.bounds(tag, ask=True, first=at)
        at = self.message.skip_articles(tag, first, last - 1)
        return (tag, self.message.stems(tag)[at]) in self._openings

    def is_conjunction(self, at: int) -> bool:
        return bool(self.message.words[at]) and any(
            self.message.stems(tag)[at] in lexicon(tag).conjunctions for tag in self._tags
        )

    def skip_conjunctions(self, at: int) -> int:
        """The position after conjunctions."""
        while at < len(self.message.tokens) and self.is_conjunction(at):
            at += 1
        return at

    # An example with all its words

    def _fit(self, pattern: Pattern) -> Command | None:
        read = pattern.tool.action_type == "read"
        # "can you show me …" leads to a read, "can you" alone to an effect
        bounds, stems = self.message.bounds(pattern.tag, ask=read), self.message.stems(pattern.tag)
        key = pattern.tool.app_id, pattern.tag
        words = self._word_cache.get(key) or self._known_words(*key)
        if bounds.is_question < pattern.is_question or not pattern.literals.issubset(words):
            return None
        if self.message.is_question > (read | self.message.has_modal_lead(pattern.tag)):
            return None
        # a text may end in what looks like politeness: "tell Anna thanks"
        ends = [bounds.last] if read else [bounds.last, len(stems)][COLON in stems :]
        is_letter = len(self.message.line_starts) > 1  # its "thanks" is its own
        for last in sorted(ends, reverse=is_letter):
            filled = self._walk(pattern, 0, bounds.first, last)
            if found := [self._command(pattern, f) for f in filled]:
                return min(found, key=lambda c: c.rank)
        return None

    def _known_words(self, app_id: str, tag: str) -> frozenset[str]:
        """The words of the message and the app's nouns, which may be omitted."""
        nouns = self.values.nouns(app_id, tag)
        found = self._word_cache[app_id, tag] = nouns.union(self.message.stems(tag), (COLON,))
        return found

    def _walk(self, pattern: Pattern, piece: int, at: int, last: int) -> Iterator[list[_Binding]]:
        """The matches of the rest of a pattern with the rest of the message."""
        tag = pattern.tag
        if piece == len(pattern.pieces):
            nouns = self.values.nouns(pattern.tool.app_id, tag)
            if self.message.is_tail(tag, at, last, nouns):
                yield []
            return
        wanted = pattern.pieces[piece]
        if wanted.stem:
            if (after := self._after_word(pattern, piece, at, last)) is not None:
                is_form = wanted.form == self.message.words[after - 1] or wanted.stem == COLON
                value = Value(None) if is_form else _OTHER_FORM
                for rest in self._walk(pattern, piece + 1, after, last):
                    yield [(wanted, (after - 1, after), value), *rest]
            if self._is_noun_of_id(pattern, piece):
                for rest in self._slot(pattern, piece + 1, at, last):
                    if self._is_record(rest[0], wanted.stem, tag):
                        yield rest
            return
        yield from self._slot(pattern, piece, at, last)

    def _is_noun_of_id(self, pattern: Pattern, piece: int) -> bool:
        """Whether a literal word is the app's noun before an id slot, so that noun or name alone
        may be the record."""
        kinds = [p.kind for p in pattern.pieces[piece + 1 : piece + 2]]
        is_led = len(pattern.literals) > 1 and kinds in (["id"], ["ids"])
        nouns = self.values.nouns(pattern.tool.app_id, pattern.tag)
        return is_led and pattern.pieces[piece].stem in nouns

    def _is_record(self, filled: _Binding, noun: str, tag: str) -> bool:
        """Whether the value is a shown record, or its span contains the noun."""
        _, span, value = filled
        is_known = isinstance(value, Value) or bool(value.rows)
        return is_known or noun in self.message.stems(tag)[slice(*span)]

    def _slot(self, pattern: Pattern, piece: int, at: int, last: int) -> Iterator[list[_Binding]]:
        """The matches of a slot and the rest of a pattern with the rest of the message."""
        tag, wanted = pattern.tag, pattern.pieces[piece]
        at = self._value_start(pattern, piece, at, last)
        if not piece and pattern.tool.action_type != "read":
            if not lexicon(tag).bare.isdisjoint(self.message.stems(tag)[at : at + 1]):
                return  # "is the rent done" tells nothing
            is_found = wanted.kind == "text" and free_names(pattern.tool, "id", ())
            if is_found and self._opens_command(tag, at):
                return  # "show me what I have | done", no title that was shown
        parameter = parameters(pattern.tool)[wanted.slot]
        for end in self._value_ends(pattern, piece, at, last):
            value_ = self.values.of(wanted.kind, parameter, (at, end), pattern.tool, tag)
            if value_ is not None:
                for rest in self._walk(pattern, piece + 1, end, last):
                    yield [(wanted, (at, end), value_), *rest]

    def _after_word(self, pattern: Pattern, piece: int, at: int, last: int) -> int | None:
        """The position after a literal word, or None; lead-in words of a text, or a line break,
        match a colon: "note with the text …" as "note: …"."""
        stem, tag = pattern.pieces[piece].stem, pattern.tag
        after = self.message.skip_articles(tag, at, last, stem)
        if after < last and self.message.stems(tag)[after] == stem:
            return after + 1
        if stem != COLON or pattern.pieces[piece + 1].kind != "text" or at >= last:
            return None
        begins = self._value_start(pattern, piece + 1, at, last)
        return begins if begins > after or begins in self.message.line_starts else None

    def _value_start(self, pattern: Pattern, piece: int, at: int, last: int) -> int:
        """The start of a slot's value: after articles or lead-in words."""
        wanted, tokens = pattern.pieces[piece], self.message.tokens
        names = wanted.kind != "text" or wanted.slot in language.title_keys()
        # "the {title} note": the noun's article
        after = self.message.skip_articles(pattern.tag, at, last)
        is_quoted = after < last and tokens[after].kind == "quote"
        if is_quoted or (names and piece + 1 < len(pattern.pieces)):
            at = after
        else:
            at = next((n + 1 for n in range(at, after) if tokens[n].kind == "colon"), at)
        return at

    def _value_ends(self, pattern: Pattern, piece: int, at: int, last: int) -> list[int]:
        """Candidate ends of a slot: the end, before the next literal word, or, before another slot,
        near either end."""
        if piece + 1 == len(pattern.pieces):
            return [last] if at < last else []
        next_word, tag = pattern.pieces[piece + 1].stem, pattern.tag
        stems = self.message.stems(tag)
        if not next_word:
            # all pairs of ends would be quadratic: only those near either end are tried
            ends = {*range(at + 1, min(at + _EDGE, last)), *range(max(at + 1, last - _EDGE), last)}
            colon = next((n for n in range(at, last) if stems[n] == COLON), last)
            leads = language.of(tag).words.limits  # "hand it in by" is no title
            allowed = (n for n in ends if n <= colon and stems[n - 1] not in leads)
            allowed = (n for n in allowed if self._is_name_end(pattern, piece, at, n))
            return sorted(n for n in allowed if not self.message.is_skippable(n - 1, tag))
        places = [n for n in range(at + 1, last) if stems[n] == next_word]
        if next_word == COLON and pattern.pieces[piece].kind != "date":
            places = self.message.in_line(places, at, last)
        return [
            next(
                (n for n in range(end, at + 1, -1) if not self.message.is_skippable(n - 1, tag)),
                at + 1,
            )
            for end in [*places[:_TRIES], *places[max(_TRIES, len(places) - 2) :]]
        ]

    def _is_name_end(self, pattern: Pattern, piece: int, first: int, last: int) -> bool:
        """Whether a slot before another may end there: a name not inside a person's ("Anna |
        Weber"), nor with a function word ("ann@x.com about"), one of a record before a text only
        where it is whole: "call the plumber tomorrow" renames nothing."""
        app_id, stem = pattern.tool.app_id, self.message.stems(pattern.tag)[last - 1]
        nouns = self.values.nouns(app_id, pattern.tag)
        if stem in nouns:  # "die Notiz | Router"
            return True
        if pattern.is_open_at(piece):
            is_it = self.values.is_reference((first, last), pattern.tag, nouns)
            return is_it or bool(self.values.called((first, last), app_id))
        is_inside = all(t.text.istitle() for t in self.message.tokens[last - 1 : last + 1])
        is_whole = not is_inside and (last - first == 1 or stem not in lexicon(pattern.tag).fillers)
        return pattern.pieces[piece].kind not in NAMING or is_whole

    def _command(self, pattern: Pattern, filled: list[_Binding]) -> Command:
        """The command of a matched pattern."""
        tool, found = pattern.tool, [(p, span, v) for p, span, v in filled if isinstance(v, Value)]
        found = found if tool.action_type == "read" else self._split_date(pattern, found)
        # an outgoing text without a lead-in word does not count: "send her the link"
        texts = [(p.slot, span[0]) for p, span, v in found if p.kind == "text" and v.words]
        bare_texts = {slot for slot, at in texts if not self.values.has_lead(pattern, slot, at)}
        if any(p.kind == "date" for p, *_ in found):  # of "on Friday" no title is left
            found = [o for o in found if o[0].kind != "text" or not self._is_small(o[1], pattern)]
        values = {p.slot: v.value for p, _, v in found if p.slot and p.slot not in bare_texts}
        arguments = {**pattern.fixed, **values}
        spans = [span for piece, span, value in found if piece.slot and value.words]
        unclear = next((v for *_, v in filled if isinstance(v, Unclear)), None)
        arguments |= {} if unclear else self.implied_id(tool, arguments)
        row = self._record(tool, arguments)
        for piece, span, _ in found:
            if row and piece.kind == "date" and piece.slot in arguments:
                new, old = arguments[piece.slot], row.get(piece.slot)
                arguments[piece.slot] = self.values.merge_time(
                    str(new), str(old), span, pattern.tag
                )
        # "add permits for A, B" is no permit of "A, B"
        is_plural = any(v is _OTHER_FORM for *_, v in found) and tool.action_type != "read"
        is_several = is_plural and not self.reading.is_item and any(map(self.boundaries, spans))
        return Command(
            pattern,
            arguments,
            sum(value.words for *_, value in found),
            unclear,
            not (bare_texts or is_several)
            and all(self._is_one_value(pattern, span, arguments) for span in spans),
            sum(bool(piece.stem) for piece, *_ in filled),
        )

    def _split_date(
        self, pattern: Pattern, found: list[tuple[Piece, Span, Value]]
    ) -> list[tuple[Piece, Span, Value]]:
        """The bindings, with a day at the edge of a title, or all of it, moved to the only free
        date parameter: "remind me that on Friday the rent is due"."""
        tool, known = pattern.tool, parameters(pattern.tool)
        free = date_parameters(tool) - {p.slot for p, *_ in found} - pattern.fixed.keys()
        titles = [one for one in found if one[0].slot in language.title_keys()]
        if len(free) != 1 or len(titles) != 1:
            return found
        [(piece, span, _)], [name] = titles, free
        for day, rest in self._edges(span, pattern.tag):
            value = self.values.of("date", known[name], day, tool, pattern.tag)
            title = self.values.of(piece.kind, known[piece.slot], rest, tool, pattern.tag)
            title = Value("") if self._is_small(rest, pattern) else title
            if isinstance(value, Value) and isinstance(title, Value):
                found.remove(titles[0])
                date = (Piece(slot=name, kind="date"), day, value)
                return [*found, (piece, rest, title), date]
        return found

    def _is_small(self, span: Span, pattern: Pattern) -> bool:
        """Whether these are only function words, or none."""
        stems = self.message.stems(pattern.tag)[slice(*span)]
        return lexicon(pattern.tag).function.issuperset(stems)

    def _edges(self, span: Span, tag: str) -> Iterator[tuple[Span, Span]]:
        """Splits of a span with a date into edge and rest, the longest edge first; edges do not end
        with an article, nor begin with one except before a day."""
        first, last = span
        if self.message.tokens[first].kind == "quote" or not self.values.has_date(span, tag):
            return
        leads = language.of(tag).calendar.day_lead.split()
        for size in range(min(_EDGE, last - first), 0, -1):
            for at, rest in ((first, (first + size, last)), (last - size, (first, last - size))):
                is_led = self.message.words[at] in leads or not self.message.is_skippable(at, tag)
                if is_led and not self.message.is_skippable(at + size - 1, tag):
                    yield (at, at + size), rest

    def _record(self, tool: ToolSpec, arguments: JSONObject) -> JSONObject:
        """The shown record that a write changes; empty for reads or if unknown."""
        ids = {arguments.get(n) for n, p in parameters(tool).items() if p.kind == "id"} - {None}
        if tool.action_type == "read" or len(ids) != 1:
            return {}
        return next((r for r in self.values.records.known(tool.app_id) if r["id"] in ids), {})

    def implied_id(self, tool: ToolSpec, arguments: JSONObject) -> JSONObject:
        """The id argument if the message does not name the record: the only one shown last."""
        free = free_names(tool, "id", arguments)
        untitled = not parameters(tool).keys() & arguments.keys() & {*language.title_keys()}
        newest = self.values.records.newest(tool.app_id)
        is_it = len(newest) == 1 and self.values.records.is_newest(tool.app_id)
        is_implied = is_it and len(free) == 1 and (untitled or parameters(tool)[free[0]].required)
        return {free[0]: newest[0]["id"]} if is_implied else {}

    def _is_one_value(self, pattern: Pattern, span: Span, arguments: JSONObject) -> bool:
        """Whether a write's slot is a single text, without other commands, items or arguments; a
        text of several lines is one, whatever they begin with."""
        if pattern.tool.action_type == "read":
            return True
        is_unread = self.message.tokens[span[1] - 1].kind == "unread"
        is_more = self._has_more(pattern, span, arguments)
        if not any("\n" in str(value) for value in arguments.values()):
            is_more = is_more or self._has_several(pattern, span)
        return not (is_unread or is_more) and self._is_text_start(span, pattern.tag)

    def _has_more(self, pattern: Pattern, span: Span, arguments: JSONObject) -> bool:
        """Whether the span also contains a quotation, the mark of "can you …?", a date, or
        a value of a free parameter's enum."""
        tag, tool, message = pattern.tag, pattern.tool, self.message
        # only what the slot begins with can be a quotation of its own
        is_text = message.colon or message.is_block(*span)  # "note: he said “no”" is one text
        last = span[0] + 1 if is_text else span[1]
        is_asked = message.colon and message.has_modal_lead(tag) and message.text.endswith("?")
        if is_asked or "quote" in (token.kind for token in message.tokens[span[0] : last]):
            return True
        is_dated = any((pattern.is_open, date_parameters(tool)))  # "call Anna tomorrow"
        is_date = is_dated and self.values.has_edge_date(span, tag)
        return is_date or self._has_choice(pattern, span, arguments)

    def _has_choice(self, pattern: Pattern, span: Span, arguments: JSONObject) -> bool:
        """Whether a word here is an enum value of a free parameter."""
        known = parameters(pattern.tool).values()
        free = [p for p in known if p.kind == "choice" and p.name not in arguments]
        places = [(n, n + 1) for n in range(*span)]
        return any(self.values.choice(p, place, pattern.tag) for p in free for place in places)

    def _is_text_start(self, span: Span, tag: str) -> bool:
        """Whether a text may begin here: after a colon, or with a content word, or after a function
        word ("note that I …"); not in "a task out of the first mail"."""
        stems, words, known = self.message.stems(tag), self.message.words, lexicon(tag)
        before, at, is_led = span[0] - 1, span[0], span[0] in self.message.line_starts
        if is_led or (before >= 0 and self.message.tokens[before].kind == "colon"):
            return True
        is_led = (
            before >= 0 and stems[before] in known.fillers and words[before] not in known.particles
        )
        is_led |= words[at] in known.articles - known.particles
        return COLON not in stems[at + 1 : span[1]] and (is_led or stems[at] not in known.fillers)

    def boundaries(self, span: Span) -> list[int]:
        """The boundaries in a span: after conjunctions or punctuation."""
        tokens, text = self.message.tokens, self.message.text
        return [
            n
            for n in range(span[0] + 1, span[1])
            if tokens[n - 1].kind != "colon"
            and (BREAK.search(text, tokens[n - 1].end, tokens[n].start) or self.is_conjunction(n))
        ]

    def _has_several(self, pattern: Pattern, span: Span) -> bool:
        """Whether another command or item begins in these words."""
        tag = pattern.tag
        bounds = self.boundaries(span)
        if not bounds:
            return False
        stems, nouns = self.message.stems(tag), self.values.nouns(pattern.tool.app_id, tag)
        return any(
            (self._opens_command(tag, n) and stems[n] not in lexicon(tag).plural)
            or stems[n] in lexicon(tag).correction
            for n in bounds
        ) or not nouns.isdisjoint(stems[bounds[0] + 1 : span[1]])

    # What is near an example

    def nearest(self) -> list[tuple[float, Pattern]]:
        """The best example of each function with its score, nearest first."""
        own = [p for tool in self.tools if (p := self._patterns(tool) or name_pattern(tool))]
        return Nearness(self.message, own).nearest()

    def starts_like(self, pattern: Pattern) -> bool:
        """Whether the message begins with the first word of an example."""
        tag = pattern.tag
        at = self.message.bounds(tag, ask=pattern.tool.action_type == "read").first
        return self.message.stems(tag)[at : at + 1] == (pattern.pieces[0].stem,)
