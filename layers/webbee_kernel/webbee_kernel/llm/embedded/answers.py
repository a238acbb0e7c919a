"""The classifier's answer: the calls that a message requests, in the first round or behind a list
or a search, else what `offers` has."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ... import language
from ..protocol import ModelRequest, ModelResponse, ToolSpec
from . import lookups
from .commands import Commands
from .examples import Command, Pattern, Unclear
from .lookups import is_exhaustive, is_whole, list_lookup, lists
from .message import lexicon
from .multiple_calls import calls_per_record, split_calls
from .offers import (
    MAX_EXAMPLES,
    ask_which,
    buttons,
    choose_record,
    clarify,
    complete,
    form_answer,
    offer_tree,
    suggest,
    to_calls,
)
from .prompt_reader import read_prompt, records_of, words_of_name
from .questions import Questions
from .undo import UndoMessage

KERNEL: Final = "kernel"
CONTINUE: Final = f"{KERNEL}__continue"
"""App id of the kernel's own functions, and the one that requests another round."""


def classify(request: ModelRequest) -> ModelResponse:
    """Calls for a message that matches an example, else a text with buttons."""
    reading = read_prompt(request.prompt, request.language)
    tag = language.detect(reading.message, reading.default_tag)
    tools = tuple(t for t in request.tools if t.app_id != KERNEL)
    commands = Commands(reading, tools)
    # the second round of a turn: this model plans once and goes on only behind a list
    if reading.ended:
        return _after_results(commands, request, tag)
    readings = commands.readings()
    # a guard sent the call back: what is missing becomes a form
    if reading.is_refused:
        return complete(readings[0], commands, tag) if readings else suggest(commands, tag)
    return _answer(readings, commands, request, tag)


def _answer(
    readings: list[Command], commands: Commands, request: ModelRequest, tag: str
) -> ModelResponse:
    """The one whole command, or the question which is meant. Where there is none, what was just
    made is taken back, a question is looked up, and what nobody was shown is looked for."""
    if form := _correction(readings, commands, request, tag):
        return form
    if calls := split_calls(commands, readings) or calls_per_record(readings, is_listed=False):
        return to_calls(calls)
    # a sure write takes all of the message: "note: buy milk and call Anna"
    is_write = any(c.is_sure and c.tool.action_type != "read" for c in readings)
    if not is_write and (parts := commands.parts()):
        return buttons(parts[:MAX_EXAMPLES], "one_at_a_time", tag)
    undo = UndoMessage(commands, request)
    is_open = not any(c.is_sure or (c.unclear and c.unclear.is_resolved) for c in readings)
    if is_open and undo.is_undo:  # "delete the last one" may be no command yet
        return _undo(undo, commands, tag)
    query = Questions(commands)
    if not readings and (found := query.record_read()):
        return to_calls([found])
    continuation = _continuation(request)
    if continuation and (found := list_lookup(commands, readings)):
        return to_calls([found], continuation)
    if not readings and continuation and query.is_search:
        return to_calls(query.searches(), continuation)
    if not readings:
        return suggest(commands, tag, {} if query.is_question else undo.suggestions, query)
    if continuation and (found := lookups.key_lookup(commands, readings)):
        return to_calls([found], continuation)
    is_sure = len(readings) == 1 and readings[0].is_sure
    return to_calls(readings) if is_sure else clarify(readings, commands, tag)


def _correction(
    readings: list[Command], commands: Commands, request: ModelRequest, tag: str
) -> ModelResponse | None:
    """The form of the one write that waits for a yes, with what the message says anew; None for a
    message that stands by itself, asks, or only says no."""
    waits = dict(request.waiting)
    tools = [t for t in commands.tools if [t.name] == [*waits] and t.action_type == "write"]
    for tool in tools if not commands.message.is_question else ():
        new = commands.values.replacement(readings, tool, waits[tool.name])
        if new is not None:
            command = Command(Pattern(tool, "", tag, (), {}), {**waits[tool.name], **new})
            return form_answer(replace(command, is_whole=False), commands, tag)
    return None


def _undo(undo: UndoMessage, commands: Commands, tag: str) -> ModelResponse:
    """The calls that undo what is meant, the question what that is, or that nothing does."""
    if made := undo.commands:
        return to_calls(made)
    if refusal := undo.refusal:
        return ModelResponse(text=refusal)
    if len(undo.choices) < 2:  # other words than those of what is left
        return suggest(commands, tag, undo.choices or undo.suggestions)
    return ask_which(undo.choices, tag)


def _continuation(request: ModelRequest) -> list[ToolSpec]:
    return [t for t in request.tools if t.name == CONTINUE]


def _after_results(commands: Commands, request: ModelRequest, tag: str) -> ModelResponse:
    """A later round: after a lookup the command with the record found, else nothing; the list first
    where the app found several records."""
    reading, readings = commands.reading, commands.readings()
    lookup = list_lookup(commands, readings)
    if reading.is_ambiguous and lookup and not reading.results:
        return to_calls([lookup], _continuation(request))
    if reading.results and (key := lookups.key_of(readings)):
        none = language.of(tag).say("none_is_called", what=key)
        is_missing = lookups.is_missing(commands, key)
        return ModelResponse(none, offer=offer_tree([], tag)) if is_missing else to_calls(readings)
    if not readings and (query := Questions(commands)).is_search:
        return _after_search(commands, query, request, tag)
    if lookup and lookups.has_run(lookup, commands):
        return _after_list(lookup, commands, tag)
    return ModelResponse(text=language.of(tag).say("nothing_more"))


def _after_list(lookup: Command, commands: Commands, tag: str) -> ModelResponse:
    """The command with the record that the list holds, or the question which one is meant."""
    reading = commands.reading
    if not lists(reading.results[0].data):
        return to_calls(commands.readings())  # it told of no records
    found = Commands(replace(reading, facts=reading.results + reading.facts), commands.tools)
    readings, is_all = found.readings(), is_exhaustive(reading.results[0].data)
    if calls := calls_per_record(readings, is_listed=is_whole(reading.results[0].data)):
        return to_calls(calls)
    if len(readings) == 1 and (readings[0].is_found if is_all else readings[0].is_sure):
        return to_calls(readings)
    if readings and not (readings[0].unclear or readings[0].is_unidentified):
        return form_answer(readings[0], found, tag)  # "write a mail to Anna"
    candidates = [*readings, *found.with_unknown.readings()]
    unclear = [u for c in candidates if (u := c.unclear) and (u.rows or not u.is_all)]
    if not unclear:
        return ModelResponse(text=language.of(tag).say("nothing_more"))
    missing = max(unclear, key=lambda unclear: (bool(unclear.rows), unclear.is_named))
    if outgoing := [c for c in candidates if c.unclear is missing and c.pattern.is_to_somebody]:
        form = form_answer(replace(outgoing[0], unclear=None, is_whole=False), found, tag)
        return replace(form, text=f"{_none_is_called(missing, found, tag)} {form.text}")
    return _choose_near(missing, lookup, found, is_all, tag)


def _after_search(
    commands: Commands, query: Questions, request: ModelRequest, tag: str
) -> ModelResponse:
    """After searches: read the only record found, if none has failed; where none is found, search
    in other languages' words."""
    reading = commands.reading
    found = [(f.app_id, row) for f in reading.results for row in records_of(f.data) or ()]
    if not found:
        is_first = reading.ended == len(query.searches())
        more = query.foreign_searches() if is_first else []
        return to_calls(more, _continuation(request)) if more else suggest(commands, tag)
    is_whole = len(reading.results) == reading.ended
    read = query.found_read(found) if is_whole else None
    return to_calls([read]) if read else ModelResponse(language.of(tag).say("nothing_more"))


def _choose_near(
    missing: Unclear, lookup: Command, found: Commands, is_all: bool, tag: str
) -> ModelResponse:
    """The answer if a list lacks the named record: there is none, and similar ones as choices."""
    rows = missing.rows or tuple(found.values.records.listed(lookup.tool.app_id))
    is_named = bool(missing.is_named and is_all)
    none = _none_is_called(missing, found, tag)
    if not rows:  # without an offer the narrator tells the empty list
        nothing = ModelResponse(text=language.of(tag).say("nothing_more"))
        return ModelResponse(text=none, offer=offer_tree([], tag)) if is_named else nothing
    if missing.rows or not is_named:
        return choose_record(missing._replace(rows=rows), found, tag)
    first, last = missing.span
    words = {*found.message.stems(tag)[first:last]} - lexicon(tag).fillers
    near = tuple(row for row in rows if not words.isdisjoint(words_of_name(row, tag)))
    question = choose_record(missing._replace(rows=near or rows), found, tag)
    return replace(question, text=f"{none} {question.text}")


def _none_is_called(missing: Unclear, found: Commands, tag: str) -> str:
    first, last = missing.span
    name = found.message.slice(found.message.skip_articles(tag, first, last - 1), last)
    return language.of(tag).say("none_is_called", what=name)
