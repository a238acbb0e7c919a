"""Every store in memory: the DynamoDB adapters over tables in dicts, for tests and trials.

Nothing expires by itself: reads filter, as they must on DynamoDB. One lock makes each request
atomic. Conditions support what the adapters use: comparisons, `BETWEEN`, `begins_with`, `contains`,
`attribute_exists` and `attribute_not_exists`, `AND` before `OR`, parentheses.
"""

from __future__ import annotations

import operator
import re
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from itertools import repeat
from typing import Any, Final

from ..types import Event, UserKey
from . import Stores
from .codec import event_from
from .dynamodb import Tables, stores_over
from .dynamodb.client import ConditionFailed, Database
from .dynamodb.item_requests import Add, Default, Item, Query, Write
from .dynamodb.user_items import EventStore
from .item_keys import user_of

_TEST: Final = re.compile(
    r"(\w+)\(#(\w+)(?:, :(\w+))?\)|#(\w+) (BETWEEN|[<>]=?|=) :(\w+)(?: AND :(\w+))?"
)
_GROUP: Final = re.compile(r"\(([^()]*)\)")
_OPERATORS: Final[dict[str, Callable[..., bool]]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "BETWEEN": lambda value, low, high: low <= value <= high,
    "begins_with": str.startswith,
    "contains": operator.contains,
    "attribute_exists": lambda value: True,
}


def holds(condition: str, item: Item, values: Mapping[str, Any]) -> bool:
    """Whether the item meets a condition; without one each does."""

    def is_met(test: re.Match[str]) -> str:
        function, of, argument, name, sign, first, last = test.groups()
        value = item.get(of or name)
        if function == "attribute_not_exists":
            return str(value is None)
        # as in DynamoDB, what is not there compares with nothing
        given = map(values.__getitem__, filter(None, (argument, first, last)))
        return str(value is not None and _OPERATORS[function or sign](value, *given))

    text = _TEST.sub(is_met, condition)
    while "(" in text:
        text = _GROUP.sub(lambda group: str(_is_true(group[1])), text)
    return not condition or _is_true(text)


def _is_true(text: str) -> bool:
    """Of `True`, `False`, `AND` and `OR`, without parentheses."""
    return not all(map(operator.contains, text.split(" OR "), repeat("False")))


def apply_update(write: Write, current: Item) -> Item:
    """The item after an update."""
    result = dict(current or write.item)
    for name, change in write.changes.items():
        match change:
            case None:
                result.pop(name, None)
            case Default(value):
                result.setdefault(name, value)
            case Add(set() as more):
                result[name] = result.get(name, set()) | more
            case Add(more):
                result[name] = result.get(name, 0) + more
            case _:
                result[name] = change
    return result


_KEY: Final = ("pk", "sk")
_INDEXES: Final = {
    "by_created": ("pk", "created"),
    **{f"by_{n}": ("pk", f"i{n}") for n in range(1, 5)},
    "by_touched": ("pk", "touched_at"),
    "due": ("due_shard", "due_at"),
    "users": ("users_key", "user_id"),
}


class MemoryDatabase(Database):
    """Tables, created on first use. `listeners` are called with each new item of `stream_table`,
    like a DynamoDB stream, and must return at once."""

    def __init__(self, stream_table: str) -> None:
        super().__init__()
        self._stream_table = stream_table
        self.listeners: list[Callable[[Item], object]] = []
        self._lock = threading.RLock()
        self._tables: dict[str, dict[str, dict[str, Item]]] = defaultdict(lambda: defaultdict(dict))

    async def get(self, table: str, key: Item) -> Item | None:
        with self._lock:
            return dict(self._tables[table][key["pk"]].get(key["sk"], {})) or None

    async def write(self, *writes: Write) -> Item:
        with self._lock:
            # every condition before the first write: a transaction leaves nothing half done
            before_all = list(map(self._check_condition, writes))
            after_all = list(map(self._apply, writes, before_all))
        # outside the lock: listeners must not block other requests
        for write, before, after in zip(writes, before_all, after_all, strict=True):
            if write.table == self._stream_table and after and not before:
                for listener in self.listeners:
                    listener(after)
        return dict({"ALL_OLD": before_all[0], "ALL_NEW": after_all[0]}.get(writes[0].returns, {}))

    async def batch(self, writes: Iterable[Write]) -> None:
        for write in writes:
            await self.write(write)

    async def pages(self, query: Query) -> AsyncIterator[list[Item]]:
        with self._lock:
            found = self._sorted_items(query)
        size = query.limit or len(found) or 1
        for at in range(0, len(found), size):
            # cut before it is filtered, as in DynamoDB: pages may come short, or empty
            page = found[at : at + size]
            yield [dict(item) for item in page if holds(query.also, item, query.values)]

    async def count(self, query: Query) -> int:
        return len(await self.items(query))

    def _check_condition(self, write: Write) -> Item:
        """The current item, empty for none; ConditionFailed where the condition does not hold."""
        current = self._tables[write.table][write.item["pk"]].get(write.item["sk"], {})
        if not holds(write.when, current, write.values):
            raise ConditionFailed(dict(current))
        return current

    def _apply(self, write: Write, current: Item) -> Item:
        partition, sk = self._tables[write.table][write.item["pk"]], write.item["sk"]
        if write.kind == "Delete":
            partition.pop(sk, None)
            return {}
        partition[sk] = apply_update(write, current) if write.kind == "Update" else dict(write.item)
        return partition[sk]

    def _sorted_items(self, query: Query) -> list[Item]:
        """The items of the key condition after the query's start, in order."""
        index = _INDEXES.get(query.index, _KEY)
        found = {_position(item, index): item for item in self._items_of(query, *index)}
        places = sorted(found, reverse=query.backwards)
        if query.after:
            last = _position(query.after, index)
            places = [p for p in places if (p < last if query.backwards else p > last)]
        return [found[place] for place in places]

    def _items_of(self, query: Query, partitioned_by: str, sorted_by: str) -> Iterator[Item]:
        table = self._tables[query.table]
        is_own = partitioned_by == "pk"
        for partition in [table[query.values["pk"]]] if is_own else table.values():
            for item in partition.values():
                if sorted_by in item and holds(query.condition, item, query.values):
                    yield item


def _position(item: Item, index: tuple[str, str]) -> tuple[Any, str, str]:
    return item[index[1]], item["pk"], item["sk"]


class MemorySecretStore:
    """`SecretStore` in memory."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    async def get(self, path: str) -> str | None:
        return self._values.get(path)

    async def set(self, path: str, value: str) -> None:
        self._values[path] = value

    async def delete(self, path: str) -> bool:
        return self._values.pop(path, None) is not None

    async def below(self, path: str) -> tuple[str, ...]:
        return tuple(sorted(name for name in list(self._values) if name.startswith(f"{path}/")))


class MemoryEventStore(EventStore):
    """Events, with a stand-in for their table's stream."""

    def __init__(self, database: MemoryDatabase, table: str) -> None:
        super().__init__(database, table)
        self._listeners = database.listeners

    def listen(self, callback: Callable[[UserKey, Event], object]) -> None:
        """Call `callback` with each new event; it must return at once."""
        self._listeners.append(lambda item: callback(user_of(item["pk"]), event_from(item["body"])))


def memory_stores(*, shards: int = 8) -> Stores:
    """A fresh, empty set. `shards` are the partitions of the due index."""
    tables = Tables(**{name: name for name in Tables._fields})
    database = MemoryDatabase(stream_table=tables.events)
    stores = stores_over(database, tables, MemorySecretStore(), shards)
    return stores._replace(events=MemoryEventStore(database, tables.events))
