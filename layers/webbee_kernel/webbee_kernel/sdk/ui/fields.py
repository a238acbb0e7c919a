"""What a person fills in or presses. `param_name` is the parameter of the form's function."""

from __future__ import annotations

from collections.abc import Sequence

from .base import Nodes, Props, UIAction, UINode, said


def Form(
    children: Nodes, action: str = "", submit_label: str = "Submit", defaults: Props | None = None
) -> UINode:
    """A form whose fields become the parameters of the function `action`."""
    return said("Form", locals())


def Input(
    placeholder: str = "",
    param_name: str = "value",
    label: str = "",
    type: str = "text",
    *,
    on_submit: UIAction | None = None,
    value: str = "",
    description: str = "",
    error: str = "",
    required: bool = False,
    disabled: bool = False,
    readonly: bool = False,
    variant: str = "default",
) -> UINode:
    """One line of text."""
    return said("Input", locals())


def TextArea(
    placeholder: str = "",
    value: str = "",
    *,
    rows: int = 4,
    on_submit: UIAction | None = None,
    param_name: str = "text",
    label: str = "",
    description: str = "",
    error: str = "",
    required: bool = False,
    disabled: bool = False,
    readonly: bool = False,
) -> UINode:
    """Several lines of text."""
    return said("TextArea", locals(), "rows")


def Password(
    placeholder: str = "paste value…",
    on_submit: UIAction | None = None,
    *,
    value: str = "",
    param_name: str = "value",
    label: str = "",
    description: str = "",
    error: str = "",
    required: bool = False,
    disabled: bool = False,
    readonly: bool = False,
) -> UINode:
    """A line that is not shown."""
    return said("Password", locals())


def DatePicker(
    value: str = "",
    placeholder: str = "Select date",
    *,
    on_change: UIAction | None = None,
    param_name: str = "date",
    label: str = "",
    description: str = "",
    error: str = "",
    required: bool = False,
    disabled: bool = False,
    min: str = "",
    max: str = "",
) -> UINode:
    """A day, `2026-05-15`."""
    return said("DatePicker", locals())


def TagInput(
    values: Sequence[str] | None = None,
    suggestions: Sequence[str] | None = None,
    *,
    placeholder: str = "Add...",
    param_name: str = "tags",
    on_change: UIAction | None = None,
    grouped_by: str = "",
    delimiters: Sequence[str] | None = None,
    validate: str = "",
    validate_message: str = "",
    label: str = "",
    description: str = "",
    error: str = "",
    required: bool = False,
) -> UINode:
    """Several words."""
    return said("TagInput", locals())


def RichEditor(
    content: str = "",
    placeholder: str = "Start writing...",
    *,
    on_save: UIAction | None = None,
    on_change: UIAction | None = None,
    param_name: str = "content",
    toolbar: bool = True,
    label: str = "",
    description: str = "",
    error: str = "",
    required: bool = False,
) -> UINode:
    """A text with marks; shown as source."""
    return said("RichEditor", locals(), "toolbar")
