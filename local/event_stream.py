"""The stream of the events table: what Lambda's poller reads and hands to its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.config import Config
from moto.dynamodb.models import dynamodb_backends


class EventStream:
    """Reads one table's stream, from its creation on, in order. Where moto has written nothing it
    is not asked: looking twenty times a second would cost a twentieth of a processor."""

    def __init__(self, table: str, invoke: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self._invoke = invoke
        # moto knows no endpoints with an account's id in them
        config = Config(account_id_endpoint_mode="disabled")
        self._client: Any = boto3.client("dynamodbstreams", config=config)
        database = boto3.client("dynamodb")
        backend = dynamodb_backends["123456789012"][database.meta.region_name]
        self._written = backend.tables[table].stream_shard.items
        self._seen = len(self._written)
        arn = database.describe_table(TableName=table)["Table"]["LatestStreamArn"]
        shards = self._client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        self._next = self._client.get_shard_iterator(
            StreamArn=arn, ShardId=shards[0]["ShardId"], ShardIteratorType="LATEST"
        )["ShardIterator"]

    def hand_over(self) -> int:
        """Take what came since the last time to `chat_turn`; how many records there were."""
        written = len(self._written)
        if written == self._seen:
            return 0
        found = self._client.get_records(ShardIterator=self._next, Limit=100)
        self._seen = self._seen + len(found["Records"]) if found["Records"] else written
        self._next = found["NextShardIterator"]
        records = [
            {**record, "eventSource": "aws:dynamodb", "dynamodb": _plain(record["dynamodb"])}
            for record in found["Records"]
            if record["eventName"] == "INSERT"
        ]
        if records:
            self._invoke("chat_turn", {"Records": records})
        return len(records)


def _plain(change: Mapping[str, Any]) -> dict[str, Any]:
    """A change as JSON carries it: its time is in seconds."""
    at = change.get("ApproximateCreationDateTime")
    return {**change, "ApproximateCreationDateTime": at.timestamp() if at else 0}
