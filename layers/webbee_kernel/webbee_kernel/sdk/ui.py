"""UI trees: panels and results return these nodes; the page renders them, no model ever sees them.

A node is `{"type", "props"}`. Each function keeps the props that are set; `Node(type, **props)`
makes any type.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class UINode:
    """One node of a tree."""

    type: str
    props: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON, children included."""
        return {"type": self.type, "props": {k: _plain(v) for k, v in self.props.items()}}


@dataclass(slots=True)
class UIAction:
    """What a click does: `call` a function, `send` a chat message, `navigate` or `open` a place."""

    action: str
    params: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON."""
        return {"action": self.action, **{k: _plain(v) for k, v in self.params.items()}}


def _plain(value: Any) -> Any:
    if isinstance(value, UINode | UIAction):
        return value.to_dict()
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {k: _plain(v) for k, v in value.items()}
    return value


def Node(type: str, /, **props: Any) -> UINode:
    """A node of any type; props that are None or empty strings are left out."""
    return UINode(type, {k: v for k, v in props.items() if v is not None and v != ""})


def Stack(children: list[UINode], direction: str = "v", gap: int = 3, **props: Any) -> UINode:
    """Children one after another, `v` or `h`."""
    return Node("Stack", children=children, direction=direction, gap=gap, **props)


def Section(title: str = "", children: list[UINode] | None = None, **props: Any) -> UINode:
    """A titled group."""
    return Node("Section", title=title, children=children or [], **props)


def Text(content: str, variant: str = "body", **props: Any) -> UINode:
    """A paragraph: `body`, `caption`, `muted`."""
    return Node("Text", content=content, variant=variant, **props)


def Header(text: str, level: int = 2, subtitle: str = "") -> UINode:
    """A heading, level 1 to 4."""
    return Node("Header", text=text, level=level, subtitle=subtitle)


def List(items: list[UINode], **props: Any) -> UINode:
    """A list of `ListItem`."""
    return Node("List", items=items, **props)


def ListItem(
    id: str,
    title: str,
    subtitle: str = "",
    meta: str = "",
    badge: UINode | None = None,
    on_click: UIAction | None = None,
    actions: list[dict[str, Any]] | None = None,
    **props: Any,
) -> UINode:
    """One row; `actions` are `{"label", "on_click"}`."""
    return Node(
        "ListItem",
        id=id,
        title=title,
        subtitle=subtitle,
        meta=meta,
        badge=badge,
        on_click=on_click,
        actions=actions,
        **props,
    )


def Badge(label: str = "", color: str = "gray", **props: Any) -> UINode:
    """A small label."""
    return Node("Badge", label=label, color=color, **props)


def Stat(label: str, value: Any, **props: Any) -> UINode:
    """One figure with its label."""
    return Node("Stat", label=label, value=value, **props)


def Stats(children: list[UINode], columns: int = 0) -> UINode:
    """A row of `Stat`."""
    return Node("Stats", children=children, columns=columns)


def Button(
    label: str, on_click: UIAction | None = None, variant: str = "primary", **props: Any
) -> UINode:
    """A button."""
    return Node("Button", label=label, on_click=on_click, variant=variant, **props)


def Empty(message: str = "No data", **props: Any) -> UINode:
    """What to show where there is nothing."""
    return Node("Empty", message=message, **props)


def Form(
    children: list[UINode],
    action: str = "",
    submit_label: str = "Submit",
    defaults: dict[str, Any] | None = None,
) -> UINode:
    """A form whose fields become the parameters of the function `action`."""
    return Node(
        "Form", children=children, action=action, submit_label=submit_label, defaults=defaults
    )


def Input(
    placeholder: str = "",
    param_name: str = "value",
    label: str = "",
    type: str = "text",
    **props: Any,
) -> UINode:
    """A field of a form."""
    return Node(
        "Input", placeholder=placeholder, param_name=param_name, label=label, type=type, **props
    )


def Call(function: str, **params: Any) -> UIAction:
    """Call a function of this app."""
    return UIAction("call", {"function": function, "params": params})


def Send(message: str) -> UIAction:
    """Say this in the chat."""
    return UIAction("send", {"message": message})


def Open(url: str) -> UIAction:
    """Open an address in a tab of its own; `http(s):` and `mailto:` only."""
    return UIAction("open", {"url": url})
