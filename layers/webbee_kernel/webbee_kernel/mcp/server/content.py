"""Pictures, sounds and files of a result, as blocks of content. Pure.

What a function draws for people (its `ui`) is what a client may show: a picture, a sound or a link
that carries its bytes in its own address (`data:`) travels as such, one that lies elsewhere as a
link to it.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator
from typing import Final
from urllib.parse import quote, unquote_to_bytes

from ...types import JSON, JSONObject

MAX_BLOCKS: Final = 20
"""Blocks of one result, after its texts."""

_KINDS: Final = {"Image": "image", "Audio": "audio", "Video": "resource", "Link": "resource"}
_ADDRESS: Final = {"Link": "href"}
_NAME: Final = {"Image": "alt", "Audio": "title", "Video": "title", "Link": "label"}


def blocks(drawn: JSON) -> list[JSONObject]:
    """What a UI tree shows besides words, in its order: `image`, `audio`, `resource` and
    `resource_link` blocks."""
    found: list[JSONObject] = []
    for node in _nodes(drawn):
        if len(found) < MAX_BLOCKS and (block := _block(node)):
            found.append(block)
    return found


def parts(drawn: JSON, uri: str) -> list[JSONObject]:
    """The same as contents of a resource of this address: those that carry their bytes."""
    return [{**b.get("resource", _held(b)), "uri": uri} for b in blocks(drawn) if _carries(b)]


def _carries(block: JSONObject) -> bool:
    return bool(block["type"] != "resource_link")


def _held(block: JSONObject) -> JSONObject:
    return {"mimeType": block["mimeType"], "blob": block["data"]}


def _nodes(drawn: JSON) -> Iterator[JSONObject]:
    """All nodes, each before its children."""
    waiting = [drawn]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(reversed(value))
        elif isinstance(value, dict):
            if value.get("type") in _KINDS and isinstance(value.get("props"), dict):
                yield value
            waiting.extend(reversed(list(value.values())))


def _block(node: JSONObject) -> JSONObject | None:
    kind, props = str(node["type"]), node["props"]
    address = props.get(_ADDRESS.get(kind, "src"))
    name = str(props.get(_NAME[kind]) or kind)
    if not isinstance(address, str):
        return None
    if address.startswith("https://"):
        return {"type": "resource_link", "uri": address, "name": name}
    held = _of_data_url(address)
    return _carrying(_KINDS[kind], name, *held) if held else None


def _carrying(kind: str, name: str, mime: str, raw: bytes) -> JSONObject:
    encoded = base64.b64encode(raw).decode()
    if kind != "resource":
        return {"type": kind, "data": encoded, "mimeType": mime}
    resource: JSONObject = {"uri": f"webbee://file/{quote(name, safe='')}", "mimeType": mime}
    try:
        resource |= {"text": raw.decode()}
    except UnicodeDecodeError:
        resource |= {"blob": encoded}
    return {"type": "resource", "resource": resource}


def _of_data_url(address: str) -> tuple[str, bytes] | None:
    """Media type and bytes of a `data:` address (RFC 2397); None for what is none."""
    head, comma, held = address.partition(",")
    if not comma or not head.startswith("data:"):
        return None
    mime, *more = head.removeprefix("data:").split(";")
    try:
        raw = unquote_to_bytes(held)
        if "base64" in more:
            raw = base64.b64decode(raw, validate=True)
    except (ValueError, binascii.Error):
        return None
    return mime or "text/plain", raw
