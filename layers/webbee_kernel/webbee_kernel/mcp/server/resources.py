"""Sections of the skeleton, and what apps offer to be read, as resources. Pure.

An app offers resources where it has the functions `list_resources` and `read_resource`, as the app
of every server with resources has: the address of one is the app's own behind the app's id, so that
no app answers for another.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import quote, unquote

from ...stores.types import Section
from ...types import JSON, CallOutcome, JSONObject
from .content import parts

LIST: Final = "list_resources"
READ: Final = "read_resource"
"""Functions of an app that has resources."""

MOST: Final = 1_000
"""Resources of one app that are listed."""

_SECTIONS: Final = "webbee://skeleton/"
_APPS: Final = "webbee://app/"


def of_section(section: Section) -> JSONObject:
    """A section of the skeleton as a resource."""
    return {
        "uri": _SECTIONS + quote(section.app_id, safe="") + "/" + quote(section.section, safe=""),
        "name": f"{section.app_id}.{section.section}",
        "description": "A snapshot as the classifier knows it, before it is compressed",
        "mimeType": "application/json",
    }


def section_of(sections: Sequence[Section], uri: str) -> JSONObject | None:
    """What the resource of a section holds, with the time at which it was true; None where there is
    none."""
    app_id, _, name = uri.removeprefix(_SECTIONS).partition("/")
    wanted = (unquote(app_id), unquote(name))
    if not uri.startswith(_SECTIONS):
        return None
    found = next((s for s in sections if (s.app_id, s.section) == wanted), None)
    if found is None or found.data is None:
        return None
    held = {**found.data, "_refreshed_at": found.refreshed_at, "_ttl": found.ttl}
    text = json.dumps(held, ensure_ascii=False)
    return {"uri": uri, "mimeType": "application/json", "text": text}


def of_app(app_id: str, outcome: CallOutcome) -> tuple[list[JSONObject], list[JSONObject]]:
    """What an app lists, and its patterns, under the addresses that clients are given."""
    data = outcome.data if outcome.ok and isinstance(outcome.data, dict) else {}
    listed = _named(app_id, data.get("resources"), "uri")
    return list(listed)[:MOST], list(_named(app_id, data.get("templates"), "uriTemplate"))[:MOST]


def read_from(uri: str) -> tuple[str, str] | None:
    """The app that answers for an address, and what it calls it; None for an address of no
    app's."""
    app_id, slash, own = uri.removeprefix(_APPS).partition("/")
    return (app_id, own) if uri.startswith(_APPS) and slash and own else None


def contents(outcome: CallOutcome, uri: str) -> list[JSONObject]:
    """What an app read, each part under the address that the client asked for: texts, then what it
    draws with its bytes."""
    data = outcome.data if isinstance(outcome.data, dict) else {}
    told = [p for p in data.get("contents") or () if isinstance(p, dict) and "text" in p]
    texts = [
        {"uri": uri, "mimeType": str(p.get("mimeType") or "text/plain"), "text": str(p["text"])}
        for p in told
    ]
    return texts + parts(outcome.ui, uri)


def _named(app_id: str, rows: JSON, key: str) -> Iterator[JSONObject]:
    for row in rows if isinstance(rows, list) else ():
        if isinstance(row, dict) and isinstance(row.get(key), str):
            name = str(row.get("name") or row[key])
            yield {**row, key: f"{_APPS}{app_id}/{row[key]}", "name": name}
