"""Frames that the door sends over a WebSocket, as docs/live.md lists them. Pure."""

from __future__ import annotations

from typing import Final

import orjson

from ..aws.connections import MAX_FRAME_BYTES
from ..types import Event, JSONObject

PONG: Final[JSONObject] = {"type": "pong"}


def event(told: Event) -> JSONObject:
    """An event of the user's: what `GET /v1/events` tells, over the socket."""
    return {
        "type": "event",
        "id": told.event_id,
        "at": told.at,
        "kind": told.kind,
        "data": told.data,
    }


def ready(last_event_id: str) -> JSONObject:
    """All that was missed has been sent; from here on events come by themselves."""
    return {"type": "ready", "last_event_id": last_event_id}


def refused(error: JSONObject, asked: JSONObject) -> JSONObject:
    """A frame of the page that could not be served; `error` is an API error's body."""
    request_id = asked.get("request_id")
    told = {"request_id": request_id[:128]} if isinstance(request_id, str) else {}
    return {"type": "error", **told, **error}


def packed(frame: JSONObject) -> bytes:
    """The frame as it is sent. One that is larger than a message may be loses what makes it so,
    and says that it has to be fetched: a turn by its session, an event by `GET /v1/events`."""
    raw = _json(frame)
    if len(raw) <= MAX_FRAME_BYTES:
        return raw
    kept = ("type", "id", "at", "kind", "request_id", "session_id", "turn", "status")
    return _json({**{k: frame[k] for k in kept if k in frame}, "fetch": True})


def _json(frame: JSONObject) -> bytes:
    return orjson.dumps(frame)
