"""The calls that a message asks for: an example fits exactly, every word of the message accounted
for by its literal words and slots; nothing else is a command."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import Final

from ... import language
from ...catalogue import SLOT
from ...language import key_fold
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
    owner_of,
    patterns,
    unfilled,
)
from .message import BREAK, COLON, Message, lexicon, nearest_form, parted, sense
from .prompt_reader import Reading, stems_of_name
from .slots import SlotValues

_TRIES, _EDGE = 4, 6
"""Ends that are tried for a slot: places of the literal word behind it, and words from either end
where another slot stands there."""

MOST_JOINTS: Final = 6
"""Conjunctions and breaks of a message that is looked at for several commands."""

MOST_ASIDE: Final = 3
"""Words of an exclamation that a command may follow."""

SHORTEST, MOST_SLIPS = 4, 2
"""Letters of a word that may be a slip of the hand, and such words of a message."""

NAMING: Final = ("id", "ids", "email")
"""Kinds of parameters that a name may stand for."""

_OTHER_FORM: Final = Value(None, words=4)
"""What a word counts that is not in the form of the example: more than it and articles behind it as
a slot takes them, so that in "add a task: call Anna" the title does not begin behind the "call"."""

_Filled = list[tuple[Piece, Span, Value | Unclear]]


class Commands:
    """One message read as commands of these functions."""

    def __init__(
        self, reading: Reading, tools: Sequence[ToolSpec], message: Message | None = None
    ) -> None:
        self.reading, self.tools = reading, tuple(tools)
        told = message or Message.of(reading.message, reading.usual)
        # a short message may be of several languages: each is tried
        self._tags = language.likely(told.text) | {told.tag, language.detect(told.text)}
        self.examples = [p for tool in self.tools for p in self._patterns(tool)]
        heads = {
            (p.tag, w) for p in self.examples for w in (p.pieces[0].form, p.pieces[0].stem) if w
        }
        first = {tag: {word for t, word in heads if t == tag} for tag in sorted(self._tags)}
        tokens = tuple(part for token in told.tokens for part in parted(token, first))
        self.message = replace(told, tokens=tokens)
        self.values = SlotValues(self.message, reading, self.tools)
        self.is_after_write = bool(self.values.records.written) and not reading.is_waiting
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
        """Whether it lacks its record where another app's was shown last ("add … to it"), or its
        record is called as another app calls its own: "change the note to …"."""
        is_behind = command.is_lost and not self.values.records.is_newest(command.tool.app_id)
        return is_behind or self.values.is_others_noun(command)

    @cached_property
    def seeking(self) -> Commands:
        """The same, where what no record is called by may be one that nobody was shown."""
        seeking = copy(self)
        seeking.values = SlotValues(self.message, replace(self.reading, seeks=True), self.tools)
        return seeking

    def unseen(self, pattern: Pattern) -> bool:
        """Whether an example would fit if a record that nobody was shown were called like this."""
        command = self.seeking._fit(pattern)
        return bool(command and command.unclear and command.unclear.is_unseen)

    def respelled(self) -> list[Command]:
        """What is read where each of two words that nobody knows is a word of the examples that is
        a slip of the hand away; nothing where there is none."""
        forms = {p.form for pattern in self.examples for p in pattern.pieces} - {""}
        forms = forms.union(*(lexicon(tag).asking for tag in self._tags))
        known = forms.union(*(language.of(tag).vocabulary for tag in self._tags))
        few = sorted({w for w in self.message.words if len(w) >= SHORTEST} - known)[:MOST_SLIPS]
        meant = {word: form for word in few if (form := nearest_form(word, forms))}
        message = self.message.respelled(meant)
        return Commands(self.reading, self.tools, message).readings() if meant else []

    def parts(self) -> list[Commands]:
        """The commands that a message joins, each by itself, without what only leads to them; none
        unless every part is one. Nothing that was shown is meant by any but the first."""
        tokens, opening = self.message.tokens, self._begun()
        found: list[Commands] = []
        for first, last in pairwise([0, *opening, len(tokens)] if opening else ()):
            said = self.message.text[tokens[self._past_joints(first)].start : tokens[last - 1].end]
            # "delete it and show my mail": "it" is of the first part only
            facts = [] if found else self.reading.facts
            part = Commands(replace(self.reading, message=said, facts=facts), self.tools)
            if part.readings():
                found.append(part)
            elif first or not self._is_aside(last):
                return []
        return found

    def _begun(self) -> list[int]:
        """Where a further command begins; nowhere in a text of many parts."""
        joints = self._joints((0, len(self.message.tokens)))
        if len(joints) > MOST_JOINTS:
            return []
        return [n for n in joints if any(self._opens(tag, n) for tag in self._tags)]

    def _is_aside(self, last: int) -> bool:
        """Whether the words before a place only lead to a command: "thanks, …", "no, …", or an
        exclamation that denies nothing."""
        stems, known = self.message.stems(self.message.tag), lexicon(self.message.tag)
        told = zip(stems[:last], self.message.words, strict=False)
        if all(s in known.aside or w in known.openers for s, w in told):
            return True
        ends = self.message.text[self.message.tokens[last - 1].end :].lstrip()[:1]
        return (
            last <= MOST_ASIDE
            and ends in (".", "!")
            and not self.message.denies(known.tag, 0, last)
        )

    def asked_about(self) -> Command | None:
        """For a question that is no command: the reading of the one record whose name has one of
        its words, or that it only points at; None where there are several."""
        tag, found = self.message.tag, []
        known, span = lexicon(tag), self.message.bounds(tag, ask=True)[:2]
        asks = self.message.asks or known.question & {*self.message.stems(tag)[:1]}
        if self.message.denies(tag) or not asks:
            return None
        small = known.polite | known.question | known.reference | known.ordinals.keys()
        wanted = {language.stem(w, tag) for w in self.message.words if w} - small
        for tool in self.tools:
            for name in unfilled(tool, "id", ())[: tool.action_type == "read"]:
                rows = self.values.records.known(tool.app_id)
                ids = [r["id"] for r in rows if not wanted.isdisjoint(stems_of_name(r))]
                if not wanted:  # "and the second one?"
                    value = self.values.of("id", parameters(tool)[name], span, tool, tag)
                    ids = [value.value] if isinstance(value, Value) else []
                found += [Command(Pattern(tool, "", tag, (), {}), {name: i}) for i in ids]
        return found[0] if len(found) == 1 else None

    def named(self) -> Command | None:
        """What begins with the whole name of a function without examples, and may say no more."""
        stems = self.message.stems("en")[self.message.bounds("en", ask=False).first :]
        for tool in self.tools:
            name = tuple(sense(word, "en") for word in tool.fn_name.split("_"))
            # MCP tools have no examples: their names are what people copy
            if not tool.examples and len(name) > 1 and stems[: len(name)] == name:
                pattern, is_all = by_name(tool)[0], len(stems) == len(name)
                return Command(pattern, {} if is_all else self.values.draft(pattern), whole=is_all)
        return None

    # Where a command begins

    def _opens(self, tag: str, at: int) -> bool:
        """Whether a command may begin behind the conjunctions at a place, with its first word or
        with a "show me"."""
        at = self._past_joints(at)
        if at >= len(self.message.tokens):
            return False
        first, last, _ = self.message.bounds(tag, ask=True, first=at)
        at = self.message.past_articles(tag, first, last - 1)
        return (tag, self.message.stems(tag)[at]) in self._openings

    def _joins(self, at: int) -> bool:
        return bool(self.message.words[at]) and any(
            self.message.stems(tag)[at] in lexicon(tag).conjunctions for tag in self._tags
        )

    def _past_joints(self, at: int) -> int:
        """The place behind the conjunctions that stand at a place."""
        while at < len(self.message.tokens) and self._joins(at):
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
        if not pattern.literals.issubset(stems) or bounds.asked < pattern.asked:
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

    def _walk(self, pattern: Pattern, piece: int, at: int, last: int) -> Iterator[_Filled]:
        """The ways in which the rest of a pattern takes the rest of the message."""
        tag = pattern.tag
        if piece == len(pattern.pieces):
            left = range(self.message.past_articles(tag, at, last), last)
            if all(self.message.words[n] in lexicon(tag).openers for n in left):  # "again"
                yield []
            return
        wanted = pattern.pieces[piece]
        if wanted.stem:
            at = self.message.past_articles(tag, at, last, wanted.stem)
            if at < last and self.message.stems(tag)[at] == wanted.stem:
                value = Value(None) if wanted.form == self.message.words[at] else _OTHER_FORM
                for rest in self._walk(pattern, piece + 1, at + 1, last):
                    yield [(wanted, (at, at + 1), value), *rest]
            return
        parameter = parameters(pattern.tool)[wanted.slot]
        names = wanted.kind != "text" or wanted.slot in language.title_keys()
        after = self.message.past_articles(tag, at, last)  # "the {title} note": the noun's article
        tokens = self.message.tokens
        is_quoted = after < last and tokens[after].kind == "quote"
        if is_quoted or (names and piece + 1 < len(pattern.pieces)):
            at = after
        else:
            at = next((n + 1 for n in range(at, after) if tokens[n].kind == "colon"), at)
        if not piece and pattern.tool.action_type != "read" and self._is_verb(tag, at):
            return  # "is the rent done" tells nothing
        for end in self._ends(pattern, piece, at, last):
            value_ = self.values.of(wanted.kind, parameter, (at, end), pattern.tool, tag)
            if value_ is not None:
                for rest in self._walk(pattern, piece + 1, end, last):
                    yield [(wanted, (at, end), value_), *rest]

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
                whole = (n for n in whole if self._ends_a_name(at, n, tag))
            return sorted(n for n in whole if not self.message.is_passed_over(n - 1, tag))
        places = [n for n in range(at + 1, last) if stems[n] == following]
        return [
            next(
                (n for n in range(end, at + 1, -1) if not self.message.is_passed_over(n - 1, tag)),
                at + 1,
            )
            for end in [*places[:_TRIES], *places[max(_TRIES, len(places) - 2) :]]
        ]

    def _ends_a_name(self, first: int, last: int, tag: str) -> bool:
        """Whether what a record or a person is called may end there: not between two names of one
        person, nor with "that I"."""
        # "Anna | Weber" are one person
        is_inside = all(t.text.istitle() for t in self.message.tokens[last - 1 : last + 1])
        is_small = self.message.stems(tag)[last - 1] in lexicon(tag).small
        return not is_inside and (last - first == 1 or not is_small)

    def _command(self, pattern: Pattern, filled: _Filled) -> Command:
        """The command of a pattern whose slots are filled."""
        tool, arguments = pattern.tool, dict(pattern.fixed)
        found = [(piece, span, v) for piece, span, v in filled if isinstance(v, Value)]
        arguments.update({p.slot: v.value for p, _, v in found if p.slot})
        texts = [span for piece, span, value in found if piece.slot and value.words]
        unclear = next((v for _, _, v in filled if isinstance(v, Unclear)), None)
        arguments |= {} if unclear else self._left_out(tool, arguments)
        return Command(
            pattern,
            arguments,
            sum(value.words for _, _, value in found),
            unclear,
            all(self._is_one_thing(pattern, span, arguments) for span in texts),
        )

    def _left_out(self, tool: ToolSpec, arguments: JSONObject) -> JSONObject:
        """Which record is meant where no word says it: the only one that was shown last."""
        left = unfilled(tool, "id", arguments)
        unnamed = not parameters(tool).keys() & arguments.keys() & {*language.title_keys()}
        newest = self.values.records.newest(tool.app_id)
        is_it = len(newest) == 1 and self.values.records.is_newest(tool.app_id)
        may = is_it and len(left) == 1 and (unnamed or parameters(tool)[left[0]].required)
        return {left[0]: newest[0]["id"]} if may else {}

    def _is_one_thing(self, pattern: Pattern, span: Span, told: JSONObject) -> bool:
        """Whether the words that a slot takes are one text: no command begins behind a conjunction
        or a break in them, nor is the app's own noun there; where something is enumerated, the noun
        before it is in the form of the example; and nothing of them is another argument's."""
        tokens, is_dated = self.message.tokens, any(p.kind == "date" for p in pattern.pieces)
        if pattern.tool.action_type == "read":
            return True
        is_more = self._is_several(pattern, span) or self._holds_more(pattern, span, told)
        if is_more or tokens[span[1] - 1].kind == "unread":
            return False
        behind_colon = span[0] > 0 and tokens[span[0] - 1].kind == "colon"
        return (behind_colon and not is_dated) or self._is_whole(pattern, span)

    def _holds_more(self, pattern: Pattern, span: Span, told: JSONObject) -> bool:
        """Whether more than a text stands here: a quotation, the mark of "can you …?", a value."""
        tag, message = pattern.tag, self.message
        # only what the slot begins with can be a quotation of its own
        last = span[0] + 1 if message.has_colon else span[1]  # "note: he said “no”" is one text
        is_quoted = any(token.kind == "quote" for token in message.tokens[span[0] : last])
        if is_quoted or (message.has_colon and message.is_led(tag) and message.text[-1] == "?"):
            return True
        free = {name: p for name, p in parameters(pattern.tool).items() if name not in told}
        if not dated(pattern.tool).isdisjoint(free) and self.values.is_dated(span, tag):
            return True
        choices = [p for p in free.values() if p.kind == "choice"]
        return any(self.values.choice(p, (n, n + 1), tag) for p in choices for n in range(*span))

    def _is_whole(self, pattern: Pattern, span: Span) -> bool:
        """Whether words that no colon leads to are a text: no colon and no date is in them, and
        behind no small word, as in "note that I …", they begin with none, as "a task out of the
        first mail" does."""
        tag, stems = pattern.tag, self.message.stems(pattern.tag)
        known = lexicon(tag)
        near, particles = range(max(span[0] - 1, 0), span[0] + 1), known.particles
        led = any(
            self.message.words[n] not in particles
            and (stems[n] in known.small if n < span[0] else self.message.is_passed_over(n, tag))
            for n in near
        )
        # French elides: d'appeler
        head, _, rest = stems[span[0]].partition("'")
        is_elided = len(rest) > 2 and head in known.small - known.articles  # "d'appeler", no "I'm"
        is_small = is_elided or stems[span[0]] in known.small
        if COLON in stems[span[0] + 1 : span[1]] or (is_small and not led):
            return False
        return not (dated(pattern.tool) and self.values.is_dated(span, tag))

    def _joints(self, span: Span) -> list[int]:
        """Where something else may begin in these words: behind a conjunction or a break."""
        tokens, text = self.message.tokens, self.message.text
        return [
            n
            for n in range(span[0] + 1, span[1])
            if tokens[n - 1].kind != "colon"
            and (BREAK.search(text, tokens[n - 1].end, tokens[n].start) or self._joins(n))
        ]

    def _is_several(self, pattern: Pattern, span: Span) -> bool:
        """Whether another command or another thing begins in these words."""
        tag = pattern.tag
        joints = self._joints(span)
        if not joints:
            return False
        stems, nouns = self.message.stems(tag), self.values.nouns(pattern.tool.app_id, tag)
        return (
            any(
                (self._opens(tag, n) and stems[n] not in lexicon(tag).plural)
                or stems[n] in lexicon(tag).correction
                for n in joints
            )
            or not nouns.isdisjoint(stems[joints[0] + 1 : span[1]])
            or self._is_inflected(pattern, span[0], nouns)
        )

    def _is_inflected(self, pattern: Pattern, last: int, nouns: frozenset[str]) -> bool:
        """Whether the app's noun before a place is a form of the example's: "tasks" for "task", but
        not "mail" for "email"."""
        tag = pattern.tag
        written = {key_fold(w.text) for w in language.tokens(SLOT.sub(" ", pattern.example))}
        forms = {language.stem(w, tag) for w in written}
        told = zip(self.message.words[:last], self.message.stems(tag), strict=False)
        own = {word for word, stem in told if stem in nouns} - written
        return any(language.stem(word, tag) in forms for word in own)

    # What is near an example

    def nearest(self) -> list[tuple[float, Pattern]]:
        """The examples, the nearest first, one a function; what is elsewhere comes last, and behind
        it what is not of the one app that alone knows some of the words."""
        own = [p for tool in self.tools if (p := self._patterns(tool) or by_name(tool))]
        owner = owner_of(self.message, own)

        def rank(found: tuple[float, Pattern]) -> tuple[bool, bool]:
            pattern = found[1]
            is_elsewhere = self._is_elsewhere(Command(pattern, self.values.draft(pattern)))
            return bool(owner) and pattern.tool.app_id != owner, is_elsewhere

        return sorted(Nearness(self.message, own).nearest(), key=rank)

    def question(self, pattern: Pattern) -> Command | None:
        """The call of a near example without slots, or of the name, of a function that only reads;
        None where the message also denies, points at a record, has a value, or begins what has an
        effect."""
        tag, known, tool = pattern.tag, lexicon(pattern.tag), pattern.tool
        stems, tokens = self.message.stems(tag), self.message.tokens
        arguments = {**pattern.fixed, **self._left_out(tool, dict(pattern.fixed))}
        # "delete …" is answered by no read, however near
        effects = {p.pieces[0].stem for p in self.examples if p.tool.action_type != "read"}
        begins = (self.message.bounds(tag, ask=True).first, *self._joints((0, len(tokens))))
        heads = effects.intersection(stems[n] for n in begins) - known.small
        others = [n for n, stem in enumerate(stems) if stem not in pattern.literals]
        led = known.reference | known.plural | known.denial | known.ordinals.keys() | heads
        is_value = not all(word.replace("'", "").isalpha() for word in self.message.words)
        is_value |= any(self.values.is_dated((n, n + 1), tag) for n in others)
        is_led = not led.isdisjoint(stems[n] for n in others)
        if tool.action_type != "read" or is_led or is_value or pattern.has_slots:
            return None
        is_drafted = not pattern.example and self.values.draft(pattern)
        command = Command(pattern, arguments)
        is_whole = command.is_complete and not unfilled(tool, "id", arguments)
        return command if is_whole and not is_drafted else None
