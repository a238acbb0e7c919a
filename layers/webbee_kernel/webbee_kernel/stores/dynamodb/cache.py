"""Cache entries: pk tenant#user#app, sk model#key, value (binary), expiry (exact), expires_at
(whole seconds, for the sweep)."""

from __future__ import annotations

import asyncio
import math

from ...types import UserKey
from ..keys import app_key, entry_key
from .client import N, TableStore, key_of


class DynamoCacheStore(TableStore):
    """`CacheStore` on one table; get, set and delete are one request each, a delete under several
    models one for each, side by side."""

    async def get(
        self, user: UserKey, app_id: str, model: str, key: str, *, now: float
    ) -> bytes | None:
        item = await self._get(key_of(app_key(user, app_id), entry_key(model, key)))
        if item is None or now >= float(item["expiry"]["N"]):
            return None
        return bytes(item["value"]["B"])

    async def set(
        self, user: UserKey, app_id: str, model: str, key: str, value: bytes, *, expires_at: float
    ) -> None:
        item = {
            **key_of(app_key(user, app_id), entry_key(model, key)),
            "value": {"B": value},
            "expiry": N(expires_at),
            "expires_at": N(math.ceil(expires_at)),
        }
        await self._put(item)

    async def delete(self, user: UserKey, app_id: str, models: tuple[str, ...], key: str) -> None:
        keys = [key_of(app_key(user, app_id), entry_key(model, key)) for model in models]
        await asyncio.gather(*map(self._delete, keys))

    async def purge(self, user: UserKey, app_id: str) -> int:
        items = await self._partition(app_key(user, app_id), ProjectionExpression="#pk, #sk")
        await self._database.delete_batch(self._table, items)
        return len(items)
