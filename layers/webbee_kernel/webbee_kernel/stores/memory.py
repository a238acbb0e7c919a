"""Every store in memory: the adapters of DynamoDB over tables in dicts, for tests and trials.

What the adapters ask of a database is answered without I/O, and nothing expires by itself, as in
DynamoDB the moment after: reads decide. One lock makes each request atomic under threads.

Of the grammar of DynamoDB's conditions the adapters write comparisons, `BETWEEN`, `begins_with`,
`contains`, `attribute_exists` and `attribute_not_exists`, `AND` before `OR`, parentheses.
"""

from __future__ import annotations

import operator
import re
import threading
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from ..types import Event, UserKey
from .codec import event_from
from .dynamodb import Tables, stores_over
from .dynamodb.client import ConditionFailed, Database
from .dynamodb.item_requests import Add, Default, Item, Query, Write
from .dynamodb.user_items import EventStore
from .item_keys import user_of
from .protocols import Stores

_Holds = Callable[[Item, Mapping[str, Any]], bool]
"""Whether an item is so; values (`:now`) are what a request says they are."""
_Test = Callable[[Any, Any], bool]

_TOKEN: Final = re.compile(r"[#:]?\w+|<=|>=|[=<>(),]")
_COMPARED: Final[dict[str, _Test]] = {
    "=": operator.eq,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TESTS: Final[dict[str, _Test]] = {"begins_with": str.startswith, "contains": operator.contains}


def holds(condition: str, item: Item, values: Mapping[str, Any]) -> bool:
    """Whether the item meets a condition; without one each does."""
    return not condition or _condition(condition)(item, values)


def changed(write: Write, held: Item) -> Item:
    """The item after an update."""
    made = dict(held or write.item)
    for name, change in write.changes.items():
        match change:
            case None:
                made.pop(name, None)
            case Default(value):
                made.setdefault(name, value)
            case Add(set() as more):
                made[name] = made.get(name, set()) | more
            case Add(more):
                made[name] = made.get(name, 0) + more
            case _:
                made[name] = change
    return made


@lru_cache
def _condition(text: str) -> _Holds:
    return _either(_TOKEN.findall(text))


def _either(tokens: list[str]) -> _Holds:
    """What the first tokens say; they are taken away."""
    return _joined(tokens, "OR", any, lambda rest: _joined(rest, "AND", all, _one))


def _joined(
    tokens: list[str],
    word: str,
    together: Callable[[Any], bool],
    part: Callable[[list[str]], _Holds],
) -> _Holds:
    parts = [part(tokens)]
    while tokens and tokens[0] == word:
        del tokens[0]
        parts.append(part(tokens))
    if len(parts) == 1:
        return parts[0]
    return lambda item, said: together(holds(item, said) for holds in parts)


def _one(tokens: list[str]) -> _Holds:
    word = tokens.pop(0)
    if word == "(":
        inner = _either(tokens)
        del tokens[0]
        return inner
    if tokens[0] == "(":
        end = tokens.index(")")
        name, *more = tokens[1:end:2]
        del tokens[: end + 1]
        return _compared(_TESTS[word], name, more[0]) if more else _there(word, name)
    sign = tokens.pop(0)
    if sign != "BETWEEN":
        return _compared(_COMPARED[sign], word, tokens.pop(0))
    low, _, high = tokens[:3]
    del tokens[:3]
    above, below = _compared(operator.ge, word, low), _compared(operator.le, word, high)
    return lambda item, said: above(item, said) and below(item, said)


def _there(word: str, name: str) -> _Holds:
    wanted = word == "attribute_exists"
    return lambda item, said: (_value(name, item, said) is not None) is wanted


def _compared(test: _Test, left: str, right: str) -> _Holds:
    def holds(item: Item, said: Mapping[str, Any]) -> bool:
        one, other = _value(left, item, said), _value(right, item, said)
        # as in DynamoDB, what is not there compares with nothing
        return one is not None and other is not None and test(one, other)

    return holds


def _value(word: str, item: Item, said: Mapping[str, Any]) -> Any:
    return said[word[1:]] if word.startswith(":") else item.get(word[1:])


_KEY: Final = ("pk", "sk")
_PARTITION: Final = "#pk = :pk"
_INDEXES: Final = {
    "by_created": ("pk", "created"),
    **{f"by_{n}": ("pk", f"i{n}") for n in range(1, 5)},
    "by_touched": ("pk", "touched_at"),
    "due": ("due_shard", "due_at"),
    "users": ("users_key", "user_id"),
}


class MemoryDatabase(Database):
    """Every table, each made when it is first named. `followers` are told of each new item of
    `followed`, as a table's stream tells: they return at once."""

    def __init__(self, followed: str) -> None:
        super().__init__()
        self._followed = followed
        self.followers: list[Callable[[Item], object]] = []
        self._lock = threading.RLock()
        self._tables: dict[str, dict[str, dict[str, Item]]] = defaultdict(lambda: defaultdict(dict))

    async def get(self, table: str, key: Item, *, eventually: bool = False) -> Item | None:
        with self._lock:
            return dict(self._tables[table][key["pk"]].get(key["sk"], {})) or None

    async def write(self, *writes: Write) -> Item:
        with self._lock:
            # every condition before the first write: a transaction leaves nothing half done
            held = [self._met(write) for write in writes]
            made = [self._made(*pair) for pair in zip(writes, held, strict=True)]
        # behind the lock: what followers do must not hold up other requests
        for write, before, after in zip(writes, held, made, strict=True):
            if write.table == self._followed and after and not before:
                for follower in self.followers:
                    follower(after)
        return dict({"ALL_OLD": held[0], "ALL_NEW": made[0]}.get(writes[0].returns, {}))

    async def batch(self, writes: Iterable[Write]) -> None:
        for write in writes:
            await self.write(write)

    async def pages(self, query: Query) -> AsyncIterator[list[Item]]:
        with self._lock:
            found = self._in_order(query)
        size = query.limit or len(found) or 1
        for at in range(0, len(found), size):
            # cut before it is filtered, as in DynamoDB: pages may come short, or empty
            page = found[at : at + size]
            yield [dict(item) for item in page if holds(query.also, item, query.values)]

    async def count(self, query: Query) -> int:
        return len(await self.items(query))

    def _met(self, write: Write) -> Item:
        """What stands where it writes, on its condition; empty for nothing."""
        held = self._tables[write.table][write.item["pk"]].get(write.item["sk"], {})
        if not holds(write.when, held, write.values):
            raise ConditionFailed(dict(held))
        return held

    def _made(self, write: Write, held: Item) -> Item:
        partition, sk = self._tables[write.table][write.item["pk"]], write.item["sk"]
        if write.kind == "Delete":
            partition.pop(sk, None)
            return {}
        partition[sk] = changed(write, held) if write.kind == "Update" else dict(write.item)
        return partition[sk]

    def _in_order(self, query: Query) -> list[Item]:
        """What the key condition finds behind the place where the query is to start."""
        index, forward = _INDEXES.get(query.index, _KEY), not query.backwards
        last = _position(query.after, index) if query.after else None
        found = [
            (place, item)
            for item in self._candidates(query, index[0])
            if index[1] in item
            and ((place := _position(item, index)) != last)
            and (last is None or (place > last) is forward)
        ]
        found.sort(key=lambda pair: pair[0], reverse=not forward)
        return [item for _, item in found]

    def _candidates(self, query: Query, partitioned_by: str) -> list[Item]:
        partitions = self._tables[query.table]
        searched = list(partitions.values())
        if partitioned_by == "pk":
            searched = [partitions[query.values["pk"]]]
            # the commonest condition: no item has to be looked at
            if query.condition == _PARTITION:
                return list(searched[0].values())
        items = (item for partition in searched for item in partition.values())
        return [item for item in items if holds(query.condition, item, query.values)]


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
    """Events, with what their table's stream does in a deployment."""

    def __init__(self, database: MemoryDatabase, table: str) -> None:
        super().__init__(database, table)
        self._followers = database.followers

    def follow(self, told: Callable[[UserKey, Event], object]) -> None:
        """Tell of each new event from now on; `told` returns at once."""
        self._followers.append(lambda item: told(user_of(item["pk"]), event_from(item["body"])))


def memory_stores(*, shards: int = 8) -> Stores:
    """A fresh, empty set. `shards` are the partitions of the due index."""
    tables = Tables(**{name: name for name in Tables._fields})
    database = MemoryDatabase(followed=tables.events)
    stores = stores_over(database, tables, MemorySecretStore(), shards)
    return stores._replace(events=MemoryEventStore(database, tables.events))
