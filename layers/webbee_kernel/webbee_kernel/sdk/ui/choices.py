"""What a person chooses. `param_name` is the parameter of the form's function."""

from __future__ import annotations

from collections.abc import Sequence

from .base import Node, Rows, UIAction, UINode


def Select(
    options: Rows,
    value: str = "",
    *,
    placeholder: str = "",
    on_change: UIAction | None = None,
    param_name: str = "value",
    label: str = "",
    description: str = "",
    error: str = "",
    required: bool = False,
    disabled: bool = False,
) -> UINode:
    """One of `options`, `{"value", "label"}`."""
    return Node(
        "Select",
        options=options,
        value=value,
        placeholder=placeholder,
        on_change=on_change,
        param_name=param_name,
        label=label,
        description=description,
        error=error,
        required=required or None,
        disabled=disabled or None,
    )


def MultiSelect(
    options: Rows,
    values: Sequence[str] | None = None,
    *,
    placeholder: str = "",
    param_name: str = "values",
    label: str = "",
    description: str = "",
    error: str = "",
    required: bool = False,
    disabled: bool = False,
) -> UINode:
    """Several of `options`, `{"value", "label"}`."""
    return Node(
        "MultiSelect",
        options=options,
        values=values,
        placeholder=placeholder,
        param_name=param_name,
        label=label,
        description=description,
        error=error,
        required=required or None,
        disabled=disabled or None,
    )


def RadioGroup(
    options: Rows,
    value: str = "",
    *,
    on_change: UIAction | None = None,
    param_name: str = "value",
    label: str = "",
    description: str = "",
    error: str = "",
    required: bool = False,
    disabled: bool = False,
    orientation: str = "vertical",
) -> UINode:
    """One of `options`, `{"value", "label", "description"?}`, all of them seen."""
    return Node(
        "RadioGroup",
        options=options,
        value=value,
        on_change=on_change,
        param_name=param_name,
        label=label,
        description=description,
        error=error,
        required=required or None,
        disabled=disabled or None,
        orientation=orientation,
    )


def Checkbox(
    label: str = "",
    value: bool = False,
    *,
    on_change: UIAction | None = None,
    param_name: str = "checked",
    description: str = "",
    error: str = "",
    required: bool = False,
    disabled: bool = False,
) -> UINode:
    """A yes or no."""
    return Node(
        "Checkbox",
        label=label,
        value=value or None,
        on_change=on_change,
        param_name=param_name,
        description=description,
        error=error,
        required=required or None,
        disabled=disabled or None,
    )


def Toggle(
    label: str = "",
    value: bool = False,
    *,
    on_change: UIAction | None = None,
    param_name: str = "enabled",
) -> UINode:
    """A yes or no that is done at once."""
    return Node(
        "Toggle",
        label=label,
        value=value or None,
        on_change=on_change,
        param_name=param_name,
    )


def Slider(
    min: int = 0,
    max: int = 100,
    *,
    value: int = 50,
    step: int = 1,
    label: str = "",
    param_name: str = "value",
    disabled: bool = False,
) -> UINode:
    """A number between `min` and `max`."""
    return Node(
        "Slider",
        min=min or None,
        max=max,
        value=value,
        step=step,
        label=label,
        param_name=param_name,
        disabled=disabled or None,
    )


def FileUpload(
    accept: str = "*",
    max_size_mb: int = 10,
    *,
    multiple: bool = False,
    on_upload: UIAction | None = None,
    param_name: str = "files",
    blocked_extensions: Sequence[str] | None = None,
    max_total_mb: int = 0,
    max_files: int = 0,
    title: str = "",
    hint: str = "",
    variant: str = "default",
    show_previews: bool = False,
) -> UINode:
    """Files; `on_upload` gets them as base64."""
    return Node(
        "FileUpload",
        accept=accept,
        max_size_mb=max_size_mb,
        multiple=multiple or None,
        on_upload=on_upload,
        param_name=param_name,
        blocked_extensions=blocked_extensions,
        max_total_mb=max_total_mb or None,
        max_files=max_files or None,
        title=title,
        hint=hint,
        variant=variant,
        show_previews=show_previews or None,
    )
