"""The classifier's answer: calls, or a text with what may be pressed instead: the records that may
be meant, the function's form, the nearest examples and the way to a real model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from types import MappingProxyType
from typing import Final

from ... import language
from ...catalogue import SLOT, example_phrase
from ...sdk import ui
from ...sdk.ui import UIAction, UINode
from ...text import disambiguate
from ...types import JSONObject
from ..function_form import form_of, parameters
from ..protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from ..tools import summary_of
from .commands import Commands
from .examples import Command, Pattern, Span, Unclear, language_of
from .lookups import LONGEST_NAMING, holds_all, is_whole, list_of, lists, looked_through
from .message import lexicon, sense
from .prompt_reader import holding, name_of, read_prompt, records_of, stems_of_name
from .questions import Questions
from .several import each, told_apart
from .undo import UndoMessage

KERNEL: Final = "kernel"
CONTINUE: Final = f"{KERNEL}__continue"
"""App id of the kernel's own functions, and the one that this model needs: to be asked again."""

OFFERED: Final = 3
"""Examples that are offered."""

NEAR: Final = 0.6
"""How near, from 0 to 1, a message is to an example whose form is shown."""

ASKED: Final = 0.8
"""How near it is to one that only reads and is called: all its words, and two others for each."""

WORTH_SAYING: Final = 0.4
"""How near an example must be to be offered; one of a function that destroys something must be as
near as for its form."""

MOST_FOUND: Final = 4
"""Words that are looked for in what was said."""

CHOICES: Final = 8
"""Records that a question offers."""

_SHOWN: Final = 80
_NONE: Final[Mapping[str, str]] = MappingProxyType({})


def classify(request: ModelRequest) -> ModelResponse:
    """Calls for a message that is near an example; for others words, and what may be pressed."""
    reading = read_prompt(request.prompt, request.language)
    tag = language.detect(reading.message, reading.usual)
    tools = tuple(t for t in request.tools if t.app_id != KERNEL)
    commands = Commands(reading, tools)
    # the second round of a turn: this model plans once and goes on only behind a list
    if reading.has_results:
        return _behind(commands, tag)
    readings = commands.readings()
    # a guard sent the call back: what is missing becomes a form
    if reading.is_refused:
        return _asked(readings[0], tools, tag) if readings else _near(commands, tag)
    return _answer(readings, commands, request, tag)


def _answer(
    readings: list[Command], commands: Commands, request: ModelRequest, tag: str
) -> ModelResponse:
    """The one whole command, or the question which is meant. Where there is none, what was just
    made is taken back, a question is looked up, and what nobody was shown is looked for."""
    if made := told_apart(commands) or each(readings, is_listed=False):
        return _calls(made)
    # a sure write takes all of the message: "note: buy milk and call Anna"
    is_write = any(c.is_sure and c.tool.action_type != "read" for c in readings)
    if not is_write and (parts := commands.parts()):
        return _said(parts[:OFFERED], "one_at_a_time", tag)
    back = UndoMessage(commands, request)
    is_open = not any(c.is_sure or (c.unclear and c.unclear.is_told) for c in readings)
    if is_open and back.nothing_left and back.is_said:
        return ModelResponse(text=back.nothing_left)
    # "delete the last one" may be no command yet
    if is_open and (undoing := back.commands):
        return _calls(undoing)
    asked = Questions(commands)
    if not readings and (found := asked.about()):
        return _calls([found])
    going_on = [t for t in request.tools if t.name == CONTINUE]
    if going_on and (found := looked_through(commands, readings)):
        return _calls([found], going_on)
    if not readings and going_on and asked.is_looked_for:
        return _calls(asked.searches(), going_on)
    if not readings:
        return _near(commands, tag, back.offered, asked)
    is_sure = len(readings) == 1 and readings[0].is_sure
    return _calls(readings) if is_sure else _open(readings, commands, tag)


def _calls(commands: Sequence[Command], beside: Sequence[ToolSpec] = ()) -> ModelResponse:
    calls = [ToolCall(c.tool.name, c.arguments) for c in commands]
    own = [ToolCall(t.name, {}) for t in beside]
    return ModelResponse(tool_calls=(*calls, *own), stop_reason="tool_use")


def _behind(commands: Commands, tag: str) -> ModelResponse:
    """What follows on this turn's results: where they are of a list that was looked through for
    what the message names, its command; else nothing is tried again."""
    reading, lookup = commands.reading, looked_through(commands, commands.readings())
    if not commands.readings() and (asked := Questions(commands)).is_looked_for:
        return _looked(commands, asked, tag)
    if not lookup or [f.fn_name for f in reading.results] != [lookup.tool.fn_name]:
        return ModelResponse(text=language.of(tag).say("nothing_more"))
    if not lists(reading.results[0].data):
        return _calls(commands.readings())  # it told of no records
    found = Commands(replace(reading, facts=reading.results + reading.facts), commands.tools)
    readings, is_all = found.readings(), holds_all(reading.results[0].data)
    if made := each(readings, is_listed=is_whole(reading.results[0].data)):
        return _calls(made)
    if len(readings) == 1 and (readings[0].is_found if is_all else readings[0].is_sure):
        return _calls(readings)
    if readings and not (readings[0].unclear or readings[0].is_unfound):
        return _form(readings[0], tag)  # "write a mail to Anna"
    left = [*readings, *found.seeking.readings()]
    sought = [u for c in left if (u := c.unclear) and (u.rows or not u.every)]
    if not sought:
        return ModelResponse(text=language.of(tag).say("nothing_more"))
    lost = max(sought, key=lambda unclear: (bool(unclear.rows), unclear.named))
    if to := [c for c in left if c.unclear is lost and c.pattern.is_to_somebody]:
        form = _form(replace(to[0], unclear=None, whole=False), tag)
        return replace(form, text=f"{_none_is_called(lost, found, tag)} {form.text}")
    return _not_named(lost, lookup, found, is_all, tag)


def _looked(commands: Commands, asked: Questions, tag: str) -> ModelResponse:
    """What follows on searches: the reading of the one record that they found."""
    results, looks = commands.reading.results, asked.searches()
    found = [(f.app_id, row["id"]) for f in results for row in records_of(f.data) or ()]
    if not found:
        return _near(commands, tag)
    read = asked.reading(*found[0]) if len(found) == 1 and len(results) == len(looks) else None
    if read:
        return _calls([read])
    return ModelResponse(text=language.of(tag).say("nothing_more"))


def _not_named(
    lost: Unclear, lookup: Command, found: Commands, is_all: bool, tag: str
) -> ModelResponse:
    """What is said where a list has not the one record that the message names: that there is none,
    and which it may be, first those that share a word with it."""
    rows = lost.rows or tuple(found.values.records.listed(lookup.tool.app_id))
    is_named = bool(lost.named and is_all)
    none = _none_is_called(lost, found, tag)
    if not rows:  # without an offer the narrator tells the empty list
        nothing = ModelResponse(text=language.of(tag).say("nothing_more"))
        return ModelResponse(text=none, offer=_offer([], tag)) if is_named else nothing
    if lost.rows or not is_named:
        return _which(lost._replace(rows=rows), found, tag)
    first, last = lost.span
    words = {*found.message.stems(tag)[first:last]} - lexicon(tag).small
    near = tuple(row for row in rows if not words.isdisjoint(stems_of_name(row)))
    asked = _which(lost._replace(rows=near or rows), found, tag)
    return replace(asked, text=f"{none} {asked.text}")


def _none_is_called(lost: Unclear, found: Commands, tag: str) -> str:
    first, last = lost.span
    named = found.message.slice(found.message.past_articles(tag, first, last - 1), last)
    return language.of(tag).say("none_is_called", what=named)


def _open(readings: Sequence[Command], commands: Commands, tag: str) -> ModelResponse:
    """Several commands that fit as well, or one that lacks something: which record, a value, or
    that it is one thing."""
    if len(readings) > 1 and readings[0].is_sure:
        return _examples([(c.tool, c.pattern.example) for c in readings], "which_command", tag)
    command = readings[0]
    if command.unclear and command.unclear.rows:
        return _which(command.unclear, commands, tag)
    if not command.whole and (told := commands.values.told(command.pattern)):
        known = parameters(command.tool)
        kept = {k: v for k, v in command.arguments.items() if known[k].kind != "text"}
        command = replace(command, arguments=kept | told)
    return _asked(command, commands.tools, tag)


def _near(
    commands: Commands,
    tag: str,
    before: Mapping[str, str] = _NONE,
    asked: Questions | None = None,
) -> ModelResponse:
    """What is said to a message that is no command: the form of what it is near to, else what may
    be said, `before` the nearest examples; without anything near, what there is to try."""
    if not commands.tools:
        return ModelResponse(text=language.of(tag).say("no_apps"), offer=_offer([], tag))
    first, asked = _first_ones(commands.tools), asked or Questions(commands)
    if commands.message.is_greeting(tag):
        return _examples(first, "hello", tag)
    if commands.message.is_farewell(tag):
        return ModelResponse(text=language.of(tag).say("welcome"))
    if commands.message.is_denial(tag) and not (before or commands.is_after_write):
        return ModelResponse(text=language.of(tag).say("nothing_done"), offer=_offer([], tag))
    if found := list_of(asked.app(), tag, commands.tools):
        return _calls([found])
    # of those that are near one of the app whose records are named, that the message begins as
    nearest = sorted(
        commands.nearest(),
        key=lambda f: (
            f[0] < NEAR,
            commands.values.is_anothers(f[1].tool.app_id, f[1].tag),
            not commands.begins(f[1]),
        ),
    )
    for score, pattern in nearest[:1]:
        # a function's name and description weigh less, so less is asked of them
        is_asked = score >= (ASKED if pattern.example else NEAR)
        if is_asked and (found := asked.near(pattern)):
            return _calls([found])
        is_undo = before and pattern.tool.action_type == "destructive"  # pressed, not filled in
        if score >= NEAR and _has_form(pattern) and not is_undo:
            draft, said = (
                commands.values.draft(pattern),
                commands.message.telling("en", fields=True),
            )
            # a name that is all that was said leaves nothing unread
            own = {sense(word, "en") for word in said}
            is_name = not pattern.example and pattern.literals >= own
            return _asked(Command(pattern, draft, whole=is_name), commands.tools, tag, before)
    offered = [
        (p.tool, p.example)
        for s, p in nearest
        if s >= (NEAR if p.tool.action_type == "destructive" else WORTH_SAYING)
        if not p.literals.issubset(commands.message.stems(p.tag))  # said, and of no use
    ]
    if commands.message.is_of_oneself(tag):
        data = _button(language.of(tag).say("my_data"), UIAction("me"))
        return ModelResponse(
            text=language.of(tag).say("under_your_name"), offer=_offer([data], tag)
        )
    words, about = commands.message.telling(tag, fields=True), asked.strange()
    if asked.is_asked or not (before or offered):
        looks = [(c.pattern.example, *c.arguments.values()) for c in asked.searches()]
        before = {**before, **{t: t for t in (SLOT.sub(word, e) for e, word in looks)}}
    told = _examples([*offered, *first], "not_understood", tag, before, _beyond(words, tag))
    stems = [language.stem(word, tag) for word in about]
    rows = [row for t in commands.tools for row in commands.values.records.known(t.app_id)]
    is_field = asked.is_asked and 0 < len(about) < len(words) and not holding(rows, stems, tag)
    if not about or not (is_field or (commands.reading.has_results and asked.is_looked_for)):
        return told
    none = language.of(tag).say("none_holds", what=" ".join(about[:OFFERED]))
    return replace(told, text=f"{none} {told.text}")


def _has_form(pattern: Pattern) -> bool:
    """Whether a form says more than an example: not of what only reads, nor of bare ids."""
    kinds = {p.kind for p in parameters(pattern.tool).values()} - {"id", "ids", "list"}
    return not pattern.example or (bool(kinds) and pattern.tool.action_type != "read")


def _first_ones(tools: Sequence[ToolSpec], most: int = 1) -> list[tuple[ToolSpec, str]]:
    """The first example of each app's reads, each app's first before any second."""
    by_app: dict[str, list[tuple[ToolSpec, str]]] = {}
    for tool in tools:
        if tool.action_type == "read" and tool.examples:
            by_app.setdefault(tool.app_id, []).extend((tool, e) for e in tool.examples[:most])
    rows = zip_longest(*by_app.values())
    return [offered for row in rows for offered in row if offered]


# What may be pressed


def _examples(
    offered: Sequence[tuple[ToolSpec, str]],
    key: str,
    tag: str,
    before: Mapping[str, str] = _NONE,
    links: Sequence[UINode] = (),
) -> ModelResponse:
    """A sentence and the nearest examples, one a function, in the user's language where its author
    gave one; of a function without any what it does, which leads to its form."""
    said: dict[str, str] = {}
    for tool, example in offered:
        own = (e for e in (example, *tool.examples) if e and language_of(example_phrase(e)) == tag)
        usual = example or tool.description.partition(". ")[0]
        said.setdefault(tool.name, example_phrase(next(own, usual)))
    texts = (text for text in dict.fromkeys((*before, *said.values())) if text)
    return _said([*texts][:OFFERED], key, tag, before, links)


def _said(
    texts: Sequence[str],
    key: str,
    tag: str,
    before: Mapping[str, str] = _NONE,
    links: Sequence[UINode] = (),
) -> ModelResponse:
    """A sentence, and what may be said as buttons that fill the composer, or say it."""
    told = language.of(tag).say(key, examples="; ".join(texts))
    rest = [_button(t, UIAction("fill", {"message": t})) for t in texts if t not in before]
    return ModelResponse(text=told, offer=_offer([*_saying(before), *rest], tag, links))


def _saying(texts: Mapping[str, str]) -> list[UINode]:
    """A button for each text, by what it is called."""
    return [_button(label, ui.Send(text)) for text, label in texts.items()]


def _which(unclear: Unclear, commands: Commands, tag: str) -> ModelResponse:
    """The question which record is meant; each button says the message again with its name."""
    rows = unclear.rows[:CHOICES]
    labels = _labels(rows)
    chips = [
        _button(label, ui.Send(_with_record(row, unclear.span, commands)))
        for label, row in zip(labels, rows, strict=True)
    ]
    listed = [f"{n}. {label}" for n, label in enumerate(labels, 1)]
    if left := len(unclear.rows) - len(rows):
        listed.append(language.of(tag).say("and_more", n=left))
    told = "; ".join(listed)
    text = language.of(tag).say("which_record", records=told)
    return ModelResponse(text=text, offer=_offer(chips, tag))


def _with_record(row: JSONObject, span: Span, commands: Commands) -> str:
    """The message with a record's name in the place of these words, behind the noun in them; with
    its id where the name does not tell it."""
    message, (first, last) = commands.message, span
    start, end = message.tokens[first].start, message.tokens[last - 1].end
    before, words, after = message.text[:start], message.text[start:end], message.text[end:]
    nouns = commands.values.every_noun(message.tag)
    noun = f"{words} " if {*message.stems(message.tag)[first:last]} <= nouns else ""
    named = f"{before}{noun}“{name_of(row)}”{after}"
    if len(message.tokens) <= LONGEST_NAMING:
        found = Commands(replace(commands.reading, message=named), commands.tools).readings()
        if [_ids(c) for c in found] == [[row["id"]]]:
            return named
    return f"{before}{row['id']}{after}"


def _ids(command: Command) -> list[object]:
    """The ids that it names."""
    kinds = parameters(command.tool)
    told = (v for k, v in command.arguments.items() if kinds[k].kind in ("id", "ids"))
    return [i for value in told for i in (value if isinstance(value, list) else [value])]


def _labels(rows: Sequence[JSONObject]) -> list[str]:
    """What records are called; of those of one name also what tells them apart."""
    named = [(name_of(row)[:_SHOWN], row) for row in rows]
    return [name + more for (name, _), more in zip(named, disambiguate(named), strict=True)]


def _asked(
    command: Command, tools: Sequence[ToolSpec], tag: str, before: Mapping[str, str] = _NONE
) -> ModelResponse:
    """The form of a command; of one whose record nothing tells what shows it first: an id is
    nothing that anybody fills in."""
    app_id = command.tool.app_id
    is_lost = command.unclear or (command.is_unfound and not command.is_complete)
    if not is_lost or not (command.unclear or list_of(app_id, tag, tools)):
        return _form(command, tag, before)
    mine = [t for t in tools if t.app_id == app_id]
    shows = [one for one in _first_ones(mine, most=OFFERED) if "{" not in one[1]]
    return _examples(shows, "which_is_not_shown", tag, before)


def _form(command: Command, tag: str, before: Mapping[str, str] = _NONE) -> ModelResponse:
    """The function's form, filled with what is known, and before it what may be said instead."""
    tool = command.tool
    what = summary_of(tool, tag).partition(". ")[0]
    form = form_of(tool, command.arguments, tag)
    is_english = what[1:2].islower() and tool.description.startswith(what)
    lower = what[:1].lower() + what[1:] if is_english else what
    text = language.of(tag).say("form_to_fill" if command.whole else "form_to_send", what=lower)
    chips = ui.Stack(_saying(before), direction="horizontal", wrap=True)
    return ModelResponse(
        text=text, offer=_offer([*([chips] if before else []), ui.Text(what), form], tag)
    )


def _link(key: str, action: UIAction, tag: str) -> UINode:
    return ui.Link(language.of(tag).say(key), on_click=action)


def _beyond(words: Sequence[str], tag: str) -> list[UINode]:
    """What no function does and the page can: look for the message's words in what was said, and
    what is done with all that a person has."""
    q = " ".join(words[:MOST_FOUND])[:_SHOWN]
    label = f"{language.of(tag).say('find_it')}: {q}"
    find = [_button(label, UIAction("find", {"q": q}))] if q else []
    return [*find, _link("my_data", UIAction("me"), tag)]


def _button(label: str, action: UIAction) -> UINode:
    return ui.Button(label, on_click=action, variant="secondary", size="sm")


def _offer(nodes: Sequence[UINode], tag: str, links: Sequence[UINode] = ()) -> JSONObject:
    """The tree of what may be pressed, and behind it the way to a real model."""
    model = _link("use_a_model", UIAction("model"), tag)
    chips = [n for n in nodes if n.type == "Button"]
    rows = [n for n in nodes if n.type != "Button"]
    rows += [ui.Stack(chips, direction="horizontal", wrap=True)] if chips else []
    return ui.Stack([*rows, *links, model]).to_dict()
