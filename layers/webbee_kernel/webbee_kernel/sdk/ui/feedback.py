"""How it stands: messages, progress, what is missing."""

from __future__ import annotations

from .base import UIAction, UINode, said


def Alert(message: str, title: str = "", variant: str = "", *, dismissible: bool = False) -> UINode:
    """A message in a frame: `variant` info, success, warn or error."""
    return said("Alert", locals())


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
    return said("Toast", locals(), "duration")


def Empty(message: str = "No data", icon: str = "", action: UIAction | None = None) -> UINode:
    """What to show where there is nothing."""
    return said("Empty", locals())


def Error(message: str, title: str = "Error", *, retry: UIAction | None = None) -> UINode:
    """What went wrong, with a button to try again."""
    return said("Error", locals())


def Loading(message: str = "Loading...", variant: str = "spinner") -> UINode:
    """Something is on its way."""
    return said("Loading", locals())


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
    return said("Progress", locals(), "value")


def AgentPresence(
    status: str = "active", action: str = "", *, progress: int | None = None, avatar: str = "🐝"
) -> UINode:
    """What the agent is doing."""
    return said("AgentPresence", locals(), "progress")
