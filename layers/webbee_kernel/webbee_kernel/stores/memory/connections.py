"""Open connections in dicts."""

from __future__ import annotations

import threading
from collections import defaultdict

import orjson

from ...values import UserKey
from ...values.plain import JSONObject
from ..keys import user_key

_Kept = tuple[bytes, int]
"""A user as JSON, and until when (Unix seconds)."""


class MemoryConnectionStore:
    """`ConnectionStore` in memory."""

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._tickets: dict[str, _Kept] = {}
        self._open: dict[str, _Kept] = {}
        self._users: dict[str, dict[str, int]] = defaultdict(dict)
        self._stops: dict[tuple[str, str], int] = {}

    async def issue(self, ticket: str, user: JSONObject, *, expires_at: int) -> None:
        with self._lock:
            self._tickets[ticket] = orjson.dumps(user), expires_at

    async def take(self, ticket: str, *, now: float) -> JSONObject | None:
        with self._lock:
            return _living(self._tickets.pop(ticket, None), now)

    async def open(self, connection_id: str, user: JSONObject, *, expires_at: int) -> None:
        key = user_key(_key(user))
        with self._lock:
            self._open[connection_id] = orjson.dumps(user), expires_at
            self._users[key][connection_id] = expires_at

    async def find(self, connection_id: str, *, now: float) -> JSONObject | None:
        with self._lock:
            return _living(self._open.get(connection_id), now)

    async def of_user(self, user: UserKey, *, now: float) -> tuple[str, ...]:
        with self._lock:
            mine = self._users[user_key(user)].items()
            return tuple(sorted(name for name, expires_at in mine if expires_at > now))

    async def close(self, user: UserKey, connection_id: str) -> None:
        with self._lock:
            self._open.pop(connection_id, None)
            self._users[user_key(user)].pop(connection_id, None)

    async def forget(self, user: UserKey) -> None:
        with self._lock:
            for name in self._users.pop(user_key(user), {}):
                self._open.pop(name, None)
            mine = [t for t, kept in self._tickets.items() if _key(orjson.loads(kept[0])) == user]
            for ticket in mine:
                del self._tickets[ticket]

    async def stop(self, user: UserKey, request_id: str, *, expires_at: int) -> None:
        with self._lock:
            self._stops[user_key(user), request_id] = expires_at

    async def stopped(self, user: UserKey, request_id: str, *, now: float) -> bool:
        with self._lock:
            return self._stops.get((user_key(user), request_id), 0) > now


def _key(user: JSONObject) -> UserKey:
    return UserKey(str(user["tenant_id"]), str(user["imperal_id"]))


def _living(kept: _Kept | None, now: float) -> JSONObject | None:
    if kept is None or kept[1] <= now:
        return None
    user: JSONObject = orjson.loads(kept[0])
    return user
