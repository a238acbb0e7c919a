"""Containers: nodes that hold others."""

from __future__ import annotations

from .base import Node, Nodes, Rows, UIAction, UINode


def Stack(
    children: Nodes,
    direction: str = "v",
    gap: int = 3,
    *,
    wrap: bool | None = None,
    align: str = "",
    justify: str = "",
    sticky: bool = False,
) -> UINode:
    """Children one after another: `direction` v or h; `align` and `justify` as in CSS."""
    return Node(
        "Stack",
        children=children,
        direction=direction,
        gap=gap,
        wrap=wrap,
        align=align,
        justify=justify,
        sticky=sticky or None,
    )


def Row(
    children: Nodes,
    gap: int = 3,
) -> UINode:
    """Children side by side."""
    return Node(
        "Row",
        children=children,
        gap=gap,
    )


def Column(
    children: Nodes,
    gap: int = 3,
) -> UINode:
    """Children below each other."""
    return Node(
        "Column",
        children=children,
        gap=gap,
    )


def Grid(
    children: Nodes,
    columns: int = 2,
    *,
    gap: int = 3,
) -> UINode:
    """Children in so many columns."""
    return Node(
        "Grid",
        children=children,
        columns=columns,
        gap=gap,
    )


def Section(
    title: str = "",
    children: Nodes | None = None,
    *,
    collapsible: bool = False,
) -> UINode:
    """A titled group."""
    return Node(
        "Section",
        title=title,
        children=children or [],
        collapsible=collapsible or None,
    )


def Card(
    title: str = "",
    subtitle: str = "",
    *,
    content: UINode | None = None,
    footer: UINode | None = None,
    on_click: UIAction | None = None,
    border: bool | None = None,
    padding: str = "",
) -> UINode:
    """A frame with a title, one node and a footer."""
    return Node(
        "Card",
        title=title,
        subtitle=subtitle,
        content=content,
        footer=footer,
        on_click=on_click,
        border=border,
        padding=padding,
    )


def Page(
    children: Nodes,
    title: str = "",
    *,
    subtitle: str = "",
) -> UINode:
    """A page of its own with a title."""
    return Node(
        "Page",
        children=children,
        title=title,
        subtitle=subtitle,
    )


def Tabs(
    tabs: Rows,
    default_tab: int = 0,
) -> UINode:
    """`tabs` are `{"label", "content"}`."""
    return Node(
        "Tabs",
        tabs=tabs,
        default_tab=default_tab or None,
    )


def Accordion(
    sections: Rows,
    allow_multiple: bool = False,
) -> UINode:
    """`sections` are `{"id", "title", "children"}`; one open at a time unless `allow_multiple`."""
    return Node(
        "Accordion",
        sections=sections,
        allow_multiple=allow_multiple or None,
    )


def Divider(
    label: str = "",
) -> UINode:
    """A line, with a label in it where given."""
    return Node(
        "Divider",
        label=label,
    )


def Modal(
    title: str = "",
    content: UINode | None = None,
    *,
    confirm_label: str = "Confirm",
    cancel_label: str = "Cancel",
    on_confirm: UIAction | None = None,
    subtitle: str = "",
    size: str = "md",
    max_width: str = "",
    dismissible: bool = True,
    destructive: bool = False,
    on_close: UIAction | None = None,
    open: bool = True,
) -> UINode:
    """A window over the page, opened by a click."""
    return Node(
        "Modal",
        title=title,
        content=content,
        confirm_label=confirm_label,
        cancel_label=cancel_label,
        on_confirm=on_confirm,
        subtitle=subtitle,
        size=size,
        max_width=max_width,
        dismissible=dismissible,
        destructive=destructive or None,
        on_close=on_close,
        open=open,
    )


def Dialog(
    title: str,
    content: UINode | None = None,
    *,
    confirm_label: str = "Confirm",
    cancel_label: str = "Cancel",
    on_confirm: UIAction | None = None,
    destructive: bool = False,
) -> UINode:
    """A window that asks; `on_confirm` is done on the yes."""
    return Node(
        "Dialog",
        title=title,
        content=content,
        confirm_label=confirm_label,
        cancel_label=cancel_label,
        on_confirm=on_confirm,
        destructive=destructive or None,
    )


def SlideOver(
    title: str,
    children: Nodes | None = None,
    *,
    subtitle: str = "",
    open: bool = True,
    width: str = "md",
    on_close: UIAction | None = None,
) -> UINode:
    """A window from the side."""
    return Node(
        "SlideOver",
        title=title,
        children=children or [],
        subtitle=subtitle,
        open=open,
        width=width,
        on_close=on_close,
    )


def Tooltip(
    content: str,
    children: UINode | None = None,
    *,
    delay_ms: int = 0,
) -> UINode:
    """Words that appear over a node."""
    return Node(
        "Tooltip",
        content=content,
        children=children or [],
        delay_ms=delay_ms or None,
    )


def Ghost(
    child: UINode,
    reason: str = "Webbee executing...",
    *,
    pulse: bool = True,
    opacity: float = 0.6,
) -> UINode:
    """A node shown as not there yet: what an action is about to make."""
    return Node(
        "Ghost",
        child=child,
        reason=reason,
        pulse=pulse,
        opacity=opacity,
    )
