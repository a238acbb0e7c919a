"""The classifier's answer: calls, or a text with what may be pressed instead: the records that may
be meant, the function's form, the nearest examples and the way to a real model."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, zip_longest
from types import MappingProxyType
from typing import Final

from ... import language
from ...catalogue import SLOT, spoken
from ...sdk import ui
from ...sdk.ui import UIAction, UINode
from ...text import disambiguate, dumps
from ...types import JSONObject
from ..function_form import form_of, parameters
from ..protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from .commands import Commands
from .examples import Command, Pattern, Unclear, language_of, patterns, speech
from .message import lexicon, sense
from .prompt_reader import name_of, read_prompt, stems_of_name
from .undo import UndoMessage, taken_back

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

LONGEST_NAMING: Final = 20
"""Words of a message that names a record which nobody was shown."""

MOST_CALLS: Final = 3
"""Calls of one message."""

MOST_FOUND: Final = 4
"""Words that are looked for in what was said."""

CHOICES: Final = 8
"""Records that a question offers."""

_SHOWN: Final = 80
_NONE: Final[Mapping[str, str]] = MappingProxyType({})
_HIDDEN: Final = re.compile(r"<[A-Z]+_\d+>")
"""What a model reads in the place of a name or an address."""


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
    if not readings:  # only what changes nothing may be a slip of the hand
        readings = [c for c in commands.respelled() if c.tool.action_type == "read"]
    # a sure write takes all of the message: "note: buy milk and call Anna"
    if not any(c.is_sure and c.tool.action_type != "read" for c in readings) and (
        parts := commands.parts()
    ):
        if len(parts) > 1:
            return _in_order(parts, tag)
        commands, readings = parts[0], parts[0].readings()
    return _answer(readings, commands, request, tag)


def _answer(
    readings: list[Command], commands: Commands, request: ModelRequest, tag: str
) -> ModelResponse:
    """The one whole command, or the question which is meant. Where there is none, what was just
    made is taken back, a question is looked up, and what nobody was shown is looked for."""
    found = taken_back(readings, commands, request)
    readings = [found] if found else readings
    going_on = [t for t in request.tools if t.name == CONTINUE]
    if going_on and found is None and (lookup := _lookup(commands, readings)):
        return _calls([lookup], going_on)
    readings = [*readings, *filter(None, [commands.named()])]
    if not readings:
        return _not_understood(commands, request, tag)
    is_sure = len(readings) == 1 and readings[0].is_sure
    return _calls(readings) if is_sure else _open(readings, commands, tag)


def _not_understood(commands: Commands, request: ModelRequest, tag: str) -> ModelResponse:
    """What is said where no example fits."""
    back = UndoMessage(commands, request)
    if not request.undo and back.is_said:
        return ModelResponse(text=language.of(tag).say("nothing_to_undo"))
    return _near(commands, tag, back.offered)


def _calls(commands: Sequence[Command], beside: Sequence[ToolSpec] = ()) -> ModelResponse:
    calls = [ToolCall(c.tool.name, c.arguments) for c in commands]
    own = [ToolCall(t.name, {}) for t in beside]
    return ModelResponse(tool_calls=(*calls, *own), stop_reason="tool_use")


def _lookup(commands: Commands, readings: Sequence[Command]) -> Command | None:
    """The list of the app whose record is not found yet, or of those found nothing but ids differ;
    else of the one app that may hold what the message names and nobody was shown: no other app says
    as much of what is to be done."""
    lost = [] if any(map(_is_known, readings)) else _unseen(commands)
    # an example that says more of the message wins
    for one in readings[:1]:  # "drop Anna a line" drops nothing
        lost = [p for p in lost if len(p.literals) > len(one.pattern.literals)]
    apps = {p.tool.app_id for p in lost}
    if len(apps) == 1:
        return _list_of(apps.pop(), lost[0].tag, commands.tools)
    for one in readings[:1]:
        if _is_sought(one, commands):
            return _list_of(one.tool.app_id, one.pattern.tag, commands.tools)
    return None


def _is_known(command: Command) -> bool:
    """Whether it may be called, or is of one of the records that were shown."""
    return command.is_found or bool(command.unclear and command.unclear.rows)


def _is_sought(command: Command, commands: Commands) -> bool:
    """Whether words tell a record that has to be found, or nothing but ids those that they fit."""
    if command.unclear:
        return _is_told_by_ids(command.unclear.rows)
    own = (p for p in commands.examples if p.tool is command.tool)
    return command.is_unfound and any(map(commands.unseen, own))


def _unseen(commands: Commands) -> list[Pattern]:
    """The examples of one app alone that name what nobody was shown."""
    # a long message is a text, and names nothing by itself
    if len(commands.message.tokens) > LONGEST_NAMING:
        return []
    own = (p for p in commands.examples if _says_what(p) and commands.unseen(p))
    return [p for p in own if p.is_to_somebody or len(_knowing(p, commands.tools)) == 1]


def _says_what(pattern: Pattern) -> bool:
    """Whether it is of records or people, and has a word of its own for what is to be done."""
    known, kinds = lexicon(pattern.tag), {p.kind for p in pattern.pieces}
    return bool(kinds & {"id", "ids", "email"} and pattern.literals - known.small - known.question)


def _list_of(app_id: str, tag: str, tools: Sequence[ToolSpec]) -> Command | None:
    """One of an app's reads that needs nothing."""
    mine = (t for t in tools if t.app_id == app_id and t.action_type == "read")
    plain = (p for t in mine for p in patterns(t, tag) if not p.fixed and not p.has_slots)
    return next((c for p in plain if (c := Command(p, {})).is_sure), None)


def _knowing(pattern: Pattern, tools: Sequence[ToolSpec]) -> set[str]:
    """The apps of which a function that also reads, or also writes, knows all the words of an
    example."""
    reads = pattern.tool.action_type == "read"
    like = (t for t in tools if (t.action_type == "read") == reads)
    return {t.app_id for t in like if speech(t, pattern.tag) >= pattern.literals}


def _behind(commands: Commands, tag: str) -> ModelResponse:
    """What follows on this turn's results: where they are of a list that was looked through for
    what the message names, its command; else nothing is tried again."""
    reading, lookup = commands.reading, _lookup(commands, commands.readings())
    if not lookup or [f.fn_name for f in reading.results] != [lookup.tool.fn_name]:
        return ModelResponse(text=language.of(tag).say("nothing_more"))
    if not _lists(reading.results[0].data):
        return _calls(commands.readings())  # it told of no records
    found = Commands(replace(reading, facts=reading.results + reading.facts), commands.tools)
    readings, is_all = found.readings(), _is_all(reading.results[0].data)
    if len(readings) == 1 and (readings[0].is_found if is_all else readings[0].is_sure):
        return _calls(readings)
    if readings and not readings[0].unclear and not readings[0].is_unfound:
        return _form(readings[0], tag)  # "write a mail to Anna"
    left = [*readings, *found.seeking.readings()]
    sought = [c.unclear for c in left if c.unclear]
    if not sought:
        return ModelResponse(text=language.of(tag).say("nothing_more"))
    lost = max(sought, key=lambda unclear: (bool(unclear.rows), unclear.named))
    if to := [c for c in left if c.unclear is lost and c.pattern.is_to_somebody]:
        form = _form(replace(to[0], unclear=None, whole=False), tag)
        return replace(form, text=f"{_none_is_called(lost, found, tag)} {form.text}")
    return _not_named(lost, lookup, found, is_all, tag)


def _lists(data: object) -> list[list[object]]:
    return [v for v in data.values() if isinstance(v, list)] if isinstance(data, dict) else []


def _is_all(data: object) -> bool:
    """Whether a list that was looked through is all of it: no count in it is above its rows, and
    nothing in it is hidden."""
    rows = sum(map(len, _lists(data)))
    counts = data.values() if isinstance(data, dict) else ()
    return not any(isinstance(n, int) and n > rows for n in counts) and not _HIDDEN.search(
        dumps(data)
    )


def _not_named(
    lost: Unclear, lookup: Command, found: Commands, is_all: bool, tag: str
) -> ModelResponse:
    """What is said where a list has not the one record that the message names: that there is none,
    and which it may be, first those that share a word with it."""
    rows = lost.rows or tuple(found.values.records.known(lookup.tool.app_id))
    if lost.rows or not (lost.named and is_all):
        return _which(lost._replace(rows=rows), found, tag)
    first, last = lost.span
    words = {*found.message.stems(tag)[first:last]} - lexicon(tag).small
    near = tuple(row for row in rows if not words.isdisjoint(stems_of_name(row)))
    none = _none_is_called(lost, found, tag)
    if not rows:
        return ModelResponse(text=none, offer=_offer([], tag))
    asked = _which(lost._replace(rows=near or rows), found, tag)
    return replace(asked, text=f"{none} {asked.text}")


def _none_is_called(lost: Unclear, found: Commands, tag: str) -> str:
    first, last = lost.span
    named = found.message.slice(found.message.past_articles(tag, first, last - 1), last)
    return language.of(tag).say("none_is_called", what=named)


def _in_order(parts: Sequence[Commands], tag: str) -> ModelResponse:
    """Several commands of one message, one after the other; where one is not sure, or may be text
    behind the colon of the one before, which of them comes first."""
    read = [part.readings() for part in parts]
    sure = [found[0] for found in read if len(found) == 1 and found[0].is_found]
    # what follows a colon may be more of its text
    told = any(a.message.has_colon and not b.message.has_colon for a, b in pairwise(parts))
    if len(sure) == len(parts) <= MOST_CALLS and not told:
        return _calls(sure)
    return _said([part.message.text for part in parts][:OFFERED], "one_at_a_time", tag)


def _open(readings: Sequence[Command], commands: Commands, tag: str) -> ModelResponse:
    """Several commands that fit as well, or one that lacks something: which record, a value, or
    that it is one thing."""
    if len(readings) > 1 and readings[0].is_sure:
        return _examples([(c.tool, c.pattern.example) for c in readings], "which_command", tag)
    command = readings[0]
    if command.unclear and command.unclear.rows:
        return _which(command.unclear, commands, tag)
    return _asked(command, commands.tools, tag)


def _near(commands: Commands, tag: str, before: Mapping[str, str] = _NONE) -> ModelResponse:
    """What is said to a message that is no command: the form of what it is near to, else what may
    be said, `before` the nearest examples; without anything near, what there is to try."""
    if not commands.tools:
        return ModelResponse(text=language.of(tag).say("no_apps"), offer=_offer([], tag))
    first = _first_ones(commands.tools)
    # "hello" and "what can you do?" get examples, and no excuse
    if commands.message.is_greeting(tag):
        if not lexicon(tag).thanks.isdisjoint(commands.message.stems(tag)[:1]):
            return ModelResponse(text=language.of(tag).say("welcome"))
        return _examples(first, "hello", tag)
    nearest = commands.nearest()
    for score, pattern in nearest[:1]:
        # a function's name and description weigh less, so less is asked of them
        is_asked = score >= (ASKED if pattern.example else NEAR)
        if is_asked and (asked := commands.question(pattern)):
            return _calls([asked])
        is_undo = before and pattern.tool.action_type == "destructive"  # pressed, not filled in
        if score >= NEAR and _has_form(pattern) and not is_undo:
            draft = commands.values.draft(pattern)
            return _asked(Command(pattern, draft, whole=False), commands.tools, tag, before)
    if commands.message.is_denial(tag) and not (before or commands.is_after_write):
        return ModelResponse(text=language.of(tag).say("nothing_done"), offer=_offer([], tag))
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
    words = commands.message.telling(tag)
    if commands.message.asks or not (before or offered):
        # words that nobody knows may stand in the user's own data
        before = {**before, **_searches(commands, words, tag)}
    links = _beyond(words, tag)
    return _examples([*offered, *first], "not_understood", tag, before, links)


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
        own = (e for e in (example, *tool.examples) if e and language_of(spoken(e)) == tag)
        usual = example or tool.description.partition(". ")[0]
        said.setdefault(tool.name, spoken(next(own, usual)))
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
    """The question which record is meant; each button says the message again with its id."""
    message, (first, last) = commands.message, unclear.span
    before = message.text[: message.tokens[first].start]
    after = message.text[message.tokens[last - 1].end :]
    rows = unclear.rows[:CHOICES]
    labels = _labels(rows)
    chips = [
        _button(label, ui.Send(f"{before}{row['id']}{after}"))
        for label, row in zip(labels, rows, strict=True)
    ]
    told = "; ".join(f"{n}. {label}" for n, label in enumerate(labels, 1))
    text = language.of(tag).say("which_record", records=told)
    return ModelResponse(text=text, offer=_offer(chips, tag))


def _labels(rows: Sequence[JSONObject]) -> list[str]:
    """What records are called; of those of one name also what tells them apart."""
    named = [(name_of(row)[:_SHOWN], row) for row in rows]
    return [name + more for (name, _), more in zip(named, disambiguate(named), strict=True)]


def _is_told_by_ids(rows: Sequence[JSONObject]) -> bool:
    """Whether nothing but its id tells one of these records from another."""
    return any(str(r["id"]) in label for r, label in zip(rows, _labels(rows), strict=True))


def _asked(
    command: Command, tools: Sequence[ToolSpec], tag: str, before: Mapping[str, str] = _NONE
) -> ModelResponse:
    """The form of a command; of one whose record nothing tells what shows it first: an id is
    nothing that anybody fills in."""
    app_id = command.tool.app_id
    is_lost = command.unclear or (command.is_unfound and not command.is_complete)
    if not is_lost or not (command.unclear or _list_of(app_id, tag, tools)):
        return _form(command, tag, before)
    mine = [t for t in tools if t.app_id == app_id]
    shows = [one for one in _first_ones(mine, most=OFFERED) if "{" not in one[1]]
    return _examples(shows, "which_is_not_shown", tag, before)


def _form(command: Command, tag: str, before: Mapping[str, str] = _NONE) -> ModelResponse:
    """The function's form, filled with what is known, and before it what may be said instead."""
    what = command.tool.description.partition(". ")[0]
    form = form_of(command.tool, command.arguments, tag)
    lower = what[:1].lower() + what[1:] if what[1:2].islower() else what
    text = language.of(tag).say("form_to_fill" if command.whole else "form_to_send", what=lower)
    chips = ui.Stack(_saying(before), direction="horizontal", wrap=True)
    return ModelResponse(
        text=text, offer=_offer([*([chips] if before else []), ui.Text(what), form], tag)
    )


def _link(key: str, action: UIAction, tag: str) -> UINode:
    return ui.Link(language.of(tag).say(key), on_click=action)


def _searches(commands: Commands, words: Sequence[str], tag: str) -> dict[str, str]:
    """What may be said to look for words that no app knows, and how it is called."""
    own = [p for p in commands.examples if p.tag == tag]
    known = frozenset[str]().union(*(p.literals for p in own))
    strange = [w for w in words if sense(w, tag) not in known][:OFFERED]
    looks = {p.tool.app_id: p.example for p in reversed(own) if p.is_search}
    said = [SLOT.sub(word, looks[app]) for word in strange for app in reversed(looks)][:OFFERED]
    return dict(zip(said, said, strict=True))


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
