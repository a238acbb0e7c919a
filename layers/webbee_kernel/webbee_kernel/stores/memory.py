"""Every store in memory: the adapters of DynamoDB over tables in dicts, for tests and trials.

What the adapters ask of DynamoDB is answered without I/O, and nothing expires by itself, as in
DynamoDB the moment after: reads decide. One lock makes each request atomic under threads.

Of the grammar of DynamoDB's expressions the adapters write comparisons, `BETWEEN`, `begins_with`,
`contains`, `attribute_exists` and `attribute_not_exists`, `AND` before `OR`, parentheses; `SET`
(with `if_not_exists`), `REMOVE` and `ADD`.
"""

from __future__ import annotations

import operator
import re
import threading
from collections import defaultdict
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from ..types import Event, JSONObject, UserKey
from .codec import event_from
from .dynamodb import Tables, stores_over
from .dynamodb.client import ConditionFailed, Database
from .dynamodb.item_requests import Item
from .dynamodb.user_items import EventStore
from .item_keys import user_of
from .protocols import Stores

_Holds = Callable[[Item, Mapping[str, Any]], bool]
"""Whether an item is so; names (`#c0`) and values (`:now`) are what a request says they are."""
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
_CLAUSE: Final = re.compile(r"(SET|REMOVE|ADD) (.*?)(?= SET | REMOVE | ADD |$)")
_CHANGE: Final = re.compile(r"(#\w+)(?: = | )?(?:if_not_exists\((#\w+), (:\w+)\)|(:\w+))?")


def holds(request: JSONObject, expression: str, item: Item) -> bool:
    """Whether the item meets that expression of a request; without one each does."""
    text = request.get(expression)
    return not text or _condition(text)(item, _said(request))


def updated(request: JSONObject, item: Item) -> Item:
    """The item after a request's `UpdateExpression`."""
    said, made = _said(request), dict(item)
    for word, name, held, default, value in _changes(request["UpdateExpression"]):
        attribute = said.get(name, name[1:])
        if word == "REMOVE":
            made.pop(attribute, None)
        elif word == "ADD":
            made[attribute] = _sum(item.get(attribute), said[value])
        else:
            kept = item.get(said.get(held, held[1:])) if held else None
            made[attribute] = said[value or default] if kept is None else kept
    return made


@lru_cache
def _changes(text: str) -> list[tuple[str, ...]]:
    """Each change with its word, name, and what it is made of."""
    return [(w, *found) for w, clause in _CLAUSE.findall(text) for found in _CHANGE.findall(clause)]


def _said(request: JSONObject) -> JSONObject:
    return {
        **request.get("ExpressionAttributeNames", {}),
        **request.get("ExpressionAttributeValues", {}),
    }


def _sum(held: Any, more: Any) -> Any:
    if held is None:
        return more
    return held | more if isinstance(more, set) else held + more


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
        return one is not None and other is not None and test(one, other)

    return holds


def _value(word: str, item: Item, said: Mapping[str, Any]) -> Any:
    return said[word] if word.startswith(":") else item.get(said.get(word, word[1:]))


_KEY: Final = ("pk", "sk")
_PARTITION: Final = "#pk = :pk"
_INDEXES: Final = {
    "by_created": ("pk", "created"),
    **{f"by_{n}": ("pk", f"i{n}") for n in range(1, 5)},
    "by_touched": ("pk", "touched_at"),
    "due": ("due_shard", "due_at"),
    "users": ("users_key", "user_id"),
}
_WRITES: Final[dict[str, Callable[[JSONObject, Item], Item]]] = {
    "Put": lambda request, _: dict(request["Item"]),
    "Update": lambda request, held: updated(request, held or request["Key"]),
    "Delete": lambda _, __: {},
}


class MemoryDatabase(Database):
    """Every table, each made when it is first named. `followers` are told of each new item of
    `followed`, as a table's stream tells: they return at once."""

    def __init__(self, followed: str) -> None:
        super().__init__()
        self._followed = followed
        self.followers: list[Callable[[Item], object]] = []
        self._lock = threading.RLock()
        self._new: list[Item] = []
        self._tables: dict[str, dict[str, dict[str, Item]]] = defaultdict(lambda: defaultdict(dict))
        self._operations: dict[str, Callable[[JSONObject], JSONObject]] = {
            "get_item": self._get,
            "put_item": lambda request: self._write("Put", request),
            "update_item": lambda request: self._write("Update", request),
            "delete_item": lambda request: self._write("Delete", request),
            "query": self._query,
            "batch_write_item": self._batch_writes,
            "transact_write_items": self._transact,
        }

    async def call(self, operation: str, /, **request: Any) -> JSONObject:
        with self._lock:
            answer = self._operations[operation](request)
            new, self._new = self._new, []
        for item in new:
            for follower in self.followers:
                follower(item)
        return answer

    def _get(self, request: JSONObject) -> JSONObject:
        held = self._held(request)
        return {"Item": dict(held)} if held else {}

    def _held(self, request: JSONObject) -> Item:
        """What stands where a request writes or reads; empty for nothing."""
        pk, sk = _place(request.get("Item") or request["Key"])
        return self._tables[request["TableName"]][pk].get(sk, {})

    def _met(self, request: JSONObject) -> Item:
        """The same, on the request's condition."""
        held = self._held(request)
        if not holds(request, "ConditionExpression", held):
            asked = "ReturnValuesOnConditionCheckFailure" in request
            raise ConditionFailed(dict(held) if asked else None)
        return held

    def _write(self, kind: str, request: JSONObject) -> JSONObject:
        held = self._met(request)
        made = _WRITES[kind](request, held)
        pk, sk = _place(request.get("Item") or request["Key"])
        partition = self._tables[request["TableName"]][pk]
        if made:
            partition[sk] = made
        else:
            partition.pop(sk, None)
        if request["TableName"] == self._followed and made and not held:
            self._new.append(made)
        told = {"ALL_OLD": held, "ALL_NEW": made}.get(request.get("ReturnValues", ""))
        return {"Attributes": dict(told)} if told else {}

    def _batch_writes(self, request: JSONObject) -> JSONObject:
        for table, writes in request["RequestItems"].items():
            for write in writes:
                ((kind, one),) = write.items()
                self._write(kind.removesuffix("Request"), {"TableName": table, **one})
        return {}

    def _transact(self, request: JSONObject) -> JSONObject:
        actions = [next(iter(action.items())) for action in request["TransactItems"]]
        for _, one in actions:
            self._met(one)
        for kind, one in actions:
            self._write(kind, one)
        return {}

    def _query(self, request: JSONObject) -> JSONObject:
        index = _INDEXES.get(request.get("IndexName", ""), _KEY)
        found = self._in_order(request, index)
        read = found[: request.get("Limit")]
        items = [dict(item) for item in read if holds(request, "FilterExpression", item)]
        answer: JSONObject = {"Items": items, "Count": len(items)}
        if len(read) < len(found):
            answer["LastEvaluatedKey"] = {name: read[-1][name] for name in {*_KEY, *index}}
        return answer

    def _in_order(self, request: JSONObject, index: tuple[str, str]) -> list[Item]:
        """What the key condition finds behind the place where the query is to start."""
        forward = request.get("ScanIndexForward", True)
        start = request.get("ExclusiveStartKey")
        last = _position(start, index) if start else None
        found = [
            (place, item)
            for item in self._candidates(request, index)
            if index[1] in item
            and ((place := _position(item, index)) != last)
            and (last is None or (place > last) is forward)
        ]
        found.sort(key=lambda pair: pair[0], reverse=not forward)
        return [item for _, item in found]

    def _candidates(self, request: JSONObject, index: tuple[str, str]) -> list[Item]:
        partitions = self._tables[request["TableName"]]
        searched = list(partitions.values())
        if index[0] == "pk":
            searched = [partitions[request["ExpressionAttributeValues"][":pk"]]]
            if request["KeyConditionExpression"] == _PARTITION:
                return list(searched[0].values())
        items = (item for partition in searched for item in partition.values())
        return [item for item in items if holds(request, "KeyConditionExpression", item)]


def _place(item: Item) -> tuple[str, str]:
    return item["pk"], item["sk"]


def _position(item: Item, index: tuple[str, str]) -> tuple[Any, str, str]:
    return (item[index[1]], *_place(item))


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
