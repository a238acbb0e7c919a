"""Open connections, tickets for them, turns to be stopped.

    pk ticket!<hash>       sk -                 user  expires_at
    pk connection!<id>     sk -                 user  expires_at
    pk tenant#user         sk connection#<id>   expires_at
    pk tenant#user         sk ticket#<hash>     expires_at
    pk tenant#user         sk stop#<request>    expires_at

A connection is two items: who is behind it, and which a user has; a ticket likewise. No key of a
user lacks a `#`, so the first two meet none.
"""

from __future__ import annotations

from typing import Final

import orjson

from ...clock import digest
from ...types import JSONObject, UserKey
from ..keys import user_key
from .client import LAYOUT, ConditionFailed, Item, N, S, TableStore, key_of, lives

NAMED: Final = ("connection", "ticket")
"""Kinds of items of the table of connections that name a person under keys of their own,
`<kind>!…`: for as long as a WebSocket is open, three hours at most, or a ticket for one lasts, a
minute. An erasure ends them before it walks (`ConnectionStore.forget`); an export has nothing of
theirs to tell that its caller did not send."""

_OPEN = "connection#"
_TICKET = "ticket#"
_ALONE = "-"


class DynamoConnectionStore(TableStore):
    """`ConnectionStore` on one table. Every method is one request."""

    async def issue(self, ticket: str, user: JSONObject, *, expires_at: int) -> None:
        own = key_of(_of(user), _TICKET + digest("ticket", ticket))
        await self._put_both({**_ticket(ticket), **_who(user)}, own, expires_at)

    async def take(self, ticket: str, *, now: float) -> JSONObject | None:
        """Deleted on condition that it lives: of two takers one gets it. A deletion whose answer
        was lost finds nothing when it is repeated, and the page asks for another ticket."""
        try:
            answer = await self._delete(
                _ticket(ticket), "#expires_at > :now", {":now": N(now)}, returns="ALL_OLD"
            )
        except ConditionFailed:
            return None
        return _user(answer["Attributes"])

    async def open(self, connection_id: str, user: JSONObject, *, expires_at: int) -> None:
        own = key_of(_of(user), _OPEN + connection_id)
        await self._put_both({**_connection(connection_id), **_who(user)}, own, expires_at)

    async def find(self, connection_id: str, *, now: float) -> JSONObject | None:
        item = await self._get(_connection(connection_id))
        return _user(item) if item and lives(item, now) else None

    async def of_user(self, user: UserKey, *, now: float) -> tuple[str, ...]:
        items = await self._partition(user_key(user), _OPEN)
        return tuple(i["sk"]["S"].removeprefix(_OPEN) for i in items if lives(i, now))

    async def close(self, user: UserKey, connection_id: str) -> None:
        keys = (_connection(connection_id), key_of(user_key(user), _OPEN + connection_id))
        await self._database.delete_batch(self._table, keys)

    async def forget(self, user: UserKey) -> None:
        """One query, then what it led to: the items that name the user lie under keys of their
        own."""
        keys = []
        for item in await self._partition(user_key(user)):
            kind, _, name = item["sk"]["S"].partition("#")
            if kind in NAMED:
                keys += [key_of(f"{kind}!{name}", _ALONE), key_of(item["pk"]["S"], item["sk"]["S"])]
        await self._database.delete_batch(self._table, keys)

    async def stop(self, user: UserKey, request_id: str, *, expires_at: int) -> None:
        await self._put({**_stop(user, request_id), "expires_at": N(expires_at)})

    async def stopped(self, user: UserKey, request_id: str, *, now: float) -> bool:
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
