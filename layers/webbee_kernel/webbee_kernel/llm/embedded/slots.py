"""The value of a message span for a parameter; the whole span must fit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection
from itertools import pairwise
from typing import Final

from ... import language
from ...language import Mention
from ...language.moments import DATE_KINDS
from ...language.stems import folded_words
from ...types import JSONObject
from ..function_form import Parameter, is_outgoing, parameters
from ..protocol import ToolSpec
from .examples import (
    Pattern,
    Piece,
    Span,
    Unclear,
    Value,
    free_names,
    patterns,
)
from .message import COLON, lexicon, root_part, without_stop, word_key
from .reference_resolution import MAX_SEARCH, ReferenceResolver

MAX_DIGITS: Final = 15
"""Maximum digits of a number; longer ones are ids."""
MAX_LABEL: Final = 2
"""Maximum words of a field label that may precede its value: "the text"."""
MULTILINE: Final = 300
"""From this maxLength on a text is multiline and keeps its last full stop."""
_SYNONYMS = re.compile(r"(?:^|[;,(]) *([\w-]+) \(([^)]*)\)")


class SlotValues(ReferenceResolver):
    """Values in one message, and references to earlier results."""

    def of(
        self, kind: str, parameter: Parameter, span: Span, tool: ToolSpec, tag: str
    ) -> Value | Unclear | None:
        """The value of these tokens for the parameter, or None."""
        if span[0] >= span[1]:
            return None
        if kind in ("id", "ids"):
            return self._record(kind, span, tool, tag)
        if kind == "email":
            return self._address(span, tool.app_id, tag)
        make = {"number": self._number, "date": self.date, "choice": self.choice}.get(kind)
        return make(parameter, span, tag) if make else self._text(kind, parameter, span, tool, tag)

    # Values that stand in the message

    def _text(
        self, kind: str, parameter: Parameter, span: Span, tool: ToolSpec, tag: str
    ) -> Value | None:
        """The words as text; None if they are only a reference."""
        form = self.message.tokens[span[0]].kind if span[1] - span[0] == 1 else ""
        if form == "email" or (kind == "url" and form != "url"):
            return None
        is_title = parameter.name in language.title_keys() and tool.action_type != "read"
        # a title that is to be found, not made
        if is_title and form != "quote" and free_names(tool, "id", ()):
            # "delete the list not yet", "mark all done", and of tasks "the note"
            is_all = self.message.stems(tag)[span[1] - 1] in lexicon(tag).every
            is_none = is_all or self.is_limited(span, tag)
            if is_none or self.is_other_app(tool.app_id, tag, span):
                return None
        first, text = span[0], self._written(parameter, span, tool, form)
        # "can you add milk?" is no question about milk
        if form != "quote" and self.message.has_modal_lead(tag) and not self.message.colon:
            text = text.rstrip("?？ ")
        if tool.action_type == "read" and form != "quote":
            first = self.message.skip_articles(tag, first, span[1] - 1)
            text = self.message.slice(first, span[1]).rstrip("?!.… ")
        nouns = self.nouns(tool.app_id, tag)
        is_reference = self.is_reference(span, tag, nouns, is_bare=is_title)
        is_reference = is_reference and not self._is_sentence(tool, parameter.name, span, tag)
        if form != "quote" and (is_reference or not any(map(str.isalnum, text))):
            return None
        # a whole sentence is searched for by nobody, and "today" is a day
        is_none = span[1] - first > MAX_SEARCH or (form != "quote" and self.is_day(text, tag))
        if tool.action_type == "read" and is_none:
            return None
        words = 0 if form in ("quote", "url") else span[1] - span[0]
        return Value([text] if parameter.kind == "list" else text, words)

    def _written(self, parameter: Parameter, span: Span, tool: ToolSpec, form: str) -> str:
        """The words as a text of one line, without the sentence's full stop, or of several."""
        limit = int(parameter.schema.get("maxLength", 0))
        has_lines = self.has_lines(parameter, tool)
        text = self.message.lines(*span) if has_lines else self.message.slice(*span)
        return text if form == "quote" or limit > MULTILINE or "\n" in text else without_stop(text)

    def has_lines(self, parameter: Parameter, tool: ToolSpec) -> bool:
        """Whether a text may be of several lines."""
        limit = int(parameter.schema.get("maxLength", 0))
        is_title = parameter.name in language.title_keys()
        return (limit > MULTILINE or not (limit or is_title)) and tool.action_type != "read"

    def is_reference(
        self, span: Span, tag: str, nouns: frozenset[str] = frozenset(), *, is_bare: bool = False
    ) -> bool:
        """Whether these tokens are only a reference: "it", "the same address", with nouns "the
        first task", `is_bare` also "task"."""
        if span[0] > 0 and self.message.tokens[span[0] - 1].kind == "colon":
            return False  # a text
        known, known_nouns = lexicon(tag), lexicon(tag).address | nouns
        noise = known.fillers | known.ordinals.keys()
        stems = self.message.stems(tag)
        rest = [
            stems[n]
            for n in range(*span)
            if stems[n] not in noise and self.message.words[n] not in known.articles | known.openers
        ]
        return not rest or (
            (is_bare or len(rest) < span[1] - span[0]) and known_nouns.issuperset(rest)
        )

    def _is_sentence(self, tool: ToolSpec, name: str, span: Span, tag: str) -> bool:
        """Whether the last words are a text for all that they are small: "that | all is well"."""
        words, before = self.message.words[slice(*span)], self.message.stems(tag)[: span[0]]
        is_last = span[1] == len(self.message.tokens)
        is_more = is_last and len(words) > 1 and not lexicon(tag).openers.issuperset(words)
        return is_more and not self._leads(tool, tag, name).isdisjoint(before[-1:])

    def has_edge_date(self, span: Span, tag: str) -> bool:
        """Whether these words contain a date or possible hour; a weekday only at an edge, so not in
        "the Monday club"."""
        words, text = self.message.words[slice(*span)], self.message.slice(*span)
        leads = folded_words(language.of(tag).calendar.at)
        return any(
            m.kind != "weekday" or m.start == 0 or text.rstrip(".").endswith(m.text)
            for m in self.dates(text, tag)
        ) or any(a in leads and b.isdigit() and len(b) < 3 for a, b in pairwise(words))

    def has_date(self, span: Span, tag: str) -> bool:
        """Whether these words contain a date."""
        return bool(self.dates(self.message.slice(*span), tag))

    def is_day(self, text: str, tag: str) -> bool:
        """Whether a text is only a relative day: "today"."""
        return any(m.is_relative and len(m.text) == len(text) for m in self.dates(text, tag))

    def day(self, tag: str) -> str:
        """The only day that the message tells, in ISO 8601; else empty."""
        text = " ".join(root_part(word) for word in self.message.text.split())  # "yesterday's"
        days = [m.value for m in self.dates(text, tag) if m.kind == "date"]
        return "{:04}-{:02}-{:02}".format(*days[0]) if len(days) == 1 and days[0][0] else ""

    def dates(self, text: str, tag: str) -> list[Mention]:
        """The days and times of a text, in the example's language or the message's."""
        for each in dict.fromkeys((tag, self.message.tag)):
            if found := [m for m in language.dates(text, each, self._now) if m.kind in DATE_KINDS]:
                return found
        return []

    def _number(self, parameter: Parameter, span: Span, tag: str) -> Value | None:
        text = self.message.slice(*span)
        # a card's number is no quantity
        found = [m for m in language.numbers(text, tag) if len(m.text) <= MAX_DIGITS]
        if len(found) != 1:
            return None
        rest = f"{text[: found[0].start]} {text[found[0].end :]}"
        label = f"{parameter.name.replace('_', ' ')} {parameter.schema.get('description', '')}"
        units = {language.stem(w.text, tag) for w in language.tokens(label)}  # "90 euros"
        ignored = lexicon(tag).function | units
        if any(language.stem(w.text, tag) not in ignored for w in language.tokens(rest)):
            return None
        value = found[0].value
        if parameter.schema.get("type") == "integer" and value != int(value):
            return None
        return Value(int(value) if value == int(value) else value)

    def choice(self, parameter: Parameter, span: Span, tag: str) -> Value | None:
        """The enum value that the words name, directly or by a synonym in the description:
        `high (urgent, important)`."""
        stems = self.message.stems(tag)[slice(*span)]
        synonyms = {str(c): [str(c)] for c in parameter.schema["enum"]}
        for name, words in _SYNONYMS.findall(str(parameter.schema.get("description", ""))):
            synonyms.get(name, []).extend(words.split(","))
        for choice in parameter.schema["enum"]:
            for word in synonyms[str(choice)]:
                if stems and stems == tuple(word_key(w.text, tag) for w in language.tokens(word)):
                    return Value(choice)
        return None

    def date(self, parameter: Parameter, span: Span, tag: str) -> Value | None:
        """An ISO date, with a time if given and allowed."""
        if self.message.words[span[1] - 1] in folded_words(language.of(tag).calendar.at):
            return None  # "tomorrow at | ten": the hour would be left behind
        tags = dict.fromkeys((tag, self.message.tag))
        date = language.date_of(self.message.slice(*span), self._now, tags)
        # an hour would be lost: the form asks instead
        is_timed = "T" in date and parameter.schema.get("format") == "date"
        return Value(date) if date and not is_timed else None

    def draft(self, pattern: Pattern) -> JSONObject:
        """Values to prefill the function's form: texts after their field names, quotations,
        addresses, links and dates that fit one parameter, and the text after the example's
        words."""
        arguments, tokens = dict(pattern.fixed), self.message.tokens
        spans = self._spans(pattern)
        arguments |= self.field_texts(pattern)
        used = {n for span in spans.values() for n in range(*span)}
        for n, token in enumerate(tokens):
            kind = {"quote": "text"}.get(token.kind, token.kind)
            kind = "number" if token.text.isdigit() else kind
            names = free_names(pattern.tool, kind, arguments) if kind != "word" else []
            if names and n not in used:
                is_number = kind == "number"
                arguments[names[0]] = int(token.text[:MAX_DIGITS]) if is_number else token.text
                used.add(n)
        if spans:
            return {**self._last_record(pattern, used), **arguments}
        return self._drafted_text(pattern, arguments, used)

    def _drafted_text(self, pattern: Pattern, given: JSONObject, used: set[int]) -> JSONObject:
        """These arguments with a text: what follows the example's words, else of the last record,
        else all of the message for a write that goes to nobody: better too much than all lost."""
        tool, names = pattern.tool, free_names(pattern.tool, "text", given)
        if names and (text := self._text_after(pattern, names[0], used)):
            return {**given, names[0]: text}
        found = {**self._last_record(pattern, used), **given}
        names = free_names(tool, "text", found)
        is_own = bool(names) and tool.action_type == "write" and not is_outgoing(tool)
        is_own = is_own and not pattern.literals.issuperset(self.message.stems(pattern.tag))
        is_needed = is_own and parameters(tool)[names[0]].required
        return {**found, names[0]: self.message.text} if is_needed else found

    def is_sent_on(self, pattern: Pattern) -> bool:
        """Whether the function sends and the message has a pronoun, or the noun of the app that was
        shown last where the example has it not: "forward the mail to …"."""
        shown = {t.app_id for t in self._tools if self.records.is_newest(t.app_id)}
        nouns = {noun for app_id in shown for noun in self.nouns(app_id, pattern.tag)}
        told = lexicon(pattern.tag).reference | (nouns - pattern.literals)
        return is_outgoing(pattern.tool) and not told.isdisjoint(self.message.stems(pattern.tag))

    def _last_record(self, pattern: Pattern, used: set[int]) -> JSONObject:
        """For what is sent on: the texts of the last record by field name, or its title."""
        first, last = self._free_span(pattern, used)
        is_text = first < last and not self.is_reference((first, last), pattern.tag)
        if is_text or not self.is_sent_on(pattern):
            return {}
        texts, titles = self.records.texts, language.title_keys()
        title = next(filter(None, map(texts.get, titles)), "")
        required = dict.fromkeys(free_names(pattern.tool, "text", ()), title)
        values = {**required, **texts, **dict.fromkeys(titles, title)}
        known = [p.name for p in parameters(pattern.tool).values() if p.kind == "text"]
        return {name: values[name] for name in known if values.get(name)}

    def _text_after(self, pattern: Pattern, name: str, used: set[int]) -> str:
        """The text after an example's words, without lead-in words; may be empty."""
        first, last = self._free_span(pattern, used)
        known = lexicon(pattern.tag).function  # "get current time | in Europe/Berlin"
        if first < last:
            leads = self._leads(pattern.tool, pattern.tag, name) if pattern.example else known
            first = self._start(first, pattern.tag, leads)
        is_free = first < last and used.isdisjoint(range(first, last))
        is_text = is_free and (
            self._is_sentence(pattern.tool, name, (first, last), pattern.tag)
            or not self.is_reference((first, last), pattern.tag)
        )
        # of a question to a function's name no word is a value: "what time is it in Riga?"
        is_text = is_text and (bool(pattern.example) or not self.message.is_question)
        is_text = is_text and self.has_lead(pattern, name, first)
        return self.message.lines(first, last) if is_text else ""

    def _leads(self, tool: ToolSpec, tag: str, name: str) -> set[str]:
        """The words that lead in a parameter's text: its names, and words that mostly precede it in
        examples, such as "that" in "write to {to} that {body}"."""
        pieces = ((*p.pieces[1:], Piece()) for p in patterns(tool, tag))  # behind the verb
        pairs = Counter((a.stem, b.slot == name) for row in pieces for a, b in pairwise(row))
        stems = {stem for stem, is_before in pairs if is_before and stem}
        leads = {stem for stem in stems if pairs[stem, True] > pairs[stem, False]}
        return (leads | field_words(name, tag)) - lexicon(tag).toward  # "and tell her …"

    def has_lead(self, pattern: Pattern, name: str, first: int) -> bool:
        """Whether a text follows a colon or a lead-in word, or is lines of its own; not required
        unless it is outgoing."""
        if not is_outgoing(pattern.tool):
            return True
        leads = self._leads(pattern.tool, pattern.tag, name) | {COLON}
        is_led = first > 0 and self.message.stems(pattern.tag)[first - 1] in leads
        return is_led or self.message.is_block(first, len(self.message.tokens))

    def field_texts(self, pattern: Pattern) -> JSONObject:
        """The texts that follow their field names."""
        return {name: self.message.lines(*span) for name, span in self._spans(pattern).items()}

    def _spans(self, pattern: Pattern) -> dict[str, Span]:
        """The spans of texts after their field names ("with the subject …", "about … that …"), if a
        field other than the first is named. A quotation ends a span; otherwise the first field
        extends to the end."""
        stems, tokens = self.message.stems(pattern.tag), self.message.tokens
        names = free_names(pattern.tool, "text", pattern.fixed)
        texts = [p.name for p in parameters(pattern.tool).values() if p.kind == "text"]
        if pattern.tool.action_type == "read" or not names or len(texts) < 2:
            return {}
        leads = {n: self._leads(pattern.tool, pattern.tag, n) for n in [names[0], *texts]}
        found, at = dict[str, Span](), 1
        while at < len(tokens) - 1:
            name = next((k for k, own in leads.items() if stems[at] in own and k not in found), "")
            at += 1
            if not name:
                continue
            at = self._start(at, pattern.tag, leads[name])
            ends = (n for n in range(at + 1, len(tokens)) if stems[n] in leads[names[0]])
            end = next(ends, len(tokens)) if name != names[0] else len(tokens)
            end = at + 1 if tokens[at].kind == "quote" else end
            found[name], at = (at, end), end
        return found if found.keys() - {names[0]} else {}

    def _start(self, at: int, tag: str, leads: Collection[str]) -> int:
        """The start of a text after lead-in words: "know | that", "the text | :"."""
        stems, last = self.message.stems(tag), len(self.message.tokens) - 1
        while at < last and (stems[at] in leads or stems[at] == COLON):
            at += 1
        after = self.message.skip_articles(tag, at, last)
        return after if self.message.tokens[after].kind == "quote" else at

    def _free_span(self, pattern: Pattern, used: set[int]) -> Span:
        """The span for the text: after the last of the pattern's words before any colon, up to a
        value at the end."""
        stems, literals = self.message.stems(pattern.tag), pattern.literals
        last = len(stems)
        colon = stems.index(COLON) if COLON in stems else last
        head = last if literals.isdisjoint(stems[:colon]) else colon
        after = max((n for n in range(head) if stems[n] in literals), default=-1) + 1
        free = (n for n in range(after, last) if n not in used and stems[n] != COLON)
        return next(free, last), last - (last - 1 in used)


def field_words(name: str, tag: str) -> set[str]:
    """The words for a field in a language."""
    speaker, key = language.of(tag), f"label_{name}"
    labels = [speaker.field_name(name.replace("_", " "))]
    labels += [speaker.say(key)] if key in speaker.sentences else []  # "the text"
    words = [[word_key(w.text, tag) for w in language.tokens(text)] for text in labels]
    stems = {stem for stem, field in lexicon(tag).fields.items() if field == name}
    return stems.union(*({*own} - lexicon(tag).fillers for own in words if len(own) <= MAX_LABEL))
