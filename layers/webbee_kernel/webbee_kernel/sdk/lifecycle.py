"""Lifecycle hooks of an extension, and its health check."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .definitions import Handler

F = TypeVar("F", bound=Callable[..., Any])


class Lifecycle:
    """What an app does when it comes, changes and goes."""

    def __init__(self) -> None:
        self.lifecycle: dict[str, Handler] = {}
        self.upgrades: dict[str, Handler] = {}
        self.health: Handler | None = None

    def on_install(self, func: F) -> F:
        """Called once when a user installs the app. Hooks are `async (ctx)`, in system context."""
        return self._hook("on_install", func)

    def on_uninstall(self, func: F) -> F:
        """Called before a user's data of this app is purged."""
        return self._hook("on_uninstall", func)

    def on_enable(self, func: F) -> F:
        """Called when the app becomes active for a user."""
        return self._hook("on_enable", func)

    def on_disable(self, func: F) -> F:
        """Called when the app stops being active for a user."""
        return self._hook("on_disable", func)

    def on_upgrade(self, version: str) -> Callable[[F], F]:
        """Called when the app moves to `version` for a user."""
        return self._recorded(lambda func: self.upgrades.update({version: func}))

    def health_check(self, func: F) -> F:
        """Register the app's own probe: `async (ctx)` returns `{"status": "ok" or "degraded"}`."""
        self.health = func
        return func

    def _hook(self, name: str, func: F) -> F:
        self.lifecycle[name] = func
        return func

    @staticmethod
    def _recorded(record: Callable[[Any], object]) -> Callable[[F], F]:
        """A decorator that records a handler and leaves it as it is."""

        def register(func: F) -> F:
            record(func)
            return func

        return register
