"""The classifier's answer: the calls that a message requests, in the first round or behind a list
or a search, else what `offers` has."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain, pairwise
from typing import Final, cast

from ... import language
from ...types import JSONObject
from ..offered_forms import form_call, forms_in
from ..protocol import ModelRequest, ModelResponse, ToolSpec
from .commands import Commands
from .examples import Command, Pattern, Piece, Span, Unclear, example_words, free_names
from .message import COLON, lexicon
from .offers import FORM_SCORE, MAX_CALLS, MAX_EXAMPLES, MAX_LISTS, lists_of, respelt, to_calls
from .prompt_reader import Fact, read_prompt, records_of
from .undo import UndoMessage
from .waiting import WaitingAnswer

KERNEL: Final = "kernel"
CONTINUE: Final = f"{KERNEL}__continue"
"""App id of the kernel's own functions, and the one that requests another round."""

MAX_NAMING: Final = 20
"""Maximum words of a message that names an unknown record."""

_BULLET: Final = re.compile(r"(?:(?:[-*+•·–—]|\d{1,2}[.)]|\[[ xX]?\])\s+)+")
"""What begins a line of a list."""


def classify(request: ModelRequest) -> ModelResponse:
    """Calls for a message that matches an example, else a text with buttons."""
    reading = read_prompt(request.prompt, request.language)
    tools = tuple(t for t in request.tools if t.app_id != KERNEL)
    answer = Answer(respelt(Commands(reading, tools)), request)
    # the second round of a turn: this model plans once and goes on only behind a list
    if reading.ended:
        return answer.after_read() or answer.after_results()
    return answer.of_message()


class Answer(WaitingAnswer):
    """The answer to one request."""

    def __init__(self, commands: Commands, request: ModelRequest) -> None:
        super().__init__(commands, request)
        self._continuation = [t for t in request.tools if t.name == CONTINUE]
        self._searched = self.query.found_in(self._reading.results)
        # a field that is searched for is answered by the record that holds it
        is_search = all(c.pattern.looks_up == "search" for c in self._readings)
        is_field = all((is_search, self._continuation, self.query.is_search, self.query.is_field))
        if is_field or self.by_name:  # a whole name is that, whatever else its words are near
            self._readings = []

    def of_message(self) -> ModelResponse:
        """The one whole command, or the question which is meant. Where there is none, what was just
        made is taken back, a question is looked up, and what nobody was shown is looked for."""
        readings = self._readings
        # a guard sent the call back: what is missing becomes a form
        if self._reading.is_refused:
            return self.complete(readings[0]) if readings else self.suggest()
        undo = UndoMessage(self.commands, self._request)
        if answer := self._of_waiting(undo):
            return answer
        if self._continuation and (read := self._unread()):
            return to_calls([read], self._continuation)
        if messages := self._addressed():
            return self._of_several(messages)
        if calls := self._split_calls() or self._calls_per_record(is_listed=False):
            return to_calls(calls)
        # a sure write takes all of the message: "note: buy milk and call Anna"
        is_write = any(c.is_sure and c.tool.action_type != "read" for c in readings)
        if not is_write and (parts := self.commands.parts()):
            return self.buttons(parts[:MAX_EXAMPLES], "one_at_a_time")
        refs = [c.unclear for c in readings if c.unclear]
        led = [c for c in readings if c.pattern.pieces[0].stem]  # "undo the completion" is no title
        is_open = not any(c.is_sure for c in led) and not any(u.rows or u.is_all for u in refs)
        if is_open and undo.is_undo:  # "delete the last one" may be no command yet
            return self._undo(undo)
        if not readings and (found := self.query.record_read()):
            return to_calls([found])
        if self._continuation and (lists := self._list_lookups()):
            return to_calls(lists, self._continuation)
        if not readings and self._continuation and self.query.is_search:
            return to_calls(self.query.searches(), self._continuation)
        if not readings:
            before = None if self.query.is_question else undo.suggestions
            return self._of_form() or self._left(self.suggest(before))
        is_sure = len(readings) == 1 and readings[0].is_sure
        return to_calls(readings) if is_sure else self.clarify(readings)

    # Behind a list or a search

    def after_results(self) -> ModelResponse:
        """A later round: the command with the record found, or nothing; the list first where the
        app found several records."""
        results, lookups = self._reading.results, self._list_lookups()
        if self._reading.is_ambiguous and lookups and not results:
            return to_calls(lookups, self._continuation)
        if not self._readings and (self.query.is_search or self._searched):
            return self._after_search()
        # lookups are all that this turn has called with success
        called = {(f.app_id, f.fn_name) for f in results}
        called &= {(c.tool.app_id, c.tool.fn_name) for c in lookups}
        if not 0 < len(results) == len(called):
            return self._of_found() if len(called) == 1 else self._nothing_more
        if len(lookups) > 1:
            return self._with_results._of_lists(self._unknown[0][1])
        if not results[0].lists:
            return to_calls(self._readings)  # it told of no records
        return self._with_results._of_list(results[0])

    def _of_lists(self, missing: Unclear) -> ModelResponse:
        """The command with the record that only one of several apps' lists holds, or the question
        which one is meant."""
        rows = [row for command in self._readings for row in self.rows_of(command)]
        if len(rows) == len(self._readings) == 1:
            return to_calls(self._readings)
        if rows:
            return self.choose_record(missing._replace(rows=tuple(rows)))
        is_all_told = all(fact.is_all_told for fact in self._reading.results)
        key = "none_is_called" if is_all_told else "none_holds"
        return self._no_record(self._none_is_called(missing.span, key))

    def _no_record(self, text: str) -> ModelResponse:
        """A sentence; without the offer the narrator would tell the lists."""
        return ModelResponse(text=text, offer=self._tree([]))

    def _unread(self) -> Command | None:
        """The read of the one record that the last result lists and this message sends on."""
        near = [p for score, p in self.commands.nearest()[:1] if score >= FORM_SCORE]
        is_sent = not self._readings and any(map(self.values.is_sent_on, near))
        return self.query.reading(*self.values.records.only_listed()) if is_sent else None

    def after_read(self) -> ModelResponse | None:
        """The form, or the calls, of what is sent on after the read of it alone."""
        read, answer = self._unread(), self._with_results
        if not read or [f.fn_name for f in self._reading.results] != [read.tool.fn_name]:
            return None
        messages = answer._addressed()
        return answer._of_several(messages) if messages else answer.suggest()

    @property
    def _with_results(self) -> Answer:
        """The answer to the same message with this turn's results as what was shown last."""
        facts = self._reading.results + self._reading.facts
        reading = replace(self._reading, facts=facts, is_listed=True)
        return Answer(Commands(reading, self.tools), self._request)

    @property
    def _nothing_more(self) -> ModelResponse:
        return ModelResponse(text=self.say("nothing_more"))

    def _of_list(self, told: Fact) -> ModelResponse:
        """The command with the record that the app's list holds, or the question which one is
        meant."""
        readings = self._readings
        if calls := self._calls_per_record(is_listed=told.is_whole):
            return to_calls(calls)
        sure = [c for c in readings if c.is_sure and (self.is_found(c) or not told.is_whole)]
        if len(readings) == len(sure) == 1:
            return to_calls(readings)
        if any(not (c.unclear or c.is_unidentified or c.is_by_words) for c in readings[:1]):
            return self.form(readings[0])  # "write a mail to Anna"
        if not self._open:
            return self._nothing_more
        missing, command = self._open
        none = self._none_is_called(missing.span)
        if command.pattern.is_to_somebody:
            form = self.form(replace(command, unclear=None, is_whole=False))
            return replace(form, text=f"{none} {form.text}")
        if searches := {} if told.is_all_told else self._name_searches:
            return to_calls([*searches.values()], self._continuation)
        none = none if missing.is_named and told.is_all_told else ""
        return self._choose_near(missing, told.app_id, none)

    @cached_property
    def _open(self) -> tuple[Unclear, Command] | None:
        """What the message names and no record that was shown is, with its command."""
        candidates = [*self._readings, *self.commands.with_unknown.readings()]
        found = [(u, c) for c in candidates if (u := c.unclear) and (u.rows or not u.is_all)]
        return max(found, key=lambda one: (bool(one[0].rows), one[0].is_named), default=None)

    @property
    def _name_searches(self) -> dict[str, Command]:
        """The search of its app for each name of one word that no record has, by its stem."""
        if not self._open or self._reading.found:
            return {}
        missing, command = self._open
        app_id, tag = command.tool.app_id, command.pattern.tag
        words = self.values.lacking(missing.span, app_id, tag)
        pairs = ((language.stem(w, tag), c) for w in words for c in self.query.searches([w]))
        return {stem: search for stem, search in pairs if search.tool.app_id == app_id}

    def _of_found(self) -> ModelResponse:
        """The answer where the app's own search was asked for what its list has not."""
        first, *searched = self._reading.results
        listed = Commands(replace(self._reading, results=[first]), self.tools)
        stems = Answer(listed, self._request)._with_results._name_searches
        if len(stems) != len(searched):
            return self._nothing_more
        rows = [records_of(fact.data) or [] for fact in searched]
        reading = replace(self._reading, found=dict(zip(stems, rows, strict=True)))
        return Answer(Commands(reading, self.tools), self._request)._with_results._of_list(first)

    def _none_is_called(self, span: Span, key: str = "none_is_called") -> str:
        """The sentence that no record is called by these words."""
        first, last = span
        first = self.message.skip_articles(self.tag, first, last - 1)
        return self.say(key, what=self.message.slice(first, last))

    def _choose_near(self, missing: Unclear, app_id: str, none: str) -> ModelResponse:
        """The answer if a list lacks the record: similar ones as choices, behind the sentence that
        there is `none` of the name."""
        rows = missing.rows or tuple(self.values.records.listed(app_id))
        if not rows:  # without an offer the narrator tells the empty list
            return self._no_record(none) if none else self._nothing_more
        question = self.choose_record(missing._replace(rows=rows))
        none = "" if missing.rows else none
        return replace(question, text=f"{none} {question.text}".strip())

    def _not_understood(self, examples: Sequence[tuple[ToolSpec, str]]) -> ModelResponse:
        """Searches for the words of a question that no function knows, once."""
        about = self.query.unknown_words() if self.query.is_question and self._continuation else []
        is_new = about and not (self._searched or self._reading.ended > len(self._list_lookups()))
        found = self.query.searches(about) if is_new else []
        return to_calls(found, self._continuation) if found else super()._not_understood(examples)

    def _after_search(self) -> ModelResponse:
        """After searches: read the only record found, if none has failed; where none is found,
        search in other languages' words."""
        ended, results = self._reading.ended, self._reading.results
        found = [(f.app_id, row) for f in self._searched for row in records_of(f.data) or ()]
        if not found:
            is_first = self.query.is_search and ended == len(self.query.searches())
            more = self.query.foreign_searches() if is_first else []
            return to_calls(more, self._continuation) if more else self.suggest()
        read = self.query.found_read(found) if len(results) == ended else None
        return to_calls([read]) if read else self._nothing_more

    # The list to read for a record that the message names and that was not shown yet

    def _list_lookups(self) -> list[Command]:
        """The commands that list the apps which may have the record or person that the message
        names, or the one to choose from where the app found several; empty if nothing is named."""
        readings = self._readings
        plural = [c for c in readings if c.unclear and c.unclear.is_all]  # "all notes"
        if listed := readings[:1] if self._reading.is_ambiguous else plural:
            return lists_of([c.pattern for c in listed], self.tools)
        # a long message is a text, and names nothing by itself
        is_long = len(self.message.tokens) > MAX_NAMING
        if is_long or any(self.is_found(c) or (c.unclear and c.unclear.rows) for c in readings):
            return []
        # what stands in quotation marks is a name as it is
        if any(c.is_sure and not c.free_words for c in readings):
            return []
        alone = [p for p, unclear in self._unknown if self._is_alone(p, unclear)]
        sure = [c.pattern for c in readings if c.is_sure or (c.unclear and c.unclear.is_named)]
        found = lists_of(alone or sure, self.tools)
        return found if alone or sure else lists_of(self._named_in_several, self.tools, MAX_LISTS)

    @property
    def _named_in_several(self) -> list[Pattern]:
        """The commands of several apps that may mean what the message names, if none has shown
        records that it may mean instead, and it is no "the later one"."""
        pointing = lexicon(self.tag).reference.intersection(self.message.stems(self.tag))
        apps = {p.tool.app_id for p, _ in self._unknown}
        is_open = len(apps) > 1 and not (pointing or any(map(self.values.records.newest, apps)))
        return [p for p, _ in self._unknown if is_open]

    @cached_property
    def _unknown(self) -> list[tuple[Pattern, Unclear]]:
        """The commands that name a record that was not shown, with a word of their own for what is
        to be done."""
        found = [(c.pattern, c.unclear) for c in self.commands.with_unknown.readings() if c.unclear]
        small = {p.tag: lexicon(p.tag).function | lexicon(p.tag).question for p, _ in found}
        return [(p, unclear) for p, unclear in found if p.literals - small[p.tag] - {COLON}]

    def _is_alone(self, pattern: Pattern, unclear: Unclear) -> bool:
        """Whether it goes to somebody, says what its app calls its records, or is of the one app a
        function of which knows all its words."""
        apps = {t.app_id for t in self.tools if example_words(t, pattern.tag) >= pattern.literals}
        is_named = self.values.has_noun(pattern.tool.app_id, pattern.tag, unclear.span)
        return pattern.is_to_somebody or is_named or len(apps) == 1

    # Several calls: one for each text ("add three tasks: …") or record ("them", "all notes")

    def _addressed(self) -> list[str]:
        """The message once for each of the addresses that stand in a row, "to a@… and to b@…"."""
        tokens, text = self.message.tokens, self.message.text
        places = [n for n, token in enumerate(tokens) if token.kind == "email"]
        if len(places) not in range(2, MAX_CALLS + 1):
            return []
        first, *_, last = places
        between = [n for n in range(first, last) if not self.commands.is_conjunction(n)]
        others = {self.message.words[n] for n in between} - {"", self.message.words[first - 1]}
        head, tail = text[: tokens[first].start], text[tokens[last].end :]
        return [f"{head}{tokens[n].text}{tail}" for n in places if not others]

    def _of_several(self, messages: Sequence[str]) -> ModelResponse:
        """The calls of these messages, also of forms that lack nothing, together on one card; else
        one at a time."""
        prompts = (replace(self._reading, message=message) for message in messages)
        own = [Answer(Commands(p, self.tools), self._request).of_message() for p in prompts]
        told = [(c.name, cast("JSONObject", c.arguments)) for one in own for c in one.tool_calls]
        told += chain(*(map(form_call, forms_in(one.offer)) for one in own))
        calls = self.commands.calls(told)
        if len(calls) == len(messages) and all(call.is_complete for call in calls):
            return to_calls(calls)
        return self.buttons(messages[:MAX_EXAMPLES], "one_at_a_time")

    def _split_calls(self) -> list[Command]:
        """A command for each part of the text after a colon, or of a title that is a list; if all
        are callable and of one non-destructive function."""
        messages = self._led() or ([] if self.message.colon else self._listed())
        if len(messages) not in range(2, MAX_CALLS + 1):
            return []
        base = replace(self._reading, is_item=bool(self.message.line_starts))
        readings = [Commands(replace(base, message=m), self.tools).readings() for m in messages]
        found = [own[0] for own in readings if len(own) == 1 and own[0].is_sure]
        is_one = [*{c.tool.name: c.tool.action_type for c in found}.values()] == ["write"]
        return found if all((is_one, len(found) == len(readings))) else []

    def _led(self) -> list[str]:
        """The message once for each line behind its colon or first line, or each part of the text
        behind its colon, if the words before count them, or name the record in another form than
        the examples: "new tasks: milk, bread"."""
        at = self.message.colon or next(iter(self.message.line_starts), 0)
        if not at:
            return []
        head, count = self._head(at)
        splits = self._splits(at, count) if count or self._names_several(at) else ()
        parts = next((own for own in splits if len(own) == (count or len(own))), [])
        return [f"{head}: {part}" for part in parts]

    def _splits(self, at: int, count: int) -> Iterator[list[str]]:
        """The lines behind a token, of which no address makes one text, without bullets; the parts
        of the text behind a colon."""
        tokens, colon = self.message.tokens, self.message.colon
        span = (at + bool(colon), len(tokens))
        lines = (_BULLET.sub("", line.strip()) for line in self.message.lines(*span).splitlines())
        items = [*filter(None, (line.strip(" ,;") for line in lines))]
        if len(items) > 1 and "email" not in {token.kind for token in tokens[:at]}:
            yield items
        # "new tasks", and no "tasks for today: …"
        if colon and (count or self._is_plural((at - 1, at))):
            yield from self._parts(span)

    def _head(self, end: int) -> tuple[str, int]:
        """The words before what is listed, without those that point at it ("these") or count it,
        and the count, or 0."""
        tokens, stems = self.message.tokens[:end], self.message.stems(self.tag)
        head, plural = self.message.text[: tokens[-1].end], lexicon(self.tag).plural
        numbers = language.numbers(head, self.tag)
        counts = [m for m in numbers if m.value in range(2, MAX_CALLS + 1)]
        counts = counts if len(counts) == 1 else []
        aside = [(t.start, t.end) for t, s in zip(tokens, stems, strict=False) if s in plural]
        aside += [(m.start, m.end) for m in counts]
        for start, end in sorted(aside, reverse=True):
            head = f"{head[:start]} {head[end:]}"
        return head, sum(int(m.value) for m in counts)

    def _listed(self) -> list[str]:
        """The message once for each item of the title that its only command gives, if that lists
        three or more, beside the app's noun in the plural or before what holds them: "add milk,
        bread and eggs to my tasks", "put … on my list"."""
        text, tokens = self.message.text, self.message.tokens
        title = r"\s+".join(map(re.escape, _title(self._readings).split()))  # over whatever lines
        place = range(*found.span()) if (found := re.search(title, text)) else range(0)
        inside = [n for n, t in enumerate(tokens) if t.start in place]
        if not (inside and self._is_beside((0, inside[0]), (inside[-1] + 1, len(tokens)))):
            return []
        parts = next(self._parts((inside[0], inside[-1] + 1)))
        sizes = [len(part.split()) for part in parts]
        # "buy milk, bread and eggs" is one errand
        is_list = len(parts) > 2 and sizes[0] <= max(sizes[1:])
        return [text[: place.start] + part + text[place.stop :] for part in parts if is_list]

    def _is_beside(self, before: Span, behind: Span) -> bool:
        """Whether these words have an app's noun in the plural, or those behind hold what stands
        between: "on my list"; no "as a task"."""
        stems, fillers = {*self.message.stems(self.tag)[slice(*behind)]}, lexicon(self.tag).fillers
        is_held = bool(stems & fillers and stems - fillers - self.values.all_nouns(self.tag))
        return is_held or self._is_plural(before) or self._is_plural(behind)

    def _parts(self, span: Span) -> Iterator[list[str]]:
        """Candidate splits of a text: at punctuation and final conjunctions, at all of these, at
        punctuation only."""
        skip, (first, last) = self.commands.skip_conjunctions, span
        joints = self.commands.boundaries(span)
        marks = [n for n in joints if not self.commands.is_conjunction(n)]
        ends = [n for n in joints if n >= max(marks, default=0)]
        for places in ({*marks, *ends}, {*joints}, {*marks}):
            bounds = pairwise([first, *sorted(places), last])
            spans = [(skip(start), end) for start, end in bounds]
            yield [self.message.slice(*part) for part in spans if part[0] < part[1]]

    def _names_several(self, last: int) -> bool:
        """Whether the first app's noun before a token is one for several records: no "note about my
        tasks"."""
        stems, nouns = self.message.stems(self.tag), self.values.all_nouns(self.tag)
        noun = next((n for n in range(last) if stems[n] in nouns), last)
        return noun < last and self._is_plural((noun, noun + 1))

    def _is_plural(self, span: Span) -> bool:
        """Whether an app's noun in a span has another form than in similar examples, where no small
        word stands before it ("to my tasks")."""
        stems, nouns = self.message.stems(self.tag), self.values.all_nouns(self.tag)
        said = {self.message.words[n] for n in range(*span) if stems[n] in nouns}
        examples = (p.pieces for p in self.commands.examples if p.pieces[0].stem in stems)
        rows = chain(*(zip((Piece(), *own), own, own[1:], strict=False) for own in examples))
        fillers, titles = lexicon(self.tag).fillers, language.title_keys()
        led = ((a, b) for a, b, c in rows if c.slot in titles or c.stem == COLON)
        leads = {b.form for a, b in led if a.stem not in fillers}
        return bool(leads and said - leads)

    def _calls_per_record(self, *, is_listed: bool) -> list[Command]:
        """A command for each record that the message means; for "all" only if their list has just
        been read (`is_listed`)."""
        ref = self._readings[0].unclear if len(self._readings) == 1 else None
        if not ref or not ref.is_all or ref.is_named > is_listed:
            return []
        base, ids = replace(self._readings[0], unclear=None), [row["id"] for row in ref.rows]
        several = free_names(base.tool, "ids", base.arguments)
        [name] = (several or free_names(base.tool, "id", base.arguments))[:1]
        values = [ids] * bool(ids) if several else ids
        return [replace(base, arguments={**base.arguments, name: value}) for value in values]


def _title(readings: Sequence[Command]) -> str:
    """The title that the only command gives to something; else empty."""
    keys = {*language.title_keys()}
    titles = [str(v) for c in readings for k, v in c.arguments.items() if k in keys]
    return titles[0] if len(readings) == len(titles) == 1 else ""
