"""The skeleton table's items, how each kind is written and read; and users' timers: taken, asked,
committed.

    pk tenant#user   sk !app          body  due_at  due_shard            (installation record)
                     sk !_clock       sections  due_at  due_shard  lease_until  asked  seen_at  user
                     sk app#section   data | packed  version  refreshed_at
                     sk ~app#section  data | packed  version             (what an alert compares to)
    pk !due#shard    sk !shard        queued_until  swept_at  lease_until
    pk #tenants#…    sk tenant                                      (see `skeletons.SkeletonStore`)
    index due        due_shard  due_at → user

A section's bookkeeping and its due time stand on the user's one timer, never beside its data.

Bookkeeping is one JSON object by `app#section`, defaults left out: about 90 bytes a section, so a
user's timer stays within one write unit up to eight sections. A section exists when it is in the
bookkeeping; data that is newer than the bookkeeping says was written by a refresh that died before
it was through, and counts as it stands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from ...errors import StorageUnavailable
from ...types import JSONObject, UserKey, from_dict
from ..codec import dumps, loads, pack, packed_text
from ..item_keys import installation_key, previous_key, section_key, shard_of, user_key
from ..types import Installation, Lease, Section, UserState
from .client import Database, TableStore, is_written
from .item_requests import ABSENT, STAMP, Add, Item, key_of, stamp

Book = dict[tuple[str, str], Section]
"""Bookkeeping by app and section, no data in it."""

NO_SECTIONS: Final = "{}"


def book_text(sections: Iterable[Section]) -> str:
    """The bookkeeping of these sections, in a stable order."""
    return dumps({section_key(*s.key): _entry(s) for s in sorted(sections, key=lambda s: s.key)})


def book_from(text: str) -> Book:
    """The bookkeeping, a `Section` without data each."""
    entries: dict[str, JSONObject] = loads(text)
    sections = (_section(key, entry) for key, entry in entries.items())
    return {section.key: section for section in sections}


def earliest(sections: Iterable[Section]) -> float | None:
    """When the first of them falls due."""
    return min((s.due_at for s in sections if s.due_at is not None), default=None)


def merge_books(ours: Iterable[Section], lease: Lease, stored: Book) -> Book:
    """What a save leaves: what others took away meanwhile stays away, what they added stays."""
    known = book_from(lease.known or NO_SECTIONS)
    kept = {s.key: s for s in ours if s.key in stored or s.key not in known}
    theirs = {key: section for key, section in stored.items() if key not in known}
    return {**theirs, **kept}


_BOOK_FIELDS: Final = (
    ("ttl", "ttl", 300),
    ("at", "refreshed_at", None),
    ("v", "version", 0),
    ("fails", "failures", 0),
    ("error", "last_error", ""),
)
"""What an entry calls a field of its section, and what it need not say."""


def _entry(section: Section) -> JSONObject:
    """What a reader could not tell by itself: without `due` a section keeps its own pace, without
    `alerted` its last change was told."""
    fields = ((short, getattr(section, name), default) for short, name, default in _BOOK_FIELDS)
    entry = {short: value for short, value, default in fields if value != default}
    if section.due_at != _ttl_due_at(section.refreshed_at, section.ttl):
        entry["due"] = section.due_at
    if section.alerted != section.version:
        entry["alerted"] = section.alerted
    return entry


def _section(key: str, entry: Mapping[str, Any]) -> Section:
    app_id, _, section = key.partition("#")
    fields = {name: entry.get(short, default) for short, name, default in _BOOK_FIELDS}
    due_at = entry.get("due", _ttl_due_at(fields["refreshed_at"], fields["ttl"]))
    alerted = entry.get("alerted", fields["version"])
    return Section(app_id, section, due_at=due_at, alerted=alerted, **fields)


def _ttl_due_at(refreshed_at: float | None, ttl: int) -> float | None:
    return None if refreshed_at is None else refreshed_at + ttl


TIMER: Final = installation_key("_clock")
COMPRESS_FROM: Final = 700
"""Bytes of JSON above which data is compressed: below, item and attribute names fit into one write
unit with it."""
AFTER_SECTIONS: Final = "~"
"""Every sort key that a turn reads is before this one."""


def timer_key(user: UserKey) -> Item:
    return key_of(user_key(user), TIMER)


def data_item(user: UserKey, section: Section) -> Item:
    item = {
        **key_of(user_key(user), section_key(*section.key)),
        **_data_attribute(section.data),
        "version": section.version,
        STAMP: stamp(),
    }
    if section.refreshed_at is not None:
        item["refreshed_at"] = section.refreshed_at
    return item


def previous_item(user: UserKey, section: Section) -> Item:
    """What the section's data was before this version."""
    key = key_of(user_key(user), previous_key(*section.key))
    return {**key, **_data_attribute(section.previous), "version": section.version}


def state_of(items: Iterable[Item]) -> UserState:
    """Everything a user's partition says."""
    by_key = {item["sk"]: item for item in items}
    timer = by_key.get(TIMER, {})
    book = book_of(timer)
    lease_until = number(timer, "lease_until") or 0.0
    sections = {key: _with_data(entry, by_key, lease_until) for key, entry in book.items()}
    return UserState(
        sections=tuple(sections[key] for key in sorted(sections)),
        installations=tuple(
            from_dict(Installation, loads(item["body"]))
            for sk, item in sorted(by_key.items())
            if sk.startswith("!") and sk != TIMER
        ),
        seen_at=number(timer, "seen_at"),
    )


def _with_data(entry: Section, by_key: Mapping[str, Item], lease_until: float) -> Section:
    """Bookkeeping and data together; what the data replaced where the items hold that too."""
    item = by_key.get(section_key(*entry.key))
    if item is None:
        return replace(entry, lease_until=lease_until)
    before = by_key.get(previous_key(*entry.key), {})
    version = int(item["version"])
    # written before the data: it may be of a change that never came, or of an older one
    fits = before and int(before["version"]) == version
    ahead = version > entry.version
    return replace(
        entry,
        data=loads(packed_text(item)),
        previous=loads(packed_text(before)) if fits else None,
        version=max(entry.version, version),
        refreshed_at=number(item, "refreshed_at") if ahead else entry.refreshed_at,
        lease_until=lease_until,
    )


def book_of(timer: Item) -> Book:
    """The bookkeeping that a timer's item holds."""
    return book_from(timer["sections"]) if "sections" in timer else {}


def _data_attribute(data: Any) -> Item:
    """The data as an attribute: text, or zlib's fastest where that saves write units. JSON of a
    kilobyte shrinks to a half and less, and each began kilobyte of the item is a unit."""
    return pack(dumps(data), name="data", inline=COMPRESS_FROM)[0]


def number(item: Item, name: str) -> float | None:
    return float(item[name]) if name in item else None


ATTEMPTS = 10


class Timers(TableStore):
    """The timers in the table. `shards` are the partitions of its due index."""

    def __init__(self, database: Database, table: str, shards: int) -> None:
        super().__init__(database, table)
        self._shards = shards

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
        is due by then; None otherwise, and for a user without a timer. One write, and one read of
        everything the user has.

        `until` is the fencing token of `write` and `save`.
        """
        # an update makes what is not there: it would make a timer without bookkeeping
        condition, by = "attribute_exists(#pk) AND #lease_until <= :now", {}
        if due_by is not None:
            condition, by = f"{condition} AND #due_at <= :by", {"by": due_by}
        change = {"lease_until": until}
        write = self._update(timer_key(user), change, condition, own=STAMP, now=now, **by)
        # read behind the lease: from here on nobody else saves
        return await self._read_lease(user, until) if await is_written(write) else None

    async def ask(self, user: UserKey, sections: Iterable[tuple[str, str]], *, now: float) -> bool:
        """Note that these are to be refreshed once whoever holds the timer is through; False when
        nobody holds it."""
        asked = {"asked": Add(names_of(sections))}
        held = "#lease_until > :now"
        return await is_written(self._update(timer_key(user), asked, held, now=now))

    async def _commit(
        self,
        user: UserKey,
        timer: Item,
        book: Book,
        due_at: float | None,
        requested: set[str],
        presence: Mapping[str, Any],
    ) -> None:
        """Give the timer back with this bookkeeping, if it still is as it was read."""
        sets = self._book_changes(user, book.values(), due_at)
        # DynamoDB holds no empty set: the attribute goes
        sets |= {"lease_until": 0.0, "asked": requested or None, **presence}
        values = {"lease": timer["lease_until"], "known": timer["sections"]}
        condition = "#lease_until = :lease AND #sections = :known"
        # what is not there equals nothing, so that it is missing is a condition of its own
        if "asked" in timer:
            condition, values["before"] = f"{condition} AND #asked = :before", timer["asked"]
        else:
            condition += " AND attribute_not_exists(#asked)"
        await self._update(timer_key(user), sets, condition, own=STAMP, **values)

    def _book_changes(
        self, user: UserKey, sections: Iterable[Section], due_at: float | None
    ) -> Item:
        """A timer's bookkeeping and due time; without one it leaves the index."""
        shard = None if due_at is None else str(shard_of(user, self._shards))
        return {"sections": book_text(sections), "due_at": due_at, "due_shard": shard}

    async def mark_seen(self, user: UserKey, at: float, *, begins: bool = False) -> None:
        """Note that the user was here, without a timer only where that `begins` one. Repeatable.
        One write; three requests where it begins one."""
        seen = {"seen_at": at}
        is_noted = await is_written(self._update(timer_key(user), seen, "attribute_exists(#pk)"))
        if begins and not is_noted:
            await self._timer(user, {})
            await self._update(timer_key(user), seen, "attribute_exists(#pk)")

    async def _remove_from_timer(self, user: UserKey, app_id: str) -> None:
        await self._change_book(
            user, lambda book: {k: s for k, s in book.items() if k[0] != app_id}
        )

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
            same, known = "#sections = :known", timer["sections"]
            if await is_written(self._update(timer_key(user), sets, same, known=known)):
                return True
        raise self._contention()

    async def _timer(self, user: UserKey, who: Mapping[str, Any]) -> Item:
        """The user's timer, made where there is none."""
        if found := await self._get(timer_key(user)):
            return found
        nothing = {"lease_until": 0.0, "sections": NO_SECTIONS, "user": dumps(dict(who))}
        fresh = {**timer_key(user), **nothing}
        await is_written(self._put(fresh, ABSENT))  # unless another was quicker
        return await self._get(timer_key(user)) or fresh

    async def _read_lease(self, user: UserKey, until: float) -> Lease:
        items = await self._partition(user_key(user))
        timer = next((item for item in items if item["sk"] == TIMER), {})
        asked = (name.partition("#") for name in timer.get("asked", ()))
        keys = frozenset((app, at) for app, _, at in asked)
        return Lease(until, state_of(items), keys, timer.get("sections", ""))

    def _contention(self) -> StorageUnavailable:
        return StorageUnavailable(
            f"A timer in {self._table} kept changing; nothing is lost, it stays due."
        )


def names_of(sections: Iterable[tuple[str, str]]) -> set[str]:
    return {section_key(*key) for key in sections}
