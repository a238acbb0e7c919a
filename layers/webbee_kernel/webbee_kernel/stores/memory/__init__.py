"""Every store in memory: the adapters of DynamoDB over tables in dicts, for tests and trials."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ...values import Event, UserKey
from ..dynamodb import Tables, stores_over
from ..dynamodb.events import DynamoEventStore
from ..keys import user_of
from ..protocols import Stores
from ..records import event_from
from .secrets import MemorySecretStore
from .tables import MemoryDatabase

__all__ = ["MemoryEventStore", "memory_stores"]


class MemoryEventStore(DynamoEventStore):
    """Events, with what their table's stream does in a deployment."""

    def __init__(self, database: MemoryDatabase, table: str) -> None:
        super().__init__(database, table)
        self._followers = database.followers

    def follow(self, told: Callable[[UserKey, Event], object]) -> None:
        """Tell of each new event from now on; `told` returns at once."""
        self._followers.append(
            lambda item: told(user_of(item["pk"]["S"]), event_from(item["body"]["S"]))
        )


def memory_stores(*, shards: int = 8) -> Stores:
    """A fresh, empty set. `shards` are the partitions of the due index."""
    tables = Tables(**{name: name for name in Tables.__slots__})
    database = MemoryDatabase(followed=tables.events)
    stores = stores_over(database, tables, MemorySecretStore(), shards)
    return replace(stores, events=MemoryEventStore(database, tables.events))
