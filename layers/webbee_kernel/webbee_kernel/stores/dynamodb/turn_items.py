"""A turn as attributes of an item.

body    number, time, status and request: what is left of a turn whose text is damaged
packed  the turn as text, compressed: a write is billed by the kilobyte
marks   six bytes a mark
listed  the functions shown, a byte or two each
"""

from __future__ import annotations

import logging
import zlib
from dataclasses import replace
from functools import lru_cache

from ...values import Turn
from ..codec import dumps, squeeze, turn_from, turn_text, unpack
from .client import Item, S

MARK_BYTES = 6
SMALL_BYTES = 2_048
READ_BEFORE = 200
"""Turns that a process need not read again, and the packed bytes of one: some megabytes."""
_log = logging.getLogger("webbee.store")


def turn_attributes(turn: Turn) -> Item:
    """The attributes that hold a turn."""
    head = {
        "seq": turn.seq,
        "at": turn.at,
        "status": turn.status,
        "message": "",
        "reply": "",
        "request_id": turn.request_id,
    }
    marks = bytes.fromhex("".join(turn.marks))
    return {
        "body": S(dumps(head) + "\n"),
        "packed": {"B": squeeze(turn_text(turn, less=("marks", "listed")))},
        **({"marks": {"B": marks}} if marks else {}),
        **({"listed": {"B": bytes.fromhex(turn.listed)}} if turn.listed else {}),
    }


def turn_in(item: Item) -> Turn:
    """The turn that an item holds; of a damaged one the place, so that it costs a person one turn
    and not the conversation."""
    try:
        return _whole(item)
    except (zlib.error, ValueError, KeyError, TypeError) as error:
        damaged(item, error)
        return replace(turn_from(item["body"]["S"]), status="error")


def damaged(item: Item, error: Exception) -> None:
    """Say in the log which item of the session cannot be read."""
    reason = type(error).__name__
    _log.error("item=%s reason=%s | cannot be read: left out", item["sk"]["S"], reason)


def _whole(item: Item) -> Turn:
    packed, marks, listed = (_bytes(item, name) for name in ("packed", "marks", "listed"))
    read = _read if len(packed) <= SMALL_BYTES else _read.__wrapped__
    return read(packed, marks, listed)


@lru_cache(maxsize=READ_BEFORE)
def _read(packed: bytes, marks: bytes, listed: bytes) -> Turn:
    """The turn in these bytes: a conversation's next one finds four of its five read already."""
    digits, size = marks.hex(), 2 * MARK_BYTES
    kept = tuple(digits[at : at + size] for at in range(0, len(digits), size))
    return turn_from(unpack(packed), marks=kept, listed=listed.hex())


def _bytes(item: Item, name: str) -> bytes:
    return bytes(item[name]["B"]) if name in item else b""
