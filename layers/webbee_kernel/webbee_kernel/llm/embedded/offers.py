"""The answer to what is no whole command: a text with buttons: candidate records, the function's
form, the nearest examples, and a link to set up a real model."""

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
from ..protocol import ModelResponse, ToolCall, ToolSpec
from ..tools import summary_of
from . import lookups
from .commands import Commands
from .examples import Command, Pattern, Span, Unclear, language_of
from .lookups import MAX_NAMING, list_of
from .message import word_key
from .prompt_reader import name_of
from .questions import Questions

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


def to_calls(commands: Sequence[Command], more: Sequence[ToolSpec] = ()) -> ModelResponse:
    calls = [ToolCall(c.tool.name, c.arguments) for c in commands]
    extra = [ToolCall(t.name, {}) for t in more]
    return ModelResponse(tool_calls=(*calls, *extra), stop_reason="tool_use")


def clarify(readings: Sequence[Command], commands: Commands, tag: str) -> ModelResponse:
    """Ask for clarification: several equal commands, or one with a missing record or value."""
    if len(readings) > 1 and readings[0].is_sure:
        return _examples([(c.tool, c.pattern.example) for c in readings], "which_command", tag)
    command = readings[0]
    if command.unclear and command.unclear.rows:
        return choose_record(command.unclear, commands, tag)
    if not command.is_whole and (texts := commands.values.field_texts(command.pattern)):
        known = parameters(command.tool)
        others = {k: v for k, v in command.arguments.items() if known[k].kind != "text"}
        command = replace(command, arguments=others | texts)
    return complete(command, commands, tag)


def suggest(
    commands: Commands,
    tag: str,
    before: Mapping[str, str] = _NONE,
    query: Questions | None = None,
) -> ModelResponse:
    """The answer to a message that is not a command: the form of the nearest function, else
    suggestions; `before` precedes the nearest examples."""
    if not commands.tools:
        return ModelResponse(text=language.of(tag).say("no_apps"), offer=offer_tree([], tag))
    query, values, said = query or Questions(commands), commands.values, commands.message.stems(tag)
    first = sorted(  # those of the app whose records are named
        lookups.first_examples(commands.tools),
        key=lambda one: values.nouns(one[0].app_id, tag).isdisjoint(said),
    )
    if commands.message.is_greeting(tag):
        return _examples(first, "hello", tag)
    is_open = bool(before) or values.records.is_after_write
    if answer := _small_talk(commands, query, tag, is_open=is_open):
        return answer
    # of those that are near one of the app whose records are named, that the message begins as
    nearest = sorted(
        commands.nearest(),
        key=lambda f: (
            f[0] < FORM_SCORE,
            values.is_other_app(f[1].tool.app_id, f[1].tag),
            not commands.starts_like(f[1]),
        ),
    )
    for score, pattern in nearest[:1]:
        if answer := _near_answer(score, pattern, commands, tag, before, query):
            return answer
    examples = [
        (p.tool, p.example)
        for s, p in nearest
        if s >= (FORM_SCORE if p.tool.action_type == "destructive" else EXAMPLE_SCORE)
        if not p.literals.issubset(commands.message.stems(p.tag))  # said, and of no use
    ]
    if query.is_question or not (before or examples or query.is_order):
        searches = [(c.pattern.example, *c.arguments.values()) for c in query.searches()]
        before = {**before, **{t: t for t in (SLOT.sub(word, e) for e, word in searches)}}
    return _not_understood([*examples, *first], commands, tag, before, query)


def _small_talk(
    commands: Commands, query: Questions, tag: str, *, is_open: bool
) -> ModelResponse | None:
    """The answer to what is no request, to a no where nothing is open, and to what a list or the
    page shows."""
    message = commands.message
    if key := message.small_talk(tag):
        return ModelResponse(text=language.of(tag).say(key))
    if message.is_denial(tag) and not is_open:
        return ModelResponse(text=language.of(tag).say("nothing_done"), offer=offer_tree([], tag))
    if found := list_of(query.listable_app(), tag, commands.tools):
        return to_calls([found])
    if not (query.is_about_everything or message.is_about_own_data(tag)):
        return None
    data = _button(language.of(tag).say("my_data"), UIAction("me"))
    return ModelResponse(
        text=language.of(tag).say("under_your_name"), offer=offer_tree([data], tag)
    )


def _near_answer(
    score: float,
    pattern: Pattern,
    commands: Commands,
    tag: str,
    before: Mapping[str, str],
    query: Questions,
) -> ModelResponse | None:
    """The nearest read, or the form of the nearest write; None for one that is not near enough."""
    # a function's name and description weigh less, so less is asked of them
    is_near = score >= (READ_SCORE if pattern.example else FORM_SCORE)
    if is_near and (found := query.near_read(pattern)):
        return to_calls([found])
    is_undo = before and pattern.tool.action_type == "destructive"  # pressed, not filled in
    is_other = commands.values.is_other_app(pattern.tool.app_id, pattern.tag)
    if any((score < FORM_SCORE, not _has_form(pattern), is_undo, is_other)):
        return None
    # a name that is all that was said leaves nothing unread
    keys = {word_key(word, "en") for word in commands.message.keywords("en", fields=True)}
    is_name = not pattern.example and pattern.literals >= keys
    command = Command(pattern, commands.values.draft(pattern), is_whole=is_name)
    return complete(command, commands, tag, before)


def _not_understood(
    examples: Sequence[tuple[ToolSpec, str]],
    commands: Commands,
    tag: str,
    before: Mapping[str, str],
    query: Questions,
) -> ModelResponse:
    """The nearest examples, and what nothing holds where a question asks for it."""
    words, about = commands.message.keywords(tag, fields=True), query.unknown_words()
    answer = _examples(examples, "not_understood", tag, before, _page_links(words, tag))
    stems = [language.stem(word, tag) for word in about]
    is_field = query.is_question and 0 < len(about) < len(words)
    is_field = is_field and not commands.values.records.has_words(stems, tag)
    if not about or not (is_field or (commands.reading.ended and query.is_search)):
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
    return buttons([*texts][:MAX_EXAMPLES], key, tag, before, links)


def buttons(
    texts: Sequence[str],
    key: str,
    tag: str,
    before: Mapping[str, str] = _NONE,
    links: Sequence[UINode] = (),
) -> ModelResponse:
    """A sentence with buttons that fill the composer or send a message."""
    text = language.of(tag).say(key, examples="; ".join(texts))
    rest = [_button(t, UIAction("fill", {"message": t})) for t in texts if t not in before]
    return ModelResponse(text=text, offer=offer_tree([*_send_buttons(before), *rest], tag, links))


def _send_buttons(texts: Mapping[str, str]) -> list[UINode]:
    """A sending button for each message → label."""
    return [_button(label, ui.Send(text)) for text, label in texts.items()]


def choose_record(unclear: Unclear, commands: Commands, tag: str) -> ModelResponse:
    """The question which record is meant; buttons repeat the message with its name."""
    rows = unclear.rows[:MAX_CHOICES]
    said = (_with_record(row, unclear.span, commands) for row in rows)
    return ask_which(
        dict(zip(said, _labels(rows), strict=True)), tag, len(unclear.rows) - len(rows)
    )


def ask_which(choices: Mapping[str, str], tag: str, more: int = 0) -> ModelResponse:
    """The question which of these is meant: what each button says, by what it is called."""
    lines = [f"{n}. {label}" for n, label in enumerate(choices.values(), 1)]
    lines += [language.of(tag).say("and_more", n=more)] if more else []
    text = language.of(tag).say("which_record", records="; ".join(lines))
    return ModelResponse(text=text, offer=offer_tree(_send_buttons(choices), tag))


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


def complete(
    command: Command, commands: Commands, tag: str, before: Mapping[str, str] = _NONE
) -> ModelResponse:
    """The form of a command; if its record is unknown the reads that show it, since users cannot
    fill in an id."""
    app_id = command.tool.app_id
    is_unknown = command.unclear or (command.is_unidentified and not command.is_complete)
    if not is_unknown or not (command.unclear or list_of(app_id, tag, commands.tools)):
        return form_answer(command, commands, tag, before)
    own_tools = [t for t in commands.tools if t.app_id == app_id]
    examples = [
        one for one in lookups.first_examples(own_tools, most=MAX_EXAMPLES) if "{" not in one[1]
    ]
    return _examples(examples, "which_is_not_shown", tag, before)


def form_answer(
    command: Command, commands: Commands, tag: str, before: Mapping[str, str] = _NONE
) -> ModelResponse:
    """The function's prefilled form with the name of its record, preceded by buttons for
    alternatives."""
    tool, ids = command.tool, _ids(command)
    rows = [row for row in commands.values.records.known(tool.app_id) if row["id"] in ids]
    names = "; ".join(map("“{}”".format, _labels(rows)))
    what = summary_of(tool, tag).partition(". ")[0] + (f": {names}" if names else "")
    form = form_of(tool, command.arguments, tag)
    is_english = what[1:2].islower() and tool.description.startswith(what)
    lower = what[:1].lower() + what[1:] if is_english else what
    text = language.of(tag).say("form_to_fill" if command.is_whole else "form_to_send", what=lower)
    fields = cast("list[UINode]", form.props["children"])
    errors = [str(error) for field in fields if (error := field.props.get("error"))]
    text = ". ".join([*errors, text])
    chips = [ui.Stack(_send_buttons(before), direction="horizontal", wrap=True)] if before else []
    return ModelResponse(text=text, offer=offer_tree([*chips, ui.Text(what), form], tag))


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


def offer_tree(nodes: Sequence[UINode], tag: str, links: Sequence[UINode] = ()) -> JSONObject:
    """The UI tree of buttons and forms, with a link to set up a real model."""
    model = _link("use_a_model", UIAction("model"), tag)
    chips = [n for n in nodes if n.type == "Button"]
    rows = [n for n in nodes if n.type != "Button"]
    rows += [ui.Stack(chips, direction="horizontal", wrap=True)] if chips else []
    return ui.Stack([*rows, *links, model]).to_dict()
