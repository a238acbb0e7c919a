"""What an author declared to be kept of a collection: the fields it is ordered by and looked up by.

An index keeps the documents of a collection by the `order_key` of one field, then by creation. Keys
are text, so that a table can sort them; both stores order by the same ones.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, NamedTuple

from ..sdk.definitions import IndexDef
from ..values import UserKey

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

_log = logging.getLogger("webbee.extension")

Rank = tuple[int, Any] | None
"""Where a value stands among those of other types, and itself; None: missing or null."""


@dataclass(frozen=True, slots=True)
class Declared:
    """The indexes of one collection, and the moment (Unix seconds) of the call they are told in."""

    indexes: tuple[IndexDef, ...] = ()
    now: float = 0.0

    def __bool__(self) -> bool:
        return bool(self.indexes)

    @property
    def fields(self) -> tuple[str, ...]:
        """The indexed fields."""
        return tuple(index.field for index in self.indexes)

    @property
    def counted(self) -> tuple[str, ...]:
        """Those of which documents are counted by value."""
        return tuple(index.field for index in self.indexes if index.counted)

    def text(self) -> str:
        """The same for the same declaration, whatever its order."""
        return " ".join(sorted(f"{i.field}{'+' if i.counted else ''}" for i in self.indexes))

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
    app_id: str, collection: str, asked: str, documents: int, size: int, mended_by: str
) -> None:
    """Log what one answer read, where that was much. `size` is in bytes; 0: nobody knows."""
    if documents <= MANY:
        return
    units = f", {math.ceil(size / 4096):,} read units" if size else ""
    _log.warning(
        "app=%s | %s of %r read %s documents%s; %s would make it a few",
        app_id,
        asked,
        collection,
        f"{documents:,}",
        units,
        mended_by,
    )


def remedy(collection: str, field: str) -> str:
    """The declaration that keeps an order or a condition."""
    return f"ext.index({collection!r}, {field or '<field>'!r})"


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
