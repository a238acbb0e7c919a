"""Skeleton sections and installations of a user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Section:
    """One stored skeleton section, the kernel's bookkeeping included.

    `data` is the handler's inner dict; None until the first refresh succeeded. Times are Unix
    seconds. `version` counts saves; `alerted` is the version whose alert was dealt with.
    """

    app_id: str
    section: str
    data: dict[str, Any] | None = None
    refreshed_at: float | None = None
    ttl: int = 300
    due_at: float | None = None
    lease_until: float = 0.0
    failures: int = 0
    last_error: str = ""
    version: int = 0
    alerted: int = 0
    previous: dict[str, Any] | None = None
    user: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Installation:
    """Whether a user has an app. Without a record the deployment's default holds."""

    app_id: str
    installed: bool
    version: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class UserState:
    """One query over the skeleton table: every section and every installation record of a user.

    `seen_at` is when a turn was last noted (Unix seconds), to a day; None where nobody asks for it
    or never was.
    """

    sections: tuple[Section, ...] = ()
    installations: tuple[Installation, ...] = ()
    seen_at: float | None = None

    def has(self, app_id: str, default: bool) -> bool:
        """Whether the user has the app: their own decision, else the deployment's default."""
        return next((i.installed for i in self.installations if i.app_id == app_id), default)
