"""Users' timers: taken, asked, committed; the due index, whose timer falls due when, in partitions,
and how far the tick has come in each; and which tenants there are, and which have an app: what
schedules run for, found without a scan.

    pk #tenants#       sk tenant    every tenant that was ever here
       #tenants#app    sk tenant    those of which somebody ever installed the app

Whether somebody still has it, the installation records say: those that hold stand in the index
`due` under `#app#tenant#app`, far from any shard, and leave it with the record. No tenant's name is
empty, so no user's partition begins with `#`, and nobody's name stands in these rows.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ...errors import StorageUnavailable
from ...types import UserKey
from ..codec import dumps, loads
from ..item_keys import installed_key, section_key, shard_of, tenants_key, user_key, user_of
from ..paging import Cursor, positive
from ..types import DueUser, Lease, Section, ShardMark
from .client import LAYOUT, ConditionFailed, Database, Item, N, S, holds, key_of, stamp
from .skeleton_items import (
    TIMER,
    Book,
    SkeletonTable,
    added,
    book_of,
    book_text,
    earliest,
    new_timer,
    number,
    reconciled,
    state_of,
    timer_key,
)

_ATTEMPTS = 10


class Timers(SkeletonTable):
    """The timers in the table."""

    async def register(
        self, user: UserKey, sections: Iterable[Section], *, who: Mapping[str, Any]
    ) -> bool:
        """Put those that are not there yet on the user's timer; whether there was any. `who` is the
        user as refresh messages name it. Two requests; three for a user without a timer."""
        given = tuple(sections)
        for _ in range(_ATTEMPTS):
            timer = await self._timer(user, who)
            book = added(book_of(timer), given)
            if book is None:
                return False
            if await self._put_book(user, timer, book.values(), {":user": S(dumps(dict(who)))}):
                return True
        raise self._contended()

    async def lease(
        self, user: UserKey, *, now: float, until: float, due_by: float | None = None
    ) -> Lease | None:
        """Take the user's timer if nobody holds it at `now` and, where `due_by` is given, something
        is due by then; None otherwise, and for a user without a timer. One write, and one read of
        everything the user has.

        `until` is the fencing token of `write` and `save`.
        """
        own = stamp()
        values = {":until": N(until), ":now": N(now), ":stamp": own["stamp"]}
        condition = "attribute_exists(#pk) AND #lease_until <= :now"
        if due_by is not None:
            condition, values[":by"] = f"{condition} AND #due_at <= :by", N(due_by)
        update = "SET #lease_until = :until, #stamp = :stamp"
        is_ours = await holds(self._update(timer_key(user), update, values, condition, own=own))
        return await self._held(user, until) if is_ours else None

    async def ask(self, user: UserKey, sections: Iterable[tuple[str, str]], *, now: float) -> bool:
        """Note that these are to be refreshed once whoever holds the timer is through; False when
        nobody holds it."""
        values = {":asked": _names(sections), ":now": N(now)}
        write = self._update(timer_key(user), "ADD #asked :asked", values, "#lease_until > :now")
        return await holds(write)

    async def _saved(
        self,
        user: UserKey,
        sections: Iterable[Section],
        *,
        lease: Lease,
        now: float,
        noted: Mapping[str, Any],
    ) -> tuple[float | None, list[Section]] | None:
        """Commit: the due time it left and the sections that were purged meanwhile; None when the
        lease was lost. One write; one more for each change that others made to the timer."""
        ours = tuple(sections)
        timer: Item = {"sections": S(lease.known), "lease_until": N(lease.until)}
        if lease.asked:
            timer["asked"] = _names(lease.asked)
        for _ in range(_ATTEMPTS):
            book = reconciled(ours, lease, book_of(timer))
            asked = set(timer.get("asked", {"SS": ()})["SS"]) - {
                section_key(*key) for key in lease.asked
            }
            due_at = now if asked else earliest(book.values())
            try:
                await self._commit(user, timer, book, due_at, asked, noted)
            except ConditionFailed as failure:
                timer = failure.item
                if number(timer, "lease_until") != lease.until:
                    return None
            else:
                return due_at, [s for s in ours if s.key not in book]
        raise self._contended()

    async def _commit(
        self,
        user: UserKey,
        timer: Item,
        book: Book,
        due_at: float | None,
        asked: set[str],
        noted: Mapping[str, Any],
    ) -> None:
        own = stamp()
        sets = ["#sections = :sections", "#lease_until = :free", "#stamp = :stamp"]
        sets += [f"#{name.removeprefix(':')} = {name}" for name in noted]
        values = {
            ":sections": S(book_text(book.values())),
            ":free": N(0.0),
            ":stamp": own["stamp"],
            ":lease": timer["lease_until"],
            ":known": timer["sections"],
            **noted,
        }
        removes, condition = [], "#lease_until = :lease AND #sections = :known"
        if due_at is None:
            removes += ["#due_at", "#due_shard"]
        else:
            sets += ["#due_at = :due_at", "#due_shard = :shard"]
            values |= {":due_at": N(due_at), ":shard": S(self._shard(user))}
        if "asked" in timer:
            condition, values[":asked"] = f"{condition} AND #asked = :asked", timer["asked"]
        else:
            condition += " AND attribute_not_exists(#asked)"
        if asked:
            sets, values[":rest"] = [*sets, "#asked = :rest"], {"SS": sorted(asked)}
        else:
            removes.append("#asked")
        remove = f" REMOVE {', '.join(removes)}" if removes else ""
        update = f"SET {', '.join(sets)}{remove}"
        await self._update(timer_key(user), update, values, condition, own=own)

    async def mark_seen(self, user: UserKey, at: float) -> None:
        """Note that the user was here. Repeatable. One write; three requests for a user without a
        timer."""
        update, values, condition = "SET #seen_at = :at", {":at": N(at)}, "attribute_exists(#pk)"
        if not await holds(self._update(timer_key(user), update, values, condition)):
            await self._timer(user, {})
            await self._update(timer_key(user), update, values, condition)

    async def _take_off(self, user: UserKey, app_id: str) -> None:
        for _ in range(_ATTEMPTS):
            timer = await self._get(timer_key(user)) or {}
            book = book_of(timer)
            kept = [s for s in book.values() if s.app_id != app_id]
            if len(kept) == len(book) or await self._put_book(user, timer, kept, {}):
                return
        raise self._contended()

    async def _put_book(
        self, user: UserKey, timer: Item, sections: Collection[Section], sets: Mapping[str, Any]
    ) -> bool:
        """Replace the bookkeeping of a timer that nobody changed meanwhile; whether it was so."""
        due_at = earliest(sections)
        values = {":sections": S(book_text(sections)), ":known": timer["sections"], **sets}
        update = "SET #sections = :sections"
        update += "".join(f", #{name.removeprefix(':')} = {name}" for name in sets)
        if due_at is None:
            update += " REMOVE #due_at, #due_shard"
        else:
            update += ", #due_at = :due_at, #due_shard = :shard"
            values |= {":due_at": N(due_at), ":shard": S(self._shard(user))}
        return await holds(self._update(timer_key(user), update, values, "#sections = :known"))

    async def _timer(self, user: UserKey, who: Mapping[str, Any]) -> Item:
        """The user's timer, made where there is none."""
        if found := await self._get(timer_key(user)):
            return found
        fresh = new_timer(user, who)
        await holds(self._put(fresh, "attribute_not_exists(#pk)"))  # unless another was quicker
        return await self._get(timer_key(user)) or fresh

    async def _held(self, user: UserKey, until: float) -> Lease:
        items = await self._partition(user_key(user))
        timer = next((item for item in items if item["sk"]["S"] == TIMER), {})
        asked = timer.get("asked", {"SS": ()})["SS"]
        known = timer.get("sections", {"S": ""})["S"]
        return Lease(until, state_of(items), frozenset(map(_key_of, asked)), known)

    def _shard(self, user: UserKey) -> str:
        return str(shard_of(user, self._shards))

    def _contended(self) -> StorageUnavailable:
        return StorageUnavailable(
            f"A timer in {self._table} kept changing; nothing is lost, it stays due."
        )


def _names(sections: Iterable[tuple[str, str]]) -> Item:
    return {"SS": sorted(section_key(*key) for key in sections)}


def _key_of(name: str) -> tuple[str, str]:
    app_id, _, section = name.partition("#")
    return app_id, section


class DueIndex(SkeletonTable):
    """What of the table is by partition."""

    async def due(
        self,
        shard: int,
        before: float,
        *,
        since: float = 0.0,
        limit: int = 500,
        cursor: str | None = None,
    ) -> tuple[tuple[tuple[UserKey, DueUser], ...], str | None]:
        """Whose timer falls due in one shard from `since` on and before a time, earliest first:
        reads what is due, not what exists."""
        tokens = Cursor("due", shard)
        start = {}
        if cursor is not None:
            due_at, pk, sk = tokens.read(cursor, 3)
            where = {"due_shard": S(str(shard)), "due_at": N(due_at)}
            start["ExclusiveStartKey"] = {**key_of(pk, sk), **where}
        items = await self._database.items(
            need=positive(limit) + 1,
            TableName=self._table,
            IndexName="due",
            KeyConditionExpression="#due_shard = :shard AND #due_at BETWEEN :since AND :before",
            ExpressionAttributeValues={
                ":shard": S(str(shard)),
                ":since": N(since),
                ":before": N(before),
            },
            **start,
        )
        found, rest = items[:limit], items[limit:]
        users = tuple(
            (user_of(item["pk"]["S"]), DueUser(loads(item["user"]["S"]), at))
            for item in found
            if (at := float(item["due_at"]["N"])) < before
        )
        if not rest:
            return users, None
        last = found[-1]
        return users, tokens.write(float(last["due_at"]["N"]), last["pk"]["S"], last["sk"]["S"])

    async def begin_shard(self, shard: int, *, now: float, until: float) -> ShardMark | None:
        """Take a shard to look through, and how far it was looked through before; None while
        somebody else does."""
        own = stamp()
        try:
            answer = await self._update(
                _key(shard),
                "SET #lease_until = :until, #stamp = :stamp, #schema = :schema",
                {
                    ":until": N(until),
                    ":now": N(now),
                    ":stamp": own["stamp"],
                    ":schema": LAYOUT["schema"],
                },
                "attribute_not_exists(#pk) OR #lease_until <= :now",
                own=own,
                returns="ALL_NEW",
            )
        except ConditionFailed:
            return None
        item = answer["Attributes"]
        return ShardMark(_number(item, "queued_until"), _number(item, "swept_at"), until)

    async def move_shard(self, shard: int, mark: ShardMark, *, done: bool = False) -> bool:
        """Note how far it has come; with `done` give it back. False when it was lost meanwhile."""
        values = {
            ":queued": N(mark.queued_until),
            ":swept": N(mark.swept_at),
            ":free": N(0.0 if done else mark.lease),
            ":lease": N(mark.lease),
        }
        update = "SET #queued_until = :queued, #swept_at = :swept, #lease_until = :free"
        return await holds(self._update(_key(shard), update, values, "#lease_until = :lease"))

    async def queued_until(self, user: UserKey) -> float:
        """How far the tick has come in the user's shard, perhaps a moment late. Half a read
        unit."""
        key = _key(shard_of(user, self._shards))
        answer = await self._database.call("get_item", TableName=self._table, Key=key)
        return _number(answer.get("Item", {}), "queued_until")


def _key(shard: int) -> Item:
    return key_of(f"!due#{shard}", "!shard")


def _number(item: Item, name: str) -> float:
    return number(item, name) or 0.0


class Tenants(SkeletonTable):
    """The rows about tenants. No row ever goes, so each process writes one once."""

    def __init__(self, database: Database, table: str, shards: int) -> None:
        super().__init__(database, table, shards)
        self._known: set[tuple[str, str]] = set()

    async def know(self, tenant_id: str, app_id: str = "") -> None:
        """Note that there is such a tenant, for good. Repeatable."""
        if (tenant_id, app_id) in self._known:
            return
        await self._put(key_of(tenants_key(app_id), tenant_id))
        self._known.add((tenant_id, app_id))

    async def tenants(self, app_id: str = "") -> tuple[str, ...]:
        """The tenants of which a user has the app by a record of theirs, perhaps a moment late;
        without an app all that are known. One Query for the tenants, and for an app one more each,
        for one key: no users are read."""
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
