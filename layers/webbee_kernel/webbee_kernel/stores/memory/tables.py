"""Tables in dicts: what the adapters ask of DynamoDB, answered without I/O.

Nothing expires by itself, as in DynamoDB the moment after: reads decide. One lock makes each
request atomic under threads.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any, Final

from ...values.plain import JSONObject
from ..dynamodb.client import ConditionFailed, Database, Item
from .expressions import holds, plain, updated

_KEY: Final = ("pk", "sk")
_PARTITION: Final = "#pk = :pk"
_INDEXES: Final = {
    "by_created": ("pk", "created"),
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
            "batch_write_item": self._batch,
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

    def _batch(self, request: JSONObject) -> JSONObject:
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
        whole = index[0] == "pk" and request["KeyConditionExpression"] == _PARTITION
        found = [
            (place, item)
            for item in self._candidates(request, index)
            if index[1] in item
            and (whole or holds(request, "KeyConditionExpression", item))
            and ((place := _position(item, index)) != last)
            and (last is None or (place > last) is forward)
        ]
        found.sort(key=lambda pair: pair[0], reverse=not forward)
        return [item for _, item in found]

    def _candidates(self, request: JSONObject, index: tuple[str, str]) -> list[Item]:
        partitions = self._tables[request["TableName"]]
        if index[0] == "pk":
            return list(partitions[request["ExpressionAttributeValues"][":pk"]["S"]].values())
        return [item for partition in partitions.values() for item in partition.values()]


def _place(item: Item) -> tuple[str, str]:
    return item["pk"]["S"], item["sk"]["S"]


def _position(item: Item, index: tuple[str, str]) -> tuple[Any, str, str]:
    return (plain(item[index[1]]), *_place(item))
