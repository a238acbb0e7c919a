"""What `where`, `order_by` and `cursor` mean: pure functions that both document stores share."""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from ..sdk.documents import Document, Page
from .jsontext import dumps, equal, loads


class Row(NamedTuple):
    """A document and the key that orders its collection by time of creation."""

    created: str
    document: Document


class Cursor:
    """Opaque page tokens of one query: base64 of JSON, bound to the query's arguments so that they
    fit no other."""

    def __init__(self, *query: Any) -> None:
        self._query = f"{zlib.crc32(dumps(query).encode()):08x}"

    def write(self, *position: Any) -> str:
        """A token that `read` turns back into these values."""
        return (
            base64.urlsafe_b64encode(dumps([self._query, *position]).encode()).decode().rstrip("=")
        )

    def read(self, token: str, size: int) -> list[Any]:
        """The values of a token; ValueError for one that this query did not give out."""
        try:
            raw = base64.b64decode(
                token.encode() + b"=" * (-len(token) % 4), altchars=b"-_", validate=True
            )
            values = loads(raw.decode())
        except (ValueError, AttributeError, RecursionError):
            values = None
        if not isinstance(values, list) or len(values) != size + 1 or values[0] != self._query:
            raise ValueError(f"cursor {token!r} is not one that this query gave out")
        return values[1:]


def positive(limit: int) -> int:
    """The limit, if a page can have it."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit {limit!r}: a page holds at least 1")
    return limit


def matches(data: Mapping[str, Any], where: Mapping[str, Any] | None) -> bool:
    """Equality of every named top-level field; a missing field equals nothing, not even null."""
    return not where or all(
        name in data and equal(data[name], value) for name, value in where.items()
    )


Position = tuple[tuple[int, Any] | None, str]
"""Where a row stands in an ordered result: the rank and value of its field (None: missing), then
its creation."""


class Order:
    """One field, `-field` descends. Missing and null come last either way; equal values keep the
    order of creation.

    Mixed types rank false/true, numbers, strings, lists, objects; strings compare by code point.
    """

    def __init__(self, order_by: str) -> None:
        self.descends = order_by.startswith("-")
        self.field = order_by.removeprefix("-")
        if not self.field:
            raise ValueError(f"order_by {order_by!r} names no field")

    def position(self, row: Row) -> Position:
        return _rank(row.document.data.get(self.field)), row.created

    def sort(self, rows: Iterable[Row]) -> list[tuple[Position, Row]]:
        """Rows with their positions, in order."""
        placed = sorted(((self.position(row), row) for row in rows), key=lambda pair: pair[0][1])
        present = [pair for pair in placed if pair[0][0] is not None]
        present.sort(key=lambda pair: pair[0][0] or (0, 0), reverse=self.descends)
        return present + [pair for pair in placed if pair[0][0] is None]

    def after(self, one: Position, other: Position) -> bool:
        """Whether `one` comes after `other`."""
        (left, left_created), (right, right_created) = one, other
        if left == right:
            return left_created > right_created
        if left is None or right is None:
            return left is None
        return left < right if self.descends else left > right


def ordered_page(
    rows: Iterable[Row], order: Order, cursor: Cursor, token: str | None, limit: int
) -> Page[Document]:
    """One page of rows that were all read; `total` counts them."""
    placed = order.sort(rows)
    rest = placed
    if token is not None:
        last = _position(cursor, token)
        try:
            rest = [pair for pair in placed if order.after(pair[0], last)]
        except TypeError:
            raise ValueError(f"cursor {token!r} is not one that this query gave out") from None
    page, more = rest[:limit], len(rest) > limit
    return Page(
        data=[row.document for _, row in page],
        cursor=cursor.write(*page[-1][0]) if more else None,
        has_more=more,
        total=len(placed),
    )


def created_page(rows: list[Row], cursor: Cursor, limit: int) -> Page[Document]:
    """One page of rows in order of creation, of which the caller read one more than `limit` if
    there was one."""
    page, more = rows[:limit], len(rows) > limit
    return Page(
        data=[row.document for row in page],
        cursor=cursor.write(page[-1].created) if more else None,
        has_more=more,
    )


def created_after(cursor: Cursor, token: str | None, collection: str) -> str:
    """The creation key (`collection#<32 hex>`) that a token of `created_page` stands for; empty for
    the first page."""
    if token is None:
        return ""
    (created,) = cursor.read(token, 1)
    if not isinstance(created, str) or not re.fullmatch(
        re.escape(collection) + "#[0-9a-f]{32}", created
    ):
        raise ValueError(f"cursor {token!r} is not one that this query gave out")
    return created


def _position(cursor: Cursor, token: str) -> Position:
    ranked, created = cursor.read(token, 2)
    sound = ranked is None or (
        isinstance(ranked, list) and len(ranked) == 2 and isinstance(ranked[0], int)
    )
    if not sound or not isinstance(created, str):
        raise ValueError(f"cursor {token!r} is not one that this query gave out")
    return (tuple(ranked) if ranked else None), created


def _rank(value: Any) -> tuple[int, Any] | None:
    if value is None:
        return None
    if isinstance(value, bool):
        return 0, value
    if isinstance(value, (int, float)):
        return 1, value
    if isinstance(value, str):
        return 2, value
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return (3 if isinstance(value, list) else 4), text
