"""The stream of the events table: what Lambda's poller reads and hands to its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.config import Config
from moto.dynamodb.models import dynamodb_backends

ATTEMPTS = 4
"""Times that a record is handed over before it is given up."""


class EventStream:
    """Reads one table's stream, from its creation on, in order, and hands over again what comes
    back: from the first record that the function reports on, or all where it fails. Where moto has
    written nothing it is not asked: looking twenty times a second would cost a twentieth of a
    processor."""

    def __init__(self, table: str, invoke: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self._invoke = invoke
        # moto knows no endpoints with an account's id in them
        config = Config(account_id_endpoint_mode="disabled")
        self._client: Any = boto3.client("dynamodbstreams", config=config)
        database = boto3.client("dynamodb")
        backend = dynamodb_backends["123456789012"][database.meta.region_name]
        self._written = backend.tables[table].stream_shard.items
        self._seen = len(self._written)
        self._again: list[dict[str, Any]] = []
        self._attempts: dict[str, int] = {}
        arn = database.describe_table(TableName=table)["Table"]["LatestStreamArn"]
        shards = self._client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        self._next = self._client.get_shard_iterator(
            StreamArn=arn, ShardId=shards[0]["ShardId"], ShardIteratorType="LATEST"
        )["ShardIterator"]

    def hand_over(self) -> int:
        """Take what came since the last time to `chat_turn`, behind what has to come again; how
        many records there were."""
        records = [*self._again, *self._new()]
        if not records:
            return 0
        self._again = self._left(records, _numbers(records))
        answer = self._invoke("chat_turn", {"Records": records}) or {}
        failed = {str(f["itemIdentifier"]) for f in answer.get("batchItemFailures", ())}
        self._again = self._left(records, failed) if failed else []
        return len(records)

    def _new(self) -> list[dict[str, Any]]:
        written = len(self._written)
        if written == self._seen:
            return []
        found = self._client.get_records(ShardIterator=self._next, Limit=100)
        self._seen = self._seen + len(found["Records"]) if found["Records"] else written
        self._next = found["NextShardIterator"]
        return [
            {**record, "eventSource": "aws:dynamodb", "dynamodb": _plain(record["dynamodb"])}
            for record in found["Records"]
            if record["eventName"] == "INSERT"
        ]

    def _left(self, records: list[dict[str, Any]], failed: set[str]) -> list[dict[str, Any]]:
        """The records from the first one that failed on, without those that failed too often."""
        first = next(i for i, r in enumerate(records) if _number(r) in failed)
        for record in records[first:]:
            self._attempts[_number(record)] = self._attempts.get(_number(record), 0) + 1
        return [r for r in records[first:] if self._attempts[_number(r)] < ATTEMPTS]


def _number(record: Mapping[str, Any]) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def _numbers(records: list[dict[str, Any]]) -> set[str]:
    return {_number(record) for record in records}


def _plain(change: Mapping[str, Any]) -> dict[str, Any]:
    """A change as JSON carries it: its time is in seconds."""
    at = change.get("ApproximateCreationDateTime")
    return {**change, "ApproximateCreationDateTime": at.timestamp() if at else 0}
