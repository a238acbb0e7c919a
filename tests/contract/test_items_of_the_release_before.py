"""Items as the release before wrote them (`items/*.json`, scanned from its tables) are read by this
one, and taken over where their layout has changed since."""

from __future__ import annotations

import base64
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.contract.conftest import SHARDS, Dynamo
from tests.contract.samples import ALICE, LATER, NOW, SESSION, event, pending, record, turn
from webbee_kernel.errors import Gone
from webbee_kernel.sdk import User
from webbee_kernel.sdk.documents import Document
from webbee_kernel.stores import Collection
from webbee_kernel.stores.dynamodb import Tables
from webbee_kernel.stores.dynamodb.client import LAYOUT
from webbee_kernel.stores.keys import shard_of
from webbee_kernel.testing import TestKernel
from webbee_kernel.values import (
    Answering,
    Installation,
    Section,
    SessionKey,
    SessionSummary,
    UserKey,
)

pytestmark = pytest.mark.anyio
USER = User("alice", email="alice@acme.example", tenant_id="acme", language="en")
ASKED = "conf_2ea95ecd3bcb"
ITEMS = Path(__file__).parent / "items"

INBOX = Section(
    "mail",
    "inbox",
    data={"unread": 8, "accounts": [{"id": 1, "title": "work"}]},
    refreshed_at=2300.5,
    due_at=2600.5,
    version=2,
    alerted=1,
)
CALENDAR = Section("mail", "calendar", ttl=60, due_at=2530.0, failures=2, last_error="RuntimeError")


@pytest.fixture
def before(dynamo: Dynamo) -> Dynamo:
    """Tables as the release before left them."""
    for file in sorted(ITEMS.glob("*.json")):
        for item in json.loads(file.read_text("utf-8")):
            stored = {name: _attribute(value) for name, value in item.items()}
            dynamo.client.put_item(TableName=getattr(dynamo.tables, file.stem), Item=stored)
    return dynamo


def asking_kernel(before: Dynamo) -> TestKernel:
    """This release on those tables, 100 seconds before the question of session `asked` expires."""
    return TestKernel(["extensions/notes"], user=USER, stores=before.stores, now=1999999900.0)


def notes(kernel: TestKernel) -> tuple[Document, ...]:
    """The user's notes."""
    found = kernel.app.stores.documents.query(Collection(ALICE, "notes", "notes"))
    return tuple(kernel.run(found).data)


def _attribute(value: dict[str, Any]) -> dict[str, Any]:
    return {"B": base64.b64decode(value["B"])} if "B" in value else value


def skeleton_items(dynamo: Dynamo) -> dict[str, Any]:
    found = dynamo.client.scan(TableName=dynamo.tables.skeleton)["Items"]
    return {item["sk"]["S"]: item for item in found}


async def test_a_session_and_the_way_to_its_question_are_read(before: Dynamo) -> None:
    memory = await before.stores.sessions.read(SESSION, now=0.0)
    assert memory.turns == (turn(1), turn(2))
    asked = pending().confirmation_id
    assert await before.stores.sessions.find_pending(ALICE, asked, now=0.0) == "s1"


@pytest.mark.parametrize("answer", ["yes", "button"])
def test_its_question_is_answered_once_and_runs_exactly_what_waited(
    before: Dynamo, answer: str
) -> None:
    kernel = asking_kernel(before)

    def answered() -> dict[str, Any]:
        if answer == "yes":
            return kernel.chat("yes", session_id="asked", request_id="r-yes").body
        return kernel.confirm(ASKED, session_id="asked").body

    assert [n.data["title"] for n in notes(kernel)] == ["Lisbon launch on Monday"]
    told = answered()
    assert (told["status"], told["reply"]) == ("ok", 'Deleted the note "Lisbon launch on Monday".')
    assert notes(kernel) == ()
    assert {**answered(), "ui": told.get("ui")} == {**told, "ui": told.get("ui")}
    assert [t.message for t in kernel.memory("asked").turns][1:] == [
        "delete the note Lisbon launch"
    ]
    with pytest.raises(Gone):
        kernel.confirm("conf_0123456789ab", session_id="asked")


def test_its_question_is_refused_too(before: Dynamo) -> None:
    kernel = asking_kernel(before)
    assert (
        kernel.confirm(ASKED, accept=False, session_id="asked").text
        == "All right, nothing was done."
    )
    assert len(notes(kernel)) == 1


def test_its_question_expires_when_it_said(before: Dynamo) -> None:
    kernel = asking_kernel(before)
    kernel.clock.advance(101)
    with pytest.raises(Gone):
        kernel.confirm(ASKED, session_id="asked")
    assert len(notes(kernel)) == 1


def test_a_question_that_it_answers_meanwhile_is_not_answered_again(before: Dynamo) -> None:
    """It takes a question by deleting its item."""
    kernel = asking_kernel(before)
    key = {"pk": {"S": "acme#alice#asked"}, "sk": {"S": "pending"}}

    async def read_first() -> bool:
        sessions, asked = before.stores.sessions, SessionKey(ALICE, "asked")
        memory = await sessions.read(asked, now=1999999900.0)
        assert [p.confirmation_id for p in memory.turns[-1].waiting] == [ASKED]
        before.client.delete_item(TableName=before.tables.sessions, Key=key)
        lease = Answering(2e9, yes=True)
        return await sessions.take_pending(asked, 2, ASKED, now=1999999900.0, lease=lease)

    assert kernel.run(read_first()) is False


async def test_records_events_and_cache_entries_are_read(before: Dynamo) -> None:
    assert record() in await before.stores.audit.list(ALICE, now=0.0)
    assert await before.stores.events.since(ALICE, "", now=0.0) == (event(),)
    assert await before.stores.cache.get(ALICE, "mail", "Inbox", "k", now=1.0) == b'{"n": 1}'


async def test_an_effect_that_it_ran_is_not_run_again(before: Dynamo) -> None:
    told = await before.stores.audit.begin(
        ALICE, "effect1", record("77"), expires_at=LATER, now=1.0
    )
    assert told == record("00", status="started", outcome=None)


async def test_documents_are_read_whole(before: Dynamo) -> None:
    documents = before.stores.documents
    small = await documents.get(Collection(ALICE, "mail", "drafts"), "d1")
    large = await documents.get(Collection(ALICE, "mail", "drafts"), "large")
    parted = await documents.get(Collection(ALICE, "mail", "drafts"), "parted")
    assert small is not None
    assert large is not None
    assert parted is not None
    assert len(parted.data["text"]) == 200
    assert (small.data, small.created_at) == ({"title": "Q3", "n": 2**70}, NOW)
    assert large.data == {"text": "abc " * 60_000}


async def test_sections_are_read_before_anything_is_written(before: Dynamo) -> None:
    state = await before.stores.skeleton.read(ALICE)
    assert state.sections == (CALENDAR, INBOX)
    assert state.installations == (Installation("mail", True, "1.0", NOW),)
    assert state.seen_at == 1999.5


async def test_sections_that_stand_in_the_index_have_their_user_found(before: Dynamo) -> None:
    found, _ = await before.stores.skeleton.due(shard_of(ALICE, SHARDS), 2700.0)
    assert [(user, due.due_at) for user, due in found] == [(ALICE, 2530.0), (ALICE, 2600.5)]


async def test_the_first_lease_makes_them_one_timer(before: Dynamo) -> None:
    skeleton = before.stores.skeleton
    lease = await skeleton.lease(ALICE, now=2601.0, until=2700.0, due_by=2601.0)
    assert lease is not None
    assert [replace(s, lease_until=0.0) for s in lease.state.sections] == [
        CALENDAR,
        replace(INBOX, previous={"unread": 7}),  # its alert is still to be told
    ]
    told = [replace(s, alerted=s.version, due_at=2900.0) for s in lease.state.sections]
    assert await skeleton.save(ALICE, told, lease=lease, now=2601.0) is not None
    found, _ = await skeleton.due(shard_of(ALICE, SHARDS), 9e9)
    assert [(user, due.due_at) for user, due in found] == [(ALICE, 2900.0)]
    state = await skeleton.read(ALICE)
    assert [(s.section, s.data, s.due_at) for s in state.sections] == [
        ("calendar", None, 2900.0),
        ("inbox", INBOX.data, 2900.0),
    ]
    assert state.seen_at == 1999.5


async def test_what_is_registered_or_noted_first_makes_the_timer_too(before: Dynamo) -> None:
    skeleton = before.stores.skeleton
    await skeleton.mark_seen(ALICE, 2600.0)
    assert (await skeleton.read(ALICE)).seen_at == 2600.0
    assert await skeleton.register(ALICE, [Section("notes", "all", due_at=1.0)], who={})
    assert [s.section for s in (await skeleton.read(ALICE)).sections] == [
        "calendar",
        "inbox",
        "all",
    ]
    assert await skeleton.lease(ALICE, now=2601.0, until=2700.0, due_by=2601.0) is not None


async def test_purging_takes_them_too(before: Dynamo) -> None:
    assert await before.stores.skeleton.purge(ALICE, "mail") == 2
    assert [sk for sk in skeleton_items(before) if not sk.startswith("!")] == []


async def test_a_section_it_wrote_over_ours_while_both_ran_is_read(before: Dynamo) -> None:
    skeleton = before.stores.skeleton
    [theirs] = [i for sk, i in skeleton_items(before).items() if sk == "mail#inbox"]
    lease = await skeleton.lease(ALICE, now=2601.0, until=2700.0)
    assert lease is not None
    await skeleton.save(ALICE, lease.state.sections, lease=lease, now=2601.0)
    newer = {**theirs, "version": {"N": "3"}, "data": {"S": '{"unread":9}'}}
    before.client.put_item(TableName=before.tables.skeleton, Item=newer)
    found = await skeleton.get(ALICE, "mail", "inbox")
    assert found is not None
    assert (found.data, found.version) == ({"unread": 9}, 3)


async def test_what_it_requires_of_an_item_stands_in_ours(dynamo: Dynamo) -> None:
    """Both releases run side by side while one is deployed over the other."""
    skeleton, bob = dynamo.stores.skeleton, UserKey("acme", "bob")
    await skeleton.register(bob, [Section("mail", "inbox", due_at=5.0)], who={"role": "user"})
    lease = await skeleton.lease(bob, now=10.0, until=70.0)
    assert lease is not None
    saved = [replace(s, data={"n": 1}, version=1, refreshed_at=10.0) for s in lease.state.sections]
    await skeleton.write(bob, saved, lease=lease)
    required = {"app_id", "section", "ttl", "lease_until", "failures", "last_error", "version"}
    items = skeleton_items(dynamo)
    assert required | {"alerted", "user"} <= items["mail#inbox"].keys()
    assert {"body", "app_id", "section", "ttl", "user"} <= items["!_clock"].keys()


async def test_every_item_says_its_layout(dynamo: Dynamo) -> None:
    stores = dynamo.stores
    for seq in (1, 2):
        asking = turn(seq, waiting=(pending(f"conf_{seq}"),))
        await stores.sessions.append(SESSION, asking, expires_at=LATER, now=0.0)
    await stores.skeleton.begin_shard(0, now=1.0, until=2.0)
    await stores.skeleton.put_installation(ALICE, Installation("mail", True))
    await stores.skeleton.register(ALICE, [replace(INBOX, due_at=5.0)], who={})
    lease = await stores.skeleton.lease(ALICE, now=10.0, until=70.0)
    assert lease is not None
    saved = [replace(INBOX, previous={"unread": 7}, version=1, alerted=0)]
    await stores.skeleton.write(ALICE, saved, lease=lease)
    await stores.cache.set(ALICE, "mail", "Inbox", "k", b"{}", expires_at=2e9)
    for text in ("small", "".join(random.Random(1).choices("0123456789abcdef", k=600_000))):
        await stores.documents.create(Collection(ALICE, "mail", "drafts"), {"text": text}, now=NOW)
    await stores.audit.begin(ALICE, "e", record(), expires_at=LATER, now=0.0)
    told = {"events": (event(),), "events_expire_at": LATER}
    await stores.audit.append(ALICE, record(), expires_at=LATER, **told)
    await stores.events.append(ALICE, event("e2"), expires_at=LATER)
    await stores.transcripts.append(SESSION, [turn(1)], seconds=2**31)
    await stores.transcripts.touch(ALICE, SessionSummary("s1", "title", NOW, 1), expires_at=LATER)
    await stores.limits.take(ALICE, minute=29_000_000, requests=1, tokens=1)
    who = {"tenant_id": ALICE.tenant_id, "imperal_id": ALICE.imperal_id}
    await stores.connections.issue("ticket", who, expires_at=LATER)
    await stores.connections.open("c1", who, expires_at=LATER)
    await stores.connections.stop(ALICE, "r1", expires_at=LATER)
    items = {
        (table, item["sk"]["S"].partition("0")[0]): item
        for table in Tables.__slots__
        for item in dynamo.client.scan(TableName=getattr(dynamo.tables, table))["Items"]
    }
    assert len(items) >= 18
    assert {table for table, _ in items} == set(Tables.__slots__)
    assert [key for key, item in items.items() if item.get("schema") != LAYOUT["schema"]] == []
