"""Reading documents: heads with their parts, and a collection in order of creation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from ...errors import StorageUnavailable
from ...sdk.documents import Document
from ...values import UserKey
from ...values.plain import JSONObject
from ..paging import Row, matches
from .client import Database, Item, S, pause
from .document_items import Place, document_from, part_count
from .secondary_index import Kept

ATTEMPTS: Final = 60

_SCAN_PAGE: Final = 200
"""Items read at a time while looking for those that match `where`."""


class Brought(NamedTuple):
    """A document that was read, its key of creation and its head."""

    created: str
    document: Document
    head: Item


@dataclass(slots=True)
class Pass:
    """What one read of a collection went through: how many documents of about how many bytes, and
    the first of those without entries in the generation `gen`."""

    gen: str = ""
    keeps: int = 0
    documents: int = 0
    size: int = 0
    waiting: list[Brought] = field(default_factory=list)

    def note(self, rows: Sequence[Brought]) -> None:
        """Some more were read."""
        self.documents += len(rows)
        self.size += sum(_bytes(row.head) for row in rows)
        if self.keeps > len(self.waiting):
            self.waiting += (row for row in rows if Kept.of(row.head).gen != self.gen)


class DocumentReader:
    """Reads of one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self.table = table

    async def one(self, place: Place) -> Document | None:
        """The document at a place, whole."""
        head = await self._database.get(self.table, place.key)
        return await self.whole(place, head) if head else None

    async def whole(self, place: Place, head: Item) -> Document | None:
        """The document of a head, of a newer one if it was replaced while its parts were read; None
        if it was deleted."""
        current: Item | None = head
        for attempt in range(ATTEMPTS):
            if current is None:
                return None
            if not part_count(current):
                return document_from(place, current)
            parts = await self._database.partition(self.table, place.pk, place.part_prefix)
            if len(parts) == part_count(current) and all(
                part["etag"] == current["etag"] for part in parts
            ):
                return document_from(place, current, parts)
            await pause(attempt)
            current = await self._database.get(self.table, place.key)
        raise contended(place)

    def collection(self, of: Place, after: str = "") -> JSONObject:
        """A Query of a place's collection in order of creation, beyond one creation key. `!` sorts
        before hex digits and `g` after them."""
        low = f"{after}!" if after else f"{of.collection}#"
        return {
            "TableName": self.table,
            "IndexName": "by_created",
            "KeyConditionExpression": "#pk = :pk AND #created BETWEEN :low AND :high",
            "ExpressionAttributeValues": {
                ":pk": S(of.pk),
                ":low": S(low),
                ":high": S(f"{of.collection}#g"),
            },
            "ConsistentRead": True,
        }

    async def rows(
        self,
        of: Place,
        where: Mapping[str, Any] | None,
        seen: Pass,
        *,
        after: str = "",
        need: int = 0,
    ) -> list[Row]:
        """Matching documents of a place's collection in order of creation: all, or the first
        `need`. `seen` notes what was read."""
        request = self.collection(of, after)
        if need:
            request["Limit"] = _SCAN_PAGE if where else need
        rows: list[Row] = []
        while True:
            items, start = await self._database.page(**request)
            found = await self._read(of.user, of.app_id, items)
            seen.note(found)
            rows += (Row(*row[:2]) for row in found if matches(row.document.data, where))
            if start is None or (need and len(rows) >= need):
                return rows[: need or None]
            request["ExclusiveStartKey"] = start

    async def _read(self, user: UserKey, app_id: str, items: Sequence[Item]) -> list[Brought]:
        """Items as whole documents; those that were deleted meanwhile are missing."""
        wholes = (self.whole(Place.of(user, app_id, item), item) for item in items)
        documents = await asyncio.gather(*wholes)
        pairs = zip(items, documents, strict=True)
        return [Brought(i["created"]["S"], d, i) for i, d in pairs if d is not None]


def _bytes(head: Item) -> int:
    return sum(len(name) + len(next(iter(value.values()))) for name, value in head.items())


def contended(place: Place) -> StorageUnavailable:
    """Every attempt met another writer."""
    return StorageUnavailable(
        f"The document {place.collection}/{place.doc_id} is being replaced all the time; try again."
    )
