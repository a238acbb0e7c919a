"""Items of one user in DynamoDB: cached values, used limits, connections, audit records."""

from __future__ import annotations

import asyncio
import math
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Final

import orjson

from ...clock import digest
from ...types import AuditRecord, Event, JSONObject, UserKey
from ..codec import audit_from, audit_text, event_from, event_text
from ..item_keys import app_key, entry_key, tenant_key, user_key
from ..paging import positive
from ..types import Counted, Used
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


class CacheStore(TableStore):
    """Bytes with an expiry, per user, app, model name and key. Each method is one request; a delete
    under several models is one for each, side by side."""

    async def get(
        self, user: UserKey, app_id: str, model: str, key: str, *, now: float
    ) -> bytes | None:
        """The value unless it expired: an entry is gone at `expires_at`, swept or not."""
        item = await self._get(key_of(app_key(user, app_id), entry_key(model, key)))
        if item is None or now >= float(item["expiry"]["N"]):
            return None
        return bytes(item["value"]["B"])

    async def set(
        self, user: UserKey, app_id: str, model: str, key: str, value: bytes, *, expires_at: float
    ) -> None:
        """Write, replacing."""
        item = {
            **key_of(app_key(user, app_id), entry_key(model, key)),
            "value": {"B": value},
            "expiry": N(expires_at),
            "expires_at": N(math.ceil(expires_at)),
        }
        await self._put(item)

    async def delete(self, user: UserKey, app_id: str, models: tuple[str, ...], key: str) -> None:
        """Remove the key under each of these model names. Repeatable."""
        keys = [key_of(app_key(user, app_id), entry_key(model, key)) for model in models]
        await asyncio.gather(*map(self._delete, keys))

    async def purge(self, user: UserKey, app_id: str) -> int:
        """Remove everything of the app for this user; how many entries there were."""
        items = await self._partition(app_key(user, app_id), ProjectionExpression="#pk, #sk")
        await self._database.delete_batch(self._table, items)
        return len(items)


DAY_S = 86_400
_MINUTES = 1440
_MARKS = "marks"
_FORGOTTEN = range(2, 12)
"""Minutes back whose counts go: whoever comes back later leaves single ones until the day ends."""


class LimitStore(TableStore):
    """Requests a minute and tokens a day, of users and tenants. A day is one item, which expires;
    days and minutes are UTC's, counted since 1970."""

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
        """Count one request of this minute, and tokens `spent` before it on the minute's day,
        unless the minute has `requests` already or its day, with those, `tokens` (0: no limit):
        then nothing is counted and what stands there is returned. A `mark` is left with the count
        and forgotten with it, a minute later at the earliest.

        One conditional write, however many race: of a limit of ten, ten get through.
        """
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
        """A request that was counted in this minute asked for nothing new. One write."""
        update = f" ADD #m{minute} :one"
        await self._change(user_key(user), minute // _MINUTES, update, {":one": N(-1)})

    async def mark(self, user: UserKey, mark: str, *, minute: int) -> None:
        """Leave another mark in this minute. One write."""
        update = f" ADD #{_MARKS}{minute} :marks REMOVE {_old(minute)}"
        values: Item = {":marks": {"SS": [mark]}}
        await self._change(user_key(user), minute // _MINUTES, update, values)

    async def spend(self, whose: UserKey | str, *, day: int, tokens: int) -> int:
        """Add tokens to the day of a user, or of a tenant by its id; what it has now. One write."""
        pk = tenant_key(whose) if isinstance(whose, str) else user_key(whose)
        more = {":more": N(tokens)}
        answer = await self._change(pk, day, " ADD #tokens :more", more, returns="ALL_NEW")
        return _number(answer["Attributes"], "tokens")

    async def together(self, tenant_id: str, *, day: int) -> int:
        """What a tenant's day has. One read."""
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


@lru_cache(maxsize=4)
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


NAMED: Final = ("connection", "ticket")
"""Kinds of items of the table of connections that name a person under keys of their own,
`<kind>!…`: for as long as a WebSocket is open, three hours at most, or a ticket for one lasts, a
minute. An erasure ends them before it walks (`ConnectionStore.forget`); an export has nothing of
theirs to tell that its caller did not send."""

_OPEN = "connection#"
_TICKET = "ticket#"
_ALONE = "-"


class ConnectionStore(TableStore):
    """What chat_turn knows of open WebSockets. Everything here expires within hours; a lost item
    costs a reconnection, never data. Every method is one request."""

    async def issue(self, ticket: str, user: JSONObject, *, expires_at: int) -> None:
        """Keep who may open a connection with `ticket`. Only its hash is stored."""
        own = key_of(_of(user), _TICKET + digest("ticket", ticket))
        await self._put_both({**_ticket(ticket), **_who(user)}, own, expires_at)

    async def take(self, ticket: str, *, now: float) -> JSONObject | None:
        """Whose ticket it is, once: None for one that was taken, expired by `now` or never was. A
        deletion whose answer was lost finds nothing when it is repeated, and the page asks for
        another ticket."""
        try:
            answer = await self._delete(
                _ticket(ticket), "#expires_at > :now", {":now": N(now)}, returns="ALL_OLD"
            )
        except ConditionFailed:
            return None
        return _user(answer["Attributes"])

    async def open(self, connection_id: str, user: JSONObject, *, expires_at: int) -> None:
        """A connection is open, with the identity that it was opened with."""
        own = key_of(_of(user), _OPEN + connection_id)
        await self._put_both({**_connection(connection_id), **_who(user)}, own, expires_at)

    async def find(self, connection_id: str, *, now: float) -> JSONObject | None:
        """Who is behind a connection; None where it is not open."""
        item = await self._get(_connection(connection_id))
        return _user(item) if item and lives(item, now) else None

    async def of_user(self, user: UserKey, *, now: float) -> tuple[str, ...]:
        """The user's open connections, in one strongly consistent query."""
        items = await self._partition(user_key(user), _OPEN)
        return tuple(i["sk"]["S"].removeprefix(_OPEN) for i in items if lives(i, now))

    async def close(self, user: UserKey, connection_id: str) -> None:
        """Forget a connection. Repeatable."""
        keys = (_connection(connection_id), key_of(user_key(user), _OPEN + connection_id))
        await self._database.delete_batch(self._table, keys)

    async def forget(self, user: UserKey) -> None:
        """Forget every connection and ticket of the user. Repeatable. One query, then what it led
        to: the items that name the user lie under keys of their own."""
        keys = []
        for item in await self._partition(user_key(user)):
            kind, _, name = item["sk"]["S"].partition("#")
            if kind in NAMED:
                keys += [key_of(f"{kind}!{name}", _ALONE), key_of(item["pk"]["S"], item["sk"]["S"])]
        await self._database.delete_batch(self._table, keys)

    async def stop(self, user: UserKey, request_id: str, *, expires_at: int) -> None:
        """Ask the turn of this request to stop, wherever it runs. Repeatable."""
        await self._put({**_stop(user, request_id), "expires_at": N(expires_at)})

    async def stopped(self, user: UserKey, request_id: str, *, now: float) -> bool:
        """Whether the turn of this request was asked to stop."""
        item = await self._get(_stop(user, request_id))
        return bool(item and lives(item, now))

    async def _put_both(self, named: Item, own: Item, expires_at: int) -> None:
        kept = [{**item, "expires_at": N(expires_at), **LAYOUT} for item in (named, own)]
        await self._database.batch(self._table, [{"PutRequest": {"Item": item}} for item in kept])


def _ticket(ticket: str) -> Item:
    return key_of(f"ticket!{digest('ticket', ticket)}", _ALONE)


def _connection(connection_id: str) -> Item:
    return key_of(f"connection!{connection_id}", _ALONE)


def _stop(user: UserKey, request_id: str) -> Item:
    return key_of(user_key(user), f"stop#{request_id}")


def _of(user: JSONObject) -> str:
    return user_key(UserKey(str(user["tenant_id"]), str(user["imperal_id"])))


def _who(user: JSONObject) -> Item:
    return {"user": S(orjson.dumps(user).decode())}


def _user(item: Item) -> JSONObject:
    user: JSONObject = orjson.loads(item["user"]["S"])
    return user


_ABSENT = "attribute_not_exists(#pk)"
_UNCLAIMED = f"{_ABSENT} OR #expires_at <= :now"
_TOGETHER = 99
"""Events beside the record in one transaction, which takes 100 items."""


class EventStore(TableStore):
    """What the page is told, in order of id."""

    async def append(self, user: UserKey, event: Event, *, expires_at: int) -> bool:
        """Write unless an event of this id exists; whether it was new."""
        own = stamp()
        item = {**event_item(user, event, expires_at), **own}
        return await holds(self._put(item, _ABSENT, own=own))

    async def since(
        self, user: UserKey, last_id: str, *, limit: int = 100, now: float
    ) -> tuple[Event, ...]:
        """Events with a greater id, oldest first, without those that expired by `now`."""
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


class AuditStore(TableStore):
    """Append only: what was done, and the guard against doing it twice. `append` also writes the
    events table."""

    def __init__(self, database: Database, table: str, events_table: str) -> None:
        super().__init__(database, table)
        self._events_table = events_table

    async def begin(
        self, user: UserKey, effect: str, record: AuditRecord, *, expires_at: int, now: float
    ) -> AuditRecord | None:
        """Claim an effect before it happens.

        Writes the intent under the deterministic key `effect` on condition that none stands there
        that lives at `now`, and returns None. Where one does: returns the completed record of the
        first delivery, or, while that one has not finished (or died half-way), its intent, whose
        `status` is "started".
        """
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
        """Write the record of a finished call, and the events it caused, in one call to the
        database. Repeatable: what is there already stays as it is."""
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
        """The newest records first, or those older than the record `before`, without those that
        expired by `now`."""
        pk = user_key(user)
        start: JSONObject = {"ExclusiveStartKey": key_of(pk, f"call#{before}")} if before else {}
        condition = "#pk = :pk AND begins_with(#sk, :calls)"
        values = {":pk": S(pk), ":calls": S("call#")}
        items = await self._living(
            now, positive(limit), condition, values, ScanIndexForward=False, **start
        )
        return tuple(audit_from(item["body"]["S"]) for item in items)


def _absent(table: str, item: Item) -> JSONObject:
    return {"TableName": table, "Item": item, "ConditionExpression": _ABSENT}
