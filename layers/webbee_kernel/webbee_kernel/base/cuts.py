"""What is said in the place of what was cut, and what such words say. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from .text import ELLIPSIS

TRUNCATED: Final = "_truncated"
_LEFT_OUT: Final = "fields left out"
# compiled, and kept by `re`, with their first use: most turns cut nothing
_CUT: Final = rf"{ELLIPSIS}\[(\d+) chars\]\Z"
_GONE: Final = rf"{ELLIPSIS} (?:(\d+) more)?(?:, )?({_LEFT_OUT})?"
_GONE_FIELDS: Final = r"(\d+) more fields"


class More(NamedTuple):
    """What a list's last item says: how many items are gone, and whether rows lack fields."""

    gone: int = 0
    left_out: bool = False


def more(count: int, left_out: bool = False) -> str:
    """`… 12 more`, `… fields left out`, or both."""
    parts = [f"{count} more"] * bool(count) + [_LEFT_OUT] * left_out
    return f"{ELLIPSIS} {', '.join(parts)}"


def more_of(items: Sequence[Any]) -> More | None:
    """The inverse, of a list that was cut before; None where it was not."""
    last = items[-1] if items else None
    said = re.fullmatch(_GONE, last) if isinstance(last, str) and last[:1] == ELLIPSIS else None
    return More(int(said[1] or 0), bool(said[2])) if said else None


def more_fields(count: int) -> str:
    """What an object says under `_truncated`."""
    return f"{count} more fields"


def more_fields_of(value: Mapping[str, Any]) -> int:
    """The inverse; 0 where nothing was cut."""
    said = value.get(TRUNCATED)
    cut = re.fullmatch(_GONE_FIELDS, said) if isinstance(said, str) else None
    return int(cut[1]) if cut else 0


def tail(text: str) -> str:
    """What a text ends in that is cut: how long it was before anybody cut it."""
    cut = re.search(_CUT, text)
    return f"{ELLIPSIS}[{cut[1] if cut else len(text)} chars]"
