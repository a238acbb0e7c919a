"""The audit trail, append only.

    pk tenant#user   sk call#<record id>   body             one finished call
                     sk effect#<effect>    body  record_id  an effect's claim, before it happens

Every write is conditional on absence (a claim's on its having expired, swept or not) and needs no
permission but PutItem: no role may change or delete a record, which rules BatchWriteItem out. A
record and its events go in one transaction, so neither exists without the other.

    events: pk tenant#user, sk the event's id, which sorts by time
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

from ...types import AuditRecord, Event, JSONObject, UserKey
from ..codec import audit_from, audit_text, event_from, event_text
from ..keys import user_key
from ..paging import positive
from .client import (
    LAYOUT,
    ConditionFailed,
    Database,
    Item,
    N,
    S,
    TableStore,
    holds,
    key_of,
    lives,
    stamp,
)

_ABSENT = "attribute_not_exists(#pk)"
_UNCLAIMED = f"{_ABSENT} OR #expires_at <= :now"
_TOGETHER = 99
"""Events beside the record in one transaction, which takes 100 items."""


class DynamoEventStore(TableStore):
    """`EventStore` on one table."""

    async def append(self, user: UserKey, event: Event, *, expires_at: int) -> bool:
        own = stamp()
        item = {**event_item(user, event, expires_at), **own}
        return await holds(self._put(item, _ABSENT, own=own))

    async def since(
        self, user: UserKey, last_id: str, *, limit: int = 100, now: float
    ) -> tuple[Event, ...]:
        values = {":pk": S(user_key(user))}
        condition = "#pk = :pk"
        if last_id:  # DynamoDB takes no empty key
            condition, values[":last"] = "#pk = :pk AND #sk > :last", S(last_id)
        items = await self._living(now, positive(limit), condition, values)
        return tuple(event_from(item["body"]["S"]) for item in items)


def event_item(user: UserKey, event: Event, expires_at: int) -> Item:
    """An event as it is stored."""
    return {
        **key_of(user_key(user), event.event_id),
        **LAYOUT,
        "body": S(event_text(event)),
        "expires_at": N(expires_at),
    }


class DynamoAuditStore(TableStore):
    """`AuditStore` on the audit table; `append` also writes the events table."""

    def __init__(self, database: Database, table: str, events_table: str) -> None:
        super().__init__(database, table)
        self._events_table = events_table

    async def begin(
        self, user: UserKey, effect: str, record: AuditRecord, *, expires_at: int, now: float
    ) -> AuditRecord | None:
        own = stamp()
        intent = replace(record, status="started")
        item = {
            **key_of(user_key(user), f"effect#{effect}"),
            "body": S(audit_text(intent)),
            "record_id": S(record.record_id),
            "expires_at": N(expires_at),
            **own,
        }
        try:
            await self._put(item, _UNCLAIMED, {":now": N(now)}, own=own)
        except ConditionFailed as failure:
            held = failure.item
        else:
            return None
        done = await self._get(key_of(user_key(user), f"call#{held['record_id']['S']}"))
        return audit_from((done if done and lives(done, now) else held)["body"]["S"])

    async def append(
        self,
        user: UserKey,
        record: AuditRecord,
        *,
        expires_at: int,
        events: tuple[Event, ...] = (),
        events_expire_at: int = 0,
    ) -> None:
        """Repeatable: what is there already stays as it is."""
        item = {
            **key_of(user_key(user), f"call#{record.record_id}"),
            **LAYOUT,
            "body": S(audit_text(record)),
            "expires_at": N(expires_at),
        }
        puts = [_absent(self._table, item)]
        puts += [_absent(self._events_table, event_item(user, e, events_expire_at)) for e in events]
        if 1 < len(puts) <= _TOGETHER + 1:
            with suppress(ConditionFailed):  # a repetition: complete it one by one
                await self._database.transact(*({"Put": put} for put in puts))
                return
        for put in puts:
            with suppress(ConditionFailed):
                await self._database.write("put_item", **put)

    async def list(
        self, user: UserKey, *, limit: int = 100, before: str = "", now: float
    ) -> tuple[AuditRecord, ...]:
        pk = user_key(user)
        start = {"ExclusiveStartKey": key_of(pk, f"call#{before}")} if before else {}
        condition = "#pk = :pk AND begins_with(#sk, :calls)"
        values = {":pk": S(pk), ":calls": S("call#")}
        items = await self._living(
            now, positive(limit), condition, values, ScanIndexForward=False, **start
        )
        return tuple(audit_from(item["body"]["S"]) for item in items)


def _absent(table: str, item: Item) -> JSONObject:
    return {"TableName": table, "Item": item, "ConditionExpression": _ABSENT}
