"""The skeleton: sections' data, a timer a user that knows the rest of them, installation records;
the due index, whose timer falls due when, in partitions, and how far the tick has come in each; and
which tenants there are, and which have an app: what schedules run for, found without a scan.

    pk #tenants#       sk tenant    every tenant that was ever here
       #tenants#app    sk tenant    those of which somebody ever installed the app

Whether somebody still has it, the installation records say: those that hold stand in the index
`due` under `#app#tenant#app`, far from any shard, and leave it with the record. No tenant's name is
empty, so no user's partition begins with `#`, and nobody's name stands in these rows.

The lease is a number in the timer's item: taken and checked by conditional writes, it runs out by
itself. A save writes the data of what changed, each on condition that it still is what the lease
found, and then the timer, on condition that the lease is still held: until that last write nothing
counts as done. Sections that are asked for meanwhile are noted in `asked`, which `save` turns into
a due time of now: the running handler may have read before the change that made somebody ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

from ...types import UserKey, from_dict, to_dict
from ..codec import dumps, loads
from ..item_keys import (
    installation_index_key,
    installation_key,
    previous_key,
    section_key,
    shard_of,
    tenants_key,
    user_key,
    user_of,
)
from ..paging import check_limit
from ..types import DueUser, Installation, Lease, SaveResult, Section, ShardMark, UserState
from .client import ConditionFailed, Database, TableStore, contention, is_written
from .item_requests import ABSENT, STAMP, Add, Item, key_of, unchanged
from .timers import (
    AFTER_SECTIONS,
    NO_SECTIONS,
    TIMER,
    Book,
    book_of,
    book_text,
    data_item,
    earliest,
    merge_books,
    names_of,
    previous_item,
    state_of,
    timer_key,
)

ATTEMPTS = 10


class SkeletonStore(TableStore):
    """One item per user, app and section for its data; one timer a user for all else about them;
    installation records beside. `shards` are the partitions of the due index."""

    def __init__(self, database: Database, table: str, shards: int) -> None:
        super().__init__(database, table)
        self._shards = shards
        self._known_tenants: set[tuple[str, str]] = set()

    async def read(self, user: UserKey) -> UserState:
        """One query: all sections and installation records, and when the user was last noted."""
        # `previous` is for alerts, and big: the clock alone reads it, behind the sections
        values = {"pk": user_key(user), "end": AFTER_SECTIONS}
        return state_of(await self._query("#pk = :pk AND #sk < :end", values))

    async def get(self, user: UserKey, app_id: str, section: str) -> Section | None:
        """One section, strongly consistent."""
        section_key(app_id, section)
        found = (await self.read(user)).sections
        return next((s for s in found if s.key == (app_id, section)), None)

    async def register(
        self, user: UserKey, sections: Iterable[Section], *, who: Mapping[str, Any]
    ) -> bool:
        """Put those that are not there yet on the user's timer; whether there was any. `who` is the
        user as refresh messages name it. Two requests; three for a user without a timer."""
        new = {s.key: s for s in sections}
        return await self._change_book(user, lambda book: {**new, **book}, who)

    async def lease(
        self, user: UserKey, *, now: float, until: float, due_by: float | None = None
    ) -> Lease | None:
        """Take the user's timer if nobody holds it at `now` and, where `due_by` is given, something
        is due by then; None otherwise, and for a user without a timer. `until` is the fencing token
        of `write` and `save`. One write, and one read of everything the user has."""
        # an update makes what is not there: it would make a timer without bookkeeping
        condition, by = "attribute_exists(#pk) AND #lease_until <= :now", {}
        if due_by is not None:
            condition, by = f"{condition} AND #due_at <= :by", {"by": due_by}
        change = {"lease_until": until}
        write = self._update(timer_key(user), change, condition, own=STAMP, now=now, **by)
        if not await is_written(write):
            return None
        # read behind the lease: from here on nobody else saves
        items = await self._partition(user_key(user))
        timer = next((item for item in items if item["sk"] == TIMER), {})
        asked = (name.partition("#") for name in timer.get("asked", ()))
        keys = frozenset((app, at) for app, _, at in asked)
        return Lease(until, state_of(items), keys, timer.get("sections", ""))

    async def ask(self, user: UserKey, sections: Iterable[tuple[str, str]], *, now: float) -> bool:
        """Note that these are to be refreshed once whoever holds the timer is through; False when
        nobody holds it."""
        asked = {"asked": Add(names_of(sections))}
        held = "#lease_until > :now"
        return await is_written(self._update(timer_key(user), asked, held, now=now))

    async def save(
        self,
        user: UserKey,
        sections: Iterable[Section],
        *,
        lease: Lease,
        now: float,
        seen_at: float | None = None,
        who: Mapping[str, Any] | None = None,
    ) -> SaveResult | None:
        """Write the bookkeeping of all sections and the timer's due time, and give the lease back;
        None, and nothing written, when it was lost.

        What was asked for meanwhile is due at `now`. Sections uninstalled meanwhile stay away.
        `who`, where given, replaces the user as refresh messages name it. One write; one more for
        each change that others made to the timer.
        """
        presence: Item = {} if seen_at is None else {"seen_at": seen_at}
        presence |= {} if who is None else {"user": dumps(dict(who))}
        own_sections = tuple(sections)
        # the timer as the lease found it: the first attempt needs no read
        timer: Item = {"sections": lease.known, "lease_until": lease.until}
        if lease.requested:
            timer["asked"] = names_of(lease.requested)
        for _ in range(ATTEMPTS):
            book = merge_books(own_sections, lease, book_of(timer))
            # what was asked for while we were at it is due at once
            requested = timer.get("asked", set()) - names_of(lease.requested)
            due_at = now if requested else earliest(book.values())
            changes = self._book_changes(user, book.values(), due_at)
            # DynamoDB holds no empty set: the attribute goes
            changes |= {"lease_until": 0.0, "asked": requested or None, **presence}
            condition, values = unchanged(timer, "lease_until", "sections", "asked")
            try:
                await self._update(timer_key(user), changes, condition, own=STAMP, **values)
            except ConditionFailed as failure:
                timer = failure.item
                if timer.get("lease_until") != lease.until:
                    return None
            else:
                # purged while their refresh ran
                await self._remove(user, _keys_of({s.key for s in own_sections} - book.keys()))
                return SaveResult(due_at)
        raise contention(f"A timer in {self._table}")

    def _book_changes(
        self, user: UserKey, sections: Iterable[Section], due_at: float | None
    ) -> Item:
        """A timer's bookkeeping and due time; without one it leaves the index."""
        shard = None if due_at is None else str(shard_of(user, self._shards))
        return {"sections": book_text(sections), "due_at": due_at, "due_shard": shard}

    async def write(self, user: UserKey, sections: Iterable[Section], *, lease: Lease) -> bool:
        """Write the data of sections that changed, what it replaced first where `previous` is
        given. False when the lease was lost: `save` will write nothing then. One read, then a write
        a section, all at once; a second one where an alert is to compare."""
        timer = await self._get(timer_key(user)) or {}
        if timer.get("lease_until") != lease.until:
            return False
        book = book_of(timer)
        before = {s.key: s for s in lease.state.sections}
        try:
            await asyncio.gather(
                *(
                    self._put_section(user, s, before.get(s.key))
                    for s in sections
                    # the lease had it and the book has not: uninstalled meanwhile
                    if s.key in book or s.key not in before
                )
            )
        except ConditionFailed:
            return False
        return True

    async def _put_section(self, user: UserKey, section: Section, before: Section | None) -> None:
        """What it replaces first: who dies in between has lost nothing."""
        # an alert compares with it, also after a crash
        if section.previous is not None:
            await self._put(previous_item(user, section))
        item = data_item(user, section)
        if before is None or not before.version:
            await self._put(item)
            return
        # never over a newer snapshot
        unchanged = f"{ABSENT} OR #version = :version"
        await self._put(item, unchanged, own=STAMP, version=before.version)

    async def mark_seen(self, user: UserKey, at: float, *, begins: bool = False) -> None:
        """Note that the user was here, without a timer only where that `begins` one. Repeatable.
        One write; three requests where it begins one."""
        seen = {"seen_at": at}
        is_noted = await is_written(self._update(timer_key(user), seen, "attribute_exists(#pk)"))
        if begins and not is_noted:
            await self._timer(user, {})
            await self._update(timer_key(user), seen, "attribute_exists(#pk)")

    async def _change_book(
        self, user: UserKey, change: Callable[[Book], Book], who: Mapping[str, Any] | None = None
    ) -> bool:
        """Change the bookkeeping of a timer, which is made for `who` where there is none; whether
        anything changed."""
        for _ in range(ATTEMPTS):
            timer = await (self._get(timer_key(user)) if who is None else self._timer(user, who))
            book = book_of(timer or {})
            changed = change(book)
            if not timer or changed.keys() == book.keys():
                return False
            sets = self._book_changes(user, changed.values(), earliest(changed.values()))
            sets |= {"user": dumps(dict(who))} if who is not None else {}
            # not on the lease: whoever holds it meets this change in `save`, and keeps both
            same, values = unchanged(timer, "sections")
            if await is_written(self._update(timer_key(user), sets, same, **values)):
                return True
        raise contention(f"A timer in {self._table}")

    async def _timer(self, user: UserKey, who: Mapping[str, Any]) -> Item:
        """The user's timer, made where there is none."""
        if found := await self._get(timer_key(user)):
            return found
        nothing = {"lease_until": 0.0, "sections": NO_SECTIONS, "user": dumps(dict(who))}
        fresh = {**timer_key(user), **nothing}
        await is_written(self._put(fresh, ABSENT))  # unless another was quicker
        return await self._get(timer_key(user)) or fresh

    async def put_installation(
        self, user: UserKey, installation: Installation
    ) -> Installation | None:
        """Record that a user has, or no longer has, an app; what was recorded before, None for a
        user who never decided.

        Of several writers at once exactly one sees each change: the others find its record. One
        that says the same (installed, version) already stays as it is. One write, two to replace.
        """
        app_id = installation.app_id
        # before the record: a schedule must not miss a tenant that has the app
        if installation.installed:
            await asyncio.gather(
                self.add_tenant(user.tenant_id), self.add_tenant(user.tenant_id, app_id)
            )
        item = key_of(user_key(user), installation_key(app_id))
        item["body"] = dumps(to_dict(installation))
        if installation.installed:
            # only that an item with both keys stands in the index: it never falls due
            item |= {"due_shard": installation_index_key(user.tenant_id, app_id), "due_at": 0}
        # first as if nobody had decided, then against what is there
        current: Item = {}
        before: Installation | None = None
        for _ in range(ATTEMPTS):
            condition, values = unchanged(current, "body")
            try:
                await self._put(item, condition, own=STAMP, **values)
            except ConditionFailed as failure:
                current = failure.item
                before = from_dict(Installation, loads(current["body"]))
                indexed = item.get("due_shard") == current.get("due_shard")
                # it says the same already: no hook is called twice
                if indexed and replace(before, at=installation.at) == installation:
                    return before
            else:
                return before
        raise contention(f"The installation of {app_id}")

    async def purge(self, user: UserKey, app_id: str) -> int:
        """Delete the app's sections of this user and take them off the timer; how many there were.
        Repeatable. One query; one write for the timer and one for each item that goes."""
        items = await self._partition(user_key(user))
        removed = [s for s in state_of(items).sections if s.app_id == app_id]
        # the timer first: no refresh may write what is purged below
        await self._change_book(
            user, lambda book: {k: s for k, s in book.items() if k[0] != app_id}
        )
        # of sections that no timer knows, too
        keys = [item["sk"] for item in items if item["sk"].lstrip("~").startswith(f"{app_id}#")]
        await self._remove(user, keys)
        return len(removed)

    async def _remove(self, user: UserKey, keys: Iterable[str]) -> None:
        await asyncio.gather(*(self._delete(key_of(user_key(user), key)) for key in keys))

    async def due(
        self,
        shard: int,
        before: float,
        *,
        since: float = 0.0,
        limit: int = 500,
        cursor: Item | None = None,
    ) -> tuple[tuple[tuple[UserKey, DueUser], ...], Item | None]:
        """Whose timer falls due in one shard from `since` on and before a time, earliest first:
        reads what is due, not what exists. The cursor of the next page is the last row's key: rows
        before it may go."""
        items = await self._query(
            "#due_shard = :shard AND #due_at BETWEEN :since AND :before",
            {"shard": str(shard), "since": since, "before": before},
            index="due",
            # one more tells whether there is a next page
            need=check_limit(limit) + 1,
            after=cursor,
        )
        found, rest = items[:limit], items[limit:]
        users = tuple(
            (user_of(item["pk"]), DueUser(loads(item["user"]), at))
            for item in found
            # BETWEEN takes both ends in
            if (at := float(item["due_at"])) < before
        )
        key = ("pk", "sk", "due_shard", "due_at")
        return users, {name: found[-1][name] for name in key} if rest else None

    async def begin_shard(self, shard: int, *, now: float, until: float) -> ShardMark | None:
        """Take a shard to look through, and how far it was looked through before; None while
        somebody else does."""
        # without an item it is the shard's first tick ever
        free = f"{ABSENT} OR #lease_until <= :now"
        try:
            item = await self._update(
                _shard_key(shard), {"lease_until": until}, free, own=STAMP, now=now
            )
        except ConditionFailed:
            return None
        return ShardMark(item.get("queued_until", 0.0), item.get("swept_at", 0.0), until)

    async def move_shard(self, shard: int, mark: ShardMark, *, done: bool = False) -> bool:
        """Note how far it has come; with `done` give it back. False when it was lost meanwhile."""
        changes = {
            "queued_until": mark.queued_until,
            "swept_at": mark.swept_at,
            "lease_until": 0.0 if done else mark.lease,
        }
        is_own_lease = "#lease_until = :lease"
        return await is_written(
            self._update(_shard_key(shard), changes, is_own_lease, lease=mark.lease)
        )

    async def queued_until(self, user: UserKey) -> float:
        """How far the tick has come in the user's shard."""
        item = await self._get(_shard_key(shard_of(user, self._shards)))
        return float((item or {}).get("queued_until", 0.0))

    async def add_tenant(self, tenant_id: str, app_id: str = "") -> None:
        """Note that there is such a tenant, for good. Repeatable."""
        # no row of these ever goes
        if (tenant_id, app_id) in self._known_tenants:
            return
        await self._put(key_of(tenants_key(app_id), tenant_id))
        self._known_tenants.add((tenant_id, app_id))

    async def tenants(self, app_id: str = "") -> tuple[str, ...]:
        """The tenants of which a user has the app by a record of theirs; without an app all that
        are known. One Query for the tenants, and for an app one more each, for one key: no users
        are read."""
        tenants = [item["sk"] for item in await self._partition(tenants_key(app_id))]
        if not app_id:
            return tuple(tenants)
        have = await asyncio.gather(*(self._has(tenant, app_id) for tenant in tenants))
        return tuple(tenant for tenant, has in zip(tenants, have, strict=True) if has)

    async def _has(self, tenant_id: str, app_id: str) -> bool:
        # the sparse index holds only who has the app
        app = {"app": installation_index_key(tenant_id, app_id)}
        return bool(await self._query("#due_shard = :app", app, index="due", need=1))


def _keys_of(sections: Iterable[tuple[str, str]]) -> list[str]:
    """Of all items that sections may have."""
    return [key(*section) for section in sections for key in (section_key, previous_key)]


def _shard_key(shard: int) -> Item:
    return key_of(f"!due#{shard}", "!shard")
