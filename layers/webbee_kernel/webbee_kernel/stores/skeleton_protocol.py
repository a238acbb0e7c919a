"""The port of the skeleton: sections, timers, installations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from ..types import UserKey
from .types import DueUser, Installation, Lease, Saved, Section, ShardMark, UserState


class SkeletonStore(Protocol):
    """One item per user, app and section for its data; one timer a user for all else about them;
    installation records beside."""

    async def read(self, user: UserKey) -> UserState:
        """One query: all sections and installation records, and when the user was last noted."""
        ...

    async def get(self, user: UserKey, app_id: str, section: str) -> Section | None:
        """One section, strongly consistent."""
        ...

    async def register(
        self, user: UserKey, sections: Iterable[Section], *, who: Mapping[str, Any]
    ) -> bool:
        """Put those that are not there yet on the user's timer; whether there was any. `who` is the
        user as refresh messages name it."""
        ...

    async def lease(
        self, user: UserKey, *, now: float, until: float, due_by: float | None = None
    ) -> Lease | None:
        """Take the user's timer if nobody holds it at `now` and, where `due_by` is given, something
        is due by then; None otherwise, and for a user without a timer.

        `until` is the fencing token of `write` and `save`.
        """
        ...

    async def ask(self, user: UserKey, sections: Iterable[tuple[str, str]], *, now: float) -> bool:
        """Note that these are to be refreshed once whoever holds the timer is through; False when
        nobody holds it."""
        ...

    async def write(self, user: UserKey, sections: Iterable[Section], *, lease: Lease) -> bool:
        """Write the data of sections that changed, what it replaced first where `previous` is
        given. False when the lease was lost: `save` will write nothing then."""
        ...

    async def save(
        self,
        user: UserKey,
        sections: Iterable[Section],
        *,
        lease: Lease,
        now: float,
        seen_at: float | None = None,
        who: Mapping[str, Any] | None = None,
    ) -> Saved | None:
        """Write the bookkeeping of all sections and the timer's due time, and give the lease back;
        None, and nothing written, when it was lost.

        What was asked for meanwhile is due at `now`. Sections uninstalled meanwhile stay away.
        `who`, where given, replaces the user as refresh messages name it.
        """
        ...

    async def due(
        self,
        shard: int,
        before: float,
        *,
        since: float = 0.0,
        limit: int = 500,
        cursor: str | None = None,
    ) -> tuple[tuple[tuple[UserKey, DueUser], ...], str | None]:
        """Whose timer falls due in one shard from `since` on and before a time, earliest first:
        reads what is due, not what exists."""
        ...

    async def begin_shard(self, shard: int, *, now: float, until: float) -> ShardMark | None:
        """Take a shard to look through, and how far it was looked through before; None while
        somebody else does."""
        ...

    async def move_shard(self, shard: int, mark: ShardMark, *, done: bool = False) -> bool:
        """Note how far it has come; with `done` give it back. False when it was lost meanwhile."""
        ...

    async def queued_until(self, user: UserKey) -> float:
        """How far the tick has come in the user's shard, perhaps a moment late."""
        ...

    async def put_installation(
        self, user: UserKey, installation: Installation
    ) -> Installation | None:
        """Record that a user has, or no longer has, an app; what was recorded before, None for a
        user who never decided.

        Of several writers at once exactly one sees each change: the others find its record. One
        that says the same (installed, version) already stays as it is.
        """
        ...

    async def mark_seen(self, user: UserKey, at: float) -> None:
        """Note that the user was here. Repeatable."""
        ...

    async def purge(self, user: UserKey, app_id: str) -> int:
        """Delete the app's sections of this user and take them off the timer; how many there were.
        Repeatable."""
        ...

    async def know(self, tenant_id: str) -> None:
        """Note that there is such a tenant, for good. Repeatable."""
        ...

    async def tenants(self, app_id: str = "") -> tuple[str, ...]:
        """The tenants of which a user has the app by a record of theirs, perhaps a moment late;
        without an app all that are known. Reads no users."""
        ...
