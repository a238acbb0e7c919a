"""Storage adapters, one per table or two, over DynamoDB or in memory, and `Stores`: all of them.

Each but that of secrets is one adapter over a `Database`, which is DynamoDB's or one of tables in
dicts; all pass the suite in `tests/contract`. Times are passed in, never read from a clock here.
Every store raises `StorageUnavailable` (webbee_kernel.errors) when the table does not answer after
its own retries; nothing is then half written.

May import: aws, catalogue, config, language, errors, types, sdk. Entrance: `Stores`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..errors import SettingsError
from .paging import Collection

if TYPE_CHECKING:  # a function imports the stores of the tables that it may touch
    from .dynamodb.document_store import DocumentStore
    from .dynamodb.sessions import AcceptedStore, SessionStore
    from .dynamodb.skeletons import SkeletonStore
    from .dynamodb.transcripts import TranscriptStore
    from .dynamodb.user_items import AuditStore, CacheStore, ConnectionStore, EventStore, LimitStore

__all__ = ["Collection", "SecretStore", "Stores", "UnavailableStore"]


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
