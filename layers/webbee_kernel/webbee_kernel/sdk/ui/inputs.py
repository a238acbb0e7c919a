# mypy: disable-error-code="empty-body"
"""What a person fills in or presses. `param_name` is the parameter of the form's function."""

from __future__ import annotations

from collections.abc import Sequence

from . import Nodes, Props, Rows, UIAction, UINode, drawn


def Form(
    children: Nodes, action: str = "", submit_label: str = "Submit", defaults: Props | None = None
) -> UINode:
    """A form whose fields become the parameters of the function `action`."""


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


def Toggle(
    label: str = "",
    value: bool = False,
    *,
    on_change: UIAction | None = None,
    param_name: str = "enabled",
) -> UINode:
    """A yes or no that is done at once."""


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


def Button(
    label: str,
    on_click: UIAction | None = None,
    variant: str = "primary",
    *,
    disabled: bool = False,
    size: str = "md",
    full_width: bool = False,
    icon: str = "",
    icon_left: str = "",
    icon_right: str = "",
    loading: bool = False,
    loading_label: str = "",
    type: str = "",
) -> UINode:
    """A button: `variant` primary, secondary, ghost or danger."""


def BackButton(to: str = "", on_click: UIAction | None = None, *, label: str = "") -> UINode:
    """Goes back."""


def Menu(items: Rows, trigger: UINode | None = None, *, align: str = "") -> UINode:
    """`items` are `{"label", "on_click", "icon"?}` or `{"separator": true}`; `trigger` opens it."""


drawn(globals())
