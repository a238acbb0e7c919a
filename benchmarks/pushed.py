"""Events over a real WebSocket of the local run: how soon they reach an open page, and whether 500
random disconnects lose one.

A page here is a client of the `websockets` library that does what the page does: a ticket, a hello
with the last event's id, and every id once.
"""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from local.users import prepare
from local.world import local_world

DISCONNECTS = 500
SAMPLES = 50
BAR_MS = 300
QUIET_S = 2.0
"""Seconds without an event after which no more are expected."""


@dataclass
class Page:
    """What one page has seen."""

    url: str
    last: str = ""
    ready: bool = False
    seen: set[str] = field(default_factory=set)
    delays: list[float] = field(default_factory=list)

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[ClientConnection]:
        """A connection, after its hello; nothing is read from it yet."""
        ticket = await asyncio.to_thread(send, self.url, "POST", "/v1/live")
        self.ready = False
        async with connect(ticket["url"]) as socket:
            await socket.send(json.dumps({"type": "hello", "last_event_id": self.last}))
            yield socket

    def take(self, frame: dict[str, Any]) -> None:
        """Note an event with the milliseconds since it was made, or where the hello ends."""
        if frame["type"] == "ready":
            self.last, self.ready = max(self.last, frame["last_event_id"]), True
        elif frame["type"] == "event":
            if frame["id"] not in self.seen:
                self.delays.append(time.time() * 1000 - int(frame["id"][:12], 16))
            self.seen.add(frame["id"])
            if self.ready:  # before, it may come ahead of what was missed
                self.last = max(self.last, frame["id"])

    async def listen(self, socket: ClientConnection) -> None:
        """Take what comes until the connection ends."""
        try:
            async for message in socket:
                self.take(json.loads(message))
        except ConnectionClosed:
            return


def main() -> int:
    """Print both; 1 when an event was lost or half of them came later than the bar."""
    logging.disable(logging.WARNING)
    with local_world(prepare=prepare, env={"WEBBEE_USER_REQUESTS_PER_MINUTE": "0"}) as world:
        late = asyncio.run(delays(world.url))
        lost = asyncio.run(disconnects(world.url))
    return int(lost > 0 or late)


async def delays(url: str) -> bool:
    """From an event's making to an open page, beside no other work."""
    page = Page(url)
    async with page.opened() as socket:
        listening = asyncio.ensure_future(page.listen(socket))
        for number in range(SAMPLES):
            await asyncio.to_thread(make, url, f"sample {number}")
        await asyncio.sleep(QUIET_S)
        listening.cancel()
    found = sorted(page.delays)
    median, p95 = found[len(found) // 2], found[int(len(found) * 0.95)]
    print(f"event to page: median {median:.0f} ms, p95 {p95:.0f} ms of {len(found)} (bar {BAR_MS})")
    return median > BAR_MS


async def disconnects(url: str) -> int:
    """Connections that end at random moments, some in the middle of the hello, while events are
    made; how many events no connection brought."""
    chance = random.Random(16)
    page, stop = Page(url), asyncio.Event()
    async with page.opened() as socket:
        page.take(json.loads(await socket.recv()))
    first = page.last
    making = asyncio.ensure_future(_making(url, stop))
    for _ in range(DISCONNECTS):
        async with page.opened() as socket:
            listening = asyncio.ensure_future(page.listen(socket))
            await asyncio.sleep(chance.choice((0, 0.002, 0.02, 0.05)))
            listening.cancel()
            socket.transport.abort()
    stop.set()
    made = await making
    async with page.opened() as socket:
        listening = asyncio.ensure_future(page.listen(socket))
        while not page.ready and not listening.done():  # noqa: ASYNC110
            await asyncio.sleep(0.1)
        await asyncio.sleep(QUIET_S)
        listening.cancel()
    stored = {e["id"] for e in await asyncio.to_thread(events, url, first)}
    lost = len(stored - page.seen)
    print(f"{DISCONNECTS} disconnects while {made} calls made {len(stored)} events: {lost} lost")
    return lost


async def _making(url: str, stop: asyncio.Event) -> int:
    number = 0
    while not stop.is_set():
        await asyncio.to_thread(make, url, f"event {number}")
        number += 1
        await asyncio.sleep(0.2)
    return number


def make(url: str, title: str) -> None:
    """A call from elsewhere, which makes an event."""
    body = {"function": "add", "params": {"title": title}}
    send(url, "POST", "/v1/extensions/tasks/call", body)


def send(url: str, method: str, path: str, body: Any = None) -> Any:
    """A request of bob's."""
    with _request(url, method, path, body) as response:
        return json.loads(response.read())


def events(url: str, last: str) -> list[dict[str, Any]]:
    """All of bob's stored events after `last`, page by page."""
    found: list[dict[str, Any]] = []
    while True:
        with _request(url, "GET", f"/v1/events?last_event_id={last}") as response:
            ids = [
                line.removeprefix("id: ").strip()
                for line in response.read().decode().splitlines()
                if line.startswith("id: ")
            ]
        if not ids:
            return found
        found += [{"id": one} for one in ids]
        last = ids[-1]


def _request(url: str, method: str, path: str, body: Any = None) -> Any:
    data = json.dumps(body).encode() if body is not None else None
    headers = {"authorization": "Bearer bob"}
    request = urllib.request.Request(url + path, data, headers, method=method)
    return urllib.request.urlopen(request, timeout=30)


if __name__ == "__main__":
    raise SystemExit(main())
