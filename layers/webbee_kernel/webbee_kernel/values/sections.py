"""Skeleton sections, installations and the timer of a user."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from .plain import JSONObject


@dataclass(frozen=True, slots=True)
class Section:
    """One stored skeleton section, the kernel's bookkeeping included.

    `data` is the handler's inner dict; None until the first refresh succeeded. Times are Unix
    seconds. `version` counts changes of the data; `alerted` is the version whose alert was dealt
    with. `previous` is what the data was before its last change, and is filled under a lease only.
    """

    app_id: str
    section: str
    data: JSONObject | None = None
    refreshed_at: float | None = None
    ttl: int = 300
    due_at: float | None = None
    lease_until: float = 0.0
    failures: int = 0
    last_error: str = ""
    version: int = 0
    alerted: int = 0
    previous: JSONObject | None = None

    @property
    def key(self) -> tuple[str, str]:
        """App and section."""
        return self.app_id, self.section


@dataclass(frozen=True, slots=True)
class Installation:
    """Whether a user has an app. Without a record the deployment's default holds."""

    app_id: str
    installed: bool
    version: str = ""
    at: str = ""


class UserState(NamedTuple):
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


class Lease(NamedTuple):
    """A user's timer while somebody holds it, and the user's state as of then.

    `until` is the fencing token: whoever saves names it. `asked` are sections that were asked for
    while somebody else held the timer. `known` is the stored bookkeeping, to notice what others
    change meanwhile.
    """

    until: float
    state: UserState
    asked: frozenset[tuple[str, str]] = frozenset()
    known: str = ""


class Saved(NamedTuple):
    """What a save left: when the timer falls due next; None with no section on it."""

    due_at: float | None


@dataclass(frozen=True, slots=True)
class DueUser:
    """An entry of the due index: whose timer falls due when, and the user as messages need it."""

    user: JSONObject = field(default_factory=dict)
    due_at: float = 0.0


@dataclass(frozen=True, slots=True)
class ShardMark:
    """How far the tick has come in one partition of the due index (Unix seconds): everything due
    before `queued_until` is queued; `swept_at` is when it last looked for what got lost. `lease`
    is the token of whoever is at work on it."""

    queued_until: float = 0.0
    swept_at: float = 0.0
    lease: float = 0.0
