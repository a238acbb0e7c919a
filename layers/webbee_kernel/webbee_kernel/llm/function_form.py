"""A function's parameters from its JSON schema, and the UI form for them."""

from __future__ import annotations

import operator
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from .. import language
from ..catalogue import PerObject, shapes_of
from ..sdk import ui
from ..sdk.ui import UIAction, UINode
from ..text import squeeze
from ..types import JSONObject
from .protocol import ToolSpec

_IDENTITY: Final = re.compile(r"(?:^|_)(?:id|uid|uuid)(s?)$")
_BRACKETS: Final = re.compile(r"\s*\([^()]*\)")
_SENTENCE: Final = re.compile(r"(?<!\b[^\W\d])[.!?](?:\s|$)")
"""Where a sentence ends, not behind the letters of "e.g." and "z. B."."""
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
MAX_DEPTH: Final = 3
"""Levels of nested objects and lists that are expanded into fields."""
FIELDS: Final = 8
"""Maximum fields of a form: required ones first."""

_LIMITS: Final = (
    ("most", "maximum", operator.le),
    ("least", "minimum", operator.ge),
    ("below", "exclusiveMaximum", operator.lt),
    ("above", "exclusiveMinimum", operator.gt),
)
"""The kernel's sentence for a number beyond a limit of its schema."""

MAX_LINE: Final = 200
"""Characters up to which a text field has a single line."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of a function. `kind`: text, number, date, email, url, choice, flag, list,
    object, id or ids. `fields`: those of an object, or the one of a list's items, named `value`."""

    name: str
    kind: str
    schema: JSONObject
    required: bool = False
    fields: tuple[Parameter, ...] = ()


@PerObject
def parameters(tool: ToolSpec) -> dict[str, Parameter]:
    """A function's parameters by name."""
    return {p.name: p for p in _properties(tool.input_schema, tool.input_schema, MAX_DEPTH)}


def _properties(schema: JSONObject, root: JSONObject, depth: int) -> Iterator[Parameter]:
    required = schema.get("required", ())
    for name, given in schema.get("properties", {}).items():
        yield _parameter(name, given, root, name in required, depth)


def _parameter(name: str, given: Any, root: JSONObject, required: bool, depth: int) -> Parameter:
    # of alternatives the first; null is none
    shapes = [s for s in shapes_of(given, root) if s.get("type") != "null"]
    schema = {key: rule for shape in reversed(shapes) for key, rule in shape.items()}
    kind = _kind(name, schema)
    fields: tuple[Parameter, ...] = ()
    if kind == "object" and depth:
        fields = tuple(_properties(schema, root, depth - 1))
    elif kind in ("list", "ids") and depth and isinstance(schema.get("items"), dict):
        fields = (_parameter("value", schema["items"], root, False, depth - 1),)
    return Parameter(name, kind, schema, required, fields)


def _kind(name: str, schema: JSONObject) -> str:
    if "enum" in schema:
        return "choice"
    if _IDENTITY.search(name) or schema.get("x-directs") == "id":
        return "ids" if schema.get("type") == "array" else "id"
    kind = _KINDS.get(str(schema.get("type"))) or _KINDS.get(str(schema.get("format")))
    return kind or ("date" if schema.get("x-directs") == "when" else "text")


def form_of(tool: ToolSpec, arguments: JSONObject, tag: str) -> UINode:
    """The function's form, prefilled with `arguments` and labelled in the language `tag`."""
    order = sorted(
        parameters(tool).values(), key=lambda p: (not p.required, p.name not in arguments)
    )
    # nobody reads an id: a known one goes along unseen, an optional one is not asked for
    shown = [p for p in order if p.kind not in ("id", "ids") or p.required > (p.name in arguments)]
    fields = shown[:FIELDS]
    nodes = [_field(p, arguments.get(p.name), tag) for p in fields]
    form = ui.Form(
        nodes,
        submit_label=_submit(tool, tag),
        defaults={k: v for k, v in arguments.items() if k not in {p.name for p in fields}},
    )
    form.props["action"] = UIAction("call", {"function": tool.fn_name, "app_id": tool.app_id})
    asked = [*missing_fields(nodes), *(str(node.props["label"]) for node in nodes)]
    form.props["hint"] = language.of(tag).say("form_by_words", field="".join(asked[:1]))
    return form


def missing_fields(fields: Sequence[UINode]) -> list[str]:
    """The labels of the required fields that have no value."""
    empty = (f.props for f in fields if not {"value", "values", "children"} & f.props.keys())
    return [str(props["label"]) for props in empty if props.get("required")]


def _submit(tool: ToolSpec, tag: str) -> str:
    """The label of the submit button: the verb for destructive functions."""
    if tool.action_type != "destructive":
        return language.of(tag).say("form_send")
    if _effect(tool) == "delete":
        return language.of(tag).say("card_verb_delete")
    return tool.fn_name.replace("_", " ").capitalize()


def _effect(tool: ToolSpec) -> str:
    """The effect (send, delete …) named by the first word of the function name, or empty."""
    first = tool.fn_name.partition("_")[0]
    return language.of("en").words.effects.get(language.stem(first, "en"), "")


def is_outgoing(tool: ToolSpec) -> bool:
    """Whether the function sends something to another person."""
    is_to_somebody = any(p.kind == "email" for p in parameters(tool).values())
    return tool.action_type != "read" and (is_to_somebody or _effect(tool) == "send")


def _field(parameter: Parameter, value: Any, tag: str) -> UINode:
    """The form field of a parameter; nested for objects and lists."""
    schema, fields = parameter.schema, parameter.fields
    value = schema.get("default") if value is None else value
    label = label_of(parameter, tag)
    props: JSONObject = {
        "param_name": parameter.name,
        "label": label[:1].upper() + label[1:],
        "description": _help(parameter, label, tag),
        "required": parameter.required,
        "error": _problem(schema, value, label[:1].upper() + label[1:], tag),
    }
    if parameter.kind == "object" and fields:
        values = value if isinstance(value, dict) else {}
        inner = [_field(p, values.get(p.name), tag) for p in fields]
        return ui.Node("Fieldset", children=inner, **props)
    if fields:
        rows = value if isinstance(value, list) else []
        return ui.Node("ListInput", item=_field(fields[0], None, tag), values=rows, **props)
    return _control(parameter, value, props, tag)


def _control(parameter: Parameter, value: Any, props: JSONObject, tag: str) -> UINode:
    """The form field of a parameter that is neither an object nor a list."""
    schema, kind, marker = parameter.schema, parameter.kind, parameter.schema.get("x-directs")
    if kind == "choice":
        told = schema.get("x-choices", {})
        labels = {c: language.text_in(told.get(str(c), {}), tag) for c in schema["enum"]}
        options = [{"value": str(c), "label": s or str(c) or "–"} for c, s in labels.items()]
        return ui.Node("Select", options=options, value=value, **props)
    if kind == "flag":
        return ui.Node("Toggle", value=bool(value), **props)
    if schema.get("format") == "password" or marker == "secret" or schema.get("writeOnly"):
        return ui.Node("Password", value=value, **props)
    shape = kind if kind in ("number", "email", "url") else "text"
    if shape == "number":
        props |= {"min": schema.get("minimum"), "max": schema.get("maximum")}
    node, value = _text_node(parameter, value) if shape == "text" else ("Input", value)
    return ui.Node(node, type=shape, value=value, **props)


def _text_node(parameter: Parameter, value: Any) -> tuple[str, Any]:
    """The field of a text, of one line or of several, and the value in it."""
    limit = int(parameter.schema.get("maxLength", 0))
    is_long = limit > MAX_LINE or parameter.schema.get("x-directs") == "content"
    if is_long or not isinstance(value, str) or "\n" not in value:
        return "TextArea" if is_long else "Input", value
    if limit or parameter.name in language.title_keys():
        return "Input", squeeze(value)  # a browser would join the words
    return "TextArea", value


def _problem(schema: JSONObject, value: Any, label: str, tag: str) -> str:
    """What is allowed where this value is not; empty where it is."""
    spoken = language.of(tag)
    if value is not None and value not in (choices := schema.get("enum", [value])):
        return spoken.say("refused_one_of", field=label, limit=", ".join(map(str, choices)))
    limits = _LIMITS if isinstance(value, int | float) else ()
    for kind, name, fits in limits:
        if name in schema and not fits(value, schema[name]):
            return spoken.say(f"refused_{kind}", field=label, limit=schema[name])
    return ""


def label_of(parameter: Parameter, tag: str) -> str:
    """The author's title in the user's language, else without language, else the name in words."""
    words = parameter.name.replace("_", " ")
    if own := language.text_in(parameter.schema.get("x-titles", {}), tag):
        return own
    title = str(parameter.schema.get("title") or words)
    is_name = title.casefold() == words.casefold()  # Pydantic writes: Due At
    return language.of(tag).field_name(words) if is_name else title


def _help(parameter: Parameter, label: str, tag: str) -> str:
    """The first sentence of an argument's description, without brackets (meant for models); empty
    for a list of choices, for what the label says or every language knows, and beside a label in
    another language."""
    schema, words = parameter.schema, parameter.name.replace("_", " ")
    text = _SENTENCE.split(_BRACKETS.sub("", str(schema.get("description", ""))), maxsplit=1)[0]
    if "enum" in schema:
        text = text.partition(":")[0]
    is_known = f"field_{words}" in language.of(tag).sentences or "x-titles" in schema
    if is_known or text.partition(",")[0] in (*schema.get("enum", ()), label):
        return ""
    is_foreign = label != words and language.detect(text, tag) != language.of(tag).tag
    return "" if is_foreign or text.casefold() == label.casefold() else text[:200]
