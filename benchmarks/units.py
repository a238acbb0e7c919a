"""What a turn, a sitting, a poll and a round of refreshes take of what is paid for, counted on the
local world: requests, invocations, WebSocket messages, capacity units. Not countable on one
machine, and assumed: seconds that a model takes, what people do, and how much is logged meanwhile.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import boto3
from websockets.sync.client import connect

from benchmarks.meter import Meter, metered
from local.aws import local_aws
from local.stack import EventStream, Stack
from local.template import TEMPLATE_PATH, create_tables, load_template
from local.world import ShiftedClock, World, local_world
from webbee_kernel import background
from webbee_kernel.api import turns
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.bootstrap import make_refresher
from webbee_kernel.refresh.refresh_queue import (
    RefreshAsked,
    RefreshMessage,
    ShardDue,
    UserDue,
    Wanted,
)
from webbee_kernel.sdk import Context, Extension
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import user_dict

PRICES: Mapping[str, float] = {
    "http": 1.00,
    "messages": 1.00,
    "minutes": 0.25,
    "invocations": 0.20,
    "gb_seconds": 13.3334,
    "writes": 0.625,
    "reads": 0.125,
    "queue": 0.40,
    "log_mb": 500.0,
}
"""US dollars a million, us-east-1, arm64, on demand; of log MB as well, at $0.50 a GB."""
WAIT_S, CALLS, CALL_S, SECTION_S, BATCH_S, BRIEF_S = 3.0, 1.2, 0.2, 0.1, 0.3, 0.02
LOOKS = int(WAIT_S / turns.BEAT_S)
"""Assumed, at 1 GB: seconds of a turn's two model calls, calls a turn, seconds of a call of an
extension, of a user's sections side by side, of ten rounds together, of what waits for nothing;
and how often a turn that waits so long looks at whether it is to stop, a read unit each."""
LOG_MB = {"turn": 0.002, "sitting": 0.002, "poll": 0.001, "round": 0.001}
"""Assumed: what the functions wrote at level INFO, metrics included, when it was last counted, in
November 2026; a fiftieth of a turn's cost."""
REPEATS = 10
DAY_S = 86_400.0
PATIENCE_S = 60.0
"""Seconds after which something that has to come is given up."""


@dataclass(frozen=True)
class Units:
    """What one thing takes of each that is paid for."""

    http: float = 0
    messages: float = 0
    minutes: float = 0
    invocations: float = 0
    gb_seconds: float = 0
    writes: float = 0
    reads: float = 0
    queue: float = 0
    log_mb: float = 0

    @property
    def dollars(self) -> float:
        """Of a million of it."""
        return float(sum(PRICES[f.name] * getattr(self, f.name) for f in fields(self)))


@contextlib.contextmanager
def counting() -> Iterator[tuple[Counter[str], Meter]]:
    """Count what the functions are invoked for, by kind, and units of the tables."""
    invoke, seen = Stack.invoke, Counter[str]()

    def counted(self: Stack, function: str, event: Mapping[str, Any]) -> Any:
        seen["invocations"] += 1
        try:
            return invoke(self, function, event)
        finally:
            seen[str(event.get("requestContext", {}).get("eventType", "other"))] += 1

    Stack.invoke = counted  # type: ignore[method-assign]
    try:
        with metered(aws_client("dynamodb")) as meter:
            yield seen, meter
    finally:
        Stack.invoke = invoke  # type: ignore[method-assign]


def from_noon() -> ShiftedClock:
    """A clock that begins with the next afternoon: what is written once an hour or a day is not
    among what a few minutes count."""
    clock = ShiftedClock()
    clock.advance(DAY_S - (clock.now() - DAY_S / 2) % DAY_S)
    return clock


@contextlib.contextmanager
def without_looks() -> Iterator[None]:
    """No turn looks at whether it is to stop: how often it would depends on this machine."""
    every, turns.BEAT_S = turns.BEAT_S, DAY_S  # type: ignore[misc]
    try:
        yield
    finally:
        turns.BEAT_S = every  # type: ignore[misc]


@contextlib.contextmanager
def held_stream(seen: Counter[str]) -> Iterator[Callable[[], None]]:
    """The stream of events is handed over where that is asked for, in one batch: Lambda looks at it
    four times a second, so a turn's events come together."""
    hand_over, asked, done = EventStream.hand_over, threading.Event(), threading.Event()

    def held(self: EventStream) -> int:
        if not asked.is_set():
            return 0
        seen["invocations"] += bool(records := hand_over(self))
        asked.clear()
        done.set()
        return records

    def release() -> None:
        assert background.wait(PATIENCE_S)
        done.clear()
        asked.set()
        assert done.wait(PATIENCE_S)

    EventStream.hand_over = held  # type: ignore[method-assign]
    try:
        yield release
    finally:
        EventStream.hand_over = hand_over  # type: ignore[method-assign]


def ask(world: World, method: str, path: str, **more: str) -> Any:
    """A request of Alice's."""
    headers = {"authorization": "Bearer alice", "content-type": "application/json", **more}
    request = urllib.request.Request(world.url + path, method=method, headers=headers)
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text) if text.startswith(b"{") else text  # events come as a stream's text


class Page:
    """An open page: its connection, and the messages on it in both directions."""

    def __init__(self, world: World) -> None:
        self.messages = 0
        self._socket = connect(ask(world, "POST", "/v1/live")["url"])
        last = ask(world, "GET", "/v1/extensions").get("last_event_id", "")
        self.say({"type": "hello", "last_event_id": last})
        self.until("ready")

    def say(self, frame: Mapping[str, Any]) -> None:
        """Send a frame."""
        self.messages += 1
        self._socket.send(json.dumps(frame))

    def until(self, kind: str) -> None:
        """Read up to a frame of this type."""
        while True:
            self.messages += 1
            if json.loads(self._socket.recv(30))["type"] == kind:
                return

    def rest(self) -> None:
        """Read what still comes within a second."""
        with contextlib.suppress(TimeoutError):
            while True:
                self._socket.recv(1)
                self.messages += 1

    def close(self) -> None:
        """Close it."""
        self._socket.close()


def measured() -> dict[str, Units]:
    """A turn over the page's connection, a sitting's opening and end, a poll, a round."""
    meter = round_of({"inbox"})
    with local_world(clock=from_noon()) as world:
        ask(world, "GET", "/v1/events")
        page = Page(world)
        page.say({"type": "turn", "message": "add a task: measure", "session_id": "s0"})
        page.until("turn.ended")
        page.rest()
        world.stack.drain()
        turn = _turn(world, page)
        with counting() as (seen, _):
            page.close()
            _wait(seen, 1)
        found = {"turn": turn, "sitting": _sitting(world), "poll": _poll(world)}
    found["round"] = Units(
        invocations=1.1,  # one of tool_dispatch for all sections, and a share of a batch
        gb_seconds=SECTION_S + BATCH_S / 10,
        writes=meter.write_units,
        reads=meter.read_units,
        queue=0.3,  # sent, received and deleted in batches of ten
    )
    return {kind: replace(units, log_mb=LOG_MB[kind]) for kind, units in found.items()}


def _wait(seen: Counter[str], connections: int) -> None:
    """Until so many connections have ended."""
    until = time.monotonic() + PATIENCE_S
    while seen["DISCONNECT"] < connections:
        assert time.monotonic() < until
        time.sleep(0.01)


def _turn(world: World, page: Page) -> Units:
    """The mean of turns that list and turns that write, one call each; asked like a conversation,
    a minute apart."""
    before, queued = page.messages, world.stack.waiting()
    with counting() as (seen, meter), held_stream(seen) as release, without_looks():
        for n in range(REPEATS):
            text = f"add a task: call number {n}" if n % 2 else "list my tasks"
            page.say({"type": "turn", "message": text, "session_id": f"s{n // 5}"})
            page.until("turn.ended")
            release()
            page.rest()
            world.clock.advance(60)
    each = _mean(seen, meter, REPEATS)
    return replace(
        each,
        messages=(page.messages - before) / REPEATS,
        invocations=each.invocations + CALLS,
        gb_seconds=WAIT_S + CALLS * CALL_S + BRIEF_S,
        reads=each.reads + LOOKS,
        queue=3 * (world.stack.waiting() - queued) / REPEATS,  # sent, received, deleted
    )


def _mean(seen: Counter[str], meter: Meter, times: int) -> Units:
    """What was counted, each time: invocations that wait for nothing."""
    invocations = seen["invocations"] / times
    return Units(
        invocations=invocations,
        gb_seconds=invocations * BRIEF_S,
        writes=meter.write_units / times,
        reads=meter.read_units / times,
    )


def _sitting(world: World) -> Units:
    """A page opened and closed: the ticket, what it draws itself from, the connection."""
    messages, times = 0, REPEATS // 2
    with counting() as (seen, meter):
        for n in range(times):
            page = Page(world)
            messages += page.messages
            page.close()
            _wait(seen, n + 1)
    return replace(_mean(seen, meter, times), http=2, messages=messages / times)


def _poll(world: World) -> Units:
    """A page without a connection asks for events every three seconds."""
    after = ask(world, "GET", "/v1/extensions").get("last_event_id", "")
    with counting() as (seen, meter):
        for _ in range(REPEATS):
            ask(world, "GET", "/v1/events", **{"last-event-id": after})
    return replace(_mean(seen, meter, REPEATS), http=1)


# ---- a round of refreshes: a user with three sections of 1 KB

SECTIONS, TTL, BYTES, SHARDS = ("inbox", "calendar", "tasks"), 300, 1_000, 8


class Line:
    """A queue that keeps what it was sent."""

    def __init__(self) -> None:
        self.messages: list[RefreshMessage] = []

    async def send(self, messages: Sequence[RefreshMessage]) -> None:
        """Keep them."""
        self.messages += messages


def growing(changing: set[str], rounds: list[int]) -> Extension:
    """Three sections of 1 KB; those of `changing` are different in every round."""
    ext = Extension("office")

    def section(name: str) -> None:
        async def handler(ctx: Context) -> dict[str, Any]:
            return {"response": _kilobyte(rounds[0] if name in changing else 0)}

        ext.skeleton(name, ttl=TTL)(handler)

    for name in SECTIONS:
        section(name)
    return ext


def _kilobyte(n: int) -> dict[str, Any]:
    """About a kilobyte of letters as a mailbox's section holds them."""
    rows: list[dict[str, Any]] = []
    for i in itertools.count(n * 10):
        rows.append({"id": f"m-{i}", "from": f"user{i}@example.com", "subject": f"Report {i}"})
        if len(json.dumps({"unread": n, "messages": rows}, separators=(",", ":"))) > BYTES - 70:
            return {"unread": n, "messages": rows}
    raise AssertionError


def round_of(changing: set[str]) -> Meter:
    """What the third round of a user costs the tables."""
    rounds = [0]
    with local_aws():
        client = aws_client("dynamodb")
        names = create_tables(boto3.client("dynamodb"), load_template(TEMPLATE_PATH))
        stores = dynamodb_stores(Tables.from_variables(names))
        harness, line = ExtensionHarness(growing(changing, rounds), stores=stores), Line()
        refresher = make_refresher(harness.app, harness.dispatch)
        wanted = tuple(Wanted("office", name, "effect") for name in SECTIONS)
        ask = RefreshAsked(user_dict(harness.user), wanted)
        for rounds[0] in (1, 2):
            harness.run(refresher.refresh(ask, line))
            harness.advance(TTL)
        rounds[0], line.messages = 3, []
        for shard in range(SHARDS):  # a tick's own, whatever the number of users
            harness.run(refresher.refresh(ShardDue(shard, harness.clock.now()), line))
        [due] = [m for m in line.messages if isinstance(m, UserDue)]
        with metered(client) as meter:
            harness.run(refresher.refresh(due, line))
        return meter
