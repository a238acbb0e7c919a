"""What is counted against limits: an item a day.

    pk tenant#user   sk day#<day>   tokens  m<minute> …  marks<minute> …  expires_at
    pk tenant#       sk day#<day>   tokens  expires_at

A minute's requests are an attribute of its day, so that one conditional update asks both limits and
counts. The minutes before it go with it: an item keeps the last few, not a day's 1,440.
"""

from __future__ import annotations

from itertools import chain

from ...types import JSONObject, UserKey
from ..keys import tenant_key, user_key
from ..types import Counted, Used
from .client import LAYOUT, ConditionFailed, Item, N, TableStore, key_of

DAY_S = 86_400
_MINUTES = 1440
_MARKS = "marks"
_FORGOTTEN = range(2, 12)
"""Minutes back whose counts go: whoever comes back later leaves single ones until the day ends."""


class DynamoLimitStore(TableStore):
    """`LimitStore` on one table."""

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
        update = f"{added} REMOVE {_old(minute)}"
        try:
            answer = await self._change(user_key(user), day, update, used, held, returns="ALL_OLD")
        except ConditionFailed as failure:
            stands = failure.item
            used_up = Used(_number(stands, name), _number(stands, "tokens"))
            return Counted(refused=used_up, beside=_marks(stands, minute))
        return Counted(beside=_marks(answer.get("Attributes", {}), minute))

    async def give_back(self, user: UserKey, *, minute: int) -> None:
        update = f" ADD #m{minute} :one"
        await self._change(user_key(user), minute // _MINUTES, update, {":one": N(-1)})

    async def mark(self, user: UserKey, mark: str, *, minute: int) -> None:
        update = f" ADD #{_MARKS}{minute} :marks REMOVE {_old(minute)}"
        values: Item = {":marks": {"SS": [mark]}}
        await self._change(user_key(user), minute // _MINUTES, update, values)

    async def spend(self, whose: UserKey | str, *, day: int, tokens: int) -> int:
        pk = tenant_key(whose) if isinstance(whose, str) else user_key(whose)
        more = {":more": N(tokens)}
        answer = await self._change(pk, day, " ADD #tokens :more", more, returns="ALL_NEW")
        return _number(answer["Attributes"], "tokens")

    async def together(self, tenant_id: str, *, day: int) -> int:
        item = await self._get(key_of(tenant_key(tenant_id), _day(day)))
        return _number(item or {}, "tokens")

    async def _change(
        self,
        pk: str,
        day: int,
        update: str,
        values: Item,
        condition: str = "",
        *,
        returns: str = "",
    ) -> JSONObject:
        """Change a day's item, which expires a day after it ended."""
        values = {**values, ":expires": N((day + 2) * DAY_S), ":schema": LAYOUT["schema"]}
        update = f"SET #expires_at = :expires, #schema = :schema{update}"
        key = key_of(pk, _day(day))
        return await self._update(key, update, values, condition, returns=returns)


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
