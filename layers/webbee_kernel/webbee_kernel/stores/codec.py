"""Keys and values of stored items. `#` joins the parts of a key, so no part but a last one may hold
it; values are JSON, compressed where that saves, and the kernel's own records.

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
versions of the kernel run side by side while one is deployed over the other."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import zlib
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

import orjson

from ..aws.parameters import escape
from ..errors import BadInput
from ..types import (
    AuditRecord,
    Event,
    JSONObject,
    SessionKey,
    UserKey,
    from_dict,
    from_token,
    to_dict,
    token_of,
)
from .types import Turn

KERNEL_APP: Final = "_kernel"
"""The kernel's own items; no extension can bear this id."""
MAX_DOC_ID_BYTES: Final = 512
_COLLECTION: Final = r"[A-Za-z0-9_.:/-]{1,128}"
_DOC_ID: Final = r"[^#\x00-\x1f]+"


@lru_cache(maxsize=64)
def user_key(user: UserKey) -> str:
    """`tenant#user`."""
    return f"{_part('tenant id', user.tenant_id)}#{_part('user id', user.imperal_id)}"


def user_of(key: str) -> UserKey:
    """Whose key `tenant#user` is: neither part holds a `#`."""
    tenant_id, _, imperal_id = key.partition("#")
    return UserKey(tenant_id, imperal_id)


def session_key(key: SessionKey) -> str:
    """`tenant#user#session`."""
    return f"{user_key(key.user)}#{_part('session id', key.session_id)}"


def tenant_key(tenant_id: str) -> str:
    """`tenant#`: what is the tenant's own; no user's key, because no user id is empty."""
    return f"{_part('tenant id', tenant_id)}#"


def session_list_key(session_id: str) -> str:
    """`session#session`: a session's row in its user's list."""
    return f"session#{_part('session id', session_id)}"


def turn_key(at: str, seq: int) -> str:
    """`turn#time#seq`: in order of time: a forgotten session counts from 1 again."""
    return f"turn#{_part('time', at)}#{seq:010d}"


def app_key(user: UserKey, app_id: str) -> str:
    """`tenant#user#app`."""
    return f"{user_key(user)}#{_app(app_id)}"


def section_key(app_id: str, section: str) -> str:
    """`app#section`."""
    return f"{_app(app_id)}#{_part('section', section)}"


def installation_key(app_id: str) -> str:
    """`!app`: no app id starts with `!`, so it meets no section and sorts before them all."""
    return f"!{_app(app_id)}"


def previous_key(app_id: str, section: str) -> str:
    """`~app#section`: after every section, where only the refresh loop reads."""
    return f"~{section_key(app_id, section)}"


def entry_key(model: str, key: str) -> str:
    """`model#key`; a cache key never holds `#`, so a model's name may."""
    return f"{model}#{_part('cache key', key)}"


def tenants_key(app_id: str = "") -> str:
    """`#tenants#app`: under which the tenants that have an app are listed, without one all."""
    return f"#tenants#{_app(app_id) if app_id else ''}"


def installation_index_key(tenant_id: str, app_id: str) -> str:
    """`#app#tenant#app`: under which an index has the installations of an app."""
    return f"#app#{_part('tenant id', tenant_id)}#{_app(app_id)}"


def members_key(tenant_id: str, app_id: str, collection: str) -> str:
    """`tenant#app#collection`: under which the users of a collection are listed."""
    return f"{_part('tenant id', tenant_id)}#{_app(app_id)}#{collection_name(collection)}"


def collection_name(name: str) -> str:
    """The name, if it is one: 1 to 128 of ASCII letters, digits and `_ - . : /`; ValueError
    otherwise."""
    if not isinstance(name, str) or not re.fullmatch(_COLLECTION, name):
        raise ValueError(
            f"collection {name!r}: a name has 1 to 128 characters of A-Z a-z 0-9 _ - . : /"
        )
    return name


def document_id(doc_id: str) -> str:
    """The id, if it is one: 1 to 512 bytes of UTF-8 without `#` and control characters; ValueError
    otherwise."""
    if (
        not isinstance(doc_id, str)
        or not re.fullmatch(_DOC_ID, doc_id)
        or len(doc_id.encode()) > MAX_DOC_ID_BYTES
    ):
        raise ValueError(
            f"document id {doc_id!r}: an id has 1 to {MAX_DOC_ID_BYTES} bytes, no # and no control"
            " characters"
        )
    return doc_id


def pseudonyms_of(tenant_id: str) -> str:
    """`tenant#__erased_`: how the partitions of those begin who were erased. No token can have such
    an id."""
    return f"{_part('tenant id', tenant_id)}#__erased_"


def secrets_of(user: UserKey) -> str:
    """`tenant/user`: above all secrets of a user."""
    return f"{escape(user.tenant_id)}/{escape(user.imperal_id)}"


def shard_of(user: UserKey, shards: int) -> int:
    """The partition of the due index that holds a user's sections: the same in every process."""
    return zlib.crc32(user_key(user).encode()) % shards


def _part(what: str, value: str) -> str:
    if not value or "#" in value:
        raise ValueError(f"{what} {value!r} is empty or holds #")
    return value


def _app(app_id: str) -> str:
    # the marks of installation records and of what sections were before
    if app_id.startswith(("!", "~")):
        raise ValueError(f"app id {app_id!r} starts with ! or ~")
    return _part("app id", app_id)


def new_state(tenant_id: str) -> str:
    """What a provider brings back, and the only proof of a sign-in: the tenant, which is no secret,
    so that whoever looks for it needs nobody else's data, and 256 random bits."""
    return f"{token_of(tenant_id).rstrip('=')}.{secrets.token_urlsafe(32)}"


def tenant_of_state(state: str) -> str:
    """The tenant a state names, empty for what is no state. A forged one finds nothing."""
    match = re.fullmatch(r"([A-Za-z0-9_-]{2,700})\.[A-Za-z0-9_-]{43}", state)
    try:
        tenant = from_token(match[1]) if match else ""
    except ValueError:
        return ""
    is_one = isinstance(tenant, str) and len(tenant) <= 128 and "#" not in tenant
    return tenant if is_one else ""


def state_key(state: str) -> str:
    """Under which the sign-in is kept: what is stored cannot be used to finish it."""
    # anybody may send one: what is no text is not found, instead of failing here
    return hashlib.sha256(state.encode("utf-8", "surrogatepass")).hexdigest()


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
        return _exact(value)
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


def _exact(value: Any) -> str:
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
