"""Queries and counts of one collection: by an index where one holds what is asked, else by going
through its documents as they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ...sdk.documents import Document, Page
from ..declared import Declared, is_cut, rank_key, remedy, tell_cost
from ..paging import (
    Cursor,
    Order,
    Row,
    created_after,
    created_page,
    kept_page,
    ordered_page,
    rank_of,
)
from .client import Database
from .document_items import Place
from .document_reads import DocumentReader, Pass
from .index_reads import Index
from .keeping import Keeper
from .kept_items import Generation


@dataclass(frozen=True, slots=True)
class Asked:
    """One question about the documents of a collection; `place` names it."""

    place: Place
    declared: Declared
    where: Mapping[str, Any] = field(default_factory=dict)
    order_by: str = ""
    limit: int = 100
    cursor: str | None = None

    @property
    def tokens(self) -> Cursor:
        """The cursors of this question."""
        return Cursor(self.place.collection, dict(self.where), self.order_by)

    @property
    def order(self) -> Order | None:
        """By which field, if by any."""
        return Order(self.order_by, self.declared) if self.order_by else None

    @property
    def sought(self) -> str:
        """The field whose index has what is wanted together; empty for none."""
        return self.declared.sought(self.where)


class DocumentQueries:
    """Reads of one table's collections."""

    def __init__(self, database: Database, reader: DocumentReader, keeper: Keeper) -> None:
        self._database = database
        self._reader = reader
        self._keeper = keeper

    async def query(self, asked: Asked) -> Page[Document]:
        """One page."""
        order = asked.order
        if not (asked.sought or (order and order.declared)):
            return await self._page_of(asked, order, None)
        state = await self._keeper.read(asked.place, asked.declared, asked.declared.now)
        if state is None or not state.done:
            return await self._page_of(asked, order, state)
        if order is None:
            return await self._having(asked, state)
        if asked.sought:
            rows = await self._index(asked, state, asked.sought).having(
                asked.where[asked.sought], asked.where
            )
            return ordered_page(rows, order, asked.tokens, asked.cursor, asked.limit)
        after = order.read(asked.tokens, asked.cursor) if asked.cursor is not None else None
        rows = await self._index(asked, state, order.field).ordered(
            order, asked.where, after, asked.limit + 1
        )
        total = None if asked.where else state.total
        return kept_page(rows, order, asked.tokens, asked.limit, total)

    async def count(self, asked: Asked) -> int:
        """How many match."""
        state = None
        if asked.declared and (asked.sought or not asked.where):
            state = await self._keeper.read(asked.place, asked.declared, asked.declared.now)
        if state is None or not state.done:
            return await self._count_all(asked, state)
        if not asked.where:
            return state.total
        value = asked.where[asked.sought]
        if len(asked.where) == 1 and (key := _counted(asked, state, value)):
            return state.counts.get(f"{asked.sought}:{key}", 0)
        return len(await self._index(asked, state, asked.sought).having(value, asked.where))

    async def _having(self, asked: Asked, state: Generation) -> Page[Document]:
        after = created_after(asked.tokens, asked.cursor, asked.place.collection)
        rows = await self._index(asked, state, asked.sought).having(
            asked.where[asked.sought], asked.where, after=after, need=asked.limit + 1
        )
        return created_page(rows, asked.tokens, asked.limit)

    async def _page_of(
        self, asked: Asked, order: Order | None, state: Generation | None
    ) -> Page[Document]:
        if order:
            rows = await self._through(asked, state, asked.order_by, order.field)
            return ordered_page(rows, order, asked.tokens, asked.cursor, asked.limit)
        after = created_after(asked.tokens, asked.cursor, asked.place.collection)
        need = asked.limit + 1
        wanted = "" if not asked.where else next(iter(asked.where))
        rows = await self._through(asked, state, wanted, wanted, after=after, need=need)
        return created_page(rows, asked.tokens, asked.limit)

    async def _count_all(self, asked: Asked, state: Generation | None) -> int:
        if asked.where or (state and self._keeper.takes(state, asked.declared.now)):
            wanted = next(iter(asked.where), "")
            return len(await self._through(asked, state, "count", wanted))
        place = asked.place
        request = self._reader.collection(place)
        found = await self._database.count(**request)
        tell_cost(place.app_id, place.collection, "count", found, 0, remedy(place.collection, ""))
        return found

    async def _through(
        self,
        asked: Asked,
        state: Generation | None,
        what: str,
        wanted: str,
        *,
        after: str = "",
        need: int = 0,
    ) -> list[Row]:
        """Rows found by going through the documents; a full pass brings some into the indexes."""
        place, declared = asked.place, asked.declared
        takes = self._keeper.takes(state, declared.now)
        seen = Pass(state.gen if state else "", takes)
        start, count = ("", 0) if takes else (after, need)
        rows = await self._reader.rows(place, asked.where, seen, after=start, need=count)
        if state and takes:
            await self._keeper.bring_in(place, declared, state, seen.waiting)
            rows = [row for row in rows if row.created > after][: need or None]
        elif wanted not in declared.fields:
            mended = remedy(place.collection, wanted)
            tell_cost(place.app_id, place.collection, what, seen.documents, seen.size, mended)
        return rows

    def _index(self, asked: Asked, state: Generation, name: str) -> Index:
        return Index(self._database, self._reader, asked.place, state.gen, name)


def _counted(asked: Asked, state: Generation, value: Any) -> str:
    """The key by which documents of this value are counted; empty where they are not, or where it
    may stand for several."""
    key = rank_key(rank_of(value))
    told = asked.sought in asked.declared.counted and state.counts_values
    return key if told and value is not None and not is_cut(key) else ""
