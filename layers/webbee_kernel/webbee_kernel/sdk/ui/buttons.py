"""What a person presses."""

from __future__ import annotations

from .base import Rows, UIAction, UINode, said


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
    return said("Button", locals())


def BackButton(to: str = "", on_click: UIAction | None = None, *, label: str = "") -> UINode:
    """Goes back."""
    return said("BackButton", locals())


def Menu(items: Rows, trigger: UINode | None = None, *, align: str = "") -> UINode:
    """`items` are `{"label", "on_click", "icon"?}` or `{"separator": true}`; `trigger` opens it."""
    return said("Menu", locals())
