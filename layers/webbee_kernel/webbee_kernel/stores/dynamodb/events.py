"""Events: pk tenant#user, sk the event's id, which sorts by time."""

from __future__ import annotations

from ...values import Event, UserKey
from ..codec import event_from, event_text
from ..keys import user_key
from ..paging import positive
from .client import LAYOUT, Database, Item, N, S, key_of, stamp


class DynamoEventStore:
    """`EventStore` on one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def append(self, user: UserKey, event: Event, *, expires_at: int) -> bool:
        own = stamp()
        item = {**event_item(user, event, expires_at), **own}
        return await self._database.wrote(
            "put_item",
            own=own,
            TableName=self._table,
            Item=item,
            ConditionExpression="attribute_not_exists(#pk)",
        )

    async def since(
        self, user: UserKey, last_id: str, *, limit: int = 100, now: float
    ) -> tuple[Event, ...]:
        values = {":pk": S(user_key(user))}
        condition = "#pk = :pk"
        if last_id:  # DynamoDB takes no empty key
            condition, values[":last"] = "#pk = :pk AND #sk > :last", S(last_id)
        items = await self._database.living(
            now,
            need=positive(limit),
            TableName=self._table,
            KeyConditionExpression=condition,
            ExpressionAttributeValues=values,
            ConsistentRead=True,
        )
        return tuple(event_from(item["body"]["S"]) for item in items)


def event_item(user: UserKey, event: Event, expires_at: int) -> Item:
    """An event as it is stored."""
    return {
        **key_of(user_key(user), event.event_id),
        **LAYOUT,
        "body": S(event_text(event)),
        "expires_at": N(expires_at),
    }
