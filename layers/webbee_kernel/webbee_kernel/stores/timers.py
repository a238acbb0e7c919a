"""A user's timer as text, and how its bookkeeping and the sections' data make one picture.

Bookkeeping is one JSON object by `app#section`, defaults left out: about 90 bytes a section, so a
user's timer stays within one write unit up to eight sections. A section exists when it is in the
bookkeeping; data that is newer than the bookkeeping says was written by a refresh that died before
it was through, and counts as it stands.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from ..values import Lease, Section
from ..values.plain import JSONObject
from .codec import dumps, loads
from .keys import section_key

Book = dict[tuple[str, str], Section]
"""Bookkeeping by app and section, no data in it."""

NO_SECTIONS: Final = "{}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A section's data as it is stored: its version, when that was made, what it replaced."""

    data: JSONObject | None
    version: int
    refreshed_at: float | None
    previous: JSONObject | None = None


def book_text(sections: Iterable[Section]) -> str:
    """The bookkeeping of these sections, in a stable order."""
    return dumps({section_key(*s.key): _entry(s) for s in sorted(sections, key=lambda s: s.key)})


def book_from(text: str) -> Book:
    """The bookkeeping, a `Section` without data each."""
    entries: dict[str, JSONObject] = loads(text)
    sections = (_section(key, entry) for key, entry in entries.items())
    return {section.key: section for section in sections}


def pictured(entry: Section, held: Snapshot | None, lease_until: float) -> Section:
    """Bookkeeping and data together."""
    if held is None:
        return replace(entry, lease_until=lease_until)
    ahead = held.version > entry.version
    return replace(
        entry,
        data=held.data,
        previous=held.previous,
        version=max(entry.version, held.version),
        refreshed_at=held.refreshed_at if ahead else entry.refreshed_at,
        lease_until=lease_until,
    )


def earliest(sections: Iterable[Section]) -> float | None:
    """When the first of them falls due."""
    return min((s.due_at for s in sections if s.due_at is not None), default=None)


def reconciled(ours: Iterable[Section], lease: Lease, stored: Book) -> Book:
    """What a save leaves: what others took away meanwhile stays away, what they added stays."""
    known = book_from(lease.known or NO_SECTIONS)
    kept = {s.key: s for s in ours if s.key in stored or s.key not in known}
    theirs = {key: section for key, section in stored.items() if key not in known}
    return {**theirs, **kept}


def added(book: Mapping[tuple[str, str], Section], sections: Iterable[Section]) -> Book | None:
    """The bookkeeping with sections that it does not have yet; None when it has them all."""
    new = {s.key: s for s in sections if s.key not in book}
    return {**book, **new} if new else None


def _entry(section: Section) -> JSONObject:
    """What a reader could not tell by itself: without `due` a section keeps its own pace, without
    `alerted` its last change was told."""
    at, due_at = section.refreshed_at, section.due_at
    entry: JSONObject = {
        "ttl": section.ttl,
        **({"at": at} if at is not None else {}),
        **({"v": section.version} if section.version else {}),
        **({"fails": section.failures} if section.failures else {}),
        **({"error": section.last_error} if section.last_error else {}),
    }
    if due_at != (at + section.ttl if at is not None else None):
        entry["due"] = due_at
    if section.alerted != section.version:
        entry["alerted"] = section.alerted
    return entry


def _section(key: str, entry: Mapping[str, Any]) -> Section:
    app_id, _, name = key.partition("#")
    at, ttl, version = entry.get("at"), int(entry.get("ttl", 300)), int(entry.get("v", 0))
    return Section(
        app_id=app_id,
        section=name,
        refreshed_at=at,
        ttl=ttl,
        due_at=entry.get("due", at + ttl if at is not None else None),
        failures=int(entry.get("fails", 0)),
        last_error=str(entry.get("error", "")),
        version=version,
        alerted=int(entry.get("alerted", version)),
    )
