"""The forms of an offer as it is stored: the call that one makes, and its fields as text.

They stand apart from `function_form`, which draws them: every turn reads what the last reply has
offered, few turns draw a form.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from ..types import JSON, JSONObject


def forms_in(offer: Any) -> list[JSONObject]:
    """The properties of an offer's forms, which are filled in by words, too; none of a tree that an
    extension has drawn in another way."""
    with suppress(AttributeError, KeyError, TypeError):
        forms = [n["props"] for n in offer["props"]["children"] if n["type"] == "Form"]
        return [form for form in forms if "hint" in form and form_text(form)]
    return []


def form_call(form: JSONObject) -> tuple[str, JSONObject]:
    """The function that a form calls, with its values."""
    action = form["action"]
    name = f"{action['app_id']}__{action['function']}"
    return name, {**form.get("defaults", {}), **_values(form["children"])}


def _values(fields: list[JSONObject]) -> JSONObject:
    """The values of fields by name, without empty ones."""
    found = {}
    for field in fields:
        props = field["props"]
        inner = _values(props["children"]) if field["type"] == "Fieldset" else None
        found[props["param_name"]] = inner or props.get("values") or props.get("value")
    return {name: value for name, value in found.items() if value not in (None, "")}


def form_text(form: JSONObject) -> str:
    """A form as text: what stands in its fields, and how they are filled in by words."""
    values = form_call(form)[1]
    fields = [field["props"] for field in form["children"] if field["type"] != "Toggle"]
    lines = [f"{p['label']}: {_as_text(values.get(p['param_name']), p)}" for p in fields]
    return "\n".join([*lines, str(form["hint"])])


def _as_text(value: JSON, props: JSONObject) -> str:
    labels = {option["value"]: option["label"] for option in props.get("options", ())}
    rows = value if isinstance(value, list) else [value]
    return ", ".join(str(labels.get(v, v)) for v in rows if v is not None) or "–"
