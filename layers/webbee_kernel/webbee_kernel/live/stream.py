"""The stream of the events table, as DynamoDB hands it to a function: every event that is stored,
whoever stored it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..stores.keys import user_of
from ..stores.records import event_from
from ..values import Event, UserKey


def is_stream(event: Mapping[str, Any]) -> bool:
    """Whether a function was woken by a stream."""
    records = event.get("Records") or []
    return bool(records) and records[0].get("eventSource") == "aws:dynamodb"


def stored(records: Iterable[Mapping[str, Any]]) -> Iterator[tuple[UserKey, Event]]:
    """User and event of each item that was written, oldest first; what expires is
    no event."""
    for record in records:
        image = record["dynamodb"].get("NewImage")
        if record.get("eventName") == "INSERT" and image:
            yield user_of(image["pk"]["S"]), event_from(image["body"]["S"])
