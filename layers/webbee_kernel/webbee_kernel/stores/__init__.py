"""Where state lives: one protocol per table, one implementation on DynamoDB, one in memory.

May import: aws, values, errors, base, sdk.
Entrance: `protocols.Stores`.
"""

from .declared import Collection
from .protocols import (
    AuditStore,
    CacheStore,
    DocumentStore,
    EventStore,
    SecretStore,
    SessionStore,
    Stores,
)
from .skeleton_protocol import SkeletonStore

__all__ = [
    "AuditStore",
    "CacheStore",
    "Collection",
    "DocumentStore",
    "EventStore",
    "SecretStore",
    "SessionStore",
    "SkeletonStore",
    "Stores",
]
