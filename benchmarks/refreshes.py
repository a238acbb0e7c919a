"""What a refresh costs and how fast a tick goes: units, messages and calls of a round of a user
with three sections of 1 KB; users a second through one shard after another and side by side."""

from __future__ import annotations

import asyncio
import itertools
import json
import time
from collections.abc import Sequence
from typing import Any

import boto3

from benchmarks.meter import Meter, metered
from local.aws import local_aws
from local.template import TEMPLATE_PATH, create_tables, load_template
from webbee_kernel.aws.clients import aws_client
from webbee_kernel.bootstrap import make_refresher
from webbee_kernel.catalogue import Dispatch
from webbee_kernel.clock import FrozenClock
from webbee_kernel.refresh.due import DueUsers
from webbee_kernel.refresh.refresh_queue import (
    RefreshAsked,
    RefreshMessage,
    ShardDue,
    SqsRefreshQueue,
    UserDue,
    Wanted,
)
from webbee_kernel.sdk import Context, Extension
from webbee_kernel.stores.dynamodb import Tables, dynamodb_stores
from webbee_kernel.testing import ExtensionHarness
from webbee_kernel.types import CallOutcome, CallRequest, user_dict

SECTIONS, TTL, BYTES = ("inbox", "calendar", "tasks"), 300, 1_000
BEFORE = {"nothing": (18.0, 3), "one": (20.0, 3), "all": (24.0, 3)}
"""Write units and messages of a round when each section had a timer of its own (commit f25d8de,
counted with this meter), by how many of the three sections had changed."""
SHARE_BAR = 1 / 3
USERS, SHARDS, QUEUE_S, USERS_BAR = 40_000, 8, 0.005, 10_000


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


def round_of(changing: set[str]) -> tuple[Meter, int, int]:
    """The third round of a user: what it cost the table, its messages, its calls of the cell."""
    rounds = [0]
    with local_aws():
        client = aws_client("dynamodb")
        names = create_tables(boto3.client("dynamodb"), load_template(TEMPLATE_PATH))
        stores = dynamodb_stores(Tables.from_variables(names))
        harness, line = ExtensionHarness(growing(changing, rounds), stores=stores), Line()
        dispatch = CountingDispatch(harness.dispatch)
        refresher = make_refresher(harness.app, dispatch)
        wanted = tuple(Wanted("office", name, "effect") for name in SECTIONS)
        ask = RefreshAsked(user_dict(harness.user), wanted)
        for rounds[0] in (1, 2):
            harness.run(refresher.refresh(ask, line))
            harness.advance(TTL)
        rounds[0], line.messages = 3, []
        dispatch.kinds.clear()
        with metered(client) as meter:
            for shard in range(SHARDS):
                due = ShardDue(shard, harness.clock.now())
                harness.run(refresher.refresh(due, line))
            of_shards = len(meter.calls)
            messages = [m for m in line.messages if isinstance(m, UserDue)]
            for message in messages:
                harness.run(refresher.refresh(message, line))
        del meter.calls[:of_shards]  # a tick's own, whatever the number of users
        return meter, len(messages), len(dispatch.kinds)


class CountingDispatch:
    """A dispatch that takes down the calls of extension code, by kind."""

    def __init__(self, dispatch: Dispatch) -> None:
        self.catalogue = dispatch.catalogue
        self.kinds: list[str] = []
        self._dispatch = dispatch

    async def call(self, request: CallRequest) -> CallOutcome:
        """Count it, and pass it on."""
        self.kinds.append(request.kind)
        return await self._dispatch.call(request)


class SlowQueue:
    """An SQS client that takes 5 ms a batch."""

    def __init__(self) -> None:
        self.sent = 0

    def send_message_batch(self, QueueUrl: str, Entries: list[Any]) -> dict[str, Any]:  # noqa: N803 - boto3's own names
        """Accept all of them."""
        time.sleep(QUEUE_S)
        self.sent += len(Entries)
        return {}


class FullIndex:
    """A DynamoDB client whose due index is full of users, answered in 5 ms a page."""

    def __init__(self, now: float) -> None:
        self._shards = {
            str(shard): [_entry(shard, n, now) for n in range(USERS // SHARDS)]
            for shard in range(SHARDS)
        }

    def query(self, **request: Any) -> dict[str, Any]:
        """A page of users who are due."""
        time.sleep(QUEUE_S)
        entries = self._shards[request["ExpressionAttributeValues"][":shard"]["S"]]
        start = request.get("ExclusiveStartKey")
        at = int(start["pk"]["S"].rpartition("u")[2]) + 1 if start else 0
        page = entries[at : at + request["Limit"]]
        more = at + len(page) < len(entries)
        return {"Items": page, **({"LastEvaluatedKey": page[-1]} if more else {})}

    def update_item(self, **request: Any) -> dict[str, Any]:
        """The shard's mark."""
        time.sleep(QUEUE_S)
        return {"Attributes": {}}


def _entry(shard: int, n: int, now: float) -> dict[str, Any]:
    who = '{"role":"user","language":"en","email":"somebody@example.com"}'
    return {
        "pk": {"S": f"tenant{shard}#u{n}"},
        "sk": {"S": "!_clock"},
        "due_shard": {"S": str(shard)},
        "due_at": {"N": repr(now + n % 60)},
        "user": {"S": who},
    }


def users_a_second() -> float:
    """How many users a second one process queues, all shards side by side."""
    clock, queue = FrozenClock(), SlowQueue()
    index = FullIndex(clock.now())
    stores = dynamodb_stores(
        Tables(skeleton="skeleton"), shards=SHARDS, client_factory=lambda _: index
    )
    sender = SqsRefreshQueue("https://queue", lambda _: queue)
    due = DueUsers(stores.skeleton, clock, SHARDS)

    async def all_shards() -> None:
        now = clock.now()
        await asyncio.gather(*(due.shard(ShardDue(n, now), sender) for n in range(SHARDS)))

    started = time.perf_counter()
    asyncio.run(all_shards())
    assert queue.sent == USERS, queue.sent
    return USERS / (time.perf_counter() - started)


def main() -> int:
    """Print the figures; 1 when a bar is missed."""
    print(f"A round of a user with {len(SECTIONS)} sections of ttl {TTL} and about {BYTES} bytes\n")
    print(
        f"{'changed':>9} {'write units':>12} {'read units':>11} {'messages':>9} {'calls':>6}"
        f" {'before':>7} {'share':>6}"
    )
    missed = []
    cases = {"nothing": set[str](), "one": {"inbox"}, "all": set(SECTIONS)}
    for name, changing in cases.items():
        meter, messages, calls = round_of(changing)
        units, before = BEFORE[name]
        share = meter.write_units / units
        print(
            f"{name:>9} {meter.write_units:>12.1f} {meter.read_units:>11.1f} {messages:>9}"
            f" {calls:>6} {units:>7.0f} {share:>6.0%}"
        )
        if not calls:
            raise AssertionError("no call was counted: the hook is not where calls pass")
        if share > SHARE_BAR or messages > before * SHARE_BAR or calls > before * SHARE_BAR:
            missed.append(name)
    rate = users_a_second()
    print(f"\nbars: a third of the write units, messages and calls of {BEFORE}\n")
    print(
        f"one process, {SHARDS} shards side by side, queue and table 5 ms away:"
        f" {rate:,.0f} users a second; bar {USERS_BAR:,}"
    )
    return 1 if missed or rate < USERS_BAR else 0
