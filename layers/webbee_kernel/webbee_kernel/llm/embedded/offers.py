"""The classifier's answer: calls, or a text with what may be pressed instead: the records that may
be meant, the function's form, the nearest examples and the way to a real model."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

from ... import language
from ...catalogue import spoken
from ...language import key_fold
from ...sdk import ui
from ...sdk.ui import UIAction, UINode
from ...types import JSONObject
from ..protocol import ModelRequest, ModelResponse, ToolCall, ToolSpec
from .candidates import Command
from .commands import NEAR, Commands
from .examples import Parameter, Pattern, language_of, parameters, patterns
from .prompt_reader import read_prompt
from .slot_values import Unclear

KERNEL: Final = "kernel"
"""App id of the kernel's own functions: this model needs none of them."""

OFFERED: Final = 3
"""Examples that are offered."""

WORTH_SAYING: Final = 0.4
HARMFUL: Final = 0.6
"""How near an example must be to be offered; one of a function that destroys something."""

CHOICES: Final = 5
"""Records that a question offers."""

FIELDS: Final = 8
"""Fields of a form: those that are required, then the others in their order."""

_LONG: Final = 300
"""Characters from which a text has a field of several lines."""
_SHOWN: Final = 80


def classify(request: ModelRequest) -> ModelResponse:
    """Calls for a message that is near an example; for others words, and what may be pressed."""
    reading = read_prompt(request.prompt)
    tag = language.detect(reading.message, request.language)
    if reading.results:  # its results tell what ran; nothing is tried again
        return ModelResponse(text=language.of(tag).say("nothing_more"))
    commands = Commands(reading, tuple(t for t in request.tools if t.app_id != KERNEL))
    readings = commands.readings()
    if not readings and reading.problems:
        return _near(commands, tag)
    if reading.problems:
        return _form(readings[0].pattern, readings[0].arguments, tag)
    sure = [c for c in readings if c.is_sure]
    calls = sure if len(sure) == len(readings) == 1 else commands.parts()
    if not calls and not readings:
        calls = commands.follow_up() or commands.asked_record()
    return _planned(calls) if calls else _undecided(readings, commands, tag)


def _planned(calls: Sequence[Command]) -> ModelResponse:
    planned = tuple(ToolCall(c.tool.name, c.arguments) for c in calls)
    return ModelResponse(tool_calls=planned, stop_reason="tool_use")


def _undecided(readings: Sequence[Command], commands: Commands, tag: str) -> ModelResponse:
    """What is said where no reading can run: which of several is meant, or what one lacks."""
    if len(readings) > 1 and all(c.is_sure for c in readings):
        return _examples([c.pattern for c in readings], "which_command", tag)
    return _open(readings[0], commands, tag) if readings else _near(commands, tag)


def _open(command: Command, commands: Commands, tag: str) -> ModelResponse:
    """A command that lacks something: which record, a value, or that it is one thing."""
    if command.unclear and command.unclear.rows:
        return _which(command.unclear, commands, tag)
    if command.unclear:
        lists = _lists(command.tool, commands.tools)[:OFFERED]
        return _examples(lists, "which_is_not_shown", tag)
    return _form(command.pattern, command.arguments, tag)


def _near(commands: Commands, tag: str) -> ModelResponse:
    """What is said to a message that is no command: the form of what it is near to, else the
    nearest examples; without anything near, what there is to try."""
    nearest = commands.nearest()
    if commands.message.is_greeting(tag):
        return _examples(_first_ones(commands.tools), "hello", tag)
    if nearest and nearest[0][0] >= NEAR and _has_fields(nearest[0][1].tool):
        pattern = nearest[0][1]
        return _form(pattern, commands.draft(pattern), tag)
    if not commands.tools:
        return ModelResponse(text=language.of(tag).say("no_apps"), offer=_offer([], tag))
    offered = [p for score, p in nearest if score >= (HARMFUL if _harms(p) else WORTH_SAYING)]
    return _examples([*offered, *_first_ones(commands.tools)], "not_understood", tag)


def _harms(pattern: Pattern) -> bool:
    return pattern.tool.action_type == "destructive"


def _first_ones(tools: Sequence[ToolSpec]) -> list[Pattern]:
    """The first example of each app's reads, each app's first before any second."""
    by_app: dict[str, list[Pattern]] = {}
    for tool in tools:
        if tool.action_type == "read" and patterns(tool):
            by_app.setdefault(tool.app_id, []).append(patterns(tool)[0])
    rows = itertools.zip_longest(*by_app.values())
    return [pattern for row in rows for pattern in row if pattern]


def _lists(tool: ToolSpec, tools: Sequence[ToolSpec]) -> list[Pattern]:
    """The examples of an app's reads that need nothing: what shows its records."""
    mine = [t for t in tools if t.app_id == tool.app_id and t.action_type == "read"]
    return [p for t in mine for p in patterns(t) if not p.has_slots and not _needs(t)]


def _needs(tool: ToolSpec) -> bool:
    return any(p.required for p in parameters(tool).values())


# What may be pressed


def _examples(offered: Sequence[Pattern], key: str, tag: str) -> ModelResponse:
    """A sentence and the nearest examples, one a function, in the user's language where its author
    gave one."""
    said: dict[str, str] = {}
    for pattern in offered:
        said.setdefault(pattern.tool.name, _in_language(pattern, tag))
    texts = [text for text in dict.fromkeys(said.values()) if text][:OFFERED]
    told = "; ".join(texts)
    chips: list[UINode] = [_button(text, _fill(text)) for text in texts]
    return ModelResponse(text=language.of(tag).say(key, examples=told), offer=_offer(chips, tag))


def _in_language(pattern: Pattern, tag: str) -> str:
    """The example itself, or, where it is in another language, the function's first in this one."""
    mine = (e for e in pattern.tool.examples if language_of(spoken(e)) == tag)
    return spoken(pattern.example if pattern.tag == tag else next(mine, pattern.example))


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
    return ModelResponse(
        text=language.of(tag).say("which_record", records=told), offer=_offer(chips, tag)
    )


def _labels(rows: Sequence[JSONObject]) -> list[str]:
    """What records are called; of those of one name also what tells them apart."""
    labels = [_label(row) for row in rows]
    if len(set(labels)) == len(labels):
        return labels
    key = _telling_apart(rows)
    return [
        f"{label} ({row[key]})" if row.get(key) else label
        for label, row in zip(labels, rows, strict=True)
    ]


def _telling_apart(rows: Sequence[JSONObject]) -> str:
    """The first field in which records differ."""
    keys = dict.fromkeys(k for row in rows for k in row if k != "id")
    return next((k for k in keys if len({str(row.get(k, "")) for row in rows}) > 1), "id")


def _label(row: JSONObject) -> str:
    known = {key_fold(k): v for k, v in row.items()}
    told = next((known[k] for k in language.title_keys() if known.get(k)), row["id"])
    return " ".join(str(told).split())[:_SHOWN]


def _form(pattern: Pattern, arguments: JSONObject, tag: str) -> ModelResponse:
    """The function's form, filled with what is known."""
    tool = pattern.tool
    shown = sorted(
        parameters(tool).values(), key=lambda p: (not p.required, p.name not in arguments)
    )[:FIELDS]
    spoken_by = language.of(tag)
    form = ui.Form(
        [_field(p, arguments.get(p.name)) for p in shown],
        submit_label=spoken_by.say("form_send"),
        defaults={k: v for k, v in arguments.items() if k not in {p.name for p in shown}},
    )
    form.props["action"] = UIAction("call", {"function": tool.fn_name, "app_id": tool.app_id})
    title = ui.Text(tool.description.partition(". ")[0])
    text = spoken_by.say("form_to_send", what=_lower(tool.description.partition(". ")[0]))
    return ModelResponse(text=text, offer=_offer([title, form], tag))


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:] if text[1:2].islower() else text


def _has_fields(tool: ToolSpec) -> bool:
    """Whether a form of it asks for more than the id of a record."""
    return any(p.kind not in ("id", "ids", "list") for p in parameters(tool).values())


def _field(parameter: Parameter, value: Any) -> UINode:
    told = str(parameter.schema.get("description", "")).partition(". ")[0][:200]
    base = {
        "param_name": parameter.name,
        "label": parameter.name.replace("_", " "),
        "description": told,
        "required": parameter.required,
    }
    value = parameter.schema.get("default") if value is None else value
    if parameter.kind == "choice":
        options = [{"value": str(c), "label": str(c) or "–"} for c in parameter.choices]
        return ui.Node("Select", options=options, value=value, **base)
    if parameter.kind == "flag":
        return ui.Node("Toggle", value=bool(value), **base)
    if parameter.fields:
        return _group(parameter, value, base)
    return _text_field(parameter, value, base)


def _group(parameter: Parameter, value: Any, base: JSONObject) -> UINode:
    """Fields of an object, or a list that grows by rows of one field."""
    if parameter.kind == "object":
        values = value if isinstance(value, dict) else {}
        fields = [_field(p, values.get(p.name)) for p in parameter.fields]
        return ui.Node("Fieldset", children=fields, **base)
    rows = value if isinstance(value, list) else []
    return ui.Node("ListInput", item=_field(parameter.fields[0], None), values=rows, **base)


def _text_field(parameter: Parameter, value: Any, base: JSONObject) -> UINode:
    if parameter.is_secret:
        return ui.Node("Password", value=value, **base)
    kind = {"number": "number", "email": "email", "url": "url"}.get(parameter.kind, "text")
    long = parameter.kind == "text" and int(parameter.schema.get("maxLength", 0)) > _LONG
    return ui.Node("TextArea" if long else "Input", type=kind, value=value, **base)


def _button(label: str, action: UIAction) -> UINode:
    return ui.Button(label, on_click=action, variant="secondary", size="sm")


def _fill(text: str) -> UIAction:
    """Put a text into the composer."""
    return UIAction("fill", {"message": text})


def _offer(nodes: Sequence[UINode], tag: str) -> JSONObject:
    """The tree of what may be pressed, and behind it the way to a real model."""
    chips = [n for n in nodes if n.type == "Button"]
    others = [n for n in nodes if n.type != "Button"]
    model = ui.Link(language.of(tag).say("use_a_model"), on_click=UIAction("model"))
    rows = [ui.Stack(chips, direction="horizontal", wrap=True)] if chips else []
    return ui.Stack([*others, *rows, model]).to_dict()
