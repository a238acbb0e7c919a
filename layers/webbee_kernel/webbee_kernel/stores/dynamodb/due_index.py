"""The due index: whose timer falls due when, in partitions; and how far the tick has come in
each."""

from __future__ import annotations

from ...values import DueUser, ShardMark, UserKey
from ..jsontext import loads
from ..paging import Cursor, positive
from .client import LAYOUT, ConditionFailed, Database, Item, N, S, key_of, stamp


async def page(
    database: Database,
    table: str,
    shard: int,
    between: tuple[float, float],
    limit: int,
    cursor: str | None,
) -> tuple[tuple[tuple[UserKey, DueUser], ...], str | None]:
    """Who is due in one partition from a time on and before another, earliest first. Sections of
    the release before stand in the index by themselves: their user is named for each."""
    since, before = between
    tokens = Cursor("due", shard)
    start = {}
    if cursor is not None:
        due_at, pk, sk = tokens.read(cursor, 3)
        where = {"due_shard": S(str(shard)), "due_at": N(due_at)}
        start["ExclusiveStartKey"] = {**key_of(pk, sk), **where}
    items = await database.items(
        need=positive(limit) + 1,
        TableName=table,
        IndexName="due",
        KeyConditionExpression="#due_shard = :shard AND #due_at BETWEEN :since AND :before",
        ExpressionAttributeValues={
            ":shard": S(str(shard)),
            ":since": N(since),
            ":before": N(before),
        },
        **start,
    )
    found, rest = items[:limit], items[limit:]
    users = tuple(
        (UserKey(*item["pk"]["S"].split("#")), DueUser(loads(item["user"]["S"]), at))
        for item in found
        if (at := float(item["due_at"]["N"])) < before
    )
    if not rest:
        return users, None
    last = found[-1]
    return users, tokens.write(float(last["due_at"]["N"]), last["pk"]["S"], last["sk"]["S"])


async def begin(
    database: Database, table: str, shard: int, now: float, until: float
) -> ShardMark | None:
    """Take a partition to look through; None while somebody else does."""
    own = stamp()
    try:
        answer = await database.write(
            "update_item",
            own=own,
            TableName=table,
            Key=_key(shard),
            UpdateExpression="SET #lease_until = :until, #stamp = :stamp, #schema = :schema",
            ConditionExpression="attribute_not_exists(#pk) OR #lease_until <= :now",
            ExpressionAttributeValues={
                ":until": N(until),
                ":now": N(now),
                ":stamp": own["stamp"],
                ":schema": LAYOUT["schema"],
            },
            ReturnValues="ALL_NEW",
        )
    except ConditionFailed:
        return None
    item = answer["Attributes"]
    return ShardMark(_number(item, "queued_until"), _number(item, "swept_at"), until)


async def move(database: Database, table: str, shard: int, mark: ShardMark, done: bool) -> bool:
    """Note how far it has come, and with `done` give it back; False when it was lost meanwhile."""
    try:
        await database.write(
            "update_item",
            TableName=table,
            Key=_key(shard),
            UpdateExpression=(
                "SET #queued_until = :queued, #swept_at = :swept, #lease_until = :free"
            ),
            ConditionExpression="#lease_until = :lease",
            ExpressionAttributeValues={
                ":queued": N(mark.queued_until),
                ":swept": N(mark.swept_at),
                ":free": N(0.0 if done else mark.lease),
                ":lease": N(mark.lease),
            },
        )
    except ConditionFailed:
        return False
    return True


async def queued_until(database: Database, table: str, shard: int) -> float:
    """How far the tick has come; half a read unit."""
    answer = await database.call("get_item", TableName=table, Key=_key(shard))
    return _number(answer.get("Item", {}), "queued_until")


def _key(shard: int) -> Item:
    return key_of(f"!due#{shard}", "!shard")


def _number(item: Item, name: str) -> float:
    return float(item[name]["N"]) if name in item else 0.0
