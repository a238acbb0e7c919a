"""The ports of the kernel's storage. Every implementation passes the suite in `tests/contract`.

Times are passed in, never read from a clock here. Every implementation raises `StorageUnavailable`
(webbee_kernel.errors) when the table does not answer after its own retries; nothing is then half
written.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from ..sdk.documents import Document, Page
from ..values import (
    Answering,
    AuditRecord,
    DueUser,
    Event,
    Installation,
    Lease,
    Saved,
    Section,
    SessionKey,
    SessionMemory,
    SessionSummary,
    ShardMark,
    Turn,
    UserKey,
    UserState,
)


class SessionStore(Protocol):
    """A ring of five turns per session: turn n lives in slot n mod 5, so a sixth cannot exist."""

    async def read(self, key: SessionKey, *, now: float = 0.0) -> SessionMemory:
        """One strongly consistent query: turns oldest first, with the questions that wait. Turns
        that expired by `now` are gone, swept or not."""
        ...

    async def append(
        self, key: SessionKey, turn: Turn, *, expires_at: int, now: float = 0.0
    ) -> bool:
        """Write `turn` into slot `turn.seq % 5` if that slot holds an older sequence or one that
        expired by `now`; False if it does not.

        One conditional write; where the turn asks, one transaction with the ways to its session
        (`find_pending`). Turns with `seq % 5 == 1` also carry the sparse index that lists a user's
        sessions.
        """
        ...

    async def replace(
        self,
        key: SessionKey,
        turn: Turn,
        *,
        version: str,
        answered: Sequence[str],
        expires_at: int,
    ) -> bool:
        """Rewrite a turn whose questions `answered` have been answered, if it is still what was
        read (`version`); False if it is not. One conditional write, one transaction where the turn
        asks; those questions' leases end with it.
        """
        ...

    async def take_pending(
        self, key: SessionKey, seq: int, confirmation_id: str, *, now: float, lease: Answering
    ) -> bool:
        """Take the lease of a question of turn `seq`; True for one caller until its end, also where
        callers race. The question stays until `replace` leaves it out: nothing is lost with whoever
        holds the lease.
        """
        ...

    async def find_pending(self, user: UserKey, confirmation_id: str) -> str | None:
        """The session in which this confirmation was asked, until ten minutes after it expires;
        None when there is none."""
        ...

    async def delete(self, key: SessionKey) -> None:
        """Forget the session. Repeatable."""
        ...

    async def list(
        self, user: UserKey, *, limit: int = 50, cursor: str | None = None, since: str = ""
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        """The user's sessions touched at `since` or later, most recently touched first, and the
        cursor of the next page."""
        ...


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


class CacheStore(Protocol):
    """Bytes with an expiry, per user, app, model name and key."""

    async def get(
        self, user: UserKey, app_id: str, model: str, key: str, *, now: float
    ) -> bytes | None:
        """The value unless it expired: an entry is gone at `expires_at`, swept or not."""
        ...

    async def set(
        self, user: UserKey, app_id: str, model: str, key: str, value: bytes, *, expires_at: float
    ) -> None:
        """Write, replacing."""
        ...

    async def delete(self, user: UserKey, app_id: str, models: tuple[str, ...], key: str) -> None:
        """Remove the key under each of these model names. Repeatable."""
        ...

    async def purge(self, user: UserKey, app_id: str) -> int:
        """Remove everything of the app for this user; how many entries there were."""
        ...


class DocumentStore(Protocol):
    """Documents per user, app and collection. `data` is a JSON object; numbers come back exactly as
    they went in."""

    async def create(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        data: dict[str, Any],
        *,
        now: str,
        doc_id: str = "",
    ) -> Document:
        """A new document under a fresh time-ordered id, or under `doc_id` if nothing is there
        (StoreConflict otherwise)."""
        ...

    async def get(
        self, user: UserKey, app_id: str, collection: str, doc_id: str
    ) -> Document | None:
        """One document, strongly consistent and whole."""
        ...

    async def update(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        doc_id: str,
        data: dict[str, Any],
        *,
        now: str,
        if_match: str = "",
        replace: bool = False,
    ) -> Document:
        """Merge `data` shallowly (or replace); a missing document is created. A wrong `if_match`
        raises `StoreConflict`."""
        ...

    async def delete(self, user: UserKey, app_id: str, collection: str, doc_id: str) -> bool:
        """Remove it with all its parts; whether it was there."""
        ...

    async def query(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        *,
        where: Mapping[str, Any] | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Document]:
        """Top-level equality, one order field (`-field` descends), else insertion order; pages by
        cursor."""
        ...

    async def count(
        self, user: UserKey, app_id: str, collection: str, *, where: Mapping[str, Any] | None = None
    ) -> int:
        """How many match."""
        ...

    def list_users(
        self, tenant_id: str, app_id: str, collection: str, *, page_size: int = 500
    ) -> AsyncIterator[str]:
        """Users of the tenant that hold at least one document in the collection."""
        ...


class AuditStore(Protocol):
    """Append only: what was done, and the guard against doing it twice."""

    async def begin(
        self, user: UserKey, effect: str, record: AuditRecord, *, expires_at: int
    ) -> AuditRecord | None:
        """Claim an effect before it happens.

        Writes the intent under the deterministic key `effect` on condition that it does not exist
        and returns None. When it exists: returns the completed record of the first delivery, or,
        while that one has not finished (or died half-way), its intent, whose `status` is "started".
        """
        ...

    async def append(
        self,
        user: UserKey,
        record: AuditRecord,
        *,
        expires_at: int,
        events: tuple[Event, ...] = (),
        events_expire_at: int = 0,
    ) -> None:
        """Write the record of a finished call, and the events it caused, in one call to the
        database."""
        ...

    async def list(
        self, user: UserKey, *, limit: int = 100, now: float = 0.0
    ) -> tuple[AuditRecord, ...]:
        """The newest records first, without those that expired by `now`."""
        ...


class EventStore(Protocol):
    """What the page is told, in order of id."""

    async def append(self, user: UserKey, event: Event, *, expires_at: int) -> bool:
        """Write unless an event of this id exists; whether it was new."""
        ...

    async def since(
        self, user: UserKey, last_id: str, *, limit: int = 100, now: float = 0.0
    ) -> tuple[Event, ...]:
        """Events with a greater id, oldest first, without those that expired by `now`."""
        ...


class SecretStore(Protocol):
    """Encrypted values by path parts; never cached on disk, never logged."""

    async def get(self, path: str) -> str | None:
        """The value at `tenant/user/app/name`, or None."""
        ...

    async def set(self, path: str, value: str) -> None:
        """Write, replacing."""
        ...

    async def delete(self, path: str) -> bool:
        """Remove; whether it was there."""
        ...


@dataclass(frozen=True, slots=True)
class Stores:
    """All ports together. A function gets only those its role may touch; the rest are None-free
    stand-ins that refuse."""

    sessions: SessionStore
    skeleton: SkeletonStore
    cache: CacheStore
    documents: DocumentStore
    audit: AuditStore
    events: EventStore
    secrets: SecretStore
