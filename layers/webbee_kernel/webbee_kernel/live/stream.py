"""The stream of the events table, as DynamoDB hands it to a function: every event that is stored,
whoever stored it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..stores.codec import event_from
from ..stores.keys import user_of
from ..types import Event, UserKey


def is_stream(event: Mapping[str, Any]) -> bool:
    """Whether a function was woken by a stream."""
    records = event.get("Records") or [{}]
    return bool(records[0].get("eventSource") == "aws:dynamodb")


def stored(record: Mapping[str, Any]) -> tuple[UserKey, Event] | None:
    """User and event of an item that was written; None for what is no new event, such as one that
    expired. Raises ValueError for an item that is no event of a user."""
    image = record["dynamodb"].get("NewImage")
    if record.get("eventName") != "INSERT" or not image:
        return None
    try:
        return user_of(image["pk"]["S"]), event_from(image["body"]["S"])
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"an item of the events table is no event: {error!r}") from error
