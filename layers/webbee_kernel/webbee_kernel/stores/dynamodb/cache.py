"""Cache entries: pk tenant#user#app, sk model#key, value (binary), expiry (exact), expires_at
(whole seconds, for the sweep)."""

from __future__ import annotations

import asyncio
import math

from ...values import UserKey
from ..keys import app_key, entry_key
from .client import LAYOUT, Database, N, key_of


class DynamoCacheStore:
    """`CacheStore` on one table; get, set and delete are one request each, a delete under several
    models one for each, side by side."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def get(
        self, user: UserKey, app_id: str, model: str, key: str, *, now: float
    ) -> bytes | None:
        item = await self._database.get(
            self._table, key_of(app_key(user, app_id), entry_key(model, key))
        )
        if item is None or now >= float(item["expiry"]["N"]):
            return None
        return bytes(item["value"]["B"])

    async def set(
        self, user: UserKey, app_id: str, model: str, key: str, value: bytes, *, expires_at: float
    ) -> None:
        await self._database.call(
            "put_item",
            TableName=self._table,
            Item={
                **key_of(app_key(user, app_id), entry_key(model, key)),
                **LAYOUT,
                "value": {"B": value},
                "expiry": N(expires_at),
                "expires_at": N(math.ceil(expires_at)),
            },
        )

    async def delete(self, user: UserKey, app_id: str, models: tuple[str, ...], key: str) -> None:
        keys = [key_of(app_key(user, app_id), entry_key(model, key)) for model in models]
        await asyncio.gather(
            *(self._database.call("delete_item", TableName=self._table, Key=one) for one in keys)
        )

    async def purge(self, user: UserKey, app_id: str) -> int:
        items = await self._database.partition(
            self._table, app_key(user, app_id), ProjectionExpression="#pk, #sk"
        )
        await self._database.delete_batch(self._table, items)
        return len(items)
