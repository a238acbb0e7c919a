"""How a document's JSON is laid out over DynamoDB items, and how large it may be.

Up to 190,000 bytes it is one string attribute; above, it is compressed (zlib, fastest level;
typical JSON shrinks five to ten times) and is one binary attribute if that fits, else up to ten
parts of 380,000 bytes.

Two limits of DynamoDB set the figures. An item and its copies in local secondary indexes may hold
400 KB *together* (developer guide, "Constraints"): the head of a document is in one such index, the
parts are in none. All items of a transaction together may hold 4 MB (API reference,
TransactWriteItems).
"""

from __future__ import annotations

import zlib
from typing import Final, NamedTuple

INLINE_BYTES: Final = 190_000
PART_BYTES: Final = 380_000
MAX_PARTS: Final = 10
SMALL_WINDOW: Final = 12
"""Bits of it."""
MAX_PACKED_BYTES: Final = PART_BYTES * MAX_PARTS


class Packed(NamedTuple):
    """Exactly one of the three holds the document."""

    text: str = ""
    blob: bytes = b""
    parts: tuple[bytes, ...] = ()


def pack(text: str) -> Packed:
    """Lay a document's JSON out; ValueError when it is too large even compressed."""
    if len(text) * 4 <= INLINE_BYTES:  # at most four bytes a character
        return Packed(text=text)
    raw = text.encode()
    if len(raw) <= INLINE_BYTES:
        return Packed(text=text)
    blob = zlib.compress(raw, 1)
    if len(blob) <= INLINE_BYTES:
        return Packed(blob=blob)
    if len(blob) > MAX_PACKED_BYTES:
        raise ValueError(
            f"document too large: {len(raw)} bytes of JSON, {len(blob)} compressed; a document"
            f" holds at most {MAX_PACKED_BYTES} compressed"
        )
    return Packed(parts=tuple(blob[at : at + PART_BYTES] for at in range(0, len(blob), PART_BYTES)))


def squeeze(text: str) -> bytes:
    """Small texts, of which writes are billed by the kilobyte.

    A text within the smaller window is packed as well by a packer that takes 55 KB instead of 270,
    and clears no more than that.
    """
    raw = text.encode()
    if len(raw) > 1 << SMALL_WINDOW:
        return zlib.compress(raw, 9)
    packer = zlib.compressobj(9, zlib.DEFLATED, SMALL_WINDOW, 6)
    return packer.compress(raw) + packer.flush()


def unpack(blob: bytes) -> str:
    """The text of a blob, or of parts joined in their order."""
    return zlib.decompress(blob).decode()
