"""Items of one user in DynamoDB: cached values, used limits, connections, audit records; and the
cached catalogue."""

from __future__ import annotations

import asyncio
import logging
import math
from dataclasses import replace
from typing import Any, Final

import orjson

from ...catalogue import Catalogue
from ...clock import Clock, digest
from ...errors import BadInput, StorageUnavailable
from ...types import AuditRecord, Event, JSONObject, UserKey
from ..codec import (
    audit_from,
    audit_text,
    compress,
    decompress,
    dumps,
    event_from,
    event_text,
    loads,
)
from ..item_keys import KERNEL_APP, app_key, entry_key, tenant_key, user_key
from ..paging import check_limit
from ..types import CountResult, LimitUsage
from .client import ConditionFailed, Database, TableStore, is_written
from .item_requests import ABSENT, STAMP, Add, Item, is_unexpired, key_of, put

_log = logging.getLogger("webbee.store")


class CacheStore(TableStore):
    """Bytes with an expiry, per user, app, model name and key. Each method is one request; a delete
    under several models is one for each, side by side."""

    async def get(
        self, user: UserKey, app_id: str, model: str, key: str, *, now: float
    ) -> bytes | None:
        """The value unless it expired: an entry is gone at `expires_at`, swept or not."""
        item = await self._get(key_of(app_key(user, app_id), entry_key(model, key)))
        if item is None or now >= float(item["expiry"]):
            return None
        value: bytes = item["value"]
        return value

    async def set(
        self, user: UserKey, app_id: str, model: str, key: str, value: bytes, *, expires_at: float
    ) -> None:
        """Write, replacing."""
        item = {
            **key_of(app_key(user, app_id), entry_key(model, key)),
            "value": value,
            "expiry": expires_at,
            # the table's sweep knows whole seconds only, and must not come before `expiry`
            "expires_at": math.ceil(expires_at),
        }
        await self._put(item)

    async def delete(self, user: UserKey, app_id: str, models: tuple[str, ...], key: str) -> None:
        """Remove the key under each of these model names. Repeatable."""
        keys = [key_of(app_key(user, app_id), entry_key(model, key)) for model in models]
        await asyncio.gather(*map(self._delete, keys))

    async def purge(self, user: UserKey, app_id: str) -> int:
        """Remove everything of the app for this user; how many entries there were."""
        items = await self._partition(app_key(user, app_id), fields="#pk, #sk")
        await self._delete_batch(items)
        return len(items)


OWNER: Final = UserKey("deployed", "__kernel__")
"""A user key that no token can have."""
_CATALOGUE: Final = "catalogue"
CATALOGUE_S: Final = 90 * 86_400
"""Seconds that a catalogue is cached: 90 days."""


class CachedCatalogue:
    """The catalogue of one version of `tool_dispatch`, in the sessions table, which extension code
    cannot reach, so that a new process of `chat_turn` need not wait for `tool_dispatch`. Up to
    400 KB, compressed some 6,000 functions."""

    def __init__(self, store: CacheStore, version: str, clock: Clock) -> None:
        self._store = store
        self._version = version
        self._clock = clock

    async def find(self) -> Catalogue | None:
        """The cached catalogue; None also where the table does not answer."""
        try:
            found = await self._store.get(
                OWNER, KERNEL_APP, _CATALOGUE, self._version, now=self._clock.now()
            )
        except StorageUnavailable:
            return None
        return Catalogue.from_dict(loads(decompress(found))) if found else None

    async def put(self, catalogue: Catalogue) -> None:
        """Cache it; one that is too large or cannot be written is only logged."""
        packed = compress(dumps(catalogue.to_dict()))
        until = self._clock.now() + CATALOGUE_S
        try:
            await self._store.set(
                OWNER, KERNEL_APP, _CATALOGUE, self._version, packed, expires_at=until
            )
        except (BadInput, StorageUnavailable) as error:
            _log.warning("error=%s | the catalogue was not kept", type(error).__name__)


DAY_S = 86_400
_MINUTES = 1440
_MARKS = "marks"
_OLD_MINUTES = range(2, 12)
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
    ) -> CountResult:
        """Count one request of this minute, and tokens `spent` before it on the minute's day,
        unless the minute has `requests` already or its day, with those, `tokens` (0: no limit):
        then nothing is counted and what stands there is returned. A `mark` is left with the count
        and forgotten with it, a minute later at the earliest.

        One conditional write, however many race: of a limit of ten, ten get through.
        """
        name, limits = f"m{minute}", dict[str, int]()
        if requests:
            limits[name] = requests
        if tokens:
            # the condition sees what stood before: what this write adds comes off the limit
            limits["tokens"] = tokens - spent
        condition = " AND ".join(f"(attribute_not_exists(#{n}) OR #{n} < :{n})" for n in limits)
        changes = {name: Add(1), **_removal_of_old(minute)}
        changes |= {"tokens": Add(spent)} if spent else {}
        changes |= _mark_change(minute, mark) if mark else {}
        try:
            # the item before: its marks without the one that is left now
            before = await self._change(
                user_key(user), minute, changes, condition, returns="ALL_OLD", **limits
            )
        except ConditionFailed as failure:
            current = failure.item
            limit_usage = LimitUsage(current.get(name, 0), current.get("tokens", 0))
            return CountResult(used_up=limit_usage, marks_before=_marks(current, minute))
        return CountResult(marks_before=_marks(before, minute))

    async def give_back(self, user: UserKey, *, minute: int) -> None:
        """A request that was counted in this minute asked for nothing new. One write."""
        await self._change(user_key(user), minute, {f"m{minute}": Add(-1)})

    async def mark(self, user: UserKey, mark: str, *, minute: int) -> None:
        """Leave another mark in this minute. One write."""
        await self._change(
            user_key(user), minute, _mark_change(minute, mark) | _removal_of_old(minute)
        )

    async def spend(self, owner: UserKey | str, *, day: int, tokens: int) -> int:
        """Add tokens to the day of a user, or of a tenant by its id; what it has now. One write."""
        pk = tenant_key(owner) if isinstance(owner, str) else user_key(owner)
        item = await self._change(pk, day * _MINUTES, {"tokens": Add(tokens)})
        return int(item["tokens"])

    async def tenant_tokens(self, tenant_id: str, *, day: int) -> int:
        """What a tenant's day has. One read."""
        item = await self._get(key_of(tenant_key(tenant_id), f"day#{day}"))
        return int((item or {}).get("tokens", 0))

    async def _change(
        self, pk: str, minute: int, changes: Item, condition: str = "", **options: Any
    ) -> Item:
        """Change the item of the minute's day, which expires a day after it ended."""
        day = minute // _MINUTES
        key, until = key_of(pk, f"day#{day}"), {"expires_at": (day + 2) * DAY_S}
        return await self._update(key, until | changes, condition, **options)


def _mark_change(minute: int, mark: str) -> Item:
    return {f"{_MARKS}{minute}": Add({mark})}


def _removal_of_old(minute: int) -> Item:
    """What is forgotten."""
    # to remove what is not there is no error, so nothing has to be read first
    return {f"{of}{minute - back}": None for back in _OLD_MINUTES for of in ("m", _MARKS)}


def _marks(item: Item, minute: int) -> frozenset[str]:
    """Those of this minute and the one before."""
    before, now = item.get(f"{_MARKS}{minute - 1}", ()), item.get(f"{_MARKS}{minute}", ())
    return frozenset((*before, *now))


CONNECTION_KINDS: Final = ("connection", "ticket")
"""Kinds of items of the table of connections that name a person under keys of their own,
`<kind>!…`: for as long as a WebSocket is open, three hours at most, or a ticket for one lasts, a
minute. An erasure ends them before it walks (`ConnectionStore.forget`); an export has nothing of
theirs to tell that its caller did not send."""

_CONNECTION, _TICKET = CONNECTION_KINDS


class ConnectionStore(TableStore):
    """What chat_turn knows of open WebSockets. Everything here expires within hours; a lost item
    costs a reconnection, never data. Every method is one request."""

    async def issue(self, ticket: str, user: JSONObject, *, expires_at: int) -> None:
        """Keep who may open a connection with `ticket`. Only its hash is stored."""
        await self._put_both(_TICKET, digest("ticket", ticket), user, expires_at)

    async def take(self, ticket: str, *, now: float) -> JSONObject | None:
        """Whose ticket it is, once: None for one that was taken, expired by `now` or never was. A
        deletion whose answer was lost finds nothing when it is repeated, and the page asks for
        another ticket."""
        key = _lookup_key(_TICKET, digest("ticket", ticket))
        try:
            # no item meets it either: of two takers the second one fails here
            return _user(await self._delete(key, "#expires_at > :now", now=now))
        except ConditionFailed:
            return None

    async def open(self, connection_id: str, user: JSONObject, *, expires_at: int) -> None:
        """A connection is open, with the identity that it was opened with."""
        await self._put_both(_CONNECTION, connection_id, user, expires_at)

    async def find(self, connection_id: str, *, now: float) -> JSONObject | None:
        """Who is behind a connection; None where it is not open."""
        item = await self._get(_lookup_key(_CONNECTION, connection_id))
        return _user(item) if item and is_unexpired(item, now) else None

    async def of_user(self, user: UserKey, *, now: float) -> tuple[str, ...]:
        """The user's open connections, in one strongly consistent query."""
        items = await self._partition(user_key(user), f"{_CONNECTION}#")
        return tuple(i["sk"].partition("#")[2] for i in items if is_unexpired(i, now))

    async def close(self, user: UserKey, connection_id: str) -> None:
        """Forget a connection. Repeatable."""
        own = key_of(user_key(user), f"{_CONNECTION}#{connection_id}")
        await self._delete_batch((_lookup_key(_CONNECTION, connection_id), own))

    async def forget(self, user: UserKey) -> None:
        """Forget every connection and ticket of the user. Repeatable. One query, then what it led
        to: the items that name the user lie under keys of their own."""
        keys = []
        for item in await self._partition(user_key(user)):
            kind, _, name = item["sk"].partition("#")
            if kind in CONNECTION_KINDS:
                keys += [_lookup_key(kind, name), key_of(item["pk"], item["sk"])]
        await self._delete_batch(keys)

    async def stop(self, user: UserKey, request_id: str, *, expires_at: int) -> None:
        """Ask the turn of this request to stop, wherever it runs. Repeatable."""
        key = key_of(user_key(user), f"stop#{request_id}")
        await self._put({**key, "expires_at": expires_at})

    async def is_stopped(self, user: UserKey, request_id: str, *, now: float) -> bool:
        """Whether the turn of this request was asked to stop."""
        item = await self._get(key_of(user_key(user), f"stop#{request_id}"))
        return bool(item and is_unexpired(item, now))

    async def _put_both(self, kind: str, name: str, user: JSONObject, expires_at: int) -> None:
        """What leads from the name to the user, and the other way round."""
        owner = UserKey(str(user["tenant_id"]), str(user["imperal_id"]))
        lookup = {**_lookup_key(kind, name), "user": orjson.dumps(user).decode()}
        own = key_of(user_key(owner), f"{kind}#{name}")
        await self._put_batch({**item, "expires_at": expires_at} for item in (lookup, own))


def _lookup_key(kind: str, name: str) -> Item:
    return key_of(f"{kind}!{name}", "-")


def _user(item: Item) -> JSONObject:
    user: JSONObject = orjson.loads(item["user"])
    return user


_UNCLAIMED = f"{ABSENT} OR #expires_at <= :now"
_MAX_EVENTS = 99
"""Events beside the record in one transaction, which takes 100 items."""


class EventStore(TableStore):
    """What the page is told, in order of id."""

    async def append(self, user: UserKey, event: Event, *, expires_at: int) -> bool:
        """Write unless an event of this id exists; whether it was new."""
        return await is_written(self._put(event_item(user, event, expires_at), ABSENT, own=STAMP))

    async def since(
        self, user: UserKey, last_id: str, *, limit: int = 100, now: float
    ) -> tuple[Event, ...]:
        """Events with a greater id, oldest first, without those that expired by `now`."""
        condition, values = "#pk = :pk", {"pk": user_key(user)}
        if last_id:  # DynamoDB takes no empty key
            condition, values["last"] = "#pk = :pk AND #sk > :last", last_id
        items = await self._query_unexpired(now, condition, values, need=check_limit(limit))
        return tuple(event_from(item["body"]) for item in items)


def event_item(user: UserKey, event: Event, expires_at: int) -> Item:
    """An event as it is stored."""
    key = key_of(user_key(user), event.event_id)
    return {**key, "body": event_text(event), "expires_at": expires_at}


def record_item(user: UserKey, record: AuditRecord, expires_at: int) -> Item:
    """The record of a call as it is stored."""
    key = key_of(user_key(user), f"call#{record.record_id}")
    return {**key, "body": audit_text(record), "expires_at": expires_at}


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
        intent = record_item(user, replace(record, status="started"), expires_at)
        intent |= {"sk": f"effect#{effect}", "record_id": record.record_id}
        try:
            await self._put(intent, _UNCLAIMED, own=STAMP, now=now)
        except ConditionFailed as failure:
            current = failure.item
        else:
            return None
        # the claim stays as it is: how it ended stands in the record of its call
        done = await self._get(key_of(user_key(user), f"call#{current['record_id']}"))
        return audit_from((done if done and is_unexpired(done, now) else current)["body"])

    async def has_claim(self, user: UserKey, effect: str) -> bool:
        """Whether the effect is claimed: not where its person was erased since."""
        return await self._get(key_of(user_key(user), f"effect#{effect}")) is not None

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
        event_items = (event_item(user, event, events_expire_at) for event in events)
        writes = [put(self._table, record_item(user, record, expires_at), ABSENT)]
        writes += (put(self._events_table, item, ABSENT) for item in event_items)
        # more fit into no transaction: then the record goes first, its events behind it
        if 1 < len(writes) <= _MAX_EVENTS + 1 and await is_written(self._database.write(*writes)):
            return
        for write in writes:  # a repetition: complete it one by one
            await is_written(self._database.write(write))

    async def list(
        self, user: UserKey, *, limit: int = 100, before: str = "", now: float
    ) -> tuple[AuditRecord, ...]:
        """The newest records first, or those older than the record `before`, without those that
        expired by `now`."""
        pk = user_key(user)
        items = await self._query_unexpired(
            now,
            "#pk = :pk AND begins_with(#sk, :calls)",
            {"pk": pk, "calls": "call#"},
            need=check_limit(limit),
            after=key_of(pk, f"call#{before}") if before else None,
            backwards=True,
        )
        return tuple(audit_from(item["body"]) for item in items)
