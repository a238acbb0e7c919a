"""The stream of the events table: what Lambda's poller reads and hands to its function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import boto3
from botocore.config import Config


class EventStream:
    """Reads one table's stream, from its creation on, in order."""

    def __init__(self, table: str, invoke: Callable[[str, Mapping[str, Any]], Any]) -> None:
        self._invoke = invoke
        # moto knows no endpoints with an account's id in them
        config = Config(account_id_endpoint_mode="disabled")
        self._client: Any = boto3.client("dynamodbstreams", config=config)
        arn = boto3.client("dynamodb").describe_table(TableName=table)["Table"]["LatestStreamArn"]
        shards = self._client.describe_stream(StreamArn=arn)["StreamDescription"]["Shards"]
        self._next = self._client.get_shard_iterator(
            StreamArn=arn, ShardId=shards[0]["ShardId"], ShardIteratorType="LATEST"
        )["ShardIterator"]

    def hand_over(self) -> int:
        """Take what came since the last time to `chat_turn`; how many records there were."""
        found = self._client.get_records(ShardIterator=self._next, Limit=100)
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
