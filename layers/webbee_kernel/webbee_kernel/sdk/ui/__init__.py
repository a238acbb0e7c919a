"""UI trees: panels and results return these nodes; the page renders them, no model ever sees them.

A node is `{"type", "props"}`. There is a constructor for every node the page draws, with the props
it knows; `Node(type, **props)` makes any.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from inspect import isfunction, signature
from typing import Any, TypeAlias

from ..result import ui_dict


@dataclass(slots=True)
class UINode:
    """One node of a tree."""

    type: str
    props: dict[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON, children included."""
        return {"type": self.type, "props": ui_dict(self.props)}


@dataclass(slots=True)
class UIAction:
    """What a click does: `call` a function, `send` a chat message, `open` an address."""

    action: str
    params: dict[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        """Plain JSON."""
        return {"action": self.action, **ui_dict(self.params)}


Nodes: TypeAlias = Sequence[UINode]
Props: TypeAlias = Mapping[str, object]
Rows: TypeAlias = Sequence[Mapping[str, object]]


def Node(type: str, /, **props: object) -> UINode:
    """A node of any type; props that are None or empty strings are left out."""
    return UINode(type, {k: v for k, v in props.items() if v is not None and v != ""})


def drawn(module: dict[str, Any]) -> None:
    """Give the constructors of a module what they do. Each is declared by its name, its signature
    and a word on it, and makes a node of that name with all it is given, its defaults included; a 0
    or a False that is the default is left out."""
    for name, declared in [*module.items()]:
        if isfunction(declared) and declared.__module__ == module["__name__"]:
            if declared.__annotations__.get("return") == "UINode":
                module[name] = _constructor(declared)


def _constructor(declared: Callable[..., None]) -> Callable[..., UINode]:
    defaults = {p.name: p.default for p in signature(declared).parameters.values()}

    @wraps(declared)
    def construct(*given: object, **named: object) -> UINode:
        declared(*given, **named)  # tells what is missing, not known, or given twice
        told = defaults | dict(zip(defaults, given, strict=False)) | named
        return Node(
            declared.__name__,
            **{k: v for k, v in told.items() if v not in (False, 0) or v != defaults[k]},
        )

    return construct


def Call(function: str, /, **params: object) -> UIAction:
    """Call a function of this app."""
    return UIAction("call", {"function": function, "params": params})


def Send(message: str) -> UIAction:
    """Say this in the chat."""
    return UIAction("send", {"message": message})


def Open(url: str) -> UIAction:
    """Open an address in a tab of its own; `http(s):` and `mailto:` only."""
    return UIAction("open", {"url": url})


# last: they are made of what stands above
from .display import *  # noqa: E402, F403
from .inputs import *  # noqa: E402, F403

__all__ = sorted(
    name
    for name, made in globals().items()
    if name[0].isupper() and getattr(made, "__module__", "").startswith(__name__)
)
