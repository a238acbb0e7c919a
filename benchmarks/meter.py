"""Counts requests and capacity units at the client, for benchmarks and tests.

Units follow AWS's rules from the sizes of the items that pass by (developer guide, "DynamoDB item
sizes and formats" and "Read and write operations"), because a local table reports constants. Known
to be low: an update or delete counts what its request and answer show of the item, a projected
query counts what it returned, and of index writes only those of a put or update that carries the
index's key are counted, each once.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

_SMALL_INDEXES = {"user_key", "due_shard", "users_key"}
_WHOLE_INDEXES = {"created"}
"""Keys of indexes that hold a few attributes of an item, and all of them."""
_READS = {"GetItem", "Query", "BatchGetItem", "TransactGetItems"}


@dataclass(slots=True)
class Call:
    """One request: `bytes` of all items written or read, `read` and `write` in capacity units."""

    operation: str
    tables: tuple[str, ...]
    index: str = ""
    bytes: int = 0
    read: float = 0.0
    write: float = 0.0
    failed: str = ""


@dataclass(slots=True)
class Meter:
    """What happened on a client since it was attached; `in_flight_most` is how many requests were
    on their way at once."""

    calls: list[Call] = field(default_factory=list)
    in_flight: int = 0
    in_flight_most: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

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

    def clear(self) -> None:
        """Forget what was counted."""
        with self._lock:
            self.calls.clear()
            self.in_flight_most = self.in_flight

    def attach(self, client: Any) -> None:
        """Count this DynamoDB client's requests from now on."""
        events = client.meta.events
        events.register(
            "provide-client-params.dynamodb", self._started, unique_id=f"{id(self)}-started"
        )
        events.register("after-call.dynamodb", self._finished, unique_id=f"{id(self)}-finished")
        events.register("after-call-error.dynamodb", self._broke, unique_id=f"{id(self)}-broke")

    def detach(self, client: Any) -> None:
        """Stop counting."""
        events = client.meta.events
        events.unregister("provide-client-params.dynamodb", unique_id=f"{id(self)}-started")
        events.unregister("after-call.dynamodb", unique_id=f"{id(self)}-finished")
        events.unregister("after-call-error.dynamodb", unique_id=f"{id(self)}-broke")

    def _started(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["meter"] = params
        with self._lock:
            self.in_flight += 1
            self.in_flight_most = max(self.in_flight_most, self.in_flight)

    def _finished(
        self, parsed: dict[str, Any], model: Any, context: dict[str, Any], **_: Any
    ) -> None:
        call = _measured(model.name, context["meter"], parsed)
        call.failed = parsed.get("Error", {}).get("Code", "")
        with self._lock:
            self.in_flight -= 1
            self.calls.append(call)

    def _broke(
        self, exception: Exception, context: dict[str, Any], event_name: str, **_: Any
    ) -> None:
        params = context["meter"]
        with self._lock:
            self.in_flight -= 1
            self.calls.append(
                Call(
                    event_name.rpartition(".")[2], _tables(params), failed=type(exception).__name__
                )
            )


@contextmanager
def metered(client: Any) -> Iterator[Meter]:
    """A meter on the client for the time of the block."""
    meter = Meter()
    meter.attach(client)
    try:
        yield meter
    finally:
        meter.detach(client)


def item_bytes(item: dict[str, Any]) -> int:
    """The size DynamoDB bills: UTF-8 of names and strings, raw binary, about half a byte a
    digit."""
    return sum(len(name.encode()) + _value_bytes(value) for name, value in item.items())


def _value_bytes(value: dict[str, Any]) -> int:
    if "S" in value:
        return len(str(value["S"]).encode())
    if "B" in value:
        return len(bytes(value["B"]))
    if "N" in value:
        return math.ceil(sum(char.isdigit() for char in str(value["N"])) / 2) + 1
    return 1


def _measured(operation: str, params: dict[str, Any], answer: dict[str, Any]) -> Call:
    call = Call(operation, _tables(params), params.get("IndexName", ""))
    if operation in _READS:
        items = answer.get("Items") or ([answer["Item"]] if "Item" in answer else [])
        call.bytes = sum(map(item_bytes, items))
        call.read = max(1, math.ceil(call.bytes / 4096)) * (
            1.0 if params.get("ConsistentRead") else 0.5
        )
        return call
    doubled = 2 if operation == "TransactWriteItems" else 1
    for item in _written(operation, params, answer):
        size = item_bytes(item)
        call.bytes += size
        units = max(1, math.ceil(size / 1024))
        call.write += doubled * (
            units + len(_SMALL_INDEXES & item.keys()) + units * len(_WHOLE_INDEXES & item.keys())
        )
    return call


def _written(
    operation: str, params: dict[str, Any], answer: dict[str, Any]
) -> list[dict[str, Any]]:
    """The items of a write request, as far as it shows them."""
    if operation == "BatchWriteItem":
        requests = [request for batch in params["RequestItems"].values() for request in batch]
        return [
            (
                request["PutRequest"]["Item"]
                if "PutRequest" in request
                else request["DeleteRequest"]["Key"]
            )
            for request in requests
        ]
    if operation == "TransactWriteItems":
        return [_shown(part) for action in params["TransactItems"] for part in action.values()]
    shown = _shown(params)
    returned = answer.get("Attributes", {})
    return [{**shown, **returned}]


def _shown(request: dict[str, Any]) -> dict[str, Any]:
    if "Item" in request:
        return dict(request["Item"])
    values = request.get("ExpressionAttributeValues", {}) if "UpdateExpression" in request else {}
    return {
        **request.get("Key", {}),
        **{name.removeprefix(":"): value for name, value in values.items()},
    }


def _tables(params: dict[str, Any]) -> tuple[str, ...]:
    if "TableName" in params:
        return (params["TableName"],)
    if "RequestItems" in params:
        return tuple(sorted(params["RequestItems"]))
    return tuple(
        sorted(
            {
                part["TableName"]
                for action in params.get("TransactItems", ())
                for part in action.values()
            }
        )
    )
