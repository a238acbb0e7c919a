"""Storage adapters, one per table or two, over DynamoDB or in memory; `Stores`, all of them; and
`EventLog`, which writes the events that the page asks for between turns.

Each but that of secrets is one adapter over a `Database`, which is DynamoDB's or one of tables in
dicts; all pass the suite in `tests/contract`. Times are passed in, never read from a clock here.
Every store raises `StorageUnavailable` (webbee_kernel.errors) when the table does not answer after
its own retries; nothing is then half written.

May import: aws, catalogue, config, language, errors, types, sdk. Entrance: `Stores`.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol

from ..clock import Clock, iso, new_id
from ..errors import SettingsError, StorageUnavailable
from ..text import json_text
from ..types import Event, JSONObject, UserKey
from .paging import Collection as Collection

if TYPE_CHECKING:  # a function imports the stores of the tables that it may touch
    from .dynamodb.document_store import DocumentStore
    from .dynamodb.sessions import AcceptedStore, SessionStore
    from .dynamodb.skeletons import SkeletonStore
    from .dynamodb.transcripts import TranscriptStore
    from .dynamodb.user_items import AuditStore, CacheStore, ConnectionStore, EventStore, LimitStore


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
    """All of them. A function gets only those its role may touch; the rest are None-free
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


class UnavailableStore:
    """Every use raises SettingsError naming the variable that would open the store."""

    def __init__(self, variable: str) -> None:
        self._variable = variable

    def __getattr__(self, name: str) -> Any:
        # copy and inspect ask for such names, and expect AttributeError
        if name.startswith("__"):
            raise AttributeError(name)
        raise SettingsError(
            f"This function may not use {name!r} of the store behind {self._variable}: the variable"
            " is not set for it."
        )


REWIND_MS = 30_000
PAUSES_S: Final = (0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 10.0)
"""Seconds between attempts of `deliver`."""


class EventLog:
    """Writes and reads one user's events. Ids sort by time; the page asks for those after its
    last."""

    def __init__(self, store: EventStore, clock: Clock, *, hours: int = 24) -> None:
        self._store = store
        self._clock = clock
        self._seconds = hours * 3600

    def new(self, kind: str, data: JSONObject, event_id: str = "") -> Event:
        """A new event, not yet stored. With a given id it is stored once only."""
        now = self._clock.now()
        return Event(event_id or new_id(), iso(now), kind, data)

    @property
    def expires_at(self) -> int:
        """When a new event expires, Unix seconds."""
        return int(self._clock.now()) + self._seconds

    async def emit(self, user: UserKey, kind: str, data: JSONObject, *, event_id: str = "") -> bool:
        """Store an event; False when one of this id was stored before."""
        return await self.put(user, self.new(kind, data, event_id))

    async def deliver(self, user: UserKey, kind: str, data: JSONObject) -> None:
        """Store an event once, with retries for half a minute; StorageUnavailable after that."""
        event = self.new(kind, data)
        for pause in PAUSES_S:
            with suppress(StorageUnavailable):
                await self.put(user, event)
                return
            await asyncio.sleep(pause)
        await self.put(user, event)

    async def put(self, user: UserKey, event: Event) -> bool:
        """Store an event; False when one of its id exists."""
        return await self._store.append(user, event, expires_at=self.expires_at)

    def mark(self, seconds_ago: float = 0.0) -> str:
        """An id that sorts between the events before that moment and those after it."""
        return f"{max(0, int((self._clock.now() - seconds_ago) * 1000)):012x}"

    def rewind(self, last_id: str) -> str:
        """Half a minute before an id: processes' clocks differ, so an event stored later may sort
        earlier. The reader skips events it has seen."""
        return f"{max(0, int(last_id[:12], 16) - REWIND_MS):012x}"

    async def since(self, user: UserKey, last_id: str = "", limit: int = 100) -> tuple[Event, ...]:
        """Events after `last_id`, oldest first, none that has expired."""
        return await self._store.since(user, last_id, limit=limit, now=self._clock.now())


def panel_refresh(log: EventLog, app_id: str, panels: tuple[str, ...]) -> tuple[Event, ...]:
    """One event naming the panels to fetch again, or none."""
    return (log.new("panel_refresh", {"app_id": app_id, "panels": list(panels)}),) if panels else ()


MAX_SSE_BYTES = 3_000_000
"""Bytes of a text of events: Lambda answers with 6 MB at most, its quotes escaped once more."""


def sse(events: tuple[Event, ...]) -> str:
    """Server-Sent Events text; the browser reconnects after three seconds, or at once where not all
    fit."""
    lines, room = ["retry: 3000\n"], MAX_SSE_BYTES
    for event in events:
        body = json_text({"at": event.at, "kind": event.kind, **event.data})
        if (room := room - len(body.encode())) < 0:
            return "\n".join(["retry: 0\n", *lines[1:]]) + "\n"
        lines.append(f"id: {event.event_id}\nevent: {event.kind}\ndata: {body}\n")
    return "\n".join(lines) + "\n"
