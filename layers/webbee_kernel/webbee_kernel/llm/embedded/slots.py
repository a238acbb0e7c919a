"""The value that a span of a message has for a parameter, or none: a slot is filled whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from typing import Final

from ... import language
from ...language import Mention
from ...language.moments import DATED
from ...language.stems import folded_words
from ...types import JSONObject
from ..function_form import Parameter, parameters, sends
from ..protocol import ToolSpec
from .examples import Pattern, Piece, Span, Unclear, Value, patterns, speech, unfilled
from .message import COLON, Message, bare, lexicon, sense, without_stop
from .prompt_reader import Reading, Records, holding, words_of_name

LONGEST_NUMBER: Final = 15
"""Digits of a number; what is longer is an id, or nothing."""
MOST_ROWS: Final = 50
MOST_SOUGHT: Final = 5
"""Words that are looked for."""
MOST_NAMED: Final = 3
"""Words of a person's name."""
LONGEST_LABEL: Final = 2
"""Words of a label that is a name: "the text", and not "what to look for"."""
LONG: Final = 300
"""Characters from which a text is one of several lines, and keeps its last full stop."""
_LISTED = re.compile(r"(?:^|[;,(]) *([\w-]+) \(([^)]*)\)")


class SlotValues:
    """Values of one message beside what was shown before."""

    def __init__(self, message: Message, reading: Reading, tools: Sequence[ToolSpec]) -> None:
        # what a write gave back is no list to count places in
        writes = {(t.app_id, t.fn_name) for t in tools if t.action_type != "read"}
        self.message, self.records = message, Records(reading, writes)
        self._tools, self._seeks = tools, reading.seeks
        self._now = datetime.fromisoformat(reading.at)
        self._nouns: dict[tuple[str, str], frozenset[str]] = {}

    def of(
        self, kind: str, parameter: Parameter, span: Span, tool: ToolSpec, tag: str
    ) -> Value | Unclear | None:
        """The value of these tokens for the parameter; None where they are no such value."""
        if span[0] >= span[1]:
            return None
        if kind in ("id", "ids"):
            return self._record(kind, span, tool.app_id, tag)
        if kind == "email":
            return self._address(span, tool.app_id, tag)
        read = {"number": self._number, "date": self._date, "choice": self.choice}.get(kind)
        return read(parameter, span, tag) if read else self._text(kind, parameter, span, tool, tag)

    # Values that stand in the message

    def _text(
        self, kind: str, parameter: Parameter, span: Span, tool: ToolSpec, tag: str
    ) -> Value | None:
        """The words as they stand; none where they only point back at something."""
        form = self.message.tokens[span[0]].kind if span[1] - span[0] == 1 else ""
        # a mark such as {title:text} on a number is the author's slip
        own = parameter.kind in ("id", "number", "choice", "flag")  # a slot of a kind of its own
        if own or form == "email" or (kind == "url" and form != "url"):
            return None
        names = parameter.name in language.title_keys() and tool.action_type != "read"
        # a title that is to be found, not made
        if names and form != "quote" and unfilled(tool, "id", ()):
            # "delete the list not yet", and of tasks "the note"
            if self.message.denies(tag, *span) or self.is_anothers(tool.app_id, tag, span):
                return None
        first, text = span[0], self.message.slice(*span)
        # one line: its last full stop is the sentence's
        if form != "quote" and int(parameter.schema.get("maxLength", 0)) <= LONG:
            text = without_stop(text)
        # "can you add milk?" is no question about milk
        if form != "quote" and self.message.is_led(tag) and not self.message.has_colon:
            text = text.rstrip("?？ ")
        if tool.action_type == "read" and form != "quote":
            first = self.message.past_articles(tag, first, span[1] - 1)
            text = self.message.slice(first, span[1]).rstrip("?!.… ")
        nouns = self.nouns(tool.app_id, tag)
        points = self.points(span, tag, nouns, bare=names)
        if form != "quote" and (points or not any(map(str.isalnum, text))):
            return None
        # a whole sentence is searched for by nobody, and "today" is a day
        is_none = span[1] - first > MOST_SOUGHT or (form != "quote" and self.is_day(text, tag))
        if tool.action_type == "read" and is_none:
            return None
        words = 0 if form in ("quote", "url") else span[1] - span[0]
        return Value([text] if parameter.kind == "list" else text, words)

    def is_anothers(self, app_id: str, tag: str, span: Span | None = None) -> bool:
        """Whether these words hold what another app calls its records, and none of the message is
        what this one does."""
        for told in {tag, self.message.tag}:  # an example may be of no language
            stems, own = self.message.stems(told), self.nouns(app_id, told)
            held = self.every_noun(told).intersection(stems[slice(*span)] if span else stems)
            if held and own.isdisjoint(stems):
                return True
        return False

    def points(
        self, span: Span, tag: str, nouns: frozenset[str] = frozenset(), *, bare: bool = False
    ) -> bool:
        """Whether these tokens only point at something that was shown: "it", "the same address",
        with the app's nouns "the first task", `bare` also "task"."""
        if span[0] > 0 and self.message.tokens[span[0] - 1].kind == "colon":
            return False  # a text
        known, shown = lexicon(tag), lexicon(tag).address | nouns
        empty = known.small | known.ordinals.keys()
        stems = self.message.stems(tag)
        left = [
            stems[n]
            for n in range(*span)
            if stems[n] not in empty and self.message.words[n] not in known.articles | known.openers
        ]
        return not left or ((bare or len(left) < span[1] - span[0]) and shown.issuperset(left))

    def is_dated(self, span: Span, tag: str) -> bool:
        """Whether a date stands in these words, or what may be an hour; a weekday only where they
        begin or end with it: "the Monday club" is none."""
        words, text = self.message.words[slice(*span)], self.message.slice(*span)
        leads = folded_words(language.of(tag).calendar.at)
        return any(
            m.kind != "weekday" or m.start == 0 or text.rstrip(".").endswith(m.text)
            for m in self._dates(text, tag)
        ) or any(a in leads and b.isdigit() and len(b) < 3 for a, b in pairwise(words))

    def is_day(self, text: str, tag: str) -> bool:
        """Whether a text is a day told from now, and nothing else: "today"."""
        return any(m.relative and len(m.text) == len(text) for m in self._dates(text, tag))

    def _dates(self, text: str, tag: str) -> list[Mention]:
        """The days and times of a text, in the example's language or the message's."""
        for told in dict.fromkeys((tag, self.message.tag)):
            if found := [m for m in language.dates(text, told, self._now) if m.kind in DATED]:
                return found
        return []

    def _number(self, parameter: Parameter, span: Span, tag: str) -> Value | None:
        text = self.message.slice(*span)
        # a card's number is no quantity
        found = [m for m in language.numbers(text, tag) if len(m.text) <= LONGEST_NUMBER]
        if len(found) != 1:
            return None
        beside = f"{text[: found[0].start]} {text[found[0].end :]}"
        told = f"{parameter.name.replace('_', ' ')} {parameter.schema.get('description', '')}"
        own = {language.stem(w.text, tag) for w in language.tokens(told)}  # "90 euros", "4 people"
        known = lexicon(tag).function | own
        if any(language.stem(w.text, tag) not in known for w in language.tokens(beside)):
            return None
        value = found[0].value
        if parameter.schema.get("type") == "integer" and value != int(value):
            return None
        return Value(int(value) if value == int(value) else value)

    def choice(self, parameter: Parameter, span: Span, tag: str) -> Value | None:
        """The choice that the words name: itself, or a word that the description gives for it, as
        in `high (urgent, important)`."""
        stems = self.message.stems(tag)[slice(*span)]
        told = {str(c): [str(c)] for c in parameter.schema["enum"]}
        for name, words in _LISTED.findall(str(parameter.schema.get("description", ""))):
            told.get(name, []).extend(words.split(","))
        for choice in parameter.schema["enum"]:
            for word in told[str(choice)]:
                if stems and stems == tuple(sense(w.text, tag) for w in language.tokens(word)):
                    return Value(choice)
        return None

    def _date(self, parameter: Parameter, span: Span, tag: str) -> Value | None:
        """An ISO date, with its time where the message tells one and the parameter takes it."""
        if self.message.words[span[1] - 1] in folded_words(language.of(tag).calendar.at):
            return None  # "tomorrow at | ten": the hour would be left behind
        tags = dict.fromkeys((tag, self.message.tag))
        said = language.date_of(self.message.slice(*span), self._now, tags)
        # an hour would be lost: the form asks instead
        is_timed = "T" in said and parameter.schema.get("format") == "date"
        return Value(said) if said and not is_timed else None

    # Values that were shown before

    def _address(self, span: Span, app_id: str, tag: str) -> Value | Unclear | None:
        """An address of the message, or of the one that the words name; "the same address" and
        "to her" are the one shown last."""
        at = self._telling(span, tag)
        if len(at) == 1 and self.message.tokens[at[0]].kind == "email":
            return Value(self.message.tokens[at[0]].text)
        known = lexicon(tag)
        stems = {self.message.stems(tag)[n] for n in at}
        if known.reference.isdisjoint(stems):
            return self._address_of(at, span, app_id, tag)
        named = not known.address.isdisjoint(stems)
        points = (known.address | known.reference if named else known.toward).issuperset(stems)
        found = self.records.address(is_only=not named) if points else ""
        return Value(found) if found else None

    def _address_of(
        self, at: Sequence[int], span: Span, app_id: str, tag: str
    ) -> Value | Unclear | None:
        """The one address of the records that hold a name; where none does, one that nobody was
        shown may."""
        words, naming = self.message.words[slice(*span)], self.message.stems(tag)[slice(*span)]
        text = self.message.slice(*span)  # no "Tom the"
        if (
            not all(words)
            or not len(at) == len(words) <= MOST_NAMED
            or text not in (text.lower(), text.title())
        ):
            return None
        found = self.records.addresses(naming, tag)
        if len(found) == 1:
            return Value(found[0], len(naming))
        is_told = any(t.kind == "email" for t in self.message.tokens)
        is_sought = self._seeks and not (found or is_told)
        unseen = is_sought and self.nouns(app_id, tag).isdisjoint(naming)
        return Unclear((), span, named=True) if unseen else None

    def _record(self, kind: str, span: Span, app_id: str, tag: str) -> Value | Unclear | None:
        """The id of the record that the words name, number, or point at. Without the app's noun,
        only words of its own name a record, or it is the app's that was shown last."""
        if self.message.denies(tag, *span):  # "not done"
            return None
        at, known, nouns = self._telling(span, tag), lexicon(tag), self.nouns(app_id, tag)
        if len(at) == 1 and (own_id := self._own_id(kind, app_id, span)):
            return own_id
        if any(self.message.tokens[n].kind not in ("word", "quote", "colon") for n in at):
            return None
        words = [w.text for n in at for w in language.tokens(self.message.tokens[n].text)]
        words = [bare(word) for word in words]  # "Sarah's mail"
        stems = [language.stem(w, tag) for w in words if sense(w, tag) not in nouns]
        has_noun = len(stems) < len(words)
        here = has_noun or self.records.is_newest(app_id)
        rows = self.records.rows(app_id) if here else []
        ordinals = [known.ordinals[s] for s in stems if s in known.ordinals]
        small = known.reference | known.plural | known.ordinals.keys()
        is_sought = self._seeks and span[1] - span[0] <= MOST_SOUGHT
        is_sought = is_sought and not self.is_anothers(app_id, tag, span)
        unseen = Unclear((), span, named=True) if is_sought else None
        if naming := [s for s in stems if s not in small]:
            held = holding(self.records.known(app_id), naming, tag)
            aside = known.small | nouns
            exact = [row for row in held if words_of_name(row, tag) - aside <= {*naming}]
            held = exact or held  # "Milk", and not "Milk for Bob"
            several = Unclear(tuple(held), span, True) if len(held) > 1 else None
            found = several or self._chosen(kind, held, span)
            any_of = Unclear(tuple(rows), span) if has_noun and len(rows) > 1 else None
            return found or unseen or any_of
        if ordinals:
            listed, place = self.records.listed(app_id), ordinals[0] - (ordinals[0] > 0)
            inside = len(ordinals) == 1 and -len(listed) <= place < len(listed)
            placed = self._chosen(kind, [listed[place]], span) if inside else None
            return placed or (Unclear((), span) if rows else unseen)
        if not (rows or has_noun):
            return None
        newest = self.records.newest(app_id) if here else []
        if kind == "ids" and not known.plural.isdisjoint(stems):
            return Value([r["id"] for r in newest[:MOST_ROWS]]) if newest else None
        if rows and not (known.plural - known.reference).isdisjoint(stems):  # "all", and not "them"
            return Unclear(tuple(rows), span, named=True)
        return self._chosen(kind, newest, span) or Unclear((), span)

    def _own_id(self, kind: str, app_id: str, span: Span) -> Value | None:
        """The one word as an id: a record's that is known, or what has the form of one and is no
        other app's."""
        text = without_stop(self.message.slice(*span))
        if not any(str(r["id"]) == text for r in self.records.rows(app_id)):
            shaped = any(map(str.isdigit, text)) and not text.isdigit()
            shaped = shaped and self.message.tokens[span[0]].kind == "word"  # a quoted title
            if not shaped or self.records.has(text):
                return None
        return Value([text] if kind == "ids" else text)

    def _chosen(self, kind: str, rows: Sequence[JSONObject], span: Span) -> Value | Unclear | None:
        if len(rows) != 1:
            return Unclear(tuple(rows), span) if rows else None
        return Value([rows[0]["id"]] if kind == "ids" else rows[0]["id"])

    def _telling(self, span: Span, tag: str) -> list[int]:
        """The tokens that are no articles and no other small words, unless they point at
        something."""
        known, stems = lexicon(tag), self.message.stems(tag)
        small = known.function - known.reference - known.plural
        return [
            n
            for n in range(*span)
            if stems[n] not in small and self.message.words[n] not in known.articles
        ]

    def nouns(self, app_id: str, tag: str) -> frozenset[str]:
        """What an app calls its records: the literal words that examples of most of its functions
        share."""
        key = (app_id, tag)
        if key not in self._nouns:
            mine = [t for t in self._tools if t.app_id == app_id]
            used = Counter(stem for tool in mine for stem in speech(tool, tag))
            most, small = max(2, len(mine) * 3 // 4), lexicon(tag).small | lexicon(tag).question
            self._nouns[key] = frozenset(
                s for s, count in used.items() if count >= most and s not in small and s != COLON
            )
        return self._nouns[key]

    def every_noun(self, tag: str) -> frozenset[str]:
        """What any app calls its records."""
        return frozenset[str]().union(*(self.nouns(t.app_id, tag) for t in self._tools))

    def draft(self, pattern: Pattern) -> JSONObject:
        """What a form of the function can be filled with beforehand: texts that are told by the
        names of their fields, the quotations, addresses, links and dates that one parameter takes,
        and for its text what stands behind the example's words."""
        arguments, tokens = dict(pattern.fixed), self.message.tokens
        led = self._led(pattern)
        arguments |= self.told(pattern)
        taken = {n for span in led.values() for n in range(*span)}
        for n, kind in self._typed:
            names = unfilled(pattern.tool, kind, arguments)
            if names and n not in taken:
                text = tokens[n].text[:LONGEST_NUMBER]
                arguments[names[0]] = int(text) if kind == "number" else tokens[n].text
                taken.add(n)
        arguments |= self._zone(pattern.tool)
        names = unfilled(pattern.tool, "text", arguments)
        if names and not led and (text := self._behind_words(pattern, names[0], taken)):
            arguments[names[0]] = text
        return arguments

    def _zone(self, tool: ToolSpec) -> JSONObject:
        """The time zone of the city that the message names, for the one parameter that wants it."""
        names = [name for name in parameters(tool) if "zone" in language.key_roles(name)]
        zone = language.zone_in(self.message.text, self.message.tag) if len(names) == 1 else ""
        return {names[0]: zone} if zone else {}

    def _behind_words(self, pattern: Pattern, name: str, taken: set[int]) -> str:
        """The text behind an example's words, without what leads to it; empty where none is."""
        first, last = self._rest(pattern, taken)
        if first < last:
            first = self._begins(first, pattern.tag, self._leads(pattern.tool, pattern.tag, name))
        is_free = first < last and taken.isdisjoint(range(first, last))
        is_text = is_free and not self.points((first, last), pattern.tag)
        is_text = is_text and self.is_told(pattern, name, first)
        return self.message.slice(first, last) if is_text else ""

    def _leads(self, tool: ToolSpec, tag: str, name: str) -> set[str]:
        """What leads to a parameter's text: what it is called, and the words that mostly stand
        before it in examples: "that" in "write to {to} that {body}"."""
        pieces = ((*p.pieces[1:], Piece()) for p in patterns(tool, tag))  # behind the verb
        pairs = Counter((a.stem, b.slot == name) for own in pieces for a, b in pairwise(own))
        stems = {stem for stem, is_before in pairs if is_before and stem}
        told = {stem for stem in stems if pairs[stem, True] > pairs[stem, False]}
        return (told | _called(name, tag)) - lexicon(tag).toward  # "and tell her …"

    def is_told(self, pattern: Pattern, name: str, first: int) -> bool:
        """Whether a text stands behind a colon or what leads to it in examples; one that goes to
        nobody else may begin anywhere."""
        if not sends(pattern.tool):
            return True
        leads = self._leads(pattern.tool, pattern.tag, name) | {COLON}
        return first > 0 and self.message.stems(pattern.tag)[first - 1] in leads

    def behind_kind(self, tool: ToolSpec, tag: str, name: str, span: Span) -> int:
        """Where a text begins behind what it is and what leads to it: "a message that |", "with
        the text |"."""
        if tool.action_type == "read":
            return span[0]
        stems, known, called = self.message.stems(tag), lexicon(tag), _called(name, tag)
        at = self.message.past_articles(tag, span[0], span[1] - 1)
        own = self.nouns(tool.app_id, tag) | called
        is_kind = not own.isdisjoint({stems[at], sense(self.message.tokens[at].text, tag)})
        at += is_kind
        lead = next((n for n in range(at, span[1]) if stems[n] not in known.function), span[1])
        if at < lead < span[1] - 1 and stems[lead] in called:
            return self._begins(lead + 1, tag, set())
        is_led = at + 1 < span[1] and stems[at] in self._leads(tool, tag, name)
        return at + 1 if is_kind and is_led else span[0]

    def told(self, pattern: Pattern) -> JSONObject:
        """The texts that are told by the names of their fields."""
        return {name: self.message.slice(*span) for name, span in self._led(pattern).items()}

    def _led(self, pattern: Pattern) -> dict[str, Span]:
        """The texts that are told by their fields, where one but the function's first is: "with the
        subject …", "about … that …". A quotation is all of it; else the first goes to the end."""
        stems, tokens = self.message.stems(pattern.tag), self.message.tokens
        names = unfilled(pattern.tool, "text", pattern.fixed)
        every = [p.name for p in parameters(pattern.tool).values() if p.kind == "text"]
        if pattern.tool.action_type == "read" or not names or len(every) < 2:
            return {}
        leads = {n: self._leads(pattern.tool, pattern.tag, n) for n in [names[0], *every]}
        found, at = dict[str, Span](), 1
        while at < len(tokens) - 1:
            name = next((k for k, own in leads.items() if stems[at] in own and k not in found), "")
            at += 1
            if not name:
                continue
            at = self._begins(at, pattern.tag, leads[name])
            ends = (n for n in range(at + 1, len(tokens)) if stems[n] in leads[names[0]])
            end = next(ends, len(tokens)) if name != names[0] else len(tokens)
            end = at + 1 if tokens[at].kind == "quote" else end
            found[name], at = (at, end), end
        return found if found.keys() - {names[0]} else {}

    def _begins(self, at: int, tag: str, leads: set[str]) -> int:
        """Where a text begins behind what leads to it: "know | that", "the text | :"."""
        stems, last = self.message.stems(tag), len(self.message.tokens) - 1
        while at < last and (stems[at] in leads or stems[at] == COLON):
            at += 1
        behind = self.message.past_articles(tag, at, last)
        return behind if self.message.tokens[behind].kind == "quote" else at

    @cached_property
    def _typed(self) -> list[tuple[int, str]]:
        """The tokens that are no words, each with the kind of parameter that takes it."""
        kinds = (
            (n, "number" if t.text.isdigit() else t.kind) for n, t in enumerate(self.message.tokens)
        )
        return [(n, "text" if k == "quote" else k) for n, k in kinds if k != "word"]

    def _rest(self, pattern: Pattern, taken: set[int]) -> Span:
        """Where the text may stand: behind the pattern's words, up to a value at the end."""
        last = len(self.message.tokens)
        behind = range(self._behind(pattern), last)
        passed = taken | {n for n in behind if self.message.tokens[n].kind == "colon"}
        return next((n for n in behind if n not in passed), last), last - (last - 1 in taken)

    def _behind(self, pattern: Pattern) -> int:
        """The place behind the last of an example's words, or behind them and a colon."""
        stems, literals = self.message.stems(pattern.tag), pattern.literals
        colon = stems.index(COLON) if COLON in stems else len(stems)
        end = len(stems) if literals.isdisjoint(stems[:colon]) else colon
        return max((n for n, s in enumerate(stems[:end]) if s in literals), default=-1) + 1


def _called(name: str, tag: str) -> set[str]:
    """The words for a field in a language."""
    speaks, key = language.of(tag), f"label_{name}"
    told = [speaks.field_name(name.replace("_", " "))]
    told += [speaks.say(key)] if key in speaks.sentences else []  # "the text"
    words = [[sense(w.text, tag) for w in language.tokens(text)] for text in told]
    stems = {stem for stem, field in lexicon(tag).fields.items() if field == name}
    return stems.union(*({*own} - lexicon(tag).small for own in words if len(own) <= LONGEST_LABEL))
