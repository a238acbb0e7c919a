"""Spans of an invocation, for X-Ray: one datagram a span to the daemon that Lambda runs beside
every traced function. Where a trace is not sampled, a span costs a look at a context variable.

Written here because it is all that is used of X-Ray's SDK, whose import takes 0.6 s of CPU.
"""

from __future__ import annotations

import functools
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import NamedTuple

import orjson

from .logs import correlation_id

HEADER = b'{"format": "json", "version": 1}\n'
"""What X-Ray's daemon wants in front of every document."""

DAEMON = "127.0.0.1:2000"
MAX_NAME = 200

Send = Callable[[bytes], object]


class _Place(NamedTuple):
    """Where the next span hangs."""

    trace_id: str
    parent_id: str
    send: Send


_place: ContextVar[_Place | None] = ContextVar("webbee_span", default=None)


@contextmanager
def traced(header: str, daemon: str = "", *, send: Send | None = None) -> Iterator[None]:
    """Spans begun inside belong to the trace of an invocation.

    `header` is Lambda's, `Root=1-…;Parent=…;Sampled=1`; without it, or where the trace is not
    sampled, there are none. `daemon` is the address of X-Ray's daemon, `host:port`.
    """
    parts = dict(part.partition("=")[::2] for part in header.split(";"))
    if parts.get("Sampled") != "1" or not (parts.get("Root") and parts.get("Parent")):
        yield
        return
    place = _Place(parts["Root"], parts["Parent"], send or _sender(daemon or DAEMON))
    token = _place.set(place)
    try:
        yield
    finally:
        _place.reset(token)


@contextmanager
def span(name: str) -> Iterator[None]:
    """Time spent on one thing, a child of the span around it; marked where it raises. The name is
    cut to X-Ray's 200 characters and never holds content."""
    place = _place.get()
    if place is None:
        yield
        return
    own, started, fault = os.urandom(8).hex(), time.time(), True
    token = _place.set(place._replace(parent_id=own))
    try:
        yield
        fault = False
    finally:
        _place.reset(token)
        document = {
            "type": "subsegment",
            "name": name[:MAX_NAME],
            "id": own,
            "trace_id": place.trace_id,
            "parent_id": place.parent_id,
            "start_time": started,
            "end_time": time.time(),
            "fault": fault,
            "annotations": {"correlation_id": correlation_id()},
        }
        place.send(HEADER + orjson.dumps(document))


@functools.cache
def _sender(daemon: str) -> Send:
    host, _, port = daemon.rpartition(":")
    to = (host, int(port))
    out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    out.setblocking(False)

    def send(datagram: bytes) -> None:
        with suppress(OSError):  # a span that is lost is no reason for a turn to fail
            out.sendto(datagram, to)

    return send
