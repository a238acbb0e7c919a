"""What is counted against limits: an item a day.

    pk tenant#user   sk day#<day>   tokens  m<minute> …  marks<minute> …  expires_at
    pk tenant#       sk day#<day>   tokens  expires_at

A minute's requests are an attribute of its day, so that one conditional update asks both limits and
counts. The minutes before it go with it: an item keeps the last few, not a day's 1,440.
"""

from __future__ import annotations

from itertools import chain

from ...values import Counted, Used, UserKey
from ...values.plain import JSONObject
from ..keys import tenant_key, user_key
from .client import LAYOUT, ConditionFailed, Database, Item, N, key_of

DAY_S = 86_400
_MINUTES = 1440
_MARKS = "marks"
_FORGOTTEN = range(2, 12)
"""Minutes back whose counts go: whoever comes back later leaves single ones until the day ends."""


class DynamoLimitStore:
    """`LimitStore` on one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def take(
        self,
        user: UserKey,
        *,
        minute: int,
        requests: int,
        tokens: int,
        spent: int = 0,
        mark: str = "",
    ) -> Counted:
        name = f"m{minute}"
        day = minute // _MINUTES
        asked = [
            (requests, f"(attribute_not_exists(#{name}) OR #{name} < :requests)"),
            (tokens, "(attribute_not_exists(#tokens) OR #tokens < :tokens)"),
        ]
        held = " AND ".join(condition for limit, condition in asked if limit)
        added = f" ADD #{name} :one" + (", #tokens :spent" if spent else "")
        added += f", #{_MARKS}{minute} :marks" if mark else ""
        values = {
            ":one": N(1),
            ":requests": N(requests),
            ":tokens": N(tokens - spent),
            ":spent": N(spent),
            ":marks": {"SS": [mark]},
        }
        used = {v: values[v] for v in values if v in held + added}
        request = self._day(user_key(user), day, used)
        request["UpdateExpression"] += f"{added} REMOVE {_old(minute)}"
        if held:
            request["ConditionExpression"] = held
        try:
            answer = await self._database.write("update_item", **request, ReturnValues="ALL_OLD")
        except ConditionFailed as failure:
            stands = failure.item
            used_up = Used(_number(stands, name), _number(stands, "tokens"))
            return Counted(refused=used_up, beside=_marks(stands, minute))
        return Counted(beside=_marks(answer.get("Attributes", {}), minute))

    async def give_back(self, user: UserKey, *, minute: int) -> None:
        request = self._day(user_key(user), minute // _MINUTES, {":one": N(-1)})
        request["UpdateExpression"] += f" ADD #m{minute} :one"
        await self._database.call("update_item", **request)

    async def mark(self, user: UserKey, mark: str, *, minute: int) -> None:
        request = self._day(user_key(user), minute // _MINUTES, {":marks": {"SS": [mark]}})
        request["UpdateExpression"] += f" ADD #{_MARKS}{minute} :marks REMOVE {_old(minute)}"
        await self._database.call("update_item", **request)

    async def spend(self, whose: UserKey | str, *, day: int, tokens: int) -> int:
        pk = tenant_key(whose) if isinstance(whose, str) else user_key(whose)
        request = self._day(pk, day, {":more": N(tokens)})
        request["UpdateExpression"] += " ADD #tokens :more"
        answer = await self._database.call("update_item", **request, ReturnValues="ALL_NEW")
        return _number(answer["Attributes"], "tokens")

    async def together(self, tenant_id: str, *, day: int) -> int:
        item = await self._database.get(self._table, key_of(tenant_key(tenant_id), _day(day)))
        return _number(item or {}, "tokens")

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


def _old(minute: int) -> str:
    return ", ".join(f"#{of}{minute - back}" for back in _FORGOTTEN for of in ("m", _MARKS))


def _marks(item: Item, minute: int) -> frozenset[str]:
    """Those of this minute and the one before."""
    held = (item.get(f"{_MARKS}{at}", {"SS": ()})["SS"] for at in (minute - 1, minute))
    return frozenset(chain.from_iterable(held))


def _day(day: int) -> str:
    return f"day#{day}"


def _number(item: Item, name: str) -> int:
    return int(item[name]["N"]) if name in item else 0
