"""The classifier's answer: calls, or a text with buttons: candidate records, the function's form,
the nearest examples, and a link to set up a real model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final, cast

from ... import language
from ...catalogue import SLOT, example_phrase
from ...sdk import ui
from ...sdk.ui import UIAction, UINode
from ...text import disambiguate
from ...types import JSONObject
from ..function_form import form_of, parameters
from ..protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from ..tools import summary_of
from . import lookups
from .commands import Commands
from .examples import Command, Pattern, Span, Unclear, language_of
from .lookups import MAX_NAMING, is_exhaustive, is_whole, list_lookup, list_of, lists
from .message import lexicon, word_key
from .multiple_calls import calls_per_record, split_calls
from .prompt_reader import name_of, read_prompt, records_of, words_of_name
from .questions import Questions
from .undo import UndoMessage

KERNEL: Final = "kernel"
CONTINUE: Final = f"{KERNEL}__continue"
"""App id of the kernel's own functions, and the one that requests another round."""

MAX_EXAMPLES: Final = 3
"""Maximum examples offered."""

FORM_SCORE: Final = 0.6
"""Minimum score, from 0 to 1, to show an example's form."""

READ_SCORE: Final = 0.8
"""Minimum score to call a read example: all its words, and two others for each."""

EXAMPLE_SCORE: Final = 0.4
"""Minimum score to offer an example; for destructive functions FORM_SCORE."""

MAX_QUERY: Final = 4
"""Maximum words of a search in the conversations."""

MAX_CHOICES: Final = 8
"""Maximum records offered as choices."""

_MAX_LABEL: Final = 80
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def classify(request: ModelRequest) -> ModelResponse:
    """Calls for a message that matches an example, else a text with buttons."""
    reading = read_prompt(request.prompt, request.language)
    tag = language.detect(reading.message, reading.default_tag)
    tools = tuple(t for t in request.tools if t.app_id != KERNEL)
    commands = Commands(reading, tools)
    # the second round of a turn: this model plans once and goes on only behind a list
    if reading.has_results:
        return _after_results(commands, tag)
    readings = commands.readings()
    # a guard sent the call back: what is missing becomes a form
    if reading.is_refused:
        return _complete(readings[0], commands, tag) if readings else _suggest(commands, tag)
    return _answer(readings, commands, request, tag)


def _answer(
    readings: list[Command], commands: Commands, request: ModelRequest, tag: str
) -> ModelResponse:
    """The one whole command, or the question which is meant. Where there is none, what was just
    made is taken back, a question is looked up, and what nobody was shown is looked for."""
    if form := _correction(readings, commands, request, tag):
        return form
    if calls := split_calls(commands) or calls_per_record(readings, is_listed=False):
        return _calls(calls)
    # a sure write takes all of the message: "note: buy milk and call Anna"
    is_write = any(c.is_sure and c.tool.action_type != "read" for c in readings)
    if not is_write and (parts := commands.parts()):
        return _buttons(parts[:MAX_EXAMPLES], "one_at_a_time", tag)
    undo = UndoMessage(commands, request)
    is_open = not any(c.is_sure or (c.unclear and c.unclear.is_resolved) for c in readings)
    if is_open and undo.is_undo:  # "delete the last one" may be no command yet
        return _undo(undo, commands, tag)
    query = Questions(commands)
    if not readings and (found := query.record_read()):
        return _calls([found])
    continuation = [t for t in request.tools if t.name == CONTINUE]
    if continuation and (found := list_lookup(commands, readings)):
        return _calls([found], continuation)
    if not readings and continuation and query.is_search:
        return _calls(query.searches(), continuation)
    if not readings:
        return _suggest(commands, tag, _NONE if query.is_question else undo.suggestions, query)
    if continuation and (found := lookups.key_lookup(commands, readings)):
        return _calls([found], continuation)
    is_sure = len(readings) == 1 and readings[0].is_sure
    return _calls(readings) if is_sure else _clarify(readings, commands, tag)


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
            return _form(replace(command, is_whole=False), commands, tag)
    return None


def _undo(undo: UndoMessage, commands: Commands, tag: str) -> ModelResponse:
    """The calls that undo what is meant, the question what that is, or that nothing does."""
    if made := undo.commands:
        return _calls(made)
    if refusal := undo.refusal:
        return ModelResponse(text=refusal)
    if len(undo.choices) < 2:  # other words than those of what is left
        return _suggest(commands, tag, undo.choices or undo.suggestions)
    return _which(undo.choices, tag)


def _calls(commands: Sequence[Command], more: Sequence[ToolSpec] = ()) -> ModelResponse:
    calls = [ToolCall(c.tool.name, c.arguments) for c in commands]
    extra = [ToolCall(t.name, {}) for t in more]
    return ModelResponse(tool_calls=(*calls, *extra), stop_reason="tool_use")


def _after_results(commands: Commands, tag: str) -> ModelResponse:
    """The second round: after a lookup the command with the record found, else nothing."""
    reading, lookup = commands.reading, list_lookup(commands, commands.readings())
    if reading.results and (key := lookups.key_of(commands.readings())):
        none = language.of(tag).say("none_is_called", what=key)
        is_there = not lookups.is_missing(commands, key)
        return (
            _calls(commands.readings()) if is_there else ModelResponse(none, offer=_offer([], tag))
        )
    if not commands.readings() and (query := Questions(commands)).is_search:
        return _after_search(commands, query, tag)
    if not lookup or [f.fn_name for f in reading.results] != [lookup.tool.fn_name]:
        return ModelResponse(text=language.of(tag).say("nothing_more"))
    if not lists(reading.results[0].data):
        return _calls(commands.readings())  # it told of no records
    found = Commands(replace(reading, facts=reading.results + reading.facts), commands.tools)
    readings, is_all = found.readings(), is_exhaustive(reading.results[0].data)
    if calls := calls_per_record(readings, is_listed=is_whole(reading.results[0].data)):
        return _calls(calls)
    if len(readings) == 1 and (readings[0].is_found if is_all else readings[0].is_sure):
        return _calls(readings)
    if readings and not (readings[0].unclear or readings[0].is_unidentified):
        return _form(readings[0], found, tag)  # "write a mail to Anna"
    candidates = [*readings, *found.with_unknown.readings()]
    unclear = [u for c in candidates if (u := c.unclear) and (u.rows or not u.is_all)]
    if not unclear:
        return ModelResponse(text=language.of(tag).say("nothing_more"))
    missing = max(unclear, key=lambda unclear: (bool(unclear.rows), unclear.is_named))
    if outgoing := [c for c in candidates if c.unclear is missing and c.pattern.is_to_somebody]:
        form = _form(replace(outgoing[0], unclear=None, is_whole=False), found, tag)
        return replace(form, text=f"{_none_is_called(missing, found, tag)} {form.text}")
    return _choose_near(missing, lookup, found, is_all, tag)


def _after_search(commands: Commands, query: Questions, tag: str) -> ModelResponse:
    """After searches: read the only record found, where it holds each number that was typed."""
    results, calls = commands.reading.results, query.searches()
    found = [(f.app_id, row) for f in results for row in records_of(f.data) or ()]
    if not found:
        return _suggest(commands, tag)
    [(app_id, row), *others] = found
    numbers = [word for word in commands.message.words if any(map(str.isdigit, word))]
    told = " ".join(value for value in row.values() if isinstance(value, str))
    is_it = not others and all(number in told for number in numbers)
    if is_it and len(results) == len(calls) and (read := query.reading(app_id, row["id"])):
        return _calls([read])
    return ModelResponse(text=language.of(tag).say("nothing_more"))


def _choose_near(
    missing: Unclear, lookup: Command, found: Commands, is_all: bool, tag: str
) -> ModelResponse:
    """The answer if a list lacks the named record: there is none, and similar ones as choices."""
    rows = missing.rows or tuple(found.values.records.listed(lookup.tool.app_id))
    is_named = bool(missing.is_named and is_all)
    none = _none_is_called(missing, found, tag)
    if not rows:  # without an offer the narrator tells the empty list
        nothing = ModelResponse(text=language.of(tag).say("nothing_more"))
        return ModelResponse(text=none, offer=_offer([], tag)) if is_named else nothing
    if missing.rows or not is_named:
        return _choose_record(missing._replace(rows=rows), found, tag)
    first, last = missing.span
    words = {*found.message.stems(tag)[first:last]} - lexicon(tag).fillers
    near = tuple(row for row in rows if not words.isdisjoint(words_of_name(row, tag)))
    question = _choose_record(missing._replace(rows=near or rows), found, tag)
    return replace(question, text=f"{none} {question.text}")


def _none_is_called(missing: Unclear, found: Commands, tag: str) -> str:
    first, last = missing.span
    name = found.message.slice(found.message.skip_articles(tag, first, last - 1), last)
    return language.of(tag).say("none_is_called", what=name)


def _clarify(readings: Sequence[Command], commands: Commands, tag: str) -> ModelResponse:
    """Ask for clarification: several equal commands, or one with a missing record or value."""
    if len(readings) > 1 and readings[0].is_sure:
        return _examples([(c.tool, c.pattern.example) for c in readings], "which_command", tag)
    command = readings[0]
    if command.unclear and command.unclear.rows:
        return _choose_record(command.unclear, commands, tag)
    if not command.is_whole and (texts := commands.values.field_texts(command.pattern)):
        known = parameters(command.tool)
        others = {k: v for k, v in command.arguments.items() if known[k].kind != "text"}
        command = replace(command, arguments=others | texts)
    return _complete(command, commands, tag)


def _suggest(
    commands: Commands,
    tag: str,
    before: Mapping[str, str] = _NONE,
    query: Questions | None = None,
) -> ModelResponse:
    """The answer to a message that is not a command: the form of the nearest function, else
    suggestions; `before` precedes the nearest examples."""
    if not commands.tools:
        return ModelResponse(text=language.of(tag).say("no_apps"), offer=_offer([], tag))
    query, said = query or Questions(commands), commands.message.stems(tag)
    first = sorted(  # those of the app whose records are named
        lookups.first_examples(commands.tools),
        key=lambda one: commands.values.nouns(one[0].app_id, tag).isdisjoint(said),
    )
    if commands.message.is_greeting(tag):
        return _examples(first, "hello", tag)
    if key := commands.message.small_talk(tag):
        return ModelResponse(text=language.of(tag).say(key))
    if commands.message.is_denial(tag) and not (before or commands.values.records.is_after_write):
        return ModelResponse(text=language.of(tag).say("nothing_done"), offer=_offer([], tag))
    if found := list_of(query.listable_app(), tag, commands.tools):
        return _calls([found])
    if query.is_about_everything or commands.message.is_about_own_data(tag):
        data = _button(language.of(tag).say("my_data"), UIAction("me"))
        return ModelResponse(
            text=language.of(tag).say("under_your_name"), offer=_offer([data], tag)
        )
    # of those that are near one of the app whose records are named, that the message begins as
    nearest = sorted(
        commands.nearest(),
        key=lambda f: (
            f[0] < FORM_SCORE,
            commands.values.is_other_app(f[1].tool.app_id, f[1].tag),
            not commands.starts_like(f[1]),
        ),
    )
    for score, pattern in nearest[:1]:
        # a function's name and description weigh less, so less is asked of them
        is_near = score >= (READ_SCORE if pattern.example else FORM_SCORE)
        if is_near and (found := query.near_read(pattern)):
            return _calls([found])
        is_undo = before and pattern.tool.action_type == "destructive"  # pressed, not filled in
        is_other = commands.values.is_other_app(pattern.tool.app_id, pattern.tag)
        if score >= FORM_SCORE and _has_form(pattern) and not (is_undo or is_other):
            draft, content = (
                commands.values.draft(pattern),
                commands.message.keywords("en", fields=True),
            )
            # a name that is all that was said leaves nothing unread
            keys = {word_key(word, "en") for word in content}
            is_name = not pattern.example and pattern.literals >= keys
            return _complete(Command(pattern, draft, is_whole=is_name), commands, tag, before)
    examples = [
        (p.tool, p.example)
        for s, p in nearest
        if s >= (FORM_SCORE if p.tool.action_type == "destructive" else EXAMPLE_SCORE)
        if not p.literals.issubset(commands.message.stems(p.tag))  # said, and of no use
    ]
    words, about = commands.message.keywords(tag, fields=True), query.unknown_words()
    if query.is_question or not (before or examples):
        searches = [(c.pattern.example, *c.arguments.values()) for c in query.searches()]
        before = {**before, **{t: t for t in (SLOT.sub(word, e) for e, word in searches)}}
    answer = _examples([*examples, *first], "not_understood", tag, before, _page_links(words, tag))
    stems = [language.stem(word, tag) for word in about]
    is_field = query.is_question and 0 < len(about) < len(words)
    is_field = is_field and not commands.values.records.has_words(stems, tag)
    if not about or not (is_field or (commands.reading.has_results and query.is_search)):
        return answer
    none = language.of(tag).say("none_holds", what=" ".join(about[:MAX_EXAMPLES]))
    return replace(answer, text=f"{none} {answer.text}")


def _has_form(pattern: Pattern) -> bool:
    """Whether a form is better than an example: not for reads or functions with only ids."""
    kinds = {p.kind for p in parameters(pattern.tool).values()} - {"id", "ids", "list"}
    return not pattern.example or (bool(kinds) and pattern.tool.action_type != "read")


# What may be pressed


def _examples(
    examples: Sequence[tuple[ToolSpec, str]],
    key: str,
    tag: str,
    before: Mapping[str, str] = _NONE,
    links: Sequence[UINode] = (),
) -> ModelResponse:
    """A sentence with the nearest examples, one per function, preferably in the user's language; a
    function without examples is described instead."""
    by_tool: dict[str, str] = {}
    for tool, example in examples:
        own = (e for e in (example, *tool.examples) if e and language_of(example_phrase(e)) == tag)
        usual = example or tool.description.partition(". ")[0]
        by_tool.setdefault(tool.name, example_phrase(next(own, usual)))
    texts = (text for text in dict.fromkeys((*before, *by_tool.values())) if text)
    return _buttons([*texts][:MAX_EXAMPLES], key, tag, before, links)


def _buttons(
    texts: Sequence[str],
    key: str,
    tag: str,
    before: Mapping[str, str] = _NONE,
    links: Sequence[UINode] = (),
) -> ModelResponse:
    """A sentence with buttons that fill the composer or send a message."""
    text = language.of(tag).say(key, examples="; ".join(texts))
    rest = [_button(t, UIAction("fill", {"message": t})) for t in texts if t not in before]
    return ModelResponse(text=text, offer=_offer([*_send_buttons(before), *rest], tag, links))


def _send_buttons(texts: Mapping[str, str]) -> list[UINode]:
    """A sending button for each message → label."""
    return [_button(label, ui.Send(text)) for text, label in texts.items()]


def _choose_record(unclear: Unclear, commands: Commands, tag: str) -> ModelResponse:
    """The question which record is meant; buttons repeat the message with its name."""
    rows = unclear.rows[:MAX_CHOICES]
    said = (_with_record(row, unclear.span, commands) for row in rows)
    return _which(dict(zip(said, _labels(rows), strict=True)), tag, len(unclear.rows) - len(rows))


def _which(choices: Mapping[str, str], tag: str, more: int = 0) -> ModelResponse:
    """The question which of these is meant: what each button says, by what it is called."""
    lines = [f"{n}. {label}" for n, label in enumerate(choices.values(), 1)]
    lines += [language.of(tag).say("and_more", n=more)] if more else []
    text = language.of(tag).say("which_record", records="; ".join(lines))
    return ModelResponse(text=text, offer=_offer(_send_buttons(choices), tag))


def _with_record(row: JSONObject, span: Span, commands: Commands) -> str:
    """The message with a record's name in place of these words, after their noun; with its id if
    the name is ambiguous."""
    message, (first, last) = commands.message, span
    start, end = message.tokens[first].start, message.tokens[last - 1].end
    before, words, after = message.text[:start], message.text[start:end], message.text[end:]
    nouns = commands.values.all_nouns(message.tag)
    noun = f"{words} " if {*message.stems(message.tag)[first:last]} <= nouns else ""
    text = f"{before}{noun}“{name_of(row)}”{after}"
    if len(message.tokens) <= MAX_NAMING:
        found = Commands(replace(commands.reading, message=text), commands.tools).readings()
        if [_ids(c) for c in found] == [[row["id"]]]:
            return text
    return f"{before}{row['id']}{after}"


def _ids(command: Command) -> list[object]:
    """The ids among its arguments."""
    kinds = parameters(command.tool)
    values = (v for k, v in command.arguments.items() if kinds[k].kind in ("id", "ids"))
    return [i for value in values for i in (value if isinstance(value, list) else [value])]


def _labels(rows: Sequence[JSONObject]) -> list[str]:
    """The names of records, disambiguated if equal."""
    named = [(name_of(row)[:_MAX_LABEL], row) for row in rows]
    return [name + more for (name, _), more in zip(named, disambiguate(named), strict=True)]


def _complete(
    command: Command, commands: Commands, tag: str, before: Mapping[str, str] = _NONE
) -> ModelResponse:
    """The form of a command; if its record is unknown the reads that show it, since users cannot
    fill in an id."""
    app_id = command.tool.app_id
    is_unknown = command.unclear or (command.is_unidentified and not command.is_complete)
    if not is_unknown or not (command.unclear or list_of(app_id, tag, commands.tools)):
        return _form(command, commands, tag, before)
    own_tools = [t for t in commands.tools if t.app_id == app_id]
    examples = [
        one for one in lookups.first_examples(own_tools, most=MAX_EXAMPLES) if "{" not in one[1]
    ]
    return _examples(examples, "which_is_not_shown", tag, before)


def _form(
    command: Command, commands: Commands, tag: str, before: Mapping[str, str] = _NONE
) -> ModelResponse:
    """The function's prefilled form with the name of its record, preceded by buttons for
    alternatives."""
    tool, ids = command.tool, _ids(command)
    rows = [row for row in commands.values.records.known(tool.app_id) if row["id"] in ids]
    names = "; ".join(f"“{label}”" for label in _labels(rows))
    what = summary_of(tool, tag).partition(". ")[0] + (f": {names}" if names else "")
    form = form_of(tool, command.arguments, tag)
    is_english = what[1:2].islower() and tool.description.startswith(what)
    lower = what[:1].lower() + what[1:] if is_english else what
    text = language.of(tag).say("form_to_fill" if command.is_whole else "form_to_send", what=lower)
    fields = cast("list[UINode]", form.props["children"])
    errors = [str(error) for field in fields if (error := field.props.get("error"))]
    text = ". ".join([*errors, text])
    chips = [ui.Stack(_send_buttons(before), direction="horizontal", wrap=True)] if before else []
    return ModelResponse(text=text, offer=_offer([*chips, ui.Text(what), form], tag))


def _link(key: str, action: UIAction, tag: str) -> UINode:
    return ui.Link(language.of(tag).say(key), on_click=action)


def _page_links(words: Sequence[str], tag: str) -> list[UINode]:
    """Links to the page's own features: search in conversations, and the user's data."""
    q = " ".join(words[:MAX_QUERY])[:_MAX_LABEL]
    label = f"{language.of(tag).say('find_it')}: {q}"
    find = [_button(label, UIAction("find", {"q": q}))] if q else []
    return [*find, _link("my_data", UIAction("me"), tag)]


def _button(label: str, action: UIAction) -> UINode:
    return ui.Button(label, on_click=action, variant="secondary", size="sm")


def _offer(nodes: Sequence[UINode], tag: str, links: Sequence[UINode] = ()) -> JSONObject:
    """The UI tree of buttons and forms, with a link to set up a real model."""
    model = _link("use_a_model", UIAction("model"), tag)
    chips = [n for n in nodes if n.type == "Button"]
    rows = [n for n in nodes if n.type != "Button"]
    rows += [ui.Stack(chips, direction="horizontal", wrap=True)] if chips else []
    return ui.Stack([*rows, *links, model]).to_dict()
