"""Every store in memory: the semantics of the DynamoDB adapters without I/O, for tests and trials.

Values pass through JSON on the way in and out, so that no caller holds a reference into a store.
One lock makes each operation atomic under threads. Nothing expires by itself, as in DynamoDB the
moment after: reads decide.
"""

from __future__ import annotations

import threading

from ..protocols import Stores
from .audit import MemoryAuditStore, MemoryEventStore
from .cache import MemoryCacheStore
from .connections import MemoryConnectionStore
from .documents import MemoryDocumentStore
from .limits import MemoryLimitStore
from .secrets import MemorySecretStore
from .sessions import MemorySessionStore
from .skeleton import MemorySkeletonStore
from .transcripts import MemoryTranscriptStore

__all__ = ["memory_stores"]


def memory_stores(*, shards: int = 8) -> Stores:
    """A fresh, empty set. `shards` are the partitions of the due index."""
    lock = threading.RLock()
    events = MemoryEventStore(lock)
    return Stores(
        sessions=MemorySessionStore(lock),
        skeleton=MemorySkeletonStore(lock, shards=shards),
        cache=MemoryCacheStore(lock),
        documents=MemoryDocumentStore(lock),
        audit=MemoryAuditStore(lock, events),
        events=events,
        secrets=MemorySecretStore(lock),
        transcripts=MemoryTranscriptStore(lock),
        limits=MemoryLimitStore(lock),
        connections=MemoryConnectionStore(lock),
        deployed=MemoryCacheStore(lock),
    )
