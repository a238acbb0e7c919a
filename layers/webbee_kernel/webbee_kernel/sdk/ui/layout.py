# mypy: disable-error-code="empty-body"
"""Containers: nodes that hold others. What the constructors do, `drawn` gives them."""

from __future__ import annotations

from .tree import Nodes, Rows, UIAction, UINode, drawn


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


def Row(children: Nodes, gap: int = 3) -> UINode:
    """Children side by side."""


def Column(children: Nodes, gap: int = 3) -> UINode:
    """Children below each other."""


def Grid(children: Nodes, columns: int = 2, *, gap: int = 3) -> UINode:
    """Children in so many columns."""


def Section(title: str = "", children: Nodes = (), *, collapsible: bool = False) -> UINode:
    """A titled group."""


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


def Page(children: Nodes, title: str = "", *, subtitle: str = "") -> UINode:
    """A page of its own with a title."""


def Tabs(tabs: Rows, default_tab: int = 0) -> UINode:
    """`tabs` are `{"label", "content"}`."""


def Accordion(sections: Rows, allow_multiple: bool = False) -> UINode:
    """`sections` are `{"id", "title", "children"}`; one open at a time unless `allow_multiple`."""


def Divider(label: str = "") -> UINode:
    """A line, with a label in it where given."""


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


def SlideOver(
    title: str,
    children: Nodes = (),
    *,
    subtitle: str = "",
    open: bool = True,
    width: str = "md",
    on_close: UIAction | None = None,
) -> UINode:
    """A window from the side."""


def Tooltip(content: str, children: UINode | Nodes = (), *, delay_ms: int = 0) -> UINode:
    """Words that appear over a node."""


def Ghost(
    child: UINode, reason: str = "Webbee executing...", *, pulse: bool = True, opacity: float = 0.6
) -> UINode:
    """A node shown as not there yet: what an action is about to make."""


drawn(globals())
