"""Results: what a tool or a resource answered, as the data of a call. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from ...sdk import ui
from ...sdk.result import ActionResult, failure
from ...sdk.ui import UINode
from ...text import cut, one_line, revealed
from ...types import JSON, JSONObject

MAX_DRAWN: Final = 500_000
"""Characters of base64 that people are shown of one answer: a result may have 1 MB."""

_KINDS: Final[Mapping[Callable[[str, str], UINode], re.Pattern[str]]] = {
    ui.Image: re.compile(r"image/(png|jpe?g|gif|webp)"),
    ui.Audio: re.compile(r"audio/[\w.+-]{1,40}"),
}
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]+={0,2}")
MAX_SUMMARY: Final = 300
"""Characters of a text that stand in the summary; the text itself is in the data."""


def of_tool(answer: Mapping[str, JSON]) -> ActionResult:
    """A `tools/call` result: structured content where there is some, else a text that is JSON, else
    the texts. What is no text is told by its kind and size."""
    blocks = _blocks(answer.get("content"))
    texts = _texts(blocks)
    text = "\n".join(texts)
    if answer.get("isError"):
        return failure(one_line(text) or "the server says that it failed, and nothing else")
    others = [_told(b) for b in blocks if b.get("type") != "text"]
    data = _structured(answer.get("structuredContent"), texts)
    data = data or ({"text": text} if text else {})
    if others:
        data = {**data, "content": others}
    summary = "" if "text" not in data else one_line(text)
    return ActionResult.success(data, cut(summary, MAX_SUMMARY), ui=_drawn(blocks))


def of_resource(uri: str, answer: Mapping[str, JSON]) -> ActionResult:
    """A `resources/read` result: each part with its text, or its kind and size."""
    parts = [_part(p) for p in _blocks(answer.get("contents"))]
    texts = [str(p["text"]) for p in parts if "text" in p]
    told = cut(one_line(" ".join(texts)), MAX_SUMMARY)
    held = [{"type": "resource", "resource": p} for p in _blocks(answer.get("contents"))]
    return ActionResult.success({"uri": uri, "contents": parts}, told, ui=_drawn(held))


def of_resources(listed: Iterable[JSONObject], templates: Iterable[JSONObject]) -> ActionResult:
    """The resources a server has, and the patterns of those it makes when asked."""
    kept = ("uri", "uriTemplate", "name", "title", "description", "mimeType", "size")
    rows = [{k: r[k] for k in kept if r.get(k) is not None} for r in listed]
    patterns = [{k: t[k] for k in kept if t.get(k) is not None} for t in templates]
    data: JSONObject = {"resources": rows, **({"templates": patterns} if patterns else {})}
    return ActionResult.success(data, "")


def _drawn(blocks: list[JSONObject]) -> UINode | None:
    """What people see of an answer and no model reads: its pictures and sounds, 500 KB of them at
    most. Only what the type says it is, is drawn: the page opens nothing."""
    nodes, room = [], MAX_DRAWN
    for block in blocks:
        held = block["resource"] if isinstance(block.get("resource"), dict) else block
        mime, data = str(held.get("mimeType", "")), held.get("data", held.get("blob"))
        draw = next((d for d, kind in _KINDS.items() if kind.fullmatch(mime)), None)
        if draw is None or not isinstance(data, str) or not _BASE64.fullmatch(data):
            continue
        room -= len(data)
        if room < 0:
            break
        nodes.append(draw(f"data:{mime};base64,{data}", _named(held)))
    return ui.Stack(nodes) if nodes else None


def _named(block: JSONObject) -> str:
    """What a picture is called; a stranger's words, on one line."""
    return cut(one_line(revealed(str(block.get("name") or block.get("uri") or ""))), 80)


def _texts(blocks: list[JSONObject]) -> list[str]:
    return [str(b["text"]) for b in blocks if b.get("type") == "text" and "text" in b]


def _structured(given: JSON, texts: list[str]) -> JSONObject:
    if isinstance(given, dict):
        return given
    if len(texts) != 1 or texts[0].lstrip()[:1] not in ("{", "["):
        return {}
    try:
        found = json.loads(texts[0])
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {"items": found}


def _told(block: JSONObject) -> JSONObject:
    """A block that is no text, without its bytes."""
    if block.get("type") == "resource" and isinstance(block.get("resource"), dict):
        return {"type": "resource", **_part(block["resource"])}
    kept = ("type", "uri", "name", "title", "description", "mimeType")
    told: JSONObject = {k: block[k] for k in kept if block.get(k) is not None}
    return told | _size(block.get("data"))


def _part(part: JSONObject) -> JSONObject:
    kept = ("uri", "mimeType", "text")
    told: JSONObject = {k: part[k] for k in kept if part.get(k) is not None}
    return told | _size(part.get("blob"))


def _size(encoded: JSON) -> JSONObject:
    """Bytes of what was base64; nothing where there is none."""
    if not isinstance(encoded, str):
        return {}
    return {"bytes": len(encoded) * 3 // 4 - encoded[-2:].count("=")}


def _blocks(given: JSON) -> list[JSONObject]:
    return [b for b in given if isinstance(b, dict)] if isinstance(given, list) else []
