"""Serialization of stored values: JSON, compression, and the kernel's own records.

orjson refuses integers beyond 64 bits when writing and turns them into floats when reading. Such
values go through the standard library instead, and their text starts with a space: still valid
JSON, and the mark by which `loads` knows which of the two wrote it.

A document's JSON is one string attribute up to 190,000 bytes; above, it is compressed (zlib,
fastest level; typical JSON shrinks five to ten times) and is one binary attribute if that fits,
else up to ten parts of 380,000 bytes. Two limits of DynamoDB set the figures. An item and its
copies in local secondary indexes may hold 400 KB *together* (developer guide, "Constraints"): the
head of a document is in one such index, the parts are in none. All items of a transaction together
may hold 4 MB (API reference, TransactWriteItems).

A reader of records ignores fields it does not know and gives missing ones their default: two
versions of the kernel run side by side while one is deployed over the other.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any, Final

import orjson

from ..errors import BadInput
from ..types import AuditRecord, Event, JSONObject, from_dict, to_dict
from .types import Turn

_STRICT = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME
_EXACT = " "


def document_text(data: Any) -> str:
    """A document's JSON; TypeError for what is no object."""
    if not isinstance(data, dict):
        raise TypeError(f"a document's data is a dict, not {type(data).__name__}")
    return dumps(data)


def dumps(value: Any) -> str:
    """Compact JSON. NaN, Infinity and nesting beyond the interpreter's stack are a ValueError; what
    JSON cannot hold, a TypeError."""
    try:
        text = orjson.dumps(value, option=_STRICT)
    except TypeError:
        # also integers over 64 bits, lone surrogates and more than 254 levels, which the standard
        # library takes
        return exact(value)
    if b"null" in text:  # orjson writes NaN as null, which the standard library refuses
        json.dumps(value, allow_nan=False)
    return text.decode()


def loads(text: str) -> Any:
    """The value that `dumps` was given; tuples come back as lists."""
    return json.loads(text) if text.startswith(_EXACT) else orjson.loads(text)


def equal(left: Any, right: Any) -> bool:
    """Equality of JSON values: 1 is 1.0, but True is not 1, at any depth."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(
            equal(value, right[key]) for key, value in left.items()
        )
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(equal, left, right))
    return bool(left == right)


def exact(value: Any) -> str:
    """The same in ASCII, by the standard library: SQS refuses U+FFFE and U+FFFF as they are."""
    try:
        text = json.dumps(value, allow_nan=False, check_circular=False, separators=(",", ":"))
        is_same = equal(json.loads(text), value)
    except RecursionError:
        raise ValueError("the value is nested too deeply, or holds itself") from None
    # the standard library takes keys that are no strings, and makes strings of them
    if not is_same:
        raise TypeError("the value is not JSON: keys are strings")
    return _EXACT + text


INLINE_BYTES: Final = 190_000
PART_BYTES: Final = 380_000
MAX_PARTS: Final = 10
SMALL_WINDOW: Final = 12
"""Bits of it."""
MAX_PACKED_BYTES: Final = PART_BYTES * MAX_PARTS


def pack(
    text: str, *, name: str = "text", inline: int = INLINE_BYTES
) -> tuple[JSONObject, tuple[bytes, ...]]:
    """The attribute for a text, under `name` up to `inline` bytes, else compressed, and the parts
    of one too large for it; ValueError where it is too large even compressed."""
    raw = text.encode()
    if len(raw) <= inline:
        return {name: text}, ()
    blob = zlib.compress(raw, 1)
    if len(blob) <= INLINE_BYTES:
        return {"packed": blob}, ()
    if len(blob) > MAX_PACKED_BYTES:
        raise ValueError(
            f"document too large: {len(raw)} bytes of JSON, {len(blob)} compressed; a document"
            f" holds at most {MAX_PACKED_BYTES} compressed"
        )
    parts = tuple(blob[at : at + PART_BYTES] for at in range(0, len(blob), PART_BYTES))
    return {"parts": len(parts)}, parts


def packed_text(item: JSONObject, parts: Iterable[bytes] = ()) -> str:
    """The text that an item and its parts hold."""
    inline = item.get("data", item.get("text"))
    # an empty text is inline, too: only None says that there is none
    return decompress(item.get("packed") or b"".join(parts)) if inline is None else str(inline)


def compress(text: str) -> bytes:
    """Compress at the highest level; writes are billed by the kilobyte. Small texts use a small
    window, which takes 55 KB of memory instead of 270."""
    raw = text.encode()
    if len(raw) > 1 << SMALL_WINDOW:
        return zlib.compress(raw, 9)
    packer = zlib.compressobj(9, zlib.DEFLATED, SMALL_WINDOW, 6)
    return packer.compress(raw) + packer.flush()


def decompress(blob: bytes) -> str:
    """The text of a blob, or of parts joined in their order."""
    return zlib.decompress(blob).decode()


MAX_ITEM_BYTES: Final = 400 * 1024
"""DynamoDB's limit for one item, attribute names included."""
MAX_OUTCOME_BYTES: Final = 300_000
"""JSON of a stored outcome; over it the data is dropped and its size noted."""
QUESTION_GRACE_S: Final = 600
"""Seconds after its expiry in which a confirmation's id still finds its session."""

_MAX_TEXT: Final = 4_000
_REQUIRED: Final = frozenset({"seq", "at", "status", "message", "reply", "request_id", "masked"})
"""Fields of a turn that are always written."""


def turn_text(turn: Turn) -> str:
    """A turn as JSON without empty fields; BadInput where it does not fit into one item."""
    row = {name: value for name, value in to_dict(turn).items() if value or name in _REQUIRED}
    for name in ("digests", "waiting", "paused"):
        if name in row:
            row[name] = [to_dict(one) for one in row[name]]
    return check_item_size(dumps(row), "turn")


def turn_from(text: str) -> Turn:
    return from_dict(Turn, loads(text))


def transcript_row(turn: Turn) -> JSONObject:
    """A turn as its user may read it, without placeholders."""
    return {
        # the turn's own names stand behind it, so that no response can overwrite them
        **turn.response,
        "turn": turn.seq,
        "at": turn.at,
        "status": turn.status,
        "message": turn.message,
        "reply": turn.reply,
        "request_id": turn.request_id,
        **({"also": list(turn.also)} if turn.also else {}),
    }


def audit_text(record: AuditRecord) -> str:
    """An audit record as JSON. An outcome over 300 KB loses its large fields and says so."""
    outcome = record.outcome and fit_outcome(record.outcome)
    return check_item_size(dumps({**to_dict(record), "outcome": outcome}), "audit record")


def fit_outcome(outcome: JSONObject) -> JSONObject:
    """The outcome; of one that is too large large fields are cut (text) or emptied, and its size is
    noted."""
    size = len(dumps(outcome).encode())
    if size <= MAX_OUTCOME_BYTES:
        return outcome
    kept = {name: _small(value) for name, value in outcome.items()}
    return {**kept, "dropped": {"bytes": size, "limit": MAX_OUTCOME_BYTES}}


def audit_from(text: str) -> AuditRecord:
    return from_dict(AuditRecord, loads(text))


def event_text(event: Event) -> str:
    return check_item_size(dumps(to_dict(event)), "event")


def event_from(text: str) -> Event:
    return from_dict(Event, loads(text))


def check_item_size(text: str, what: str) -> str:
    """The text; BadInput where it does not fit into one item."""
    size, limit = len(text.encode()), MAX_ITEM_BYTES - 4096  # keys, bookkeeping, attribute names
    if size > limit:
        raise BadInput(
            f"This {what} is too large to be stored: {size} bytes, {limit} at most.",
            code="too_large",
            limit=limit,
        )
    return text


def _small(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_MAX_TEXT]
    # a list that was cut short would pass for a whole one
    return value if len(dumps(value)) <= _MAX_TEXT else None
