"""How it stands: messages, progress, what is missing."""

from __future__ import annotations

from .base import Node, UIAction, UINode


def Alert(
    message: str,
    title: str = "",
    variant: str = "",
    *,
    dismissible: bool = False,
) -> UINode:
    """A message in a frame: `variant` info, success, warn or error."""
    return Node(
        "Alert",
        message=message,
        title=title,
        variant=variant,
        dismissible=dismissible or None,
    )


def Toast(
    message: str,
    variant: str = "info",
    *,
    duration: int = 5000,
    title: str = "",
    action: UIAction | None = None,
    action_label: str = "",
) -> UINode:
    """A message that goes by itself; a function's result may be one."""
    return Node(
        "Toast",
        message=message,
        variant=variant,
        duration=duration,
        title=title,
        action=action,
        action_label=action_label,
    )


def Empty(
    message: str = "No data",
    icon: str = "",
    action: UIAction | None = None,
) -> UINode:
    """What to show where there is nothing."""
    return Node(
        "Empty",
        message=message,
        icon=icon,
        action=action,
    )


def Error(
    message: str,
    title: str = "Error",
    *,
    retry: UIAction | None = None,
) -> UINode:
    """What went wrong, with a button to try again."""
    return Node(
        "Error",
        message=message,
        title=title,
        retry=retry,
    )


def Loading(
    message: str = "Loading...",
    variant: str = "spinner",
) -> UINode:
    """Something is on its way."""
    return Node(
        "Loading",
        message=message,
        variant=variant,
    )


def Progress(
    value: int,
    label: str = "",
    *,
    variant: str = "bar",
    color: str = "",
    max: int = 0,
    show_value: bool = False,
    size: str = "",
) -> UINode:
    """`value` of 100, or of `max`."""
    return Node(
        "Progress",
        value=value,
        label=label,
        variant=variant,
        color=color,
        max=max or None,
        show_value=show_value or None,
        size=size,
    )


def AgentPresence(
    status: str = "active",
    action: str = "",
    *,
    progress: int | None = None,
    avatar: str = "🐝",
) -> UINode:
    """What the agent is doing."""
    return Node(
        "AgentPresence",
        status=status,
        action=action,
        progress=progress,
        avatar=avatar,
    )
