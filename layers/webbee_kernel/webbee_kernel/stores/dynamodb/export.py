"""A person's data as lines of JSON: what `Belongings` finds, read as it was written."""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import asdict
from typing import Any, Final

from ...base.clock import iso
from ...values import JSON, JSONObject, UserKey
from ..declared import Collection
from ..jsontext import loads
from ..packing import unpack
from ..paging import Cursor
from ..protocols import DocumentStore
from .belongings import Belongings, Found
from .client import Item
from .kept_items import ENTRY_PREFIX
from .skeleton_items import TIMER
from .transcripts import rows_in
from .turn_items import turn_in

ENOUGH_BYTES: Final = 2_500_000
"""Of JSON after which a part ends: with a largest line behind it, it fits into Lambda's 6 MB."""
MAX_LINE_BYTES: Final = 2_500_000
"""Of one line. Whose document is larger reads it through its app; the line says how large it is."""
_KEYS: Final = frozenset({"pk", "sk", "schema", "stamp", "expires_at", "lease_until"})
_SAID: Final = {"ttl": "fetched_anew_every_seconds"}


class Export:
    """Lines `{"kind", "in", "key", "until", "data"}`: what it is, the session or app it lies in,
    its key there, until when (UTC; null: until its app or its person removes it), all of it."""

    def __init__(self, belongings: Belongings, documents: DocumentStore, user: UserKey) -> None:
        self._belongings = belongings
        self._documents = documents
        self._user = user

    async def part(self, cursor: str | None = None) -> tuple[list[str], str | None]:
        """Lines from a cursor on, and the cursor of the next part; ValueError for a cursor that
        this did not give out. Secrets are named in the first part and never told."""
        tokens = Cursor("export", str(self._user))
        lines: list[str] = []
        after = None
        if cursor is None:
            names = await self._belongings.secret_names()
            lines += [_line("secret", name.partition("/")[0], name, None) for name in names]
        else:
            index, pk, sk = tokens.read(cursor, 3)
            after = (int(index), str(pk), str(sk))
        size = 0
        async for found in self._belongings.walk(after):
            if "#part#" in (sk := found.position[2]) or sk.startswith(ENTRY_PREFIX):
                # of a large document, or kept beside one: told with its head
                continue
            lines.append(await self._told(found))
            size += len(lines[-1].encode())
            if size >= ENOUGH_BYTES:
                return lines, tokens.write(*found.position)
        return lines, None

    async def _told(self, found: Found) -> str:
        kind, item, (_, pk, sk) = found.place.kind, found.item, found.position
        inside = "".join(pk.split("#")[2:])
        until = iso(float(item["expires_at"]["N"])) if "expires_at" in item else None
        if kind == "document" and not sk.startswith("#"):  # what lists a collection's users
            collection, doc_id = sk.split("#")
            document = await self._documents.get(Collection(self._user, inside, collection), doc_id)
            return _line(kind, inside, sk, asdict(document) if document else None, until)
        if kind == "memory" and sk.startswith("turn#"):
            return _line(kind, inside, sk, asdict(turn_in(item)), until)
        if kind == "turn":
            return _line(kind, inside, sk, list(rows_in(item).values()), until)
        return _line(kind, inside, sk, _plain(item), until)


def _line(kind: str, inside: str, key: str, data: JSON, until: str | None = None) -> str:
    row: JSONObject = {"kind": kind, "in": inside, "key": key, "until": until, "data": data}
    text = _dumps(row)
    if len(text) > MAX_LINE_BYTES // 4 and (size := len(text.encode())) > MAX_LINE_BYTES:
        text = _dumps({**row, "data": None, "left_out_bytes": size})
    return text


def _dumps(row: JSONObject) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _plain(item: Item) -> JSONObject:
    """The attributes; of sections, which stay until their app goes, the person's timer says how
    often each is fetched anew."""
    told = {name: _value(v) for name, v in item.items() if name not in _KEYS}
    if item["sk"]["S"] == TIMER and isinstance(sections := told.get("sections"), dict):
        told["sections"] = {
            key: {_SAID.get(name, name): value for name, value in entry.items()}
            for key, entry in sections.items()
        }
    return told


def _value(attribute: JSONObject) -> Any:
    ((kind, value),) = attribute.items()
    if kind == "S":
        return _json(value)
    if kind == "N":
        return json.loads(value)
    if kind == "B":
        return _read(bytes(value))
    return sorted(value) if kind == "SS" else value


def _read(blob: bytes) -> Any:
    """JSON, compressed or not; what is neither as base64."""
    for text_of in (unpack, bytes.decode):
        try:
            return _json(text_of(blob))
        except (zlib.error, UnicodeDecodeError):
            continue
    return base64.b64encode(blob).decode()


def _json(text: str) -> Any:
    if not text.lstrip().startswith(("{", "[")):
        return text
    try:
        return loads(text)
    except ValueError:
        return text
