"""The skeleton table's items, how each kind is written and read, and the bookkeeping of timers.

    pk tenant#user   sk !app          body  due_at  due_shard            (installation record)
                     sk !_clock       sections  due_at  due_shard  lease_until  asked  seen_at  user
                     sk app#section   data | packed  version  refreshed_at
                     sk ~app#section  data | packed  version             (what an alert compares to)
    pk !due#shard    sk !shard        queued_until  swept_at  lease_until
    pk #tenants#…    sk tenant                                      (see `skeletons.SkeletonStore`)
    index due        due_shard  due_at → user

A section's bookkeeping and its due time stand on the user's one timer, never beside its data.

Bookkeeping is one JSON object by `app#section`, defaults left out: about 130 bytes a section, so a
user's timer stays within one write unit up to five sections. A section exists when it is in the
bookkeeping; data that is newer than the bookkeeping says was written by a refresh that died before
it was through, and counts as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, replace
from typing import Any, Final

from ...types import JSONObject, UserKey, from_dict
from ..codec import dumps, loads, pack, packed_text
from ..item_keys import installation_key, previous_key, section_key, user_key
from ..types import Installation, Lease, Section, UserState
from .item_requests import Item, key_of

Book = dict[tuple[str, str], Section]
"""Bookkeeping by app and section, no data in it."""

NO_SECTIONS: Final = "{}"
_ELSEWHERE: Final = frozenset({"app_id", "section", "data", "lease_until", "previous"})
_BOOK_FIELDS: Final = [f for f in fields(Section) if f.name not in _ELSEWHERE]


def book_text(sections: Iterable[Section]) -> str:
    """The bookkeeping of these sections, in a stable order."""
    ordered = sorted(sections, key=lambda section: section.key)
    return dumps({section_key(*section.key): _entry(section) for section in ordered})


def _entry(section: Section) -> JSONObject:
    values = ((field, getattr(section, field.name)) for field in _BOOK_FIELDS)
    return {field.name: value for field, value in values if value != field.default}


def book_from(text: str) -> Book:
    """The bookkeeping, a `Section` without data each."""
    entries: dict[str, JSONObject] = loads(text)
    book: Book = {}
    for key, entry in entries.items():
        app_id, _, name = key.partition("#")
        book[app_id, name] = from_dict(Section, entry, app_id=app_id, section=name)
    return book


def earliest(sections: Iterable[Section]) -> float | None:
    """When the first of them falls due."""
    return min((s.due_at for s in sections if s.due_at is not None), default=None)


def merge_books(ours: Iterable[Section], lease: Lease, stored: Book) -> Book:
    """What a save leaves: what others took away meanwhile stays away, what they added stays."""
    known = book_from(lease.known or NO_SECTIONS)
    kept = {s.key: s for s in ours if s.key in stored or s.key not in known}
    theirs = {key: section for key, section in stored.items() if key not in known}
    return {**theirs, **kept}


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
    lease_until = timer.get("lease_until", 0.0)
    sections = {key: _with_data(entry, by_key, lease_until) for key, entry in book.items()}
    return UserState(
        sections=tuple(sections[key] for key in sorted(sections)),
        installations=tuple(
            from_dict(Installation, loads(item["body"]))
            for sk, item in sorted(by_key.items())
            if sk.startswith("!") and sk != TIMER
        ),
        seen_at=timer.get("seen_at"),
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
        refreshed_at=item.get("refreshed_at") if ahead else entry.refreshed_at,
        lease_until=lease_until,
    )


def book_of(timer: Item) -> Book:
    """The bookkeeping that a timer's item holds."""
    return book_from(timer["sections"]) if "sections" in timer else {}


def _data_attribute(data: Any) -> Item:
    """The data as an attribute: text, or zlib's fastest where that saves write units. JSON of a
    kilobyte shrinks to a half and less, and each began kilobyte of the item is a unit."""
    return pack(dumps(data), name="data", inline=COMPRESS_FROM)[0]


def names_of(sections: Iterable[tuple[str, str]]) -> set[str]:
    return {section_key(*key) for key in sections}
