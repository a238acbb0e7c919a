"""What every tree is made of, a node and an action; and containers, nodes that hold others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(slots=True)
class UINode:
    """One node of a tree."""

    type: str
    props: dict[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON, children included."""
        return {"type": self.type, "props": {k: _plain(v) for k, v in self.props.items()}}


@dataclass(slots=True)
class UIAction:
    """What a click does: `call` a function, `send` a chat message, `open` an address."""

    action: str
    params: dict[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON."""
        return {"action": self.action, **{k: _plain(v) for k, v in self.params.items()}}


Nodes: TypeAlias = Sequence[UINode]
Props: TypeAlias = Mapping[str, object]
Rows: TypeAlias = Sequence[Mapping[str, object]]


def _plain(value: object) -> object:
    if isinstance(value, UINode | UIAction):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, Mapping):
        return {k: _plain(v) for k, v in value.items()}
    return value


def Node(type: str, /, **props: object) -> UINode:
    """A node of any type; props that are None or empty strings are left out."""
    return UINode(type, {k: v for k, v in props.items() if v is not None and v != ""})


def said(type: str, told: Props, *even: str) -> UINode:
    """A node of what its constructor was told, its `locals()`: False and 0 are left out as well,
    but where they are not what the page takes for a prop left out, those named as `even`."""
    return Node(type, **{k: v for k, v in told.items() if k in even or v not in (False, 0)})


def Call(function: str, /, **params: object) -> UIAction:
    """Call a function of this app."""
    return UIAction("call", {"function": function, "params": params})


def Send(message: str) -> UIAction:
    """Say this in the chat."""
    return UIAction("send", {"message": message})


def Open(url: str) -> UIAction:
    """Open an address in a tab of its own; `http(s):` and `mailto:` only."""
    return UIAction("open", {"url": url})


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
    return said("Stack", locals(), "gap", "wrap")


def Row(children: Nodes, gap: int = 3) -> UINode:
    """Children side by side."""
    return said("Row", locals(), "gap")


def Column(children: Nodes, gap: int = 3) -> UINode:
    """Children below each other."""
    return said("Column", locals(), "gap")


def Grid(children: Nodes, columns: int = 2, *, gap: int = 3) -> UINode:
    """Children in so many columns."""
    return said("Grid", locals(), "columns", "gap")


def Section(title: str = "", children: Nodes | None = None, *, collapsible: bool = False) -> UINode:
    """A titled group."""
    return said("Section", {**locals(), "children": children or []})


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
    return said("Card", locals(), "border")


def Page(children: Nodes, title: str = "", *, subtitle: str = "") -> UINode:
    """A page of its own with a title."""
    return said("Page", locals())


def Tabs(tabs: Rows, default_tab: int = 0) -> UINode:
    """`tabs` are `{"label", "content"}`."""
    return said("Tabs", locals())


def Accordion(sections: Rows, allow_multiple: bool = False) -> UINode:
    """`sections` are `{"id", "title", "children"}`; one open at a time unless `allow_multiple`."""
    return said("Accordion", locals())


def Divider(label: str = "") -> UINode:
    """A line, with a label in it where given."""
    return said("Divider", locals())


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
    return said("Modal", locals(), "dismissible", "open")


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
    return said("Dialog", locals())


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
    return said("SlideOver", {**locals(), "children": children or []}, "open")


def Tooltip(content: str, children: UINode | None = None, *, delay_ms: int = 0) -> UINode:
    """Words that appear over a node."""
    return said("Tooltip", {**locals(), "children": children or []})


def Ghost(
    child: UINode, reason: str = "Webbee executing...", *, pulse: bool = True, opacity: float = 0.6
) -> UINode:
    """A node shown as not there yet: what an action is about to make."""
    return said("Ghost", locals(), "pulse", "opacity")
