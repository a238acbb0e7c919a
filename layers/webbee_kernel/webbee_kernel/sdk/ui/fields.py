"""What a person fills in or presses. `param_name` is the parameter of the form's function."""

from __future__ import annotations

from collections.abc import Sequence

from .base import Node, Nodes, Props, UIAction, UINode


def Form(
    children: Nodes,
    action: str = "",
    submit_label: str = "Submit",
    defaults: Props | None = None,
) -> UINode:
    """A form whose fields become the parameters of the function `action`."""
    return Node(
        "Form",
        children=children,
        action=action,
        submit_label=submit_label,
        defaults=defaults,
    )


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
    return Node(
        "Input",
        placeholder=placeholder,
        param_name=param_name,
        label=label,
        type=type,
        on_submit=on_submit,
        value=value,
        description=description,
        error=error,
        required=required or None,
        disabled=disabled or None,
        readonly=readonly or None,
        variant=variant,
    )


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
    return Node(
        "TextArea",
        placeholder=placeholder,
        value=value,
        rows=rows,
        on_submit=on_submit,
        param_name=param_name,
        label=label,
        description=description,
        error=error,
        required=required or None,
        disabled=disabled or None,
        readonly=readonly or None,
    )


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
    return Node(
        "Password",
        placeholder=placeholder,
        on_submit=on_submit,
        value=value,
        param_name=param_name,
        label=label,
        description=description,
        error=error,
        required=required or None,
        disabled=disabled or None,
        readonly=readonly or None,
    )


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
    return Node(
        "DatePicker",
        value=value,
        placeholder=placeholder,
        on_change=on_change,
        param_name=param_name,
        label=label,
        description=description,
        error=error,
        required=required or None,
        disabled=disabled or None,
        min=min,
        max=max,
    )


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
    return Node(
        "TagInput",
        values=values,
        suggestions=suggestions,
        placeholder=placeholder,
        param_name=param_name,
        on_change=on_change,
        grouped_by=grouped_by,
        delimiters=delimiters,
        validate=validate,
        validate_message=validate_message,
        label=label,
        description=description,
        error=error,
        required=required or None,
    )


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
    return Node(
        "RichEditor",
        content=content,
        placeholder=placeholder,
        on_save=on_save,
        on_change=on_change,
        param_name=param_name,
        toolbar=toolbar,
        label=label,
        description=description,
        error=error,
        required=required or None,
    )
