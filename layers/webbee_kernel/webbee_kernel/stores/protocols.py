"""The ports of the kernel's storage. Every implementation passes the suite in `tests/contract`.

Times are passed in, never read from a clock here. Every implementation raises `StorageUnavailable`
(webbee_kernel.errors) when the table does not answer after its own retries; nothing is then half
written.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from ..errors import SettingsError
from ..sdk.records import Document, Page
from ..types import AuditRecord, Event, JSONObject, SessionKey, UserKey
from .paging import Collection
from .skeleton_protocol import SkeletonStore
from .types import Accepted, Answering, Counted, SessionMemory, SessionSummary, Turn


class LimitStore(Protocol):
    """Requests a minute and tokens a day, of users and tenants. A day is one item, which expires;
    days and minutes are UTC's, counted since 1970."""

    async def take(
        self,
        user: UserKey,
        *,
        minute: int,
        requests: int,
        tokens: int,
        spent: int = 0,
        mark: str = "",
    ) -> Counted:
        """Count one request of this minute, and tokens `spent` before it on the minute's day,
        unless the minute has `requests` already or its day, with those, `tokens` (0: no limit):
        then nothing is counted and what stands there is returned. A `mark` is left with the count
        and forgotten with it, a minute later at the earliest.

        One conditional write, however many race: of a limit of ten, ten get through.
        """
        ...

    async def give_back(self, user: UserKey, *, minute: int) -> None:
        """A request that was counted in this minute asked for nothing new. One write."""
        ...

    async def mark(self, user: UserKey, mark: str, *, minute: int) -> None:
        """Leave another mark in this minute. One write."""
        ...

    async def spend(self, whose: UserKey | str, *, day: int, tokens: int) -> int:
        """Add tokens to the day of a user, or of a tenant by its id; what it has now. One write."""
        ...

    async def together(self, tenant_id: str, *, day: int) -> int:
        """What a tenant's day has. One read."""
        ...


class ConnectionStore(Protocol):
    """What chat_turn knows of open WebSockets. Everything here expires within hours; a lost item
    costs a reconnection, never data."""

    async def issue(self, ticket: str, user: JSONObject, *, expires_at: int) -> None:
        """Keep who may open a connection with `ticket`. Only its hash is stored."""
        ...

    async def take(self, ticket: str, *, now: float) -> JSONObject | None:
        """Whose ticket it is, once: None for one that was taken, expired by `now` or never was."""
        ...

    async def open(self, connection_id: str, user: JSONObject, *, expires_at: int) -> None:
        """A connection is open, with the identity that it was opened with."""
        ...

    async def find(self, connection_id: str, *, now: float) -> JSONObject | None:
        """Who is behind a connection; None where it is not open."""
        ...

    async def of_user(self, user: UserKey, *, now: float) -> tuple[str, ...]:
        """The user's open connections, in one strongly consistent query."""
        ...

    async def close(self, user: UserKey, connection_id: str) -> None:
        """Forget a connection. Repeatable."""
        ...

    async def forget(self, user: UserKey) -> None:
        """Forget every connection and ticket of the user. Repeatable."""
        ...

    async def stop(self, user: UserKey, request_id: str, *, expires_at: int) -> None:
        """Ask the turn of this request to stop, wherever it runs. Repeatable."""
        ...

    async def stopped(self, user: UserKey, request_id: str, *, now: float) -> bool:
        """Whether the turn of this request was asked to stop."""
        ...


Place = tuple[str, int]
"""Where a turn stands in a conversation: its time and number."""


class TranscriptStore(Protocol):
    """Turns of a session in order of time, and the list of a user's sessions."""

    async def append(self, key: SessionKey, turns: Sequence[Turn], *, seconds: int) -> None:
        """Keep turns, oldest first, as their user may read them, each for so long from its time
        on; the same turn (`at` and `seq`) is told once. One write."""
        ...

    async def read(
        self, key: SessionKey, *, limit: int = 50, before: Place | None = None, now: float
    ) -> tuple[JSONObject, ...]:
        """The newest `limit` turns that had not expired by `now`, or the newest of those before
        that place, oldest first."""
        ...

    async def touch(self, user: UserKey, touched: SessionSummary, *, expires_at: int) -> None:
        """List the session as touched then, with so many turns; the title stands only where it has
        none yet. One write."""
        ...

    async def list(
        self,
        user: UserKey,
        *,
        limit: int = 50,
        cursor: str | None = None,
        title: str = "",
        now: float,
    ) -> tuple[tuple[SessionSummary, ...], str | None]:
        """The user's sessions, most recently touched first, and the cursor of the next page. With
        `title`, those whose title holds it, whatever the case."""
        ...

    async def rename(self, key: SessionKey, title: str) -> SessionSummary | None:
        """Give the session this title; None where there is no such session."""
        ...

    async def delete(self, key: SessionKey) -> None:
        """Forget the session. Repeatable; of a long one, what it did not get to is left for the
        next try."""
        ...


class SessionStore(Protocol):
    """A ring of five turns per session: turn n lives in slot n mod 5, so a sixth cannot exist."""

    async def read(self, key: SessionKey, *, now: float) -> SessionMemory:
        """One strongly consistent query: turns oldest first, with the questions that wait. Turns
        that expired by `now` are gone, swept or not."""
        ...

    async def append(self, key: SessionKey, turn: Turn, *, expires_at: int, now: float) -> bool:
        """Write `turn` into slot `turn.seq % 5` if that slot holds an older sequence or one that
        expired by `now`; False if it does not.

        One conditional write; where the turn asks, one transaction with the ways to its session
        (`find_pending`).
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

    async def keep_pending(
        self, key: SessionKey, seq: int, confirmation_id: str, *, was: float, until: float
    ) -> bool:
        """Renew a lease that ends at `was`; False where it is no longer ours, or was given back."""
        ...

    async def find_pending(self, user: UserKey, confirmation_id: str, *, now: float) -> str | None:
        """The session in which this confirmation was asked, until ten minutes after it expires;
        None when there is none."""
        ...

    async def delete(self, key: SessionKey) -> None:
        """Forget the session. Repeatable."""
        ...


class AcceptedStore(Protocol):
    """Destinations that a person has accepted for a function, for good."""

    async def list(self, user: UserKey, *, function: str = "") -> tuple[Accepted, ...]:
        """All of them, or those of `app.function`."""
        ...

    async def put(self, user: UserKey, accepted: Iterable[Accepted]) -> None:
        """Remember these. Repeatable."""
        ...

    async def delete(self, user: UserKey, keys: Iterable[str]) -> None:
        """Forget these. Repeatable."""
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
    """Documents of collections. `data` is a JSON object; numbers come back exactly as they went
    in."""

    async def create(
        self, collection: Collection, data: JSONObject, *, now: str, doc_id: str = ""
    ) -> Document:
        """A new document under a fresh time-ordered id, or under `doc_id` if nothing is there
        (StoreConflict otherwise)."""
        ...

    async def get(self, collection: Collection, doc_id: str) -> Document | None:
        """One document, strongly consistent and whole."""
        ...

    async def update(
        self,
        collection: Collection,
        doc_id: str,
        data: JSONObject,
        *,
        now: str,
        if_match: str = "",
        replace: bool = False,
    ) -> Document:
        """Merge `data` shallowly (or replace); a missing document is created. A wrong `if_match`
        raises `StoreConflict`."""
        ...

    async def delete(self, collection: Collection, doc_id: str) -> bool:
        """Remove it with all its parts; whether it was there."""
        ...

    async def query(
        self,
        collection: Collection,
        *,
        where: Mapping[str, Any] | None = None,
        order_by: str | None = None,
        limit: int = 100,
        cursor: str | None = None,
    ) -> Page[Document]:
        """Top-level equality, one order field (`-field` descends), else insertion order; pages by
        cursor."""
        ...

    async def count(self, collection: Collection, *, where: Mapping[str, Any] | None = None) -> int:
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
        self, user: UserKey, effect: str, record: AuditRecord, *, expires_at: int, now: float
    ) -> AuditRecord | None:
        """Claim an effect before it happens.

        Writes the intent under the deterministic key `effect` on condition that none stands there
        that lives at `now`, and returns None. Where one does: returns the completed record of the
        first delivery, or, while that one has not finished (or died half-way), its intent, whose
        `status` is "started".
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
        self, user: UserKey, *, limit: int = 100, before: str = "", now: float
    ) -> tuple[AuditRecord, ...]:
        """The newest records first, or those older than the record `before`, without those that
        expired by `now`."""
        ...


class EventStore(Protocol):
    """What the page is told, in order of id."""

    async def append(self, user: UserKey, event: Event, *, expires_at: int) -> bool:
        """Write unless an event of this id exists; whether it was new."""
        ...

    async def since(
        self, user: UserKey, last_id: str, *, limit: int = 100, now: float
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

    async def below(self, path: str) -> tuple[str, ...]:
        """The paths of all values under `tenant/user`, in order; no value is read."""
        ...


class Stores(NamedTuple):
    """All ports together. A function gets only those its role may touch; the rest are None-free
    stand-ins that refuse."""

    sessions: SessionStore
    skeleton: SkeletonStore
    cache: CacheStore
    documents: DocumentStore
    audit: AuditStore
    events: EventStore
    secrets: SecretStore
    transcripts: TranscriptStore
    limits: LimitStore
    connections: ConnectionStore
    accepted: AcceptedStore
    """In the sessions table."""
    deployed: CacheStore
    """In the sessions table: what is deployed, which is no user's."""


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
