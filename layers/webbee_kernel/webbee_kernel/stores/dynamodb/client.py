"""DynamoDB as the adapters use it: requests in threads, repeated where that is safe, foreign errors
translated.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

from ...aws.clients import ClientFactory, TruncatedBody, aws_client, error_code, in_thread, outage
from ...errors import BadInput, StorageUnavailable
from ...observability import measure, span
from ...types import JSONObject
from ..codec import MAX_ITEM_BYTES
from .item_requests import Item, Query, Write, delete, from_wire, partition, put, to_wire, update

BATCH: Final = 25
# with the waits of `pause` 1.5 seconds at most: a transaction is over long before
_ATTEMPTS: Final = 20
_READS: Final = 3


class ConditionFailed(Exception):
    """A conditional write met another state; `item` is what stands there, or empty."""

    def __init__(self, item: Item | None = None) -> None:
        super().__init__("the condition of a write did not hold")
        self.item: Item = item or {}


class TransactionConflict(Exception):
    """A transaction is at work on one of the items; it never leaves this module."""


def translate(error: Exception, what: str) -> Exception:
    """What the kernel sees instead of a botocore error; errors that only a defect can cause stay as
    they are."""
    # a connection's error has one that is None
    response = from_wire(getattr(error, "response", None) or {})
    match error_code(error):
        # no error: another writer was there first
        case "ConditionalCheckFailedException":
            return ConditionFailed(response.get("Item"))
        case "TransactionCanceledException":
            return _cancellation(error, response.get("CancellationReasons", []), what)
        # repeated below, for it says nothing of the condition
        case "TransactionConflictException":
            return TransactionConflict(what)
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


def _cancellation(error: Exception, reasons: list[JSONObject], what: str) -> Exception:
    # a failed condition decides, whatever else it met: a repetition would fail on it, too
    for reason in reasons:
        if reason.get("Code") == "ConditionalCheckFailed":
            return ConditionFailed(reason.get("Item"))
    # one reason an action, "None" for those that were fine
    codes = {reason.get("Code") for reason in reasons} - {"None", None}
    if "TransactionConflict" in codes:
        return TransactionConflict(what)
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
        with span("store", f"{operation} {request.get('TableName', '')}".strip()):
            # boto3 blocks: each call in a thread of the pool
            answer: JSONObject = await in_thread(self._send, operation, request)
        return answer

    async def get(self, table: str, key: Item) -> Item | None:
        """One item, strongly consistent."""
        answer = await self.call("get_item", TableName=table, Key=key, ConsistentRead=True)
        return answer.get("Item")

    async def write(self, *writes: Write) -> Item:
        """All of the writes or none, as their conditions say: one request, a transaction where
        there are several. What one of them `returns`, empty for nothing;
        ConditionFailed carries what stood where a condition did not hold."""
        # botocore's request token makes a repeated transaction harmless
        operation = "transact_write_items"
        request: JSONObject = {"TransactItems": [{write.kind: write.request()} for write in writes]}
        # a transaction costs twice the write units, and returns nothing of an item
        if len(writes) == 1:
            operation = f"{writes[0].kind.lower()}_item"
            request = {**writes[0].request(), "ReturnValues": writes[0].returns}
        for attempt in range(_ATTEMPTS):
            try:
                answer = await self.call(operation, **request)
            except ConditionFailed as failure:
                # our own write, whose answer was lost
                if any(write.is_own_result(failure.item) for write in writes):
                    return failure.item
                raise
            # a transaction was at work on one of the items: that passes within milliseconds
            except TransactionConflict:
                await pause(attempt)
            else:
                return dict(answer.get("Attributes", {}))
        raise contention(_subject(request))

    async def pages(self, query: Query) -> AsyncIterator[list[Item]]:
        """The items of a Query, page by page."""
        async for answer in self._answers(query.request()):
            yield answer["Items"]

    async def items(self, query: Query, need: int = 0) -> list[Item]:
        """The items of a Query: all, or the first `need`, read in pages no larger than that."""
        found: list[Item] = []
        # a filter leaves fewer of a page than its limit: what came through is counted
        async for page in self.pages(replace(query, limit=need)):
            found += page
            if need and len(found) >= need:
                break
        return found[: need or None]

    async def count(self, query: Query) -> int:
        """How many items a Query finds."""
        request = {**query.request(), "Select": "COUNT"}
        return sum([int(answer["Count"]) async for answer in self._answers(request)])

    async def _answers(self, request: JSONObject) -> AsyncIterator[JSONObject]:
        while True:
            answer = await self.call("query", **request)
            yield answer
            # an empty page is no end: a filter may have left nothing of it
            if "LastEvaluatedKey" not in answer:
                return
            request = {**request, "ExclusiveStartKey": answer["LastEvaluatedKey"]}

    async def batch(self, writes: Iterable[Write]) -> None:
        """Puts and deletions of one table, whatever stands there, 25 a request, of one item the
        last; what the table leaves over is asked again, with growing pauses."""
        # DynamoDB refuses a request that names an item twice
        pending = list({(w.item["pk"], w.item["sk"]): w for w in writes}.values())
        table = pending[0].table if pending else ""
        for attempt in range(10):
            if not pending:
                return
            if attempt:
                await asyncio.sleep(0.05 * 2**attempt)
            batches = [pending[at : at + BATCH] for at in range(0, len(pending), BATCH)]
            pending = [over for batch in batches for over in await self._batch(table, batch)]
        if pending:
            raise StorageUnavailable(
                f"The table {table} is overloaded: {len(pending)} items are still to be written or"
                " deleted, repeat the request."
            )

    async def _batch(self, table: str, writes: Sequence[Write]) -> list[Write]:
        """What the table left over of these."""
        field = {"Put": "Item", "Delete": "Key"}
        parts = [{f"{w.kind}Request": {field[w.kind]: w.item}} for w in writes]
        answer = await self.call("batch_write_item", RequestItems={table: parts})
        unprocessed = answer.get("UnprocessedItems", {}).get(table, [])
        # what is left over comes without its place: found again by being equal
        return [write for write, part in zip(writes, parts, strict=True) if part in unprocessed]

    def _send(self, operation: str, request: JSONObject) -> JSONObject:
        wire = to_wire(request)
        if operation == "transact_write_items":  # every repeat below is the same transaction
            wire["ClientRequestToken"] = secrets.token_urlsafe(18)
        send = getattr(self._client_factory("dynamodb"), operation)
        for _ in range(_READS):
            try:
                return from_wire(send(**wire))
            # asked for again: a write that was carried out the first time recognises its stamp
            except TruncatedBody:
                continue
            except Exception as error:
                translated = translate(error, _subject(request))
                # a defect of ours: raised as it is, so that its traceback begins where it happened
                if translated is error:
                    raise
                raise translated from error
        raise StorageUnavailable("A table's answer broke off again and again; try again.")


class TableStore:
    """What an adapter asks of its one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def _get(self, key: Item) -> Item | None:
        """One item, strongly consistent."""
        return await self._database.get(self._table, key)

    async def _query(
        self, condition: str, values: Item, *, need: int = 0, **options: Any
    ) -> list[Item]:
        """The items of a `Query`: all, or the first `need`."""
        return await self._database.items(Query(self._table, condition, values, **options), need)

    async def _query_unexpired(
        self, now: float, condition: str, values: Item, also: str = "", **options: Any
    ) -> list[Item]:
        """The same of those that have not expired by `now`, and are so `also`."""
        # a filter reads expired items, and pays for them, until the sweep
        lives = "(attribute_not_exists(#expires_at) OR #expires_at > :now)"
        also = f"{lives} AND {also}" if also else lives
        return await self._query(condition, {**values, "now": now}, also=also, **options)

    async def _partition(self, pk: str, prefix: str = "", **options: Any) -> list[Item]:
        """The items of a partition whose sort keys begin so, strongly consistent."""
        return await self._database.items(partition(self._table, pk, prefix, **options))

    async def _put(self, item: Item, when: str = "", **options: Any) -> None:
        """Send one `put`; ConditionFailed where its condition does not hold."""
        await self._database.write(put(self._table, item, when, **options))

    async def _update(self, key: Item, changes: Item, when: str = "", **options: Any) -> Item:
        """Send one `update`: what stands there then; ConditionFailed if its condition fails."""
        return await self._database.write(update(self._table, key, changes, when, **options))

    async def _delete(self, key: Item, when: str = "", **values: Any) -> Item:
        """Send one `delete`: what stood there; ConditionFailed if its condition fails."""
        return await self._database.write(delete(self._table, key, when, **values))

    async def _put_batch(self, items: Iterable[Item]) -> None:
        """Write items, whatever stands there."""
        await self._database.batch(put(self._table, item) for item in items)

    async def _delete_batch(self, keys: Iterable[Item]) -> None:
        """Remove items, whatever their state."""
        await self._database.batch(delete(self._table, key) for key in keys)


async def is_written(write: Awaitable[object]) -> bool:
    """Whether the condition of a write held."""
    try:
        await write
    except ConditionFailed:
        return False
    return True


def contention(what: str) -> StorageUnavailable:
    """Every attempt met another writer."""
    return StorageUnavailable(f"{what} kept changing; nothing was written, try again.")


async def pause(attempt: int) -> None:
    """Let others finish before the next attempt: a random wait of up to a tenth of a second."""
    # from zero on: writers that met once would meet again after equal waits
    await asyncio.sleep(random.uniform(0, min(0.002 * 2**attempt, 0.1)))  # noqa: S311 - no secret


def _subject(request: JSONObject) -> str:
    tables = (
        {request["TableName"]} if "TableName" in request else set(request.get("RequestItems", ()))
    )
    for action in request.get("TransactItems", ()):
        tables |= {part["TableName"] for part in action.values()}
    return f"The table {' or '.join(sorted(tables))}"
