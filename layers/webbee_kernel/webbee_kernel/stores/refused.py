"""The stand-in for a store that a function's role may not touch."""

from __future__ import annotations

from typing import Any

from ..errors import SettingsError


class Refused:
    """Every use raises SettingsError naming the variable that would open the store."""

    def __init__(self, variable: str) -> None:
        self._variable = variable

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise SettingsError(
            f"This function may not use {name!r} of the store behind {self._variable}: the variable"
            " is not set for it."
        )
