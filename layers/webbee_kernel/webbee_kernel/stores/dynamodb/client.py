"""DynamoDB as the adapters use it: requests in threads, foreign errors translated.

Adapters name attributes in expressions with a leading `#` (`"#seq < :n"`); the names are declared
here, so no reserved word needs thought. Every conditional write may carry a `stamp`, a value nobody
else writes: botocore repeats a request whose answer was lost, and a repeat that meets its own stamp
has succeeded.
"""

from __future__ import annotations

import asyncio
import random
import re
import secrets
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any, Final

from ...aws.clients import ClientFactory, CutBody, aws_client, error_code, in_thread, outage
from ...errors import BadInput, StorageUnavailable
from ...observability import measure, stretch
from ...types import JSONObject
from ..codec import MAX_ITEM_BYTES

Item = JSONObject
"""An item in DynamoDB's wire form: `{"pk": {"S": "…"}, "seq": {"N": "1"}}`."""
LAYOUT: Final[Item] = {"schema": {"N": "3"}}
"""How items are laid out, a part of every one, in all tables alike. Who changes the layout of one
raises it, and reads the one before for as long as anybody runs it."""

BATCH: Final = 25
_ATTEMPTS: Final = 20
_READS: Final = 3
_EXPRESSIONS: Final = (
    "KeyConditionExpression",
    "ConditionExpression",
    "UpdateExpression",
    "ProjectionExpression",
    "FilterExpression",
)
_NAME: Final = re.compile(r"#(\w+)")


class ConditionFailed(Exception):
    """A conditional write met another state; `item` is what stands there, empty when nothing
    does."""

    def __init__(self, item: Item | None = None) -> None:
        super().__init__("the condition of a write did not hold")
        self.item: Item = item or {}


class Contended(Exception):
    """A transaction is at work on one of the items; it never leaves this module."""


def stamp() -> Item:
    """An attribute that marks one write as this caller's."""
    return {"stamp": S(secrets.token_urlsafe(9))}


def translate(error: Exception, what: str) -> Exception:
    """What the kernel sees instead of a botocore error; errors that only a defect can cause stay as
    they are."""
    response: JSONObject = getattr(error, "response", {})
    match error_code(error):
        # no error: another writer was there first
        case "ConditionalCheckFailedException":
            return ConditionFailed(response.get("Item"))
        case "TransactionCanceledException":
            return _cancelled(error, response.get("CancellationReasons", []), what)
        # repeated below, for it says nothing of the condition
        case "TransactionConflictException":
            return Contended(what)
        case "ItemCollectionSizeLimitExceededException":
            return BadInput(
                "This user's documents of one extension reached DynamoDB's 10 GB.",
                code="too_large",
                limit=10 * 1024**3,
            )
        # DynamoDB has no code of its own for it
        case "ValidationException" if "size" in str(error).lower():
            return BadInput(
                f"{what} takes no item over 400 KB.", code="too_large", limit=MAX_ITEM_BYTES
            )
    return outage(error, what) or error


def _cancelled(error: Exception, reasons: list[JSONObject], what: str) -> Exception:
    for reason in reasons:
        if reason.get("Code") == "ConditionalCheckFailed":
            return ConditionFailed(reason.get("Item"))
    # one reason an action, "None" for those that were fine
    codes = {reason.get("Code") for reason in reasons} - {"None", None}
    if "TransactionConflict" in codes:
        return Contended(what)
    if codes & {"ThrottlingError", "ProvisionedThroughputExceeded"}:
        return StorageUnavailable(f"{what} is overloaded; nothing was written, try again.")
    return error


class Database:
    """One client and the few kinds of request that the adapters make."""

    def __init__(self, client_factory: ClientFactory = aws_client) -> None:
        self._client_factory = client_factory

    async def call(self, operation: str, /, **request: Any) -> JSONObject:
        """One request, `operation` in boto3's spelling: `put_item`."""
        measure("DynamoDBCalls")
        with stretch("store", f"{operation} {request.get('TableName', '')}".strip()):
            # boto3 blocks: each call in a thread of the pool
            answer: JSONObject = await in_thread(self._send, operation, request)
        return answer

    async def get(self, table: str, key: Item, **request: Any) -> Item | None:
        """One item, strongly consistent."""
        answer = await self.call(
            "get_item", TableName=table, Key=key, ConsistentRead=True, **request
        )
        return answer.get("Item")

    async def write(
        self, operation: str, /, *, own: Item | None = None, **request: Any
    ) -> JSONObject:
        """One conditional write; ConditionFailed carries what stood there. `own` is the stamp that
        the request writes."""
        try:
            return await self._uncontended(
                operation, {**request, "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}
            )
        except ConditionFailed as failure:
            if own and own.items() <= failure.item.items():  # our own write, whose answer was lost
                return {"Attributes": failure.item}
            raise

    async def transact(self, *actions: dict[str, JSONObject]) -> None:
        """All of the writes or none, as their conditions say; ConditionFailed carries what stood
        there. botocore's request token makes a repeat harmless."""
        for action in actions:
            for request in action.values():
                _declare_names(request)
                if "ConditionExpression" in request:
                    request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
        await self._uncontended("transact_write_items", {"TransactItems": list(actions)})

    async def _uncontended(self, operation: str, request: JSONObject) -> JSONObject:
        """Repeat what was refused because a transaction was at work on one of its items."""
        # conflicts pass within milliseconds
        for attempt in range(_ATTEMPTS):
            try:
                return await self.call(operation, **request)
            except Contended:
                await pause(attempt)
        raise StorageUnavailable(
            f"{_subject(request)} has too many writers of one item; nothing was written, try again."
        )

    async def page(self, **request: Any) -> tuple[list[Item], Item | None]:
        """One page of a Query, and where the next one starts."""
        answer = await self.call("query", **request)
        return answer.get("Items", []), answer.get("LastEvaluatedKey")

    async def items(self, *, need: int = 0, **request: Any) -> list[Item]:
        """The items of a Query: all, or the first `need`, read in pages no larger than that."""
        found: list[Item] = []
        if need:
            # pages are no larger than what is wanted
            request["Limit"] = need
        while True:
            page, start = await self.page(**request)
            found += page
            if start is None or (need and len(found) >= need):
                # [:None] is all of it
                return found[: need or None]
            request["ExclusiveStartKey"] = start

    async def partition(self, table: str, pk: str, prefix: str = "", **request: Any) -> list[Item]:
        """The items of a partition whose sort keys begin so, strongly consistent."""
        condition, values = "#pk = :pk", {":pk": S(pk)}
        if prefix:
            condition, values[":prefix"] = f"{condition} AND begins_with(#sk, :prefix)", S(prefix)
        return await self.items(
            TableName=table,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            ConsistentRead=True,
            **request,
        )

    async def count(self, **request: Any) -> int:
        """How many items a Query finds."""
        total = 0
        while True:
            answer = await self.call("query", Select="COUNT", **request)
            total += int(answer["Count"])
            if "LastEvaluatedKey" not in answer:
                return total
            request["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    async def delete_batch(self, table: str, keys: Iterable[Item]) -> None:
        """Delete items, whatever their state."""
        await self.batch(table, [{"DeleteRequest": {"Key": key}} for key in keys])

    async def batch(self, table: str, requests: Iterable[JSONObject]) -> None:
        """Puts and deletions without conditions, 25 a request; what the table leaves over is asked
        again."""
        # what a batch leaves over is asked again, with growing pauses
        left = list(requests)
        for attempt in range(10):
            if attempt:
                await asyncio.sleep(0.05 * 2**attempt)
            batches = [left[at : at + BATCH] for at in range(0, len(left), BATCH)]
            answers = [
                await self.call("batch_write_item", RequestItems={table: batch})
                for batch in batches
            ]
            left = [
                request
                for answer in answers
                for request in answer.get("UnprocessedItems", {}).get(table, [])
            ]
            if not left:
                return
        raise StorageUnavailable(
            f"The table {table} is overloaded: {len(left)} items are still to be written or"
            " deleted, repeat the request."
        )

    def _send(self, operation: str, request: JSONObject) -> JSONObject:
        _declare_names(request)
        if operation == "transact_write_items":  # every repeat below is the same transaction
            request.setdefault("ClientRequestToken", secrets.token_urlsafe(18))
        send = getattr(self._client_factory("dynamodb"), operation)
        try:
            answer: JSONObject = _read_whole(lambda: send(**request))
        except Exception as error:
            translated = translate(error, _subject(request))
            if translated is error:
                raise
            raise translated from error
        return answer


class TableStore:
    """What an adapter asks of its one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def _get(self, key: Item) -> Item | None:
        """One item, strongly consistent."""
        return await self._database.get(self._table, key)

    async def _query(
        self, condition: str, values: Item, *, index: str = "", **request: Any
    ) -> list[Item]:
        """The items of a Query, strongly consistent but for those of a global index; `need` of
        them, or all."""
        return await self._database.items(
            TableName=self._table,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            **({"IndexName": index} if index else {"ConsistentRead": True}),
            **request,
        )

    async def _living(
        self, now: float, need: int, condition: str, values: Item, also: str = "", **request: Any
    ) -> list[Item]:
        """The first `need` items of a Query that have not expired by `now`, and are so `also`."""
        # a filter reads expired items, and pays for them, until the sweep
        lives = "attribute_not_exists(#expires_at) OR #expires_at > :now"
        return await self._query(
            condition,
            {**values, ":now": N(now)},
            FilterExpression=f"({lives}) AND {also}" if also else lives,
            need=need,
            **request,
        )

    async def _partition(self, pk: str, prefix: str = "", **request: Any) -> list[Item]:
        """The items of a partition whose sort keys begin so, strongly consistent."""
        return await self._database.partition(self._table, pk, prefix, **request)

    async def _put(
        self,
        item: Item,
        condition: str = "",
        values: Item | None = None,
        *,
        own: Item | None = None,
    ) -> JSONObject:
        """Write an item in the present layout; ConditionFailed where the condition does not
        hold. `own` is the stamp that the item carries."""
        return await self._send("put_item", {"Item": {**LAYOUT, **item}}, condition, values, own)

    async def _update(
        self,
        key: Item,
        update: str,
        values: Item,
        condition: str = "",
        *,
        own: Item | None = None,
        returns: str = "",
    ) -> JSONObject:
        """Change an item; ConditionFailed where the condition does not hold."""
        request: JSONObject = {"Key": key, "UpdateExpression": update}
        return await self._send("update_item", request, condition, values, own, returns)

    async def _delete(
        self, key: Item, condition: str = "", values: Item | None = None, *, returns: str = ""
    ) -> JSONObject:
        """Remove an item; ConditionFailed where the condition does not hold."""
        return await self._send("delete_item", {"Key": key}, condition, values, None, returns)

    async def _send(
        self,
        operation: str,
        request: JSONObject,
        condition: str,
        values: Item | None,
        own: Item | None,
        returns: str = "",
    ) -> JSONObject:
        request = {"TableName": self._table, **request}
        if returns:
            request["ReturnValues"] = returns
        if values:
            request["ExpressionAttributeValues"] = values
        if not condition:
            return await self._database.call(operation, **request)
        return await self._database.write(
            operation, own=own, ConditionExpression=condition, **request
        )


async def holds(write: Awaitable[JSONObject]) -> bool:
    """Whether the condition of a write held."""
    try:
        await write
    except ConditionFailed:
        return False
    return True


def _read_whole(send: Callable[[], JSONObject]) -> JSONObject:
    """The answer, asked for again where its body broke off. A write that was carried out the first
    time recognises its stamp."""
    for _ in range(_READS):
        with suppress(CutBody):
            return send()
    raise StorageUnavailable("A table's answer broke off again and again; try again.")


def S(value: str) -> dict[str, str]:  # noqa: N802 - DynamoDB's own name for the type
    """A string attribute."""
    return {"S": value}


def N(value: float) -> dict[str, str]:  # noqa: N802
    """A number attribute; a float comes back as the same float."""
    return {"N": repr(value)}


async def pause(attempt: int) -> None:
    """Let others finish before the next attempt: a random wait that grows to a tenth of a
    second."""
    await asyncio.sleep(random.uniform(0, min(0.002 * 2**attempt, 0.1)))  # noqa: S311 - no secret


def key_of(pk: str, sk: str) -> Item:
    return {"pk": {"S": pk}, "sk": {"S": sk}}


def lives(item: Item, now: float) -> bool:
    """Whether the item has not expired by `now`: the table's sweep may lag for days."""
    return "expires_at" not in item or float(item["expires_at"]["N"]) > now


def _declare_names(request: JSONObject) -> None:
    # every name goes through "#": hundreds of words are reserved
    names = {name for field in _EXPRESSIONS for name in _NAME.findall(request.get(field, ""))}
    if names:
        own = request.get("ExpressionAttributeNames", {})
        request["ExpressionAttributeNames"] = {f"#{name}": name for name in names} | own


def _subject(request: JSONObject) -> str:
    tables = (
        {request["TableName"]} if "TableName" in request else set(request.get("RequestItems", ()))
    )
    for action in request.get("TransactItems", ()):
        tables |= {part["TableName"] for part in action.values()}
    return f"The table {' or '.join(sorted(tables))}"
