"""Which tenants there are, and which have an app: what schedules run for, found without a scan.

    pk #tenants#       sk tenant    every tenant that was ever here
       #tenants#app    sk tenant    those of which somebody ever installed the app

Whether somebody still has it, the installation records say: those that hold stand in the index
`due` under `#app#tenant#app`, far from any shard, and leave it with the record. No tenant's name is
empty, so no user's partition begins with `#`, and nobody's name stands in these rows.
"""

from __future__ import annotations

import asyncio

from ..keys import installed_key, tenants_key
from .client import LAYOUT, Database, Item, N, S, key_of
from .skeleton_items import SkeletonTable


class Tenants(SkeletonTable):
    """The rows about tenants. No row ever goes, so each process writes one once."""

    def __init__(self, database: Database, table: str, shards: int) -> None:
        super().__init__(database, table, shards)
        self._known: set[tuple[str, str]] = set()

    async def know(self, tenant_id: str, app_id: str = "") -> None:
        if (tenant_id, app_id) in self._known:
            return
        key = key_of(tenants_key(app_id), tenant_id)
        await self._database.call("put_item", TableName=self._table, Item={**key, **LAYOUT})
        self._known.add((tenant_id, app_id))

    async def tenants(self, app_id: str = "") -> tuple[str, ...]:
        """One Query for the tenants, and for an app one more each, for one key."""
        items = await self._database.items(
            TableName=self._table,
            KeyConditionExpression="#pk = :pk",
            ExpressionAttributeValues={":pk": S(tenants_key(app_id))},
        )
        tenants = [item["sk"]["S"] for item in items]
        if not app_id:
            return tuple(tenants)
        have = await asyncio.gather(*(self._has(tenant, app_id) for tenant in tenants))
        return tuple(tenant for tenant, has in zip(tenants, have, strict=True) if has)

    async def _has(self, tenant_id: str, app_id: str) -> bool:
        return bool(
            await self._database.items(
                need=1,
                TableName=self._table,
                IndexName="due",
                KeyConditionExpression="#due_shard = :app",
                ExpressionAttributeValues={":app": S(installed_key(tenant_id, app_id))},
            )
        )


def in_index(tenant_id: str, app_id: str, installed: bool) -> Item:
    """What puts an installation record into the index while it holds."""
    if not installed:
        return {}
    return {"due_shard": S(installed_key(tenant_id, app_id)), "due_at": N(0)}
