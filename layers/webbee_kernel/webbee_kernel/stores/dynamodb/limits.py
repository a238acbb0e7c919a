"""What is counted against limits: an item a day.

    pk tenant#user   sk day#<day>   tokens  m<minute> …  expires_at
    pk tenant#       sk day#<day>   tokens  expires_at

A minute's requests are an attribute of its day, so that one conditional update asks both limits and
counts. The minutes before it go with it: an item keeps the last few, not a day's 1,440.
"""

from __future__ import annotations

from ...values import Used, UserKey
from ...values.plain import JSONObject
from ..keys import tenant_key, user_key
from .client import LAYOUT, ConditionFailed, Database, Item, N, key_of

DAY_S = 86_400
_MINUTES = 1440
_FORGOTTEN = range(2, 12)
"""Minutes back whose counts go: whoever comes back later leaves single ones until the day ends."""


class DynamoLimitStore:
    """`LimitStore` on one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def take(
        self, user: UserKey, *, minute: int, requests: int, tokens: int, spent: int = 0
    ) -> Used | None:
        name = f"m{minute}"
        day = minute // _MINUTES
        old = [f"#m{minute - back}" for back in _FORGOTTEN]
        asked = [
            (requests, f"(attribute_not_exists(#{name}) OR #{name} < :requests)"),
            (tokens, "(attribute_not_exists(#tokens) OR #tokens < :tokens)"),
        ]
        held = " AND ".join(condition for limit, condition in asked if limit)
        added = f" ADD #{name} :one" + (", #tokens :spent" if spent else "")
        values = {
            ":one": N(1),
            ":requests": N(requests),
            ":tokens": N(tokens - spent),
            ":spent": N(spent),
        }
        used = {v: values[v] for v in values if v in held + added}
        request = self._day(user_key(user), day, used)
        request["UpdateExpression"] += f"{added} REMOVE {', '.join(old)}"
        if held:
            request["ConditionExpression"] = held
        try:
            await self._database.write("update_item", **request)
        except ConditionFailed as failure:
            return Used(_number(failure.item, name), _number(failure.item, "tokens"))
        return None

    async def spend(self, user: UserKey, *, day: int, tokens: int) -> None:
        await self._add(user_key(user), day, tokens)

    async def spend_together(self, tenant_id: str, *, day: int, tokens: int) -> int:
        return await self._add(tenant_key(tenant_id), day, tokens)

    async def together(self, tenant_id: str, *, day: int) -> int:
        item = await self._database.get(self._table, key_of(tenant_key(tenant_id), _day(day)))
        return _number(item or {}, "tokens")

    async def _add(self, pk: str, day: int, tokens: int) -> int:
        request = self._day(pk, day, {":more": N(tokens)})
        request["UpdateExpression"] += " ADD #tokens :more"
        answer = await self._database.call("update_item", **request, ReturnValues="ALL_NEW")
        return _number(answer["Attributes"], "tokens")

    def _day(self, pk: str, day: int, values: Item) -> JSONObject:
        """An update of a day's item, which expires a day after it ended."""
        return {
            "TableName": self._table,
            "Key": key_of(pk, _day(day)),
            "UpdateExpression": "SET #expires_at = :expires, #schema = :schema",
            "ExpressionAttributeValues": {
                **values,
                ":expires": N((day + 2) * DAY_S),
                ":schema": LAYOUT["schema"],
            },
        }


def _day(day: int) -> str:
    return f"day#{day}"


def _number(item: Item, name: str) -> int:
    return int(item[name]["N"]) if name in item else 0
