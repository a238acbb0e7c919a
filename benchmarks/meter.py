"""Counts requests and capacity units at the client, for benchmarks and tests.

Units follow AWS's rules from the items themselves (developer guide, "DynamoDB item sizes and
formats", "Read and write operations", "Using global secondary indexes"), because a local table
reports constants:

* a put, update or delete bills the larger of the item before and after it, a refused one the item
  that stood there, in a transaction twice that;
* an index bills its own entry: one write where it appears, goes or changes, two where its key does;
* a query bills all items it looked at, together, whatever a filter, a projection or COUNT left of
  them.

To know these the meter looks at the item before and after each write, and repeats a query that
hides what it read; its own requests are not counted. It knows the operations that the stores use,
counts one page of a query exactly, and is not made for several writers of one item at once.
"""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

_READS = ("GetItem", "Query")
_HIDING = ("Select", "ProjectionExpression", "FilterExpression")
_OF_EXPRESSIONS = ("ExpressionAttributeNames", "ExpressionAttributeValues")

Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Index:
    """A secondary index: its key, and the attributes it holds; all of them where that is None."""

    key: tuple[str, ...]
    holds: frozenset[str] | None

    def entry(self, item: Item) -> Item | None:
        """What the index holds of an item; nothing of one that lacks the key."""
        if not all(name in item for name in self.key):
            return None
        if self.holds is None:
            return item
        return {name: value for name, value in item.items() if name in self.holds}

    def writes(self, before: Item, after: Item) -> int:
        """Write units that a change of the item costs here."""
        old, new = self.entry(before), self.entry(after)
        if old == new:
            return 0
        if old and new and any(old[name] != new[name] for name in self.key):
            return _write_units(item_bytes(old)) + _write_units(item_bytes(new))
        return _write_units(max(item_bytes(old or {}), item_bytes(new or {})))


@dataclass(slots=True)
class Call:
    """One request: `bytes` of all items written or read, `read` and `write` in capacity units."""

    operation: str
    tables: tuple[str, ...]
    bytes: int = 0
    read: float = 0.0
    write: float = 0.0


@dataclass(slots=True)
class Meter:
    """What happened on a client."""

    calls: list[Call] = field(default_factory=list)
    _own: threading.local = field(default_factory=threading.local)
    _indexes: dict[str, tuple[Index, ...]] = field(default_factory=dict)

    @property
    def reads(self) -> int:
        """Requests that only read."""
        return sum(call.operation in _READS for call in self.calls)

    @property
    def writes(self) -> int:
        """Requests that write."""
        return len(self.calls) - self.reads

    @property
    def read_units(self) -> float:
        return sum(call.read for call in self.calls)

    @property
    def write_units(self) -> float:
        return sum(call.write for call in self.calls)

    def operations(self) -> list[str]:
        """`Query:table`, in order of completion; a transaction names all its tables."""
        return [f"{call.operation}:{'+'.join(call.tables)}" for call in self.calls]

    def _started(
        self, client: Any, params: dict[str, Any], context: dict[str, Any], model: Any, **_: Any
    ) -> None:
        if not getattr(self._own, "request", False):
            before = [] if model.name in _READS else self._images(client, params)
            context["meter"] = params, before

    def _finished(
        self, client: Any, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any
    ) -> None:
        if "meter" not in context:
            return
        params, before = context["meter"]
        call = Call(model.name, _tables(params))
        if model.name in _READS:
            self._count_read(client, call, params, parsed)
        else:
            after = before if "Error" in parsed else self._images(client, params)
            self._count_write(client, call, params, before, after)
        self.calls.append(call)

    def _count_read(
        self, client: Any, call: Call, params: dict[str, Any], parsed: dict[str, Any]
    ) -> None:
        if any(name in params for name in _HIDING):
            parsed = self._ask(client, "query", **_unhidden(params))
        items = parsed.get("Items") or ([parsed["Item"]] if "Item" in parsed else [])
        call.bytes = sum(map(item_bytes, items))
        call.read = max(1, math.ceil(call.bytes / 4096)) * (
            1 if params.get("ConsistentRead") else 0.5
        )

    def _count_write(
        self, client: Any, call: Call, params: dict[str, Any], before: list[Item], after: list[Item]
    ) -> None:
        doubled = 2 if call.operation == "TransactWriteItems" else 1
        for (table, _), old, new in zip(_written(params), before, after, strict=True):
            size = max(item_bytes(old), item_bytes(new))
            call.bytes += size
            call.write += doubled * _write_units(size)
            call.write += sum(index.writes(old, new) for index in self._of(client, table))

    def _images(self, client: Any, params: dict[str, Any]) -> list[Item]:
        """The items of a write request as they stand now."""
        asked = (
            self._ask(client, "get_item", TableName=table, Key=key, ConsistentRead=True)
            for table, key in _written(params)
        )
        return [found.get("Item", {}) for found in asked]

    def _of(self, client: Any, table: str) -> tuple[Index, ...]:
        """The table's secondary indexes."""
        if table not in self._indexes:
            found = self._ask(client, "describe_table", TableName=table)["Table"]
            keys = {key["AttributeName"] for key in found["KeySchema"]}
            kinds = ("GlobalSecondaryIndexes", "LocalSecondaryIndexes")
            described = [index for kind in kinds for index in found.get(kind, ())]
            self._indexes[table] = tuple(_index(one, keys) for one in described)
        return self._indexes[table]

    def _ask(self, client: Any, operation: str, **request: Any) -> dict[str, Any]:
        """A request of the meter's own."""
        self._own.request = True
        try:
            answer: dict[str, Any] = getattr(client, operation)(**request)
            return answer
        finally:
            self._own.request = False


@contextmanager
def metered(client: Any) -> Iterator[Meter]:
    """A meter on the client for the time of the block."""
    meter = Meter()
    handlers = {
        "provide-client-params.dynamodb": partial(meter._started, client),
        "after-call.dynamodb": partial(meter._finished, client),
    }
    for event, handler in handlers.items():
        client.meta.events.register(event, handler)
    try:
        yield meter
    finally:
        for event, handler in handlers.items():
            client.meta.events.unregister(event, handler)


def item_bytes(item: Item) -> int:
    """The size DynamoDB bills: UTF-8 of names and strings, raw binary, about half a byte a
    digit."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: dict[str, Any]) -> int:
    ((kind, held),) = value.items()
    match kind:
        case "S":
            return len(str(held).encode())
        case "B":
            return len(bytes(held))
        case "N":
            return _number_bytes(str(held))
        case "SS" | "NS" | "BS":
            return sum(_value_bytes({kind[0]: one}) for one in held)
        case "L":
            return 3 + sum(1 + _value_bytes(one) for one in held)
        case "M":
            return 3 + item_bytes(held) + len(held)
    return 1


def _number_bytes(text: str) -> int:
    """A byte for two significant digits, and one."""
    digits = "".join(char for char in text.lower().partition("e")[0] if char.isdigit())
    return math.ceil(len(digits.strip("0")) / 2) + 1


def _write_units(size: int) -> int:
    return max(1, math.ceil(size / 1024))


def _index(described: Mapping[str, Any], table_key: set[str]) -> Index:
    key = tuple(part["AttributeName"] for part in described["KeySchema"])
    projection = described["Projection"]
    if projection["ProjectionType"] == "ALL":
        return Index(key, None)
    return Index(key, frozenset({*table_key, *key, *projection.get("NonKeyAttributes", ())}))


def _unhidden(params: dict[str, Any]) -> dict[str, Any]:
    """The query without what hides items or parts of them from its answer, and the names that only
    this used: DynamoDB refuses one that nothing uses."""
    kept = {name: value for name, value in params.items() if name not in _HIDING}
    used = set(re.findall(r"[#:]\w+", kept["KeyConditionExpression"]))
    for name in _OF_EXPRESSIONS:
        if name in kept:
            kept[name] = {k: v for k, v in kept[name].items() if k in used}
    return kept


def _written(params: dict[str, Any]) -> list[tuple[str, Item]]:
    """Table and key of every item that a write request names."""
    if "RequestItems" in params:
        return [
            (table, _key(part))
            for table, requests in sorted(params["RequestItems"].items())
            for request in requests
            for part in request.values()
        ]
    actions = params.get("TransactItems", [{"one": params}])
    parts = [part for action in actions for part in action.values()]
    return [(part["TableName"], _key(part)) for part in parts]


def _key(request: Mapping[str, Any]) -> Item:
    given = request.get("Key") or request["Item"]
    return {"pk": given["pk"], "sk": given["sk"]}


def _tables(params: dict[str, Any]) -> tuple[str, ...]:
    if "TableName" in params:
        return (params["TableName"],)
    return tuple(sorted({table for table, _ in _written(params)}))
