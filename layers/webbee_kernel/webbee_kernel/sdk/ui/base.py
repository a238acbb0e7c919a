"""What every tree is made of: a node, an action."""

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
