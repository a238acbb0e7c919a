"""Queries of documents: `where`, `order_by`, cursors and sort keys. Pure."""

from __future__ import annotations

import base64
import json
import logging
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, Final, NamedTuple

from ..sdk.result import Document, Page
from ..types import JSONObject, UserKey
from .codec import dumps, equal, loads
from .item_keys import app_key

KEY_BYTES: Final = 200
"""UTF-8 bytes of a text in a sort key; longer equal prefixes keep the order of creation."""
DIGITS: Final = KEY_BYTES - 10
"""Digits of a number in a sort key; with so many the key counts as cut."""
COSTLY: Final = 1_000
"""Documents read without an index, above which the cost is logged."""

MISSING: Final = "9"
"""The sort key of missing and null values: after all others."""
END: Final = "\t"
"""Terminates a sort key and occurs in none."""
_CONTROLS: Final = {code: f"\v{chr(32 + code)}" for code in range(32)}
"""Encoded control characters: in their order, after `END` and before all others."""
_LARGEST_EXPONENT: Final = 49_999
_COMPLEMENT: Final = str.maketrans("0123456789", "9876543210")

_KIND: Final = "local.2"
"""Version of the index format, a part of the declaration."""

_log = logging.getLogger("webbee.extension")


class Collection(NamedTuple):
    """A collection of a user's app. `fields` are the indexed ones, the same in one release of the
    app; `now` is the call's time (Unix seconds), for who writes or has such fields."""

    user: UserKey
    app_id: str
    name: str
    fields: tuple[str, ...] = ()
    now: float = 0.0

    @property
    def declaration(self) -> str:
        """Identifies the set of indexed fields; empty without any."""
        return " ".join([_KIND, *self.fields]) if self.fields else ""

    @property
    def pk(self) -> str:
        """The partition that holds them."""
        return app_key(self.user, self.app_id)

    def key(self, doc_id: str, part: int | None = None) -> JSONObject:
        """Of a document's head, or of a part of a large one."""
        behind = "" if part is None else f"#part#{part:03d}"
        return {"pk": self.pk, "sk": f"{self.name}#{doc_id}{behind}"}

    @property
    def marker_key(self) -> JSONObject:
        """The key of the collection's marker item."""
        return {"pk": self.pk, "sk": f"#users#{self.name}"}


def order_key(value: Any) -> str:
    """A sort key across types: false, true, numbers, strings by code point, lists, objects, then
    missing or null."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return "0t" if value else "0f"
    if isinstance(value, (int, float)):
        return f"1{_number_key(value)}"
    if isinstance(value, str):
        return f"2{_text_key(value)}"
    text = json.dumps(_normalize_numbers(value), sort_keys=True, ensure_ascii=False)
    return f"{4 if isinstance(value, dict) else 3}{_text_key(text)}"


def is_cut(key: str) -> bool:
    """Whether a key may stand for several values."""
    # a cut within a character loses the whole of it, up to three bytes more
    return len(key.encode()) > KEY_BYTES - 4


def _text_key(text: str) -> str:
    prefix = text[:KEY_BYTES].translate(_CONTROLS).encode(errors="replace")[:KEY_BYTES]
    return prefix.decode(errors="ignore")


def _number_key(value: float) -> str:
    """Sign, exponent and digits; complements for a negative number."""
    if not value:
        return "5"
    number = _normalize_numbers(value)
    exact = Decimal(number if isinstance(number, int) else repr(number))
    # integers have no end, but the exponent of a key has five digits
    exponent = min(exact.adjusted(), _LARGEST_EXPONENT)
    digits = "".join(map(str, exact.as_tuple().digits)).rstrip("0")[:DIGITS]
    body = f"{exponent + _LARGEST_EXPONENT:05d}{digits}"
    # `~`: of two negatives that begin alike the longer one is less
    return f"7{body}" if value > 0 else f"3{body.translate(_COMPLEMENT)}~"


def _normalize_numbers(value: Any) -> Any:
    """The value with whole floats as integers."""
    if isinstance(value, dict):
        return {key: _normalize_numbers(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_normalize_numbers(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


KEY: Final = r"[^\ud800-\udfff]{1,1024}"
"""Pattern of a text in a table key."""


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

    def read(self, token: str, *kinds: type | str) -> list[Any]:
        """The values of a token, checked against these types or patterns; ValueError for a token of
        another query."""
        try:
            raw = base64.b64decode(
                token.encode() + b"=" * (-len(token) % 4), altchars=b"-_", validate=True
            )
            values = loads(raw.decode())
        except (ValueError, AttributeError, RecursionError):
            values = None
        is_own = isinstance(values, list) and values[:1] == [self._query]
        if not is_own or len(values) != len(kinds) + 1 or not all(map(_fits, values[1:], kinds)):
            raise ValueError(f"cursor {token!r} is not one that this query gave out")
        return list(values[1:])


def _fits(value: Any, kind: type | str) -> bool:
    # anybody can forge a token: its parts must be valid in a key
    if isinstance(kind, str):
        return isinstance(value, str) and re.fullmatch(kind, value) is not None
    return bool(kind is type(value)) and 0 <= value < 2**53


def check_limit(limit: int) -> int:
    """The limit, if a page can have it."""
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise ValueError(f"limit {limit!r}: a page holds at least 1")
    return limit


def matches(data: Mapping[str, Any], where: Mapping[str, Any] | None) -> bool:
    """Equality of every named top-level field; a missing field equals nothing, not even null."""
    return not where or all(
        name in data and equal(data[name], value) for name, value in where.items()
    )


class Row(NamedTuple):
    """A document, its creation key (`collection#<32 hex>`), its head item, and its sort key where
    ordered by a field."""

    created: str
    document: Document
    head: Mapping[str, Any] = {}
    key: str = ""


Position = tuple[str, str]
"""A row's sort key (empty in order of creation) and creation key."""


@dataclass(frozen=True)
class DocumentQuery:
    """A query over a collection. Equal values, and all rows without a field, come in order of
    creation; `-field` descends, with missing and null still last."""

    collection: Collection
    where: Mapping[str, Any]
    order_by: str = ""
    limit: int = 100
    cursor: str | None = None

    def __post_init__(self) -> None:
        check_limit(self.limit)
        if self.order_by and not self.field:
            raise ValueError(f"order_by {self.order_by!r} names no field")

    @property
    def field(self) -> str:
        """The field to order by; empty for none."""
        return self.order_by.removeprefix("-")

    @property
    def is_descending(self) -> bool:
        return self.order_by.startswith("-")

    @property
    def index_field(self) -> str:
        """The field by whose index it can be answered: the first of `where` that has one, else that
        of the order; empty for none."""
        fields = self.collection.fields
        return next((name for name in (*self.where, self.field) if name in fields), "")

    @cached_property
    def _tokens(self) -> Cursor:
        return Cursor(self.collection.name, dict(self.where), self.order_by)

    @cached_property
    def after(self) -> Position | None:
        """The position after which the page begins; ValueError for a foreign cursor."""
        if self.cursor is None:
            return None
        keys = rf"[0-4][^{END}]*|{MISSING}" if self.field else ""
        in_it = re.escape(self.collection.name) + "#[0-9a-f]{32}"
        key, created = self._tokens.read(self.cursor, keys, in_it)
        return key, created

    def matching(self, rows: Iterable[Row]) -> list[Row]:
        """The rows that match `where`."""
        return [row for row in rows if matches(row.document.data, self.where)]

    def sort(self, rows: Iterable[Row]) -> list[Row]:
        """All rows in the query's order."""
        keyed = (r._replace(key=order_key(r.document.data.get(self.field))) for r in rows)
        return sorted(keyed, key=self._place, reverse=self.is_descending)

    def page(self, rows: Iterable[Row], total: int | None) -> Page[Document]:
        """One page of sorted rows, of which the caller read one more than fits, or all."""
        remaining = [row for row in rows if self._is_after_cursor(row)]
        page, more = remaining[: self.limit], len(remaining) > self.limit
        cursor = None
        if more:
            cursor = self._tokens.write(*self._place(page[-1])[1:])
        return Page(data=[row.document for row in page], cursor=cursor, has_more=more, total=total)

    def _is_after_cursor(self, row: Row) -> bool:
        if self.after is None:
            return True
        last = self._place(row._replace(key=self.after[0], created=self.after[1]))
        return self._place(row) < last if self.is_descending else self._place(row) > last

    def _place(self, row: Row) -> tuple[bool, str, str]:
        key = row.key if self.field else ""
        # the key of what is missing is the last one: going down it would be the first
        return self.is_descending and key != MISSING, key, row.created

    def log_cost(self, what: str, documents: int) -> None:
        """Log how many documents were read, where that was many, and the index that would help."""
        field = self.field or next(iter(self.where), "<field>")
        # a page as they were made reads what it shows
        is_plain = what == "where" and not self.where
        if documents <= COSTLY or is_plain or field in self.collection.fields:
            return
        _log.warning(
            "app=%s | %s of %r read %s documents; ext.index(%r, %r) would make it a few",
            self.collection.app_id,
            what,
            self.collection.name,
            f"{documents:,}",
            self.collection.name,
            field,
        )
