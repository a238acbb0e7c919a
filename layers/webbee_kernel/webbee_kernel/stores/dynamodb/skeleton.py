"""The skeleton: one item per section, installation records beside them.

    pk tenant#user   sk app#section   data  previous  refreshed_at  ttl  due_at  lease_until
    version  alerted  …
                     sk !app          body                                             (installation
                     record)
                     sk !_kernel      body  seen_at                                    (when a turn
                     was last noted)
    index due        due_shard  due_at → app_id  section  user  ttl

The lease is a number in the section's own item: it is taken and checked by conditional writes, and
runs out by itself. A refresh that is asked for while one runs is noted in `asked_at`, and `save`
keeps it: the running handler may have read before the change that made somebody ask.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from ...errors import StorageUnavailable
from ...values import Installation, Section, UserKey, UserState
from ..jsontext import dumps, loads
from ..keys import installation_key, section_key, shard_of, user_key
from ..paging import Cursor, positive
from ..records import installation_from, installation_text, says_the_same, settled
from .client import ConditionFailed, Database, Item, N, S, key_of, stamp

_ATTEMPTS = 10
_SEEN = installation_key("_kernel")
_KERNELS_OWN = S(installation_text(Installation("_kernel", True)))
"""The kernel as one more app of the user: to a reader that knows nothing of `seen_at`, it is an app
that is not deployed."""


class DynamoSkeletonStore:
    """`SkeletonStore` on one table."""

    def __init__(self, database: Database, table: str, shards: int) -> None:
        self._database = database
        self._table = table
        self._shards = shards

    async def read(self, user: UserKey) -> UserState:
        items = await self._database.items(
            TableName=self._table,
            KeyConditionExpression="#pk = :pk",
            ExpressionAttributeValues={":pk": S(user_key(user))},
            ConsistentRead=True,
        )
        noted = next((item for item in items if item["sk"]["S"] == _SEEN), None)
        return UserState(
            sections=tuple(_section(item) for item in items if not _is_installation(item)),
            installations=tuple(
                installation_from(i["body"]["S"])
                for i in items
                if _is_installation(i) and i is not noted
            ),
            seen_at=_number(noted, "seen_at") if noted else None,
        )

    async def get(self, user: UserKey, app_id: str, section: str) -> Section | None:
        item = await self._database.get(self._table, _key(user, app_id, section))
        return _section(item) if item else None

    async def register(self, user: UserKey, section: Section) -> None:
        try:
            await self._database.write(
                "put_item",
                TableName=self._table,
                Item=self._item(user, section),
                ConditionExpression="attribute_not_exists(#pk)",
            )
        except ConditionFailed:
            return

    async def request_refresh(
        self, user: UserKey, app_id: str, section: str, due_at: float
    ) -> bool:
        try:
            await self._database.write(
                "update_item",
                TableName=self._table,
                Key=_key(user, app_id, section),
                UpdateExpression="SET #due_at = :due, #asked_at = :due, #due_shard = :shard",
                ConditionExpression=(
                    "attribute_exists(#pk) AND (attribute_not_exists(#due_at) OR #due_at > :due OR"
                    " #lease_until > :due)"
                ),
                ExpressionAttributeValues={":due": N(due_at), ":shard": S(self._shard(user))},
            )
        except ConditionFailed as failure:
            return bool(failure.item)
        return True

    async def lease(
        self, user: UserKey, app_id: str, section: str, *, now: float, until: float
    ) -> Section | None:
        own = stamp()
        try:
            answer = await self._database.write(
                "update_item",
                own=own,
                TableName=self._table,
                Key=_key(user, app_id, section),
                UpdateExpression="SET #lease_until = :until, #stamp = :stamp REMOVE #asked_at",
                ConditionExpression="attribute_exists(#pk) AND #lease_until <= :now",
                ExpressionAttributeValues={
                    ":until": N(until),
                    ":now": N(now),
                    ":stamp": own["stamp"],
                },
                ReturnValues="ALL_NEW",
            )
        except ConditionFailed:
            return None
        return _section(answer["Attributes"])

    async def save(self, user: UserKey, section: Section, *, lease: float) -> bool:
        """One write; one more for each refresh request or alert mark that arrived since the lease
        was taken."""
        asked_at: float | None = None
        alerted = section.alerted
        for _ in range(_ATTEMPTS):
            try:
                await self._replace(user, settled(section, asked_at, alerted), lease, asked_at)
            except ConditionFailed as failure:
                held = failure.item
                if not held or float(held["lease_until"]["N"]) != lease:
                    return False
                asked_at = _number(held, "asked_at")
                alerted = int(held["alerted"]["N"])
            else:
                return True
        raise StorageUnavailable(
            f"The section {section.app_id}.{section.section} kept changing under its lease; it"
            " stays due."
        )

    async def _replace(
        self, user: UserKey, section: Section, lease: float, asked_at: float | None
    ) -> None:
        own = stamp()
        values = {":lease": N(lease), ":alerted": N(section.alerted)}
        asked = "attribute_not_exists(#asked_at)"
        if asked_at is not None:
            asked, values[":asked"] = "#asked_at = :asked", N(asked_at)
        await self._database.write(
            "put_item",
            own=own,
            TableName=self._table,
            Item={**self._item(user, section), **own},
            ConditionExpression=f"#lease_until = :lease AND #alerted <= :alerted AND {asked}",
            ExpressionAttributeValues=values,
        )

    async def mark_alerted(self, user: UserKey, app_id: str, section: str, version: int) -> None:
        try:
            await self._database.write(
                "update_item",
                TableName=self._table,
                Key=_key(user, app_id, section),
                UpdateExpression="SET #alerted = :version",
                ConditionExpression="attribute_exists(#pk) AND #alerted < :version",
                ExpressionAttributeValues={":version": N(version)},
            )
        except ConditionFailed:
            return

    async def due(
        self, shard: int, before: float, *, limit: int = 500, cursor: str | None = None
    ) -> tuple[tuple[tuple[UserKey, Section], ...], str | None]:
        tokens = Cursor("due", shard)
        start = {}
        if cursor is not None:
            due_at, pk, sk = tokens.read(cursor, 3)
            start["ExclusiveStartKey"] = {
                **key_of(pk, sk),
                "due_shard": S(str(shard)),
                "due_at": N(due_at),
            }
        items = await self._database.items(
            need=positive(limit) + 1,
            TableName=self._table,
            IndexName="due",
            KeyConditionExpression="#due_shard = :shard AND #due_at < :before",
            ExpressionAttributeValues={":shard": S(str(shard)), ":before": N(before)},
            **start,
        )
        page = items[:limit]
        token = (
            tokens.write(float(page[-1]["due_at"]["N"]), page[-1]["pk"]["S"], page[-1]["sk"]["S"])
            if len(items) > limit
            else None
        )
        return tuple((UserKey(*item["pk"]["S"].split("#")), _outline(item)) for item in page), token

    async def put_installation(
        self, user: UserKey, installation: Installation
    ) -> Installation | None:
        """One write for a user who never decided; one more to replace what stands there, unless it
        says the same."""
        item = {
            **key_of(user_key(user), installation_key(installation.app_id)),
            "body": S(installation_text(installation)),
        }
        expected: dict[str, Any] = {"ConditionExpression": "attribute_not_exists(#pk)"}
        before: Installation | None = None
        for _ in range(_ATTEMPTS):
            own = stamp()
            try:
                await self._database.write(
                    "put_item", own=own, TableName=self._table, Item={**item, **own}, **expected
                )
            except ConditionFailed as failure:
                before = installation_from(failure.item["body"]["S"])
                if says_the_same(before, installation):
                    return before
                expected = {
                    "ConditionExpression": "#body = :held",
                    "ExpressionAttributeValues": {":held": failure.item["body"]},
                }
            else:
                return before
        raise StorageUnavailable(
            f"The installation of {installation.app_id} kept changing; nothing was written, repeat"
            " the request."
        )

    async def mark_seen(self, user: UserKey, at: float) -> None:
        item = {**key_of(user_key(user), _SEEN), "body": _KERNELS_OWN, "seen_at": N(at)}
        await self._database.call("put_item", TableName=self._table, Item=item)

    async def seen(self, user: UserKey) -> float | None:
        answer = await self._database.call(
            "get_item", TableName=self._table, Key=key_of(user_key(user), _SEEN)
        )
        return _number(answer["Item"], "seen_at") if "Item" in answer else None

    async def purge(self, user: UserKey, app_id: str) -> int:
        items = await self._database.items(
            TableName=self._table,
            KeyConditionExpression="#pk = :pk AND begins_with(#sk, :app)",
            ExpressionAttributeValues={
                ":pk": S(user_key(user)),
                ":app": S(section_key(app_id, "-").removesuffix("-")),
            },
            ProjectionExpression="#pk, #sk",
            ConsistentRead=True,
        )
        await asyncio.gather(
            *(self._database.call("delete_item", TableName=self._table, Key=item) for item in items)
        )
        return len(items)

    def _shard(self, user: UserKey) -> str:
        return str(shard_of(user, self._shards))

    def _item(self, user: UserKey, section: Section) -> Item:
        item: Item = {
            **_key(user, section.app_id, section.section),
            "app_id": S(section.app_id),
            "section": S(section.section),
            "ttl": N(section.ttl),
            "lease_until": N(section.lease_until),
            "failures": N(section.failures),
            "last_error": S(section.last_error),
            "version": N(section.version),
            "alerted": N(section.alerted),
            "user": S(dumps(section.user)),
        }
        for name in ("data", "previous"):
            if (value := getattr(section, name)) is not None:
                item[name] = S(dumps(value))
        if section.refreshed_at is not None:
            item["refreshed_at"] = N(section.refreshed_at)
        if section.due_at is not None:
            item["due_at"], item["due_shard"] = N(section.due_at), S(self._shard(user))
        return item


def _key(user: UserKey, app_id: str, section: str) -> Item:
    return key_of(user_key(user), section_key(app_id, section))


def _is_installation(item: Item) -> bool:
    return bool(item["sk"]["S"].startswith("!"))


def _number(item: Item, name: str) -> float | None:
    return float(item[name]["N"]) if name in item else None


def _object(item: Item, name: str) -> Any:
    return loads(item[name]["S"]) if name in item else None


def _outline(item: Item) -> Section:
    """What the due index holds of a section."""
    return Section(
        app_id=item["app_id"]["S"],
        section=item["section"]["S"],
        due_at=_number(item, "due_at"),
        ttl=int(item["ttl"]["N"]),
        user=_object(item, "user"),
    )


def _section(item: Item) -> Section:
    return replace(
        _outline(item),
        data=_object(item, "data"),
        previous=_object(item, "previous"),
        refreshed_at=_number(item, "refreshed_at"),
        lease_until=float(item["lease_until"]["N"]),
        failures=int(item["failures"]["N"]),
        last_error=item["last_error"]["S"],
        version=int(item["version"]["N"]),
        alerted=int(item["alerted"]["N"]),
    )
