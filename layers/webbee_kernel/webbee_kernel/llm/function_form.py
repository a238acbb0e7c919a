"""What a function takes, by its schema, and the form that asks a person for it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from .. import language
from ..catalogue import PerObject
from ..sdk import ui
from ..sdk.ui import UIAction, UINode
from ..types import JSONObject
from .protocol import ToolSpec

_IDENTITY: Final = re.compile(r"(?:^|_)(?:id|uid|uuid)(s?)$")
_BRACKETS: Final = re.compile(r"\s*\([^()]*\)")
_SENTENCE: Final = re.compile(r"[.!?](?:\s|$)")
_KINDS: Final = {
    "integer": "number",
    "number": "number",
    "boolean": "flag",
    "array": "list",
    "object": "object",
    "date": "date",
    "date-time": "date",
    "email": "email",
    "uri": "url",
}
"""By a schema's type or format."""
DEEPEST: Final = 3
"""Levels of objects and lists in which a parameter has fields of its own."""
FIELDS: Final = 8
"""Fields of a form: those that are required, then the others in their order."""

LINE: Final = 200
"""Characters that a field of one line takes; a text that may be longer has several."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function. `kind`: text, number, date, email, url, choice, flag, list,
    object, id or ids. `fields`: those of an object, or the one of a list's items, named `value`."""

    name: str
    kind: str
    schema: JSONObject
    required: bool = False
    fields: tuple[Parameter, ...] = ()


def _parameters(tool: ToolSpec) -> dict[str, Parameter]:
    schema = tool.input_schema
    return {p.name: p for p in _properties(schema, schema.get("$defs", {}), DEEPEST)}


parameters = PerObject(_parameters)
"""A function's parameters by name."""


def _properties(
    schema: JSONObject, definitions: Mapping[str, Any], depth: int
) -> Iterator[Parameter]:
    required = schema.get("required", ())
    for name, given in schema.get("properties", {}).items():
        yield _parameter(name, given, definitions, name in required, depth)


def _parameter(
    name: str, given: Any, definitions: Mapping[str, Any], required: bool, depth: int
) -> Parameter:
    schema = _resolved(given, definitions)
    kind = _kind(name, schema)
    fields: tuple[Parameter, ...] = ()
    if kind == "object" and depth:
        fields = tuple(_properties(schema, definitions, depth - 1))
    elif kind in ("list", "ids") and depth and isinstance(schema.get("items"), dict):
        fields = (_parameter("value", schema["items"], definitions, False, depth - 1),)
    return Parameter(name, kind, schema, required, fields)


def _resolved(schema: Any, definitions: Mapping[str, Any]) -> JSONObject:
    """A parameter's schema without references and without the null of an optional one."""
    if not isinstance(schema, dict):
        return {}
    beside = {k: v for k, v in schema.items() if k not in ("$ref", "anyOf", "oneOf", "allOf")}
    if "$ref" in schema:
        return {**definitions.get(str(schema["$ref"]).rpartition("/")[2], {}), **beside}
    for key in ("anyOf", "oneOf", "allOf"):
        options = [s for s in schema.get(key, ()) if s != {"type": "null"}]
        if len(options) == 1:
            return {**_resolved(options[0], definitions), **beside}
    return schema


def _kind(name: str, schema: JSONObject) -> str:
    if "enum" in schema:
        return "choice"
    if _IDENTITY.search(name) or schema.get("x-directs") == "id":
        return "ids" if schema.get("type") == "array" else "id"
    told = _KINDS.get(str(schema.get("type"))) or _KINDS.get(str(schema.get("format")))
    return told or ("date" if schema.get("x-directs") == "when" else "text")


def form_of(tool: ToolSpec, arguments: JSONObject, tag: str) -> UINode:
    """The function's form, filled with what is known; its button speaks the language `tag`."""
    order = sorted(
        parameters(tool).values(), key=lambda p: (not p.required, p.name not in arguments)
    )
    ids = ("id", "ids")  # what nobody knows by heart
    shown = [p for p in order if p.required or p.kind not in ids or p.name in arguments][:FIELDS]
    form = ui.Form(
        [_field(p, arguments.get(p.name), tag) for p in shown],
        submit_label=_submit(tool, tag),
        defaults={k: v for k, v in arguments.items() if k not in {p.name for p in shown}},
    )
    form.props["action"] = UIAction("call", {"function": tool.fn_name, "app_id": tool.app_id})
    return form


def _submit(tool: ToolSpec, tag: str) -> str:
    """What the button of its form says; of what destroys what it does, as on a card."""
    if tool.action_type != "destructive":
        return language.of(tag).say("form_send")
    if _effect(tool) == "delete":
        return language.of(tag).say("card_verb_delete")
    return tool.fn_name.replace("_", " ").capitalize()


def _effect(tool: ToolSpec) -> str:
    """What the first word of its name says that it does; empty where that is no known verb."""
    first = tool.fn_name.partition("_")[0]
    return language.of("en").words.effects.get(language.stem(first, "en"), "")


def sends(tool: ToolSpec) -> bool:
    """Whether its text goes to somebody else."""
    is_to_somebody = any(p.kind == "email" for p in parameters(tool).values())
    return tool.action_type != "read" and (is_to_somebody or _effect(tool) == "send")


def _field(parameter: Parameter, value: Any, tag: str) -> UINode:
    """The field of one argument; of an object the fields inside, of a list rows of one field."""
    schema, kind = parameter.schema, parameter.kind
    value = schema.get("default") if value is None else value
    words, title = _words(parameter), _title(parameter, tag)
    label, told = language.of(tag).field_name(words) if title == words else title, _help(schema)
    is_said = told.casefold() in (label.casefold(), title.casefold())
    # beside a label in the user's language nothing stands in another
    is_said |= label != words and language.detect(told, tag) != language.of(tag).tag
    props: JSONObject = {
        "param_name": parameter.name,
        "label": label[:1].upper() + label[1:],
        "description": "" if is_said else told,
        "required": parameter.required,
    }
    if kind == "object" and parameter.fields:
        values = value if isinstance(value, dict) else {}
        fields = [_field(p, values.get(p.name), tag) for p in parameter.fields]
        return ui.Node("Fieldset", children=fields, **props)
    if parameter.fields:
        rows = value if isinstance(value, list) else []
        return ui.Node(
            "ListInput", item=_field(parameter.fields[0], None, tag), values=rows, **props
        )
    if kind == "choice":
        told = schema.get("x-choices", {})
        said = {c: language.text_in(told.get(str(c), {}), tag) for c in schema["enum"]}
        options = [{"value": str(c), "label": s or str(c) or "–"} for c, s in said.items()]
        return ui.Node("Select", options=options, value=value, **props)
    if kind == "flag":
        return ui.Node("Toggle", value=bool(value), **props)
    secret = schema.get("format") == "password" or schema.get("x-directs") == "secret"
    if secret or schema.get("writeOnly"):
        return ui.Node("Password", value=value, **props)
    shape = kind if kind in ("number", "email", "url") else "text"
    long = int(schema.get("maxLength", 0)) > LINE or schema.get("x-directs") == "content"
    several = long and shape == "text"
    if shape == "number":
        props |= {"min": schema.get("minimum"), "max": schema.get("maximum")}
    return ui.Node("TextArea" if several else "Input", type=shape, value=value, **props)


def _help(schema: JSONObject) -> str:
    """The first sentence that is said of an argument, without what stands in brackets, which models
    read; of a choice nothing that lists what can be chosen."""
    text = _SENTENCE.split(_BRACKETS.sub("", str(schema.get("description", ""))), maxsplit=1)[0]
    if "enum" in schema:
        text = text.partition(":")[0]
        text = "" if text.partition(",")[0] in schema["enum"] else text
    return text[:200]


def _words(parameter: Parameter) -> str:
    return parameter.name.replace("_", " ")


def _title(parameter: Parameter, tag: str) -> str:
    """The title that its author gave it in the user's language, or without one; else its name in
    words."""
    words = _words(parameter)
    if said := language.text_in(parameter.schema.get("x-titles", {}), tag):
        return said
    title = str(parameter.schema.get("title") or words)
    return words if title.casefold() == words.casefold() else title  # Pydantic writes: Due At
