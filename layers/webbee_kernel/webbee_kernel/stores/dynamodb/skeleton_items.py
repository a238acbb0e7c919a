"""The skeleton table's items: how each kind is written and read.

    pk tenant#user   sk !app          body  due_at  due_shard            (installation record)
                     sk !_clock       sections  due_at  due_shard  lease_until  asked  seen_at  user
                     sk app#section   data | packed  version  refreshed_at
                     sk ~app#section  data | packed  version             (what an alert compares to)
    pk !due#shard    sk !shard        queued_until  swept_at  lease_until
    pk #tenants#…    sk tenant                                           (see `tenants`)
    index due        due_shard  due_at → user

A section's bookkeeping and its due time stand on the user's one timer, never beside its data.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from ...values import Installation, Section, UserKey, UserState
from ..jsontext import dumps, loads
from ..keys import installation_key, previous_key, section_key, user_key
from ..packing import unpack
from ..records import installation_from
from ..timers import NO_SECTIONS, Book, Snapshot, book_from, pictured
from .client import LAYOUT, Database, Item, N, S, key_of, stamp

TIMER: Final = installation_key("_clock")
PACKED_FROM: Final = 700
"""Bytes of JSON above which data is compressed: below, item and attribute names fit into one write
unit with it."""
AFTER_SECTIONS: Final = "~"
"""Every sort key that a turn reads is before this one."""


class SkeletonTable:
    """The table, as each part of its store has it. `shards` are the partitions of its due index."""

    def __init__(self, database: Database, table: str, shards: int) -> None:
        self._database = database
        self._table = table
        self._shards = shards


def timer_key(user: UserKey) -> Item:
    return key_of(user_key(user), TIMER)


def new_timer(user: UserKey, who: Mapping[str, Any]) -> Item:
    """A timer with nothing on it."""
    return {
        **timer_key(user),
        **LAYOUT,
        "lease_until": N(0.0),
        "sections": S(NO_SECTIONS),
        "user": S(dumps(dict(who))),
    }


def data_item(user: UserKey, section: Section) -> Item:
    """A section's data."""
    item = {
        **key_of(user_key(user), section_key(*section.key)),
        **LAYOUT,
        "app_id": S(section.app_id),
        "section": S(section.section),
        **_packed(section.data),
        "version": N(section.version),
        **stamp(),
    }
    if section.refreshed_at is not None:
        item["refreshed_at"] = N(section.refreshed_at)
    return item


def previous_item(user: UserKey, section: Section) -> Item:
    """What the section's data was before this version."""
    return {
        **key_of(user_key(user), previous_key(*section.key)),
        **LAYOUT,
        **_packed(section.previous),
        "version": N(section.version),
    }


def state_of(items: Iterable[Item]) -> UserState:
    """Everything a user's partition says."""
    by_key = {item["sk"]["S"]: item for item in items}
    timer = by_key.get(TIMER, {})
    book = book_of(timer)
    lease_until = number(timer, "lease_until") or 0.0
    sections = {
        key: pictured(entry, snapshot(by_key, key), lease_until) for key, entry in book.items()
    }
    return UserState(
        sections=tuple(sections[key] for key in sorted(sections)),
        installations=_installations(by_key),
        seen_at=number(timer, "seen_at"),
    )


def _installations(by_key: Mapping[str, Item]) -> tuple[Installation, ...]:
    return tuple(
        installation_from(item["body"]["S"])
        for sk, item in sorted(by_key.items())
        if sk.startswith("!") and sk != TIMER
    )


def snapshot(by_key: Mapping[str, Item], key: tuple[str, str]) -> Snapshot | None:
    """A section's stored data; what it replaced where the items hold that too."""
    item = by_key.get(section_key(*key))
    if item is None:
        return None
    before = by_key.get(previous_key(*key), {})
    version = int(item["version"]["N"])
    fits = before and int(before["version"]["N"]) == version
    previous = _unpacked(before) if fits else None
    return Snapshot(_unpacked(item), version, number(item, "refreshed_at"), previous)


def book_of(timer: Item) -> Book:
    """The bookkeeping that a timer's item holds."""
    return book_from(timer["sections"]["S"]) if "sections" in timer else {}


def without_previous(state: UserState) -> UserState:
    """The state as a turn sees it."""
    return replace(state, sections=tuple(replace(s, previous=None) for s in state.sections))


def _packed(data: Any) -> Item:
    """The data as an attribute: text, or zlib's fastest where that saves write units. JSON of a
    kilobyte shrinks to a half and less, and each began kilobyte of the item is a unit."""
    text = dumps(data)
    if len(text) * 4 > PACKED_FROM and len(raw := text.encode()) > PACKED_FROM:
        return {"packed": {"B": zlib.compress(raw, 1)}}
    return {"data": S(text)}


def _unpacked(item: Item) -> Any:
    if "packed" in item:
        return loads(unpack(bytes(item["packed"]["B"])))
    return _json(item, "data")


def number(item: Item, name: str) -> float | None:
    return float(item[name]["N"]) if name in item else None


def _json(item: Item, name: str) -> Any:
    return loads(item[name]["S"]) if name in item else None
