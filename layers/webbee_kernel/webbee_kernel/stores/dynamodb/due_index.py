"""The due index: whose timer falls due when, in partitions; and how far the tick has come in
each."""

from __future__ import annotations

from ...values import DueUser, ShardMark, UserKey
from ..jsontext import loads
from ..keys import shard_of, user_of
from ..paging import Cursor, positive
from .client import LAYOUT, ConditionFailed, Item, N, S, key_of, stamp
from .skeleton_items import SkeletonTable, number


class DueIndex(SkeletonTable):
    """What of the table is by partition."""

    async def due(
        self,
        shard: int,
        before: float,
        *,
        since: float = 0.0,
        limit: int = 500,
        cursor: str | None = None,
    ) -> tuple[tuple[tuple[UserKey, DueUser], ...], str | None]:
        tokens = Cursor("due", shard)
        start = {}
        if cursor is not None:
            due_at, pk, sk = tokens.read(cursor, 3)
            where = {"due_shard": S(str(shard)), "due_at": N(due_at)}
            start["ExclusiveStartKey"] = {**key_of(pk, sk), **where}
        items = await self._database.items(
            need=positive(limit) + 1,
            TableName=self._table,
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
            (user_of(item["pk"]["S"]), DueUser(loads(item["user"]["S"]), at))
            for item in found
            if (at := float(item["due_at"]["N"])) < before
        )
        if not rest:
            return users, None
        last = found[-1]
        return users, tokens.write(float(last["due_at"]["N"]), last["pk"]["S"], last["sk"]["S"])

    async def begin_shard(self, shard: int, *, now: float, until: float) -> ShardMark | None:
        own = stamp()
        try:
            answer = await self._database.write(
                "update_item",
                own=own,
                TableName=self._table,
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

    async def move_shard(self, shard: int, mark: ShardMark, *, done: bool = False) -> bool:
        return await self._database.wrote(
            "update_item",
            TableName=self._table,
            Key=_key(shard),
            UpdateExpression="SET #queued_until = :queued, #swept_at = :swept,"
            " #lease_until = :free",
            ConditionExpression="#lease_until = :lease",
            ExpressionAttributeValues={
                ":queued": N(mark.queued_until),
                ":swept": N(mark.swept_at),
                ":free": N(0.0 if done else mark.lease),
                ":lease": N(mark.lease),
            },
        )

    async def queued_until(self, user: UserKey) -> float:
        """Half a read unit."""
        key = _key(shard_of(user, self._shards))
        answer = await self._database.call("get_item", TableName=self._table, Key=key)
        return _number(answer.get("Item", {}), "queued_until")


def _key(shard: int) -> Item:
    return key_of(f"!due#{shard}", "!shard")


def _number(item: Item, name: str) -> float:
    return number(item, name) or 0.0
