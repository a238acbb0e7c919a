"""Reading documents: heads with their parts, and a collection in order of creation."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ...errors import StorageUnavailable
from ...sdk.documents import Document
from ...values import UserKey
from ...values.plain import JSONObject
from ..keys import app_key, collection_name
from ..paging import Row, matches
from .client import Database, Item, S, pause
from .document_items import Place, document_from, part_count

ATTEMPTS: Final = 60

_SCAN_PAGE: Final = 200
"""Items read at a time while looking for those that match `where`."""


class DocumentReader:
    """Reads of one table."""

    def __init__(self, database: Database, table: str) -> None:
        self._database = database
        self._table = table

    async def whole(self, place: Place, head: Item) -> Document | None:
        """The document of a head, of a newer one if it was replaced while its parts were read; None
        if it was deleted."""
        current: Item | None = head
        for attempt in range(ATTEMPTS):
            if current is None:
                return None
            if not part_count(current):
                return document_from(place, current)
            parts = await self._database.items(
                TableName=self._table,
                KeyConditionExpression="#pk = :pk AND begins_with(#sk, :parts)",
                ExpressionAttributeValues={":pk": S(place.pk), ":parts": S(place.part_prefix)},
                ConsistentRead=True,
            )
            if len(parts) == part_count(current) and all(
                part["etag"] == current["etag"] for part in parts
            ):
                return document_from(place, current, parts)
            await pause(attempt)
            current = await self._database.get(self._table, place.key)
        raise contended(place)

    def collection(
        self, user: UserKey, app_id: str, collection: str, after: str = ""
    ) -> JSONObject:
        """A Query of the collection in order of creation, beyond one creation key. `!` sorts before
        hex digits and `g` after them."""
        low = f"{after}!" if after else f"{collection_name(collection)}#"
        return {
            "TableName": self._table,
            "IndexName": "by_created",
            "KeyConditionExpression": "#pk = :pk AND #created BETWEEN :low AND :high",
            "ExpressionAttributeValues": {
                ":pk": S(app_key(user, app_id)),
                ":low": S(low),
                ":high": S(f"{collection}#g"),
            },
            "ConsistentRead": True,
        }

    async def rows(
        self,
        user: UserKey,
        app_id: str,
        collection: str,
        where: Mapping[str, Any] | None,
        *,
        after: str = "",
        need: int = 0,
    ) -> list[Row]:
        """Matching documents in order of creation: all, or the first `need`."""
        request = self.collection(user, app_id, collection, after)
        if need:
            request["Limit"] = _SCAN_PAGE if where else need
        rows: list[Row] = []
        while True:
            items, start = await self._database.page(**request)
            found = await self._read(user, app_id, items)
            rows += (row for row in found if matches(row.document.data, where))
            if start is None or (need and len(rows) >= need):
                return rows[: need or None]
            request["ExclusiveStartKey"] = start

    async def _read(self, user: UserKey, app_id: str, items: Sequence[Item]) -> list[Row]:
        """Items as whole documents; those that were deleted meanwhile are missing."""
        wholes = (self.whole(Place.of(user, app_id, item), item) for item in items)
        documents = await asyncio.gather(*wholes)
        pairs = zip(items, documents, strict=True)
        return [Row(i["created"]["S"], d) for i, d in pairs if d is not None]


def contended(place: Place) -> StorageUnavailable:
    """Every attempt met another writer."""
    return StorageUnavailable(
        f"The document {place.collection}/{place.doc_id} is being replaced all the time; try again."
    )
