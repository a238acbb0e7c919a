"""The skeleton: sections' data, a timer a user that knows the rest of them, installation records.

The lease is a number in the timer's item: taken and checked by conditional writes, it runs out by
itself. A save writes the data of what changed, each on condition that it still is what the lease
found, and then the timer, on condition that the lease is still held: until that last write nothing
counts as done. Sections that are asked for meanwhile are noted in `asked`, which `save` turns into
a due time of now: the running handler may have read before the change that made somebody ask.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from ...errors import StorageUnavailable
from ...types import UserKey
from ..codec import dumps, installation_from, installation_text, says_the_same
from ..item_keys import installation_key, previous_key, section_key, user_key
from ..types import Installation, Lease, Saved, Section, UserState
from .client import ConditionFailed, Item, N, S, key_of, stamp
from .skeleton_items import (
    AFTER_SECTIONS,
    book_of,
    data_item,
    number,
    previous_item,
    state_of,
    timer_key,
    without_previous,
)
from .timers import DueIndex, Tenants, Timers, in_index

_ATTEMPTS = 10


class SkeletonStore(Timers, DueIndex, Tenants):
    """One item per user, app and section for its data; one timer a user for all else about them;
    installation records beside."""

    async def read(self, user: UserKey) -> UserState:
        """One query: all sections and installation records, and when the user was last noted."""
        values = {":pk": S(user_key(user)), ":end": S(AFTER_SECTIONS)}
        items = await self._query("#pk = :pk AND #sk < :end", values)
        return without_previous(state_of(items))

    async def get(self, user: UserKey, app_id: str, section: str) -> Section | None:
        """One section, strongly consistent."""
        section_key(app_id, section)
        found = (await self.read(user)).sections
        return next((s for s in found if s.key == (app_id, section)), None)

    async def save(
        self,
        user: UserKey,
        sections: Iterable[Section],
        *,
        lease: Lease,
        now: float,
        seen_at: float | None = None,
        who: Mapping[str, Any] | None = None,
    ) -> Saved | None:
        """Write the bookkeeping of all sections and the timer's due time, and give the lease back;
        None, and nothing written, when it was lost.

        What was asked for meanwhile is due at `now`. Sections uninstalled meanwhile stay away.
        `who`, where given, replaces the user as refresh messages name it.
        """
        noted = {} if seen_at is None else {":seen_at": N(seen_at)}
        noted |= {} if who is None else {":user": S(dumps(dict(who)))}
        saved = await self._saved(user, sections, lease=lease, now=now, noted=noted)
        if saved is None:
            return None
        due_at, purged = saved
        await self._forget(user, purged)
        return Saved(due_at)

    async def write(self, user: UserKey, sections: Iterable[Section], *, lease: Lease) -> bool:
        """Write the data of sections that changed, what it replaced first where `previous` is
        given. False when the lease was lost: `save` will write nothing then. One read, then a write
        a section, all at once; a second one where an alert is to compare."""
        timer = await self._get(timer_key(user)) or {}
        if number(timer, "lease_until") != lease.until:
            return False
        book = book_of(timer)
        before = {s.key: s for s in lease.state.sections}
        try:
            await asyncio.gather(
                *(
                    self._put_section(user, s, before.get(s.key))
                    for s in sections
                    if s.key in book or s.key not in before
                )
            )
        except ConditionFailed:
            return False
        return True

    async def _put_section(self, user: UserKey, section: Section, before: Section | None) -> None:
        """What it replaces first: who dies in between has lost nothing."""
        if section.previous is not None:
            await self._put(previous_item(user, section))
        item = data_item(user, section)
        if before is None or not before.version:
            await self._put(item)
            return
        values = {":version": N(before.version)}
        condition = "attribute_not_exists(#pk) OR #version = :version"
        await self._put(item, condition, values, own={"stamp": item["stamp"]})

    async def put_installation(
        self, user: UserKey, installation: Installation
    ) -> Installation | None:
        """Record that a user has, or no longer has, an app; what was recorded before, None for a
        user who never decided.

        Of several writers at once exactly one sees each change: the others find its record. One
        that says the same (installed, version) already stays as it is. One write, two to replace.
        """
        app_id = installation.app_id
        if installation.installed:
            await asyncio.gather(self.know(user.tenant_id), self.know(user.tenant_id, app_id))
        item = {
            **key_of(user_key(user), installation_key(app_id)),
            **in_index(user.tenant_id, app_id, installation.installed),
            "body": S(installation_text(installation)),
        }
        expected: tuple[str, Item] = ("attribute_not_exists(#pk)", {})
        before: Installation | None = None
        for _ in range(_ATTEMPTS):
            own = stamp()
            try:
                await self._put({**item, **own}, *expected, own=own)
            except ConditionFailed as failure:
                before = installation_from(failure.item["body"]["S"])
                indexed = item.get("due_shard") == failure.item.get("due_shard")
                if says_the_same(before, installation) and indexed:
                    return before
                expected = ("#body = :held", {":held": failure.item["body"]})
            else:
                return before
        raise StorageUnavailable(
            f"The installation of {installation.app_id} kept changing; nothing was written, repeat"
            " the request."
        )

    async def purge(self, user: UserKey, app_id: str) -> int:
        """Delete the app's sections of this user and take them off the timer; how many there were.
        Repeatable. One query; one write for the timer and one for each item that goes."""
        items = await self._partition(user_key(user))
        gone = [s for s in state_of(items).sections if s.app_id == app_id]
        prefixes = tuple(key(app_id, "-").removesuffix("-") for key in (section_key, previous_key))
        await self._take_off(user, app_id)
        await asyncio.gather(
            *(
                self._delete(key_of(item["pk"]["S"], item["sk"]["S"]))
                for item in items
                if item["sk"]["S"].startswith(prefixes)
            )
        )
        return len(gone)

    async def _forget(self, user: UserKey, sections: Iterable[Section]) -> None:
        """Data of sections that were purged while their refresh ran."""
        keys = [
            key_of(user_key(user), key)
            for s in sections
            for key in (section_key(*s.key), previous_key(*s.key))
        ]
        await asyncio.gather(*map(self._delete, keys))
