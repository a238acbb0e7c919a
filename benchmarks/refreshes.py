"""What a round of refreshes costs the tables: a user with three sections of 1 KB."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from typing import Any

import boto3

from benchmarks.meter import Meter, metered
from local.aws import local_aws
from local.template import TEMPLATE_PATH, create_tables, load_template
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
