"""What a deployment costs: units counted on the local world, times AWS's prices. Prints the tables
of docs/cost.md, which a test compares with a fresh count.

Counted are requests, invocations, WebSocket messages and capacity units of a turn, a sitting, a
poll and a round of refreshes. Not countable on one machine, and assumed: seconds that a model
takes, what people do, and how much is logged meanwhile.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest.mock import AsyncMock, patch

import boto3
from websockets.sync.client import connect

from benchmarks.meter import Meter, metered
from local.aws import local_aws
from local.loopback import Client
from local.project import ROOT
from local.stack import EventStream, Stack
from local.template import TEMPLATE_PATH, create_tables, load_template, resources
from local.world import ShiftedClock, World, local_world
from webbee_kernel import background
from webbee_kernel.api import turns
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.bootstrap import make_refresher
from webbee_kernel.observability import BY_VERSION, METRICS
from webbee_kernel.refresh.refresh_queue import NEW, RefreshItem, RefreshRequest, ShardDue, UserDue
from webbee_kernel.sdk import Context, Extension
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import user_dict

PAID: Mapping[str, tuple[str, float]] = {
    "http": ("HTTP API requests", 1.00),
    "messages": ("WebSocket messages", 1.00),
    "minutes": ("WebSocket minutes", 0.25),
    "invocations": ("Lambda requests", 0.20),
    "gb_seconds": ("GB-seconds", 13.3334),
    "writes": ("write units", 0.625),
    "reads": ("read units", 0.125),
    "queue": ("SQS requests", 0.40),
    "log_mb": ("log MB", 500.0),
}
"""What it is called, and US dollars a million, us-east-1, arm64, on demand; of log MB as well, at
$0.50 a GB."""
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


Units = Mapping[str, float]
"""What one thing takes of each that is paid for, by the names in `PAID`."""


def dollars(units: Units) -> float:
    """Of a million of it."""
    return sum(PAID[name][1] * number for name, number in units.items())


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

    with patch.object(Stack, "invoke", counted), metered(aws_client("dynamodb")) as meter:
        yield seen, meter


def from_noon() -> ShiftedClock:
    """A clock that begins with the next afternoon: what is written once an hour or a day is not
    among what a few minutes count."""
    clock = ShiftedClock()
    clock.advance(DAY_S - (clock.now() - DAY_S / 2) % DAY_S)
    return clock


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

    with patch.object(EventStream, "hand_over", held):
        yield release


class Page:
    """An open page: its connection, and the messages on it in both directions."""

    def __init__(self, world: World) -> None:
        self.messages = 0
        alice = Client(world.url, "alice")
        self.socket = connect(alice.post("/v1/live", {})["url"])
        last = alice.get("/v1/extensions").get("last_event_id", "")
        self.say({"type": "hello", "last_event_id": last})
        self.until("ready")

    def say(self, frame: Mapping[str, Any]) -> None:
        """Send a frame."""
        self.messages += 1
        self.socket.send(json.dumps(frame))

    def until(self, kind: str) -> None:
        """Read up to a frame of this type."""
        while True:
            self.messages += 1
            if json.loads(self.socket.recv(30))["type"] == kind:
                return

    def rest(self) -> None:
        """Read what still comes within a second."""
        with contextlib.suppress(TimeoutError):
            while True:
                self.socket.recv(1)
                self.messages += 1


def measured() -> dict[str, Units]:
    """A turn over the page's connection, a sitting's opening and end, a poll, a round."""
    meter = _round()
    with local_world(clock=from_noon()) as world:
        Client(world.url, "alice").get("/v1/events")
        page = Page(world)
        page.say({"type": "turn", "message": "add a task: measure", "session_id": "s0"})
        page.until("turn.ended")
        page.rest()
        world.stack.drain()
        turn = _turn(world, page)
        with counting() as (seen, _):
            _close(page, seen, 1)
        found = {"turn": turn, "sitting": _sitting(world), "poll": _poll(world)}
    found["round"] = {
        "invocations": 1.1,  # one of tool_dispatch for all sections, and a share of a batch
        "gb_seconds": SECTION_S + BATCH_S / 10,
        "writes": meter.write_units,
        "reads": meter.read_units,
        "queue": 0.3,  # sent, received and deleted in batches of ten
    }
    return {kind: {**units, "log_mb": LOG_MB[kind]} for kind, units in found.items()}


def _close(page: Page, seen: Counter[str], ended: int) -> None:
    """Close a page, and wait until so many connections have ended."""
    page.socket.close()
    until = time.monotonic() + PATIENCE_S
    while seen["DISCONNECT"] < ended:
        assert time.monotonic() < until
        time.sleep(0.01)


def _turn(world: World, page: Page) -> Units:
    """The mean of turns that list and turns that write, one call each; asked like a conversation,
    a minute apart. None looks at whether it is to stop: how often depends on this machine."""
    before, queued = page.messages, world.stack.waiting()
    never = patch.object(turns, "BEAT_S", DAY_S)
    with counting() as (seen, meter), held_stream(seen) as release, never:
        for n in range(REPEATS):
            text = f"add a task: call number {n}" if n % 2 else "list my tasks"
            page.say({"type": "turn", "message": text, "session_id": f"s{n // 5}"})
            page.until("turn.ended")
            release()
            world.clock.advance(60)
        page.rest()
    each = _mean(seen, meter, REPEATS)
    return {
        **each,
        "messages": (page.messages - before) / REPEATS,
        "invocations": each["invocations"] + CALLS,
        "gb_seconds": WAIT_S + CALLS * CALL_S + BRIEF_S,
        "reads": each["reads"] + LOOKS,
        "queue": 3 * (world.stack.waiting() - queued) / REPEATS,  # sent, received, deleted
    }


def _mean(seen: Counter[str], meter: Meter, times: int) -> Units:
    """What was counted, each time: invocations that wait for nothing."""
    invocations = seen["invocations"] / times
    return {
        "invocations": invocations,
        "gb_seconds": invocations * BRIEF_S,
        "writes": meter.write_units / times,
        "reads": meter.read_units / times,
    }


def _sitting(world: World) -> Units:
    """A page opened and closed: the ticket, what it draws itself from, the connection."""
    messages, times = 0, REPEATS // 2
    with counting() as (seen, meter):
        for n in range(times):
            page = Page(world)
            messages += page.messages
            _close(page, seen, n + 1)
    return {**_mean(seen, meter, times), "http": 2, "messages": messages / times}


def _poll(world: World) -> Units:
    """A page without a connection asks for events every three seconds."""
    alice = Client(world.url, "alice")
    after = alice.get("/v1/extensions").get("last_event_id", "")
    with counting() as (seen, meter):
        for _ in range(REPEATS):
            alice.get("/v1/events", last_event_id=after)
    return {**_mean(seen, meter, REPEATS), "http": 1}


SECTIONS, TTL = ("inbox", "calendar", "tasks"), 300


def _round() -> Meter:
    """What the third round of refreshes of a user with three sections of 1 KB costs the tables; one
    of the three is different in every round."""
    rounds, ext = [0], Extension("office")

    def section(name: str) -> None:
        async def handler(ctx: Context) -> dict[str, Any]:
            begin = 10 * rounds[0] if name == "inbox" else 0
            rows = [
                {"id": f"m-{i}", "from": f"user{i}@example.com", "subject": f"Report {i}"}
                for i in range(begin, begin + 14)
            ]
            return {"response": {"unread": begin, "messages": rows}}

        ext.skeleton(name, ttl=TTL)(handler)

    for name in SECTIONS:
        section(name)
    with local_aws():
        names = create_tables(boto3.client("dynamodb"), load_template(TEMPLATE_PATH))
        stores = dynamodb_stores(Tables.from_variables(names))
        harness, line = ExtensionHarness(ext, stores=stores), AsyncMock()
        refresher = make_refresher(harness.app, harness.dispatch)
        wanted = tuple(RefreshItem("office", name, NEW) for name in SECTIONS)
        for rounds[0] in (1, 2):
            asked = RefreshRequest(user_dict(harness.user), wanted)
            harness.run(refresher.refresh(asked, line))
            harness.advance(TTL)
        rounds[0] = 3
        line.reset_mock()
        for shard in range(8):  # a tick's own, whatever the number of users
            harness.run(refresher.refresh(ShardDue(shard, harness.clock.now()), line))
        sent = (message for call in line.send.await_args_list for message in call.args[0])
        [due] = [message for message in sent if isinstance(message, UserDue)]
        with metered(aws_client("dynamodb")) as meter:
            harness.run(refresher.refresh(due, line))
        return meter


# ---- the tables

METRIC, ALARM, DASHBOARD, STORED_GB = 0.30, 0.10, 3.00, 0.45
TOKENS_IN, TOKENS_OUT = 0.06, 0.24
"""Amazon Nova Lite, a million tokens."""
PAGE = ROOT / "docs" / "cost.md"
TURNS = 300
MINUTES = 900
"""Of a month: half an hour a day with the page open, in two sittings."""
SITTINGS = 60
ROUNDS = 30 * 86_400 / 300
STORED_MB = 3
INPUT, OUTPUT = 3_400, 250
USERS = (1_000, 100_000, 1_000_000)


def custom_metrics() -> int:
    """Names of the kernel's metrics by function, and those that are written by version too, of the
    version that runs; each is a custom metric."""
    by_function = sum(len(metric.functions) for metric in METRICS.values())
    by_version = sum(len(METRICS[name].functions) for name in BY_VERSION)
    models = 2 * 5  # latency, tokens and errors of classifier and narrator
    return by_function + by_version + models


def alarm_count() -> int:
    """Metrics that alarms look at: each is paid for, also those of one expression."""
    return sum(
        sum("MetricStat" in m for m in alarm.get("Metrics", ())) or 1
        for _, alarm in resources(load_template(), "AWS::CloudWatch::Alarm")
    )


def rounded(units: Units) -> Units:
    """As the page tells them: what a second count may differ by does not show."""

    def up(name: str, value: float) -> float:
        steps = 1_000 if name == "log_mb" else 2
        return value if name == "gb_seconds" else math.ceil(value * steps - 0.1) / steps

    return {name: up(name, value) for name, value in units.items()}


def units_table(found: Mapping[str, Units]) -> list[list[str]]:
    """What each takes, and a million of it costs."""
    kinds = ("turn", "sitting", "poll", "round")
    rows = [["", "price a million", *(f"a {kind}" for kind in kinds)]]
    for name, (told, each) in PAID.items():
        if name != "minutes":
            price = f"${each:,.3f}".rstrip("0").rstrip(".")
            rows.append([told, price, *(f"{found[kind].get(name, 0):g}" for kind in kinds)])
    costs = [f"**${dollars(found[kind]):,.1f}**" for kind in kinds]
    return [*rows, ["**a million of it**", "", *costs]]


def monthly(found: Mapping[str, Units]) -> dict[str, float]:
    """US dollars of one user and month, less what is fixed."""
    turn, sitting, round_ = (dollars(found[kind]) / 1e6 for kind in ("turn", "sitting", "round"))
    minute = (PAID["minutes"][1] + 2 / 4 * PAID["messages"][1]) / 1e6
    return {
        f"turns: {TURNS} × ${turn * 1e6:,.1f}/M": TURNS * turn,
        f"page open: {SITTINGS} sittings, {MINUTES} minutes, a ping in four": (
            SITTINGS * sitting + MINUTES * minute
        ),
        f"refreshes: {ROUNDS:,.0f} × ${round_ * 1e6:,.1f}/M": ROUNDS * round_,
        f"storage: {STORED_MB} MB × ${STORED_GB}/GB": STORED_MB / 1_000 * STORED_GB,
    }


def fixed() -> float:
    """US dollars a month of a stack that nobody uses."""
    ticks = 30 * 1_440 * (1 + 8) / 1e6 * (PAID["invocations"][1] + PAID["gb_seconds"][1] * BRIEF_S)
    return custom_metrics() * METRIC + alarm_count() * ALARM + DASHBOARD + ticks


def month_table(found: Mapping[str, Units]) -> list[list[str]]:
    """A month by number of users."""
    counted = f"{custom_metrics()} custom metrics, {alarm_count()} metrics in alarms"
    used, idle = monthly(found), fixed()
    each = sum(used.values())
    model = TURNS * (INPUT * TOKENS_IN + OUTPUT * TOKENS_OUT) / 1e6
    said = f"model: {TURNS} turns, {INPUT:,} tokens in, {OUTPUT} out"
    return [
        ["a month", "per user", *(f"{n:,} users" for n in USERS)],
        *(_row(name, cost) for name, cost in used.items()),
        [f"fixed: {counted}, dashboard, ticks", "", *[f"${idle:,.0f}"] * len(USERS)],
        _row("**without the model**", each, idle),
        _row(said, model),
    ]


def _row(name: str, each: float, more: float = 0.0) -> list[str]:
    return [name, f"${each:.4f}", *(f"${each * n + more:,.0f}" for n in USERS)]


def _markdown(rows: list[list[str]]) -> str:
    rule = "|" + "---|" * len(rows[0])
    head, *lines = (f"| {' | '.join(row)} |".replace("|  |", "| |") for row in rows)
    return "\n".join([head, rule, *lines]) + "\n"


def main() -> int:
    """Print both tables, or with `--write` put them into the page; 0."""
    found = {kind: rounded(units) for kind, units in measured().items()}
    tables = list(map(_markdown, (units_table(found), month_table(found))))
    if "--write" not in sys.argv:
        print(*tables, sep="\n")
        return 0
    text = PAGE.read_text("utf-8")
    for table in tables:
        head = re.escape(table.partition("\n")[0])
        text = re.sub(rf"^{head}\n(?:\|.*\n)*", lambda _, new=table: new, text, flags=re.M)  # type: ignore[misc]
    PAGE.write_text(text, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
