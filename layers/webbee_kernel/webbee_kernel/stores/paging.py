"""What `where`, `order_by` and `cursor` mean: pure functions that both document stores share."""

from __future__ import annotations

import base64
import json
import logging
import math
import re
import zlib
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ..sdk.records import Document, Page
from ..types import UserKey
from .codec import dumps, equal, loads

if TYPE_CHECKING:
    from ..sdk.definitions import IndexDef

KEY_BYTES: Final = 200
"""UTF-8 of a text by which an index orders; those that agree so far keep their creation's order."""
DIGITS: Final = 40
"""Of a number by which an index orders: more than a float has."""
MANY: Final = 1_000
"""Documents read for one answer without an index, above which the log says what it cost."""

MISSING: Final = "9"
"""The key of what is missing or null: after all others."""
END: Final = "\t"
"""Ends a key. Control characters of a text count as spaces, so nothing sorts before it."""
_CONTROLS: Final = dict.fromkeys(range(32), " ")
_LARGEST_EXPONENT: Final = 49_999
_COMPLEMENT: Final = str.maketrans("0123456789", "9876543210")

_KIND: Final = "local"
"""How indexes are kept: a marker that tells of entries of another kind is another declaration's."""

_log = logging.getLogger("webbee.extension")

Rank = tuple[int, Any] | None
"""Where a value stands among those of other types, and itself; None: missing or null."""


class Declared(NamedTuple):
    """The indexes of one collection, and the moment (Unix seconds) of the call they are told in."""

    indexes: tuple[IndexDef, ...] = ()
    now: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.indexes)

    @property
    def fields(self) -> tuple[str, ...]:
        """The indexed fields, in the order of their indexes."""
        return tuple(sorted(index.field for index in self.indexes))

    @property
    def counted(self) -> tuple[str, ...]:
        """Those of which documents are counted by value."""
        return tuple(index.field for index in self.indexes if index.counted)

    def text(self) -> str:
        """The same for the same declaration, whatever its order."""
        fields = sorted(f"{i.field}{'+' if i.counted else ''}" for i in self.indexes)
        return " ".join([_KIND, *fields]) if fields else ""

    def sought(self, where: Mapping[str, Any] | None) -> str:
        """The first field of a condition that an index holds; empty for none."""
        return next((name for name in where or () if name in self.fields), "")


UNDECLARED: Final = Declared()


class Collection(NamedTuple):
    """Documents of one name of a user's app. `declared` says what is kept of them: the same for all
    calls of a release of the app."""

    user: UserKey
    app_id: str
    name: str
    declared: Declared = UNDECLARED


def rank_key(rank: Rank) -> str:
    """The key of a ranked value."""
    if rank is None:
        return MISSING
    kind, value = rank
    if kind == 0:
        return "0t" if value else "0f"
    return f"{kind}{_number_key(value) if kind == 1 else _text_key(str(value))}"


def is_cut(key: str) -> bool:
    """Whether a key may stand for several values."""
    return len(key.encode()) > KEY_BYTES - 4


def tell_cost(
    app_id: str, collection: str, asked: str, documents: int, size: int, field: str
) -> None:
    """Log what one answer read, where that was much, and the declaration of `field` that would make
    it a few. `size` is in bytes; 0: nobody knows."""
    if documents <= MANY:
        return
    units = f", {math.ceil(size / 4096):,} read units" if size else ""
    _log.warning(
        "app=%s | %s of %r read %s documents%s; ext.index(%r, %r) would make it a few",
        app_id,
        asked,
        collection,
        f"{documents:,}",
        units,
        collection,
        field or "<field>",
    )


def _text_key(text: str) -> str:
    cut = text[:KEY_BYTES].translate(_CONTROLS).encode(errors="replace")[:KEY_BYTES]
    return cut.decode(errors="ignore")


def _number_key(value: float) -> str:
    """Sign, exponent and digits; of a negative number their complements, so that more is less."""
    if not value:
        return "5"
    whole = isinstance(value, int) or value.is_integer()
    exact = Decimal(int(value)) if whole else Decimal(repr(value))
    exponent = min(exact.adjusted(), _LARGEST_EXPONENT)
    digits = "".join(map(str, exact.as_tuple().digits[:DIGITS])).rstrip("0")
    body = f"{exponent + _LARGEST_EXPONENT:05d}{digits}"
    return f"7{body}" if value > 0 else f"3{body.translate(_COMPLEMENT)}~"


KEPT: Final = 9
"""The rank of an index's keys: they hold the ranks of what they stand for."""


class Row(NamedTuple):
    """A document and the key that orders its collection by time of creation; `key` is that by which
    an index had it."""

    created: str
    document: Document
    key: str = ""


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
            raise refused(token)
        return values[1:]


def refused(token: str) -> ValueError:
    """What a foreign cursor is answered with."""
    return ValueError(f"cursor {token!r} is not one that this query gave out")


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


Position = tuple[Rank, str]
"""Where a row stands in an ordered result: the rank and value of its field (None: missing), then
its creation. Of a declared field the value is its key in the index."""


class Order:
    """One field, `-field` descends. Missing and null come last either way; equal values keep the
    order of creation.

    Mixed types rank false/true, numbers, strings, lists, objects; strings compare by code point.
    """

    def __init__(self, order_by: str, declared: Declared = UNDECLARED) -> None:
        self.order_by = order_by
        self.descends = order_by.startswith("-")
        self.field = order_by.removeprefix("-")
        if not self.field:
            raise ValueError(f"order_by {order_by!r} names no field")
        self.declared = self.field in declared.fields

    def position(self, row: Row) -> Position:
        if row.key:
            return (None if row.key == MISSING else (KEPT, row.key)), row.created
        rank = rank_of(row.document.data.get(self.field))
        return self._kept(rank), row.created

    def read(self, cursor: Cursor, token: str) -> Position:
        """The position that a token stands for, also one given out before the field was
        declared."""
        rank, created = _position(cursor, token)
        try:
            return self._kept(rank), created
        except (TypeError, ValueError, AttributeError, ArithmeticError):
            raise refused(token) from None

    def _kept(self, rank: Rank) -> Rank:
        if not self.declared or rank is None:
            return rank
        kept = rank if rank[0] == KEPT else (KEPT, rank_key(rank))
        if kept[1][0] not in "01234" or END in kept[1]:
            raise ValueError("no key of an index")
        return kept

    def sort(self, rows: Iterable[Row]) -> list[tuple[Position, Row]]:
        placed = sorted(((self.position(row), row) for row in rows), key=lambda pair: pair[0][1])
        present = [pair for pair in placed if pair[0][0] is not None]
        present.sort(key=lambda pair: pair[0][0] or (0, 0), reverse=self.descends)
        return present + [pair for pair in placed if pair[0][0] is None]

    def after(self, one: Position, other: Position) -> bool:
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
        last = order.read(cursor, token)
        try:
            rest = [pair for pair in placed if order.after(pair[0], last)]
        except TypeError:
            raise refused(token) from None
    return kept_page([row for _, row in rest], order, cursor, limit, len(placed))


def kept_page(
    rows: list[Row], order: Order, cursor: Cursor, limit: int, total: int | None
) -> Page[Document]:
    """One page of rows in their order, of which the caller read one more than `limit` if there was
    one."""
    return _page(rows, limit, lambda last: cursor.write(*order.position(last)), total)


def created_page(rows: list[Row], cursor: Cursor, limit: int) -> Page[Document]:
    """The same in order of creation."""
    return _page(rows, limit, lambda last: cursor.write(last.created))


def _page(
    rows: list[Row], limit: int, after: Callable[[Row], str], total: int | None = None
) -> Page[Document]:
    page, more = rows[:limit], len(rows) > limit
    found = [row.document for row in page]
    return Page(data=found, cursor=after(page[-1]) if more else None, has_more=more, total=total)


def created_after(cursor: Cursor, token: str | None, collection: str) -> str:
    """The creation key (`collection#<32 hex>`) that a token of `created_page` stands for; empty for
    the first page."""
    if token is None:
        return ""
    (created,) = cursor.read(token, 1)
    if not isinstance(created, str) or not re.fullmatch(
        re.escape(collection) + "#[0-9a-f]{32}", created
    ):
        raise refused(token)
    return created


def _position(cursor: Cursor, token: str) -> Position:
    ranked, created = cursor.read(token, 2)
    sound = ranked is None or (
        isinstance(ranked, list) and len(ranked) == 2 and isinstance(ranked[0], int)
    )
    if not sound or not isinstance(created, str):
        raise refused(token)
    return (tuple(ranked) if ranked else None), created


def rank_of(value: Any) -> Rank:
    """Where a value stands among those of all types."""
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
