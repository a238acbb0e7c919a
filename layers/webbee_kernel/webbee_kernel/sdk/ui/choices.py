"""What a person chooses. `param_name` is the parameter of the form's function."""

from __future__ import annotations

from collections.abc import Sequence

from .base import Rows, UIAction, UINode, said


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
    return said("Select", locals())


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
    return said("MultiSelect", locals())


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
    return said("RadioGroup", locals())


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
    return said("Checkbox", locals())


def Toggle(
    label: str = "",
    value: bool = False,
    *,
    on_change: UIAction | None = None,
    param_name: str = "enabled",
) -> UINode:
    """A yes or no that is done at once."""
    return said("Toggle", locals())


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
    return said("Slider", locals(), "max", "value", "step")


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
    return said("FileUpload", locals(), "max_size_mb")
