"""What a person presses."""

from __future__ import annotations

from .base import Node, Rows, UIAction, UINode


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
    return Node(
        "Button",
        label=label,
        on_click=on_click,
        variant=variant,
        disabled=disabled or None,
        size=size,
        full_width=full_width or None,
        icon=icon,
        icon_left=icon_left,
        icon_right=icon_right,
        loading=loading or None,
        loading_label=loading_label,
        type=type,
    )


def BackButton(
    to: str = "",
    on_click: UIAction | None = None,
    *,
    label: str = "",
) -> UINode:
    """Goes back."""
    return Node(
        "BackButton",
        to=to,
        on_click=on_click,
        label=label,
    )


def Menu(
    items: Rows,
    trigger: UINode | None = None,
    *,
    align: str = "",
) -> UINode:
    """`items` are `{"label", "on_click", "icon"?}` or `{"separator": true}`; `trigger` opens it."""
    return Node(
        "Menu",
        items=items,
        trigger=trigger,
        align=align,
    )
